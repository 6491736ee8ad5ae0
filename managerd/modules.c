#include "managerd/modules.h"
#include "common/log.h"
#include "managerd/observe.h"
#include "managerd/remap.h"
#include "managerd/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How long a (path, build-id) without artifact is not looked at again. */
enum { LOOK_AGAIN_S = 30 };

static const char deleted[] = " (deleted)";

void module_text(const char **field, const char *text)
{
	char *copy = text ? xstrdup(text) : NULL;

	free((char *)*field);
	*field = copy;
}

/* ---- memory ---- */

static void unload(struct modules *ms, struct module *m)
{
	size_t i;

	profile_free(&m->now);
	profile_free(&m->layout);
	for (i = 0; i < m->origin.n; i++) {
		map_table_free(&m->origin.v[i].table);
		free(m->origin.v[i].hit);
		free(m->origin.v[i].func);
		free(m->origin.v[i].uops_func);
		worth_free(&m->origin.v[i].worth);
		uops_free(&m->origin.v[i].uops);
	}
	for (i = 0; i < m->build.n; i++)
		map_free(&m->build.v[i].map);
	vec_free(&m->origin);
	vec_free(&m->build);
	ms->bytes -= m->bytes;
	m->bytes = 0;
	m->loaded = false;
}

void module_forget_package(struct module *m)
{
	free(m->package);
	free(m->package_unknown);
	m->package = m->package_unknown = NULL;
	m->package_known = false;
}

static void module_free(struct modules *ms, struct module *m)
{
	unload(ms, m);
	free((char *)m->row.path);
	free((char *)m->row.text);
	free((char *)m->row.artifact);
	free((char *)m->row.held_why);
	module_forget_package(m);
	free(m->changed);
	free(m);
}

static size_t profile_bytes(const struct profile *p)
{
	const struct profile_func *f;
	size_t i, n = p->func.cap * sizeof *p->func.v + p->by_key.cap * 48;

	for (i = 0; i < p->func.n; i++) {
		f = &p->func.v[i];
		n += f->nblock * sizeof *f->block + f->edge.cap * sizeof *f->edge.v +
		     f->came.cap * sizeof *f->came.v + f->call.cap * sizeof *f->call.v + 96;
	}
	return n;
}

static void count_bytes(struct modules *ms, struct module *m)
{
	const struct origin *o;
	size_t i, n = profile_bytes(&m->now) + profile_bytes(&m->layout);

	for (i = 0; i < m->origin.n; i++) {
		o = &m->origin.v[i];
		n += o->table.nslot * sizeof *o->hit + o->table.func.n * sizeof *o->func;
		n += map_size(&(struct map){0}, &o->table);
		if (o->uops_func)
			n += uops_size(&o->uops) +
			     (o->table.func.n + o->uops.func.n) * sizeof *o->uops_func +
			     worth_size(&o->uops);
	}
	for (i = 0; i < m->build.n; i++)
		n += map_size(&m->build.v[i].map, &(struct map_table){0});
	ms->bytes += n - m->bytes;
	m->bytes = n;
	m->used = ++ms->clock;
}

void modules_trim(struct modules *ms, const struct module *keep)
{
	struct module *m, *oldest;
	size_t i;

	while (ms->bytes > MODULES_MEMORY) {
		oldest = NULL;
		for (i = 0; i < ms->module.n; i++) {
			m = ms->module.v[i];
			if (m->bytes && m != keep && (!oldest || m->used < oldest->used))
				oldest = m;
		}
		if (!oldest)
			return;
		unload(ms, oldest);
	}
}

/* ---- rows ---- */

static struct module *add_row(struct modules *ms, const struct store_module *row)
{
	struct module *m = xcalloc(1, sizeof *m);

	m->row = *row;
	m->row.path = xstrdup(row->path);
	m->row.text = m->row.artifact = m->row.held_why = NULL;
	module_text(&m->row.text, row->text);
	module_text(&m->row.artifact, row->artifact);
	module_text(&m->row.held_why, row->held_why);
	vec_push(&ms->module, m);
	*htab_put_str(&ms->by_path, row->path, NULL) = ms->module.n;
	return m;
}

static int read_rows(struct modules *ms, struct err *e)
{
	struct store_module *row;
	struct arena a = {0};
	size_t i, n;
	int rc = store_modules(ms->store, 0, &a, &row, &n, e);

	for (i = 0; rc == 0 && i < n; i++)
		add_row(ms, &row[i]);
	arena_free(&a);
	return rc;
}

int modules_open(struct modules *ms, struct store *s, const struct conf *c, struct err *e)
{
	*ms = (struct modules){.store = s, .conf = c};
	return read_rows(ms, e);
}

static void forget_all(struct modules *ms)
{
	size_t i;

	for (i = 0; i < ms->module.n; i++)
		module_free(ms, ms->module.v[i]);
	vec_free(&ms->module);
	htab_free(&ms->by_path);
	htab_free(&ms->refused);
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
	size_t i;

	for (i = 0; i < ms->module.n; i++)
		if (ms->module.v[i]->row.id == id)
			return ms->module.v[i];
	return NULL;
}

/* ---- profiles ---- */

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

/* ---- witness tables ---- */

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
	count_bytes(ms, m);
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

/* The functions of an origin, from the store. NULL with e untouched: absent. */
static int load_origin(struct modules *ms, struct module *m, const struct build_id *id,
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

int module_load(struct modules *ms, struct module *m, struct err *e)
{
	struct origin *o = NULL;

	m->used = ++ms->clock;
	if (m->loaded)
		return 0;
	if (store_load_profile(ms->store, m->row.id, PROFILE_NOW, &m->now, e))
		return -1;
	if (store_load_profile(ms->store, m->row.id, PROFILE_LAYOUT, &m->layout, e) ||
	    load_origin(ms, m, &m->row.origin, &o, e)) {
		unload(ms, m);
		return -1;
	}
	if (o)
		remap_profile(&m->now, &o->table, 0, ms->conf->profile.half_life_s);
	m->loaded = true;
	count_bytes(ms, m);
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

int module_set_layout(struct modules *ms, struct module *m, struct profile *snapshot, struct err *e)
{
	if (module_load(ms, m, e) || module_clear_layout(ms, m, e))
		return -1;
	if (snapshot) {
		m->layout = *snapshot;
		*snapshot = (struct profile){0};
	} else {
		profile_copy(&m->layout, &m->now);
	}
	count_bytes(ms, m);
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

/* ---- learning ---- */

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
	count_bytes(ms, m);
	return &m->build.v[m->build.n - 1];
}

/* A build known to the store. *b stays NULL when it is not, or its map is gone. */
static int load_build(struct modules *ms, struct module *m, const struct build_id *id,
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
		rc = load_origin(ms, m, &row->origin, &o, e);
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

__attribute__((format(printf, 5, 6))) static int event(struct modules *ms, const struct module *m,
    int64_t now_ms, const struct store_event *v, const char *fmt, ...)
{
	struct store_event ev = *v;
	va_list ap;
	char text[512];
	struct err e;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_info("%s: %s", m->row.path, text);
	ev.module = m->row.id;
	ev.at_ms = now_ms;
	ev.text = text;
	ev.samples = ev.gain = ev.seconds = NAN;
	if (store_put_event(ms->store, &ev, &e) == 0)
		return 0;
	log_error("%s", e.text);
	return -1;
}

static int store_discovery(
    struct modules *ms, struct module *m, const struct discovery *d, int64_t now_ms, struct err *e)
{
	struct store_build b = {.module = m->row.id,
	    .id = d->id,
	    .origin = d->origin,
	    .kind = build_id_equal(&d->id, &d->origin) ? BUILD_ORIGINAL : BUILD_LAID_OUT,
	    .state = BUILD_CURRENT,
	    .made_ms = now_ms,
	    .bytes = d->bytes};
	struct buf blob = {0};
	int rc;

	blockmap_encode(&d->map, &blob);
	b.map = blob.p;
	b.nmap = blob.n;
	rc = store_put_build(ms->store, &b, e);
	if (rc == 0) {
		blob.n = 0;
		map_table_encode(&d->table, &blob);
		rc = store_put_table(ms->store, &d->origin, blob.p, blob.n, e);
	}
	buf_free(&blob);
	return rc;
}

/* The profile of another program becomes this one's: equal functions keep theirs. */
static int take_over_profile(
    struct modules *ms, struct module *m, const struct map_table *t, int64_t now_ms, struct err *e)
{
	struct remap_result r;

	if (module_load(ms, m, e))
		return -1;
	r = remap_profile(&m->now, t, now_ms, ms->conf->profile.half_life_s);
	if (r.samples_kept + r.samples_discarded > 0)
		log_info(
		    "%s: %zu functions keep their profile (%.0f samples), %zu changed ones lose"
		    " theirs (%.0f samples)",
		    m->row.path, r.kept, r.samples_kept, r.discarded, r.samples_discarded);
	if (store_clear_profile(ms->store, m->row.id, PROFILE_NOW, e))
		return -1;
	return store_save_profile(ms->store, m->row.id, PROFILE_NOW, &m->now, e);
}

/* The row becomes what was found; profile, maps and store follow. */
static int adopt(struct modules *ms, struct module *m, struct discovery *d, int64_t now_ms,
    enum event_kind change, struct err *e)
{
	struct store_module *r = &m->row;
	bool fresh = !r->current.n || r->state == MODULE_NO_ARTIFACT;
	bool other = !fresh && !build_id_equal(&r->current, &d->id);
	bool rebuilt = fresh || !build_id_equal(&r->origin, &d->origin);
	struct build_id from = fresh ? (struct build_id){0} : r->current;
	bool laid_out = !build_id_equal(&d->id, &d->origin);

	r->uid = d->uid;
	module_text(&r->artifact, d->artifact);
	r->current = d->id;
	r->origin = d->origin;
	if (other && change != EVENT_KINDS) {
		r->held_until_ms = 0;
		module_text(&r->held_why, NULL);
		r->predicted = false;
	}
	r->state = r->held_why ? MODULE_HELD : laid_out ? MODULE_LAID_OUT : MODULE_ORIGINAL;
	module_text(
	    &r->text, laid_out ? "runs in a layout made for its usage" : "runs as it was built");
	if (store_put_module(ms->store, r, e) || store_discovery(ms, m, d, now_ms, e))
		return -1;
	if (other && (store_set_build_state(ms->store, r->id, &from, BUILD_PAST, e) ||
			 store_prune_builds(ms->store, r->id, PAST_BUILDS_KEPT, e)))
		return -1;
	if (rebuilt) {
		m->table = TABLE_UNKNOWN;
		if (take_over_profile(ms, m, &d->table, now_ms, e))
			return -1;
		unload(ms, m);
	}
	if (other && change != EVENT_KINDS && module_clear_layout(ms, m, e))
		return -1;
	if (fresh)
		return event(ms, m, now_ms,
		    &(struct store_event){.kind = EVENT_LEARNED, .to = d->id},
		    "learned: %zu functions, %u blocks", d->table.func.n, d->table.nslot);
	if (other && change != EVENT_KINDS)
		return event(ms, m, now_ms,
		    &(struct store_event){.kind = change, .from = from, .to = d->id},
		    rebuilt ? "replaced by another program"
			    : "replaced by another build of the same program");
	return 0;
}

/* What was found out about the file that was there. */
static void forget_file(struct module *m)
{
	module_forget_package(m);
	free(m->changed);
	m->changed = NULL;
	m->whole_known = false;
}

int module_examine(
    struct modules *ms, struct module *m, int64_t now_ms, enum event_kind change, struct err *e)
{
	struct discovery d = {0};
	struct err why;
	int rc;

	forget_file(m);
	m->stamped = file_stamp(m->row.path, &m->stamp) == 0;
	if (discover_file(m->row.path, &d, &why)) {
		m->row.state = MODULE_GONE;
		module_text(&m->row.text, why.text);
		rc = store_put_module(ms->store, &m->row, e);
	} else if (discover_artifact(m->row.path, &d, &why)) {
		if (m->row.artifact && m->row.state != MODULE_NO_ARTIFACT)
			log_warn("%s: cannot be followed any more: %s", m->row.path, why.text);
		else
			log_debug("%s: not learned: %s", m->row.path, why.text);
		m->row.state = MODULE_NO_ARTIFACT;
		m->row.uid = d.uid;
		m->row.current = d.id;
		m->row.origin = d.origin;
		module_text(&m->row.text, why.text);
		rc = store_put_module(ms->store, &m->row, e);
	} else {
		m->stamp = d.stamp;
		rc = adopt(ms, m, &d, now_ms, change, e);
	}
	discovery_free(&d);
	return rc;
}

bool module_unchanged(struct module *m)
{
	struct file_stamp s;

	return m->stamped && file_stamp(m->row.path, &s) == 0 && file_stamp_equal(&s, &m->stamp);
}

/* ---- finding ---- */

static bool refused_before(
    struct modules *ms, const char *path, const struct build_id *id, int64_t now_ms, uint64_t **at)
{
	struct buf key = {0};
	bool fresh;

	if (ms->refused.n > 4 * MODULES_MAX)
		htab_free(&ms->refused);
	buf_add(&key, path, strlen(path) + 1);
	buf_add(&key, id->b, id->n);
	*at = htab_put(&ms->refused, key.p, key.n, &fresh);
	buf_free(&key);
	return !fresh && **at > (uint64_t)(now_ms / 1000);
}

static int longest_silent(const void *a, const void *b)
{
	const struct module *const *x = a, *const *y = b;

	return (*x)->row.last_ms < (*y)->row.last_ms ? -1 : (*x)->row.last_ms > (*y)->row.last_ms;
}

/* Makes room: half of the files that never had an artifact go. */
static int forget_strangers(struct modules *ms, struct err *e)
{
	VEC(struct module *) stranger = {0};
	size_t i, n = 0;
	int rc = 0;

	for (i = 0; i < ms->module.n; i++)
		if (!ms->module.v[i]->row.artifact && !ms->module.v[i]->touched)
			vec_push(&stranger, ms->module.v[i]);
	if (stranger.n)
		qsort(stranger.v, stranger.n, sizeof *stranger.v, longest_silent);
	for (i = 0; rc == 0 && i < (stranger.n + 1) / 2; i++) {
		rc = store_drop_module(ms->store, stranger.v[i]->row.id, e);
		stranger.v[i]->row.id = 0;
	}
	vec_free(&stranger);
	htab_free(&ms->by_path);
	for (i = 0; i < ms->module.n; i++) {
		if (!ms->module.v[i]->row.id) {
			module_free(ms, ms->module.v[i]);
			continue;
		}
		ms->module.v[n++] = ms->module.v[i];
		*htab_put_str(&ms->by_path, ms->module.v[n - 1]->row.path, NULL) = n;
	}
	ms->module.n = n;
	return rc;
}

/*
 * An unknown build: only the file at the path can tell. Sets *build when it
 * is that file and has an artifact.
 */
static int look(struct modules *ms, const char *path, const struct build_id *id, int64_t now_ms,
    struct module **mod, struct build **build, struct err *e)
{
	struct module *m = *mod;
	struct discovery d = {0};
	struct err why;
	int same = discover_file(path, &d, &why) == 0 && build_id_equal(&d.id, id);

	discovery_free(&d);
	if (!same)
		return 0;
	if (!m) {
		if (ms->module.n >= MODULES_MAX && forget_strangers(ms, e))
			return -1;
		if (ms->module.n >= MODULES_MAX)
			return 0;
		m = *mod = add_row(ms, &(struct store_module){.id = module_id(path),
					   .path = path,
					   .state = MODULE_NO_ARTIFACT,
					   .first_ms = now_ms,
					   .last_ms = now_ms});
	}
	if (module_examine(ms, m, now_ms, EVENT_REPLACED, e))
		return -1;
	if (m->row.state == MODULE_NO_ARTIFACT || m->row.state == MODULE_GONE)
		return 0;
	return module_load(ms, m, e) || load_build(ms, m, id, build, e) ? -1 : 0;
}

/* Absolute, and the one way to write it: so the kernel names files. */
static bool plain_path(const char *path)
{
	const char *p;

	for (p = path; *p == '/'; p += strcspn(p, "/")) {
		p++;
		if (!*p || *p == '/' || !strncmp(p, "./", 2) || !strncmp(p, "../", 3))
			return false;
	}
	return p != path && !*p;
}

enum found modules_find(struct modules *ms, const char *path, const struct build_id *id,
    int64_t now_ms, struct module **mod, struct build **build, struct err *e)
{
	const struct conf_module *policy;
	char *clean = xstrdup(path);
	size_t n = strlen(clean);
	enum found rc = FOUND_OUTSIDE;
	uint64_t *again;
	struct module *m;

	*mod = NULL;
	*build = NULL;
	if (n > sizeof deleted - 1 && !strcmp(clean + n - (sizeof deleted - 1), deleted))
		clean[n - (sizeof deleted - 1)] = '\0';
	policy = conf_module_for(ms->conf, clean);
	if (!plain_path(clean) || (policy && policy->action == CONF_IGNORE))
		goto out;
	m = modules_of_path(ms, clean);
	if (m && (m->row.state != MODULE_NO_ARTIFACT || m->row.artifact) &&
	    (module_load(ms, m, e) || load_build(ms, m, id, build, e)))
		goto fail;
	if (!*build && !refused_before(ms, clean, id, now_ms, &again)) {
		*again = (uint64_t)(now_ms / 1000) + LOOK_AGAIN_S;
		if (look(ms, clean, id, now_ms, &m, build, e))
			goto fail;
	}
	*mod = m;
	if (*build)
		rc = FOUND_MAPPED;
	else if (m && m->row.state != MODULE_NO_ARTIFACT)
		rc = FOUND_STALE;
	goto out;
fail:
	rc = FOUND_ERROR;
out:
	free(clean);
	return rc;
}
