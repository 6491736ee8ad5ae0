/*
 * Where to count so that few counters give the counts of all blocks, or of all blocks and edges, of
 * a function.
 *
 * The graph for edges (`PROBES_EDGES`): each block has an input and an output node, with the block
 * as the edge between them, and there is one node outside of the function. Control may leave a
 * block in its middle, in a call that does not return (exit, longjmp, an exception), or return more
 * than once (setjmp, fork): BLK_CALLS blocks have an edge from their output to the outside, which
 * cannot be counted, and whose flow may be negative; landing pads have one from there, and edges of
 * exceptions are no part of the graph. So counts are exact whatever calls do.
 * Indirect jumps with a common target meet in one node, which has such an edge, too: their targets
 * may not all be known. The flow from each of them to each target follows from the sums on both
 * sides as long as jumps and targets form a tree; where they do not, these edges stay unknown.
 *
 * `PROBES_BLOCKS` gives block counts only, with counters at the heads of blocks only (Knuth &
 * Stevenson, "Optimal measurement points for program frequency counts", BIT 1973): a block's output
 * and its successors' inputs are one node. It is possible for every function.
 */
#ifndef MORPH_PROBES_H
#define MORPH_PROBES_H

#include "common/err.h"
#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>

/* What COUNTERS_THREAD needs of the link: a byte per thread, not 0 when it has
 * counters of its own, and what gives it some; that keeps all registers. */
#define PROBES_SEEN "morph_counting_seen"
#define PROBES_ENTER "morph_counting_enter"

enum probes_form { PROBES_BLOCKS = 0, PROBES_EDGES = 1 };

enum probe_at {
	PROBE_HEAD, /* before block `index` */
	PROBE_EDGE, /* on edge `index` */
	PROBE_END   /* before the last instruction of block `index`, by which control leaves */
};

/* How counts of several threads are kept apart. */
enum counter_kind {
	COUNTERS_PLAIN,  /* they are not: where two count at once, one is lost */
	COUNTERS_ATOMIC, /* counters are written with a lock */
	COUNTERS_THREAD  /* every thread counts in memory of its own */
};

/* A function's counters. */
struct probes {
	uint32_t form; /* enum probes_form: of the graph that they are chosen from */
	uint32_t n;
	uint32_t *site; /* see probe_site; ascending */
	uint8_t kind;   /* enum counter_kind */
	/* Of COUNTERS_THREAD: a thread without memory of its own may enter here, and gets it before
	 * anything is counted. */
	bool entered;
};

struct probe {
	enum probe_at at;
	uint32_t index;
};
/* A probe site is a number: heads by block, then edges, then ends by block. */
struct probe probe_site(const struct cfg *g, uint32_t site);

/* What the choice of sites depends on, besides the graph. */
struct probe_want {
	bool edges;          /* counts of edges are wanted, not of blocks alone */
	bool heads_only;     /* the function's jumps are not printed again */
	bool weighed;        /* the graph's counts are a profile, else they are ignored */
	const uint8_t *dear; /* per block: flags are live at its head, counting is slow */
};

/* Chooses. Deterministic; memory from the arena. */
void probes_choose(
    const struct cfg *g, const struct probe_want *want, struct probes *out, struct arena *a);

/*
 * Sets the count of every block of g and, with PROBES_EDGES, of every edge with known[edge] set.
 * value[k] is the value of counter k. A negative result (control left by an edge that is not in the
 * graph, or was stopped in between) becomes 0; *off is how many executions these are in all. Fails
 * when the counters do not determine all counts: they are not of this function.
 */
int probes_solve(struct cfg *g, const struct probes *p, const uint64_t *value, uint8_t *known,
    uint64_t *off, struct arena *scratch, struct err *e);

#endif
