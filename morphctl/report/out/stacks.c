#include "morphctl/report/out/stacks.h"
#include "common/sort.h"

#include <string.h>

/* Of the samples alone; returns whether any has a time. */
static bool copy(struct recording *samples, const struct recording *r)
{
	bool timed = false;
	size_t i;

	*samples = (struct recording){0};
	for (i = 0; i < r->sample.n; i++) {
		vec_push(&samples->sample, r->sample.v[i]);
		timed |= r->sample.v[i].time_ns != 0;
	}
	return timed;
}

void samples_sum(struct recording *sums, const struct recording *r)
{
	copy(sums, r);
	recording_sum(sums);
}

static int by_time(const void *a, const void *b)
{
	const struct recording_sample *x = a, *y = b;

	return ORDER(x->event, y->event) ?: ORDER(x->task, y->task) ?: ORDER(x->time_ns, y->time_ns)
	    ?: ORDER(x->stack, y->stack) ?: ORDER(x->n, y->n) ?: ORDER(x->period, y->period);
}

bool samples_in_time(struct recording *sorted, const struct recording *r)
{
	bool timed = copy(sorted, r);

	if (timed)
		vec_sort(&sorted->sample, by_time);
	else
		recording_sum(sorted);
	return timed;
}

size_t samples_of_task(const struct recording *sorted, size_t i)
{
	const struct recording_sample *s = sorted->sample.v;
	size_t end = i;

	while (end < sorted->sample.n && s[end].event == s[i].event && s[end].task == s[i].task)
		end++;
	return end;
}

void levels_of_location(struct levels *l, const struct recording *r, uint32_t location)
{
	const struct recording_location *at = &r->location.v[location];
	const struct recording_frame *f;
	uint32_t i;

	if (!at->nframe)
		vec_push(&l->v, (struct level){location, RECORDING_NONE, 0, false});
	for (i = at->nframe; i-- > 0;) {
		f = &r->frame.v[at->frame + i];
		vec_push(&l->v, (struct level){location, f->function, f->line, i + 1 < at->nframe});
	}
}

void levels_of_stack(struct levels *l, const struct recording *r, uint32_t stack)
{
	VEC(uint32_t) location = {0};
	size_t i;

	l->v.n = 0;
	for (; stack != RECORDING_NONE; stack = r->stack.v[stack].caller)
		vec_push(&location, r->stack.v[stack].location);
	for (i = location.n; i-- > 0;)
		levels_of_location(l, r, location.v[i]);
	vec_free(&location);
}

const char *level_name(const struct level *l, const struct recording *r, struct buf *name)
{
	uint32_t file = r->location.v[l->location].file;
	const char *path = file == RECORDING_NONE ? "" : r->file.v[file].path;
	const char *slash = strrchr(path, '/');

	if (l->function != RECORDING_NONE)
		return r->function.v[l->function].name;
	if (*path == '[')
		return path;
	if (slash)
		path = slash + 1;
	name->n = 0;
	buf_printf(name, "[%s]", *path ? path : "unknown");
	return buf_cstr(name);
}

uint32_t level_symbol(const struct level *l, const struct recording *r)
{
	uint32_t file = r->location.v[l->location].file;

	if (l->function != RECORDING_NONE)
		return l->function;
	return (uint32_t)(r->function.n + (file == RECORDING_NONE ? r->file.n : file));
}
