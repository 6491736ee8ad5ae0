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

static int by_heat(const void *a, const void *b)
{
	const struct recording_range *x = a, *y = b;

	return ORDER(y->n, x->n) ?: ORDER(x->from, y->from) ?: ORDER(x->to, y->to);
}

void executed_locations(struct recording *r, uint32_t file, size_t most)
{
	VEC(struct recording_range) range = {0};
	size_t i;
	uint64_t from, to;

	most += r->location.n;
	for (i = 0; i < r->range.n; i++)
		if (r->location.v[r->range.v[i].from].file == file &&
		    r->location.v[r->range.v[i].to].file == file)
			vec_push(&range, r->range.v[i]);
	vec_sort(&range, by_heat);
	for (i = 0; i < range.n; i++) {
		from = r->location.v[range.v[i].from].offset;
		to = r->location.v[range.v[i].to].offset;
		if (from > to || to - from >= EXECUTED_RANGE)
			continue;
		for (; from < to && r->location.n < most; from++)
			recording_location(r, file, from);
	}
	vec_free(&range);
}
