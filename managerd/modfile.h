/*
 * A module as swap sees it: opened, judged, and told apart from other builds.
 */
#ifndef MORPH_MANAGERD_MODFILE_H
#define MORPH_MANAGERD_MODFILE_H

#include "managerd/swap.h"
#include "managerd/trust.h"

/*
 * Opens a module for swapping and refuses what must not be swapped: not
 * trusted (managerd/trust.h), not ours (unless we are root), setuid, setgid,
 * file capabilities, IMA/EVM signature, hard-linked, immutable, append-only
 * or verity, no executable or shared library with a build-id. The module is
 * named by its path without symbolic links.
 */
enum swap_status modfile_open(const char *path, struct trusted *t, struct build_id *id,
    struct err *e);

/* The build-id of an open ELF executable or library; path is for messages. */
int modfile_build_id(int fd, const char *path, struct build_id *id, struct err *e);

#endif
