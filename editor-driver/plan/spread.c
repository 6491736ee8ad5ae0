#include "editor-driver/plan/passes.h"
#include "editor/layout/entropy.h"
#include "editor/layout/spread.h"

/* Share of the total branch entropy above which a function is worth padding. */
static const double ENTROPY_SHARE = 0.005;

static void spread_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	const struct unit_func *f = &t->unit->func[i];
	struct unit_placement *at = &t->placement[i];
	struct layout l = at->layout;

	if (!at->edit || f->opaque || entropy_sum(&f->cfg) < ENTROPY_SHARE * p->entropy)
		return;
	if (!spread_jumps(&f->cfg, (double)p->hot * LAYOUT_BYTE, &l, scratch))
		return;
	plan_keep_align(&l, &at->layout);
	at->align = at->align > SPREAD_ALIGN ? at->align : SPREAD_ALIGN;
}

void plan_spread(struct plan *p)
{
	const struct plan_func *f;

	for (f = p->weighed; f < p->weighed + p->nweighed; f++)
		if (plan_stands(p, f))
			p->entropy += entropy_sum(&f->tu->unit->func[f->ord].cfg);
	plan_each_weighed(p, spread_func);
}
