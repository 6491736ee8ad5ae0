#include "managerd/samples/weight.h"

#include <stdlib.h>

/* Samples that each instruction is taken to have already: few say little. */
enum { PRIOR = 3 };
/* Directions that a branch was told of, from where on distance counts. */
enum { FEW = 40 * WORTH_ONE };

struct worth worth_new(const struct uops *u)
{
	return (struct worth){.samples = xcalloc(u->uop.n, sizeof(uint32_t)),
	    .all = xcalloc(u->block.n, sizeof(uint32_t)),
	    .blind = xcalloc(u->uop.n, sizeof(uint8_t)),
	    .told = xcalloc(u->block.n, sizeof(uint32_t))};
}

void worth_free(struct worth *w)
{
	free(w->samples);
	free(w->all);
	free(w->blind);
	free(w->told);
	*w = (struct worth){0};
}

size_t worth_size(const struct uops *u)
{
	return (u->uop.n + 2 * u->block.n) * sizeof(uint32_t) + u->uop.n;
}

uint32_t worth_of_sample(struct worth *w, const struct uops *u, uint32_t block, uint32_t i)
{
	uint64_t here = ++w->samples[i], all = ++w->all[block], n = u->block.v[block].nuop, worth;

	worth = WORTH_ONE * (all + PRIOR * n) / (n * (here + PRIOR));
	if (worth > WORTH_MAX)
		return WORTH_MAX;
	return worth ? (uint32_t)worth : 1;
}

/* A sum that stays small where nine in ten tell, and else comes to its end. */
void worth_of_look(struct worth *w, uint32_t i, bool told)
{
	int far = w->blind[i] + (told ? -1 : 9);

	w->blind[i] = (uint8_t)(far < 0 ? 0 : far > UINT8_MAX ? UINT8_MAX : far);
}

uint32_t worth_of_direction(
    struct worth *w, uint32_t block, uint32_t sample, enum worth_place place)
{
	static const uint32_t least[] = {
	    [WORTH_AHEAD] = 1, [WORTH_LAST] = 8, [WORTH_FAR] = 4}; /* one in so many */
	uint64_t told = w->told[block], worth;

	worth = (sample * (FEW + told / least[place]) + (FEW + told) / 2) / (FEW + told);
	worth = worth ? worth : 1;
	w->told[block] = told + worth < UINT32_MAX ? (uint32_t)(told + worth) : UINT32_MAX;
	return (uint32_t)worth;
}
