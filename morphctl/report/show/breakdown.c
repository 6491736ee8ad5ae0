#include "morphctl/report/show/breakdown.h"
#include "common/sort.h"
#include "morphctl/report/show/builds.h"

#include <stdlib.h>
#include <string.h>

/* Which row a location counts for, and when it was last counted. */
struct assign {
	uint32_t *row;  /* of each location, or RECORDING_NONE */
	uint32_t *seen; /* of each row: 1 + the sample that has counted it in total */
	struct builds builds;
	struct htab rows; /* struct key -> index of the row */
};

struct key {
	uint64_t file, pid, function, name, line, offset;
};

uint32_t breakdown_function(const struct recording *r, uint32_t location)
{
	const struct recording_location *l = &r->location.v[location];

	return l->nframe ? r->frame.v[l->frame + l->nframe - 1].function : RECORDING_NONE;
}

bool breakdown_is_module(const struct recording_file *f, const char *name)
{
	const char *slash = strrchr(f->path, '/');

	return strcmp(f->path, name) == 0 || (slash && strcmp(slash + 1, name) == 0);
}

uint32_t breakdown_event(const struct recording *r)
{
	uint64_t *n = xcalloc(r->event.n + 1, sizeof *n);
	uint32_t best = RECORDING_NONE;
	size_t i;

	for (i = 0; i < r->sample.n; i++)
		n[r->sample.v[i].event] += r->sample.v[i].n;
	for (i = 0; i < r->event.n; i++)
		if (n[i] && (best == RECORDING_NONE || n[i] > n[best]))
			best = (uint32_t)i;
	free(n);
	return best;
}

static bool is_wanted(const struct recording *r, const struct breakdown_query *q, uint32_t location)
{
	uint32_t function;

	if (q->module && !breakdown_is_module(&r->file.v[r->location.v[location].file], q->module))
		return false;
	if (!q->function)
		return true;
	function = breakdown_function(r, location);
	return function != RECORDING_NONE &&
	       (strcmp(r->function.v[function].name, q->function) == 0 ||
		   strcmp(r->function.v[function].linkage, q->function) == 0);
}

/* Addresses are of one build. */
static struct breakdown_row row_of(const struct builds *b, const struct recording *r,
    enum breakdown_level level, uint32_t location)
{
	const struct recording_location *l = &r->location.v[location];
	struct breakdown_row row = {
	    .file = b->file[l->file], .function = RECORDING_NONE, .task = RECORDING_NONE};
	const struct recording_frame *inner = l->nframe ? &r->frame.v[l->frame] : NULL;

	if (level == BREAKDOWN_MODULE)
		return row;
	if (level == BREAKDOWN_ADDRESS) {
		row.file = l->file;
		row.function = breakdown_function(r, location);
		row.offset = l->offset;
		return row;
	}
	row.function = builds_function(b, r, location);
	if (level == BREAKDOWN_LINE && inner && inner->line) {
		row.source = r->function.v[inner->function].source;
		row.line = inner->line;
	}
	return row;
}

static uint64_t pointer(const char *s)
{
	return (uint64_t)(uintptr_t)s;
}

static uint32_t put_row(struct breakdown *t, struct assign *a, const struct breakdown_row *row)
{
	struct key k = {.file = row->file,
	    .function = row->function,
	    .name = pointer(row->source),
	    .line = row->line,
	    .offset = row->offset};
	bool fresh;
	uint64_t *at = htab_put(&a->rows, &k, sizeof k, &fresh);

	if (fresh) {
		*at = t->row.n;
		vec_push(&t->row, *row);
	}
	return (uint32_t)*at;
}

/* Code that has no function yet is distinguished by its file alone. */
static void assign_locations(struct breakdown *t, struct assign *a, const struct recording *r,
    const struct breakdown_query *q)
{
	struct breakdown_row row;
	uint32_t i;

	a->row = xcalloc(r->location.n + 1, sizeof *a->row);
	for (i = 0; i < r->location.n; i++) {
		a->row[i] = RECORDING_NONE;
		if (!is_wanted(r, q, i))
			continue;
		row = row_of(&a->builds, r, q->level, i);
		a->row[i] = put_row(t, a, &row);
	}
}

static void add_self(struct breakdown_row *row, const struct recording_sample *s)
{
	row->n += s->n;
	row->self += (double)s->period;
}

/* To the innermost frame in the module. */
static void charge(struct breakdown *t, struct assign *a, const struct recording *r,
    const struct breakdown_query *q, const struct recording_sample *s)
{
	uint32_t at = s->stack, row;

	while (at != RECORDING_NONE &&
	       !breakdown_is_module(
		   &r->file.v[r->location.v[r->stack.v[at].location].file], q->module))
		at = r->stack.v[at].caller;
	if (at == RECORDING_NONE || at == s->stack)
		return;
	row = a->row[r->stack.v[at].location];
	if (row != RECORDING_NONE)
		t->row.v[row].charged += (double)s->period;
}

static void add_stack(
    struct breakdown *t, struct assign *a, const struct recording *r, uint32_t sample)
{
	const struct recording_sample *s = &r->sample.v[sample];
	uint32_t at = s->stack, row = a->row[r->stack.v[at].location];

	if (row != RECORDING_NONE)
		add_self(&t->row.v[row], s);
	for (; at != RECORDING_NONE; at = r->partial ? RECORDING_NONE : r->stack.v[at].caller) {
		t->chains |= !r->partial && r->stack.v[at].caller != RECORDING_NONE;
		row = a->row[r->stack.v[at].location];
		if (row == RECORDING_NONE || a->seen[row] == sample + 1)
			continue;
		a->seen[row] = sample + 1;
		t->row.v[row].total += (double)s->period;
	}
}

/* Samples without code: of what was lost, or where it is not known. */
static void add_bare(struct breakdown *t, const struct recording_sample *s, uint32_t *bare)
{
	if (*bare == RECORDING_NONE) {
		*bare = (uint32_t)t->row.n;
		vec_push(&t->row, (struct breakdown_row){.file = RECORDING_NONE,
				      .function = RECORDING_NONE,
				      .task = RECORDING_NONE});
	}
	add_self(&t->row.v[*bare], s);
	t->row.v[*bare].total += (double)s->period;
}

static bool is_sample_wanted(
    const struct recording *r, const struct breakdown_query *q, const struct recording_sample *s)
{
	return s->stack == RECORDING_NONE ? !q->module && !q->function
					  : is_wanted(r, q, r->stack.v[s->stack].location);
}

static void add_process(struct breakdown *t, struct assign *a, const struct recording *r,
    const struct recording_sample *s)
{
	bool known = s->task != RECORDING_NONE;
	struct key k = {.pid = known ? r->task.v[s->task].pid : RECORDING_NONE,
	    .name = known ? pointer(r->task.v[s->task].comm) : 0};
	struct breakdown_row row = {
	    .file = RECORDING_NONE, .function = RECORDING_NONE, .task = s->task};
	bool fresh;
	uint64_t *at = htab_put(&a->rows, &k, sizeof k, &fresh);

	if (fresh) {
		*at = t->row.n;
		vec_push(&t->row, row);
	}
	add_self(&t->row.v[*at], s);
	t->row.v[*at].total += (double)s->period;
}

static int by_self(const void *a, const void *b)
{
	const struct breakdown_row *x = a, *y = b;

	return ORDER(y->self + y->charged, x->self + x->charged) ?: ORDER(y->total, x->total) ?: ORDER(x->file, y->file)
	    ?: ORDER(x->function, y->function) ?: ORDER(x->line, y->line)
	    ?: ORDER(x->offset, y->offset) ?: ORDER(x->task, y->task);
}

void breakdown_make(struct breakdown *t, const struct recording *r, const struct breakdown_query *q)
{
	struct assign a = {0};
	uint32_t bare = RECORDING_NONE, i;
	const struct recording_sample *s;
	size_t n = 0, k;

	*t = (struct breakdown){0};
	builds_join(&a.builds, r);
	if (q->level != BREAKDOWN_PROCESS)
		assign_locations(t, &a, r, q);
	a.seen = xcalloc(t->row.n + 1, sizeof *a.seen);
	for (i = 0; i < r->sample.n; i++) {
		s = &r->sample.v[i];
		if (s->event != q->event)
			continue;
		t->n += s->n;
		t->sum += (double)s->period;
		if (q->level == BREAKDOWN_PROCESS && is_sample_wanted(r, q, s))
			add_process(t, &a, r, s);
		else if (q->level == BREAKDOWN_PROCESS)
			continue;
		else if (s->stack != RECORDING_NONE) {
			add_stack(t, &a, r, i);
			if (q->charged)
				charge(t, &a, r, q, s);
		} else if (is_sample_wanted(r, q, s))
			add_bare(t, s, &bare);
	}
	for (k = 0; k < t->row.n; k++)
		if (t->row.v[k].n || t->row.v[k].total > 0 || t->row.v[k].charged > 0)
			t->row.v[n++] = t->row.v[k];
	t->row.n = n;
	vec_sort(&t->row, by_self);
	free(a.row);
	free(a.seen);
	builds_free(&a.builds);
	htab_free(&a.rows);
}

void breakdown_free(struct breakdown *t)
{
	vec_free(&t->row);
}
