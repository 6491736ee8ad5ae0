#include "managerd/api/api.h"
#include "managerd/api/routes.h"
#include "managerd/cycle/cycle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- routes ---- */

static const struct route routes[] = {
    {"GET", "/v1/status", 0, api_get_status, {0}},
    {"GET", "/v1/modules", 0, api_get_modules, {"path", "limit"}},
    {"GET", "/v1/modules/{}", TAKES_MODULE, api_get_module, {0}},
    {"GET", "/v1/modules/{}/profile", TAKES_MODULE, api_get_profile, {"functions", "blocks"}},
    {"GET", "/v1/modules/{}/samples", TAKES_MODULE, api_get_samples, {0}},
    {"GET", "/v1/modules/{}/code", TAKES_MODULE, api_get_code,
	{"build", "from", "to", "lines", "function"}},
    {"GET", "/v1/modules/{}/explain", TAKES_MODULE, api_get_explain, {0}},
    {"GET", "/v1/decisions", 0, api_get_decisions, {"module", "limit"}},
    {"GET", "/v1/history", 0, api_get_history, {"module", "limit"}},
    {"POST", "/v1/modules/{}/reoptimize", TAKES_MODULE | TAKES_FORCE, api_post_reoptimize, {0}},
    {"POST", "/v1/modules/{}/rollback", TAKES_MODULE, api_post_rollback, {0}},
    {"POST", "/v1/reoptimize", TAKES_FORCE, api_post_reoptimize, {0}},
    {"POST", "/v1/reload", 0, api_post_reload, {0}},
    {"GET", "/v1/changes/{}", 0, api_get_change, {"wait"}},
    {"GET", "/v1/files", 0, api_get_files, {"since", "until", "limit"}},
    {"GET", "/v1/addresses", 0, api_get_addresses, {"since", "until", "file"}},
    {"GET", "/metrics", 0, api_get_metrics, {0}},
};

/* Whether path is of the pattern's shape; *piece gets what {} matched. */
static bool matches(const char *pattern, const char *path, struct arena *a, const char **piece)
{
	const char *brace = strstr(pattern, "{}"), *rest;
	size_t n;

	*piece = NULL;
	if (!brace)
		return strcmp(pattern, path) == 0;
	n = (size_t)(brace - pattern);
	if (strncmp(pattern, path, n) != 0)
		return false;
	rest = strchrnul(path + n, '/');
	if (rest == path + n || strcmp(brace + 2, rest) != 0)
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
		api_error(
		    c, 405, "bad-method", "%s %s: only %s", c->rq->method, c->rq->path, allow);
	else
		api_error(c, 404, "not-found", "no route %s; see docs/API.md", c->rq->path);
	return -1;
}

static int check_members(struct call *c)
{
	const char *name;
	json_t *v;

	json_object_foreach (c->body, name, v) {
		if (!(c->route->flags & TAKES_FORCE) || strcmp(name, "force") != 0) {
			api_error(c, 400, "bad-request", "unknown member \"%s\"", name);
			return -1;
		}
		if (!json_is_boolean(v)) {
			api_error(c, 400, "bad-request", "\"force\": expected true or false");
			return -1;
		}
	}
	return 0;
}

static int read_body(struct call *c)
{
	static const char json[] = "application/json";
	const char *type = c->rq->content_type;
	json_error_t je;

	if (c->rq->body.n == 0)
		return 0;
	if (strcmp(c->rq->method, "POST") != 0) {
		api_error(c, 400, "bad-request", "%s takes no body", c->rq->method);
		return -1;
	}
	if (!type || strncasecmp(type, json, sizeof json - 1) ||
	    !strchr("; ", type[sizeof json - 1])) {
		api_error(c, 415, "bad-type", "a body must be application/json, not %s",
		    type ? type : "without type");
		return -1;
	}
	c->body = json_loadb(c->rq->body.p, c->rq->body.n, JSON_REJECT_DUPLICATES, &je);
	if (!json_is_object(c->body)) {
		if (c->body)
			api_error(c, 400, "bad-request", "body: expected a JSON object");
		else
			api_error(c, 400, "bad-request", "body, line %d, column %d: %s", je.line,
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
		api_error(&c, 413, "too-large", "the body has more than %d bytes", HTTP_MAX_BODY);
	else if (find_route(&c) == 0 && api_check_params(&c) == 0 && read_body(&c) == 0 &&
		 api_find_route_module(&c) == 0)
		v = c.route->handle(&c);
	json_decref(c.body);
	if (v == HTTP_REPLY)
		metrics_count(&c.api->counts, rp->status);
	return v;
}

/* ---- opening and closing ---- */

/* A change moved on, or a code map is there: those who wait for it are answered. */
static void on_change(void *arg, uint64_t id)
{
	const struct api *a = arg;

	http_wake(a->http);
}

struct api *api_open(uv_loop_t *loop, struct manager *m, int fd, struct err *e)
{
	json_t *busy = api_error_json(503, "busy", "too many connections; try again");
	char *text = json_dumps(busy, JSON_COMPACT);
	struct api *a = xcalloc(1, sizeof *a);

	a->m = m;
	a->http = http_open(loop, fd, text, on_request, a, e);
	free(text);
	json_decref(busy);
	if (!a->http) {
		close(fd);
		free(a);
		return NULL;
	}
	manager_on_change(m, on_change, a);
	return a;
}

void api_close(struct api *a)
{
	manager_on_change(a->m, NULL, NULL);
	http_close(a->http);
	vec_free(&a->counts.by_code);
	free(a);
}
