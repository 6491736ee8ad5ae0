/*
 * Chains, their links and the jumps of both, as the chain merging of ext-TSP keeps them.
 */
#ifndef MORPH_LAYOUT_CHAINS_H
#define MORPH_LAYOUT_CHAINS_H

#include "common/mem.h"
#include "editor/layout/gainheap.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	EXTTSP_FORWARD = 1024,
	EXTTSP_BACKWARD = 640,  /* bytes over which a jump has weight */
	EXTTSP_CHAIN_MAX = 512, /* blocks of a chain that still grows */
	EXTTSP_NONE = -1,       /* the end of a list */
};
#define EXTTSP_NO_BLOCK UINT32_MAX
static const double EXTTSP_NEAR = 0.1; /* weight of a near jump that is no fallthrough */

struct jump {              /* an edge between two different hot blocks */
	uint32_t src, dst; /* positions in hot[] */
	double count;
	double full;  /* weight of one execution at distance 0 */
	int32_t next; /* in its list */
	/* Of jumps in a chain that is known. A split changes such a jump equally before each block
	 * that lies after the first it touches, up to the last: */
	uint32_t begin, after; /* positions of the block after the first, and the last, or
				  EXTTSP_NO_BLOCK */
	double reach;          /* EXTTSP_FORWARD or EXTTSP_BACKWARD */
	uint64_t gap;          /* bytes between its source's end and its target */
	double was;            /* weight */
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

struct spot {         /* of the block at a position in hot[] */
	uint64_t pos; /* in its chain, bytes */
	uint32_t bytes;
	uint32_t chain, index; /* blocks */
};

/* What a split of a chain before a block changes among its own jumps. */
struct change {
	double insert; /* chain.inserted bytes are put between the parts */
	double little; /* at least one byte is */
	double much;   /* so many that no jump over them has weight */
	double rotate; /* the parts are exchanged */
	double falls;  /* what other jumps may gain */
};

struct chain {
	uint32_t *blk;   /* positions in hot[] */
	uint32_t n, cap; /* n = 0: merged into another */
	uint32_t id;     /* lowest position in it, breaks ties */
	uint64_t bytes;
	bool hollow; /* some block has no bytes */
	double count;
	struct jumps jumps; /* the edges inside */
	uint32_t *link;     /* its links; those to a dead chain are dropped lazily */
	uint32_t nlink, caplink;
	/* Of the chain as it is; insert is for `inserted` bytes: */
	bool known;
	double score;
	struct change most; /* over all splits */
	uint64_t inserted;
};

/* X·Y, or X split in two. */
enum merge_type { X_Y, X1_Y_X2, Y_X2_X1, X2_X1_Y };

struct merge {
	double gain;
	uint32_t x, y, split; /* chains; blocks in X1 */
	enum merge_type type;
};

struct link { /* two chains with jumps between them */
	uint32_t a, b;
	struct jumps jumps; /* none: one of the chains is gone */
	double near;        /* their weight as near jumps at distance 0 */
	double all, most;   /* further gain as fallthroughs: of all, of the best */
	double close;       /* bound of their weight as near jumps, given their positions */
	struct merge best;
	enum {
		BOUNDED, /* best is unknown; queued by exttsp_bound() */
		CLOSER,  /* unknown, too; queued by exttsp_closer(), which set close */
		EXACT,   /* best is known; queued by its gain unless that is 0 */
		STALE    /* changed, must be queued again */
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

/* A closer bound of the gain of a link's merges; 0 when there is no merge. */
double exttsp_closer(struct tsp *t, struct link *l);

/* Finds the best merge of a link that is CLOSER; best.x == best.y where there is no gain. */
void exttsp_evaluate(struct tsp *t, struct link *l);

#endif
