/*
 * Which edges of a flow need no counter: a maximum-weight spanning tree of
 * what counting them costs. Every other edge is counted, and Kirchhoff's law
 * gives the tree's (Knuth, "The Art of Computer Programming" 1, 2.3.4.1;
 * Ball & Larus, "Optimally profiling and tracing programs", TOPLAS 1994). Flow
 * is conserved at every node: sources and sinks are joined in one.
 */
#ifndef MORPH_SPANTREE_H
#define MORPH_SPANTREE_H

#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct span_edge {
	uint32_t from, to; /* nodes; may be equal, and several edges may be alike */
	double cost;       /* of counting it, >= 0; < 0: it cannot be counted */
	bool counted;      /* out of span_choose */
	bool known;        /* of span_solve, in and out */
	uint64_t flow;     /* where known; two's complement: a flow may be negative */
};

/* Sets counted. False when the edges that cannot be counted form a cycle: then
 * no counters on edges tell them apart. Equal costs go by index. */
bool span_choose(struct span_edge *e, uint32_t n, uint32_t nnode, struct arena *scratch);

/* Sets the flow of every edge that follows from the known ones, at all nodes
 * but `open` (a node, or UINT32_MAX). Returns how many stay unknown. Linear. */
uint32_t span_solve(
    struct span_edge *e, uint32_t n, uint32_t nnode, uint32_t open, struct arena *scratch);

/* Joining nodes: root[] has each node's parent, itself at first. */
uint32_t span_root(uint32_t *root, uint32_t v);
/* False when they were one already. */
bool span_join(uint32_t *root, uint32_t a, uint32_t b);

#endif
