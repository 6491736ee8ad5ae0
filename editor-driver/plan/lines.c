#include "editor-driver/plan/passes.h"
#include "editor/layout/lines.h"

/* Share of the instructions executed above which a function is worth padding. */
static const double FUNC_SHARE_MIN = 0.001;

static void lines_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	const struct unit_func *f = &t->unit->func[i];
	struct unit_placement *at = &t->placement[i];
	struct layout l = at->layout;

	if (!at->edit || f->opaque || plan_executed(&f->cfg) < FUNC_SHARE_MIN * p->executed)
		return;
	if (!lines_pad(&f->cfg, (double)p->hot * LAYOUT_BYTE, at->align, &l, scratch))
		return;
	plan_keep_align(&l, &at->layout);
	at->layout.entry_offset = l.entry_offset;
	at->align = LINES_ALIGN;
}

void plan_lines(struct plan *p)
{
	plan_each_weighed(p, lines_func);
}
