/*
 * What several jobs do alike (job.c).
 */
#ifndef MORPH_JOB_STEPS_H
#define MORPH_JOB_STEPS_H

#include "editor-driver/job/job.h"

#include <time.h>

/* Seconds since the last call. */
double lap(struct timespec *last);
/* Opens what the options name, and surveys the artifact. */
int open_inputs(struct job *j, struct err *e);
/* The plan, up to the order of functions. */
int parse_and_lay_out(struct job *j, struct timespec *clock, struct err *e);
/* The scores of the present layout and of `made`, or the planned one without it. */
int score_both(struct job *j, const struct built_code *made, struct err *e);

#endif
