/*
 * What was executed in one executable, by its addresses (executable.h) or offsets in its file: for
 * formats that compilers' and binary optimizers' tools read. Each list is sorted by address and has
 * an address, or pair of them, once.
 */
#ifndef MORPH_REPORT_OUT_ADDRESSES_H
#define MORPH_REPORT_OUT_ADDRESSES_H

#include "morphctl/report/out/executable.h"

#define ADDRESS_OUTSIDE UINT64_MAX

struct address_pair {
	uint64_t from, to;        /* ADDRESS_OUTSIDE: elsewhere; one of a branch's at most */
	uint64_t n, mispredicted; /* the latter of branches alone */
};

struct address_count {
	uint64_t address, n;
};

struct addresses {
	struct executable module;
	bool addressed; /* else all are offsets */
	VEC(struct address_pair) branch;
	VEC(struct address_pair) range;   /* both in the module, from <= to */
	VEC(struct address_count) sample; /* of what was executed, not of its callers */
};

/* To be freed also when it fails; it fails when nothing was executed there. For offsets the file is
 * not needed. */
int offsets_read(
    struct addresses *a, const struct recording *r, const struct out_options *o, struct err *e);
int addresses_read(
    struct addresses *a, const struct recording *r, const struct out_options *o, struct err *e);
void addresses_free(struct addresses *a);

#endif
