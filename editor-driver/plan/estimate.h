/*
 * How much better a layout really is, as far as its profile can tell.
 *
 * What a layout gains under the profile that it was made from is too good to be true: it fits the
 * profile's accidents. By how much shows on draws of what the profile could have been (Efron,
 * "Estimating the error rate of a prediction rule", JASA 1983): the layout made from a draw, judged
 * by the draw and by the profile.
 *
 * A build that was laid out from an earlier part of the same samples fits their accidents as much
 * as the new layout does, however many there were: the fewer it had, the more it fits them, and the
 * less they weigh in the profile. Over such a build the layout gains what the profile promises,
 * over the original less by `optimism`. Who knows how old those samples are adds it back.
 */
#ifndef MORPH_ESTIMATE_H
#define MORPH_ESTIMATE_H

#include "common/editanswer/editanswer.h"
#include "editor-driver/plan/built.h"
#include "editor-driver/plan/plan.h"

/* Of the layout of a plan of samples over a build of its artifact. Needs plan_order(); leaves the
 * plan as it is. Takes ESTIMATE_DRAWS times inference, layout and scores. */
enum { ESTIMATE_DRAWS = 6 };
void estimate_gain(struct plan *p, const struct built_code *build, struct editanswer_estimate *out);

#endif
