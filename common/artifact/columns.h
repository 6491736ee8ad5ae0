/*
 * Contents in forms that pack better, of which the same bytes come back.
 */
#ifndef MORPH_ARTIFACT_COLUMNS_H
#define MORPH_ARTIFACT_COLUMNS_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAP_STREAMS = 4, LIBRARY_STREAMS = 2 };

/* A block map blob (docs/FORMATS.md): all but the blocks, their ids, gaps, and sizes. false, with s
 * empty: it is no such blob. */
bool map_split(const char *p, size_t n, struct buf s[MAP_STREAMS]);
/* Appends the blob; fails when it would have more than size bytes, or s does not fit together. */
int map_join(const struct buf s[MAP_STREAMS], uint64_t size, struct buf *out, struct err *e);

/* A shared library: where its dynamic symbols are, and its bytes, where the places of their names
 * are each less the one before. false, with s empty: it has no such table. */
bool library_split(const char *p, size_t n, struct buf s[LIBRARY_STREAMS]);
int library_join(const struct buf s[LIBRARY_STREAMS], struct buf *out, struct err *e);

#endif
