#include "editor-driver/mapindex.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1, KEY = 12 };

static const void *make_key(uint8_t key[KEY], uint64_t tu, uint32_t func)
{
	memcpy(key, &tu, sizeof tu);
	memcpy(key + sizeof tu, &func, sizeof func);
	return key;
}

void mapindex_make(struct mapindex *x, const struct blockmap *map)
{
	const struct bm_frag *f;
	uint8_t key[KEY];
	uint64_t *head;
	bool fresh;
	size_t i;

	*x = (struct mapindex){.map = map, .next = xcalloc(map->frag.n, sizeof *x->next)};
	for (i = map->frag.n; i-- > 0;) {
		f = &map->frag.v[i];
		head = htab_put(&x->first, make_key(key, f->tu, f->func), KEY, &fresh);
		x->next[i] = fresh ? NONE : (int64_t)*head - 1;
		*head = i + 1;
	}
}

void mapindex_free(struct mapindex *x)
{
	htab_free(&x->first);
	free(x->next);
	*x = (struct mapindex){0};
}

int64_t mapindex_first(const struct mapindex *x, uint64_t tu, uint32_t func)
{
	uint8_t key[KEY];
	const uint64_t *head = htab_get(&x->first, make_key(key, tu, func), KEY);

	return head ? (int64_t)*head - 1 : NONE;
}

uint32_t mapindex_blocks(const struct mapindex *x, uint64_t tu, uint32_t func, uint32_t nblock,
    const struct bm_block **block, uint32_t *nhot)
{
	uint8_t *seen = xcalloc(nblock, 1);
	const struct bm_block *b;
	const struct bm_frag *f;
	uint32_t n = 0, k;
	int64_t i;
	int cold;

	*nhot = 0;
	for (cold = 0; cold < 2; cold++) {
		for (i = mapindex_first(x, tu, func); i != NONE; i = x->next[i]) {
			f = &x->map->frag.v[i];
			for (k = 0; k < f->n && !!f->fragment == cold; k++) {
				b = &x->map->block.v[f->first + k];
				if (b->id < nblock && !seen[b->id]) {
					seen[b->id] = 1;
					block[n++] = b;
				}
			}
		}
		if (!cold)
			*nhot = n;
	}
	free(seen);
	return n;
}
