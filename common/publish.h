/*
 * The one way to publish a file: open, write, rename. Readers see the old
 * file or the new one, whole, also after a power cut.
 *
 *	struct publish p;
 *	if (publish_open(&p, "dir/name", 0644, &e)) …
 *	write(p.fd, …) or hand p.tmp to a program
 *	publish_commit(&p, &e)  or  publish_abort(&p)
 */
#ifndef MORPH_PUBLISH_H
#define MORPH_PUBLISH_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <sys/types.h>

struct publish {
	int fd;    /* open for writing on tmp */
	char *tmp; /* ".NAME.morph-new.PID.N" in the same directory */
	char *path;
};

/* mode is subject to the umask. On error nothing is left to free. */
int publish_open(struct publish *p, const char *path, mode_t mode, struct err *e);
/* Syncs what lies at tmp now (a program may have made a new file of it),
 * rename, fsync of the directory; frees p. On error tmp is gone. */
int publish_commit(struct publish *p, struct err *e);
/* The same without a sync, for what says itself whether it is whole and can be
 * made again: after a power cut it may be cut off. */
int publish_commit_unsynced(struct publish *p, struct err *e);
void publish_abort(struct publish *p);

/* Another name of a file that is published, in the place of whatever has it; where there can be
 * none, as on another file system, an unsynced copy. */
int publish_link(const char *from, const char *name, struct err *e);

/* The whole of a small thing at once. */
int publish_bytes(const char *path, const void *p, size_t n, mode_t mode, struct err *e);

/* ---- files, wherever they are needed ---- */
/* Opens a regular file for reading, close-on-exec; nothing else is opened, and
 * nothing waits. "/dev/fd/N" is a duplicate of the open descriptor N, read from
 * its begin: never the file's name again. */
int file_open(const char *path, struct err *e);
/* Is it such a name of a descriptor? */
bool file_is_given(const char *path);
/* Appends a regular file to out; fails beyond max bytes (0 = 4 GiB). */
int file_read(const char *path, size_t max, struct buf *out, struct err *e);
/* A regular file's bytes without reading them first; what is written there stays the caller's.
 * A file that becomes shorter meanwhile ends the process (SIGBUS): only in a child whose death
 * is expected. file_unmap() takes a zero-filled struct, and leaves one. */
struct file_map {
	void *p;
	size_t n;
};
int file_map(const char *path, struct file_map *m, struct err *e);
void file_unmap(struct file_map *m);
int file_write_all(int fd, const void *p, size_t n);
/* Closes *fd unless it is none, and makes it none (-1). */
void fd_close(int *fd);
/* Writes a file of mode 0600; how: O_EXCL, it must be new, or O_TRUNC. */
int file_write(const char *path, int how, const void *p, size_t n, struct err *e);
int dir_sync(const char *dir, struct err *e);
/* mkdir -p; existing directories are fine. */
int dir_make(const char *path, mode_t mode, struct err *e);
/* rm -r below and including path; never follows links, and leaves the tree when
 * somebody moves a folder of it meanwhile (an error). Three descriptors at any
 * depth. Absent is fine. */
int dir_remove(const char *path, struct err *e);
/* The same for all that is in a directory. */
int dir_empty(const char *path, struct err *e);
/* The same of name in the folder at, or AT_FDCWD. */
int dir_remove_at(int at, const char *name, struct err *e);
/* The path of a file's directory ("." when it has none); to free. */
char *path_dir(const char *path);
const char *path_base(const char *path);
/* Absolute, of less than PATH_MAX bytes, and without "", "." and ".." as components: so the
 * kernel names files. */
bool path_is_plain(const char *path);

#endif
