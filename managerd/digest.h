/*
 * What swaps put in a module's place, so that a change by hand is noticed:
 * STATE/digests/KEY (KEY: swap_key), a line per build, newest last:
 *
 *	BUILD-ID HASH      hex; XXH3-128 of the whole file
 */
#ifndef MORPH_MANAGERD_DIGEST_H
#define MORPH_MANAGERD_DIGEST_H

#include "common/elf.h"
#include "common/err.h"

/* Notes that the open file becomes build `id` of the module; synced. Of those
 * before it, the newest `keep` stay. */
int digest_note(const char *state, const char *module, const struct build_id *id, int fd,
    unsigned keep, struct err *e);
/* 0 when the open file, which has this build-id, is the one that was noted, or
 * none was; -1 when it was changed since, or cannot be read. Reads all of it. */
int digest_check(
    const char *state, const char *module, const struct build_id *id, int fd, struct err *e);

#endif
