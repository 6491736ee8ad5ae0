/*
 * The plan of an edit: the functions that matter, parsed, weighed, laid out and printed. Passes, in
 * the order in which they are called; each needs the results of the ones before it. Nothing here
 * writes a file.
 */
#ifndef MORPH_PLAN_H
#define MORPH_PLAN_H

#include "common/artifact/artifact.h"
#include "common/elf/blockmap.h"
#include "common/profiletext/funclist.h"
#include "editor-driver/profile/counts.h"
#include "editor-driver/plan/mapindex.h"
#include "editor-driver/proof/verify.h"
#include "editor/count/count.h"
#include "editor/unit.h"

#include <pthread.h>
#include <stdatomic.h>

enum plan_mode {
	PLAN_IDENTITY, /* nothing moves */
	PLAN_RANDOM,   /* random: everything that may move moves, by a seed */
	PLAN_PROFILE,  /* what the counts name is laid out for them */
	PLAN_COUNT     /* nothing is reordered; everything is counted */
};

/* Passes to leave out, to judge what they are worth. */
struct plan_omit {
	bool tails; /* copies of blocks (editor/layout/tails.h) */
	bool got;   /* hot calls through the GOT instead of the PLT */
	bool cpu;   /* what is for the CPU at hand (editor-driver/plan/host.c) */
};

struct plan_text { /* a TU that is parsed */
	struct arena mem;
	struct buf text;
	struct unit *unit;
};

struct plan_tu {
	const struct art_tu *art;
	const struct art_func *func; /* its functions in the artifact, by ord */
	uint32_t nfunc;
	bool edited; /* some function of it moves; all below is empty otherwise */
	struct arena mem;
	struct plan_text whole; /* as long as the plan lives; empty: unit is an outline */
	struct unit *unit;
	uint64_t *weight;                 /* by function: its share of the profile */
	uint32_t *first;                  /* by function: plan_first(); NULL: no list */
	struct unit_placement *placement; /* by function; layout set where weight > 0 */
	struct probes **probes;           /* by function; of PLAN_COUNT */
};

/* A function with a weight. */
struct plan_func {
	struct plan_tu *tu;
	uint32_t ord;
};

struct plan {
	struct artifact *art;
	enum plan_mode mode;
	uint64_t seed;
	const struct counts *counts;   /* of PLAN_PROFILE; of PLAN_COUNT where there are any */
	struct unit_counting counting; /* of PLAN_COUNT, but for the weight; by plan_count() */
	unsigned jobs;                 /* threads */
	struct plan_omit omit;
	const struct layout_cpu *cpu;
	const struct art_func *func;
	size_t nfunc;
	uint64_t hot;        /* executions of a block that count as hot; from plan_layout() */
	double executed;     /* instructions, by the counts; from plan_layout() */
	bool binds_now;      /* the link binds every symbol at the start */
	struct htab defined; /* names of the module's functions */
	struct plan_tu *tu;
	size_t ntu;
	struct plan_func *weighed; /* the largest first */
	size_t nweighed;
	size_t *batch; /* weighed[batch[i]] … weighed[batch[i + 1]] are one thread's work */
	size_t nbatch;
	struct blockmap map; /* of the original build */
	struct mapindex index;
	atomic_size_t no_edge; /* of the profile: edges that their function does not have */
	atomic_size_t kept;    /* bytes of text of the TUs that are kept whole */
	atomic_uint_least64_t print_ns, check_ns; /* of all threads together */
	pthread_mutex_t reading;                  /* of the artifact */
};

/* Function i of t among those of the artifact. */
static inline uint32_t plan_index(const struct plan *p, const struct plan_tu *t, uint32_t i)
{
	return (uint32_t)(t->func - p->func) + i;
}

/* The place in the list of functions that come first, from 1 on; 0: it is not in it. */
static inline uint32_t plan_first(const struct plan_tu *t, uint32_t i)
{
	return t->first ? t->first[i] : 0;
}

/* Reads the block map and picks the TUs that are edited. Free in both cases. */
int plan_begin(struct plan *p, struct artifact *a, enum plan_mode mode, uint64_t seed,
    const struct counts *counts, struct plan_omit omit, unsigned jobs, struct err *e);
void plan_free(struct plan *p);

/* Right after it: the functions of the list move, and come before all others that do, in its order.
 * Those without a weight keep their blocks as they are. Functions of one name stay together. */
void plan_put_first(struct plan *p, const struct funclist *list);
/* After plan_layout(): how many names of the list are of no function that can move, and the first
 * of them, which is the list's. */
struct plan_missed {
	size_t n;
	const char *name;
};
struct plan_missed plan_missed(const struct plan *p, const struct funclist *list);

/* Reads and parses the edited TUs. Of a large program most are kept as outlines, so that the memory
 * of an edit follows the largest TUs and not all of them. Fails when a text does not give the
 * functions and blocks that the artifact lists. */
int plan_parse(struct plan *p, struct err *e);
/* Sets the counts of every CFG with a weight (editor/infer/infer.h). */
void plan_infer(struct plan *p);
/* Sets the layout of every function that moves. */
void plan_layout(struct plan *p);
/* Puts the layouts away, so that others can be made, and back in the place of those. */
struct plan_layouts {
	struct unit_placement **placement; /* by TU */
	uint64_t hot;
	double executed;
};
void plan_put_layouts_away(struct plan *p, struct plan_layouts *away);
void plan_take_layouts_back(struct plan *p, struct plan_layouts *away);
/* Instead, for PLAN_COUNT: sets the probes. */
int plan_count(struct plan *p, const struct unit_counting *how, struct err *e);
/* Sets the rank of every function that moves. */
void plan_order(struct plan *p);
/* An edited TU's unit with its text, and the plan's CFGs: the one that is kept, or read again into
 * *again, which the caller frees in both cases. Thread safe. NULL: e says why. */
struct unit *plan_unit(struct plan *p, struct plan_tu *t, struct plan_text *again, struct err *e);
/* Reads and parses any TU, whatever is edited, into *x, which the caller frees in both cases.
 * Thread safe. */
int plan_read(struct plan *p, const struct plan_tu *t, struct plan_text *x, struct err *e);
void plan_text_free(struct plan_text *x);
/* Prints an edited TU, appended to out, and proves what it printed (editor/unit.h). Thread safe. */
int plan_print(struct plan *p, struct plan_tu *t, struct buf *out, struct err *e);

/* The copies of blocks that the layouts have; appended to out. */
struct copies {
	struct verify_copies *v;
	size_t n, cap;
};
void plan_copies(const struct plan *p, struct copies *out);

struct plan_figures {
	uint32_t moved, counted, counters; /* functions that move, that have counters; counters */
};
struct plan_figures plan_figures(const struct plan *p);

/* The text of a TU that is not edited, with labels and block map; appended to
 * out. Thread safe. */
int plan_identity_text(struct plan *p, size_t tu, struct buf *out, struct err *e);

#endif
