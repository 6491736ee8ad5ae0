/*
 * Looking at the file at a module's path: which build it is, and, when an
 * artifact that may be trusted belongs to it, its functions and block map.
 * Reads only; what comes of it is managerd/modules.h.
 */
#ifndef MORPH_MANAGERD_DISCOVER_H
#define MORPH_MANAGERD_DISCOVER_H

#include "common/blockmap.h"
#include "common/elf.h"
#include "common/err.h"
#include "managerd/map.h"

#include <stdbool.h>
#include <sys/stat.h>

struct file_stamp { /* equal stamps: the same unchanged file */
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};
/* -1 (errno) when there is no file. */
int file_stamp(const char *path, struct file_stamp *s);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

struct discovery {
	struct build_id id, origin; /* origin = id for an original */
	uid_t uid;                  /* owner of the file */
	uint64_t bytes;
	struct file_stamp stamp;
	char *artifact;         /* path */
	struct blockmap map;    /* of this build */
	struct map_table table; /* of the original */
};

/* Fills id, origin, uid, bytes and stamp; -1 when it is no readable ELF file
 * with a build-id. */
int discover_file(const char *path, struct discovery *d, struct err *e);
/* After discover_file(): fills the rest. -1 with the reason when there is no
 * artifact, it may not be trusted, or it does not fit. */
int discover_artifact(const char *path, struct discovery *d, struct err *e);
/* The map of a build that lies somewhere else (an editor's result). */
int discover_build(const char *path, struct discovery *d, struct err *e);
void discovery_free(struct discovery *d);

#endif
