/*
 * What /proc tells about a process. The root of the tree is a parameter so
 * that tests can bring their own. Every answer may be out of date at once:
 * processes end and exec while they are read.
 */
#ifndef MORPH_PROCFS_H
#define MORPH_PROCFS_H

#include "monitor-client/event.h"

#include <stddef.h>

/* Calls fn for each executable mapping of a process (or thread) in address
 * order; path is "" for anonymous memory. Returns 0, or -1 when its maps
 * cannot be read (gone, or not ours). */
int procfs_maps(
    const char *proc, uint32_t pid, void (*fn)(const struct event_map *, void *), void *arg);
/* The real user of a process. 0, or -1. */
int procfs_uid(const char *proc, uint32_t pid, uint32_t *uid);
/* Calls fn for every process. 0, or -1 when the tree cannot be read. */
int procfs_pids(const char *proc, void (*fn)(uint32_t pid, void *), void *arg);
/*
 * Opens the file behind a mapping for reading: through map_files, else by its
 * path under the process's root, else, the process being gone, by its path in
 * ours; the latter two only where the inode is the mapping's. Regular files
 * alone. Returns a descriptor, or -1 with errno ENOENT where it will not be had
 * later either, EAGAIN where another process of the file might do.
 */
int procfs_open(const char *proc, uint32_t pid, const struct event_map *m);

#endif
