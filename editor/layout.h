/*
 * Block order of one function, by ext-TSP (Newell & Pupyrev, "Improved basic
 * block reordering", IEEE TC 2020), and its split into a hot and a cold
 * fragment.
 *
 * Needs: consistent counts (editor/infer.h), bytes. Block 0 stays first.
 */
#ifndef MORPH_LAYOUT_H
#define MORPH_LAYOUT_H

#include "common/mem.h"
#include "editor/cfg.h"

struct layout {
	uint32_t *order; /* all blocks, permuted; order[0] == 0; from the arena */
	uint32_t nhot;   /* the first nhot form the hot fragment; nhot >= 1 */
};

struct layout_options {
	int split; /* 0: one fragment, nhot == nblock */
};

/* Deterministic. Quasi-linear in the size of the graph in practice. */
void layout_blocks(
    const struct cfg *g, const struct layout_options *o, struct layout *out, struct arena *a);
/* Any permutation that keeps block 0 first, any split; from the seed alone. */
void layout_random(const struct cfg *g, const struct layout_options *o, uint64_t seed,
    struct layout *out, struct arena *a);
void layout_identity(const struct cfg *g, struct layout *out, struct arena *a);

/* What a layout is worth under g's counts. */
struct layout_score {
	double exttsp;  /* weight of edges, 1.0 (1.05) each as fallthrough, less by distance */
	double taken;   /* jumps taken: executions of all edges that are no fallthrough */
	double total;   /* executions of all edges */
};
void layout_score(const struct cfg *g, const struct layout *l, struct layout_score *s);

/* The smallest number of 64-byte lines that hold `share` (0…1) of all executed
 * instructions, with block i at addr[i]; weights are count * insns. Several
 * functions are measured by handing over the concatenation of their blocks. */
uint64_t layout_hot_lines(const uint64_t *addr, const uint32_t *bytes, const uint64_t *weight,
    uint32_t n, double share);

#endif
