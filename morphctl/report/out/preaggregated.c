/*
 * What perf2bolt -pa reads, in the syntax that LLVM 19 has: addresses in hexadecimal, X: before
 *what is not of this executable.
 *
 *	B FROM TO N MISPREDICTED   branches
 *	F FROM TO N                straight-line code, from its first to its last instruction
 *
 * It has no lines for plain samples; fdata has.
 */
#include "morphctl/report/out/addresses.h"
#include "morphctl/report/out/formats.h"

static void put_address(struct buf *out, uint64_t address)
{
	if (address == ADDRESS_OUTSIDE)
		buf_str(out, " X:0");
	else
		buf_printf(out, " %llx", (unsigned long long)address);
}

static void put_pair(struct buf *out, char type, const struct address_pair *p)
{
	buf_char(out, type);
	put_address(out, p->from);
	put_address(out, p->to);
	buf_printf(out, " %llu", (unsigned long long)p->n);
}

int write_preaggregated(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct addresses a;
	size_t i;
	int status = addresses_read(&a, r, o, e);

	if (!status && !a.branch.n && !a.range.n)
		status = err_set(e,
		    "%s: samples without branches, which perf2bolt does not take: "
		    "format fdata is for these",
		    a.module.path);
	for (i = 0; !status && i < a.branch.n; i++) {
		put_pair(out, 'B', &a.branch.v[i]);
		buf_printf(out, " %llu\n", (unsigned long long)a.branch.v[i].mispredicted);
	}
	for (i = 0; !status && i < a.range.n; i++) {
		put_pair(out, 'F', &a.range.v[i]);
		buf_char(out, '\n');
	}
	addresses_free(&a);
	return status;
}
