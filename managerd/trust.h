/*
 * Whether a file may decide what code runs (DESIGN.md, "Trust"). Everything
 * is judged through descriptors: what was checked is what is open, whatever
 * happens to the path afterwards.
 *
 * A directory is safe for an owner when it and every directory above it
 * belong to the owner or root and are not writable by others or the group.
 * Directories above the last may be writable when they are sticky (/tmp).
 */
#ifndef MORPH_MANAGERD_TRUST_H
#define MORPH_MANAGERD_TRUST_H

#include "common/err.h"

#include <sys/stat.h>

struct trusted {
	int dir;        /* the directory, O_PATH | O_CLOEXEC */
	int fd;         /* the file, O_RDONLY | O_CLOEXEC */
	struct stat st; /* of fd */
	char *path;     /* absolute, without symbolic links */
	char *name;     /* last component, points into path */
};

/*
 * Opens a regular file that is no symbolic link itself, in a directory that
 * is safe for `owner` (its own owner when owner is (uid_t)-1). The file must
 * belong to owner or root and must not be writable by group or others.
 * Returns 0, or -1 with the reason and t closed: trust_close() is harmless
 * then.
 */
int trust_open(const char *path, uid_t owner, struct trusted *t, struct err *e);
void trust_close(struct trusted *t);

/*
 * The pair that discovery asks for: the module as above, and the artifact
 * owned by the module's owner or root. The artifact's path may go through
 * symbolic links (the links by build-id do); the file behind them is what
 * is checked. Either struct may be NULL. To read what was checked, use the
 * path trust_fd_path() gives. That build-ids match is the caller's check.
 */
int trust_pair(const char *module, const char *artifact, struct trusted *mod,
    struct trusted *art, struct err *e);

enum { TRUST_FD_PATH = 32 };
/* "/proc/self/fd/N" of the open file, for readers that want a path. */
const char *trust_fd_path(const struct trusted *t, char out[TRUST_FD_PATH]);

#endif
