#include "managerd/cycle/boosting.h"
#include "common/log.h"
#include "managerd/cycle/registers.h"

#include <stdlib.h>

/* An estimate of a layout before still says what more samples might add. */
static bool wants(const struct core *c, const struct module *mod)
{
	const struct store_module *row = &mod->row;
	double samples = store_density(row) * row->samples *
			 decay_since(modules_decay(&c->modules), row->samples_ms);

	return row->mapped && core_may_lay_out(c, row) && !row->held_why && !mod->file.refused &&
	       decide_wants_samples(
		   c->conf, row->predicted ? &row->estimate : NULL, samples, store_laid_out(row));
}

void boosting_tell(struct boosting *b)
{
	struct modules *ms = &b->core->modules;
	struct wire_boost to = {.budget = (uint32_t)(b->core->conf->profile.budget * 1e6)};
	struct wire_want *w = &to.builds;
	size_t i;

	if (!b->ingest)
		return;
	w->id = xcalloc(WIRE_WANT_MAX, sizeof *w->id);
	for (i = 0; to.budget && i < ms->module.n; i++)
		if (wants(b->core, ms->module.v[i]))
			registers_add_builds(&ms->module.v[i]->row, &ms->module.v[i]->builds, w);
	if ((to.budget == b->told.budget || !w->n) && wire_want_equal(w, &b->told.builds)) {
		free(w->id);
		return;
	}
	free(b->told.builds.id);
	b->told = to;
	log_debug("more samples are wanted of %u builds", w->n);
	ingest_boost(b->ingest, &to);
}

void boosting_free(struct boosting *b)
{
	free(b->told.builds.id);
}
