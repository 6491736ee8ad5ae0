#include "editor-driver/plan/mapindex.h"

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

const struct bm_frag *mapindex_entry(const struct mapindex *x, uint64_t tu, uint32_t func)
{
	int64_t i = mapindex_first(x, tu, func);

	while (i != NONE && x->map->frag.v[i].fragment)
		i = x->next[i];
	return i == NONE ? NULL : &x->map->frag.v[i];
}

static void add_blocks(
    const struct mapindex *x, const struct bm_frag *f, uint32_t nblock, struct func_blocks *out)
{
	const struct bm_block *b = &x->map->block.v[f->first], *end = b + f->n;

	for (; b < end; b++)
		if (b->id < nblock)
			vec_push(&out->block, b);
}

void mapindex_blocks(
    const struct mapindex *x, uint64_t tu, uint32_t func, uint32_t nblock, struct func_blocks *out)
{
	bool cold;
	int64_t i;

	*out = (struct func_blocks){0};
	for (cold = false;; cold = true) {
		i = mapindex_first(x, tu, func);
		while (i != NONE && !!x->map->frag.v[i].fragment != cold)
			i = x->next[i];
		if (i != NONE)
			add_blocks(x, &x->map->frag.v[i], nblock, out);
		if (cold)
			break;
		out->nhot = (uint32_t)out->block.n;
	}
}

void mapindex_blocks_free(struct func_blocks *b)
{
	vec_free(&b->block);
}
