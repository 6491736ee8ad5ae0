/*
 * A cache of assembled objects and proven builds, in one folder of one owner. Losing an entry, or
 * the folder, only costs time; an entry that somebody else could choose would compromise the
 * program. So the folder holds a secret (32 random bytes, mode 0600, made with it); keys are
 * BLAKE2b-256 under that secret, and an entry is its bytes followed by a trailer, 8 bytes of magic
 * and 32 of BLAKE2b-256 under the secret of kind, key and bytes: entries that were truncated,
 * altered, made elsewhere or moved to another key are detected and dropped. The folders are opened
 * once; as, ar and ld cannot write them.
 */
#ifndef MORPH_CACHE_H
#define MORPH_CACHE_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum cache_kind { CACHE_OBJECTS, CACHE_BUILDS, CACHE_TEXTS, CACHE_KINDS };
enum { CACHE_HASH = 32 };

struct cache_key {
	uint8_t b[CACHE_HASH];
};

struct cache {
	char *dir;                 /* for messages; NULL: no cache; every read misses */
	int fd, kind[CACHE_KINDS]; /* descriptors of the folders; only with dir */
	uint8_t secret[CACHE_HASH];
};

static const uint64_t CACHE_LIMIT = (uint64_t)2 << 30; /* bytes of all entries */

/* dir, or when NULL ${XDG_CACHE_HOME:-~/.cache}/morph. A folder that cannot be made or written, is
 * a link, or is not the caller's alone leaves the cache disabled, with a warning. */
void cache_open(struct cache *c, const char *dir);
void cache_close(struct cache *c);
/* A path of the very folder that was opened; to free. NULL without one. */
char *cache_dir(const struct cache *c);

/* The key that these bytes make, or a file's (/dev/fd/N as in common/publish.h).
 * Zero without a cache. */
struct cache_key cache_key(const struct cache *c, const void *p, size_t n);
int cache_key_file(const struct cache *c, const char *path, struct cache_key *key, struct err *e);

/*
 * Each kind has a folder below. Appends an entry's bytes to out and marks it used now; false when
 * there is no sound one. Thread safe, as all below but cache_prune.
 */
bool cache_read(
    const struct cache *c, enum cache_kind kind, const struct cache_key *key, struct buf *out);
/* Failures are only logged. */
void cache_write(const struct cache *c, enum cache_kind kind, const struct cache_key *key,
    const void *p, size_t n);
/* The same from and to a file: a new one at path, a copy of the one at path. */
bool cache_get(
    const struct cache *c, enum cache_kind kind, const struct cache_key *key, const char *path);
void cache_put(
    const struct cache *c, enum cache_kind kind, const struct cache_key *key, const char *path);
/* Removes what was used least recently until limit bytes are left. */
void cache_prune(struct cache *c, uint64_t limit);

#endif
