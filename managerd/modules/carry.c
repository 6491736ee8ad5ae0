/* Profiles of programs that were built again from changed source. */
#include "common/log.h"
#include "common/number.h"
#include "managerd/modules/module.h"
#include "managerd/os/pool.h"
#include "managerd/samples/remap.h"

#include <stdlib.h>
#include <unistd.h>

/* Of what is left after a greater share of the samples was lost to changes no layout is made. */
static const double SKEW_MAX = 0.1;

/* ---- shapes ---- */

bool module_has_shapes(struct modules *ms, struct module *m)
{
	struct table_name name = module_table_name(m, TABLE_SHAPES);

	if (m->builds.shapes == TABLE_UNKNOWN)
		m->builds.shapes =
		    ms->tables && tables_have(ms->tables, &name) ? TABLE_THERE : TABLE_ABSENT;
	return m->builds.shapes == TABLE_THERE;
}

int module_shapes_before(const struct modules *ms, const struct module *m)
{
	struct table_name name = module_table_name(m, TABLE_SHAPES);

	return ms->tables ? tables_open_other(ms->tables, &name) : -1;
}

struct shapes_work {
	struct modules *ms;
	struct table_name name;
	char *dir;
	struct blob made;
	int rc;
	struct err why;
};

static void store_shapes(void *arg)
{
	struct shapes_work *w = arg;

	w->rc = tables_take(w->dir, &w->name, &w->made, &w->why);
}

static void shapes_stored(void *arg)
{
	struct shapes_work *w = arg;
	struct module *m = modules_get(w->ms, w->name.module);
	struct table_name own;

	if (m) {
		own = module_table_name(m, TABLE_SHAPES);
		if (table_name_equal(&own, &w->name))
			m->builds.shapes = w->rc ? TABLE_FAILED : TABLE_THERE;
		if (w->rc)
			log_warn("%s: shapes: %s", m->row.path, w->why.text);
	}
	modules_sweep_tables(w->ms);
	blob_free(&w->made);
	free(w->dir);
	free(w);
}

void module_take_shapes(struct modules *ms, struct module *m, struct blob *shapes)
{
	struct shapes_work *w;

	m->builds.shapes = TABLE_FAILED; /* until they are there */
	if (!shapes)
		return;
	w = xcalloc(1, sizeof *w);
	*w = (struct shapes_work){.ms = ms,
	    .name = module_table_name(m, TABLE_SHAPES),
	    .dir = xstrdup(ms->tables),
	    .made = blob_take(shapes)};
	pool_run(ms->pool.loop, store_shapes, shapes_stored, w);
}

/* ---- what is carried over ---- */

static int save_all(
    struct modules *ms, struct module *m, enum profile_kind kind, struct profile *p, struct err *e)
{
	size_t i;

	if (store_clear_profile(ms->store, m->row.id, kind, e))
		return -1;
	for (i = 0; i < p->func.n; i++)
		p->func.v[i].dirty = p->func.v[i].as_of_ms != 0;
	return store_save_profile(ms->store, m->row.id, kind, p, e);
}

/* What changed functions had is lost: what the others have may say too little of them. */
static void forget_skewed(struct module *m, const struct profile *before, struct decay at)
{
	double skew = remap_skew(before, &m->profile.now, at);
	size_t i;

	if (skew <= SKEW_MAX)
		return;
	for (i = 0; i < m->profile.now.func.n; i++)
		profile_clear(&m->profile.now.func.v[i]);
	log_info("%s: its profile is forgotten: functions with %.0f %% of the samples were changed,"
		 " and a layout by what is left would be one against them",
	    m->row.path, 100 * skew);
}

int module_take_over(struct modules *ms, struct module *m, const struct build_id *origin,
    const struct map_table *t, int64_t now_ms, struct err *e)
{
	struct table_name old = module_table_name(m, TABLE_SHAPES);
	struct decay at = {now_ms, ms->conf->profile.half_life_s};
	char kept[NUMBER_TEXT], lost[NUMBER_TEXT];
	struct profile was = {0};
	struct remap_result r;
	bool shapes;
	int rc = 0;

	if (module_load(ms, m, e))
		return -1;
	old.origin = *origin;
	shapes = m->profile.before.func.n || (ms->tables && tables_have(ms->tables, &old));
	profile_copy_used(&was, &m->profile.now);
	r = remap_profile(&m->profile.now, t, at);
	if (r.samples_kept + r.samples_discarded > 0)
		log_info(
		    "%s: %zu functions keep their profile (%s samples); that of %zu others (%s "
		    "samples) %s",
		    m->row.path, r.kept, number_text(r.samples_kept, kept), r.discarded,
		    number_text(r.samples_discarded, lost),
		    shapes ? "is to be carried over" : "is lost");
	if (!shapes) {
		forget_skewed(m, &was, at);
	} else if (!m->profile.before.func.n && r.samples_discarded > 0) {
		rc = save_all(ms, m, PROFILE_BEFORE, &was, e);
	}
	profile_free(&was);
	module_sum(ms, m);
	if (rc || store_put_module(ms->store, &m->row, e))
		return -1;
	return save_all(ms, m, PROFILE_NOW, &m->profile.now, e);
}

static void forget_table(struct modules *ms, const struct module *m, enum table_kind kind)
{
	struct table_name name = module_table_name(m, kind);

	if (ms->tables)
		tables_forget(ms->tables, &name);
}

int module_lifted_again(struct modules *ms, struct module *m, const struct map_table *t,
    int64_t now_ms, double *lost, struct err *e)
{
	struct decay at = {now_ms, ms->conf->profile.half_life_s};
	struct remap_result r = remap_profile(&m->profile.now, t, at);
	char kept[NUMBER_TEXT];

	log_info(
	    "%s: lifted again: %zu functions are others now, %zu keep their profile (%s samples)",
	    m->row.path, r.fresh, r.kept, number_text(r.samples_kept, kept));
	*lost = r.samples_discarded;
	forget_table(ms, m, TABLE_REPLAY);
	forget_table(ms, m, TABLE_SHAPES);
	m->memory.lifted++;
	m->schedule.scored = m->schedule.made = false;
	return save_all(ms, m, PROFILE_NOW, &m->profile.now, e);
}

int module_carry(struct modules *ms, struct module *m, const void *text, size_t n, struct err *e)
{
	struct decay at = modules_decay(ms);
	char carried[NUMBER_TEXT], lost[NUMBER_TEXT];
	struct remap_carried r;
	struct err why;

	if (text && !remap_carry(&m->profile.now, &m->profile.before, text, n, at, &r, &why)) {
		log_info("%s: %zu changed functions and %zu renamed ones have their profile of "
			 "before (%s samples); %s samples are lost",
		    m->row.path, r.changed, r.renamed, number_text(r.samples, carried),
		    number_text(r.lost > 0 ? r.lost : 0, lost));
	} else {
		if (text)
			log_warn("%s: %s", m->row.path, why.text);
		forget_skewed(m, &m->profile.before, at);
	}
	profile_free(&m->profile.before);
	module_count_bytes(ms, m);
	module_sum(ms, m);
	if (store_clear_profile(ms->store, m->row.id, PROFILE_BEFORE, e) ||
	    store_put_module(ms->store, &m->row, e))
		return -1;
	return save_all(ms, m, PROFILE_NOW, &m->profile.now, e);
}
