/*
 * Kept builds: STATE/builds/KEY/BUILD-ID, where KEY names the module's path
 * (swap_key). A kept build is the module's old file itself (a hard link) or,
 * on another file system, a copy with all its attributes.
 */
#ifndef MORPH_PARENT_BUILDS_H
#define MORPH_PARENT_BUILDS_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "managerd/parent/swap/swap.h"

#include <sys/stat.h>

/* STATE/builds/KEY/BUILD-ID; to free. */
char *builds_path(const char *state, const char *module, const struct build_id *id);
/* Is there one? */
bool builds_have(const char *state, const char *module, const struct build_id *id);
/* Could the file be linked rather than copied? (same file system) */
bool builds_can_link(const char *state, const struct stat *st);
/* Keeps the open file (its status st, already checked), synced. Half is
 * called when half of a copy is written, or before a link. */
int builds_keep(const char *state, const char *module, const struct build_id *id, int fd,
    const struct stat *st, void (*half)(void), struct err *e);
/* Forgets one (absent is fine), and the module's folder with the last. */
int builds_drop(const char *state, const char *module, const struct build_id *id, struct err *e);
/* Removes half-made copies of a module. */
int builds_sweep(const char *state, const char *module, struct err *e);
/* Drops the oldest until at most keep are left, never `origin`. */
int builds_prune(const char *state, const char *module, const struct build_id *origin, size_t keep,
    struct err *e);

#endif
