/*
 * Who gives way when users together hold too much of something: the user who
 * holds most, whatever the others do. So nobody can take from another what that
 * one holds while holding more.
 */
#ifndef MORPH_SHARE_H
#define MORPH_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct holding {
	void *what;
	uint32_t uid;
	uint64_t used; /* of one user's the smallest goes first */
	size_t cost;   /* not 0 */
};

/* Calls take for one holding after the other, until it returns false or none is
 * left: those of the user who holds most at that moment, until half of that
 * user's is gone, and on with the next. Reorders h. */
void share_out(
    struct holding *h, size_t n, bool (*take)(const struct holding *h, void *arg), void *arg);

#endif
