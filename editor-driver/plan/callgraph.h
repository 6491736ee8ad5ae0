/*
 * The call graph: the calls in the functions of a plan that have a weight, with names resolved to
 * functions.
 */
#ifndef MORPH_CALLGRAPH_H
#define MORPH_CALLGRAPH_H

#include "editor-driver/plan/plan.h"

enum { CALL_POINTER = UINT32_MAX }; /* a callee that is called through a pointer */

struct call_site {
	uint32_t caller, callee;  /* functions of the artifact */
	uint32_t block, insn;     /* as in struct unit_call */
	uint32_t target, ntarget; /* of a pointer: the sampled callee that no call in that block
				     names */
};

struct call_target {
	uint32_t callee; /* the first of the functions that share its counts */
	double seen;     /* samples, or calls */
};

struct callgraph {
	VEC(struct call_site) site; /* ascending by caller, block, insn */
	VEC(struct call_target) target;
	uint32_t *first; /* by function of the artifact: its sites are
			    site.v[first[f]] … site.v[first[f + 1] - 1] */
};

/* Needs plan_parse(). A call means the caller's unit's own function of that
 * name before any other's global one; calls of functions without a weight are
 * left out. */
void callgraph_make(const struct plan *p, struct callgraph *out);
void callgraph_free(struct callgraph *g);

/* The function of the artifact that is the i-th of t's. */
uint32_t callgraph_func(const struct plan *p, const struct plan_tu *t, uint32_t i);

/* The sites in a block of f; returns how many. */
uint32_t callgraph_sites(
    const struct callgraph *g, uint32_t f, uint32_t block, const struct call_site **s);
#endif
