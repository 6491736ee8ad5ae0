/*
 * cov >= 150
 * A request to morph-web, as strings that end with NUL: path, Host, Origin, Sec-Fetch-Site, cookie,
 * token, then names and values of parameters. Nobody gets in without the secrets, and whatever gets
 * to the manager is one of its routes, without a byte that HTTP or a query would understand; what
 * morphctl is given stands after "--", or in --since= and --until=.
 */
#include "morphctl/web/proxy.h"
#include "morphctl/web/reports.h"
#include "morphctl/web/session.h"

#include <stdlib.h>
#include <string.h>

static const char *next(const char **p, const char *end)
{
	const char *s = *p;

	if (s >= end)
		return "";
	*p = s + strlen(s) + 1;
	return s;
}

static const char *next_or_null(const char **p, const char *end)
{
	const char *s = next(p, end);

	return *s ? s : NULL;
}

static void check_path(const char *path)
{
	size_t route = strcspn(path, "?");

	if (strncmp(path, "/v1/", 4) ||
	    strspn(path, "0123456789/v-abcdefghijklmnopqrstuvwxyz") < route ||
	    memmem(path, route, "//", 2))
		abort();
	if (path[route] &&
	    strspn(path + route + 1,
		"abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789&=%-._~") != strlen(path + route + 1))
		abort();
}

static void check_report(const char *path, const struct proxy_param *param, size_t n)
{
	static const char *const known[] = {
	    "--json", "--by=", "--limit=1000", "--socket=/x", "--since=", "--until="};
	struct report r;
	const char *why;
	long status;
	size_t i, k;

	if (report_command(&r, path, param, n, "/x", &status, &why) == 0) {
		for (i = 2; strcmp(r.argv[i], "--"); i++) {
			for (k = 0; strncmp(r.argv[i], known[k], strlen(known[k])); k++)
				if (k + 1 == sizeof known / sizeof *known)
					abort();
		}
		if (r.text && strcmp(r.argv[i + 1], "folded"))
			abort();
		for (i++; r.argv[i]; i++)
			if (!*r.argv[i])
				abort();
	}
	report_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct session s = {.cookie = "0123456789abcdef0123456789abcdef",
	    .token = "fedcba9876543210fedcba9876543210",
	    .base = "/0123456789abcdef",
	    .host = "127.0.0.1:80"};
	struct session_request r;
	struct proxy_param param[4];
	const char *rest = NULL, *why = NULL, *p, *end;
	char *text = calloc(n + 1, 1), *path;
	enum session_answer a;
	size_t k = 0;

	memcpy(text, data, n);
	p = text;
	end = text + n;
	r = (struct session_request){.path = next(&p, end), .host = next(&p, end)};
	r.origin = next_or_null(&p, end);
	r.site = next_or_null(&p, end);
	r.cookie = next(&p, end);
	r.token = next(&p, end);
	a = session_ask(&s, &r, &rest, &why);
	if ((a == SESSION_SERVE && strcmp(r.cookie, "0123456789abcdef0123456789abcdef")) ||
	    (a == SESSION_EXCHANGE && strcmp(r.token, "fedcba9876543210fedcba9876543210")) ||
	    (a != SESSION_REFUSE && strcmp(r.host, s.host)) || (a == SESSION_REFUSE && !why))
		abort();
	for (; k < 4 && p < end; k++)
		param[k] = (struct proxy_param){next(&p, end), next(&p, end)};
	path = proxy_path(a == SESSION_SERVE ? rest : r.path, param, k);
	if (path)
		check_path(path);
	free(path);
	check_report(a == SESSION_SERVE ? rest : r.path, param, k);
	free(text);
	return 0;
}
