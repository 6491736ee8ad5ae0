#include "editor-driver/plan/shift.h"

/* The fragment with the function's entry, or NULL. */
static const struct bm_frag *entry_of(
    const struct mapindex *x, const struct plan_tu *t, uint32_t func)
{
	int64_t i = mapindex_first(x, hash_short(&t->art->hash), func);

	while (i != -1 && x->map->frag.v[i].fragment)
		i = x->next[i];
	return i == -1 ? NULL : &x->map->frag.v[i];
}

uint8_t shift_padding(const struct plan *p, const struct plan_tu *t, uint32_t func)
{
	const struct bm_frag *f = entry_of(&p->index, t, func);

	return f ? f->size % SHIFT_LINE : 0;
}

uint32_t shift_rest(const struct plan *p, const struct blockmap *made)
{
	uint64_t bytes[SHIFT_LINE] = {0};
	const struct bm_frag *was, *is;
	const struct plan_tu *t;
	uint32_t i, most = 0;
	struct mapindex x;

	mapindex_make(&x, made);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++) {
			if (t->edited && t->placement[i].edit)
				continue;
			was = entry_of(&p->index, t, i);
			is = entry_of(&x, t, i);
			if (was && is)
				bytes[(is->addr - was->addr) % SHIFT_LINE] += was->size;
		}
	mapindex_free(&x);
	for (i = 1; i < SHIFT_LINE; i++)
		if (bytes[i] > bytes[most])
			most = i;
	return most;
}
