/*
 * Function order over a whole module: cache-directed sort (CDSort; Ottoni &
 * Maher CGO'17 for C3, Newell & Pupyrev for the distance model), with real
 * offsets of call sites.
 */
#ifndef MORPH_FUNCORDER_H
#define MORPH_FUNCORDER_H

#include "common/mem.h"

#include <stdint.h>

struct fo_func {
	uint64_t bytes;  /* of the hot fragment, > 0 */
	uint64_t weight; /* executed instructions (samples) */
};

struct fo_call {
	uint32_t caller, callee; /* indexes; caller == callee is ignored */
	uint64_t offset;         /* of the call in the caller's hot fragment, bytes */
	uint64_t count;          /* > 0 */
};

/* order[k] = the function at position k, a permutation of 0…n-1. Functions of weight 0 keep their
 * original order at the end. Deterministic. */
void funcorder(const struct fo_func *f, uint32_t n, const struct fo_call *call, uint32_t ncall,
    uint32_t *order, struct arena *scratch);

#endif
