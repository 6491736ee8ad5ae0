/*
 * What was made once and can be made again: assembled objects and proven
 * builds, in one folder of the user. An entry is its bytes followed by a
 * trailer (8 bytes of magic, 16 of hash), so that one that was cut off or
 * altered is known and dropped. Losing an entry, or the folder, costs time only.
 */
#ifndef MORPH_CACHE_H
#define MORPH_CACHE_H

#include "common/err.h"
#include "common/hash.h"

#include <stdbool.h>
#include <stdint.h>

struct cache {
	char *dir; /* NULL: no cache; every get misses */
};

static const uint64_t CACHE_LIMIT = (uint64_t)2 << 30; /* bytes of all entries */

/* dir, or when NULL ${XDG_CACHE_HOME:-~/.cache}/morph. A folder that cannot be
 * made or written, or that others may write, leaves a cache that holds nothing,
 * and a warning. */
void cache_open(struct cache *c, const char *dir);
void cache_close(struct cache *c);

/* kind is a folder below: "objects", "builds". Writes the entry's bytes to a
 * new file at path and marks it used now; false when there is no sound one. */
bool cache_get(struct cache *c, const char *kind, const struct hash128 *key, const char *path);
/* Keeps a copy of the file at path. Failures are only logged. */
void cache_put(struct cache *c, const char *kind, const struct hash128 *key, const char *path);
/* Removes what was used least recently until limit bytes are left. */
void cache_prune(struct cache *c, uint64_t limit);

#endif
