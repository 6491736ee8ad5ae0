#include "managerd/worth.h"

/* Samples that each instruction is taken to have already: few say little. */
enum { PRIOR = 3 };

uint32_t worth_of_sample(uint32_t *seen, const struct uops_block *b, uint32_t i)
{
	uint64_t all = 0, here, worth;
	uint32_t k;

	seen[i]++;
	for (k = b->uop; k < b->uop + b->nuop; k++)
		all += seen[k];
	here = (uint64_t)b->nuop * ((uint64_t)seen[i] + PRIOR);
	worth = WORTH_ONE * (all + (uint64_t)PRIOR * b->nuop) / here;
	if (worth > WORTH_MAX)
		return WORTH_MAX;
	return worth ? (uint32_t)worth : 1;
}
