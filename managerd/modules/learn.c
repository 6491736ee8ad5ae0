#include "common/log.h"
#include "managerd/modules/module.h"
#include "managerd/store/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an inspection says ---- */

/* With its table where the store has another or none. */
static int store_found(struct modules *ms, const struct module *m, const struct priv_inspected *r,
    bool other, int64_t now_ms, struct err *e)
{
	struct store_build b = {.module = m->row.id,
	    .id = r->id,
	    .origin = r->origin,
	    .kind = build_id_equal(&r->id, &r->origin) ? BUILD_ORIGINAL : BUILD_LAID_OUT,
	    .state = BUILD_CURRENT,
	    .made_ms = now_ms,
	    .bytes = r->bytes,
	    .map = r->map,
	    .nmap = r->nmap};

	if (store_put_build(ms->store, &b, e))
		return -1;
	return other ? store_put_table(ms->store, m->row.id, &r->origin, r->table, r->ntable, e)
		     : 0;
}

static void set_state(struct store_module *r)
{
	bool laid_out = store_laid_out(r);

	r->state = r->held_why ? MODULE_HELD : laid_out ? MODULE_LAID_OUT : MODULE_ORIGINAL;
	module_text(&r->text,
	    laid_out ? "runs in a layout made for its usage" : "runs in its original layout");
}

void module_hold(struct store_module *row, const char *why)
{
	row->held_until_ms = -1;
	module_text(&row->held_why, why);
	row->state = MODULE_HELD;
	module_text(&row->text, why);
}

/* It is another build of this or another program: what was said of the one
 * before, `from`, does not hold for it. */
static int replaced(
    struct modules *ms, struct module *m, const struct build_id *from, struct err *e)
{
	if (m->row.held_until_ms < 0 && priv_hold(ms->priv, m->row.path, false, e))
		log_warn("%s", e->text);
	m->row.held_until_ms = 0;
	module_text(&m->row.held_why, NULL);
	m->row.predicted = false;
	return module_clear_layout(ms, m, e) ||
		       store_set_build_state(ms->store, m->row.id, from, BUILD_PAST, e) ||
		       store_prune_builds(ms->store, m->row.id, PAST_BUILDS_KEPT, e)
		   ? -1
		   : 0;
}

/* 1 its maps are known, so that its samples were mapped, 0 not, -1. */
static int is_known_build(
    struct modules *ms, const struct module *m, const struct build_id *id, struct err *e)
{
	struct store_build *row;
	struct arena a = {0};
	bool known = false;
	size_t i, n;
	int rc = store_builds(ms->store, m->row.id, NULL, &a, &row, &n, e);

	for (i = 0; i < n; i++)
		known |= build_id_equal(&row[i].id, id);
	arena_free(&a);
	return rc ? -1 : known;
}

static void forget_tries(struct store_module *r)
{
	r->fetch_ms = r->fetch_tries = 0;
	module_text(&r->fetch_why, NULL);
	module_text(&r->lift_why, NULL);
}

/* The artifact that it was learned from, perhaps elsewhere. */
static bool same_artifact(
    const struct modules *ms, const struct store_module *row, const struct priv_inspected *r)
{
	return store_same_table(ms->store, row->id, &row->origin, r->table, r->ntable, NULL) == 1;
}

/* The row becomes what was found; profile, maps and store follow. */
static int adopt(struct modules *ms, struct module *m, const struct priv_inspected *d,
    struct joined *j, int64_t now_ms, struct err *e)
{
	struct store_module *r = &m->row;
	bool fresh = !r->current.n || r->state == MODULE_NO_ARTIFACT;
	bool other = !fresh && !build_id_equal(&r->current, &d->id);
	bool rebuilt = fresh || !build_id_equal(&r->origin, &d->origin);
	bool again = j && !rebuilt && !same_artifact(ms, r, d);
	struct build_id from = fresh ? (struct build_id){0} : r->current, origin = r->origin;
	size_t nfunc = j ? j->table.func.n : 0;
	uint32_t nslot = j ? j->table.nslot : 0;
	const struct build *b;
	double lost = 0;
	int known = is_known_build(ms, m, &d->id, e);

	/* Its profile as it was: functions that there are no more have theirs until it is taken
	 * over. */
	if (known < 0 || (j && (rebuilt || again) && module_load(ms, m, e)))
		return -1;
	r->uid = d->uid;
	module_text(&r->artifact, d->artifact);
	if (rebuilt || again)
		forget_tries(r);
	r->current = d->id;
	r->origin = d->origin;
	if (other && replaced(ms, m, &from, e))
		return -1;
	if (!r->held_why && priv_held(ms->priv, r->path))
		module_hold(r, "rolled back");
	set_state(r);
	if (store_put_module(ms->store, r, e))
		return -1;
	if (!j)
		return 0;
	if (store_found(ms, m, d, rebuilt || again, now_ms, e))
		return -1;
	if (rebuilt && module_take_over(ms, m, &origin, &j->table, now_ms, e))
		return -1;
	if (again && module_lifted_again(ms, m, &j->table, now_ms, &lost, e))
		return -1;
	if (rebuilt || again) {
		m->builds.table = m->builds.shapes = TABLE_UNKNOWN;
		module_unload(ms, m);
	}
	b = module_add_joined(ms, m, &d->id, &d->origin, j);
	if (fresh && b && !known && module_recall(ms, m, b, now_ms, e))
		return -1;
	if (again && b && module_recall_lost(ms, m, b, lost, now_ms, e))
		return -1;
	if (fresh)
		return event_learned(ms->store, r, now_ms, nfunc, nslot, e);
	return other ? event_replaced(ms->store, r, now_ms, &from, rebuilt, e) : 0;
}

/* Nothing more is known of it than that there is a file, or was. */
static int set_aside(struct modules *ms, struct module *m, const struct priv_inspected *r,
    enum module_state state, const char *why, struct err *e)
{
	if (state == MODULE_NO_ARTIFACT) {
		if (m->row.artifact && m->row.state != MODULE_NO_ARTIFACT)
			log_warn("%s: cannot be followed any more: %s", m->row.path, why);
		else
			log_debug("%s: not learned: %s", m->row.path, why);
		m->row.uid = r->uid;
		if (r->id.n && !build_id_equal(&m->row.origin, &r->origin)) {
			forget_tries(&m->row);
			m->row.outside_aged = 0; /* those to come are of this one */
			if (m->row.origin.n && replaced(ms, m, &m->row.current, e))
				return -1;
		}
		if (r->id.n) {
			m->row.current = r->id;
			m->row.origin = r->origin;
		}
	}
	m->row.state = state;
	module_text(&m->row.text, why);
	return store_put_module(ms->store, &m->row, e);
}

static bool is_known(const struct store_module *row, const struct priv_inspected *r)
{
	return row->artifact && row->state != MODULE_NO_ARTIFACT &&
	       build_id_equal(&row->current, &r->id) && build_id_equal(&row->origin, &r->origin);
}

bool modules_known(const struct modules *ms, const char *path, const struct priv_inspected *r)
{
	const struct module *m = modules_of_path(ms, path);

	return m && m->row.uid == r->uid && is_known(&m->row, r) && same_artifact(ms, &m->row, r);
}

/* A file that could not even be read is not lifted either. */
static void note_judgement(struct inspected_file *f, const struct priv_inspected *r)
{
	const char *refused = r->status == PRIV_NO_ARTIFACT && !r->id.n ? r->why : r->refused;

	f->judged = false;
	free(f->refused);
	f->refused = r->status != PRIV_GONE && *refused ? xstrdup(refused) : NULL;
	f->observed = r->observed;
}

/* Found without reading it, and as it was when it was judged. */
static bool as_judged(const struct module *m, const struct priv_inspected *r, bool shallow)
{
	return shallow && r->status == PRIV_NO_ARTIFACT && m->row.state == MODULE_NO_ARTIFACT &&
	       m->file.stamped && priv_stamp_equal(&m->file.stamp, &r->stamp);
}

static int apply(struct modules *ms, struct module *m, bool shallow, const struct priv_inspected *r,
    struct joined *j, const char *why, int64_t now_ms, struct err *e)
{
	if (r->status == PRIV_LATER)
		return 0;
	if (!as_judged(m, r, shallow))
		note_judgement(&m->file, r);
	m->file.stamped = r->status != PRIV_GONE;
	m->file.stamp = r->stamp;
	if (r->status == PRIV_FOLLOWED && (j || is_known(&m->row, r)))
		return adopt(ms, m, r, j, now_ms, e);
	if (r->status == PRIV_FOLLOWED)
		return set_aside(ms, m, r, MODULE_NO_ARTIFACT, why, e);
	return set_aside(
	    ms, m, r, r->status == PRIV_GONE ? MODULE_GONE : MODULE_NO_ARTIFACT, r->why, e);
}

/* ---- rows ---- */

static struct store_module new_row(const char *path, uint32_t uid, int64_t now_ms)
{
	return (struct store_module){.id = module_id(path),
	    .path = path,
	    .uid = uid,
	    .state = MODULE_NO_ARTIFACT,
	    .first_ms = now_ms,
	    .last_ms = now_ms};
}

static int start_afresh(struct modules *ms, struct module *m, uint32_t uid, const char *why,
    int64_t now_ms, struct err *e)
{
	char *path = xstrdup(m->row.path);
	struct store_module row = new_row(path, uid, now_ms);
	int rc = store_drop_module(ms->store, m->row.id, e);

	if (rc == 0) {
		log_info("%s: %s; what was known of it is forgotten", path, why);
		if (m->row.held_until_ms < 0 && priv_hold(ms->priv, path, false, e))
			log_warn("%s", e->text);
		if (ms->working == m->row.id)
			ms->working = 0;
		m->row.id = 0;
		modules_pack(ms);
		/* Its table, too, since the next program may call itself the same build. */
		if (ms->tables)
			modules_sweep_tables(ms);
		module_add(ms, &row);
	}
	free(path);
	return rc;
}

/* Another user's file: nothing of what was known at this path is theirs. Another artifact, where
 * one was lifted and there is a better one now: its functions are others. In the same place it has
 * more of the same functions, as it was lifted again. */
static bool is_other(
    struct modules *ms, const struct module *m, const struct priv_inspected *r, char *why, size_t n)
{
	if (m->row.uid != r->uid)
		snprintf(why, n, "belongs to uid %u now", (unsigned)r->uid);
	else if (r->status == PRIV_FOLLOWED && is_known(&m->row, r) &&
		 strcmp(m->row.artifact, r->artifact) != 0 && !same_artifact(ms, &m->row, r))
		snprintf(why, n, "has another artifact now, %s", r->artifact);
	else
		return false;
	return true;
}

static int find_row(struct modules *ms, const char *path, bool wanted,
    const struct priv_inspected *r, int64_t now_ms, struct module **m, struct err *e)
{
	bool file = r->status == PRIV_FOLLOWED || r->status == PRIV_NO_ARTIFACT;
	struct store_module row = new_row(path, r->uid, now_ms);
	const struct module *other;
	char why[256];
	int room;

	*m = modules_of_path(ms, path);
	if (*m && file && is_other(ms, *m, r, why, sizeof why)) {
		if (start_afresh(ms, *m, r->uid, why, now_ms, e))
			return -1;
		*m = modules_of_path(ms, path);
	}
	if (*m || !file || !wanted)
		return 0;
	other = modules_get(ms, row.id);
	if (other) {
		log_warn("%s: not followed: its id is that of %s", path, other->row.path);
		return 0;
	}
	room = modules_room(ms, r->uid, e);
	if (room == 1)
		*m = module_add(ms, &row);
	return room < 0 ? -1 : 0;
}

int modules_learn(struct modules *ms, const char *path, const struct build_id *asked, size_t nasked,
    bool shallow, const struct priv_inspected *r, struct joined *j, const char *why, int64_t now_ms,
    struct err *e)
{
	/* Of a file that may not be trusted nobody has read which it is. */
	bool named = !r->id.n && nasked && !shallow, same;
	struct module *m;
	size_t i;

	for (i = 0; i < nasked; i++) {
		same = r->id.n && build_id_equal(&asked[i], &r->id);
		named |= same;
		if (r->status != PRIV_FOLLOWED || !same)
			modules_note_unfit(ms, path, &asked[i], now_ms);
	}
	if (find_row(ms, path, named, r, now_ms, &m, e))
		return -1;
	return m ? apply(ms, m, shallow, r, j, why, now_ms, e) : 0;
}

/* ---- what the manager did itself ---- */

int module_place(struct modules *ms, struct module *m, const struct build_id *id, const void *map,
    size_t n, int64_t now_ms, struct err *e)
{
	struct store_module *r = &m->row;
	struct store_build b = {.module = r->id,
	    .id = *id,
	    .origin = r->origin,
	    .kind = BUILD_LAID_OUT,
	    .state = BUILD_CURRENT,
	    .made_ms = now_ms,
	    .map = map,
	    .nmap = n};
	struct build_id from = r->current;

	m->file.stamped = false; /* whatever is there by now: the next decision looks */
	r->current = *id;
	set_state(r);
	if (store_put_module(ms->store, r, e) || (map && store_put_build(ms->store, &b, e)))
		return -1;
	if (build_id_equal(&from, id))
		return 0;
	if (store_set_build_state(ms->store, r->id, &from, BUILD_PAST, e) ||
	    store_set_build_state(ms->store, r->id, id, BUILD_CURRENT, e))
		return -1;
	return store_prune_builds(ms->store, r->id, PAST_BUILDS_KEPT, e);
}

bool module_unchanged(struct modules *ms, struct module *m)
{
	struct priv_stamp s;

	return m->file.stamped && priv_stamp(ms->priv, m->row.path, &s) == 0 &&
	       priv_stamp_equal(&s, &m->file.stamp);
}
