/*
 * How much better a layout really is, as far as its profile can tell.
 *
 * What a layout gains under the profile that it was made from is too good to be true: it fits the
 * profile's accidents. By how much shows on draws of what the profile could have been (Efron,
 * "Estimating the error rate of a prediction rule", JASA 1983): the layout made from a draw, judged
 * by the draw and by the profile.
 */
#ifndef MORPH_ESTIMATE_H
#define MORPH_ESTIMATE_H

#include "editor-driver/plan/plan.h"

struct estimate {
	double gain;      /* share of time that the plan's layout saves over the build, expected */
	double low, high; /* and with 90 % confidence, as far as the number of samples decides */
	double missed;    /* what the best layout would save besides: more samples might */
};

/* Of the layout of a plan of samples over a build of its artifact. Needs plan_order(); leaves the
 * plan as it is. Takes ESTIMATE_DRAWS times inference, layout and scores. */
enum { ESTIMATE_DRAWS = 6 };
void estimate_gain(struct plan *p, const struct blockmap *build, struct estimate *out);

#endif
