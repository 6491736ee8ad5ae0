#include "managerd/modules/module.h"
#include "managerd/os/clock.h"
#include "managerd/samples/remap.h"

struct decay modules_decay(const struct modules *ms)
{
	return (struct decay){clock_now_ms(), ms->conf->profile.half_life_s};
}

void module_sum(struct modules *ms, struct module *m)
{
	struct decay at = modules_decay(ms);
	double density = store_density(&m->row);

	m->row.samples_ms = at.now_ms;
	m->row.samples = profile_total(&m->profile.now, at).samples;
	m->row.squares = m->row.samples / density;
}

int module_load(struct modules *ms, struct module *m, struct err *e)
{
	struct origin *o = NULL;

	m->memory.used = ++ms->memory.clock;
	if (m->memory.loaded)
		return 0;
	if (store_load_profile(ms->store, m->row.id, PROFILE_NOW, &m->profile.now, e))
		return -1;
	if (store_load_profile(ms->store, m->row.id, PROFILE_LAYOUT, &m->profile.layout, e) ||
	    store_load_profile(ms->store, m->row.id, PROFILE_BEFORE, &m->profile.before, e) ||
	    module_load_origin(ms, m, &m->row.origin, &o, e)) {
		module_unload(ms, m);
		return -1;
	}
	if (o)
		remap_profile(
		    &m->profile.now, &o->table, (struct decay){0, ms->conf->profile.half_life_s});
	if (!m->row.samples_ms)
		module_sum(ms, m);
	m->memory.loaded = true;
	module_count_bytes(ms, m);
	return 0;
}

int module_save(struct modules *ms, struct module *m, struct err *e)
{
	if (store_put_module(ms->store, &m->row, e))
		return -1;
	return m->memory.loaded
		   ? store_save_profile(ms->store, m->row.id, PROFILE_NOW, &m->profile.now, e)
		   : 0;
}

int module_clear_layout(struct modules *ms, struct module *m, struct err *e)
{
	profile_free(&m->profile.layout);
	m->row.list = 0;
	m->schedule.scored = m->schedule.made = false;
	return store_clear_profile(ms->store, m->row.id, PROFILE_LAYOUT, e);
}

int module_set_layout(struct modules *ms, struct module *m, const struct profile *snapshot,
    uint64_t list, struct err *e)
{
	if (module_load(ms, m, e) || module_clear_layout(ms, m, e))
		return -1;
	m->row.list = list;
	if (store_put_module(ms->store, &m->row, e))
		return -1;
	profile_copy_used(&m->profile.layout, snapshot ? snapshot : &m->profile.now);
	module_count_bytes(ms, m);
	return store_save_profile(ms->store, m->row.id, PROFILE_LAYOUT, &m->profile.layout, e);
}
