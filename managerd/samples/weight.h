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

/* What was seen so far; zeros at first. */
struct worth {
	uint32_t *samples; /* at each uop of the table */
	uint32_t *all;     /* of each block */
	uint8_t *blind;    /* of each uop: how far from telling, mostly, where its block was
			      entered from; UINT8_MAX = not worth a look */
	uint32_t *told;    /* of each block's branch: what it was told of, in 1 / WORTH_ONE */
};

struct worth worth_new(const struct uops *u);
void worth_free(struct worth *w);
/* Bytes of memory it holds. */
size_t worth_size(const struct uops *u);
/* Counts a sample at uop i, which is of block[block], and tells the worth of its
 * witnesses, 1 … WORTH_MAX. */
uint32_t worth_of_sample(struct worth *w, const struct uops *u, uint32_t block, uint32_t i);
/* Counts a look from uop i back to where its block was entered from. */
void worth_of_look(struct worth *w, uint32_t i, bool told);
/* Where a direction was told. */
enum worth_place {
	WORTH_AHEAD, /* by the branch's own block, before its last two uops … */
	WORTH_LAST,  /* … or by these: the compare and its jump, mostly */
	WORTH_FAR    /* by another block */
};
/*
 * Counts a direction of block[block] that a sample of this worth tells, and says
 * what it is worth itself. Those from another block come in crowds, of one moment;
 * and how long the compare itself waits depends on which way the branch will go. Where
 * there is nothing else they count in full, and less, down to a quarter and an eighth,
 * the more their branch was told of.
 */
uint32_t worth_of_direction(
    struct worth *w, uint32_t block, uint32_t sample, enum worth_place place);

#endif
