#include "common/hash.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct htab_slot {
	uint64_t hash, value;
	void *key;
	size_t n;
};

static struct hash128 canonical(XXH128_hash_t x)
{
	XXH128_canonical_t c;
	struct hash128 h;

	XXH128_canonicalFromHash(&c, x);
	memcpy(h.b, c.digest, sizeof h.b);
	return h;
}

struct hash128 hash_bytes(const void *p, size_t n)
{
	return canonical(XXH3_128bits(p, n));
}

bool hash_equal(const struct hash128 *a, const struct hash128 *b)
{
	return !memcmp(a->b, b->b, sizeof a->b);
}

uint64_t hash_short(const struct hash128 *h)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < 8; i++)
		v = v << 8 | h->b[i];
	return v;
}

const char *hash_hex(const struct hash128 *h, char out[HASH_HEX])
{
	static const char digit[] = "0123456789abcdef";
	int i;

	for (i = 0; i < 16; i++) {
		out[2 * i] = digit[h->b[i] >> 4];
		out[2 * i + 1] = digit[h->b[i] & 15];
	}
	out[32] = '\0';
	return out;
}

static struct htab_slot *htab_slot(const struct htab *t, uint64_t hash, const void *key, size_t n)
{
	size_t i;

	for (i = hash & (t->cap - 1);; i = (i + 1) & (t->cap - 1))
		if (!t->slot[i].key || (t->slot[i].hash == hash && t->slot[i].n == n &&
					   !memcmp(t->slot[i].key, key, n)))
			return &t->slot[i];
}

static void htab_rehash(struct htab *t)
{
	struct htab old = *t;
	size_t i;

	t->cap = old.cap ? 2 * old.cap : 16;
	t->slot = xcalloc(t->cap, sizeof *t->slot);
	for (i = 0; i < old.cap; i++)
		if (old.slot[i].key)
			*htab_slot(t, old.slot[i].hash, old.slot[i].key, old.slot[i].n) =
			    old.slot[i];
	free(old.slot);
}

uint64_t *htab_put(struct htab *t, const void *key, size_t n, bool *fresh)
{
	uint64_t hash = XXH3_64bits(key, n);
	struct htab_slot *s;

	if (4 * (t->n + 1) > 3 * t->cap)
		htab_rehash(t);
	s = htab_slot(t, hash, key, n);
	if (fresh)
		*fresh = !s->key;
	if (!s->key) {
		*s =
		    (struct htab_slot){.hash = hash, .n = n, .key = arena_copy(&t->mem, key, n, 1)};
		t->n++;
	}
	return &s->value;
}

uint64_t *htab_get(const struct htab *t, const void *key, size_t n)
{
	struct htab_slot *s;

	if (!t->n)
		return NULL;
	s = htab_slot(t, XXH3_64bits(key, n), key, n);
	return s->key ? &s->value : NULL;
}

uint64_t *htab_put_str(struct htab *t, const char *key, bool *fresh)
{
	return htab_put(t, key, strlen(key), fresh);
}

uint64_t *htab_get_str(const struct htab *t, const char *key)
{
	return htab_get(t, key, strlen(key));
}

void htab_free(struct htab *t)
{
	arena_free(&t->mem);
	free(t->slot);
	*t = (struct htab){0};
}
