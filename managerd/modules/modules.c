#include "managerd/modules/module.h"

#include <stdlib.h>

void module_text(const char **field, const char *text)
{
	char *copy = text ? xstrdup(text) : NULL;

	free((char *)*field);
	*field = copy;
}

/* ---- memory ---- */

void module_unload(struct modules *ms, struct module *m)
{
	size_t i;

	profile_free(&m->profile.now);
	profile_free(&m->profile.layout);
	profile_free(&m->profile.before);
	for (i = 0; i < m->builds.origin.n; i++) {
		map_table_free(&m->builds.origin.v[i].table);
		free(m->builds.origin.v[i].func);
		origin_drop_table(&m->builds.origin.v[i]);
	}
	for (i = 0; i < m->builds.build.n; i++)
		map_free(&m->builds.build.v[i].map);
	vec_free(&m->builds.origin);
	vec_free(&m->builds.build);
	ms->memory.bytes -= m->memory.bytes;
	m->memory.bytes = 0;
	m->memory.loaded = false;
}

static void module_free(struct modules *ms, struct module *m)
{
	module_unload(ms, m);
	free((char *)m->row.path);
	free((char *)m->row.text);
	free((char *)m->row.artifact);
	free((char *)m->row.held_why);
	free((char *)m->row.fetch_why);
	free((char *)m->row.lift_why);
	free(m->file.refused);
	free(m);
}

static size_t profile_bytes(const struct profile *p)
{
	const struct profile_func *f;
	size_t i, n = p->func.cap * sizeof *p->func.v + p->by_key.cap * 48;

	for (i = 0; i < p->func.n; i++) {
		f = &p->func.v[i];
		n += (f->block ? f->nblock * sizeof *f->block : 0) +
		     f->edge.cap * sizeof *f->edge.v +
		     f->predecessors.cap * sizeof *f->predecessors.v +
		     f->call.cap * sizeof *f->call.v + 96;
	}
	return n;
}

void module_count_bytes(struct modules *ms, struct module *m)
{
	const struct origin *o;
	size_t i, n = profile_bytes(&m->profile.now) + profile_bytes(&m->profile.layout) +
		      profile_bytes(&m->profile.before);

	for (i = 0; i < m->builds.origin.n; i++) {
		o = &m->builds.origin.v[i];
		n += o->table.func.n * sizeof *o->func;
		n += map_size(&(struct map){0}, &o->table);
		if (o->uops_func)
			n += uops_size(&o->uops) +
			     (o->table.func.n + o->uops.func.n) * sizeof *o->uops_func +
			     o->nclosed * sizeof *o->closed + weights_size(&o->uops);
	}
	for (i = 0; i < m->builds.build.n; i++)
		n += map_size(&m->builds.build.v[i].map, &(struct map_table){0});
	ms->memory.bytes += n - m->memory.bytes;
	m->memory.bytes = n;
	m->memory.used = ++ms->memory.clock;
}

void modules_trim(struct modules *ms, const struct module *keep)
{
	struct module *m, *oldest;
	size_t i;

	while (ms->memory.bytes > MODULES_MEMORY) {
		oldest = NULL;
		for (i = 0; i < ms->module.n; i++) {
			m = ms->module.v[i];
			if (m->memory.bytes && m != keep && !m->memory.touched &&
			    (!oldest || m->memory.used < oldest->memory.used))
				oldest = m;
		}
		if (!oldest)
			return;
		module_unload(ms, oldest);
	}
}

/* ---- rows ---- */

static void index_module(struct modules *ms, size_t i)
{
	const struct store_module *row = &ms->module.v[i]->row;

	*htab_put_str(&ms->by_path, row->path, NULL) = i + 1;
	*htab_put(&ms->by_id, &row->id, sizeof row->id, NULL) = i + 1;
}

struct module *module_add(struct modules *ms, const struct store_module *row)
{
	struct module *m = xcalloc(1, sizeof *m);

	m->row = *row;
	m->row.path = xstrdup(row->path);
	m->row.text = m->row.artifact = m->row.held_why = NULL;
	m->row.fetch_why = m->row.lift_why = NULL;
	module_text(&m->row.text, row->text);
	module_text(&m->row.artifact, row->artifact);
	module_text(&m->row.held_why, row->held_why);
	module_text(&m->row.fetch_why, row->fetch_why);
	module_text(&m->row.lift_why, row->lift_why);
	vec_push(&ms->module, m);
	index_module(ms, ms->module.n - 1);
	return m;
}

void modules_pack(struct modules *ms)
{
	struct module *m;
	size_t i, n = 0;

	htab_free(&ms->by_path);
	htab_free(&ms->by_id);
	for (i = 0; i < ms->module.n; i++) {
		m = ms->module.v[i];
		if (!m->row.id) {
			module_free(ms, m);
			continue;
		}
		ms->module.v[n] = m;
		index_module(ms, n++);
	}
	ms->module.n = n;
}

static int read_rows(struct modules *ms, struct err *e)
{
	struct store_module *row;
	struct arena a = {0};
	size_t i, n;
	int rc = store_modules(ms->store, 0, &a, &row, &n, e);

	for (i = 0; rc == 0 && i < n; i++)
		module_add(ms, &row[i]);
	arena_free(&a);
	return rc;
}

int modules_open(
    struct modules *ms, struct store *s, struct priv *p, const struct conf *c, struct err *e)
{
	*ms = (struct modules){.store = s, .priv = p, .conf = c};
	return read_rows(ms, e);
}

static void forget_all(struct modules *ms)
{
	size_t i;

	for (i = 0; i < ms->module.n; i++)
		module_free(ms, ms->module.v[i]);
	vec_free(&ms->module);
	htab_free(&ms->by_path);
	htab_free(&ms->by_id);
	htab_free(&ms->unfit);
	htab_free(&ms->crowded);
}

void modules_close(struct modules *ms)
{
	forget_all(ms);
	free(ms->tables);
}

int modules_reload(struct modules *ms, struct err *e)
{
	forget_all(ms);
	return read_rows(ms, e);
}

struct module *modules_of_path(const struct modules *ms, const char *path)
{
	uint64_t *at = htab_get_str(&ms->by_path, path);

	return at ? ms->module.v[*at - 1] : NULL;
}

struct module *modules_get(const struct modules *ms, uint64_t id)
{
	uint64_t *at = htab_get(&ms->by_id, &id, sizeof id);

	return at ? ms->module.v[*at - 1] : NULL;
}
