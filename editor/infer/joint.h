/*
 * Joint inference: block samples and witnesses, to the flow that agrees with
 * both the most. Only editor/infer*.c include this.
 *
 * The cost of a block's flow x is weight (x / estimate - ln x), the likelihood
 * of `weight` Poisson samples, up to the estimate, and beyond it grows no faster
 * than by a bound per ln x: samples may be missing; that of its ways on is witness * sum q ln(q /
 * share), with q the shares of the flow: how far they are from those that were
 * seen, in the sense of Kullback and Leibler. The least cost is found by
 * Newton's method on the equations of Kirchhoff's law (Boyd, Vandenberghe,
 * "Convex Optimization", 10.3), which are as sparse as the function's graph.
 * The Hessian that is used holds each block's flow for its share of the second
 * term; so it is positive, and a block costs a few numbers.
 */
#ifndef MORPH_INFER_JOINT_H
#define MORPH_INFER_JOINT_H

#include "editor/infer/flow.h"

/* A way on from a block: by an edge, or out of the function. */
struct succ {
	uint32_t dst, edge; /* UINT32_MAX: out */
	double share;       /* of the block's flow, by what was seen */
	double flow, step;
	double ln;          /* of its share of the flow by `share`, where there are other ways */
	double gradient;    /* of the cost */
	double pred_share;  /* share of dst's flow, by what was seen from behind … */
	double slope, bend; /* … and what it costs: first derivative, bound of the second */
	double own;         /* in the inverse of the Hessian */
	double **entry;     /* of the matrix: with its block; with those of the ways before it */
};

struct joint {
	struct cfg *g;
	const struct reach *r;
	double most;     /* no flow is larger */
	uint8_t *used;   /* per block: may have flow */
	uint32_t *first; /* way[first[b]] … way[first[b + 1]] leave block b */
	struct succ *succ;
	/* Per block: */
	double *cost;         /* per unit of flow: weight by estimate */
	double *weight;       /* samples that its own evidence is worth */
	double *witness;      /* that of its ways on */
	double *prior;        /* of these: what is said of ways that nobody saw */
	double *seen;         /* of these: those that were seen, unless they are doubted */
	double *pred_weight;  /* witnesses that tell where it came from */
	double *inflow, *divergence; /* what comes in by ways; joint_divergence() of these */
	double *common, *own; /* of the inverse of the Hessian; the sum of its ways' own */
	double *in;           /* flow that enters here; 0 = none may */
	double *price;        /* of a unit of flow there */
	uint32_t *loop_ends;  /* the lowest block that ends a loop whose first is b or behind */
	double *skew, *skew_in; /* time, in instructions, that mispredicted ways here cost */
};

/* Samples or witnesses: more say no more. */
#define JOINT_MANY 1e12

/* ln, the same on every machine. */
double joint_ln(double v);
/* Of a block, at least 1, and bounded. */
double joint_insns(const struct cfg_block *k);
/* The flow that explains the samples of a block the best. */
double joint_estimate(const struct joint *j, uint32_t b);
double joint_block_flow(const struct joint *j, uint32_t b);
/* More than one way leads on. */
bool joint_branches(const struct joint *j, uint32_t b);
/* What n witnesses are worth. Where few of so many samples of a block bear witness,
 * it was an odd few of its executions that did: `sooner` times as much. */
double joint_witness_weight(double samples, double n, double sooner);
/* … and what of that is believed where the flows are so far from what they say. */
double joint_downweighted(double worth, double divergence);
/*
 * How much of what nobody saw of a block goes this way, beside its others: 1, less
 * where the compiler laid it out as what happens seldom, 0 where it made it for what
 * all but never is. GCC lets what it takes for likelier follow without a jump, and
 * sets aside what is not (Pettis, Hansen 1990; its heuristics: Ball, Larus 1993).
 */
double joint_prior(const struct joint *j, const struct succ *v);
/* Before that: sets j->loop_ends. */
void joint_prior_begin(struct joint *j, struct arena *a);
/* How far b's flow x divides otherwise than its witnesses, after Kullback and
 * Leibler (below 0 by rounding alone), and how many witnesses are believed then. The
 * first sets the ways' ln. */
double joint_divergence(struct joint *j, uint32_t b, double x);
double joint_believed(const struct joint *j, uint32_t b, double divergence);

/*
 * What was seen from behind is a cost of the same form, of the shares of what
 * comes into a block. It joins flows that leave different blocks, so it goes into
 * the Hessian by its diagonal alone, which is no smaller: steps get shorter.
 * weigh: before all rounds; look: sets slopes and bends for the present flows.
 */
void joint_pred_weigh(struct joint *j, struct arena *a);
void joint_pred_update(struct joint *j);

/*
 * Behind a mispredicted branch the pipeline is filled anew, and a timer that
 * strikes meanwhile finds the branch's target: so a way that is taken seldom
 * leads to a block of too many samples. Sets j->refill from the present flows,
 * halfway at a time: `time` instructions for each time a branch went otherwise
 * than the last time, were its ways drawn at random.
 */
void joint_skew(struct joint *j, double time);
/* How badly the present flows explain all evidence. */
double joint_misfit(struct joint *j);
/* The flow, or the nearest that a way may have. */
double joint_within(const struct joint *j, double flow);
/* Before the first step: other flows to begin with (infer_anew.c). */
void joint_restart(struct joint *j, struct arena *a);

/* Sets the counts of g to whole flows next to those in j; Kirchhoff's law holds. */
void joint_settle(struct joint *j, struct arena *a);

#endif
