/*
 * The ext-TSP objective and its greedy chain merging. Source: Newell & Pupyrev, IEEE TC 2020.
 */
#ifndef MORPH_EXTTSP_H
#define MORPH_EXTTSP_H

#include "common/mem.h"
#include "editor/cfg.h"

/* The weight of one execution of edge e when `from` is the address after its source and `to` that
 * of its target. */
double exttsp_weight(const struct cfg_edge *e, uint64_t from, uint64_t to);

/* The same at distance 0. */
double exttsp_weight_at_0(const struct cfg_edge *e);

/*
 * Orders the n blocks in hot[] (ascending; hot[0] == 0); all others are ignored. Writes n block ids
 * to order; the entry stays first.
 */
void exttsp_order(
    const struct cfg *g, const uint32_t *hot, uint32_t n, uint32_t *order, struct arena *a);

#endif
