/*
 * The model of flow inference: which flows there are, and what the evidence says of them.
 *
 * The cost of a block's flow x is weight (x / estimate - ln x), the likelihood of `weight` Poisson
 * samples, up to the estimate; beyond it the cost grows at most by a bound per ln x, since samples
 * may be missing. The cost of its outgoing edges is outcomes * sum q ln(q / share), with q their
 * shares of the flow: the Kullback-Leibler divergence from the observed shares. Predecessor counts
 * have a cost of the same form, on the shares of what enters a block.
 */
#ifndef MORPH_INFER_MODEL_H
#define MORPH_INFER_MODEL_H

#include "editor/infer/flow.h"

/* An outgoing edge of a block, or its exit from the function. */
struct succ {
	uint32_t dst, edge; /* UINT32_MAX: exit */
	double share;       /* of the block's flow, by the evidence */
	double pred_share;  /* of dst's flow, by predecessor counts */
	double flow;
	double gradient;  /* of the cost at this flow … */
	double bend;      /* … and a second derivative, beside the block's and its shares' */
	double own, step; /* the solver's */
	double **entry;
};

struct model {
	const struct cfg *g;
	const struct reach *r;
	enum infer_input input;
	double most;     /* no flow is larger */
	uint8_t *used;   /* per block: may have flow */
	uint32_t *first; /* succ[first[b]] … succ[first[b + 1]] leave block b */
	struct succ *succ;
	/* Per block: */
	double *estimate;            /* the flow that its own evidence explains best … */
	double *weight;              /* … and what that is worth, in samples */
	double *bound;               /* the most that e times as much flow costs */
	double *outcomes;            /* weight of the evidence on its successors' shares */
	double *pred;                /* weight of its predecessor counts */
	double *inflow, *divergence; /* of predecessor counts, at the present flows */
	double *in;                  /* flow that enters here; 0 = none may */
};

enum { WIDE = 64 }; /* successors above which their coupling is left out */

/* Weighs the evidence, and sets the flows that its shares alone lead to. */
void model_make(struct model *m, const struct cfg *g, const struct reach *r, enum infer_input input,
    struct arena *a);
/* Sets gradients and bends for the present flows. */
void model_update(struct model *m);
double model_block_flow(const struct model *m, uint32_t b);
/* It has more than one successor. */
bool model_branches(const struct model *m, uint32_t b);
/* The flow, clamped to what an edge may have. */
double model_within(const struct model *m, double flow);

/* Divides the flows until they take no more time than was sampled: many blocks without samples,
 * each executed now and then, add up to far more, and a function sampled once would weigh as one
 * sampled a hundred times. */
void model_shrink(struct model *m);

/*
 * The flows of least cost, by Newton's method on the equations of Kirchhoff's law (Boyd,
 * Vandenberghe, "Convex Optimization", 10.3), which are as sparse as the function's graph. The
 * Hessian treats each block's flow as constant in the costs of shares; so it is positive definite,
 * and a block costs a few numbers. Where the graph is too irreducible for the sparse solver the
 * flows stay as they are.
 */
void newton_solve(struct model *m, struct arena *a);

#endif
