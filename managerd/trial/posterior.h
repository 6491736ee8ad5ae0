/*
 * The front-end model (editor/cost/frontend.h) corrected by what was measured on this machine. A
 * program gains its own factor times what the model says by the machine's costs: programs differ in
 * how much of their time the front end is, and a program's layouts are alike in that. Costs are
 * normal variables, with the fitted ones as their prior means; factors are Student's t around 1, so
 * that an odd program says little of the others (a hierarchical model: Gelman et al., Bayesian Data
 * Analysis, 5.4 and 17.2). The gain is no linear function of the costs, so it is taken as one about
 * the present estimate, which is then improved (Gauss-Newton).
 *
 * Pure.
 */
#ifndef MORPH_MANAGERD_POSTERIOR_H
#define MORPH_MANAGERD_POSTERIOR_H

#include "common/frontcosts.h"

#include <stddef.h>
#include <stdint.h>

/* Of a layout, per executed instruction of the original: instructions, taken branches, changes of
 * line. insns = 0: not known. */
struct posterior_terms {
	double insns, taken, lines;
};

/* A layout of a program in place of another. */
struct posterior_edit {
	uint64_t program;
	struct posterior_terms before, after;
	double gain, sd; /* measured share of time, and its standard deviation */
};

/* The share of time that `after` saves over `before`, at these costs. */
double posterior_gain(const struct frontcosts *c, const struct posterior_terms *before,
    const struct posterior_terms *after);
/* Posterior means; FRONTCOSTS and 1 without any edit. */
struct posterior {
	struct frontcosts costs;
	double factor; /* of one program */
};
/* Sorts the edits. One with terms that no program has does not count. */
struct posterior posterior(struct posterior_edit *e, size_t n, uint64_t program);

#endif
