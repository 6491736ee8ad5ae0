/*
 * Archives of objects (ar), read. Pure.
 *
 * "!<arch>\n", or "!<thin>\n" when the members lie in files of their own, and
 * then members at even offsets: a header of 60 bytes (name 16, date 12, uid 6,
 * gid 6, mode 8, size 10, "`\n") and the content. Names end in '/'; "/" and
 * "/SYM64/" hold the symbol index, "//" the long names, "/N" means the long
 * name at N. BSD's "#1/N" puts a name of N bytes before the content.
 */
#ifndef MORPH_ARCHIVE_H
#define MORPH_ARCHIVE_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct archive_member {
	const char *name; /* from the arena; of a thin archive a path, relative to the archive's */
	size_t at, size;  /* content in the archive; a thin archive has none */
};

struct archive {
	bool thin;
	VEC(struct archive_member) member; /* in order, without index and names */
};

bool archive_magic(const void *p, size_t n);
int archive_read(
    struct archive *ar, struct arena *a, const void *p, size_t n, const char *path, struct err *e);
void archive_free(struct archive *ar);

#endif
