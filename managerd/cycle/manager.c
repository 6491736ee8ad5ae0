#include "managerd/cycle/manager.h"
#include "common/log.h"
#include "managerd/os/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 1000, TROUBLE_MS = 10000, LONG_TURN_NS = 20000000 };

bool manager_sooner(const struct turns *t, const struct module *a, const struct module *b)
{
	uint64_t x = turns_last(t, a->row.uid), y = turns_last(t, b->row.uid);

	return x != y ? x < y : a->row.mapped > b->row.mapped;
}

static char *store_path(const struct manager *m)
{
	return xasprintf("%s/morph.db", m->o.home);
}

struct checkpoint {
	struct manager *m;
	char *path;
	int rc;
	struct err why;
};

static void run_checkpoint(void *arg)
{
	struct checkpoint *c = arg;

	c->rc = store_checkpoint(c->path, &c->why);
}

static void checkpointed(void *arg)
{
	struct checkpoint *c = arg;

	if (c->rc)
		log_warn("%s", c->why.text);
	c->m->checkpointing = false;
	free(c->path);
	free(c);
}

static void checkpoint_when_due(struct manager *m)
{
	struct checkpoint *c;

	if (m->checkpointing || !store_checkpoint_due(m->store))
		return;
	m->checkpointing = true;
	c = xcalloc(1, sizeof *c);
	*c = (struct checkpoint){.m = m, .path = store_path(m)};
	pool_run(m->modules.loop, run_checkpoint, checkpointed, c);
}

int manager_end(struct manager *m, int rc, struct err *e)
{
	struct err why;

	if (rc == 0)
		rc = store_commit(m->store, e);
	if (rc == 0) {
		checkpoint_when_due(m);
		return 0;
	}
	log_error("%s", e->text);
	m->trouble_until_ms = clock_now_ms() + TROUBLE_MS;
	store_rollback(m->store);
	if (modules_reload(&m->modules, &why))
		log_error("%s", why.text);
	return -1;
}

/* ---- start and stop ---- */

static int open_store(struct manager *m, struct err *e)
{
	char *path = store_path(m);

	m->store = store_open(path, e);
	free(path);
	if (!m->store || modules_open(&m->modules, m->store, m->o.priv, m->o.conf, e))
		return -1;
	m->modules.tables = xasprintf("%s/replay", m->o.home);
	modules_sweep_tables(&m->modules);
	return 0;
}

struct recovery {
	VEC(struct swap_outcome) v;
};

static void note_outcome(const struct swap_outcome *o, void *arg)
{
	struct recovery *r = arg;

	vec_push(&r->v, *o);
	r->v.v[r->v.n - 1].module = xstrdup(o->module);
}

/* Journals go only once the store knows how they ended. */
static void recover(struct manager *m)
{
	struct recovery r = {0};
	struct err e;
	size_t i;

	if (priv_recovered(m->o.priv, note_outcome, &r, &e))
		log_error("%s", e.text);
	for (i = 0; i < r.v.n; i++) {
		record_recovered(m, &r.v.v[i]);
		record_done(m, r.v.v[i].module);
		free((char *)r.v.v[i].module);
	}
	vec_free(&r.v);
	if (store_begin(m->store, &e) || manager_end(m, record_all_kept(m, &e), &e))
		log_warn("which builds are kept is not known: %s", e.text);
}

void manager_load_pages(const struct manager *m, const struct module *mod)
{
	if (mod->row.state == MODULE_LAID_OUT && conf_huge_pages_for(m->o.conf, mod->row.path))
		priv_load_pages(m->o.priv, mod->row.path);
}

static int store_log_of(void *manager)
{
	struct manager *m = manager;

	return store_log(m->store);
}

static int start_ingest(struct manager *m, struct err *e)
{
	struct ingest_ops ops = {batch_take, batch_commit, store_log_of, m};

	m->ingest = ingest_start(m->loop, m->o.monitors, m->o.monitor_uid, &ops, e);
	return m->ingest ? 0 : -1;
}

static void parent_spoke(uv_poll_t *p, int status, int events)
{
	struct manager *m = p->data;

	priv_dispatch(m->o.priv);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Between two waits; only what is out of the ordinary is said. */
static void turn_ended(uv_prepare_t *h)
{
	struct manager *m = h->data;
	uint64_t now = uv_hrtime(), idle = uv_metrics_idle_time(m->loop);
	uint64_t worked = now - m->turn_ns - (idle - m->turn_idle_ns);
	uint64_t cpu = thread_cpu_ns(), used = cpu - m->turn_cpu_ns;

	if (m->turn_ns && worked > LONG_TURN_NS &&
	    (worked > m->longest_ns || used > m->longest_cpu_ns)) {
		m->longest_ns = worked > m->longest_ns ? worked : m->longest_ns;
		m->longest_cpu_ns = used > m->longest_cpu_ns ? used : m->longest_cpu_ns;
		log_debug("longest turn of the loop: %.0f ms, %.0f ms of CPU time",
		    (double)worked / 1e6, (double)used / 1e6);
	}
	m->turn_ns = now;
	m->turn_idle_ns = idle;
	m->turn_cpu_ns = cpu;
}

static int start_idlewatch(struct manager *m, struct err *e)
{
	const struct conf *c = m->o.conf;
	struct idle_policy p = {.after_s = c->idle.after_s,
	    .cpu = c->idle.cpu,
	    .psi = c->idle.psi,
	    .battery_ok = c->idle.battery};

	m->idle = idlewatch_start(m->loop, &p, cycle_idle_changed, m, e);
	return m->idle ? 0 : -1;
}

static void tick(uv_timer_t *t)
{
	cycle_turn(t->data);
}

static void start_handles(struct manager *m)
{
	uv_timer_init(m->loop, &m->tick);
	uv_timer_init(m->loop, &m->soon);
	uv_poll_init(m->loop, &m->parent, priv_events(m->o.priv));
	uv_prepare_init(m->loop, &m->turn);
	m->tick.data = m->soon.data = m->parent.data = m->turn.data = m;
	uv_poll_start(&m->parent, UV_READABLE, parent_spoke);
	uv_prepare_start(&m->turn, turn_ended);
	uv_unref((uv_handle_t *)&m->turn);
}

static void want_again(void *manager)
{
	registers_want(manager);
}

struct manager *manager_start(uv_loop_t *loop, const struct manager_options *o, struct err *e)
{
	struct manager *m = xcalloc(1, sizeof *m);
	double every_ms = o->conf->decide.every_s * 1000;
	uint64_t period = every_ms < TICK_MS ? (uint64_t)every_ms : TICK_MS;
	size_t i;

	m->o = *o;
	m->loop = loop;
	m->uid = geteuid();
	m->started_ms = clock_now_ms();
	m->inspections = inspections_new(o->priv, cycle_inspected, m);
	start_handles(m);
	if (open_store(m, e) == 0) {
		recover(m);
		for (i = 0; i < m->modules.module.n; i++)
			manager_load_pages(m, m->modules.module.v[i]);
		if (start_idlewatch(m, e) == 0 && start_ingest(m, e) == 0) {
			registers_want(m);
			/* Not before: its threads come after confine(). */
			m->modules.loop = loop;
			m->modules.loaded = cycle_loaded;
			m->modules.tabled = want_again;
			m->modules.loaded_arg = m;
			uv_timer_start(&m->tick, tick, period, period);
			return m;
		}
	}
	manager_stop(m);
	uv_run(loop, UV_RUN_DEFAULT);
	manager_free(m);
	return NULL;
}

void manager_stop(struct manager *m)
{
	if (m->stopping)
		return;
	m->stopping = true;
	work_cancel(m);
	inspections_free(m->inspections);
	m->inspections = NULL;
	ingest_stop(m->ingest);
	m->ingest = NULL;
	uv_close((uv_handle_t *)&m->tick, NULL);
	uv_close((uv_handle_t *)&m->soon, NULL);
	uv_close((uv_handle_t *)&m->turn, NULL);
	manager_rest(m);
}

void manager_rest(struct manager *m)
{
	/* The parent reports the end of a step; the idle watch hears of it. */
	if (!m->stopping || m->resting || m->work.step || m->table)
		return;
	m->resting = true;
	uv_close((uv_handle_t *)&m->parent, NULL);
	if (m->idle)
		idlewatch_stop(m->idle);
	m->idle = NULL;
}

void manager_free(struct manager *m)
{
	changes_free(m);
	vec_free(&m->learn);
	modules_close(&m->modules);
	store_close(m->store);
	turns_free(&m->due_turns);
	turns_free(&m->change_turns);
	turns_free(&m->table_turns);
	free(m->want.id);
	free(m);
}

/* ---- for the API ---- */

struct store *manager_store(struct manager *m)
{
	return m->store;
}

struct decay manager_decay(const struct manager *m)
{
	return modules_decay(&m->modules);
}

static size_t count_modules(const struct manager *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->modules.module.n; i++)
		n += m->modules.module.v[i]->row.state != MODULE_NO_ARTIFACT;
	return n;
}

int manager_status(struct manager *m, struct manager_status *s, struct err *e)
{
	static const char *const step[] = {NULL, "score", "edit", "verify", "swap"};
	const struct idle *idle = idlewatch_state(m->idle);
	const struct module *mod;

	*s = (struct manager_status){.mode = m->o.user ? "user" : "system",
	    .state_dir = m->o.state_dir,
	    .policy = m->o.conf->path,
	    .started_ms = m->started_ms,
	    .monitor = *ingest_status(m->ingest),
	    .wanted = m->want.n,
	    .observed = m->observed,
	    .idle = idle->state == IDLE_YES,
	    .modules = count_modules(m),
	    .working_step = step[m->work.step]};
	judge_idle(m, s->idle_text, sizeof s->idle_text);
	mod = m->work.step ? modules_get(&m->modules, m->work.module) : NULL;
	if (mod) {
		s->working_module = mod->row.id;
		s->working_path = mod->row.path;
		s->working_change = m->work.change ? m->work.change->c.id : 0;
		s->working_since_ms = m->work.since_ms;
	}
	if (store_accounting(m->store, &s->samples, e) ||
	    store_count_events(m->store, 0, -1, EVENT_SWAPPED, 0, &s->swaps, e) ||
	    store_count_events(m->store, 0, -1, EVENT_ROLLED_BACK, 0, &s->rollbacks, e) ||
	    store_count_events(m->store, 0, -1, EVENT_FAILED, 0, &s->failures, e))
		return -1;
	return 0;
}

double manager_samples(struct manager *m, uint64_t module)
{
	struct module *mod = modules_get(&m->modules, module);
	struct decay at = modules_decay(&m->modules);
	struct err e;

	if (!mod || !mod->row.mapped)
		return 0;
	/* Of an older store, which has no sums. */
	if (!mod->row.samples_ms && module_load(&m->modules, mod, &e)) {
		log_error("%s", e.text);
		return 0;
	}
	modules_trim(&m->modules, NULL);
	if (mod->loaded)
		return profile_total(&mod->now, at).samples;
	return mod->row.samples * decay_since(at, mod->row.samples_ms);
}

int manager_profile(struct manager *m, uint64_t module, struct profile *out, struct err *e)
{
	struct module *mod = modules_get(&m->modules, module);
	struct decay at = modules_decay(&m->modules);
	size_t i;

	*out = (struct profile){0};
	if (!mod)
		return err_set(e, "no such module");
	if (module_load(&m->modules, mod, e))
		return -1;
	profile_copy(out, &mod->now);
	for (i = 0; i < out->func.n; i++)
		profile_age(&out->func.v[i], at);
	modules_trim(&m->modules, NULL);
	return 0;
}

bool manager_can_rollback(struct manager *m, uint64_t module)
{
	struct module *mod = modules_get(&m->modules, module);
	struct build_id to;

	return mod && record_rollback_target(m, mod, &to, NULL);
}

static int check_free(
    struct manager *m, uint64_t module, uint32_t uid, uint64_t *change, struct err *e)
{
	struct change_entry *c = change_of_module(m, module, uid);

	if (!c)
		return MANAGER_OK;
	*change = c->c.id;
	err_set(e, "change %llu of this module is under way", (unsigned long long)c->c.id);
	return MANAGER_CONFLICT;
}

int manager_reoptimize(
    struct manager *m, uint64_t module, uint32_t uid, bool force, uint64_t *change, struct err *e)
{
	struct module *mod = module ? modules_get(&m->modules, module) : NULL;
	struct change_entry *c;
	size_t i;
	int rc;

	if (module && !mod) {
		err_set(e, "no such module");
		return MANAGER_NOT_FOUND;
	}
	rc = check_free(m, module, uid, change, e);
	if (rc)
		return rc;
	c = change_add(m, CHANGE_REOPTIMIZE, module, mod ? mod->row.path : "", uid, force);
	for (i = 0; i < m->modules.module.n; i++) {
		mod = m->modules.module.v[i];
		if (module
			? mod->row.id == module
			: mod->row.artifact && mod->row.mapped && (uid == 0 || mod->row.uid == uid))
			vec_push(&c->todo, mod->row.id);
	}
	*change = c->c.id;
	/* After its asker has its answer. */
	cycle_soon(m);
	return MANAGER_OK;
}

int manager_rollback(
    struct manager *m, uint64_t module, uint32_t uid, uint64_t *change, struct err *e)
{
	struct module *mod = modules_get(&m->modules, module);
	struct change_entry *c;
	struct build_id to;
	int rc;

	if (!mod) {
		err_set(e, "no such module");
		return MANAGER_NOT_FOUND;
	}
	rc = check_free(m, module, uid, change, e);
	if (rc)
		return rc;
	err_set(e,
	    build_id_equal(&mod->row.current, &mod->row.origin)
		? "%s: runs in its original layout; there is nothing to roll back"
		: "%s: there is no kept build to go back to",
	    mod->row.path);
	if (!record_rollback_target(m, mod, &to, e))
		return MANAGER_REFUSED;
	if (m->work.module == module && m->work.step)
		work_cancel(m);
	c = change_add(m, CHANGE_ROLLBACK, module, mod->row.path, uid, false);
	vec_push(&c->todo, module);
	*change = c->c.id;
	/* After its asker has its answer. */
	cycle_soon(m);
	return MANAGER_OK;
}
