#include "managerd/api/json.h"
#include "managerd/api/routes.h"
#include "managerd/cycle/cycle.h"

#include <inttypes.h>
#include <string.h>

enum { WAIT_S = 30, LINES_DEFAULT = 1024 };

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ?function=KEY; -1 after an error reply. */
static int read_key(struct call *c, struct code_query *q)
{
	const char *s = api_param(c, "function");
	size_t i, n = s ? strlen(s) : 0;

	if (!s)
		return 0;
	for (i = 0; n == 2 * sizeof q->key.b && i < n && hex_digit(s[i]) >= 0; i++)
		q->key.b[i / 2] = (uint8_t)(q->key.b[i / 2] << 4 | hex_digit(s[i]));
	if (i != 2 * sizeof q->key.b) {
		api_error(c, 400, "bad-request", "function=%s: expected a key of 32 hex digits", s);
		return -1;
	}
	q->find = true;
	return 0;
}

static int read_order(struct call *c, struct code_order *o)
{
	uint64_t from = 0, to = 0, cells = LINES_DEFAULT;
	const char *build = api_param(c, "build");

	*o = (struct code_order){.module = c->module->id};
	if (build && strcmp(build, "now") && strcmp(build, "original")) {
		api_error(c, 400, "bad-request", "build=%s: expected now or original", build);
		return -1;
	}
	o->original = build && strcmp(build, "original") == 0;
	if (api_param_uint(c, "from", 0, UINT32_MAX, &from) ||
	    api_param_uint(c, "to", 1, UINT32_MAX, &to) ||
	    api_param_uint(c, "lines", 1, CODE_CELLS_MAX, &cells) || read_key(c, &o->query))
		return -1;
	if (!to && api_param(c, "from"))
		to = UINT32_MAX;
	if (to && from >= to) {
		api_error(c, 400, "bad-request", "from=%llu is not below to=%llu",
		    (unsigned long long)from, (unsigned long long)to);
		return -1;
	}
	o->query.from = (uint32_t)from;
	o->query.to = (uint32_t)to;
	o->query.cells = (uint32_t)cells;
	return 0;
}

/* ---- the answer ---- */

static json_t *index_or_null(uint32_t i)
{
	return i == CODE_NONE ? json_null() : json_integer(i);
}

/* As three lists of numbers: there may be thousands of them. */
static json_t *cells_json(const struct code *c)
{
	json_t *bytes = json_array(), *samples = json_array(), *function = json_array();
	size_t i;

	for (i = 0; i < c->cell_at.n; i++) {
		json_array_append_new(bytes, json_integer(c->cell_at.v[i].bytes));
		json_array_append_new(samples, json_real(c->cell_at.v[i].samples));
		json_array_append_new(function, index_or_null(c->cell_at.v[i].function));
	}
	return json_pack("{so so so}", "bytes", bytes, "samples", samples, "function", function);
}

static json_t *functions_json(const struct code_view *v)
{
	json_t *list = json_array();
	char key[HASH_HEX];
	size_t i;

	for (i = 0; i < v->nname; i++)
		json_array_append_new(
		    list, json_pack("{so so ss}", "name", json_text(v->name[i].name), "tu",
			      json_text(v->name[i].tu), "key", hash_hex(&v->name[i].key, key)));
	return list;
}

static json_t *blocks_json(const struct code *c)
{
	const struct code_block *b;
	json_t *list;
	size_t i;

	if (c->nblock > CODE_BLOCKS_MAX)
		return json_null();
	list = json_array();
	for (i = 0; i < c->block.n; i++) {
		b = &c->block.v[i];
		json_array_append_new(
		    list, json_pack("{sI sI sI sI sf}", "function", (json_int_t)b->function,
			      "block", (json_int_t)b->block, "offset", (json_int_t)b->offset,
			      "size", (json_int_t)b->size, "samples", b->samples));
	}
	return list;
}

static json_t *edges_json(const struct code *c)
{
	const struct code_edge *x;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < c->edge.n; i++) {
		x = &c->edge.v[i];
		json_array_append_new(
		    list, json_pack("{sI sI sI sf}", "function", (json_int_t)x->function, "block",
			      (json_int_t)x->block, "to", (json_int_t)x->to, "outcomes", x->n));
	}
	return list;
}

static json_t *parts_json(const struct code *c)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < c->part.n; i++)
		json_array_append_new(
		    list, json_pack("{sI sI}", "from", (json_int_t)c->part.v[i].from, "to",
			      (json_int_t)c->part.v[i].to));
	return list;
}

static json_t *code_json(const struct store_module *m, const struct code_view *v)
{
	const struct code *c = v->code;
	char hex[BUILD_ID_HEX];
	json_t *j;

	j = json_pack("{so so ss sI sI sI sI sI sf sf sI}", "module",
	    json_sprintf("%016" PRIx64, m->id), "path", json_text(m->path), "build_id",
	    build_id_hex(&v->build, hex), "begin", (json_int_t)c->begin, "end", (json_int_t)c->end,
	    "from", (json_int_t)c->from, "to", (json_int_t)c->to, "cell", (json_int_t)c->cell,
	    "samples", c->samples, "within", c->within, "blocks_within", (json_int_t)c->nblock);
	json_object_set_new(j, "cells", cells_json(c));
	json_object_set_new(j, "functions", functions_json(v));
	json_object_set_new(j, "blocks", blocks_json(c));
	json_object_set_new(j, "edges", edges_json(c));
	json_object_set_new(j, "parts", parts_json(c));
	return j;
}

enum http_verdict api_get_code(struct call *c)
{
	const struct code_view *v;
	struct code_order o;
	struct err e;
	int rc;

	if (read_order(c, &o))
		return HTTP_REPLY;
	rc = manager_code(c->api->m, &o, &v, &e);
	if (rc < 0)
		return api_internal(c, &e);
	if (rc == 0 && c->rq->expired)
		return api_error(
		    c, 503, "busy", "the code map is not ready after %d s; try again", WAIT_S);
	if (rc == 0) {
		c->rq->wait_s = WAIT_S;
		return HTTP_WAIT;
	}
	if (!v)
		return api_error(c, 404, "not-found", "no block map of the %s build of %s",
		    o.original ? "original" : "present", c->module->path);
	return api_sync(c, code_json(c->module, v));
}
