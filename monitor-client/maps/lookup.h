/*
 * What only a process with rights may ask /proc about others, asked of a child
 * that keeps them (the reader, rights.h) over a socket pair: three questions of
 * numbers and a path, answers of fixed size.
 *
 *   maps of a process   an open descriptor of /proc/PID/maps, unread, and the
 *                       namespaces of the process
 *   a mapped file       its build-id, and whether it is the file of its name
 *   a program           whether it is one that changes the user who runs it
 *
 * For each question about a process that lives the reader forks a child, which it kills once that
 * has answered, or after LOOKUP_MS: a file system may hang. The kernel names the build-id
 * (PROCMAP_QUERY, Linux 6.11); where it does not, the child opens the file (a regular one, as an
 * O_PATH descriptor shows), writes all else of the answer to a pipe, gives up every right
 * (rights_parser()) and reads the file: no process that can act for more than one user parses a
 * user's file. Whatever such a file makes of its parser can only write to that pipe, where the
 * reader takes a build-id of fixed size for this one question; the socket is not open in it.
 *
 * Is it the file of its name? A process in a mount or user namespace of its own
 * calls any file of its user /usr/bin/x, and in one shared folder a user may
 * name a file "x (deleted)". Such a mapping counts for a path only if
 *   - the mapped file (opened through map_files: the device and inode that stat
 *     shows, not those of maps, which differ on btrfs and overlayfs) is the file
 *     that the monitor finds at the path; or
 *   - it has no name any more, and the one at the path (without " (deleted)")
 *     is on the same file system, of the same owner, and the mapped one is
 *     writable by its owner alone: what a package upgrade or a swap leaves.
 * A path that ends in " (deleted)" and is found by that name is the name.
 *
 * A process that is gone, or has called another program since, has no map_files to ask. Where its
 * path was the monitor's (LOOKUP_PATH), the file that is there now counts if device, inode and
 * generation are those of the mapping (procfs_below()). The child opens it, so that a path which
 * hangs costs LOOKUP_MS, and the parser reads it, as ever.
 */
#ifndef MORPH_LOOKUP_H
#define MORPH_LOOKUP_H

#include "monitor-client/kernel/event.h"
#include "monitor-client/kernel/rights.h"

enum { LOOKUP_MS = 300 };

struct lookup {
	int fd; /* -1: no reader */
	pid_t pid;
	uint32_t seq;
	struct event_ns home[2]; /* of the monitor and of process 1 */
};

enum lookup_how {
	LOOKUP_MAPPED, /* whatever its name */
	LOOKUP_PATH,   /* the same; of a process that is gone, the file at the path if it is that */
	LOOKUP_NAMED,  /* only if it is the file of its name */
};

enum lookup_result {
	LOOKUP_FOUND,
	LOOKUP_NONE,  /* not the file of that name, no build-id, or not to be had */
	LOOKUP_LATER, /* the process was gone; another one of the file may help */
	LOOKUP_SLOW,  /* no answer in time */
};

/* Forks the reader, with the rights this process has now; call before there is
 * anything secret in memory. proc: "/proc" or, for tests, a tree like it. */
int lookup_start(struct lookup *l, const char *proc, const struct rights_user *u, struct err *e);
void lookup_end(struct lookup *l);

/* A number of the namespaces in which a process sees its files; 0 when they are
 * the monitor's or those of process 1 (under systemd a service's own namespace
 * shows the machine's files). */
uint64_t lookup_view(const struct lookup *l, const struct event_ns *ns);

/* A descriptor of /proc/PID/maps, or -1 (gone, or not ours); *view as above. */
int lookup_maps(struct lookup *l, uint32_t pid, uint64_t *view);
/* id: kept where m has it, else found. *whole, of LOOKUP_NAMED: a path that ends in " (deleted)" is
 * the name. */
enum lookup_result lookup_file(struct lookup *l, uint32_t pid, const struct event_map *m,
    enum lookup_how how, struct build_id *id, bool *whole);

/* LOOKUP_FOUND: the program at this path runs as whoever starts it. LOOKUP_NONE: it does not
 * (setuid, setgid), or is not there. */
enum lookup_result lookup_plain(struct lookup *l, const char *path);

#endif
