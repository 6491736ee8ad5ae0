/*
 * Profiles: samples per (function key, block), summed over all runs of a
 * module by direct combining (SOSP'97 3.3: a run weighs by the time it took)
 * and aged: a sample counts half after each half-life. Pure.
 *
 * Ageing is lazy: each function's numbers are true as of its own as_of_ms and
 * are brought to the present when it is touched or read.
 */
#ifndef MORPH_MANAGERD_MERGE_H
#define MORPH_MANAGERD_MERGE_H

#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A sample of weight 1 represents one tick of CPU time. Where the monitor took more than one a
 * tick, each weighs less, by how much more; so programs and times keep their shares, however
 * densely they were sampled. How sure a profile is of what it says follows from the number of its
 * samples, and not from their weight: as many as (sum of weights)² / (sum of their squares)
 * samples of one weight are as sure (Kish, Survey Sampling, 1965), which is the sum of the weights
 * times the *density*, (sum of weights) / (sum of squares). The density is kept per module.
 */
enum { PROFILE_UNRESOLVED = UINT32_MAX };
/* Of a function, at most. Any block may call any function, and an indirect jump may go to
 * any block: who runs the program decides how many of them are seen. */
enum { PROFILE_EDGES_MAX = 1 << 14, PROFILE_CALLS_MAX = 1 << 12 };

/* Of the resolved outcomes of `block`, n went to block `to`. */
struct profile_edge {
	uint32_t block, to;
	double n;
};

struct profile_edges { /* by block and to */
	struct profile_edge *v;
	size_t n, cap;
};

/* Samples of the function with this key that were called from `block`. */
struct profile_call {
	uint32_t block;
	struct hash128 callee;
	double n;
};

struct profile_func {
	struct hash128 key;
	const char *name, *tu; /* tu: name of its translation unit */
	const char *opaque;    /* why it moves as a whole, NULL = it is understood */
	uint32_t nblock;
	double *block;             /* samples, nblock of them, as of as_of_ms; NULL = none yet */
	struct profile_edges edge; /* as of as_of_ms as well */
	/* Predecessor counts: of the executions of `block` that were replayed
	 * backward, n came from `to`, or from PROFILE_UNRESOLVED. */
	struct profile_edges predecessors;
	VEC(struct profile_call) call; /* by block and callee, likewise */
	int64_t as_of_ms;              /* 0 with all zero */
	bool dirty;                    /* touched since it was last stored */
};

struct profile {
	VEC(struct profile_func) func; /* each key once */
	struct htab by_key;            /* key bytes -> index + 1 */
	struct arena mem;              /* owns the strings */
};

/* The function of a key, made empty when it is new. nblock of a known key
 * must agree (equal keys mean equal CFG): else NULL. */
struct profile_func *profile_put(struct profile *p, const struct hash128 *key, const char *name,
    const char *tu, const char *opaque, uint32_t nblock);
/* Its blocks, made where there are none yet. */
double *profile_blocks(struct profile_func *f);
struct profile_func *profile_get(const struct profile *p, const struct hash128 *key);
void profile_free(struct profile *p);
/* Forgets all that a function has. */
void profile_clear(struct profile_func *f);
/* Moves what a function of equal key and blocks has to another, which is empty. */
void profile_move(struct profile_func *to, struct profile_func *from);
/* Without the functions that have nothing. */
void profile_copy_used(struct profile *to, const struct profile *from);

/* By what samples age: the time they are brought to, and the half-life. */
struct decay {
	int64_t now_ms;
	double half_life_s;
};
/* The weight at that time of a sample of then: 2^(-age / half-life), at most 1. */
double decay_since(struct decay at, int64_t then_ms);
/* Brings a function to now. A clock that went back changes nothing. */
void profile_age(struct profile_func *f, struct decay at);
/* Adds samples taken at now to a block, ageing what is there. */
void profile_add(struct profile_func *f, uint32_t block, double samples, struct decay at);

/* Likewise, to a branch outcome or a call; blocks below nblock. Where a function has as
 * many pairs as it may, new ones are not kept until ageing has forgotten others. */
void profile_add_edge(
    struct profile_func *f, uint32_t block, uint32_t to, double n, struct decay at);
/* to may be PROFILE_UNRESOLVED. */
void profile_add_predecessor(
    struct profile_func *f, uint32_t block, uint32_t to, double n, struct decay at);
void profile_add_call(struct profile_func *f, uint32_t block, const struct hash128 *callee,
    double n, struct decay at);

/* The outcomes of one block: f->edge.v[*begin] up to the result. */
size_t profile_edges_of(const struct profile_func *f, uint32_t block, size_t *begin);

/* Where so great a share of a block's backward replays is resolved, their shares are
 * used for all of its executions; else none is. */
#define PROFILE_RESOLVED 0.9

/* Of one function as of now; changes nothing. */
double profile_func_samples(const struct profile_func *f, struct decay at);
struct profile_sum {
	double samples;    /* all */
	double understood; /* in functions that are not opaque */
	size_t functions;  /* with samples */
};
/* The sums as of now; changes nothing. */
struct profile_sum profile_total(const struct profile *p, struct decay at);
/*
 * How different usage a (as of now) is from usage b (as of the latest of its
 * functions): 1 - overlap of the shares of all blocks, 0 (same) … 1 (nothing
 * in common). An empty profile differs wholly. Two samplings of one usage differ
 * randomly, the more the fewer samples there are: *noise (may be NULL) gets
 * what to expect of that, by the mean deviation of two Poisson counts.
 */
double profile_distance(
    const struct profile *a, const struct profile *b, struct decay at, double *noise);

/* The indices of functions with samples, hottest first (as of now), in a
 * new array of *n; to free. */
size_t *profile_hottest(const struct profile *p, struct decay at, size_t *n);
/* Likewise with most samples per block first, as many as have so many blocks together. */
size_t *profile_densest(const struct profile *p, struct decay at, size_t blocks, size_t *n);
/*
 * The samples file of morph-edit as of now (common/profiletext/profiletext.h), by
 * name, key and block: the same profile gives the same bytes.
 * Calls of functions that the profile does not have are left out. All counts are multiplied by
 * density: the editor takes them for numbers of samples, which may have been taken more densely
 * than those that weigh 1.
 */
void profile_print(const struct profile *p, double density, struct decay at, struct buf *out);

#endif
