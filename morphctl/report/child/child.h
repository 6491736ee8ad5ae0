/*
 * A child of this process that reads one file of whoever, and answers in bytes. It is forked, not
 * executed: what it is to do is there in memory.
 *
 * Before it reads the first byte it has become the file's owner, where we are root (nobody, where
 * the owner is root), and can open files for reading below one folder (Landlock), and else read
 * what is open, take memory and answer (seccomp); memory and time are bounded. Whoever reads the
 * answer checks it like the file itself.
 */
#ifndef MORPH_REPORT_CHILD_H
#define MORPH_REPORT_CHILD_H

#include "common/err.h"
#include "common/mem.h"

#include <sys/types.h>

enum {
	CHILD_FILE = 0, /* its descriptors: the file */
	CHILD_ANSWER = 1,
	CHILD_FOLDER = 3, /* the folder (O_PATH), where there is one */
	CHILD_ANSWER_MAX = 64 << 20,
	CHILD_CPU_S = 20,
	CHILD_WAIT_S = 60
};

struct child {
	int file;           /* open for reading, the caller's; < 0: path, as owner may open it */
	const char *path;   /* … */
	uid_t owner;        /* … */
	const char *folder; /* of more files that it may need, or NULL */
	unsigned wait_s;    /* until it is killed, 0 = CHILD_WAIT_S */
	/* What it does: appends to the answer, or -1 and why not. */
	int (*run)(void *arg, struct buf *answer, struct err *e);
	void *arg;
};

/* Runs and waits. -1 with one line without the file's name: what run() said, or how the child
 * ended. */
int child_run(const struct child *c, struct buf *answer, struct err *e);

/* For the child alone. The first does nothing where we are not root. */
int child_become(uid_t uid, gid_t gid, struct err *e);
/* All as above; -1 when any of it cannot be had but Landlock. */
int child_confine(uid_t uid, gid_t gid, const char *folder, struct err *e);

/* A regular file open for reading; nothing else is opened, and nothing waits. flags: O_NOFOLLOW
 * or 0. -1 and errno. */
int child_open(const char *path, int flags);

#endif
