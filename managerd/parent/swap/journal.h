/*
 * The journal of swaps: STATE/journal/KEY, one file per module that has a swap
 * under way, written before the first change and removed after the last.
 *
 * Text, a line per record, "name value", in this order. Each change publishes it
 * again as a whole.
 *
 *	morph-swap 2
 *	module PATH        bytes outside 0x21…0x7e and '%' as %XX
 *	kind swap|rollback
 *	from HEX           build-ids
 *	to HEX
 *	origin HEX|-
 *	keep N             kept builds at most
 *	old INODE          of the module, …
 *	old-size N         … and what it holds: bytes,
 *	old-content HEX    BLAKE2b-256
 *	stage NAME         staging name in the module's folder, escaped
 *	fresh 0|1          1: this swap makes the kept copy of `from`
 *	new-size N         with the next two: what the new build holds
 *	new-content HEX
 *	ready INODE        the staged file is complete
 *	swapped 1          the module is the new build
 */
#ifndef MORPH_PARENT_JOURNAL_H
#define MORPH_PARENT_JOURNAL_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/mem.h"
#include "managerd/parent/swap/content.h"

#include <stdbool.h>
#include <stdint.h>

struct journal {
	char *module, *stage; /* owned */
	bool rollback, fresh;
	struct build_id from, to, origin;
	uint64_t keep, old_ino, old_size, new_size;
	struct content old_content, new_content;
	uint64_t new_ino; /* 0 = not ready yet */
	bool swapped;
};

/* Creates the entry; fails when the module has one. */
int journal_begin(const char *state, const struct journal *j, struct err *e);
/* Of the staged file: inode, bytes, content. */
int journal_ready(const char *state, struct journal *j, uint64_t ino, uint64_t size,
    const struct content *c, struct err *e);
int journal_swapped(const char *state, struct journal *j, struct err *e);
/* Removes the entry of a module, synced. Absent is fine. */
int journal_end(const char *state, const char *module, struct err *e);

/* 1 found, 0 none, -1 error. */
int journal_load(const char *state, const char *module, struct journal *j, struct err *e);
/* Calls fn for every entry that can be read; removes what a crash while
 * writing one left behind. -1 when an entry could not be read. */
int journal_each(const char *state, int (*fn)(const char *state, struct journal *j, void *arg),
    void *arg, struct err *e);
void journal_free(struct journal *j);

/* A path as one word, and back: 0, or -1 unless it is an absolute one; to free. */
void journal_put_path(struct buf *out, const char *path);
int journal_get_path(const char *s, char **out);

/* ---- the text, for tests and fuzzing ---- */
void journal_encode(const struct journal *j, struct buf *out);
int journal_decode(const char *text, size_t n, struct journal *j, struct err *e);

/* ---- settle.c ---- */

/* Makes the module what it is to be after an unfinished swap, and removes what else is
 * left. Returns enum swap_outcome.end, or -1. The journal entry stays. */
int settle(const char *state, const struct journal *j, struct err *e);

#endif
