/*
 * What an executed instruction, a taken branch and a change of the 64-byte line cost in a
 * processor's front end, in cycles of which only the ratios matter: fitted to measured runs
 * (bench/run predict; docs/notes/front-end.md), the first one assumed. The editor predicts by them;
 * to the manager they are where it begins, before gains were measured on its machine
 * (managerd/trial/posterior.h).
 */
#ifndef MORPH_FRONTCOSTS_H
#define MORPH_FRONTCOSTS_H

struct frontcosts {
	double insn, taken, line;
};
static const struct frontcosts FRONTCOSTS = {0.3, 0.26, 0.16};

#endif
