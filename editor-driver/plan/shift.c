#include "editor-driver/plan/shift.h"

uint8_t shift_padding(const struct plan *p, const struct plan_tu *t, uint32_t func)
{
	const struct bm_frag *f = mapindex_entry(&p->index, hash_short(&t->art->hash), func);

	return f && !artifact_lifted(p->art) ? f->size % SHIFT_LINE : 0;
}

uint32_t shift_rest(const struct plan *p, const struct blockmap *made)
{
	uint64_t bytes[SHIFT_LINE] = {0};
	const struct bm_frag *was, *is;
	const struct plan_tu *t;
	uint32_t i, most = 0;
	struct mapindex x;
	uint64_t tu;

	mapindex_make(&x, made);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++) {
			if (t->edited && t->placement[i].edit)
				continue;
			tu = hash_short(&t->art->hash);
			was = mapindex_entry(&p->index, tu, i);
			is = mapindex_entry(&x, tu, i);
			if (was && is)
				bytes[(is->addr - was->addr) % SHIFT_LINE] += was->size;
		}
	mapindex_free(&x);
	for (i = 1; i < SHIFT_LINE; i++)
		if (bytes[i] > bytes[most])
			most = i;
	return most;
}
