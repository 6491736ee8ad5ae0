#include "morphctl/report/out/executed.h"
#include "common/sort.h"

/* From an offset on something runs n times more, or less: n wraps around. */
struct step {
	uint64_t offset, n;
};

struct place {
	uint64_t offset;
	uint32_t location;
};

static int by_step(const void *a, const void *b)
{
	return ORDER(((const struct step *)a)->offset, ((const struct step *)b)->offset);
}

static int by_offset(const void *a, const void *b)
{
	return ORDER(((const struct place *)a)->offset, ((const struct place *)b)->offset);
}

static void count_samples(uint64_t *n, const struct recording *r, uint32_t file)
{
	const struct recording_sample *s;
	uint32_t location;

	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		if (s->stack == RECORDING_NONE)
			continue;
		location = r->stack.v[s->stack].location;
		if (r->location.v[location].file == file)
			n[location] += s->n;
	}
}

uint64_t *executed_counts(const struct recording *r, uint32_t file, bool *ranges)
{
	uint64_t *n = xcalloc(r->location.n, sizeof *n), now = 0;
	const struct recording_location *from, *to;
	VEC(struct step) step = {0};
	VEC(struct place) place = {0};
	size_t i, k = 0;

	for (i = 0; i < r->range.n; i++) {
		from = &r->location.v[r->range.v[i].from];
		to = &r->location.v[r->range.v[i].to];
		if (from->file != file || to->file != file || from->offset > to->offset)
			continue;
		vec_push(&step, (struct step){from->offset, r->range.v[i].n});
		if (to->offset < UINT64_MAX)
			vec_push(&step, (struct step){to->offset + 1, -r->range.v[i].n});
	}
	for (i = 0; i < r->location.n; i++)
		if (r->location.v[i].file == file)
			vec_push(&place, (struct place){r->location.v[i].offset, (uint32_t)i});
	vec_sort(&step, by_step);
	vec_sort(&place, by_offset);
	for (i = 0; i < place.n; i++) {
		for (; k < step.n && step.v[k].offset <= place.v[i].offset; k++)
			now += step.v[k].n;
		n[place.v[i].location] = now;
	}
	*ranges = step.n != 0;
	if (!step.n)
		count_samples(n, r, file);
	vec_free(&step);
	vec_free(&place);
	return n;
}

/* Code of a function that ran, n times in all of its ranges and samples. */
struct extent {
	uint64_t start, end, n;
};

struct extents {
	struct extent *v;
	size_t n, cap;
};

static int by_start(const void *a, const void *b)
{
	return ORDER(((const struct extent *)a)->start, ((const struct extent *)b)->start);
}

static int by_heat(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return ORDER(y->n, x->n) ?: ORDER(x->start, y->start);
}

static void add_function(
    struct extents *v, const struct recording *r, uint32_t file, uint32_t location, uint64_t n)
{
	const struct recording_location *l = &r->location.v[location];
	const struct recording_function *f;

	if (l->file != file || !l->nframe)
		return;
	f = &r->function.v[r->frame.v[l->frame + l->nframe - 1].function];
	if (f->start <= l->offset && l->offset - f->start < f->size)
		vec_push(v, (struct extent){f->start, f->start + f->size, n});
}

/* The functions that ran, each once, the hottest first. */
static void find_functions(struct extents *v, const struct recording *r, uint32_t file)
{
	const struct recording_range *range;
	const struct recording_sample *s;
	size_t i, n = 0;

	for (range = r->range.v; range < r->range.v + r->range.n; range++) {
		add_function(v, r, file, range->from, range->n);
		add_function(v, r, file, range->to, range->n);
	}
	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++)
		if (s->stack != RECORDING_NONE)
			add_function(v, r, file, r->stack.v[s->stack].location, s->n);
	vec_sort(v, by_start);
	for (i = 0; i < v->n; i++) {
		if (!n || by_start(&v->v[n - 1], &v->v[i])) {
			v->v[n++] = v->v[i];
			continue;
		}
		v->v[n - 1].n += v->v[i].n;
		if (v->v[n - 1].end < v->v[i].end)
			v->v[n - 1].end = v->v[i].end;
	}
	v->n = n;
	vec_sort(v, by_heat);
}

void executed_locations(struct recording *r, uint32_t file, size_t most)
{
	struct extents found = {0};
	uint64_t at;
	size_t i;

	most += r->location.n;
	find_functions(&found, r, file);
	for (i = 0; i < found.n; i++)
		for (at = found.v[i].start; at < found.v[i].end && r->location.n < most; at++)
			recording_location(r, file, at);
	vec_free(&found);
}
