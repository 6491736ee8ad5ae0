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
/* Appends the content of the zn bytes at z. Fails, with out as it was, unless
 * it is one whole frame of exactly size bytes with this hash. Checks the size
 * before it takes memory. */
int unpack_bytes(const void *z, size_t zn, uint64_t size, const struct hash128 *hash,
    struct buf *out, struct err *e);

/*
 * In less room and at a megabyte a second, for what is packed once and sent to many: a number of
 * byte strings, each as its size, that of what it is packed to, and LZMA2 without a header, or,
 * where both sizes are the same, itself. ratio: no string is packed further than to that part of
 * it, 0 = any.
 */
void pack_small(const struct buf *s, size_t n, unsigned ratio, struct buf *out);
/* Appends to each of the n at s. Fails unless z is such n and nothing else, with at most max bytes
 * in all and ratio as above. Takes memory in proportion to max, with a ratio to zn. */
int unpack_small(
    const void *z, size_t zn, uint64_t max, unsigned ratio, struct buf *s, size_t n, struct err *e);

/* The whole content of an xz stream of another tool, appended; -1: damaged, or more than max bytes.
 */
int unpack_xz(const void *z, size_t zn, size_t max, struct buf *out);

#endif
