#include "common/sort.h"
#include "morphctl/report/symbols/readers.h"
#include "morphctl/report/symbols/symbols.h"

#include <stdlib.h>

/* All pieces of a function are one. */
static uint32_t function_of(struct recording *r, const struct recording_piece *p)
{
	char *name = symbols_demangle(p->linkage);
	struct recording_function f = {
	    .name = name, .linkage = p->linkage, .file = RECORDING_NONE, .start = UINT64_MAX};
	uint32_t i = recording_function(r, &f);

	free(name);
	return i;
}

void read_pieces(
    const struct request *q, const struct recording_piece *p, size_t n, struct recording *r)
{
	size_t i, k;

	for (i = 0; i < q->n; i++) {
		k = partition_point(0, n, m, p[m].start <= q->at[i]);
		reader_location(r, k && q->at[i] - p[k - 1].start < p[k - 1].size
				       ? function_of(r, &p[k - 1])
				       : RECORDING_NONE);
	}
}
