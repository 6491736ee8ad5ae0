#include "common/random.h"

#include <math.h>

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(random_uniform(state))) * cos(2 * M_PI * random_uniform(state));
}

uint64_t random_poisson(uint64_t *state, double mean)
{
	double left = mean;
	uint64_t n = 0;

	if (mean > 50)
		return (uint64_t)fmax(0, round(mean + sqrt(mean) * normal(state)));
	for (left += log(random_uniform(state)); left > 0; left += log(random_uniform(state)))
		n++;
	return n;
}
