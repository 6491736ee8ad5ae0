/*
 * Weights of branch outcomes as evidence. Samples fall where the processor
 * waits, and how long it waits depends on what it did before and will do next:
 * with equal weights outcomes count time, not executions. An instruction that has
 * more samples than others of its block has them for waiting; the outcomes of its
 * samples weigh less, by that ratio (Horvitz and Thompson 1952: the inverse of
 * the probability to be drawn).
 */
#ifndef MORPH_MANAGERD_WEIGHT_H
#define MORPH_MANAGERD_WEIGHT_H

#include "common/uops.h"

enum {
	WEIGHT_ONE = 64, /* the unit */
	WEIGHT_MAX = 2 * WEIGHT_ONE
};

/* What was seen so far; zeros at first. */
struct weights {
	uint32_t *samples;  /* at each uop of the table */
	uint32_t *all;      /* of each block */
	uint8_t *blind;     /* of each uop: how rarely backward replay resolves the predecessor
			       from there; UINT8_MAX = too rarely to try */
	uint32_t *resolved; /* of each block's branch: sum of its outcomes' weights, in
			       1 / WEIGHT_ONE */
};

struct weights weights_new(const struct uops *u);
void weights_free(struct weights *w);
/* Bytes of memory it holds. */
size_t weights_size(const struct uops *u);
/* Counts a sample at uop i, which is of block[block]; returns the weight of its
 * outcomes, 1 … WEIGHT_MAX. */
uint32_t weight_of_sample(struct weights *w, const struct uops *u, uint32_t block, uint32_t i);
/* Counts a backward replay from uop i. */
void weight_note_backward(struct weights *w, uint32_t i, bool resolved);
/* From where an outcome was resolved. */
enum weight_place {
	WEIGHT_AHEAD, /* the branch's own block, before its last two uops … */
	WEIGHT_LAST,  /* … or one of these: the compare and its jump, mostly */
	WEIGHT_FAR    /* another block */
};
/*
 * Counts an outcome of block[block] that was resolved from a sample of this weight;
 * returns its own weight. Outcomes from another block come in bursts, and how long
 * the compare itself waits depends on the outcome. Where there is nothing else both
 * count in full; the more outcomes the branch has, the less, down to a quarter and
 * an eighth.
 */
uint32_t weight_of_outcome(
    struct weights *w, uint32_t block, uint32_t sample, enum weight_place place);

#endif
