/*
 * clang's sample profile, as text (llvm/ProfileData/SampleProfReader.h): a function, then its body,
 * one blank deeper; what was inlined is a function in a body, by the line where it was called.
 *
 *	NAME:TOTAL:HEAD
 *	 LINE[.DISCRIMINATOR]: N [CALLEE:N …]
 *	 LINE[.DISCRIMINATOR]: NAME:TOTAL
 *	  …
 *
 * Lines count from the one of the function's definition. The count of a line is the highest of its
 * instructions, of which each ran as often as the ranges over it say, and at least that of the
 *calls there; without ranges it is the samples on it. Of what ran in part the rest is 0: clang
 *takes lines without a count for as hot as those around them. Code of no line is of line 0. A head
 *is how often the function was entered.
 */
#include "common/sort.h"
#include "morphctl/report/out/executed.h"
#include "morphctl/report/out/formats.h"
#include "morphctl/report/out/executable.h"
#include "morphctl/report/out/text.h"

#include <string.h>

enum { INLINED_MAX = 128 /* levels */, LOCATIONS_MAX = 1 << 20 };

#define NOBODY UINT32_MAX

/* A line of a body, or of none. */
struct spot {
	uint32_t body, line, discriminator;
};

/* A function, or one that was inlined. */
struct body {
	struct spot at; /* where it was inlined */
	const char *name;
	uint64_t total, head;
};

struct line {
	struct spot at;
	uint64_t n, called; /* by all of its instructions */
};

struct call {
	struct spot at;
	const char *callee;
	uint64_t n;
};

/* A function as clang knows it. */
struct known {
	const char *name; /* NULL: it cannot have such a function */
	uint32_t line;    /* of the definition, 0 = not known */
};

struct llvm {
	const struct recording *r;
	struct known *known; /* by function */
	bool ranges;
	VEC(struct body) body;
	VEC(struct line) line;
	VEC(struct call) call;
	VEC(const struct body *) sorted;
	struct htab names, defined, index; /* names to their copies; functions to the lines of their
					      definitions; all else to its place */
	struct arena mem;
};

/* ---- names and discriminators as clang has them ---- */

/* Copies and parts of a function are named after it; their lines are its lines. */
static size_t canonical_length(const char *linkage)
{
	static const char *const suffix[] = {".llvm.", ".part.", ".isra.", ".constprop.", ".cold"};
	size_t n = strlen(linkage), i;
	const char *at;

	for (i = 0; i < sizeof suffix / sizeof *suffix; i++) {
		at = strstr(linkage, suffix[i]);
		if (at && at > linkage && (size_t)(at - linkage) < n)
			n = (size_t)(at - linkage);
	}
	return n;
}

/* The one copy of a function's name; NULL where clang cannot have such a function. */
static const char *name_of(struct llvm *l, uint32_t function)
{
	const char *linkage = l->r->function.v[function].linkage;
	size_t n = canonical_length(linkage);
	uint64_t *at;
	bool fresh;

	if (!text_is_symbol(linkage) || *linkage == '#')
		return NULL;
	at = htab_put(&l->names, linkage, n, &fresh);
	if (fresh)
		*at = (uint64_t)(uintptr_t)arena_strndup(&l->mem, linkage, n);
	return (const char *)(uintptr_t)*at;
}

/* Of a function that is made of several files the recording has one for each: clang counts all
 * lines from the definition, whatever file it is in. */
static uint64_t *definition(struct llvm *l, uint32_t function)
{
	const uint64_t key[] = {
	    (uint64_t)(uintptr_t)l->known[function].name, l->r->function.v[function].start};
	bool fresh;
	uint64_t *line = htab_put(&l->defined, key, sizeof key, &fresh);

	if (fresh)
		*line = 0;
	return line;
}

static void find_known(struct llvm *l)
{
	uint32_t i, n = (uint32_t)l->r->function.n, line;

	l->known = xcalloc(n, sizeof *l->known);
	for (i = 0; i < n; i++) {
		l->known[i].name = name_of(l, i);
		line = l->r->function.v[i].line;
		if (line)
			*definition(l, i) = line;
	}
	for (i = 0; i < n; i++)
		l->known[i].line = (uint32_t)*definition(l, i);
}

/* A discriminator has three parts, each of 1, 7 or 14 bits by its first ones: the part that
 * profiles have, how many copies of the code were made of it, and which one it is (LLVM,
 * DebugInfoMetadata.h). */
static uint32_t first_part(uint32_t d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static uint32_t after_first(uint32_t d)
{
	return d & 1 ? d >> 1 : d >> (d & 0x40 ? 14 : 7);
}

static uint32_t copies(uint32_t d)
{
	uint32_t n = first_part(after_first(d));

	return n ? n : 1;
}

/* ---- bodies, lines and calls ---- */

/* The place of what is at a spot, of a callee or body of this name or, without one, the line. */
static uint64_t *place(struct llvm *l, char sort, struct spot at, const char *name, bool *fresh)
{
	const uint64_t key[] = {
	    (uint64_t)sort, at.body, at.line, at.discriminator, (uint64_t)(uintptr_t)name};

	return htab_put(&l->index, key, sizeof key, fresh);
}

static uint32_t body_at(struct llvm *l, struct spot at, const char *name)
{
	bool fresh;
	uint64_t *i = place(l, 'b', at, name, &fresh);

	if (fresh) {
		*i = l->body.n;
		vec_push(&l->body, (struct body){at, name, 0, 0});
	}
	return (uint32_t)*i;
}

static uint32_t function_body(struct llvm *l, const char *name)
{
	return body_at(l, (struct spot){NOBODY, 0, 0}, name);
}

static struct line *line_at(struct llvm *l, struct spot at)
{
	bool fresh;
	uint64_t *i = place(l, 'l', at, NULL, &fresh);

	if (fresh) {
		*i = l->line.n;
		vec_push(&l->line, (struct line){at, 0, 0});
	}
	return &l->line.v[*i];
}

static void add_line(struct llvm *l, struct spot at, uint64_t n)
{
	struct line *line = line_at(l, at);

	if (!l->ranges)
		line->n += n;
	else if (n > line->n)
		line->n = n;
}

static void add_call(struct llvm *l, struct spot at, const char *callee, uint64_t n)
{
	bool fresh;
	uint64_t *i = place(l, 'c', at, callee, &fresh);

	if (fresh) {
		*i = l->call.n;
		vec_push(&l->call, (struct call){at, callee, 0});
	}
	l->call.v[*i].n += n;
}

/* Where in which body a location is; false when its lines are not known. *times: how many copies
 * of this code were made. */
static bool find_spot(struct llvm *l, uint32_t location, struct spot *at, uint32_t *times)
{
	const struct recording_location *of = &l->r->location.v[location];
	const struct recording_frame *f = l->r->frame.v + of->frame;
	const struct known *function;
	uint32_t i;

	if (!of->nframe || of->nframe > INLINED_MAX)
		return false;
	*at = (struct spot){NOBODY, 0, 0};
	for (i = of->nframe; i-- > 0;) {
		function = &l->known[f[i].function];
		if (!function->name || !function->line)
			return false;
		at->body = body_at(l, *at, function->name);
		at->line = (f[i].line - function->line) & 0xffff;
		at->discriminator = first_part(f[i].discriminator);
		*times = copies(f[i].discriminator);
	}
	return true;
}

static void add_lines(struct llvm *l, uint32_t file)
{
	uint64_t *n = executed_counts(l->r, file, &l->ranges);
	struct spot at;
	uint32_t i, times;

	for (i = 0; i < l->r->location.n; i++)
		if (l->r->location.v[i].file == file && find_spot(l, i, &at, &times))
			add_line(l, at, l->ranges ? n[i] * times : n[i]);
	free(n);
}

/* The function that begins at a location, RECORDING_NONE if none does: a part that was split off is
 * entered from the function itself. */
static uint32_t entered(const struct llvm *l, uint32_t location)
{
	const struct recording_location *to = &l->r->location.v[location];
	const struct recording_function *f;
	uint32_t function;

	if (!to->nframe)
		return RECORDING_NONE;
	function = l->r->frame.v[to->frame + to->nframe - 1].function;
	f = &l->r->function.v[function];
	if (f->start != to->offset || strstr(f->linkage, ".cold") || strstr(f->linkage, ".part."))
		return RECORDING_NONE;
	return function;
}

/* Branches to the first instruction of a function are calls of it. */
static void add_calls(struct llvm *l, const struct executable *m)
{
	const struct recording_branch *b;
	const struct known *callee;
	struct spot at;
	uint32_t function, times;

	for (b = l->r->branch.v; b < l->r->branch.v + l->r->branch.n; b++) {
		if (!executable_has(m, l->r, b->to))
			continue;
		function = entered(l, b->to);
		callee = function == RECORDING_NONE ? NULL : &l->known[function];
		if (!callee || !callee->name)
			continue;
		if (callee->line)
			l->body.v[function_body(l, callee->name)].head += b->n;
		if (executable_has(m, l->r, b->from) && find_spot(l, b->from, &at, &times)) {
			line_at(l, at)->called += b->n;
			add_call(l, at, callee->name, b->n);
		}
	}
}

/* ---- the text ---- */

static int by_spot(const struct spot *a, const struct spot *b)
{
	return ORDER(a->body, b->body) ?: ORDER(a->line, b->line)
	    ?: ORDER(a->discriminator, b->discriminator);
}

static int by_line(const void *a, const void *b)
{
	return by_spot(&((const struct line *)a)->at, &((const struct line *)b)->at);
}

static int by_call(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return by_spot(&x->at, &y->at) ?: ORDER(y->n, x->n) ?: strcmp(x->callee, y->callee);
}

static int by_body(const void *a, const void *b)
{
	const struct body *x = *(const struct body *const *)a, *y = *(const struct body *const *)b;

	return by_spot(&x->at, &y->at) ?: ORDER(y->total, x->total) ?: strcmp(x->name, y->name);
}

/* Sums and sorts. Where no branch tells how often a function was entered, its first line does. */
static void finish(struct llvm *l)
{
	uint32_t body, last = NOBODY;
	struct line *line;
	size_t i;

	vec_sort(&l->line, by_line);
	vec_sort(&l->call, by_call);
	for (line = l->line.v; line < l->line.v + l->line.n; line++) {
		if (line->n < line->called)
			line->n = line->called;
		body = line->at.body;
		if (body != last && !l->r->branch.n)
			l->body.v[body].head = line->n;
		last = body;
		for (; body != NOBODY; body = l->body.v[body].at.body)
			l->body.v[body].total += line->n;
	}
	for (i = 0; i < l->body.n; i++)
		if (l->body.v[i].at.body != NOBODY || l->body.v[i].total || l->body.v[i].head)
			vec_push(&l->sorted, &l->body.v[i]);
	vec_sort(&l->sorted, by_body);
}

static void put_spot(struct buf *out, unsigned depth, const struct spot *at)
{
	buf_printf(out, "%*s%u", depth, "", at->line);
	if (at->discriminator)
		buf_printf(out, ".%u", at->discriminator);
	buf_str(out, ": ");
}

static void put_lines(struct buf *out, const struct llvm *l, uint32_t body, unsigned depth)
{
	size_t i = partition_point(0, l->line.n, k, l->line.v[k].at.body < body), c;

	for (; i < l->line.n && l->line.v[i].at.body == body; i++) {
		const struct line *line = &l->line.v[i];

		put_spot(out, depth, &line->at);
		buf_decimal(out, line->n);
		c = partition_point(0, l->call.n, k, by_spot(&l->call.v[k].at, &line->at) < 0);
		for (; c < l->call.n && by_spot(&l->call.v[c].at, &line->at) == 0; c++)
			buf_printf(out, " %s:%llu", l->call.v[c].callee,
			    (unsigned long long)l->call.v[c].n);
		buf_char(out, '\n');
	}
}

/* Lines of a body, then what was inlined in it. */
static void put_bodies(struct buf *out, const struct llvm *l, uint32_t in, unsigned depth)
{
	size_t i = partition_point(0, l->sorted.n, k, l->sorted.v[k]->at.body < in);

	for (; i < l->sorted.n && l->sorted.v[i]->at.body == in; i++) {
		const struct body *b = l->sorted.v[i];
		uint32_t number = (uint32_t)(b - l->body.v);

		if (depth)
			put_spot(out, depth, &b->at);
		buf_printf(out, "%s:%llu", b->name, (unsigned long long)b->total);
		if (!depth)
			buf_printf(out, ":%llu", (unsigned long long)b->head);
		buf_char(out, '\n');
		put_lines(out, l, number, depth + 1);
		put_bodies(out, l, number, depth + 1);
	}
}

void prepare_llvm(struct recording *r, const struct out_options *o)
{
	struct executable m;

	if (executable_find(&m, r, o, NULL))
		return;
	executed_locations(r, m.file, LOCATIONS_MAX);
	executable_close(&m);
}

int write_llvm(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct llvm l = {.r = r};
	struct executable m;
	size_t before = out->n;
	int status = 0;

	if (executable_find(&m, r, o, e))
		return -1;
	find_known(&l);
	add_lines(&l, m.file);
	add_calls(&l, &m);
	finish(&l);
	put_bodies(out, &l, NOBODY, 0);
	if (out->n == before)
		status = err_set(e, "%s: no source lines are known of what ran in it", m.path);
	executable_close(&m);
	vec_free(&l.body);
	vec_free(&l.line);
	vec_free(&l.call);
	vec_free(&l.sorted);
	free(l.known);
	htab_free(&l.names);
	htab_free(&l.defined);
	htab_free(&l.index);
	arena_free(&l.mem);
	return status;
}
