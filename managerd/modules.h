/*
 * The modules the manager knows, with what it keeps of them in memory: the
 * row of the store, the aged profile, and per build the map from file offsets
 * to blocks. Rows are always there; profiles and maps come when they are
 * needed and go, least recently used first, above MODULES_MEMORY.
 *
 * Everything that changes writes to the store as well, within the caller's
 * transaction; after a rollback of that, modules_reload().
 */
#ifndef MORPH_MANAGERD_MODULES_H
#define MORPH_MANAGERD_MODULES_H

#include "common/uops.h"
#include "managerd/conf.h"
#include "managerd/discover.h"
#include "managerd/map.h"
#include "managerd/merge.h"
#include "managerd/store.h"
#include "managerd/worth.h"

#include <stdbool.h>

enum {
	MODULES_MEMORY = 256 << 20,
	MODULES_MAX = 4096,   /* rows; of files without artifact the longest silent ones go first */
	PAST_BUILDS_KEPT = 16 /* maps of builds that may still run */
};

struct origin { /* functions of an original build and its layouts */
	struct build_id id;
	struct map_table table;
	uint64_t *hit;  /* per slot, all 0 between batches */
	uint32_t *func; /* per function of the table: FUNC_… or index in the profile */
	struct uops uops;    /* of the present program, once it has a witness table */
	uint32_t *uops_func; /* managerd/observe.h; NULL = no such table */
	struct worth worth;  /* with the table */
};
enum { FUNC_UNKNOWN = UINT32_MAX, FUNC_GONE = UINT32_MAX - 1 };

struct build {
	struct build_id id;
	size_t origin; /* index in module.origin */
	struct map map;
};

enum table_state { TABLE_UNKNOWN, TABLE_ABSENT, TABLE_THERE, TABLE_FAILED };

struct module {
	struct store_module row; /* its strings are the module's own, on the heap */
	bool loaded;             /* the profiles below are there */
	struct profile now;      /* exactly the functions of the current program */
	struct profile layout;   /* that the present layout was made from; empty = unknown */
	VEC(struct origin) origin;
	VEC(struct build) build;
	size_t bytes;            /* of all that is loaded */
	uint64_t used;           /* clock of the last use */
	struct file_stamp stamp; /* of the file at row.path when it was last looked at */
	bool stamped;
	bool touched; /* by batches that are not committed */
	enum table_state table; /* witness table of the present program */
	/* of the cycle */
	int64_t decided_ms;    /* last decision, 0 = none yet */
	int64_t not_before_ms; /* no work for it until then */
	int rung;              /* where the last decision stopped, RUNG_NONE = it did not */
	bool scored;           /* row.gain holds for the present layout and usage … */
	uint64_t scored_at;    /* … until row.mapped has grown by decide.min_samples */
	bool whole_known;
	char *changed;         /* why it is not what was swapped in, NULL = it is */
	bool package_known;    /* what follows was asked for */
	char *package;         /* Debian package it belongs to, NULL = none */
	char *package_unknown; /* why that could not be told, NULL = it was */
};

struct modules {
	struct store *store;
	const struct conf *conf;
	char *tables; /* folder of witness tables (managerd/tables.h), owned; NULL = none */
	VEC(struct module *) module;
	struct htab by_path; /* index + 1 */
	struct htab refused; /* path, NUL, build-id -> time in s when to look again */
	size_t bytes;
	uint64_t clock;
};

/* Reads all rows. */
int modules_open(struct modules *ms, struct store *s, const struct conf *c, struct err *e);
void modules_close(struct modules *ms);
/* Forgets what is in memory and reads the rows again. Pointers die. */
int modules_reload(struct modules *ms, struct err *e);

struct module *modules_get(const struct modules *ms, uint64_t id);
struct module *modules_of_path(const struct modules *ms, const char *path);

enum found {
	FOUND_ERROR = -1,
	FOUND_MAPPED, /* *mod and *build are set, and the module is loaded */
	FOUND_STALE,  /* *mod is set; of this build there is no map any more */
	FOUND_OUTSIDE /* no artifact; *mod is set when the reason is kept with it */
};
/* The build that samples name; learns new ones. Within a transaction. */
enum found modules_find(struct modules *ms, const char *path, const struct build_id *id,
    int64_t now_ms, struct module **mod, struct build **build, struct err *e);

/*
 * Looks at the file again, and learns what it has become. change: what a
 * new build at the path is (EVENT_REPLACED, or what the manager did itself
 * and has recorded: then EVENT_KINDS, and no event is written). Within a
 * transaction.
 */
int module_examine(
    struct modules *ms, struct module *m, int64_t now_ms, enum event_kind change, struct err *e);
/* Whether the file is still the one that was looked at last. */
bool module_unchanged(struct module *m);

/* Loads the profiles if they are not there. */
int module_load(struct modules *ms, struct module *m, struct err *e);
/* Writes row and dirty functions. */
int module_save(struct modules *ms, struct module *m, struct err *e);
/* The present profile becomes the one its layout was made from (snapshot:
 * a profile that was copied before, which this takes over; NULL = now). */
int module_set_layout(
    struct modules *ms, struct module *m, struct profile *snapshot, struct err *e);
int module_clear_layout(struct modules *ms, struct module *m, struct err *e);
/* The function of the profile that the n-th function of an origin's table
 * counts in; NULL when the current program has it no more. */
struct profile_func *module_func(struct module *m, struct origin *o, size_t n);
/* Whether the present program has a witness table. */
bool module_has_table(struct modules *ms, struct module *m);
/* Takes the one a job made, in the file at path. */
int module_take_table(struct modules *ms, struct module *m, const char *path, struct err *e);
/* Removes tables of programs that are not there any more. */
void modules_sweep_tables(struct modules *ms);
/* It is to be asked for again. */
void module_forget_package(struct module *m);
/* Replaces one of the row's own strings. */
void module_text(const char **field, const char *text);
/* Frees loaded parts until the bound holds; never those of keep. */
void modules_trim(struct modules *ms, const struct module *keep);

#endif
