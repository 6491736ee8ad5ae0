/*
 * Link-time optimisation by clang, in two steps, so that what is linked is known as assembly: the
 * linker has LLVM write that, and links nothing; the as hook makes objects of it; these are linked
 * in place of the bitcode. Of lld, and of GNU ld and gold with LLVM's plugin.
 */
#ifndef MORPH_LTOASM_H
#define MORPH_LTOASM_H

#include "common/command/linker.h"
#include "common/err.h"
#include "hooks/args.h"
#include "hooks/linkmap.h"

#include <stdbool.h>

struct ltoasm {
	const char *real; /* the linker */
	enum linker linker;
	const struct args *arg; /* expanded; outlives this */
	const char *folder;     /* for all files, see hooks/ltrans.h */
	/* Results of ltoasm_make. */
	struct args link;        /* arguments of the second step */
	struct linkmap resolved; /* why the first step took which members of archives */
	struct args member;      /* those with machine code */
	struct buf said;         /* on standard error */
};

/* Whether this command may optimise so. */
bool ltoasm_wanted(enum linker linker, const struct args *arg);

/* The first step, and the objects. 1; 0 = there was nothing to optimise; -1 = it cannot be done so,
 * or not at all. */
int ltoasm_make(struct ltoasm *l, struct err *e);

/* Whether the second step, by its map, took all members of archives with machine code that the
 * first had taken: their constructors run, whether they are referred to in the end or not. */
int ltoasm_check(const struct ltoasm *l, const struct linkmap *after, struct err *e);

void ltoasm_free(struct ltoasm *l);

#endif
