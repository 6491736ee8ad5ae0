#include "common/editanswer/editanswer.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum type {
	ID,
	TEXT,
	NAME /* char[EDITANSWER_NAME] */,
	COUNT /* uint32_t */,
	SIZE /* uint64_t */,
	REAL,
	SHARE,
	SIGNED,
	REASONS,
	OBJECT
};

struct member {
	const char *key; /* NULL ends a table */
	enum type type;
	size_t at;      /* in the struct */
	unsigned parts; /* of which it is; 0: in every answer */
	bool read;
	const struct member *of; /* OBJECT */
};

#define AT(m) offsetof(struct editanswer_cost, m)
static const struct member COST[] = {{"insns", REAL, AT(insns), 0, true},
    {"taken", REAL, AT(taken), 0, true}, {"lines", REAL, AT(lines), 0, true},
    {"cycles", REAL, AT(cycles), 0, true}, {NULL}};
#undef AT

#define AT(m) offsetof(struct editanswer_score, m)
static const struct member SCORE[] = {{"exttsp", REAL, AT(exttsp), 0, true},
    {"taken", REAL, AT(taken), 0, true}, {"total", REAL, AT(total), 0, true},
    {"lines95", SIZE, AT(lines95), 0, true}, {"cost", OBJECT, AT(cost), 0, true, COST}, {NULL}};
#undef AT

#define AT(m) offsetof(struct editanswer_estimate, m)
static const struct member ESTIMATE[] = {{"gain", SIGNED, AT(gain), 0, true},
    {"low", SIGNED, AT(low), 0, true}, {"high", SIGNED, AT(high), 0, true},
    {"missed", SIGNED, AT(missed), 0, true}, {"optimism", SIGNED, AT(optimism), 0, true}, {NULL}};
#undef AT

#define AT(m) offsetof(struct editanswer_list, m)
static const struct member LIST[] = {{"names", COUNT, AT(names), 0, true},
    {"missed", COUNT, AT(missed), 0, true}, {"example", NAME, AT(example), 0, true}, {NULL}};
#undef AT

/* The members of members have their places in the whole. */
#define AT(m) offsetof(struct editanswer, m)
static const struct member LOST[] = {{"unknown_function", SIZE, AT(lines_lost.unknown_function)},
    {"ambiguous_function", SIZE, AT(lines_lost.ambiguous_function)},
    {"unknown_block", SIZE, AT(lines_lost.unknown_block)},
    {"unknown_edge", SIZE, AT(lines_lost.unknown_edge)}, {NULL}};

static const struct member SECONDS[] = {{"parse", REAL, AT(seconds.parse)},
    {"infer", REAL, AT(seconds.infer)}, {"layout", REAL, AT(seconds.layout)},
    {"emit", REAL, AT(seconds.emit)}, {"check", REAL, AT(seconds.check)},
    {"as", REAL, AT(seconds.as)}, {"ld", REAL, AT(seconds.ld)},
    {"verify", REAL, AT(seconds.verify)}, {NULL}};

static const struct member SCORES[] = {{"before", OBJECT, AT(score.before), 0, true, SCORE},
    {"after", OBJECT, AT(score.after), 0, true, SCORE}, {NULL}};

static const struct member SIZES[] = {
    {"before", SIZE, AT(size.before), 0, true}, {"after", SIZE, AT(size.after), 0, true}, {NULL}};

static const struct member ANSWER[] = {
    {"origin", ID, AT(origin), 0, true},
    {"functions", COUNT, AT(functions), 0, true},
    {"blocks", COUNT, AT(blocks)},
    {"tus", COUNT, AT(tus), 0, true},
    {"opaque", COUNT, AT(opaque), 0, true},
    {"opaque_share", SHARE, AT(opaque_share), 0, true},
    {"opaque_reasons", REASONS, AT(reason)},
    {"samples", REAL, AT(samples), 0, true},
    {"samples_used", REAL, AT(samples_used), 0, true},
    {"lines_lost", OBJECT, 0, 0, false, LOST},
    {"out", TEXT, AT(out), EDITANSWER_BUILD},
    {"build_id", ID, AT(build_id), EDITANSWER_BUILD, true},
    {"edited", COUNT, AT(edited), EDITANSWER_LAYOUT, true},
    {"order", OBJECT, AT(list), EDITANSWER_LAYOUT, true, LIST},
    {"counted", COUNT, AT(counted), EDITANSWER_COUNTING},
    {"counters", COUNT, AT(counters), EDITANSWER_COUNTING},
    {"tus_assembled", COUNT, AT(tus_assembled), EDITANSWER_BUILD, true},
    {"tus_cached", COUNT, AT(tus_cached), EDITANSWER_BUILD, true},
    {"seconds", OBJECT, 0, EDITANSWER_LAYOUT, false, SECONDS},
    {"score", OBJECT, 0, EDITANSWER_SCORES, true, SCORES},
    {"estimate", OBJECT, AT(estimate), EDITANSWER_ESTIMATE, true, ESTIMATE},
    {"size", OBJECT, 0, EDITANSWER_BUILD, true, SIZES},
    {NULL},
};
#undef AT

/* ---- writing ---- */

static json_t *members(const struct member *m, const void *base, unsigned parts);

/* Names come from assembly, and paths from anywhere. */
json_t *editanswer_text_json(const char *s)
{
	json_t *v = json_string(s);

	return v ? v : json_string("?");
}

static json_t *reasons(const struct editanswer *a)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < a->reason.n; i++)
		json_array_append_new(
		    list, json_pack("{s:o, s:I, s:f}", "reason",
			      editanswer_text_json(a->reason.v[i].text), "functions",
			      (json_int_t)a->reason.v[i].functions, "share", a->reason.v[i].share));
	return list;
}

static json_t *value(const struct member *m, const void *base, unsigned parts)
{
	const void *at = (const char *)base + m->at;
	char hex[BUILD_ID_HEX];

	switch (m->type) {
	case ID:
		return json_string(build_id_hex(at, hex));
	case TEXT:
		return editanswer_text_json(*(const char *const *)at);
	case NAME:
		return editanswer_text_json(at);
	case COUNT:
		return json_integer(*(const uint32_t *)at);
	case SIZE:
		return json_integer((json_int_t) * (const uint64_t *)at);
	case REAL:
	case SHARE:
	case SIGNED:
		return json_real(*(const double *)at);
	case REASONS:
		return reasons(base);
	case OBJECT:
		return members(m->of, at, parts);
	}
	return NULL;
}

static json_t *members(const struct member *m, const void *base, unsigned parts)
{
	json_t *o = json_object();

	for (; m->key; m++)
		if (!(m->parts & ~parts))
			json_object_set_new(o, m->key, value(m, base, parts));
	return o;
}

json_t *editanswer_json(const struct editanswer *a, unsigned parts)
{
	json_t *o = json_pack("{s:b}", "ok", 1), *rest = members(ANSWER, a, parts);

	json_object_update(o, rest);
	json_decref(rest);
	return o;
}

json_t *editanswer_score_json(const struct editanswer_score *s)
{
	return members(SCORE, s, 0);
}

json_t *editanswer_refusal_json(const char *why)
{
	return json_pack("{s:b, s:o}", "ok", 0, "error", editanswer_text_json(why));
}

/* ---- reading ---- */

static int complain(struct err *e, const char *key, const char *want)
{
	return err_set(e, "the editor's answer: \"%s\" is not %s", key, want);
}

static int read_whole(const json_t *v, uint64_t max, uint64_t *out)
{
	*out = (uint64_t)json_integer_value(v);
	return json_is_integer(v) && json_integer_value(v) >= 0 && *out <= max ? 0 : -1;
}

static int read_real(const json_t *v, double min, double max, double *out)
{
	*out = json_number_value(v);
	return json_is_number(v) && *out >= min && *out <= max ? 0 : -1;
}

static int read_members(
    const struct member *m, const json_t *o, void *base, unsigned parts, struct err *e);

static int read_value(
    const struct member *m, const json_t *v, void *base, unsigned parts, struct err *e)
{
	static const char whole_range[] = "a whole number in its range";
	static const char range[] = "a number in its range";
	void *at = (char *)base + m->at;
	uint64_t whole;

	switch (m->type) {
	case ID:
		return !json_is_string(v) || build_id_parse(json_string_value(v), at)
			   ? complain(e, m->key, "a build-id")
			   : 0;
	case NAME:
		if (!json_is_string(v) || json_string_length(v) >= EDITANSWER_NAME)
			return complain(e, m->key, "a name");
		memcpy(at, json_string_value(v), json_string_length(v) + 1);
		return 0;
	case COUNT:
		if (read_whole(v, UINT32_MAX, &whole))
			return complain(e, m->key, whole_range);
		*(uint32_t *)at = (uint32_t)whole;
		return 0;
	case SIZE:
		return read_whole(v, INT64_MAX, at) ? complain(e, m->key, whole_range) : 0;
	case REAL:
		return read_real(v, 0, INFINITY, at) ? complain(e, m->key, range) : 0;
	case SHARE: /* a sum of rounded shares */
		return read_real(v, 0, 1 + 1e-6, at) ? complain(e, m->key, range) : 0;
	case SIGNED: /* a share of time, of either sign */
		return read_real(v, -1e3, 1, at) ? complain(e, m->key, range) : 0;
	case OBJECT:
		return json_is_object(v) ? read_members(m->of, v, at, parts, e)
					 : complain(e, m->key, "an object");
	case TEXT:
	case REASONS:
		break;
	}
	return 0;
}

static int read_members(
    const struct member *m, const json_t *o, void *base, unsigned parts, struct err *e)
{
	for (; m->key; m++)
		if (m->read && !(m->parts & ~parts) &&
		    read_value(m, json_object_get(o, m->key), base, parts, e))
			return -1;
	return 0;
}

static int read_refusal(const json_t *o, struct err *why)
{
	const char *s = json_string_value(json_object_get(o, "error"));

	if (!s || !*s)
		return complain(why, "error", "a reason");
	err_set(why, "%s", s);
	err_line(why->text);
	return 1;
}

int editanswer_read(
    const char *json, size_t n, unsigned parts, struct editanswer *out, struct err *why)
{
	json_error_t at;
	json_t *o = json_loadb(json, n, JSON_REJECT_DUPLICATES, &at);
	const json_t *ok = json_object_get(o, "ok");
	int rc;

	if (!o)
		rc = err_set(why, "the editor's answer is no JSON: %s", err_line(at.text));
	else if (json_is_false(ok))
		rc = read_refusal(o, why);
	else if (json_is_true(ok))
		rc = read_members(ANSWER, o, out, parts, why);
	else
		rc = complain(why, "ok", "true or false");
	json_decref(o);
	return rc;
}
