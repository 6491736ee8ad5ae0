/*
 * pprof's profile.proto (github.com/google/pprof/proto), compressed by gzip. An event is two sample
 * types: how often it was seen, and the sum of its periods. Locations have addresses of a made-up
 * address space: ELF files are mapped one after the other, the one with most samples first, as far
 * as there are samples in them, so that pprof finds instructions in the file; kernel and JIT code
 * lie where they are.
 */
#include "common/sort.h"
#include "morphctl/report/out/formats.h"
#include "morphctl/report/out/executable.h"
#include "morphctl/report/out/protobuf.h"
#include "morphctl/report/out/stacks.h"
#include "morphctl/report/out/text.h"

#include <string.h>
#include <zlib.h>

/* Numbers of fields: of a profile, a value's type, … */
enum { P_SAMPLE_TYPE = 1, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRING };
enum { P_DURATION = 10, P_PERIOD_TYPE, P_PERIOD, P_COMMENT, P_DEFAULT_TYPE };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING, LABEL_NUMBER };
enum { MAP_ID = 1, MAP_START, MAP_LIMIT, MAP_OFFSET, MAP_PATH, MAP_BUILD_ID };
enum { MAP_FUNCTIONS = 7, MAP_FILES, MAP_LINES, MAP_INLINED };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_LINKAGE, FUNCTION_SOURCE, FUNCTION_START };

enum { FIRST_ADDRESS = 0x100000, PAGE = 0x1000 };

struct mapping {
	uint64_t low, high; /* offsets of locations */
	uint64_t base;      /* an offset's address is this much more */
	bool used, functions, files, lines;
};

struct pprof {
	const struct recording *r;
	struct buf *out, table, message, inner,
	    text; /* table: strings, which come after all else */
	struct htab strings;
	struct mapping *mapping;   /* by file */
	uint32_t *id;              /* of a file's mapping, in the order in which they are written */
	bool *location, *function; /* those that samples lead to */
	bool *period;              /* by event: whether its periods are known */
};

/* The number of a string. */
static uint64_t string(struct pprof *p, const char *s)
{
	bool fresh;
	uint64_t *at;

	p->text.n = 0;
	text_put(&p->text, s, 0, 0);
	at = htab_put_str(&p->strings, buf_cstr(&p->text), &fresh);
	if (fresh) {
		*at = p->strings.n - 1;
		protobuf_bytes(&p->table, P_STRING, p->text.p, p->text.n);
	}
	return *at;
}

/* ---- what samples lead to ---- */

static void see_location(struct pprof *p, uint32_t location)
{
	const struct recording_location *l = &p->r->location.v[location];
	const struct recording_frame *f = p->r->frame.v + l->frame;
	struct mapping *m = l->file == RECORDING_NONE ? NULL : &p->mapping[l->file];
	uint32_t i;

	p->location[location] = true;
	if (m) {
		m->low = m->used && m->low < l->offset ? m->low : l->offset;
		m->high = m->used && m->high > l->offset ? m->high : l->offset;
		m->used = true;
	}
	for (i = 0; i < l->nframe; i++) {
		p->function[f[i].function] = true;
		if (!m)
			continue;
		m->functions = true;
		m->files |= p->r->function.v[f[i].function].source != NULL;
		m->lines |= f[i].line != 0;
	}
}

static void see_samples(struct pprof *p)
{
	const struct recording *r = p->r;
	bool *stack = xcalloc(r->stack.n, sizeof *stack);
	uint32_t s;
	size_t i;

	for (i = 0; i < r->sample.n; i++) {
		p->period[r->sample.v[i].event] |= r->sample.v[i].period != 0;
		for (s = r->sample.v[i].stack; s != RECORDING_NONE && !stack[s];
		     s = r->stack.v[s].caller) {
			stack[s] = true;
			if (!p->location[r->stack.v[s].location])
				see_location(p, r->stack.v[s].location);
		}
	}
	free(stack);
}

/* ---- messages ---- */

static void put_type(struct pprof *p, unsigned field, const char *name, const char *unit)
{
	protobuf_number(&p->message, TYPE_NAME, string(p, name));
	protobuf_number(&p->message, TYPE_UNIT, string(p, unit));
	protobuf_message(p->out, field, &p->message);
}

static const char *unit_of(const struct recording_event *e)
{
	return strcmp(e->unit, "ns") == 0 ? "nanoseconds" : e->unit;
}

/* The name of how often an event was seen, into name. */
static const char *samples_of(const struct recording *r, size_t event, struct buf *name)
{
	name->n = 0;
	if (r->event.n > 1)
		buf_printf(name, "%s-", r->event.v[event].name);
	buf_str(name, "samples");
	return buf_cstr(name);
}

static void put_sample_types(struct pprof *p)
{
	const struct recording *r = p->r;
	struct buf name = {0};
	size_t i;

	for (i = 0; i < r->event.n; i++) {
		put_type(p, P_SAMPLE_TYPE, samples_of(r, i, &name), "count");
		if (p->period[i])
			put_type(p, P_SAMPLE_TYPE, r->event.v[i].name, unit_of(&r->event.v[i]));
	}
	buf_free(&name);
}

static void put_label(struct pprof *p, const char *key, uint64_t number, const char *text)
{
	struct buf label = {0};

	if (!number && !(text && *text))
		return;
	protobuf_number(&label, LABEL_KEY, string(p, key));
	protobuf_number(&label, LABEL_NUMBER, number);
	if (text)
		protobuf_number(&label, LABEL_STRING, string(p, text));
	protobuf_message(&p->message, SAMPLE_LABEL, &label);
	buf_free(&label);
}

/* The samples [s, end) of one task and stack, in the order of events. */
static void put_sample(
    struct pprof *p, const struct recording_sample *s, const struct recording_sample *end)
{
	const struct recording *r = p->r;
	uint32_t stack = s->stack, i;

	for (; stack != RECORDING_NONE; stack = r->stack.v[stack].caller)
		buf_uleb(&p->inner, r->stack.v[stack].location + 1ULL);
	if (p->inner.n)
		protobuf_message(&p->message, SAMPLE_LOCATION, &p->inner);
	if (s->task != RECORDING_NONE) {
		put_label(p, "pid", r->task.v[s->task].pid, NULL);
		put_label(p, "tid", r->task.v[s->task].tid, NULL);
		put_label(p, "comm", 0, r->task.v[s->task].comm);
	}
	for (i = 0; i < r->event.n; i++) {
		bool here = s < end && s->event == i;

		buf_uleb(&p->inner, here ? s->n : 0);
		if (p->period[i])
			buf_uleb(&p->inner, here ? s->period : 0);
		s += here;
	}
	protobuf_message(&p->message, SAMPLE_VALUE, &p->inner);
	protobuf_message(p->out, P_SAMPLE, &p->message);
}

static int by_stack(const void *a, const void *b)
{
	const struct recording_sample *x = a, *y = b;

	return ORDER(x->task, y->task) ?: ORDER(x->stack, y->stack) ?: ORDER(x->event, y->event);
}

static void put_samples(struct pprof *p)
{
	struct recording sums;
	struct recording_sample *s, *end, *next;

	samples_sum(&sums, p->r);
	vec_sort(&sums.sample, by_stack);
	end = sums.sample.v + sums.sample.n;
	for (s = sums.sample.v; s < end; s = next) {
		for (next = s; next < end && next->task == s->task && next->stack == s->stack;)
			next++;
		put_sample(p, s, next);
	}
	recording_free(&sums);
}

static void put_mapping(struct pprof *p, uint32_t file, uint32_t id, uint64_t *address)
{
	const struct recording_file *f = &p->r->file.v[file];
	struct mapping *m = &p->mapping[file];
	uint64_t start = m->low & -(uint64_t)PAGE, limit = (m->high | (PAGE - 1)) + 1;
	char hex[BUILD_ID_HEX];

	if (f->kind == RECORDING_ELF) {
		protobuf_number(&p->message, MAP_OFFSET, start);
		m->base = *address - start;
		start += m->base;
		limit += m->base;
		*address = limit;
	}
	p->id[file] = id;
	protobuf_number(&p->message, MAP_ID, id);
	protobuf_number(&p->message, MAP_START, start);
	protobuf_number(&p->message, MAP_LIMIT, limit);
	protobuf_number(&p->message, MAP_PATH, string(p, f->path));
	if (f->id.n)
		protobuf_number(&p->message, MAP_BUILD_ID, string(p, build_id_hex(&f->id, hex)));
	protobuf_number(&p->message, MAP_FUNCTIONS, m->functions);
	protobuf_number(&p->message, MAP_FILES, m->files);
	protobuf_number(&p->message, MAP_LINES, m->lines);
	protobuf_number(&p->message, MAP_INLINED, m->lines);
	protobuf_message(p->out, P_MAPPING, &p->message);
}

/* Names that are of no file's code have no mapping. */
static void put_mappings(struct pprof *p)
{
	const struct out_options any = {0};
	uint64_t address = FIRST_ADDRESS;
	uint32_t id = 0, i;
	struct executable main;

	if (executable_find(&main, p->r, &any, NULL))
		main.file = RECORDING_NONE;
	else if (p->mapping[main.file].used && p->r->file.v[main.file].kind != RECORDING_NAMED)
		put_mapping(p, main.file, ++id, &address);
	for (i = 0; i < p->r->file.n; i++)
		if (i != main.file && p->mapping[i].used && p->r->file.v[i].kind != RECORDING_NAMED)
			put_mapping(p, i, ++id, &address);
}

static void put_location(struct pprof *p, uint32_t location)
{
	const struct recording_location *l = &p->r->location.v[location];
	const struct recording_frame *f = p->r->frame.v + l->frame;
	uint32_t i;

	protobuf_number(&p->message, LOCATION_ID, location + 1ULL);
	if (l->file != RECORDING_NONE && p->id[l->file]) {
		protobuf_number(&p->message, LOCATION_MAPPING, p->id[l->file]);
		protobuf_number(
		    &p->message, LOCATION_ADDRESS, p->mapping[l->file].base + l->offset);
	}
	for (i = 0; i < l->nframe; i++) {
		protobuf_number(&p->inner, LINE_FUNCTION, f[i].function + 1ULL);
		protobuf_number(&p->inner, LINE_NUMBER, f[i].line);
		protobuf_message(&p->message, LOCATION_LINE, &p->inner);
	}
	protobuf_message(p->out, P_LOCATION, &p->message);
}

static void put_function(struct pprof *p, uint32_t function)
{
	const struct recording_function *f = &p->r->function.v[function];

	protobuf_number(&p->message, FUNCTION_ID, function + 1ULL);
	protobuf_number(&p->message, FUNCTION_NAME, string(p, f->name));
	protobuf_number(&p->message, FUNCTION_LINKAGE, string(p, f->linkage));
	protobuf_number(&p->message, FUNCTION_SOURCE, f->source ? string(p, f->source) : 0);
	protobuf_number(&p->message, FUNCTION_START, f->line);
	protobuf_message(p->out, P_FUNCTION, &p->message);
}

/* How long it took, and the mean period of the first event that has any. */
static void put_period(struct pprof *p)
{
	const struct recording *r = p->r;
	const struct recording_sample *s;
	uint64_t n = 0, period = 0, first = UINT64_MAX, last = 0;
	uint32_t event = 0;

	while (event < r->event.n && !p->period[event])
		event++;
	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		n += s->event == event ? s->n : 0;
		period += s->event == event ? s->period : 0;
		first = s->time_ns && s->time_ns < first ? s->time_ns : first;
		last = s->time_ns > last ? s->time_ns : last;
	}
	protobuf_number(p->out, P_DURATION, last > first ? last - first : 0);
	if (n) {
		put_type(p, P_PERIOD_TYPE, r->event.v[event].name, unit_of(&r->event.v[event]));
		protobuf_number(p->out, P_PERIOD, period / n);
	}
}

/* What is shown first: the first event. */
static void put_default(struct pprof *p)
{
	struct buf name = {0};

	if (p->r->event.n)
		protobuf_number(p->out, P_DEFAULT_TYPE,
		    string(p, p->period[0] ? p->r->event.v[0].name : samples_of(p->r, 0, &name)));
	buf_free(&name);
}

/* In the order of fields' numbers, as other writers have it. */
static void put_profile(struct pprof *p, const struct out_options *o)
{
	struct buf *profile = p->out, end = {0};
	uint32_t i;

	string(p, ""); /* number 0, by the format */
	put_sample_types(p);
	put_samples(p);
	put_mappings(p);
	for (i = 0; i < p->r->location.n; i++)
		if (p->location[i])
			put_location(p, i);
	for (i = 0; i < p->r->function.n; i++)
		if (p->function[i])
			put_function(p, i);
	p->out = &end;
	put_period(p);
	if (o->title)
		protobuf_number(p->out, P_COMMENT, string(p, o->title));
	put_default(p);
	buf_add(profile, p->table.p, p->table.n);
	buf_add(profile, end.p, end.n);
	buf_free(&end);
}

/* Without a time or a name in the header, so that the same profile gives the same bytes. */
static int compress_to(struct buf *out, const struct buf *profile, struct err *e)
{
	z_stream z = {0};
	uLong bound;
	int status;

	if (profile->n > UINT32_MAX)
		return err_set(e, "the profile takes more than 4 GiB");
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return err_set(e, "zlib: %s", z.msg ? z.msg : "does not begin");
	bound = deflateBound(&z, profile->n);
	z.next_in = (Bytef *)profile->p;
	z.avail_in = (uInt)profile->n;
	z.next_out = buf_grow(out, bound);
	z.avail_out = (uInt)bound;
	status = deflate(&z, Z_FINISH);
	out->n -= z.avail_out;
	deflateEnd(&z);
	return status == Z_STREAM_END ? 0 : err_set(e, "zlib: status %d", status);
}

int write_pprof(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct buf profile = {0};
	struct pprof p = {.r = r,
	    .out = &profile,
	    .mapping = xcalloc(r->file.n, sizeof *p.mapping),
	    .id = xcalloc(r->file.n, sizeof *p.id),
	    .location = xcalloc(r->location.n, sizeof *p.location),
	    .function = xcalloc(r->function.n, sizeof *p.function),
	    .period = xcalloc(r->event.n, sizeof *p.period)};
	int status;

	see_samples(&p);
	put_profile(&p, o);
	status = compress_to(out, &profile, e);
	htab_free(&p.strings);
	buf_free(&p.table);
	buf_free(&p.message);
	buf_free(&p.inner);
	buf_free(&p.text);
	buf_free(&profile);
	free(p.mapping);
	free(p.id);
	free(p.location);
	free(p.function);
	free(p.period);
	return status;
}
