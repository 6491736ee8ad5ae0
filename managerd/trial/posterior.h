/*
 * The front-end model (editor/cost/frontend.h) corrected by what was measured on this machine: each
 * of its constants is a normal variable, with the fitted one as its prior mean, and each measured
 * gain is one observation of what the model says by them. The gain is no linear function of the
 * constants, so it is taken as one about the present estimate, which is then improved
 * (Gauss-Newton; Bishop, Pattern Recognition and Machine Learning, 3.3 and 4.4), with errors of
 * Student's t (reweighted by each round's; Lange, Little and Taylor, JASA 84, 1989). Few constants
 * and many programs: what every program shares is learned, not what one of them is like.
 *
 * Pure.
 */
#ifndef MORPH_MANAGERD_POSTERIOR_H
#define MORPH_MANAGERD_POSTERIOR_H

#include "common/frontcosts.h"

#include <stddef.h>

/* Of a layout, per executed instruction of the original: instructions, taken branches, changes of
 * line. insns = 0: not known. */
struct posterior_terms {
	double insns, taken, lines;
};

/* An improvement of one program. */
struct posterior_edit {
	struct posterior_terms before, after;
	double gain, sd; /* measured share of time, and its standard deviation */
};

/* The share of time that `after` saves over `before`, at these costs. */
double posterior_gain(const struct frontcosts *c, const struct posterior_terms *before,
    const struct posterior_terms *after);
/* Posterior mean; FRONTCOSTS without any edit. One with terms that no program has does not count.
 */
struct frontcosts posterior_costs(const struct posterior_edit *e, size_t n);

#endif
