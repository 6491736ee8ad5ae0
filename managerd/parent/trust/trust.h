/*
 * Whether a file may decide what code runs (DESIGN.md, "Trust"). Everything is
 * judged through descriptors, and no path is resolved twice: what was judged is
 * what is open, whatever happens to the path afterwards.
 *
 * A directory is safe for an owner when it and every directory above it
 * belong to the owner or root and are not writable by others or the group.
 * Directories above the last may be writable when they are sticky (/tmp).
 */
#ifndef MORPH_PARENT_TRUST_H
#define MORPH_PARENT_TRUST_H

#include "common/err.h"

#include <stdbool.h>
#include <sys/stat.h>

struct trusted {
	int dir;        /* the directory, O_PATH | O_CLOEXEC */
	int fd;         /* the file, O_RDONLY | O_NONBLOCK | O_CLOEXEC */
	struct stat st; /* of fd */
	char *path;     /* absolute, without symbolic links */
	char *name;     /* last component, points into path */
};

/*
 * Opens a regular file without following any symbolic link and without waiting
 * (a FIFO or a device is not opened at all, a leased file not waited for), in a
 * directory that is safe for `owner` (its own owner when owner is (uid_t)-1). The
 * file must belong to owner or root and must not be writable by group or others;
 * root's, where it is not the owner's, must be readable by all, folders above too.
 * An empty one is none.
 * Returns 0, or -1 with the reason; then t is closed, and only t->st says what is
 * there (st_mode 0: no regular file that could be opened).
 */
int trust_open(const char *path, uid_t owner, struct trusted *t, struct err *e);
/* The same where the last component may be one symbolic link to an absolute
 * path, as those by build-id are. */
int trust_open_link(const char *path, uid_t owner, struct trusted *t, struct err *e);
void trust_close(struct trusted *t);
/* The folder of the file at a plain path, O_PATH, reached without a symbolic link
 * and not judged; -1 and errno. */
int trust_folder(const char *path);
/* Of the file itself at a plain path, reached so; -1 and errno. */
int trust_stat(const char *path, struct stat *st);

/* Why the open, trusted file must not be replaced: it is not ours (unless we are
 * root), setuid, setgid, hard-linked (but in its folder or, with perf_links, in perf's cache),
 * immutable, append-only or verity, has file capabilities or an IMA/EVM signature, or belongs to a
 * group that we cannot give its successor to. 0, or -1 with the reason. */
int trust_may_replace(const struct trusted *t, bool perf_links, struct err *e);

#endif
