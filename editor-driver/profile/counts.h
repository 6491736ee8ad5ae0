/*
 * A profile (common/profiletext/profiletext.h) joined with the functions of an artifact.
 */
#ifndef MORPH_COUNTS_H
#define MORPH_COUNTS_H

#include "common/artifact/artifact.h"
#include "common/profiletext/profiletext.h"

/* Flow from a block of a function to another block, or to a callee. */
struct counts_flow {
	uint32_t func; /* of the artifact: the first of its name and key */
	uint32_t block, to;
	uint64_t value;
};

/* To a block's successors, from its predecessors (block: where they lead), to callees. */
enum counts_flows { COUNTS_EDGES, COUNTS_PRED, COUNTS_CALLS, COUNTS_FLOWS };

struct counts {
	struct arena mem;
	enum counts_form form; /* values: executions, or samples in fixed point, SAMPLE_ONE
				  (editor/cfg.h) */
	/* By function of the artifact: a value per block, or NULL when no line
	 * named it. Functions with equal name and key share one array. */
	uint64_t **block;
	uint32_t *first; /* by function: the first of its name and key that was named */
	VEC(struct counts_flow) flow[COUNTS_FLOWS]; /* ascending, no two of one fact */
	uint64_t total, used; /* sums of blocks' values: of all, of those that found one */
	uint64_t lines;       /* that carry a value */
	uint64_t unknown;     /* lines: no such function (or another key) */
	uint64_t ambiguous;   /* lines: several functions with different keys */
	uint64_t no_block;    /* lines: the function has no such block */
};

/* func as artifact_funcs() gives them. Returns 0, or -1 with name:line in e
 * where a line is not of the form above. Free the result in both cases. */
int counts_parse(const char *text, size_t n, const char *name, enum counts_form form,
    const struct art_func *func, size_t nfunc, struct counts *out, struct err *e);
int counts_read(const char *path, enum counts_form form, const struct art_func *func, size_t nfunc,
    struct counts *out, struct err *e);
void counts_free(struct counts *c);

/* The flows of function i: ascending by block, then by `to`. Returns how many. That `to` follows
 * `block` nobody checked. */
size_t counts_flows(
    const struct counts *c, size_t i, enum counts_flows kind, const struct counts_flow **flow);

/* Whether function i has counts, and is the first of those that share them, which represents all of
 * them where the profile cannot tell them apart. */
bool counts_stands(const struct counts *c, size_t i);

/* The first function that `text`, name or name#KEY, means. Fails where there is none, or several of
 * other keys. */
int counts_named(
    const struct art_func *func, size_t nfunc, const char *text, size_t *first, struct err *e);

/* What function i weighs: its samples (fixed point), or executed instructions; 0 without counts. */
uint64_t counts_weight(const struct counts *c, const struct art_func *func, size_t i);

#endif
