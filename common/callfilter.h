/*
 * Filters of system calls (seccomp, by libseccomp): rules are added one by one
 * and take hold together. The first failure is kept for callfilter_load().
 */
#ifndef MORPH_COMMON_CALLFILTER_H
#define MORPH_COMMON_CALLFILTER_H

#include "common/err.h"

#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>

struct callfilter {
	scmp_filter_ctx ctx;
	int rc; /* negative errno, 0 = no failure yet */
};

/* The conditions of a rule: all must hold. */
#define CALLFILTER_IF(...) \
	(const struct scmp_arg_cmp[]){__VA_ARGS__}, \
	    sizeof(const struct scmp_arg_cmp[]){__VA_ARGS__} / sizeof(struct scmp_arg_cmp)
/* A condition: none of the bits is set. */
#define CALLFILTER_WITHOUT(arg, bits) SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, (uint64_t)(bits), 0)

/* otherwise: what happens to a call that no rule names (SCMP_ACT_*). */
struct callfilter callfilter_begin(uint32_t otherwise);
void callfilter_set(struct callfilter *f, enum scmp_filter_attr attr, uint32_t value);
/* The same action for each of n calls, whatever their arguments. */
void callfilter_list(struct callfilter *f, uint32_t action, const int *call, size_t n);
/* n conditions; see CALLFILTER_IF. */
void callfilter_rule(
    struct callfilter *f, uint32_t action, int call, const struct scmp_arg_cmp *cond, size_t n);
/* Loads the filter and frees it, whatever comes of it. */
int callfilter_load(struct callfilter *f, struct err *e);

#endif
