/*
 * A profile as text, one line per block:
 *
 *	function block value
 *
 * `function` is a name, or name#KEY with KEY the first 8…32 hex digits of the
 * function key; a name alone will do where all functions of that name in the
 * artifact have one key. `block` is the block id. `value` is a number of
 * executions (a whole number) or of samples (up to 3 fraction digits). Lines
 * of one block add up. Empty lines and lines that begin with "# " say nothing.
 */
#ifndef MORPH_COUNTS_H
#define MORPH_COUNTS_H

#include "common/artifact.h"

enum counts_form {
	COUNTS_EXECUTIONS, /* values as they are */
	COUNTS_SAMPLES     /* values in fixed point, SAMPLE_ONE (editor/cfg.h) */
};

struct counts {
	struct arena mem;
	enum counts_form form;
	/* By function of the artifact: a value per block, or NULL when no line
	 * named it. Functions with equal name and key share one array. */
	uint64_t **block;
	uint64_t total, used;  /* sums of all values, of those that found a block */
	uint64_t lines;        /* that carry a value */
	uint64_t unknown;      /* lines: no such function (or another key) */
	uint64_t ambiguous;    /* lines: several functions, and not one key */
	uint64_t no_block;     /* lines: the function has no such block */
};

/* func as artifact_funcs() gives them. Returns 0, or -1 with name:line in e
 * where a line is not of the form above. Free the result in both cases. */
int counts_parse(const char *text, size_t n, const char *name, enum counts_form form,
    const struct art_func *func, size_t nfunc, struct counts *out, struct err *e);
int counts_read(const char *path, enum counts_form form, const struct art_func *func,
    size_t nfunc, struct counts *out, struct err *e);
void counts_free(struct counts *c);

/* What function i weighs: its samples (fixed point), or executed instructions. */
uint64_t counts_weight(const struct counts *c, const struct art_func *func, size_t i);

#endif
