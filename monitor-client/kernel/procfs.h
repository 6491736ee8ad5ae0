/*
 * What /proc tells about a process. The root of the tree is a parameter so
 * that tests can bring their own. Every answer may be out of date at once:
 * processes end and exec while they are read.
 */
#ifndef MORPH_PROCFS_H
#define MORPH_PROCFS_H

#include "monitor-client/kernel/event.h"

#include <stdbool.h>
#include <stddef.h>

/* Opens PROC/PID/NAME, with O_CLOEXEC; -1 with errno. */
int procfs_open(const char *proc, uint32_t pid, const char *name, int flags);
/* Reads an open /proc/PID/maps, which it closes: calls fn for each executable
 * mapping in address order; path is "" for anonymous memory, and a newline in
 * it stays \012, as the kernel wrote it. */
int procfs_maps(int fd, void (*fn)(const struct event_map *, void *), void *arg);
/* Zeros where they may not be read. */
struct event_ns procfs_ns(const char *proc, uint32_t pid);
/* The user of a process; of one that runs with the rights of another (setuid), that one. 0, or
 * -1. */
int procfs_uid(const char *proc, uint32_t pid, uint32_t *uid);
/* The name of a task, of at most n - 1 bytes; "" when it cannot be had. */
void procfs_comm(const char *proc, uint32_t pid, char *comm, size_t n);
/* What names this run of the kernel: its random boot_id, 16 bytes; n = 0: it cannot be had. */
struct build_id procfs_boot(const char *proc);
/* Calls fn for every process. 0, or -1 when the tree cannot be read. */
int procfs_pids(const char *proc, void (*fn)(uint32_t pid, void *), void *arg);
/* Bytes of a mapping's path without " (deleted)" at its end. */
size_t procfs_name_length(const char *path);
/*
 * The file of a mapping as a descriptor, perhaps O_PATH, or -1; m gets the range
 * as it is now and, from Linux 6.11 on, the build-id. It comes from map_files; else
 * (not when strict) by its path under the process's root, as procfs_below(). *gone:
 * the process is, or has called another program since, so that another one of the
 * file might do.
 */
int procfs_mapped(const char *proc, uint32_t pid, struct event_map *m, bool strict, bool *gone);
/*
 * The regular file at the path of a mapping, below dir, which it closes, for reading; -1: it is
 * not that of the mapping. Device and inode must be what the kernel said there (stat() shows them
 * differently on btrfs and overlayfs, a mapping of ours does not), and so must the inode's
 * generation where both the mapping and the file system tell it: inodes are given again.
 */
int procfs_below(int dir, const struct event_map *m);
/* Opens a descriptor's file for reading; -1 with errno. */
int procfs_reopen(int fd);

#endif
