/*
 * Landlock, from Linux 5.19 on: a process gives up all files but those below the paths that are
 * allowed. With that goes what else the kernel's version of it can take away: TCP, ioctl of devices
 * (Linux 6.10), signals and abstract sockets out of here (6.12).
 */
#ifndef MORPH_LANDLOCK_H
#define MORPH_LANDLOCK_H

#include "common/err.h"

#include <stdint.h>

/* Accesses; bits. */
extern const uint64_t LANDLOCK_READ;       /* of files and folders */
extern const uint64_t LANDLOCK_WRITE;      /* … also to write, make, move and remove them */
extern const uint64_t LANDLOCK_RUN;        /* to read and execute a file */
extern const uint64_t LANDLOCK_READ_WRITE; /* of a file that is there */
extern const uint64_t LANDLOCK_REMOVE_DIR; /* empty folders */

struct landlock {
	int fd; /* the rules; the caller's to close */
	uint64_t handled;
};

/* What is missing here, or NULL. */
const char *landlock_lacks(void);
/* Rules that allow nothing. */
int landlock_open(struct landlock *l, struct err *e);
/* Allows that at path and below. What is absent is passed over; so is NULL. */
int landlock_allow(struct landlock *l, const char *path, uint64_t access, struct err *e);
/* Allows to connect to that TCP port, where Landlock takes TCP away (Linux 6.7). */
int landlock_allow_connect(struct landlock *l, unsigned port, struct err *e);
/* From now on, for this thread and all that it starts. no_new_privs must be set. A system call:
 * 0, or -1 and errno. */
int landlock_enter(int fd);

#endif
