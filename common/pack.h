/*
 * Compressed content: one zstd frame with its content size. Whoever stores it
 * stores size and hash of the content beside it, and both are checked when it
 * is read.
 */
#ifndef MORPH_PACK_H
#define MORPH_PACK_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdint.h>

enum { PACK_MAX = 1 << 30 }; /* bytes of content */

/* Appends the compressed form of n bytes, n <= PACK_MAX. Deterministic. */
void pack_bytes(const void *p, size_t n, struct buf *out);
/* The same in less room, at 3 MB/s: for what is packed once and sent to many. */
void pack_small(const void *p, size_t n, struct buf *out);

/* Appends the content of the zn bytes at z. Fails, with out as it was, unless
 * it is one whole frame of exactly size bytes with this hash. Checks the size
 * before it takes memory. */
int unpack_bytes(const void *z, size_t zn, uint64_t size, const struct hash128 *hash,
    struct buf *out, struct err *e);

#endif
