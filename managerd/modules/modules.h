/*
 * The modules the manager knows, with what it keeps of them in memory: the
 * row of the store, the aged profile, and per build the map from file offsets
 * to blocks. Rows are always there; profiles and maps come when they are
 * needed and go, least recently used first, above MODULES_MEMORY.
 *
 * What lies at a module's path is found out by inspections of the privileged parent
 * (managerd/priv/inspections.h); modules_learn() is the one place that applies what they say.
 *
 * Everything that changes writes to the store as well, within the caller's
 * transaction; after a rollback of that, modules_reload().
 */
#ifndef MORPH_MANAGERD_MODULES_H
#define MORPH_MANAGERD_MODULES_H

#include "common/editanswer/editanswer.h"
#include "managerd/conf/conf.h"
#include "managerd/decide/schedule.h"
#include "managerd/modules/builds.h"
#include "managerd/priv/priv.h"
#include "managerd/store/store.h"

#include <stdbool.h>
#include <uv.h>

enum {
	MODULES_MEMORY = 256 << 20,
	MODULES_MAX = 4096, /* rows; beyond, the user who has most makes room */
	/* What one module may take. Decoded, a byte of a map or table is up to ten. */
	MODULE_BLOCKS_MAX = 4 << 20,
	MODULE_FUNCS_MAX = 1 << 19,
	MODULE_BYTES_MAX = 32 << 20,
	MODULES_LOADING = 8,     /* builds that take the pool, at once; of one user one */
	MODULE_LONG = 256 << 10, /* bytes that take more than a few milliseconds to decode */
	PAST_BUILDS_KEPT = 16    /* maps of builds that may still run */
};

struct profiles {
	struct profile now;    /* exactly the functions of the current program */
	struct profile layout; /* that the present layout was made from; empty = unknown */
	/* Of the program that was there before, until functions that were changed have what they
	 * had (module_carry()); empty = nothing is to be carried over. */
	struct profile before;
};

struct module_memory {
	bool loaded;     /* its profiles are there */
	size_t bytes;    /* of all that is loaded */
	bool loading;    /* a build, in the pool */
	bool large;      /* its last one took MODULE_LONG bytes */
	uint64_t used;   /* clock of the last use */
	unsigned lifted; /* how often its functions became others of the same program */
	bool touched;    /* by batches that are not committed: it stays */
};

struct inspected_file { /* what the last inspection found out about the file at row.path */
	struct priv_stamp stamp;
	bool stamped;
	bool judged;   /* whether it may be swapped, or without an artifact lifted: */
	char *refused; /* why it must not be, NULL = it may be */
	bool observed; /* that is nothing but `legacy: observe` of the policy */
	/* uv_hrtime() at the end of the manager's own last swap or rollback of it; UINT64_MAX:
	 * one is under way. */
	uint64_t placed_ns;
};

struct module_list {                 /* the policy's list of functions that come first */
	uint64_t wanted;             /* hash of its names as of the last judgement, 0 = none */
	struct editanswer_list said; /* of it, by the editor; no names: not yet */
};

struct module {
	struct store_module row; /* its strings are the module's own, on the heap */
	struct profiles profile;
	struct builds builds;
	struct module_memory memory;
	struct inspected_file file;
	struct module_list list;
	struct schedule schedule; /* the cycle's */
};

struct modules {
	struct store *store;
	struct priv *priv;
	const struct conf *conf;
	struct {                           /* does what is long */
		uv_loop_t *loop;           /* NULL = it is done at once */
		void (*loaded)(void *arg); /* a FOUND_LOADING is over */
		void (*tabled)(void *arg); /* a module has its replay table now, or lost it */
		void *arg;                 /* of both */
	} pool;
	char *tables; /* folder of replay tables (managerd/replay/tables.h), owned; NULL = none */
	VEC(struct module *) module;
	struct htab by_path, by_id; /* index + 1 */
	struct htab unfit;   /* hash of path and build-id -> when to inspect it again, find.c */
	uint64_t policy_ns;  /* uv_hrtime() when the policy was last read again; 0 = it was not */
	struct htab crowded; /* uids of whom it was logged that they have too many modules */
	struct {             /* of all modules */
		size_t bytes;
		uint64_t clock;
		uint32_t loading[MODULES_LOADING]; /* owners of those that are loading */
		unsigned nloading;
	} memory;
	uint64_t
	    working; /* of this one's present owner something is being made: it stays; 0 = none */
};

/* Reads all rows. */
int modules_open(
    struct modules *ms, struct store *s, struct priv *p, const struct conf *c, struct err *e);
void modules_close(struct modules *ms);
/* Forgets what is in memory and reads the rows again. Pointers die. */
int modules_reload(struct modules *ms, struct err *e);

/* After the policy has changed: what was found out by the old one is to be found out again. */
void modules_judge_again(struct modules *ms);

struct module *modules_get(const struct modules *ms, uint64_t id);
struct module *modules_of_path(const struct modules *ms, const char *path);

enum found {
	FOUND_ERROR = -1,
	FOUND_MAPPED,  /* *mod and *build are set, and the module is loaded */
	FOUND_STALE,   /* *mod is set; of this build there is no map any more */
	FOUND_OUTSIDE, /* no artifact; *mod is set when the reason is kept with it */
	FOUND_LOADING  /* mapped, once there is room and the pool has loaded it: loaded() follows */
};
enum wanted { INSPECTION_NOT, INSPECTION_FULL, INSPECTION_SHALLOW };
/* The build that samples name. *inspection (may be NULL): whether only an inspection at the
 * file can tell more, and which. */
enum found modules_find(struct modules *ms, const char *path, const struct build_id *id,
    int64_t now_ms, struct module **mod, struct build **build, enum wanted *inspection,
    struct err *e);
/* A path as samples name it, as it is looked for: absolute, without what the
 * kernel appends; to free. NULL: not one of a module. */
char *module_path(const struct modules *ms, const char *path);

/*
 * What an inspection at a path said becomes what is known of it: a new module, a new
 * build of one, or the end of one. asked: the builds that samples named there;
 * those that it is not are not looked for again for a while. A module that
 * belongs to somebody else by now starts afresh. shallow: it was one without
 * reading (priv_inspect()). Its table and map come from an inspector that has read hostile
 * bytes: j is what module_join() made of them, and is emptied where it is of use, or NULL with
 * why it made nothing. Within a transaction.
 */
int modules_learn(struct modules *ms, const char *path, const struct build_id *asked, size_t nasked,
    bool shallow, const struct priv_inspected *r, struct joined *j, const char *why, int64_t now_ms,
    struct err *e);
/* Whether what it says of this path is known, so that there is nothing to join. */
bool modules_known(const struct modules *ms, const char *path, const struct priv_inspected *r);
/* Whether the file is still the one that was inspected last. */
bool module_unchanged(struct modules *ms, struct module *m);
/*
 * The manager has put a build of the module's origin in its place. map, n: its
 * block map, NULL = that of the store. Within a transaction.
 */
int module_place(struct modules *ms, struct module *m, const struct build_id *id, const void *map,
    size_t n, int64_t now_ms, struct err *e);
/* It is held until a person asks for a reoptimize. */
void module_hold(struct store_module *row, const char *why);

/* As of now, with the half-life of the policy. */
struct decay modules_decay(const struct modules *ms);
/* Loads the profiles if they are not there. */
int module_load(struct modules *ms, struct module *m, struct err *e);
/* Writes row and dirty functions. */
int module_save(struct modules *ms, struct module *m, struct err *e);
/* The present profile becomes the one its layout was made from (snapshot:
 * one that was copied before; NULL = now), with the list of this hash. */
int module_set_layout(struct modules *ms, struct module *m, const struct profile *snapshot,
    uint64_t list, struct err *e);
/* The row is the caller's to save. */
int module_clear_layout(struct modules *ms, struct module *m, struct err *e);
/* Whether the present program has a replay table. */
bool module_has_table(struct modules *ms, struct module *m);
/* Takes the one a job made; in the pool, so that it is there later. */
void module_take_table(struct modules *ms, struct module *m, struct blob *table);
/* Of a large table more is loaded where more functions have samples by now. */
void module_more_table(struct modules *ms, struct module *m, struct origin *o);
/* Whether there are the shapes of the present program. */
bool module_has_shapes(struct modules *ms, struct module *m);
/* Takes the ones a job made, or notes that it failed (NULL). */
void module_take_shapes(struct modules *ms, struct module *m, struct blob *shapes);
/* Those of the program that profile.before is of: open, -1 = there are none any more. */
int module_shapes_before(const struct modules *ms, const struct module *m);
/*
 * A job of the editor has made of profile.before what text says, n bytes, which may be hostile
 * (remap_carry()); NULL: it could not. It becomes a part of the profile, and before is empty. Where
 * it does not, and the present profile is skewed by what it lacks, it is forgotten. Within a
 * transaction.
 */
int module_carry(struct modules *ms, struct module *m, const void *text, size_t n, struct err *e);
/* Removes tables of programs that are not there any more. */
void modules_sweep_tables(struct modules *ms);
/* Where the store has samples of a module that has no artifact: offsets in its file, a line each.
 */
int module_sampled(
    struct modules *ms, const struct module *m, int64_t now_ms, struct buf *out, struct err *e);
/* Likewise for a lifted module, which is loaded: of functions that were lifted or have samples by
 * now. 1: its map is being loaded. */
int module_lifted(struct modules *ms, struct module *m, struct buf *out, struct err *e);
/* The share of a loaded module's samples that are in functions which were not lifted because they
 * had none then; 0 = it was not lifted. */
double module_outgrown(const struct module *m, struct decay at);
/* Replaces one of the row's own strings. */
void module_text(const char **field, const char *text);
/* Frees loaded parts until the bound holds; never those of keep, nor what batches touched. */
void modules_trim(struct modules *ms, const struct module *keep);

#endif
