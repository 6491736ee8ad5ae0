/*
 * Putting a finished build in a module's place, and taking it back. At every
 * instant, also across SIGKILL or a power cut, the module's path names the
 * old build or the new one, whole.
 *
 * No path is resolved here: the module comes opened and judged, the new build as
 * a descriptor. No byte of either is understood, only copied and hashed. Takes
 * milliseconds to seconds (a copy of the module, some fsyncs), so it runs in a
 * process of its own (managerd/parent/child.h). Under STATE it uses
 *
 *	builds/KEY/BUILD-ID    kept builds; KEY = swap_key() of the module's path
 *	digests/KEY            what was put in the module's place (managerd/parent/swap/digest.h)
 *	journal/KEY            the swap under way (managerd/parent/swap/journal.h)
 *
 * A swap is: swap_run(), then the manager's own record (its store), then
 * swap_done(). After a crash swap_recover() settles each unfinished swap.
 *
 * The last step is rename(2) over the module's name, as dpkg does it: programs
 * that run are then named "NAME (deleted)" in /proc/PID/exe. Who replaces the file
 * between the last inspection and that call, microseconds, loses; package managers
 * are kept out of it by dpkg's own lock.
 */
#ifndef MORPH_PARENT_SWAP_H
#define MORPH_PARENT_SWAP_H

#include "managerd/parent/swap/content.h"
#include "managerd/parent/trust/trust.h"
#include "managerd/priv/priv.h"

struct swap_order {
	const struct trusted *module; /* as it must be still when the new build goes in */
	int source;                   /* the bytes of the new build, a regular file */
	bool rollback;
	struct build_id from, to; /* of the module and of the source */
	struct build_id origin;   /* never dropped from the kept builds; n = 0: none such */
	bool perf_links;          /* it may have names in perf's cache, which stay the old build */
	unsigned keep;            /* kept builds of this module at most, >= 1 */
};

/* With any status except SWAP_OK the module is as it was, nothing is left behind, and e
 * says why. */
enum swap_status swap_run(const char *state, const struct swap_order *o, struct err *e);
/* Opens a kept build of the module, or -1: also when it belongs to another owner,
 * of whom the path once was. */
int swap_open_kept(
    const char *state, const struct trusted *module, const struct build_id *to, struct err *e);
/* Forgets the journal entry and drops kept builds beyond the bound, and that of
 * the build the module now is. Absent is fine. */
int swap_done(const char *state, const char *module, struct err *e);

/*
 * Finishes or undoes every swap under way (module NULL), or that of one module,
 * and calls fn for each. The journal entry stays until swap_done(), so a crash in
 * between repeats it. Returns -1 when an entry could not be settled (the others
 * are, and fn was called for them).
 */
int swap_recover(const char *state, void (*fn)(const struct swap_outcome *o, void *arg), void *arg,
    struct err *e);
int swap_recover_one(const char *state, const char *module, struct err *e);

/* ---- restore.c ---- */

enum restored {
	RESTORE_DONE,     /* the original is in place again */
	RESTORE_NEEDLESS, /* it was already */
	RESTORE_LEFT,     /* gone, or a file that is no layout: not touched */
	RESTORE_FAILED
};
/* module: NULL where it is not known whose the kept builds are. */
typedef void restore_fn(const char *module, enum restored end, const char *why, void *arg);
/*
 * Puts the original back of each module that has kept builds, after settling swaps that
 * were interrupted, and calls fn for each. The journal entries stay for the next manager,
 * as after a crash. -1 when not all could be settled, or the folder not be read.
 */
int swap_restore(const char *state, restore_fn *fn, void *arg, struct err *e);

/* The kept builds of a module, newest first, into an arena. */
size_t swap_kept(
    const char *state, const char *module, struct arena *a, const struct swap_kept **out);

/* The name of a module's folder or file in builds/, digests/, journal/, holds/:
 * the content hash of its path, 64 hex digits. */
const char *swap_key(const char *module, char out[CONTENT_HEX]);
/* STATE/FOLDER/KEY of a module; to free. */
char *swap_path(const char *state, const char *folder, const char *module);

/*
 * Fault points, for tests: with MORPH_FAULT=swap:N in the environment the
 * parent and this process are killed (SIGKILL) right after step N, N = 1 …
 * SWAP_STEPS; with recover:N after step N of recovery's work, N = 1 …
 * RECOVER_STEPS.
 */
enum swap_step {
	SWAP_STEP_BEGUN = 1,  /* journal entry written */
	SWAP_STEP_KEPT_HALF,  /* the kept copy is half there (link: before it) */
	SWAP_STEP_KEPT,       /* the old build is kept */
	SWAP_STEP_STAGE_HALF, /* half of the new bytes are in the module's folder */
	SWAP_STEP_STAGED,     /* all, with attributes, synced */
	SWAP_STEP_READY,      /* journal: staged */
	SWAP_STEP_RENAMED,    /* the new build is in place */
	SWAP_STEP_SYNCED,     /* directory synced */
	SWAP_STEP_SWAPPED,    /* journal: swapped; swap_run is about to return */
	SWAP_STEP_PRUNED,     /* in swap_done: surplus builds are gone */
	SWAP_STEP_DONE,       /* in swap_done: the journal entry is gone */
	SWAP_STEPS = SWAP_STEP_DONE
};
enum recover_step {
	RECOVER_STEP_MODULE = 1, /* the module is the one it will be */
	RECOVER_STEP_STAGE,      /* the staging name is gone */
	RECOVER_STEP_KEPT,       /* a kept build that is no longer needed is gone */
	RECOVER_STEPS = RECOVER_STEP_KEPT
};

#endif
