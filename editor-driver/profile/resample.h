/*
 * Profiles that could have been sampled, were known counts the truth.
 */
#ifndef MORPH_RESAMPLE_H
#define MORPH_RESAMPLE_H

#include "editor-driver/profile/counts.h"
#include "editor/cfg.h"

/* Samples in a block of a program, and outcomes of its branch, by its executions. */
struct resample_rates {
	double samples;  /* by executed instruction */
	double outcomes; /* by sample in a block with more than one successor */
};

/*
 * A function's samples and outcomes as independent draws (Poisson) from what its counts let
 * expect, into the cfg's .samples and .outcomes; .pred becomes 0. The same for each state on one
 * machine.
 */
void resample(struct cfg *g, const struct resample_rates *r, uint64_t *state);

#endif
