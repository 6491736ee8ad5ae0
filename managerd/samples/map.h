/*
 * From file offsets to blocks: a sample counts for the block that holds
 * its address (SOSP'97 figure 2). Pure.
 *
 * A map is made once per build. Blocks become slots, dense numbers over all
 * functions of the artifact, so that a batch is one merge walk of two sorted
 * lists and an addition per sample.
 */
#ifndef MORPH_MANAGERD_MAP_H
#define MORPH_MANAGERD_MAP_H

#include "common/elf/blockmap.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/wire/wire.h"

#include <stdbool.h>

struct map_func {
	struct hash128 key;
	uint64_t tu;  /* hash_short of the TU's text */
	uint32_t ord; /* in the TU */
	uint32_t nblock;
	uint32_t slot;                       /* of block 0 */
	const char *name, *tu_name, *opaque; /* opaque: NULL = understood */
};

/* The functions of an original build and all layouts of it. */
struct map_table {
	VEC(struct map_func) func; /* by (tu, ord), each once */
	uint32_t nslot;
	struct arena mem; /* owns the strings */
};

enum { MAP_NAME_MAX = 64 << 10 }; /* bytes of one string: a name is in each line of a profile */

/* Adds a function, in any order; strings are copied. */
void map_table_add(struct map_table *t, const struct map_func *f);
/* Sorts, drops doubles and numbers the slots. -1 beyond 2^31 blocks and MAP_NAME_MAX. */
int map_table_end(struct map_table *t, struct err *e);
/* Those of an artifact, added to an empty table. table.c. */
struct artifact;
int map_table_of(struct artifact *a, struct map_table *t, struct err *e);
void map_table_encode(const struct map_table *t, struct buf *out);
int map_table_decode(const void *p, size_t n, struct map_table *t, struct err *e);
void map_table_free(struct map_table *t);

/* Of file offsets, [start, end), ascending, disjoint. Small: a program may have
 * millions; its code lies in the first 4 GiB of the file. */
struct map_range {
	uint32_t start, end, slot;
};

struct map {
	VEC(struct map_range) range;
	/* Of each piece of 1 << shift bytes from range[0].start on the first range
	 * that ends after its first byte; and one beyond: map_index(). */
	VEC(uint32_t) first;
	unsigned shift;
	size_t unknown; /* blocks whose function the table does not have */
};

/* Joins a block map with the table of its original. Empty blocks have no
 * range. */
int map_make(const struct blockmap *b, const struct map_table *t, struct map *m, struct err *e);
/* What map_at() looks up by, made by map_make() of all ranges. */
void map_index(struct map *m);
void map_free(struct map *m);

/*
 * Appends the blocks of n samples (ascending offsets), a slot once for each of its ranges.
 * Returns the samples outside all blocks.
 */
struct map_hit {
	uint32_t slot;
	uint64_t samples;
};
struct map_hits {
	VEC(struct map_hit) v;
};
uint64_t map_samples(
    const struct map *m, const struct wire_sample *s, size_t n, struct map_hits *hits);
/* The range that holds an offset, or NULL. A search in one piece. */
const struct map_range *map_at(const struct map *m, uint64_t offset);
/* The function of a slot; *block gets the block id. Binary search. */
const struct map_func *map_slot(const struct map_table *t, uint32_t slot, uint32_t *block);

/* Bytes of memory both hold. */
size_t map_size(const struct map *m, const struct map_table *t);

#endif
