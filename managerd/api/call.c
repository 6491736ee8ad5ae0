#include "common/log.h"
#include "managerd/api/routes.h"
#include "managerd/cycle/cycle.h"
#include "managerd/api/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- answers ---- */

enum http_verdict api_answer(struct call *c, unsigned status, json_t *envelope)
{
	char *text = json_dumps(envelope, JSON_COMPACT | JSON_REAL_PRECISION(12));

	json_decref(envelope);
	c->rp->status = status;
	buf_str(&c->rp->body, text ? text : "{}");
	buf_char(&c->rp->body, '\n');
	free(text);
	return HTTP_REPLY;
}

enum http_verdict api_sync(struct call *c, json_t *result)
{
	return api_answer(
	    c, 200, json_pack("{ss si so}", "type", "sync", "status-code", 200, "result", result));
}

json_t *api_error_json(unsigned status, const char *kind, const char *message)
{
	return json_pack("{ss si s{ss so}}", "type", "error", "status-code", (int)status, "result",
	    "kind", kind, "message", json_text(message));
}

enum http_verdict api_error(struct call *c, unsigned status, const char *kind, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return api_answer(c, status, api_error_json(status, kind, err_line(text)));
}

enum http_verdict api_internal(struct call *c, const struct err *e)
{
	log_error("%s %s: %s", c->route->method, c->route->pattern, e->text);
	return api_error(c, 500, "internal", "the manager failed: %s", e->text);
}

/* ---- parameters ---- */

const char *api_param(const struct call *c, const char *name)
{
	unsigned i;

	for (i = 0; i < c->rq->nquery; i++) {
		if (strcmp(c->rq->query[i].name, name) == 0)
			return c->rq->query[i].value;
	}
	return NULL;
}

bool api_parse_uint(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
	char *end;

	if (s[0] < '0' || s[0] > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &end, 10);
	return errno == 0 && !*end && *v >= min && *v <= max;
}

int api_param_uint(struct call *c, const char *name, uint64_t min, uint64_t max, uint64_t *v)
{
	const char *s = api_param(c, name);

	if (!s || api_parse_uint(s, min, max, v))
		return 0;
	api_error(c, 400, "bad-request", "%s=%s: expected a number from %" PRIu64 " to %" PRIu64,
	    name, s, min, max);
	return -1;
}

/* Whether s begins like this, d being any digit. */
static bool has_form(const char *s, const char *form)
{
	for (; *form; form++, s++)
		if (*form == 'd' ? *s < '0' || *s > '9' : *s != *form)
			return false;
	return true;
}

/* "Z", or "+01:00": how far it is ahead of UTC. */
static bool parse_zone(const char *s, int *seconds)
{
	int hours = 0, minutes = 0;

	*seconds = 0;
	if (!strcmp(s, "Z"))
		return true;
	if ((*s != '+' && *s != '-') || !has_form(s + 1, "dd:dd") || s[6])
		return false;
	sscanf(s + 1, "%d:%d", &hours, &minutes);
	*seconds = (*s == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return hours < 24 && minutes < 60;
}

static bool parse_rfc3339(const char *s, int64_t *v)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";
	struct tm tm = {0};
	int zone;

	if (!has_form(s, form))
		return false;
	sscanf(s, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
	    &tm.tm_min, &tm.tm_sec);
	s += sizeof form - 1;
	if (*s == '.')
		s += 1 + strspn(s + 1, "0123456789");
	if (tm.tm_year < 1970 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 ||
	    tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60 ||
	    !parse_zone(s, &zone))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*v = timegm(&tm) - zone;
	return true;
}

int api_param_time(struct call *c, const char *name, int64_t now_s, int64_t *v)
{
	const char *s = api_param(c, name);
	uint64_t ago;

	if (!s || parse_rfc3339(s, v))
		return 0;
	if (api_parse_uint(s, 0, UINT32_MAX, &ago)) {
		*v = now_s - (int64_t)ago;
		return 0;
	}
	api_error(c, 400, "bad-request",
	    "%s=%s: expected a time such as 2026-03-01T12:00:00Z, or seconds before now", name, s);
	return -1;
}

static bool known_param(const struct call *c, const char *name)
{
	size_t i;

	if ((c->route->flags & TAKES_MODULE) && strcmp(name, "path") == 0 &&
	    strcmp(c->piece, "-") == 0)
		return true;
	for (i = 0; i < sizeof c->route->query / sizeof *c->route->query; i++) {
		if (c->route->query[i] && strcmp(c->route->query[i], name) == 0)
			return true;
	}
	return false;
}

int api_check_params(struct call *c)
{
	unsigned i, k;

	if (c->rq->query_overflow) {
		api_error(c, 400, "bad-request", "more than %d query parameters", HTTP_MAX_QUERY);
		return -1;
	}
	for (i = 0; i < c->rq->nquery; i++) {
		const char *name = c->rq->query[i].name;

		if (!known_param(c, name)) {
			api_error(c, 400, "bad-request", "unknown query parameter \"%s\"", name);
			return -1;
		}
		for (k = 0; k < i; k++) {
			if (strcmp(c->rq->query[k].name, name) == 0) {
				api_error(c, 400, "bad-request", "%s is given twice", name);
				return -1;
			}
		}
	}
	return 0;
}

/* ---- modules and who may see them ---- */

bool api_may_see(const struct call *c, uint32_t uid)
{
	return c->rq->uid == 0 || c->rq->uid == uid;
}

int api_visible_module(struct call *c, uint64_t id, struct store_module **out, struct err *e)
{
	size_t n;

	if (id == 0 || store_modules(manager_store(c->api->m), id, &c->rq->mem, out, &n, e) < 0)
		return id == 0 ? 0 : -1;
	return n == 1 && api_may_see(c, (*out)->uid);
}

/* A module named by id, or by path when there is one; NULL after an error
 * reply. */
static struct store_module *find_module(struct call *c, const char *id_text, const char *path)
{
	struct store_module *m = NULL;
	uint64_t id = 0;
	struct err e;
	int r;

	if (path)
		id = module_id(path);
	else if (strlen(id_text) == 16 && strspn(id_text, "0123456789abcdef") == 16)
		id = strtoull(id_text, NULL, 16);
	r = api_visible_module(c, id, &m, &e);
	if (r < 0)
		api_internal(c, &e);
	else if (r > 0 && (!path || strcmp(m->path, path) == 0))
		return m;
	else
		api_error(c, 404, "not-found", "no module %s: it has no samples yet%s",
		    path ? path : id_text,
		    c->rq->uid ? ", or belongs to another user, such as root" : "");
	return NULL;
}

int api_find_route_module(struct call *c)
{
	const char *path = NULL;

	if (!(c->route->flags & TAKES_MODULE))
		return 0;
	if (strcmp(c->piece, "-") == 0) {
		path = api_param(c, "path");
		if (!path || path[0] != '/') {
			api_error(
			    c, 400, "bad-request", "\"-\" asks for ?path= with an absolute path");
			return -1;
		}
	}
	c->module = find_module(c, c->piece, path);
	return c->module ? 0 : -1;
}

int api_list_module(struct call *c, uint64_t *id)
{
	const char *s = api_param(c, "module");
	struct store_module *m;

	*id = 0;
	if (!s)
		return 0;
	m = find_module(c, s, NULL);
	if (!m)
		return -1;
	*id = m->id;
	return 0;
}

int64_t api_list_uid(const struct call *c)
{
	return c->rq->uid == 0 ? -1 : (int64_t)c->rq->uid;
}
