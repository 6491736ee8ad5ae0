#include "managerd/api.h"
#include "common/log.h"
#include "managerd/cycle.h"
#include "managerd/http.h"
#include "managerd/json.h"
#include "managerd/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LIST_DEFAULT = 100, LIST_MAX = 1000, FUNCTIONS_DEFAULT = 20, WAIT_MAX_S = 60 };

struct api {
	struct manager *m;
	struct http *http;
	char *path; /* of the socket */
	struct metrics_http counts;
};

struct route;

/* One request on its way through a handler. */
struct call {
	struct api *api;
	struct http_request *rq;
	struct http_reply *rp;
	const struct route *route;
	const char *piece;           /* what {} matched, or NULL */
	struct store_module *module; /* of routes with TAKES_MODULE */
	json_t *body;                /* object, or NULL */
};

enum {
	TAKES_MODULE = 1, /* {} is a module's id */
	TAKES_FORCE = 2   /* the body may have "force" */
};

struct route {
	const char *method, *pattern;
	unsigned flags;
	enum http_verdict (*handle)(struct call *);
	const char *query[3]; /* the parameters it knows */
};

/* ---- answers ---- */

static enum http_verdict answer(struct call *c, unsigned status, json_t *envelope)
{
	char *text = json_dumps(envelope, JSON_COMPACT | JSON_REAL_PRECISION(12));

	json_decref(envelope);
	c->rp->status = status;
	buf_str(&c->rp->body, text ? text : "{}");
	buf_char(&c->rp->body, '\n');
	free(text);
	return HTTP_REPLY;
}

static enum http_verdict sync_reply(struct call *c, json_t *result)
{
	return answer(
	    c, 200, json_pack("{ss si so}", "type", "sync", "status-code", 200, "result", result));
}

static json_t *error_json(unsigned status, const char *kind, const char *message)
{
	return json_pack("{ss si s{ss so}}", "type", "error", "status-code", (int)status, "result",
	    "kind", kind, "message", json_text(message));
}

static enum http_verdict error_reply(struct call *c, unsigned status, const char *kind,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static enum http_verdict error_reply(
    struct call *c, unsigned status, const char *kind, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return answer(c, status, error_json(status, kind, text));
}

static enum http_verdict internal(struct call *c, const struct err *e)
{
	log_error("%s %s: %s", c->route->method, c->route->pattern, e->text);
	return error_reply(c, 500, "internal", "the manager failed: %s", e->text);
}

/* ---- parameters ---- */

static const char *param(const struct call *c, const char *name)
{
	unsigned i;

	for (i = 0; i < c->rq->nquery; i++) {
		if (strcmp(c->rq->query[i].name, name) == 0)
			return c->rq->query[i].value;
	}
	return NULL;
}

/* A decimal number without sign; false unless min <= it <= max. */
static bool parse_uint(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
	char *end;

	if (s[0] < '0' || s[0] > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &end, 10);
	return errno == 0 && !*end && *v >= min && *v <= max;
}

/* Leaves *v as it is when the parameter is absent; -1 after an error reply. */
static int param_uint(struct call *c, const char *name, uint64_t min, uint64_t max, uint64_t *v)
{
	const char *s = param(c, name);

	if (!s || parse_uint(s, min, max, v))
		return 0;
	error_reply(c, 400, "bad-request", "%s=%s: expected a number from %" PRIu64 " to %" PRIu64,
	    name, s, min, max);
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

static int check_params(struct call *c)
{
	unsigned i, k;

	if (c->rq->query_overflow) {
		error_reply(c, 400, "bad-request", "more than %d query parameters", HTTP_MAX_QUERY);
		return -1;
	}
	for (i = 0; i < c->rq->nquery; i++) {
		const char *name = c->rq->query[i].name;

		if (!known_param(c, name)) {
			error_reply(c, 400, "bad-request", "unknown query parameter \"%s\"", name);
			return -1;
		}
		for (k = 0; k < i; k++) {
			if (strcmp(c->rq->query[k].name, name) == 0) {
				error_reply(c, 400, "bad-request", "%s is given twice", name);
				return -1;
			}
		}
	}
	return 0;
}

/* ---- modules and who may see them ---- */

static bool may_see(const struct call *c, uint32_t uid)
{
	return c->rq->uid == 0 || c->rq->uid == uid;
}

/* The module of an id when it is there and the peer may see it: 1, 0, -1. */
static int visible_module(struct call *c, uint64_t id, struct store_module **out, struct err *e)
{
	size_t n;

	if (id == 0 || store_modules(manager_store(c->api->m), id, &c->rq->mem, out, &n, e) < 0)
		return id == 0 ? 0 : -1;
	return n == 1 && may_see(c, (*out)->uid);
}

static void parse_module_id(const char *s, uint64_t *id)
{
	if (strlen(s) == 16 && strspn(s, "0123456789abcdef") == 16)
		*id = strtoull(s, NULL, 16);
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
	else
		parse_module_id(id_text, &id);
	r = visible_module(c, id, &m, &e);
	if (r < 0)
		internal(c, &e);
	else if (r > 0 && (!path || strcmp(m->path, path) == 0))
		return m;
	else
		error_reply(c, 404, "not-found", "no module %s", path ? path : id_text);
	return NULL;
}

static int find_route_module(struct call *c)
{
	const char *path = NULL;

	if (!(c->route->flags & TAKES_MODULE))
		return 0;
	if (strcmp(c->piece, "-") == 0) {
		path = param(c, "path");
		if (!path || path[0] != '/') {
			error_reply(
			    c, 400, "bad-request", "\"-\" asks for ?path= with an absolute path");
			return -1;
		}
	}
	c->module = find_module(c, c->piece, path);
	return c->module ? 0 : -1;
}

/* ?module= of a list: 0 = all; -1 after an error reply. */
static int list_module(struct call *c, uint64_t *id)
{
	const char *s = param(c, "module");
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

static int64_t list_uid(const struct call *c)
{
	return c->rq->uid == 0 ? -1 : (int64_t)c->rq->uid;
}

/* ---- reading ---- */

static enum http_verdict get_status(struct call *c)
{
	struct manager_status s;
	struct store_module *m;
	struct err e;

	if (manager_status(c->api->m, &s, &e) < 0)
		return internal(c, &e);
	return sync_reply(
	    c, json_status(&s, s.working_step && visible_module(c, s.working_module, &m, &e) > 0));
}

static int module_json(struct call *c, const struct store_module *m, json_t **out, struct err *e)
{
	struct store_decision last;
	int have = store_last_decision(manager_store(c->api->m), m->id, &c->rq->mem, &last, e);

	if (have < 0)
		return -1;
	*out = json_module(m, manager_samples(c->api->m, m->id),
	    manager_can_rollback(c->api->m, m->id), have ? &last : NULL);
	return 0;
}

static enum http_verdict get_modules(struct call *c)
{
	const char *path = param(c, "path");
	json_t *list, *j;
	struct store_module *m;
	uint64_t limit = LIST_DEFAULT;
	struct err e;
	size_t n, i;

	if (param_uint(c, "limit", 1, LIST_MAX, &limit) < 0)
		return HTTP_REPLY;
	if (store_modules(manager_store(c->api->m), 0, &c->rq->mem, &m, &n, &e) < 0)
		return internal(c, &e);
	list = json_array();
	for (i = 0; i < n && json_array_size(list) < limit; i++) {
		if (!may_see(c, m[i].uid) || (path && strcmp(path, m[i].path) != 0))
			continue;
		if (module_json(c, &m[i], &j, &e) < 0) {
			json_decref(list);
			return internal(c, &e);
		}
		json_array_append_new(list, j);
	}
	return sync_reply(c, list);
}

static enum http_verdict get_module(struct call *c)
{
	struct err e;
	json_t *j;

	return module_json(c, c->module, &j, &e) < 0 ? internal(c, &e) : sync_reply(c, j);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static enum http_verdict get_profile(struct call *c)
{
	uint64_t functions = FUNCTIONS_DEFAULT, blocks = 0;
	struct profile p = {0};
	struct err e;
	json_t *j;

	if (param_uint(c, "functions", 1, LIST_MAX, &functions) < 0 ||
	    param_uint(c, "blocks", 0, LIST_MAX, &blocks) < 0)
		return HTTP_REPLY;
	if (manager_profile(c->api->m, c->module->id, &p, &e) < 0)
		return internal(c, &e);
	j = json_profile(c->module, &p, now_ms(), manager_conf(c->api->m)->profile.half_life_s,
	    functions, blocks);
	profile_free(&p);
	return sync_reply(c, j);
}

static enum http_verdict get_samples(struct call *c)
{
	struct manager *m = c->api->m;
	struct profile p = {0};
	struct err e;

	if (manager_profile(m, c->module->id, &p, &e) < 0)
		return internal(c, &e);
	c->rp->status = 200;
	c->rp->type = "text/plain; charset=utf-8";
	profile_print(&p, now_ms(), manager_conf(m)->profile.half_life_s, &c->rp->body);
	profile_free(&p);
	return HTTP_REPLY;
}

static enum http_verdict get_explain(struct call *c)
{
	struct store_decision d;
	struct err e;
	json_t *module;
	int have;

	have = store_last_decision(manager_store(c->api->m), c->module->id, &c->rq->mem, &d, &e);
	if (have < 0 || module_json(c, c->module, &module, &e) < 0)
		return internal(c, &e);
	return sync_reply(c, json_pack("{so so so}", "module", module, "decision",
				 have ? json_decision(&d) : json_null(), "ladder",
				 have ? json_ladder(&d) : json_array()));
}

static enum http_verdict get_decisions(struct call *c)
{
	struct store_decision *d;
	uint64_t module, limit = LIST_DEFAULT;
	struct err e;
	json_t *list;
	size_t n, i;

	if (param_uint(c, "limit", 1, LIST_MAX, &limit) < 0 || list_module(c, &module) < 0)
		return HTTP_REPLY;
	if (store_decisions(
		manager_store(c->api->m), module, list_uid(c), limit, &c->rq->mem, &d, &n, &e) < 0)
		return internal(c, &e);
	list = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(list, json_decision(&d[i]));
	return sync_reply(c, list);
}

static enum http_verdict get_history(struct call *c)
{
	struct store_event *ev;
	uint64_t module, limit = LIST_DEFAULT;
	struct err e;
	json_t *list;
	size_t n, i;

	if (param_uint(c, "limit", 1, LIST_MAX, &limit) < 0 || list_module(c, &module) < 0)
		return HTTP_REPLY;
	if (store_events(
		manager_store(c->api->m), module, list_uid(c), limit, &c->rq->mem, &ev, &n, &e) < 0)
		return internal(c, &e);
	list = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(list, json_event(&ev[i]));
	return sync_reply(c, list);
}

static enum http_verdict get_metrics(struct call *c)
{
	size_t state[MODULE_GONE + 1] = {0}, n, i, seen = 0;
	struct metrics_module *list;
	struct manager_status s;
	struct store_module *m;
	struct err e;

	if (manager_status(c->api->m, &s, &e) < 0 ||
	    store_modules(manager_store(c->api->m), 0, &c->rq->mem, &m, &n, &e) < 0)
		return internal(c, &e);
	list = arena_array(&c->rq->mem, n, sizeof *list);
	for (i = 0; i < n; i++) {
		if (m[i].state >= 0 && m[i].state <= MODULE_GONE)
			state[m[i].state]++;
		if (may_see(c, m[i].uid))
			list[seen++] =
			    (struct metrics_module){&m[i], manager_samples(c->api->m, m[i].id)};
	}
	c->rp->status = 200;
	c->rp->type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_print(&c->rp->body, &s, state, MODULE_GONE + 1, &c->api->counts, list, seen);
	return HTTP_REPLY;
}

/* ---- changing ---- */

static enum http_verdict change_reply(struct call *c, int r, uint64_t id, const struct err *e)
{
	const struct change *change = NULL;
	json_t *j;

	switch (r) {
	case MANAGER_OK:
		change = manager_change(c->api->m, id);
		j = json_pack("{ss si}", "type", "async", "status-code", 202);
		json_object_set_new(j, "change", json_sprintf("%" PRIu64, id));
		json_object_set_new(j, "result", change ? json_change(change) : json_null());
		return answer(c, 202, j);
	case MANAGER_NOT_FOUND:
		return error_reply(c, 404, "not-found", "%s", e->text);
	case MANAGER_CONFLICT:
		j = error_json(409, "conflict", e->text);
		json_object_set_new(
		    json_object_get(j, "result"), "change", json_sprintf("%" PRIu64, id));
		return answer(c, 409, j);
	case MANAGER_REFUSED:
		return error_reply(c, 409, "refused", "%s", e->text);
	default:
		return internal(c, e);
	}
}

static enum http_verdict post_reoptimize(struct call *c)
{
	bool force = json_is_true(json_object_get(c->body, "force"));
	struct err e = {""};
	uint64_t id = 0;
	int r;

	r = manager_reoptimize(
	    c->api->m, c->module ? c->module->id : 0, c->rq->uid, force, &id, &e);
	return change_reply(c, r, id, &e);
}

static enum http_verdict post_rollback(struct call *c)
{
	struct err e = {""};
	uint64_t id = 0;
	int r = manager_rollback(c->api->m, c->module->id, c->rq->uid, &id, &e);

	return change_reply(c, r, id, &e);
}

static bool may_see_change(struct call *c, const struct change *change)
{
	struct store_module *m;
	struct err e;

	return may_see(c, change->uid) || visible_module(c, change->module, &m, &e) > 0;
}

static enum http_verdict get_change(struct call *c)
{
	const struct change *change = NULL;
	uint64_t id, wait = 0;

	if (param_uint(c, "wait", 0, WAIT_MAX_S, &wait) < 0)
		return HTTP_REPLY;
	if (parse_uint(c->piece, 1, UINT64_MAX, &id))
		change = manager_change(c->api->m, id);
	if (!change || !may_see_change(c, change))
		return error_reply(c, 404, "not-found", "no change %s", c->piece);
	if (change->status < CHANGE_DONE && wait > 0 && !c->rq->expired) {
		c->rq->wait_s = (double)wait;
		return HTTP_WAIT;
	}
	return sync_reply(c, json_change(change));
}

/* ---- routes ---- */

static const struct route routes[] = {
    {"GET", "/v1/status", 0, get_status, {0}},
    {"GET", "/v1/modules", 0, get_modules, {"path", "limit"}},
    {"GET", "/v1/modules/{}", TAKES_MODULE, get_module, {0}},
    {"GET", "/v1/modules/{}/profile", TAKES_MODULE, get_profile, {"functions", "blocks"}},
    {"GET", "/v1/modules/{}/samples", TAKES_MODULE, get_samples, {0}},
    {"GET", "/v1/modules/{}/explain", TAKES_MODULE, get_explain, {0}},
    {"GET", "/v1/decisions", 0, get_decisions, {"module", "limit"}},
    {"GET", "/v1/history", 0, get_history, {"module", "limit"}},
    {"POST", "/v1/modules/{}/reoptimize", TAKES_MODULE | TAKES_FORCE, post_reoptimize, {0}},
    {"POST", "/v1/modules/{}/rollback", TAKES_MODULE, post_rollback, {0}},
    {"POST", "/v1/reoptimize", TAKES_FORCE, post_reoptimize, {0}},
    {"GET", "/v1/changes/{}", 0, get_change, {"wait"}},
    {"GET", "/metrics", 0, get_metrics, {0}},
};

/* Whether path is of the pattern's shape; *piece gets what {} stands for. */
static bool matches(const char *pattern, const char *path, struct arena *a, const char **piece)
{
	const char *hole = strstr(pattern, "{}"), *rest;
	size_t n;

	*piece = NULL;
	if (!hole)
		return strcmp(pattern, path) == 0;
	n = (size_t)(hole - pattern);
	if (strncmp(pattern, path, n) != 0)
		return false;
	rest = strchrnul(path + n, '/');
	if (rest == path + n || strcmp(hole + 2, rest) != 0)
		return false;
	*piece = arena_strndup(a, path + n, (size_t)(rest - path) - n);
	return true;
}

/* Sets route and piece; -1 after an error reply. */
static int find_route(struct call *c)
{
	char *allow = NULL;
	const char *piece;
	size_t i;

	for (i = 0; i < sizeof routes / sizeof *routes; i++) {
		if (!matches(routes[i].pattern, c->rq->path, &c->rq->mem, &piece))
			continue;
		if (strcmp(routes[i].method, c->rq->method) == 0) {
			c->route = &routes[i];
			c->piece = piece;
			return 0;
		}
		allow = arena_printf(&c->rq->mem, "%s%s%s", allow ? allow : "", allow ? ", " : "",
		    strcmp(routes[i].method, "GET") == 0 ? "GET, HEAD" : routes[i].method);
	}
	c->rp->allow = allow;
	if (allow)
		error_reply(
		    c, 405, "bad-method", "%s %s: only %s", c->rq->method, c->rq->path, allow);
	else
		error_reply(c, 404, "not-found", "no route %s; see docs/API.md", c->rq->path);
	return -1;
}

static int check_members(struct call *c)
{
	const char *name;
	json_t *v;

	json_object_foreach (c->body, name, v) {
		if (!(c->route->flags & TAKES_FORCE) || strcmp(name, "force") != 0) {
			error_reply(c, 400, "bad-request", "unknown member \"%s\"", name);
			return -1;
		}
		if (!json_is_boolean(v)) {
			error_reply(c, 400, "bad-request", "\"force\": expected true or false");
			return -1;
		}
	}
	return 0;
}

static bool is_json(const char *type)
{
	static const char json[] = "application/json";

	return type && strncasecmp(type, json, sizeof json - 1) == 0 &&
	       strchr("; ", type[sizeof json - 1]);
}

static int read_body(struct call *c)
{
	const char *type = c->rq->content_type;
	json_error_t je;

	if (c->rq->body.n == 0)
		return 0;
	if (strcmp(c->rq->method, "POST") != 0) {
		error_reply(c, 400, "bad-request", "%s takes no body", c->rq->method);
		return -1;
	}
	if (!is_json(type)) {
		error_reply(c, 415, "bad-type", "a body must be application/json, not %s",
		    type ? type : "without type");
		return -1;
	}
	c->body = json_loadb(c->rq->body.p, c->rq->body.n, JSON_REJECT_DUPLICATES, &je);
	if (!json_is_object(c->body)) {
		if (c->body)
			error_reply(c, 400, "bad-request", "body: expected a JSON object");
		else
			error_reply(c, 400, "bad-request", "body, line %d, column %d: %s", je.line,
			    je.column, je.text);
		return -1;
	}
	return check_members(c);
}

static enum http_verdict on_request(struct http_request *rq, struct http_reply *rp, void *arg)
{
	struct call c = {.api = arg, .rq = rq, .rp = rp};
	enum http_verdict v = HTTP_REPLY;

	if (rq->too_large)
		error_reply(&c, 413, "too-large", "the body has more than %d bytes", HTTP_MAX_BODY);
	else if (find_route(&c) == 0 && check_params(&c) == 0 && read_body(&c) == 0 &&
		 find_route_module(&c) == 0)
		v = c.route->handle(&c);
	json_decref(c.body);
	if (v == HTTP_REPLY)
		metrics_count(&c.api->counts, rp->status);
	return v;
}

/* ---- opening and closing ---- */

static void on_change(void *arg, uint64_t id)
{
	api_changed(arg);
}

static struct http *serve(struct api *a, uv_loop_t *loop, int fd, struct err *e)
{
	json_t *busy = error_json(503, "busy", "too many connections; try again");
	char *text = json_dumps(busy, JSON_COMPACT);
	struct http *h = http_open(loop, fd, text, on_request, a, e);

	free(text);
	json_decref(busy);
	return h;
}

struct api *api_open(
    uv_loop_t *loop, struct manager *m, const char *socket_path, mode_t mode, struct err *e)
{
	struct api *a;
	int fd;

	fd = listen_unix(socket_path, mode, e);
	if (fd < 0)
		return NULL;
	a = xcalloc(1, sizeof *a);
	a->m = m;
	a->path = xstrdup(socket_path);
	a->http = serve(a, loop, fd, e);
	if (!a->http) {
		close(fd);
		unlink(socket_path);
		free(a->path);
		free(a);
		return NULL;
	}
	manager_on_change(m, on_change, a);
	return a;
}

void api_changed(struct api *a)
{
	http_wake(a->http);
}

void api_close(struct api *a)
{
	manager_on_change(a->m, NULL, NULL);
	http_close(a->http);
	unlink(a->path);
	free(a->path);
	vec_free(&a->counts.by_code);
	free(a);
}
