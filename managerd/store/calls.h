/*
 * Who called the code of a file, as the store keeps it: for each file that did, ascending, its id
 * (8 bytes), uleb: bytes, and in so many for each call, by site, then address, uleb: site less the
 * one before, uleb: address, where the site is the same less the one before, uleb: twice the count,
 * and one more where the address is waiting (addresses.h). Pure. A
 * reader stops where bytes are not of this form.
 */
#ifndef MORPH_MANAGERD_CALLS_H
#define MORPH_MANAGERD_CALLS_H

#include "common/mem.h"
#include "managerd/store/addresses.h"

struct calls {
	VEC(struct address_caller) v;
};

/* Appends what n bytes say. */
void calls_read(struct calls *c, const void *p, size_t n);
/* Sorts them, and adds up equal ones. */
void calls_sum(struct calls *c);
/* Leaves out the rarest of those that were added up, beyond so many. */
void calls_thin(struct calls *c, size_t keep);
/* Of those that were added up. */
void calls_write(const struct calls *c, struct buf *out);
void calls_free(struct calls *c);

#endif
