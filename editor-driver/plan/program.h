/*
 * The functions of a plan that have a weight as one program, the input of the front end model
 * (editor/cost/frontend.h).
 */
#ifndef MORPH_PROGRAM_H
#define MORPH_PROGRAM_H

#include "editor-driver/plan/plan.h"
#include "editor/cost/frontend.h"

/* Needs plan_infer(). first[] by function of the artifact: the program's block
 * of its entry, block b of it being first + b; FE_NONE without weight. Of those
 * that share their counts, as C++ has them in every unit that uses them and the
 * linker keeps the first, only this one is there. Free with fe_free(). */
void program_make(const struct plan *p, struct fe_program *out, uint32_t *first);

#endif
