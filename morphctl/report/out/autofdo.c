/*
 * What create_gcov and create_llvm_prof read with --profiler=text: three lists, each a line with
 *its length and that many lines, of places in hexadecimal and counts.
 *
 *	FROM-TO:N    straight-line code, from its first to its last instruction
 *	PLACE:N      samples
 *	FROM->TO:N   branches, within the executable
 *
 * Places are offsets in the file: AutoFDO makes addresses of them by the program headers of the
 * executable segments (before 0.20 by the first segment's, which is the same but with lld).
 */
#include "morphctl/report/out/addresses.h"
#include "morphctl/report/out/formats.h"

#define LL(v) (unsigned long long)(v)

static bool is_inside(const struct address_pair *b)
{
	return b->from != ADDRESS_OUTSIDE && b->to != ADDRESS_OUTSIDE;
}

static void put_lists(struct buf *out, const struct addresses *a)
{
	size_t i, inside = 0;

	buf_printf(out, "%zu\n", a->range.n);
	for (i = 0; i < a->range.n; i++)
		buf_printf(out, "%llx-%llx:%llu\n", LL(a->range.v[i].from), LL(a->range.v[i].to),
		    LL(a->range.v[i].n));
	buf_printf(out, "%zu\n", a->sample.n);
	for (i = 0; i < a->sample.n; i++)
		buf_printf(out, "%llx:%llu\n", LL(a->sample.v[i].address), LL(a->sample.v[i].n));
	for (i = 0; i < a->branch.n; i++)
		inside += is_inside(&a->branch.v[i]);
	buf_printf(out, "%zu\n", inside);
	for (i = 0; i < a->branch.n; i++)
		if (is_inside(&a->branch.v[i]))
			buf_printf(out, "%llx->%llx:%llu\n", LL(a->branch.v[i].from),
			    LL(a->branch.v[i].to), LL(a->branch.v[i].n));
}

int write_autofdo(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct addresses a;
	int status = offsets_read(&a, r, o, e);

	if (!status)
		put_lists(out, &a);
	addresses_free(&a);
	return status;
}
