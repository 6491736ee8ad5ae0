/*
 * What the directions of one sample are worth as evidence. Samples fall where
 * the processor waits, and how long it waits depends on what it did before and
 * will do next: whoever counts each witness alike counts time, not
 * executions. An instruction that has more samples than others of its block
 * has them for waiting; its witnesses count for less, by that ratio (Horvitz
 * and Thompson 1952: weigh by the inverse of the chance to be drawn).
 */
#ifndef MORPH_MANAGERD_WORTH_H
#define MORPH_MANAGERD_WORTH_H

#include "common/uops.h"

enum {
	WORTH_ONE = 64, /* the unit */
	WORTH_MAX = 2 * WORTH_ONE
};

/*
 * Counts a sample at uop i of block b in seen[], which has one number per uop
 * of the table, and tells the worth of its witnesses, 1 … WORTH_MAX.
 */
uint32_t worth_of_sample(uint32_t *seen, const struct uops_block *b, uint32_t i);

#endif
