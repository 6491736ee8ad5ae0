/*
 * Parts of the chain merging; only editor/exttsp*.c include this.
 */
#ifndef MORPH_EXTTSP_PARTS_H
#define MORPH_EXTTSP_PARTS_H

#include "common/mem.h"
#include "editor/layout/gainheap.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	EXTTSP_FORWARD = 1024,
	EXTTSP_BACKWARD = 640,  /* bytes over which a jump is worth something */
	EXTTSP_CHAIN_MAX = 512, /* blocks of a chain that still grows */
	EXTTSP_NONE = -1,       /* the end of a list */
};
#define EXTTSP_NO_BLOCK UINT32_MAX
static const double EXTTSP_NEAR = 0.1; /* worth of a near jump that is no fallthrough */

struct jump { /* an edge between two different hot blocks */
	uint32_t src, dst; /* positions in hot[] */
	double count;
	double full;  /* of one execution at distance 0 */
	int32_t next; /* in its list */
	/* Of those in a chain that is known. What a split changes of such a jump is the
	 * same before any block after the first that it touches, up to the last: */
	uint32_t begin, after;  /* positions of the block after the first, and the last, or
				    EXTTSP_NO_BLOCK */
	double reach;           /* EXTTSP_FORWARD or EXTTSP_BACKWARD */
	uint64_t gap;           /* bytes between its source's end and its target */
	double was;             /* weight */
};

struct jumps { /* a list */
	int32_t first, last;
};

/* A jump between two chains, as a link's two chains (0: the lower one) see it. */
struct tie {
	double count, full;
	uint64_t at[2];    /* bytes: the end of its source, the begin of its target */
	uint32_t index[2]; /* of these blocks in their chains */
	bool forth;        /* from 0 to 1 */
};

struct spot { /* of the block at a position in hot[] */
	uint64_t pos; /* in its chain, bytes */
	uint32_t bytes;
	uint32_t chain, index; /* blocks */
};

/* What a split of a chain before a block changes among its own jumps. */
struct change {
	double insert; /* chain.inserted bytes are put between the parts */
	double little; /* one byte is, at least */
	double much;   /* so many are that no jump over them is worth anything */
	double rotate; /* the second part goes before the first */
	double falls;  /* what others may gain by it; only in exttsp_closer() */
};

struct chain {
	uint32_t *blk;   /* positions in hot[] */
	uint32_t n, cap; /* n = 0: merged into another */
	uint32_t id;     /* lowest position in it, breaks ties */
	uint64_t bytes;
	bool hollow; /* some block has no bytes */
	double count;
	struct jumps jumps; /* the edges inside */
	uint32_t *link; /* its links; those with a dead chain are dropped in passing */
	uint32_t nlink, caplink;
	/* Of the chain as it is, all but insert, which is for so many bytes: */
	bool known;
	double score;
	struct change most; /* over all splits */
	uint64_t inserted;
};

/* X·Y whole, or X cut in two. */
enum merge_type { X_Y, X1_Y_X2, Y_X2_X1, X2_X1_Y };

struct merge {
	double gain;
	uint32_t x, y, split; /* chains; blocks in X1 */
	enum merge_type type;
};

struct link { /* two chains with jumps between them */
	uint32_t a, b;
	struct jumps jumps; /* none: one of them is gone */
	double near;      /* what they are worth at distance 0 */
	double all, most; /* what all, what the best gain beyond that as fallthroughs */
	double close;     /* more is not in them as near jumps, by the slots they have */
	struct merge best;
	enum {
		BOUNDED, /* best is not known; queued by exttsp_bound() */
		CLOSER,  /* nor here; queued by exttsp_closer(), which set close */
		EXACT,   /* best is known; queued by its gain unless that is 0 */
		STALE    /* changed, must be queued anew */
	} state;
};

struct tsp {
	struct arena *a;
	struct chain *chain;
	uint32_t n, nlink;
	struct link *link;
	struct jump *jump;
	struct tie *tie;       /* of the link that is evaluated */
	struct spot *spot;     /* by position */
	struct change *change; /* by position; of the first in its chain void */
	uint32_t *table;       /* pairs of chains to link + 1, open addressing */
	uint32_t mask, used;
	struct gainheap heap;
	uint32_t *scratch;
};

/* At most two of the jumps between two chains can become fallthroughs. */
static inline double exttsp_falls(const struct link *l)
{
	return l->all < 2 * l->most ? l->all : 2 * l->most;
}

static inline double exttsp_bound(const struct link *l)
{
	return l->near + exttsp_falls(l);
}

/* What merges of the link gain at most, seen closer; 0 when there is no merge. */
double exttsp_closer(struct tsp *t, struct link *l);

/* Finds the best merge of a link that is CLOSER; best.x == best.y where none gains. */
void exttsp_evaluate(struct tsp *t, struct link *l);

#endif
