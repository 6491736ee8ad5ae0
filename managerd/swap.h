/*
 * Putting a finished build in a module's place, and taking it back. At every
 * instant, also across SIGKILL or a power cut, the module's path names the
 * old build or the new one, whole.
 *
 * Synchronous: takes milliseconds (a copy of the module and some fsyncs).
 * Managers call it through managerd/priv.h; in system mode it runs in the
 * privileged parent. Under STATE it uses
 *
 *	builds/KEY/BUILD-ID    kept builds; KEY = swap_key() of the module's path
 *	digests/KEY            what was put in the module's place (managerd/digest.h)
 *	journal/KEY            the swap under way (managerd/journal.h)
 *
 * A swap is: swap_commit() or swap_rollback(), then the caller's own record
 * (the store), then swap_done(). After a crash swap_recover() tells the
 * caller how each unfinished swap ended, so that its record can be made good.
 */
#ifndef MORPH_MANAGERD_SWAP_H
#define MORPH_MANAGERD_SWAP_H

#include "common/elf.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <sys/types.h>

enum swap_status {
	SWAP_OK = 0,
	SWAP_REFUSED, /* this module must not be swapped (setuid, hard link, …): no use trying again */
	SWAP_CHANGED, /* the module on disk is not the build it was thought to be (upgrade,
			 rebuild), or a layout that was changed by hand (not for a rollback) */
	SWAP_FAILED,  /* could not (space, read-only file system, …): try later */
};
/* In all but SWAP_OK the module is as it was, nothing is left behind, and e
 * says why. */

struct swap_order {
	const char *module;     /* absolute path */
	const char *staged;     /* the finished build, any file system; stays where it is.
				   Not used by rollback, which takes the kept build `to` */
	struct build_id from;   /* what the module must be now */
	struct build_id to;     /* what it is to become; staged must have it */
	struct build_id origin; /* never dropped from the kept builds; n = 0: none such */
	unsigned keep;          /* kept builds of this module at most, >= 1 */
	uid_t staged_by;        /* who may own the staged file besides the module's owner and
				   root; (uid_t)-1 = nobody */
};

/* May the module at this path be swapped by this process at all? SWAP_OK or
 * SWAP_REFUSED, SWAP_FAILED. Changes nothing. */
enum swap_status swap_check(const char *module, struct err *e);

/* Is the file at the module's path, which is build `id`, still what a swap put
 * there? 0, also when no swap did or it cannot be opened, else -1 and what to
 * do. Reads all of it. swap_commit() finds out for itself. */
int swap_unchanged(
    const char *state, const char *module, const struct build_id *id, struct err *e);

enum swap_status swap_commit(const char *state, const struct swap_order *o, struct err *e);
/* The same with a kept build. */
enum swap_status swap_rollback(const char *state, const struct swap_order *o, struct err *e);
/* Forgets the journal entry and drops kept builds beyond the bound, and that of
 * the build the module now is. What is left: swap_kept(). Absent is fine. */
int swap_done(const char *state, const char *module, struct err *e);

/* How an unfinished swap ended. Strings live as long as the call. */
struct swap_outcome {
	const char *module;
	struct build_id from, to;
	bool rollback;
	enum { SWAP_FINISHED = 1, SWAP_UNDONE, SWAP_REPLACED } end;
	/* FINISHED: the module is `to`. UNDONE: it is `from`. REPLACED: it is
	 * neither (or gone): somebody else put another file there meanwhile. */
};
/*
 * At start, before anything else: finishes or undoes every swap under way,
 * and calls fn for each. The journal entry stays until the caller's
 * swap_done(), so a crash in between repeats it. Returns -1 when an entry
 * could not be settled (the others are, and fn was called for them).
 */
int swap_recover(const char *state,
    void (*fn)(const struct swap_outcome *o, void *arg), void *arg, struct err *e);

struct swap_kept {
	struct build_id id;
	uint64_t bytes;
	int64_t since; /* when it was kept, Unix time in ms */
};
/* The kept builds of a module, newest first, into an arena. */
size_t swap_kept(const char *state, const char *module, struct arena *a,
    const struct swap_kept **out);

/* The name of the module's folder in builds/: 32 hex digits. */
const char *swap_key(const char *module, char out[HASH_HEX]);

/*
 * Fault points, for tests: with MORPH_FAULT=swap:N in the environment the
 * process kills itself (SIGKILL) right after step N, N = 1 … SWAP_STEPS;
 * with recover:N after step N of swap_recover's work, N = 1 … RECOVER_STEPS.
 */
enum swap_step {
	SWAP_STEP_BEGUN = 1,  /* journal entry written */
	SWAP_STEP_KEPT_HALF,  /* the kept copy is half there (link: before it) */
	SWAP_STEP_KEPT,       /* the old build is kept */
	SWAP_STEP_STAGE_HALF, /* half of the new bytes are in the module's folder */
	SWAP_STEP_STAGED,     /* all, with attributes, synced */
	SWAP_STEP_READY,      /* journal: staged */
	SWAP_STEP_EXCHANGED,  /* the new build is in place */
	SWAP_STEP_SETTLED,    /* the old one's second name is gone */
	SWAP_STEP_SYNCED,     /* directory synced */
	SWAP_STEP_SWAPPED,    /* journal: swapped; swap_commit is about to return */
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
