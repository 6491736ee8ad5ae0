#include "common/log.h"
#include "managerd/module_parts.h"
#include "managerd/remap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
		module_unload(ms, m);
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
