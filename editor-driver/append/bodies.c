#include "common/hash.h"
#include "editor-driver/append/append.h"

/* Is it in the original's map? *k: where that is in it; fragments come in ascending order. */
static bool is_old(const struct blockmap *original, size_t *k, const struct bm_frag *f)
{
	while (*k < original->frag.n && original->frag.v[*k].addr < f->addr)
		++*k;
	return *k < original->frag.n && original->frag.v[*k].addr == f->addr;
}

/* Moves a fragment to the end of what is kept, which it follows. */
static void keep(struct blockmap *m, struct bm_frag f, size_t *frags, size_t *blocks)
{
	uint32_t i, first = f.first;

	f.first = (uint32_t)*blocks;
	for (i = 0; i < f.n; i++) {
		m->block.v[*blocks] = m->block.v[first + i];
		m->block.v[(*blocks)++].frag = (uint32_t)*frags;
	}
	m->frag.v[(*frags)++] = f;
}

void append_forget_old(const struct blockmap *original, struct blockmap *made)
{
	struct htab moved = {0}; /* units */
	size_t i, k = 0, frags = 0, blocks = 0;
	const struct bm_frag *f;

	for (i = 0; i < made->frag.n; i++) {
		f = &made->frag.v[i];
		if (!is_old(original, &k, f))
			htab_put(&moved, &f->tu, sizeof f->tu, NULL);
	}
	for (i = k = 0; i < made->frag.n; i++) {
		f = &made->frag.v[i];
		if (!is_old(original, &k, f) || !htab_get(&moved, &f->tu, sizeof f->tu))
			keep(made, *f, &frags, &blocks);
	}
	made->frag.n = frags;
	made->block.n = blocks;
	htab_free(&moved);
}
