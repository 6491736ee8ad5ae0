#include "common/log.h"
#include "managerd/modules/module.h"
#include "managerd/samples/observe.h"
#include "managerd/os/pool.h"
#include "managerd/replay/tables.h"

#include <malloc.h>
#include <stdlib.h>

/* Bytes of a module whose loading leaves megabytes to give back. */
enum { LARGE = 4 << 20 };

/* ---- original builds and their replay tables ---- */

struct origin *builds_origin(const struct builds *b, const struct build_id *id)
{
	size_t i;

	for (i = 0; i < b->origin.n; i++)
		if (build_id_equal(&b->origin.v[i].id, id))
			return &b->origin.v[i];
	return NULL;
}

static struct origin *add_origin(
    struct builds *b, const struct build_id *id, const struct map_table *t)
{
	struct origin o = {.id = *id, .table = *t};
	size_t i;

	o.func = xcalloc(t->func.n, sizeof *o.func);
	for (i = 0; i < t->func.n; i++)
		o.func[i] = FUNC_UNKNOWN;
	vec_push(&b->origin, o);
	return &b->origin.v[b->origin.n - 1];
}

struct profile_func *origin_func(struct origin *o, struct profile *now, size_t n)
{
	const struct map_func *f = &o->table.func.v[n];
	struct profile_func *p;

	if (o->func[n] == FUNC_UNKNOWN) {
		p = profile_get(now, &f->key);
		o->func[n] = p && p->nblock == f->nblock ? (uint32_t)(p - now->func.v) : FUNC_GONE;
	}
	return o->func[n] == FUNC_GONE ? NULL : &now->func.v[o->func[n]];
}

struct table_name module_table_name(const struct module *m, enum table_kind kind)
{
	return (struct table_name){m->row.id, m->row.uid, m->row.origin, kind};
}

bool module_has_table(struct modules *ms, struct module *m)
{
	struct table_name name = module_table_name(m, TABLE_REPLAY);

	if (m->builds.table == TABLE_UNKNOWN)
		m->builds.table =
		    ms->tables && tables_have(ms->tables, &name) ? TABLE_THERE : TABLE_ABSENT;
	return m->builds.table == TABLE_THERE;
}

/* A table that is being loaded, and stored before where a job has just made it. */
struct table_work {
	struct modules *ms;
	struct table_name name;
	char *dir;
	unsigned lifted;  /* m->memory.lifted when it began */
	bool fresh;       /* a job has made it: … */
	struct blob made; /* … these bytes, until they are in its file */
	struct htab used; /* keys of functions with samples, of a large one the densest … */
	size_t sampled;   /* … of so many */
	/* what came of it */
	struct uops uops;
	int rc;
	bool part;
	struct err why;
};

static void run_table(void *arg)
{
	struct table_work *w = arg;

	w->rc = -1;
	if (w->fresh && tables_take(w->dir, &w->name, &w->made, &w->why))
		return;
	blob_free(&w->made);
	w->rc = tables_load(w->dir, &w->name, &w->used, &w->uops, &w->part, &w->why);
}

void origin_drop_table(struct origin *o)
{
	free(o->uops_func);
	free(o->closed);
	o->uops_func = o->closed = NULL;
	o->nclosed = 0;
	weights_free(&o->weights);
	uops_free(&o->uops);
}

/* It goes to its module, where that is still loaded. */
static void attach(const struct builds *b, struct table_work *w)
{
	struct origin *o = builds_origin(b, &w->name.origin);

	if (!o)
		return;
	o->uops_asked = false;
	if (w->rc != 1)
		return;
	origin_drop_table(o);
	o->uops = w->uops;
	w->uops = (struct uops){0};
	o->uops_func = observe_link(&o->table, &o->uops);
	o->closed = observe_closed(&o->table, &o->uops, o->uops_func, &o->nclosed);
	o->weights = weights_new(&o->uops);
	o->uops_used = w->part ? w->sampled : 0;
}

/* The module that a table of this name is for, at present. */
static struct module *find_named(const struct modules *ms, const struct table_name *name)
{
	struct module *m = modules_get(ms, name->module);
	struct table_name own;

	if (!m)
		return NULL;
	own = module_table_name(m, name->kind);
	return table_name_equal(&own, name) ? m : NULL;
}

/* One that cannot be read is made again; one that a job made badly is not. */
static void table_ready(void *arg)
{
	struct table_work *w = arg;
	struct module *m = find_named(w->ms, &w->name);

	if (m && m->memory.lifted != w->lifted) { /* it has other functions by now */
		if (w->fresh)
			tables_forget(w->dir, &w->name);
		m = NULL;
	}
	if (m) {
		if (w->rc < 0)
			log_warn("%s: replay table: %s%s", m->row.path, w->why.text,
			    w->fresh ? "" : "; it is made again");
		m->builds.table = w->rc == 1 ? TABLE_THERE : w->fresh ? TABLE_FAILED : TABLE_ABSENT;
		attach(&m->builds, w);
		module_count_bytes(w->ms, m);
		if (w->ms->pool.tabled)
			w->ms->pool.tabled(w->ms->pool.arg);
	}
	if (w->fresh)
		modules_sweep_tables(w->ms);
	if (w->part)
		malloc_trim(0);
	uops_free(&w->uops);
	blob_free(&w->made);
	htab_free(&w->used);
	free(w->dir);
	free(w);
}

/* Blocks of a large program whose instructions are in memory, at 150 bytes each: those of cc1's
 * million with 85 % of its samples. */
enum { TABLE_BLOCKS = 1 << 16 };

static size_t functions_sampled(const struct module *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->profile.now.func.n; i++)
		n += m->profile.now.func.v[i].as_of_ms != 0;
	return n;
}

/* made: what a job has made, taken over, or NULL. */
static void start_table(struct modules *ms, struct module *m, struct blob *made)
{
	struct table_work *w = xcalloc(1, sizeof *w);
	size_t i, n, *densest;

	*w = (struct table_work){.ms = ms,
	    .name = module_table_name(m, TABLE_REPLAY),
	    .dir = xstrdup(ms->tables),
	    .lifted = m->memory.lifted,
	    .fresh = made != NULL};
	if (made)
		w->made = blob_take(made);
	w->sampled = functions_sampled(m);
	densest = profile_densest(&m->profile.now, modules_decay(ms), TABLE_BLOCKS, &n);
	for (i = 0; i < n; i++)
		htab_put(&w->used, m->profile.now.func.v[densest[i]].key.b, sizeof(struct hash128),
		    NULL);
	free(densest);
	pool_run(ms->pool.loop, run_table, table_ready, w);
}

static void load_table(struct modules *ms, struct module *m, struct origin *o)
{
	if (o->uops_func || o->uops_asked || !build_id_equal(&o->id, &m->row.origin) ||
	    !module_has_table(ms, m))
		return;
	o->uops_asked = true;
	start_table(ms, m, NULL);
}

void module_more_table(struct modules *ms, struct module *m, struct origin *o)
{
	if (!o->uops_used || o->uops_asked ||
	    functions_sampled(m) <= o->uops_used + o->uops_used / 4)
		return;
	o->uops_asked = true;
	/* Of a large program there is no room for two; this one is back in a moment. */
	origin_drop_table(o);
	start_table(ms, m, NULL);
}

void module_take_table(struct modules *ms, struct module *m, struct blob *table)
{
	m->builds.table = TABLE_FAILED; /* until it is there */
	start_table(ms, m, table);
}

/* Shapes of the program before are kept until its profile is carried over. */
static bool table_is_needed(void *arg, const struct table_name *name)
{
	const struct module *m = modules_get(arg, name->module);

	return find_named(arg, name) ||
	       (m && name->kind == TABLE_SHAPES && name->uid == m->row.uid &&
		   (!m->memory.loaded || m->profile.before.func.n));
}

void modules_sweep_tables(struct modules *ms)
{
	tables_sweep(ms->tables, table_is_needed, ms);
}

int module_load_origin(struct modules *ms, struct module *m, const struct build_id *id,
    struct origin **o, struct err *e)
{
	struct map_table t;
	struct buf blob = {0};
	struct err why;
	int rc;

	*o = builds_origin(&m->builds, id);
	if (*o)
		return 0;
	rc = store_table(ms->store, m->row.id, id, &blob, e);
	if (rc == 1) {
		rc = 0;
		if (map_table_decode(blob.p, blob.n, &t, &why)) {
			log_debug("%s: %s", m->row.path, why.text);
		} else {
			*o = add_origin(&m->builds, id, &t);
			load_table(ms, m, *o);
		}
	}
	buf_free(&blob);
	return rc;
}

/* ---- builds ---- */

static struct build *find_build(const struct builds *b, const struct build_id *id)
{
	size_t i;

	for (i = 0; i < b->build.n; i++)
		if (build_id_equal(&b->build.v[i].id, id))
			return &b->build.v[i];
	return NULL;
}

int module_join(
    const void *table, size_t ntable, const void *map, size_t nmap, struct joined *j, struct err *e)
{
	struct map_table *t = &j->table;
	struct blockmap b;
	int rc;

	*j = (struct joined){0};
	if (ntable > MODULE_BYTES_MAX || nmap > MODULE_BYTES_MAX)
		return err_set(e,
		    "a function table or block map of more than the %d bytes there is"
		    " room for",
		    MODULE_BYTES_MAX);
	if (map_table_decode(table, ntable, t, e))
		return -1;
	if (t->nslot > MODULE_BLOCKS_MAX || t->func.n > MODULE_FUNCS_MAX) {
		err_set(e, "%u blocks of %zu functions, more than the %d of %d there is room for",
		    t->nslot, t->func.n, MODULE_BLOCKS_MAX, MODULE_FUNCS_MAX);
		map_table_free(t);
		return -1;
	}
	rc = blockmap_decode(map, nmap, &b, e);
	if (rc == 0) {
		rc = map_make(&b, t, &j->map, e);
		blockmap_free(&b);
	}
	if (rc)
		map_table_free(t);
	return rc;
}

void joined_free(struct joined *j)
{
	map_table_free(&j->table);
	map_free(&j->map);
}

struct build *module_add_joined(struct modules *ms, struct module *m, const struct build_id *id,
    const struct build_id *origin, struct joined *j)
{
	struct origin *o = builds_origin(&m->builds, origin);
	struct build x = {.id = *id, .map = j->map};

	if (find_build(&m->builds, id))
		return NULL;
	if (!o) {
		o = add_origin(&m->builds, origin, &j->table);
		j->table = (struct map_table){0};
		load_table(ms, m, o);
	}
	j->map = (struct map){0};
	if (x.map.unknown)
		log_warn("%s: %zu blocks of functions the artifact does not have", m->row.path,
		    x.map.unknown);
	x.origin = (size_t)(o - m->builds.origin.v);
	vec_push(&m->builds.build, x);
	module_count_bytes(ms, m);
	return &m->builds.build.v[m->builds.build.n - 1];
}

struct build_work {
	struct modules *ms;
	uint64_t module;
	uint32_t uid; /* its owner then */
	struct build_id id, origin;
	unsigned lifted; /* m->memory.lifted when it began */
	struct buf table, map;
	struct joined j;
	int rc;
	struct err why;
	bool pool;
};

/* One user's programs, however many and large, keep neither memory nor the pool from others. */
static bool may_load(const struct modules *ms, uint32_t uid)
{
	unsigned i;

	for (i = 0; i < ms->memory.nloading && ms->memory.loading[i] != uid; i++)
		;
	return i == ms->memory.nloading && i < MODULES_LOADING;
}

static void run_build(void *arg)
{
	struct build_work *w = arg;

	w->rc = module_join(w->table.p, w->table.n, w->map.p, w->map.n, &w->j, &w->why);
	buf_free(&w->table);
	buf_free(&w->map);
}

/* The samples of one that cannot be mapped are stale, and nobody else's. */
static void build_ready(void *arg)
{
	struct build_work *w = arg;
	struct modules *ms = w->ms;
	struct module *m = modules_get(ms, w->module);
	unsigned i;

	if (w->pool) {
		for (i = 0; ms->memory.loading[i] != w->uid; i++)
			;
		ms->memory.loading[i] = ms->memory.loading[--ms->memory.nloading];
	}
	if (m)
		m->memory.loading = false;
	if (m && (m->row.uid != w->uid || m->memory.lifted != w->lifted))
		m = NULL; /* another program, whatever build it calls itself, or other functions */
	if (m && w->rc)
		log_debug("%s: %s", m->row.path, w->why.text);
	if (!w->rc) {
		if (m)
			module_add_joined(ms, m, &w->id, &w->origin, &w->j);
		joined_free(&w->j);
	}
	if (m && m->memory.bytes > LARGE)
		malloc_trim(0);
	if (w->pool && ms->pool.loaded)
		ms->pool.loaded(ms->pool.arg);
	free(w);
}

static int start_build(
    struct modules *ms, struct module *m, const struct store_build *row, struct err *e)
{
	struct build_work *w = xcalloc(1, sizeof *w);
	bool pool;
	int rc;

	*w = (struct build_work){.ms = ms,
	    .module = m->row.id,
	    .id = row->id,
	    .origin = row->origin,
	    .uid = m->row.uid,
	    .lifted = m->memory.lifted};
	rc = store_table(ms->store, m->row.id, &row->origin, &w->table, e);
	if (rc != 1) {
		free(w);
		return rc;
	}
	m->memory.large = w->table.n + row->nmap >= MODULE_LONG;
	pool = ms->pool.loop && m->memory.large;
	if (pool && !may_load(ms, w->uid)) {
		buf_free(&w->table);
		free(w);
		return 1;
	}
	buf_add(&w->map, row->map, row->nmap);
	w->pool = m->memory.loading = pool;
	if (pool)
		ms->memory.loading[ms->memory.nloading++] = w->uid;
	pool_run(pool ? ms->pool.loop : NULL, run_build, build_ready, w);
	return pool;
}

int module_load_build(struct modules *ms, struct module *m, const struct build_id *id,
    struct build **b, struct err *e)
{
	struct store_build *row;
	struct arena a = {0};
	size_t n;
	int rc;

	*b = find_build(&m->builds, id);
	if (*b)
		return 0;
	if (m->memory.loading || (ms->pool.loop && m->memory.large && !may_load(ms, m->row.uid)))
		return 1;
	rc = store_builds(ms->store, m->row.id, id, &a, &row, &n, e);
	if (rc == 0 && n && row->nmap)
		rc = start_build(ms, m, row, e);
	arena_free(&a);
	*b = find_build(&m->builds, id);
	return rc;
}
