#include "editor-driver/plan/passes.h"
#include "editor/layout/lines.h"

/* Of the instructions executed, those of a function that is worth padding. */
static const double HOT_SHARE = 0.001;

static void lines_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	const struct unit_func *f = &t->unit->func[i];
	struct unit_place *at = &t->place[i];
	struct layout l = at->layout;

	if (!at->edit || f->opaque || plan_executed(&f->cfg) < HOT_SHARE * p->executed)
		return;
	if (!lines_place(&f->cfg, (double)p->hot * LAYOUT_BYTE, at->align, &l, scratch))
		return;
	plan_keep_align(&l, &at->layout);
	at->layout.lead = l.lead;
	at->align = LINES_ALIGN;
}

void plan_lines(struct plan *p)
{
	plan_each_weighed(p, lines_func);
}
