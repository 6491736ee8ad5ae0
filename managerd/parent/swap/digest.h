/*
 * What swaps put in a module's place, so that a change by hand is noticed, and
 * whose original is kept: STATE/digests/KEY (KEY: swap_key). A line per build, newest
 * last:
 *
 *	module PATH             as in the journal
 *	origin BUILD-ID         of the original build, hex
 *	BUILD-ID SIZE HASH      hex; bytes; BLAKE2b-256 of the whole file, hex
 */
#ifndef MORPH_PARENT_DIGEST_H
#define MORPH_PARENT_DIGEST_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "managerd/parent/swap/content.h"

/* Notes what becomes build `id` of the module; synced. Of those before it that have the
 * same original, the newest `keep` stay, and all that are kept: these may come back. */
int digest_note(const char *state, const char *module, const struct build_id *id,
    const struct build_id *origin, uint64_t size, const struct content *c, unsigned keep,
    struct err *e);
/* The module of a KEY, to free, and its original; -1 where none was noted. */
int digest_whose(
    const char *state, const char *key, char **module, struct build_id *origin, struct err *e);
/* 1 when the open file of this size is one of the noted builds: *id; 0 when it is none
 * of them; -1 when it cannot be read. */
int digest_match(const char *state, const char *module, int fd, uint64_t size, struct build_id *id,
    struct err *e);
/* 1 when what a swap put there as this build was noted, 0 when nothing was (or it
 * cannot be read). */
int digest_find(const char *state, const char *module, const struct build_id *id, uint64_t *size,
    struct content *c);
/* 0 when the open file of this size, which has this build-id, is the one that was
 * noted, or none was; -1 when it was changed since, or cannot be read. Reads all
 * of it, but nothing when the size tells already. */
int digest_check(const char *state, const char *module, const struct build_id *id, int fd,
    uint64_t size, struct err *e);

/* Says so; -1. */
int digest_changed(const char *module, struct err *e);

#endif
