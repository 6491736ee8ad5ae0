/*
 * The code map: the code of a build in address order, as cells of whole 64-byte lines, with the
 * samples of an aged profile; where there are few blocks, these one by one. Pure.
 *
 * Profiles count by function key and block id, wherever that lies. Functions that are linked twice
 * have one key, and a layout may copy blocks: what was counted is shared out evenly among all
 * places of a block in the build.
 */
#ifndef MORPH_MANAGERD_CODEMAP_H
#define MORPH_MANAGERD_CODEMAP_H

#include "managerd/samples/map.h"
#include "managerd/samples/profile.h"

enum {
	CODE_LINE = 64,
	CODE_CELLS_MAX = 4096,
	CODE_BLOCKS_MAX = 2048, /* of which all is said */
	CODE_EDGES_MAX = 4096,
	CODE_PARTS_MAX = 64
};
#define CODE_NONE UINT32_MAX

struct code_query {
	uint32_t from, to; /* file offsets; to = 0: all code */
	uint32_t cells;    /* at most so many, 1 … CODE_CELLS_MAX */
	bool find;         /* where the functions of this key lie: */
	struct hash128 key;
};

/* Of a function with samples: its blocks count in heat[heat], heat[heat + 1], … */
struct code_func {
	uint32_t slot, nblock, heat;
};

/* All that code_make() reads, its own copies: it may run in another thread. */
struct code_input {
	struct map_range *range;
	size_t nrange;
	uint32_t nslot;
	VEC(struct code_func) func;
	VEC(double) heat;           /* as of now */
	VEC(struct code_func) find; /* functions of the key that is looked for */
};

/* The map is copied as it is; functions are added by code_input_add(). */
void code_input_map(struct code_input *in, const struct map *m, uint32_t nslot);
/* The n-th function of the table counts in f, which may be NULL. *heat is of f: 0 before the first
 * of its functions is added. */
void code_input_add(struct code_input *in, const struct map_func *t, const struct profile_func *f,
    struct decay at, uint32_t *heat);
void code_input_free(struct code_input *in);

struct code_cell {
	uint32_t bytes;          /* of blocks */
	uint32_t slot, function; /* of its block with most samples here; CODE_NONE = no samples */
	double samples;
};

struct code_block {
	uint32_t offset, size, slot;
	uint32_t function, block;
	double samples;
};

struct code_edge { /* of the resolved outcomes of block's branch, n went to `to` */
	uint32_t function, block, to;
	double n;
};

struct code_part {
	uint32_t from, to;
};

struct code {
	uint64_t begin, end; /* of all code, whole lines */
	uint64_t from, to;   /* of the cells, likewise */
	uint64_t cell;       /* bytes of one */
	double samples;      /* of all code */
	double within;       /* from … to */
	size_t nblock;       /* from … to */
	VEC(struct code_cell) cell_at;
	VEC(struct code_block)
	block;                      /* all of them, or none: there are more than CODE_BLOCKS_MAX */
	VEC(struct code_part) part; /* where the functions that were looked for lie */
	/* code_name(): */
	VEC(uint32_t) function; /* indices in the table */
	VEC(struct code_edge) edge;
};

void code_make(const struct code_input *in, const struct code_query *q, struct code *c);
/* Which functions of the table all slots are of. */
void code_name(struct code *c, const struct map_table *t);
/* The branch outcomes of the listed blocks of function[i], which counts in f, as of now. */
void code_add_edges(struct code *c, uint32_t i, const struct profile_func *f, struct decay at);
void code_free(struct code *c);

#endif
