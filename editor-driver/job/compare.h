/*
 * How well profile A approximates profile B: two profiles of one artifact, each as the editor
 * understands it, after inference.
 */
#ifndef MORPH_COMPARE_H
#define MORPH_COMPARE_H

#include "editor-driver/plan/score.h"

struct compare_input {
	const char *path;
	enum counts_form form;
};

/* Overlaps (editor-driver/profile/overlap.h), 0…1. */
struct agreement {
	double work;   /* of blocks by executed instructions */
	double blocks; /* of blocks by executions */
	double edges;  /* of edges by executions */
};

struct compared_func {
	const struct art_func *func;
	double share[2];     /* of the executed instructions, in A and in B */
	struct agreement in; /* shares inside the function; 0 where A or B has none of it */
};

/* The fewest blocks that hold a share of the executed instructions. */
struct compared_hot {
	double share;
	size_t blocks[2], both; /* in A's set, in B's, in both */
	uint64_t bytes[2];
	double held; /* of B's instructions in B's set: those in A's set as well */
};

enum { COMPARED_HOT = 3 };

struct comparison {
	struct artifact *art;
	struct counts counts[2]; /* of A, of B */
	struct plan plan[2];
	struct agreement whole;  /* shares of the whole program */
	struct agreement within; /* mean over functions of those inside, by the mean of shares */
	VEC(struct compared_func) func; /* by name and key; by the mean of both shares */
	struct compared_hot hot[COMPARED_HOT];
	struct score a, b, original; /* layouts of A and of B and the original's, all under B */
};

/* Takes the artifact over. 0, or -1 and why in e. Close in both cases. */
int compare(struct artifact *art, const struct compare_input in[2], unsigned jobs,
    struct comparison *c, struct err *e);
void compare_close(struct comparison *c);

#endif
