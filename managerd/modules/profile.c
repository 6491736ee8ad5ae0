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

	m->row.samples_ms = at.now_ms;
	m->row.samples = profile_total(&m->now, at).samples;
}

int module_load(struct modules *ms, struct module *m, struct err *e)
{
	struct origin *o = NULL;

	m->used = ++ms->clock;
	if (m->loaded)
		return 0;
	if (store_load_profile(ms->store, m->row.id, PROFILE_NOW, &m->now, e))
		return -1;
	if (store_load_profile(ms->store, m->row.id, PROFILE_LAYOUT, &m->layout, e) ||
	    module_load_origin(ms, m, &m->row.origin, &o, e)) {
		module_unload(ms, m);
		return -1;
	}
	if (o)
		remap_profile(&m->now, &o->table, (struct decay){0, ms->conf->profile.half_life_s});
	if (!m->row.samples_ms)
		module_sum(ms, m);
	m->loaded = true;
	module_count_bytes(ms, m);
	return 0;
}

int module_save(struct modules *ms, struct module *m, struct err *e)
{
	if (store_put_module(ms->store, &m->row, e))
		return -1;
	return m->loaded ? store_save_profile(ms->store, m->row.id, PROFILE_NOW, &m->now, e) : 0;
}

int module_clear_layout(struct modules *ms, struct module *m, struct err *e)
{
	profile_free(&m->layout);
	m->scored = false;
	return store_clear_profile(ms->store, m->row.id, PROFILE_LAYOUT, e);
}

int module_set_layout(
    struct modules *ms, struct module *m, const struct profile *snapshot, struct err *e)
{
	if (module_load(ms, m, e) || module_clear_layout(ms, m, e))
		return -1;
	profile_copy_used(&m->layout, snapshot ? snapshot : &m->now);
	module_count_bytes(ms, m);
	return store_save_profile(ms->store, m->row.id, PROFILE_LAYOUT, &m->layout, e);
}

struct profile_func *module_func(struct module *m, struct origin *o, size_t n)
{
	const struct map_func *f = &o->table.func.v[n];
	struct profile_func *p;

	if (o->func[n] == FUNC_UNKNOWN) {
		p = profile_get(&m->now, &f->key);
		o->func[n] =
		    p && p->nblock == f->nblock ? (uint32_t)(p - m->now.func.v) : FUNC_GONE;
	}
	return o->func[n] == FUNC_GONE ? NULL : &m->now.func.v[o->func[n]];
}
