#include "managerd/job/edit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Reading the editor's JSON (docs/FORMATS.md): it ran as another user over an
 * artifact nobody vouches for, so every field is of its type and range, or
 * the whole answer is none. */

struct reader {
	struct arena *mem;
	struct err *e;
	bool bad;
};

static void complain(struct reader *r, const char *key, const char *want)
{
	if (!r->bad)
		err_set(r->e, "the editor's answer: \"%s\" is not %s", key, want);
	r->bad = true;
}

static const json_t *object(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_object(v))
		complain(r, key, "an object");
	return v;
}

static char *text(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v)) {
		complain(r, key, "a string");
		return arena_strdup(r->mem, "");
	}
	return arena_strdup(r->mem, json_string_value(v));
}

static double number(struct reader *r, const json_t *o, const char *key, double max)
{
	const json_t *v = json_object_get(o, key);
	double d = json_is_number(v) ? json_number_value(v) : NAN;

	if (d >= 0 && d <= max)
		return d;
	complain(r, key, "a number in its range");
	return 0;
}

static uint64_t whole(struct reader *r, const json_t *o, const char *key, uint64_t max)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_integer(v) && json_integer_value(v) >= 0 &&
	    (uint64_t)json_integer_value(v) <= max)
		return (uint64_t)json_integer_value(v);
	complain(r, key, "a whole number in its range");
	return 0;
}

static struct build_id id(struct reader *r, const json_t *o, const char *key)
{
	struct build_id id = {0};

	if (build_id_parse(text(r, o, key), &id) < 0)
		complain(r, key, "a build-id");
	return id;
}

static struct edit_score score(struct reader *r, const json_t *o, const char *key)
{
	const json_t *s = object(r, o, key), *cost = object(r, s, "cost");

	return (struct edit_score){
		.exttsp = number(r, s, "exttsp", INFINITY),
		.taken = number(r, s, "taken", INFINITY),
		.total = number(r, s, "total", INFINITY),
		.cycles = number(r, cost, "cycles", INFINITY),
		.lines95 = whole(r, s, "lines95", INT64_MAX),
	};
}

static void read_common(struct reader *r, const json_t *o, struct edit_result *out)
{
	const json_t *s = object(r, o, "score");

	out->functions = (uint32_t)whole(r, o, "functions", UINT32_MAX);
	out->edited = (uint32_t)whole(r, o, "edited", UINT32_MAX);
	out->opaque = (uint32_t)whole(r, o, "opaque", UINT32_MAX);
	out->opaque_share = number(r, o, "opaque_share", 1 + 1e-6);
	out->samples = number(r, o, "samples", INFINITY);
	out->samples_used = number(r, o, "samples_used", INFINITY);
	out->before = score(r, s, "before");
	out->after = score(r, s, "after");
}

static void read_build(struct reader *r, const json_t *o, struct edit_result *out)
{
	const json_t *s = object(r, o, "size");

	out->build_id = id(r, o, "build_id");
	out->origin = id(r, o, "origin");
	out->tus = (uint32_t)whole(r, o, "tus", UINT32_MAX);
	out->tus_assembled = (uint32_t)whole(r, o, "tus_assembled", UINT32_MAX);
	out->tus_cached = (uint32_t)whole(r, o, "tus_cached", UINT32_MAX);
	out->size_before = whole(r, s, "before", INT64_MAX);
	out->size_after = whole(r, s, "after", INT64_MAX);
}

/* "ok": false is an answer, too: why not. */
int edit_parse(const char *json, size_t n, enum priv_job_kind kind, struct edit_result *out,
    struct arena *a, struct err *e)
{
	struct reader r = {.mem = a, .e = e};
	json_error_t at;
	json_t *o = json_loadb(json, n, JSON_REJECT_DUPLICATES, &at);
	const json_t *ok = json_object_get(o, "ok");

	if (!o) {
		err_set(e, "the editor's answer is no JSON: %s", err_line(at.text));
		return -1;
	}
	if (json_is_false(ok)) {
		out->error = err_line(text(&r, o, "error"));
		if (!*out->error)
			complain(&r, "error", "a reason");
	} else if (!json_is_true(ok)) {
		complain(&r, "ok", "true or false");
	} else {
		out->error = "";
		read_common(&r, o, out);
		if (kind == PRIV_BUILD)
			read_build(&r, o, out);
	}
	json_decref(o);
	return r.bad ? -1 : 0;
}
