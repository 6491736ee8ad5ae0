#include "managerd/samples/weight.h"

#include <stdlib.h>

/* Samples that each instruction is taken to have already: few say little. */
enum { PRIOR = 3 };
/* Outcomes of a branch, weighted, from which on its distance counts. */
enum { FEW = 40 * WEIGHT_ONE };

struct weights weights_new(const struct uops *u)
{
	return (struct weights){.samples = xcalloc(u->uop.n, sizeof(uint32_t)),
	    .all = xcalloc(u->block.n, sizeof(uint32_t)),
	    .blind = xcalloc(u->uop.n, sizeof(uint8_t)),
	    .resolved = xcalloc(u->block.n, sizeof(uint32_t))};
}

void weights_free(struct weights *w)
{
	free(w->samples);
	free(w->all);
	free(w->blind);
	free(w->resolved);
	*w = (struct weights){0};
}

size_t weights_size(const struct uops *u)
{
	return (u->uop.n + 2 * u->block.n) * sizeof(uint32_t) + u->uop.n;
}

uint32_t weight_of_sample(struct weights *w, const struct uops *u, uint32_t block, uint32_t i)
{
	uint64_t here = ++w->samples[i], all = ++w->all[block], n = u->block.v[block].nuop, weight;

	weight = WEIGHT_ONE * (all + PRIOR * n) / (n * (here + PRIOR));
	if (weight > WEIGHT_MAX)
		return WEIGHT_MAX;
	return weight ? (uint32_t)weight : 1;
}

/* A sum that stays small where nine in ten are resolved, else saturates. */
void weight_note_backward(struct weights *w, uint32_t i, bool resolved)
{
	int far = w->blind[i] + (resolved ? -1 : 9);

	w->blind[i] = (uint8_t)(far < 0 ? 0 : far > UINT8_MAX ? UINT8_MAX : far);
}

uint32_t weight_of_outcome(
    struct weights *w, uint32_t block, uint32_t sample, enum weight_place place)
{
	static const uint32_t least[] = {
	    [WEIGHT_AHEAD] = 1, [WEIGHT_LAST] = 8, [WEIGHT_FAR] = 4}; /* one in so many */
	uint64_t seen = w->resolved[block], weight;

	weight = (sample * (FEW + seen / least[place]) + (FEW + seen) / 2) / (FEW + seen);
	weight = weight ? weight : 1;
	w->resolved[block] = seen + weight < UINT32_MAX ? (uint32_t)(seen + weight) : UINT32_MAX;
	return (uint32_t)weight;
}
