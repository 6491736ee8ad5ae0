#include "common/log.h"
#include "managerd/module_parts.h"
#include "managerd/observe.h"
#include "managerd/tables.h"

#include <stdlib.h>

/* ---- original builds and their witness tables ---- */

static struct origin *find_origin(struct module *m, const struct build_id *id)
{
	size_t i;

	for (i = 0; i < m->origin.n; i++)
		if (build_id_equal(&m->origin.v[i].id, id))
			return &m->origin.v[i];
	return NULL;
}

static struct origin *add_origin(
    struct module *m, const struct build_id *id, const struct map_table *t)
{
	struct origin o = {.id = *id, .table = *t};
	size_t i;

	o.hit = xcalloc(t->nslot, sizeof *o.hit);
	o.func = xcalloc(t->func.n, sizeof *o.func);
	for (i = 0; i < t->func.n; i++)
		o.func[i] = FUNC_UNKNOWN;
	vec_push(&m->origin, o);
	return &m->origin.v[m->origin.n - 1];
}

bool module_has_table(struct modules *ms, struct module *m)
{
	if (m->table == TABLE_UNKNOWN)
		m->table = ms->tables && tables_have(ms->tables, m->row.id, &m->row.origin)
			       ? TABLE_THERE
			       : TABLE_ABSENT;
	return m->table == TABLE_THERE;
}

/* One that cannot be read is made anew. */
static void load_table(struct modules *ms, struct module *m, struct origin *o)
{
	struct err e;
	int rc;

	if (o->uops_func || !build_id_equal(&o->id, &m->row.origin) || !module_has_table(ms, m))
		return;
	rc = tables_load(ms->tables, m->row.id, &o->id, &o->uops, &e);
	if (rc < 0)
		log_warn("%s; it is made anew", e.text);
	if (rc != 1) {
		m->table = TABLE_ABSENT;
		return;
	}
	o->uops_func = observe_link(&o->table, &o->uops);
	o->worth = worth_new(&o->uops);
}

int module_take_table(struct modules *ms, struct module *m, const char *path, struct err *e)
{
	struct origin *o;

	m->table = TABLE_FAILED;
	if (tables_take(ms->tables, m->row.id, &m->row.origin, path, e))
		return -1;
	m->table = TABLE_THERE;
	o = find_origin(m, &m->row.origin);
	if (o)
		load_table(ms, m, o);
	module_count_bytes(ms, m);
	return 0;
}

static bool table_of_present(void *arg, uint64_t module, const struct build_id *origin)
{
	const struct module *m = modules_get(arg, module);

	return m && build_id_equal(&m->row.origin, origin);
}

void modules_sweep_tables(struct modules *ms)
{
	tables_sweep(ms->tables, table_of_present, ms);
}

int module_load_origin(struct modules *ms, struct module *m, const struct build_id *id,
    struct origin **o, struct err *e)
{
	struct map_table t;
	struct buf blob = {0};
	int rc;

	*o = find_origin(m, id);
	if (*o)
		return 0;
	rc = store_table(ms->store, id, &blob, e);
	if (rc == 1) {
		rc = map_table_decode(blob.p, blob.n, &t, e);
		if (rc == 0) {
			*o = add_origin(m, id, &t);
			load_table(ms, m, *o);
		}
	}
	buf_free(&blob);
	return rc;
}

/* ---- builds ---- */

static struct build *find_build(struct module *m, const struct build_id *id)
{
	size_t i;

	for (i = 0; i < m->build.n; i++)
		if (build_id_equal(&m->build.v[i].id, id))
			return &m->build.v[i];
	return NULL;
}

static struct build *add_build(struct modules *ms, struct module *m, const struct build_id *id,
    const struct origin *o, const struct blockmap *b, struct err *e)
{
	struct build x = {.id = *id, .origin = (size_t)(o - m->origin.v)};

	if (map_make(b, &o->table, &x.map, e))
		return NULL;
	if (x.map.unknown)
		log_warn("%s: %zu blocks of functions the artifact does not have", m->row.path,
		    x.map.unknown);
	vec_push(&m->build, x);
	module_count_bytes(ms, m);
	return &m->build.v[m->build.n - 1];
}

int module_load_build(struct modules *ms, struct module *m, const struct build_id *id,
    struct build **b, struct err *e)
{
	struct store_build *row;
	struct blockmap map;
	struct origin *o = NULL;
	struct arena a = {0};
	size_t n;
	int rc;

	*b = find_build(m, id);
	if (*b)
		return 0;
	rc = store_builds(ms->store, m->row.id, id, &a, &row, &n, e);
	if (rc == 0 && n && row->nmap) {
		rc = module_load_origin(ms, m, &row->origin, &o, e);
		if (rc == 0 && o)
			rc = blockmap_decode(row->map, row->nmap, &map, e);
		if (rc == 0 && o) {
			*b = add_build(ms, m, id, o, &map, e);
			rc = *b ? 0 : -1;
			blockmap_free(&map);
		}
	}
	arena_free(&a);
	return rc;
}
