/*
 * A child of this process that reads one file of whoever, and answers in bytes. It is forked, not
 * executed: what it is to do is there in memory.
 *
 * Before it reads the first byte it has become the file's owner, where we are root (nobody, where
 * the owner is root), and can open files for reading below one folder (Landlock), and else read
 * what is open, take memory and answer (seccomp); memory, beyond what was mapped here, and time are
 * bounded. Whoever reads the answer checks it like the file itself.
 */
#ifndef MORPH_REPORT_CONFINED_H
#define MORPH_REPORT_CONFINED_H

#include "common/err.h"
#include "common/mem.h"

#include <sys/types.h>

enum {
	CONFINED_FILE = 0, /* its descriptors: the file */
	CONFINED_ANSWER = 1,
	CONFINED_FOLDER = 3, /* the folder (O_PATH), where there is one */
	CONFINED_ANSWER_MAX = 64 << 20,
	CONFINED_CPU_S = 20,
	CONFINED_WAIT_S = 120
};

struct confined {
	int file;           /* open for reading, the caller's; < 0: path, as owner may open it */
	const char *path;   /* … NULL: no file, but what is mapped here already */
	uid_t owner;        /* … */
	const char *folder; /* of more files that it may need, or NULL */
	unsigned cpu_s;     /* of CPU time that it may take, 0 = CONFINED_CPU_S */
	unsigned wait_s;    /* until it is killed, 0 = CONFINED_WAIT_S */
	/* What it does: appends to the answer, or -1 and why not. */
	int (*run)(void *arg, struct buf *answer, struct err *e);
	void *arg;
};

/* Runs and waits. -1 with one line without the file's name: what run() said, or how the child
 * ended. */
int confined_run(const struct confined *c, struct buf *answer, struct err *e);

/* For the child alone. The first does nothing where we are not root. */
int confined_become(uid_t uid, gid_t gid, struct err *e);
/* All as above; -1 when any of it cannot be had but Landlock. */
int confined_enter(uid_t uid, gid_t gid, const char *folder, unsigned cpu_s, struct err *e);

/* A regular file open for reading; nothing else is opened, and nothing waits. flags: O_NOFOLLOW
 * or 0. -1 and errno. */
int confined_open(const char *path, int flags);

#endif
