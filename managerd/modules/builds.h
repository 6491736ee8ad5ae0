/* The builds of a module that samples may name, and the originals they come from, in memory. */
#ifndef MORPH_MANAGERD_BUILDS_H
#define MORPH_MANAGERD_BUILDS_H

#include "common/uops.h"
#include "managerd/samples/map.h"
#include "managerd/samples/profile.h"
#include "managerd/samples/weight.h"

struct origin { /* functions of an original build and its layouts */
	struct build_id id;
	struct map_table table;
	uint32_t *func;      /* per function of the table: FUNC_… or index in the profile */
	struct uops uops;    /* of the present program, once it has a replay table */
	uint32_t *uops_func; /* managerd/samples/observe.h; NULL = no such table */
	uint32_t *closed;    /* likewise, nclosed of them, with the table */
	size_t nclosed;
	struct weights weights; /* with the table */
	bool uops_asked;        /* its table is being loaded */
	size_t uops_used;       /* of a large one for how many functions with samples; 0 = all */
};
enum { FUNC_UNKNOWN = UINT32_MAX, FUNC_GONE = UINT32_MAX - 1 };

struct build {
	struct build_id id;
	size_t origin; /* index in builds.origin */
	struct map map;
};

/* Function table of an original, and the map of one of its builds. */
struct joined {
	struct map_table table;
	struct map map;
};
/* Decodes both, which may be hostile, and joins them. Pure: for the pool, where they
 * take MODULE_LONG bytes together. -1 with why they are of no use, and nothing to free. */
int module_join(const void *table, size_t ntable, const void *map, size_t nmap, struct joined *j,
    struct err *e);
void joined_free(struct joined *j);

enum table_state { TABLE_UNKNOWN, TABLE_ABSENT, TABLE_THERE, TABLE_FAILED };

struct builds {
	VEC(struct origin) origin;
	VEC(struct build) build;
	enum table_state table, shapes; /* replay table and shapes of the present program */
};

/* The original of an id, or NULL. */
struct origin *builds_origin(const struct builds *b, const struct build_id *id);
/* Forgets its replay table. */
void origin_drop_table(struct origin *o);
/* The function of the present profile that the n-th function of an origin's table
 * counts in; NULL when the present program has it no more. */
struct profile_func *origin_func(struct origin *o, struct profile *now, size_t n);

#endif
