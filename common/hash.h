/*
 * Content keys (XXH3-128, canonical big-endian bytes) and one hash table.
 */
#ifndef MORPH_HASH_H
#define MORPH_HASH_H

#include "common/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash128 {
	uint8_t b[16];
};

struct hash128 hash_bytes(const void *p, size_t n);
bool hash_equal(const struct hash128 *a, const struct hash128 *b);
/* The first 8 bytes as a big-endian number: the short key in block maps. */
uint64_t hash_short(const struct hash128 *h);

enum { HASH_HEX = 33 };
/* 32 lower-case hex digits and a NUL into out. */
const char *hash_hex(const struct hash128 *h, char out[HASH_HEX]);

/*
 * A table from byte strings to uint64_t. The table copies the key. A
 * zero-filled struct is an empty one.
 */
struct htab {
	struct htab_slot *slot;
	size_t n, cap;
	struct arena mem; /* of the keys */
};

/* The value's place, made with the value 0 and *fresh set where it was not; fresh may be NULL. */
uint64_t *htab_put(struct htab *t, const void *key, size_t n, bool *fresh);
/* The value's place, or NULL. Stays valid until the next htab_put. */
uint64_t *htab_get(const struct htab *t, const void *key, size_t n);
/* For NUL-terminated keys. */
uint64_t *htab_get_str(const struct htab *t, const char *key);
uint64_t *htab_put_str(struct htab *t, const char *key, bool *fresh);
void htab_free(struct htab *t);

#endif
