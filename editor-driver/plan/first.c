#include "editor-driver/plan/passes.h"
#include "editor-driver/plan/shift.h"

#include <stdlib.h>

void plan_put_first(struct plan *p, const struct funclist *list)
{
	struct plan_tu *t;
	const uint64_t *at;
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++) {
		t->first = arena_array(&t->mem, t->nfunc, sizeof *t->first);
		for (i = 0; i < t->nfunc; i++) {
			at = htab_get_str(&list->index, t->func[i].name);
			t->first[i] = at ? (uint32_t)*at + 1 : 0;
			t->edited = t->edited || at;
		}
	}
}

/* The blocks as the original has them, what the compiler split off apart. */
static void layout_as_is(
    struct plan *p, struct plan_tu *t, const struct unit_func *f, struct layout *l)
{
	struct func_blocks b;
	uint32_t k;

	layout_identity(&f->cfg, l, &t->mem);
	mapindex_blocks(&p->index, hash_short(&t->art->hash), f->ord, f->cfg.nblock, &b);
	if (b.block.n == l->n && b.nhot && !b.block.v[0]->id && !f->one_part && !f->opaque) {
		for (k = 0; k < l->n; k++)
			l->order[k] = b.block.v[k]->id;
		l->nhot = b.nhot;
	}
	mapindex_blocks_free(&b);
}

void first_lay_out(struct plan *p)
{
	struct plan_tu *t;
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++) {
			if (!plan_first(t, i) || t->weight[i])
				continue;
			t->placement[i].edit = t->unit->func[i].movable;
			t->placement[i].padding = shift_padding(p, t, i);
			layout_as_is(p, t, &t->unit->func[i], &t->placement[i].layout);
		}
}

struct plan_missed plan_missed(const struct plan *p, const struct funclist *list)
{
	struct plan_missed m = {0};
	bool *there = xcalloc(list->name.n + 1, sizeof *there);
	const struct plan_tu *t;
	size_t k;
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (plan_first(t, i) && t->placement[i].edit)
				there[plan_first(t, i) - 1] = true;
	for (k = list->name.n; k-- > 0;)
		if (!there[k]) {
			m.n++;
			m.name = list->name.v[k];
		}
	free(there);
	return m;
}
