/*
 * profile.proto of pprof, already unpacked. Messages may come in any order and refer to one another
 * by id and to strings by index: the first pass keeps where they are, then they are read in the
 * order in which they need one another.
 *
 * Each type of value is an event, but for one whose unit is "count" before one of another: it is
 * the number of the other's samples, as in "samples", "cpu". Without one a value is one sample.
 */
#include "morphctl/report/in/format.h"
#include "morphctl/report/in/proto.h"

#include <ctype.h>
#include <string.h>

enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, FIELDS = 16 };

struct message {
	const uint8_t *p;
	size_t n;
};

struct string {
	struct message at;
	const char *copy; /* with its end; NULL before it is used */
};

struct mapping {
	uint64_t start, limit, offset;
	uint32_t file; /* RECORDING_NONE: without a name */
	bool kernel;
};

struct type {
	const char *name, *unit;
	bool count;
	uint32_t event; /* RECORDING_NONE: the number of samples of the next one */
};

/* One message of each kind, as it is written. */
struct profile {
	const struct in_file *f;
	struct recording *r;
	struct err *e;
	VEC(struct string) string;
	VEC(struct message) part[FUNCTION + 1];
	VEC(struct mapping) mapping;
	VEC(struct recording_function) function;
	VEC(struct type) type;
	VEC(uint32_t) location;       /* of the recording */
	VEC(uint64_t) value, of;      /* of the sample at hand */
	struct htab id[FUNCTION + 1]; /* u64 -> index above */
	struct arena mem;
	uint32_t named; /* the file of locations that have no mapping */
};

static int bad(struct profile *x, const uint8_t *p, const char *what)
{
	return err_set(x->e, "%s: offset %zu: %s", x->f->name, (size_t)(p - x->f->p), what);
}

static int damaged(struct profile *x, const struct proto *m)
{
	return m->bad ? bad(x, m->p, "a message is damaged") : 0;
}

static int collect(struct profile *x)
{
	struct proto m = {x->f->p, x->f->p + x->f->n, false};
	struct field f;

	while (proto_next(&m, &f)) {
		if (f.number > STRING)
			continue;
		if (!f.is_bytes)
			return bad(x, m.p, "a number where a message should be");
		if (f.number == STRING)
			vec_push(&x->string, (struct string){{f.p, f.n}, NULL});
		else
			vec_push(&x->part[f.number], (struct message){f.p, f.n});
	}
	return damaged(x, &m);
}

/* The string of an index; NULL and an error: there is none. */
static const char *string(struct profile *x, const uint8_t *at, uint64_t i)
{
	struct string *s;

	if (!i)
		return "";
	if (i >= x->string.n) {
		bad(x, at, "an index beyond the table of strings");
		return NULL;
	}
	s = &x->string.v[i];
	if (!s->copy && memchr(s->at.p, '\0', s->at.n))
		bad(x, s->at.p, "a string has a NUL");
	else if (!s->copy)
		s->copy = arena_strndup(&x->mem, (const char *)s->at.p, s->at.n);
	return s->copy;
}

static struct proto message(const struct message *m)
{
	return (struct proto){m->p, m->p + m->n, false};
}

/* Numbers of a message by field, 0 where it has none; the last one counts. */
static int numbers(struct profile *x, const struct message *of, uint64_t v[FIELDS])
{
	struct proto m = message(of);
	struct field f;

	memset(v, 0, FIELDS * sizeof *v);
	while (proto_next(&m, &f))
		if (f.number < FIELDS)
			v[f.number] = f.value;
	return damaged(x, &m);
}

static int remember(struct profile *x, unsigned kind, const uint8_t *p, uint64_t id, uint64_t index)
{
	bool fresh;
	uint64_t *at = htab_put(&x->id[kind], &id, sizeof id, &fresh);

	if (!id || !fresh)
		return bad(x, p, id ? "an id comes twice" : "an id is 0");
	*at = index;
	return 0;
}

/* ---- types, mappings, functions ---- */

static const char *unit_of(const char *unit)
{
	return strcmp(unit, "nanoseconds") == 0 ? "ns" : unit;
}

static int read_type(struct profile *x, const struct message *m)
{
	uint64_t v[FIELDS];
	const char *name, *unit;

	if (numbers(x, m, v) || !(name = string(x, m->p, v[1])) || !(unit = string(x, m->p, v[2])))
		return -1;
	vec_push(&x->type, (struct type){name, unit, !strcmp(unit, "count"), RECORDING_NONE});
	return 0;
}

/* As out/pprof.c names what counts an event without periods. */
static const char *event_of(struct profile *x, const struct type *t)
{
	static const char end[] = "-samples";
	size_t n = strlen(t->name), k = strlen(end);

	return t->count && n > k && !strcmp(t->name + n - k, end)
		   ? arena_strndup(&x->mem, t->name, n - k)
		   : t->name;
}

static void name_events(struct profile *x)
{
	struct type *t;
	size_t i;

	for (i = 0; i < x->type.n; i++) {
		t = &x->type.v[i];
		if (!t->count || i + 1 == x->type.n || t[1].count)
			t->event = recording_event(x->r, event_of(x, t), unit_of(t->unit));
	}
}

/* Build-ids in hexadecimal; others, of Go's linker say, are no build-ids. */
static struct build_id parse_id(const char *s)
{
	char hex[BUILD_ID_HEX] = "";
	struct build_id id;
	size_t i;

	for (i = 0; s[i] && i < sizeof hex - 1; i++)
		hex[i] = (char)tolower((unsigned char)s[i]);
	if (s[i] || build_id_parse(hex, &id))
		id = (struct build_id){0};
	return id;
}

static uint32_t mapped_file(struct profile *x, struct mapping *m, const char *path, const char *hex)
{
	struct build_id id = parse_id(hex);

	m->kernel = strncmp(path, "[kernel", 7) == 0 || strncmp(path, "[guest.kernel", 13) == 0;
	if (m->kernel)
		return recording_file(x->r, RECORDING_KERNEL, "[kernel]", &id, 0);
	if (!strncmp(path, "//anon", 6) || !strcmp(path, "[anon]"))
		return recording_file(x->r, RECORDING_ANON, "//anon", NULL, 0);
	return *path ? recording_file(x->r, RECORDING_ELF, path, &id, 0) : RECORDING_NONE;
}

static int read_mapping(struct profile *x, const struct message *m)
{
	uint64_t v[FIELDS];
	const char *path, *id;
	struct mapping map;

	if (numbers(x, m, v) || remember(x, MAPPING, m->p, v[1], x->mapping.n) ||
	    !(path = string(x, m->p, v[5])) || !(id = string(x, m->p, v[6])))
		return -1;
	map = (struct mapping){.start = v[2], .limit = v[3], .offset = v[4]};
	map.file = mapped_file(x, &map, path, id);
	vec_push(&x->mapping, map);
	return 0;
}

static int read_function(struct profile *x, const struct message *m)
{
	struct recording_function f = {.start = UINT64_MAX, .file = RECORDING_NONE};
	uint64_t v[FIELDS];

	if (numbers(x, m, v) || remember(x, FUNCTION, m->p, v[1], x->function.n) ||
	    !(f.name = string(x, m->p, v[2])) || !(f.linkage = string(x, m->p, v[3])) ||
	    !(f.source = string(x, m->p, v[4])))
		return -1;
	if (!*f.name)
		f.name = f.linkage;
	if (!*f.linkage)
		f.linkage = f.name;
	if (!*f.source)
		f.source = NULL;
	f.line = v[5] <= UINT32_MAX ? (uint32_t)v[5] : 0;
	vec_push(&x->function, f);
	return 0;
}

/* ---- locations ---- */

/* Where its code is: in a mapping that has a file, else it is a number. */
static int place(struct profile *x, const struct message *m, const uint64_t v[FIELDS], uint32_t *at)
{
	const uint64_t *index = v[2] ? htab_get(&x->id[MAPPING], &v[2], sizeof v[2]) : NULL;
	const struct mapping *map = index ? &x->mapping.v[*index] : NULL;
	uint64_t offset = v[3];

	if (v[2] && !index)
		return bad(x, m->p, "a location of a mapping that there is not");
	if (!map || map->file == RECORDING_NONE || !offset || offset < map->start ||
	    (map->limit && offset >= map->limit)) {
		if (x->named == RECORDING_NONE)
			x->named = recording_file(x->r, RECORDING_NAMED, "[pprof]", NULL, 0);
		*at = recording_location(x->r, x->named, v[1]);
		return 0;
	}
	if (x->r->file.v[map->file].kind == RECORDING_ELF)
		offset += map->offset - map->start;
	*at = recording_location(x->r, map->file, offset);
	return 0;
}

static int read_line(
    struct profile *x, const struct field *line, uint32_t file, struct recording_frame *frame)
{
	struct message m = {line->p, line->n};
	struct recording_function f;
	uint64_t v[FIELDS], *index;

	if (numbers(x, &m, v))
		return -1;
	index = htab_get(&x->id[FUNCTION], &v[1], sizeof v[1]);
	if (!index)
		return bad(x, m.p, "a line of a function that there is not");
	f = x->function.v[*index];
	f.file = file;
	frame->function = recording_function(x->r, &f);
	frame->line = v[2] <= UINT32_MAX ? (uint32_t)v[2] : 0;
	return 0;
}

static int read_location(struct profile *x, const struct message *of)
{
	VEC(struct recording_frame) frame = {0};
	struct recording_frame one = {0};
	struct proto m = message(of);
	uint64_t v[FIELDS];
	struct field f;
	uint32_t at = 0;
	int result;

	if (numbers(x, of, v) || remember(x, LOCATION, of->p, v[1], x->location.n) ||
	    place(x, of, v, &at))
		return -1;
	vec_push(&x->location, at);
	result = 0;
	while (!result && proto_next(&m, &f)) {
		if (f.number != 4 || !f.is_bytes)
			continue;
		result = read_line(x, &f, x->r->location.v[at].file, &one);
		vec_push(&frame, one);
	}
	if (!result && frame.n && !x->r->location.v[at].resolved)
		recording_resolve(x->r, at, frame.v, (uint32_t)frame.n);
	vec_free(&frame);
	return result;
}

/* ---- samples ---- */

/* Numbers of a repeated field into x->value or x->of. */
static int repeated(struct profile *x, const struct field *f, bool value)
{
	struct proto rest;
	bool begun = false;
	uint64_t v;

	while (proto_packed(f, &rest, &begun, &v)) {
		if (value)
			vec_push(&x->value, v);
		else
			vec_push(&x->of, v);
	}
	return damaged(x, &rest);
}

struct labels {
	uint64_t pid, tid;
	const char *comm;
};

static int read_label(struct profile *x, const struct field *f, struct labels *l)
{
	struct message m = {f->p, f->n};
	const char *key, *text;
	uint64_t v[FIELDS];

	if (numbers(x, &m, v) || !(key = string(x, m.p, v[1])) || !(text = string(x, m.p, v[2])))
		return -1;
	if (!strcmp(key, "pid") || !strcmp(key, "process_id"))
		l->pid = v[3];
	else if (!strcmp(key, "tid") || !strcmp(key, "thread_id"))
		l->tid = v[3];
	else if (!strcmp(key, "comm") || !strcmp(key, "process") || !strcmp(key, "thread_comm"))
		l->comm = text;
	return 0;
}

static int read_fields(struct profile *x, const struct message *of, struct labels *l)
{
	struct proto m = message(of);
	struct field f;
	int result = 0;

	x->of.n = x->value.n = 0;
	while (!result && proto_next(&m, &f)) {
		if (f.number == 1 || f.number == 2)
			result = repeated(x, &f, f.number == 2);
		else if (f.number == 3 && f.is_bytes)
			result = read_label(x, &f, l);
	}
	return result ?: damaged(x, &m);
}

static int get_stack(struct profile *x, const struct message *m, uint32_t *stack)
{
	uint64_t *index;
	size_t i;

	*stack = RECORDING_NONE;
	for (i = x->of.n; i--;) {
		index = htab_get(&x->id[LOCATION], &x->of.v[i], sizeof x->of.v[i]);
		if (!index)
			return bad(x, m->p, "a sample of a location that there is not");
		*stack = recording_stack(x->r, *stack, x->location.v[*index]);
	}
	return 0;
}

static int add_values(struct profile *x, const struct message *m, struct recording_sample *s)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < x->value.n; i++) {
		if ((int64_t)x->value.v[i] < 0)
			return bad(x, m->p, "a negative value: the difference of two profiles");
		if (x->type.v[i].count)
			count = x->value.v[i];
		s->event = x->type.v[i].event;
		s->n = count ? count : 1;
		s->period = x->value.v[i];
		if (s->period && s->event != RECORDING_NONE)
			recording_sample(x->r, s);
	}
	return 0;
}

static int read_sample(struct profile *x, const struct message *m)
{
	struct recording_sample s = {.task = RECORDING_NONE};
	struct labels l = {0};

	if (read_fields(x, m, &l))
		return -1;
	if (x->value.n != x->type.n)
		return bad(x, m->p, "a sample has not as many values as there are types of them");
	if (get_stack(x, m, &s.stack))
		return -1;
	if (l.pid || l.tid || l.comm)
		s.task = recording_task(x->r, (uint32_t)l.pid, (uint32_t)l.tid, l.comm);
	return add_values(x, m, &s);
}

/* ---- the whole ---- */

static int read_parts(struct profile *x)
{
	static const struct {
		unsigned kind;
		int (*read)(struct profile *, const struct message *);
	} order[] = {{SAMPLE_TYPE, read_type}, {MAPPING, read_mapping}, {FUNCTION, read_function},
	    {LOCATION, read_location}, {SAMPLE, read_sample}};
	size_t i, k;

	for (i = 0; i < sizeof order / sizeof *order; i++) {
		for (k = 0; k < x->part[order[i].kind].n; k++)
			if (order[i].read(x, &x->part[order[i].kind].v[k]))
				return -1;
		if (order[i].kind == SAMPLE_TYPE)
			name_events(x);
	}
	return 0;
}

static int read_pprof(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct profile x = {.f = f, .r = r, .e = e, .named = RECORDING_NONE};
	int result = collect(&x) || read_parts(&x) ? -1 : 0;
	unsigned i;

	vec_free(&x.string);
	vec_free(&x.mapping);
	vec_free(&x.function);
	vec_free(&x.type);
	vec_free(&x.location);
	vec_free(&x.value);
	vec_free(&x.of);
	for (i = 0; i <= FUNCTION; i++) {
		vec_free(&x.part[i]);
		htab_free(&x.id[i]);
	}
	arena_free(&x.mem);
	return result;
}

/* No magic number: it is made of its fields up to the end, numbers and messages where they should
 * be, and has a table of strings that begins with the empty one. */
static bool is_pprof(const struct in_file *f)
{
	enum { PERIOD_TYPE = 11, COMMENT = 13 };
	struct proto m = {f->p, f->p + f->n, false};
	bool strings = false;
	struct field field;

	while (proto_next(&m, &field)) {
		if (field.number > FIELDS)
			return false;
		if (field.number != COMMENT &&
		    field.is_bytes != (field.number <= STRING || field.number == PERIOD_TYPE ||
					  field.number == FIELDS))
			return false;
		if (field.number == STRING && !strings && field.n)
			return false;
		strings |= field.number == STRING;
	}
	return strings && !m.bad;
}

const struct in_format in_pprof = {"pprof", "profile.proto, gzip'd or not", is_pprof, read_pprof};
