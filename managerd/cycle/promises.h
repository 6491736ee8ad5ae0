/*
 * What is promised of a layout: the gain by the front-end model, as gains measured on this kind of
 * processor correct it (managerd/trial/posterior.h). Nobody's programs, and what their runs say,
 * bear on those of another but root's.
 */
#ifndef MORPH_MANAGERD_PROMISES_H
#define MORPH_MANAGERD_PROMISES_H

#include "common/editanswer/editanswer.h"
#include "managerd/cycle/core.h"
#include "managerd/store/store.h"

struct promises {
	struct core *core;
	VEC(struct store_gain) gain; /* what trials that are over have measured, oldest first */
};

/* From the store. */
int promises_open(struct promises *p, struct err *e);
void promises_free(struct promises *p);
/* A trial of the module's is over: the gain that it knows, if any. Within a transaction. */
int promises_learn(struct promises *p, uint64_t module, const struct trial *t, struct err *e);
/* Of one layout of the module over another. NAN: the model says nothing. */
double promises_gain(const struct promises *p, const struct store_module *row,
    const struct editanswer_score *before, const struct editanswer_score *after);
/* Likewise by the model alone, before anything was measured. */
double promises_model_gain(
    const struct editanswer_score *before, const struct editanswer_score *after);
/* For a trial: what the model counts of a build, and the kind of this processor. */
struct posterior_terms promises_terms(const struct editanswer_score *s);
uint64_t promises_cpu(void);

#endif
