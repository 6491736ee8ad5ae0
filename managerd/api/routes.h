/*
 * What the files of the API share: api.c (routes), call.c (one request:
 * its parameters, what its peer may see, its answers), read.c, usage.c, code.c
 * and change.c (the handlers).
 */
#ifndef MORPH_MANAGERD_API_PARTS_H
#define MORPH_MANAGERD_API_PARTS_H

#include "managerd/api/api.h"
#include "managerd/api/http.h"
#include "managerd/api/metrics.h"
#include "managerd/store/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { API_LIST_DEFAULT = 100, API_LIST_MAX = 1000 };

struct api {
	struct manager *m;
	struct http *http;
	struct metrics_http counts;
};

struct route;

/* One request, as its handler sees it. */
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
	const char *query[5]; /* the parameters it knows */
};

/* ---- answers: each is the call's one reply, and returns HTTP_REPLY ---- */

/* Any envelope of docs/API.md; takes it over. */
enum http_verdict api_answer(struct call *c, unsigned status, json_t *envelope);
/* 200; takes result over. */
enum http_verdict api_sync(struct call *c, json_t *result);
enum http_verdict api_error(struct call *c, unsigned status, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* 500, and a line in the log. */
enum http_verdict api_internal(struct call *c, const struct err *e);
/* The envelope of an error, for who answers otherwise. */
json_t *api_error_json(unsigned status, const char *kind, const char *message);

/* ---- parameters ---- */

/* A query parameter's value, or NULL. */
const char *api_param(const struct call *c, const char *name);
/* A decimal number without sign; false unless min <= it <= max. */
bool api_parse_uint(const char *s, uint64_t min, uint64_t max, uint64_t *v);
/* Leaves *v as it is when the parameter is absent; -1 after an error reply. */
int api_param_uint(struct call *c, const char *name, uint64_t min, uint64_t max, uint64_t *v);
/* A time, RFC 3339 or seconds before now, as seconds since 1970; likewise. */
int api_param_time(struct call *c, const char *name, int64_t now_s, int64_t *v);
/* Refuses parameters the route does not know: 0, or -1 after an error reply. */
int api_check_params(struct call *c);

/* ---- modules and who may see them ---- */

/* What belongs to this user. */
bool api_may_see(const struct call *c, uint32_t uid);
/* The module of an id when it is there and the peer may see it: 1, 0, -1. */
int api_visible_module(struct call *c, uint64_t id, struct store_module **out, struct err *e);
/* Sets the call's module, of routes that take one; -1 after an error reply. */
int api_find_route_module(struct call *c);
/* ?module= of a list: 0 = all; -1 after an error reply. */
int api_list_module(struct call *c, uint64_t *id);
/* Whose modules a list may name; -1 = all users'. */
int64_t api_list_uid(const struct call *c);

/* ---- handlers, by route ---- */

enum http_verdict api_get_status(struct call *c);
enum http_verdict api_get_modules(struct call *c);
enum http_verdict api_get_module(struct call *c);
enum http_verdict api_get_profile(struct call *c);
enum http_verdict api_get_samples(struct call *c);
enum http_verdict api_get_code(struct call *c);
enum http_verdict api_get_explain(struct call *c);
enum http_verdict api_get_decisions(struct call *c);
enum http_verdict api_get_history(struct call *c);
enum http_verdict api_get_metrics(struct call *c);
enum http_verdict api_get_files(struct call *c);
enum http_verdict api_get_addresses(struct call *c);
enum http_verdict api_post_reoptimize(struct call *c);
enum http_verdict api_post_rollback(struct call *c);
enum http_verdict api_get_change(struct call *c);
enum http_verdict api_post_reload(struct call *c);

#endif
