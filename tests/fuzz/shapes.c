/*
 * cov >= 240
 * Any bytes as shapes: functions pair, and the blocks of each pair match within bounds, no two with
 * one.
 */
#include "editor/shape/shape.h"

#include <stdlib.h>

static void check_match(const struct shape_func *old, const struct shape_func *now, struct arena *a)
{
	const uint32_t *to = shape_match(old, now, a);
	char *taken = xcalloc(now->nblock, 1);
	uint32_t b;

	for (b = 0; b < old->nblock; b++)
		if (to[b] != SHAPE_NONE && (to[b] >= now->nblock || taken[to[b]]++))
			abort();
	free(taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct shapes old, now;
	struct arena mem = {0};
	struct shape_pair *pair;
	struct err e;
	size_t i;

	if (n && !shapes_decode(p + 1, n - 1, &old, &e)) {
		/* Without its first functions, another build. */
		shapes_decode(p + 1, n - 1, &now, &e);
		for (i = *p % 4; i < now.func.n; i++)
			now.func.v[i - *p % 4] = now.func.v[i];
		now.func.n -= now.func.n < *p % 4u ? now.func.n : *p % 4u;
		pair = shapes_pair(&old, &now, &mem);
		for (i = 0; i < old.func.n; i++)
			if (pair[i].how != SHAPE_GONE) {
				if (pair[i].func >= now.func.n)
					abort();
				check_match(&old.func.v[i], &now.func.v[pair[i].func], &mem);
			}
		arena_free(&mem);
		shapes_free(&now);
		shapes_free(&old);
	}
	return 0;
}
