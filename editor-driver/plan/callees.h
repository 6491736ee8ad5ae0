/*
 * Whom the functions with a weight call: direct calls by name, calls through pointers by the
 * callees that they were sampled, or counted, with. Only callees with a weight are listed.
 */
#ifndef MORPH_CALLEES_H
#define MORPH_CALLEES_H

#include "editor-driver/plan/plan.h"

struct plan_call {
	uint32_t call;   /* of the function's calls (editor/unit.h) */
	uint32_t block;  /* where it is */
	uint32_t callee; /* function of the artifact */
	double share;    /* of the call's executions */
};

struct callees {
	const struct plan *p;
	const struct plan_tu *now;
	struct htab own, global; /* functions of the artifact by name: of `now`; all global ones */
	VEC(struct plan_call) call; /* of one function, ascending by block */
};

/* The plan was inferred (plan_infer()). Free it in any case. */
void callees_begin(struct callees *c, const struct plan *p);
void callees_free(struct callees *c);
/* Sets c->call to the calls of function i of t. Quick when functions come by TU. */
void callees_find(struct callees *c, const struct plan_tu *t, uint32_t i);

#endif
