/*
 * Joint inference: block samples and outcomes, to the flow that agrees best with both.
 *
 * The cost of a block's flow x is weight (x / estimate - ln x), the likelihood of `weight` Poisson
 * samples, up to the estimate; beyond it the cost grows at most by a bound per ln x, since samples
 * may be missing. The cost of its outgoing edges is outcomes * sum q ln(q / share), with q their
 * shares of the flow: the Kullback-Leibler divergence from the observed shares. The minimum is
 * found by Newton's method on the equations of Kirchhoff's law (Boyd, Vandenberghe, "Convex
 * Optimization", 10.3), which are as sparse as the function's graph. The Hessian treats each
 * block's flow as constant in the second term; so it is positive definite, and a block costs a few
 * numbers.
 */
#ifndef MORPH_INFER_JOINT_H
#define MORPH_INFER_JOINT_H

#include "editor/infer/flow.h"

/* An outgoing edge of a block, or its exit from the function. */
struct succ {
	uint32_t dst, edge; /* UINT32_MAX: exit */
	double share;       /* of the block's flow, by the evidence */
	double flow, step;
	double ln;          /* of its share of the flow by `share`, where there are several
			       successors */
	double gradient;    /* of the cost */
	double pred_share;  /* share of dst's flow, by predecessor counts … */
	double slope, bend; /* … and what it costs: first derivative, bound of the second */
	double own;         /* in the inverse of the Hessian */
	double **entry;     /* of the matrix: with its block; with the block's earlier successors */
};

struct joint {
	const struct cfg *g;
	const struct reach *r;
	bool counts; /* are the evidence, not samples */
	double most;     /* no flow is larger */
	uint8_t *used;   /* per block: may have flow */
	uint32_t *first; /* succ[first[b]] … succ[first[b + 1]] leave block b */
	struct succ *succ;
	/* Per block: */
	double *samples;      /* that it has; for counts, that it should have */
	double *bound;        /* the most that e times as much flow as they explain costs */
	double *cost;         /* per unit of flow: weight by estimate */
	double *weight;       /* of its samples */
	double *outcomes;      /* weight of the evidence on its outgoing edges */
	double *prior;        /* of these: prior of edges without evidence */
	double *seen;         /* of these: observed, after down-weighting */
	double *pred_weight;  /* weight of its predecessor counts */
	double *inflow, *divergence; /* flow over incoming edges; joint_divergence() of these */
	double *common, *own;        /* the sum of its successors' own */
	double *in;           /* flow that enters here; 0 = none may */
	double *price;        /* of a unit of flow there */
	uint32_t *loop_ends;  /* the lowest block that ends a loop whose header is b or later */
	double *skew, *skew_in; /* that mispredictions of branches to here add */
};

/* Samples or outcomes: a bound. */
#define JOINT_MANY 1e12

/* ln, the same on every machine. */
double joint_ln(double v);
/* Of a block: at least 1, and bounded. */
double joint_insns(const struct cfg_block *k);
/* The flow that explains the samples of a block best. */
double joint_estimate(const struct joint *j, uint32_t b);
double joint_block_flow(const struct joint *j, uint32_t b);
/* It has more than one successor. */
bool joint_branches(const struct joint *j, uint32_t b);
/* The weight of n outcomes. Where only few of a block's samples resolve any, they come from an
 * unrepresentative subset of its executions: `sooner` times the discount for that. */
double joint_outcome_weight(double samples, double n, double sooner);
/* … and what is left of it after down-weighting by how far the flows diverge from it. */
double joint_downweighted(double worth, double divergence);
/*
 * Prior of an edge without evidence, relative to the block's other edges: 1, less where the
 * compiler laid its target out as unlikely, 0 for cases that almost never occur. GCC lets the
 * likelier successor fall through and moves the other out of line (Pettis, Hansen 1990; its
 * heuristics: Ball, Larus 1993).
 */
double joint_prior(const struct joint *j, const struct succ *v);
/* Before that: sets j->loop_ends. */
void joint_prior_begin(struct joint *j, struct arena *a);
/* The Kullback-Leibler divergence of b's flow x from its outcomes (below 0 only by rounding), and
 * their weight after down-weighting by it. The first sets the successors' ln. */
double joint_divergence(struct joint *j, uint32_t b, double x);
double joint_believed(const struct joint *j, uint32_t b, double divergence);

/*
 * Predecessor counts are a cost of the same form, on the shares of what enters a block. It couples
 * flows that leave different blocks, so only its diagonal goes into the Hessian, which is no
 * smaller: steps get shorter. weigh: before all rounds; update: sets slopes and bends for the
 * present flows.
 */
void joint_pred_weigh(struct joint *j, struct arena *a);
void joint_pred_update(struct joint *j);

/*
 * Misprediction skew: after a mispredicted branch the pipeline refills, and a timer that fires
 * meanwhile samples the branch's target, so a rarely taken edge leads to a block of too many
 * samples (Chen et al. 2013). Sets j->skew from the present flows, moving halfway each time: `time`
 * instructions for each misprediction by a predictor that repeats the last outcome, with outcomes
 * drawn independently.
 */
void joint_skew(struct joint *j, double time);
/* How badly the present flows explain all evidence. */
double joint_misfit(struct joint *j);
/* The flow, clamped to what an edge may have. */
double joint_within(const struct joint *j, double flow);
/* Before the first step: other initial flows (restart.c). */
void joint_restart(struct joint *j, struct arena *a);

#endif
