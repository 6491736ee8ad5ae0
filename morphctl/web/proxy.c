#include "morphctl/web/proxy.h"

#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_S = 5, ANSWER_S = 60, ANSWER_MAX = 64 << 20, ID_DIGITS = 16 };

/* {} is a module's id. */
static const struct route {
	const char *pattern;
	const char *query[5];
} routes[] = {
    {"/api/v1/status", {0}},
    {"/api/v1/modules", {"limit"}},
    {"/api/v1/modules/{}", {0}},
    {"/api/v1/modules/{}/profile", {"functions", "blocks"}},
    {"/api/v1/modules/{}/code", {"build", "from", "to", "lines", "function"}},
    {"/api/v1/modules/{}/explain", {0}},
    {"/api/v1/decisions", {"module", "limit"}},
    {"/api/v1/history", {"module", "limit"}},
};

static bool matches(const char *pattern, const char *path)
{
	const char *brace = strstr(pattern, "{}");
	size_t n = brace ? (size_t)(brace - pattern) : 0;

	if (!brace)
		return strcmp(pattern, path) == 0;
	return strncmp(pattern, path, n) == 0 &&
	       strspn(path + n, "0123456789abcdef") == ID_DIGITS &&
	       strcmp(brace + 2, path + n + ID_DIGITS) == 0;
}

static bool knows(const struct route *r, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof r->query / sizeof *r->query; i++)
		if (r->query[i] && strcmp(r->query[i], name) == 0)
			return true;
	return false;
}

char *proxy_path(const char *path, const struct proxy_param *param, size_t n)
{
	const struct route *r = NULL;
	struct buf b = {0};
	char *value;
	size_t i;

	for (i = 0; i < sizeof routes / sizeof *routes && !r; i++)
		if (matches(routes[i].pattern, path))
			r = &routes[i];
	if (!r)
		return NULL;
	buf_str(&b, path + strlen("/api"));
	for (i = 0; i < n; i++) {
		if (!knows(r, param[i].name)) {
			buf_free(&b);
			return NULL;
		}
		value = curl_easy_escape(NULL, param[i].value, 0);
		buf_printf(&b, "%c%s=%s", i ? '&' : '?', param[i].name, value ? value : "");
		curl_free(value);
	}
	return buf_cstr(&b);
}

void proxy_error(struct proxy_answer *a, long status, const char *kind, const char *message)
{
	json_t *j = json_pack("{ss sI s{ss ss}}", "type", "error", "status-code",
	    (json_int_t)status, "result", "kind", kind, "message", message);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	a->status = status;
	a->body.n = 0;
	buf_str(&a->body, text ? text : "{}");
	free(text);
	json_decref(j);
}

static size_t take(char *p, size_t size, size_t n, void *arg)
{
	struct buf *b = arg;

	if (b->n + n > ANSWER_MAX)
		return 0;
	buf_add(b, p, n);
	return n;
}

void proxy_ask(const char *socket, const char *path, struct proxy_answer *a)
{
	char *url = xasprintf("http://morph%s", path), why[CURL_ERROR_SIZE] = "";
	CURL *c = curl_easy_init();
	CURLcode r = CURLE_FAILED_INIT;

	*a = (struct proxy_answer){0};
	if (c) {
		curl_easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, socket);
		curl_easy_setopt(c, CURLOPT_URL, url);
		curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
		curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
		curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
		curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
		curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)ANSWER_S);
		curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
		curl_easy_setopt(c, CURLOPT_WRITEDATA, &a->body);
		r = curl_easy_perform(c);
		curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a->status);
	}
	if (r == CURLE_COULDNT_CONNECT)
		proxy_error(a, 502, "not-running", "no manager answers");
	else if (r != CURLE_OK)
		proxy_error(a, 502, "bad-gateway", why[0] ? why : curl_easy_strerror(r));
	curl_easy_cleanup(c);
	free(url);
}
