#include "managerd/cycle/manager.h"
#include "common/log.h"
#include "managerd/cycle/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TICK_MS = 1000 };

static int store_log_of(void *batches)
{
	const struct batches *b = batches;

	return store_log(b->core->store);
}

static void parent_spoke(uv_poll_t *p, int status, int events)
{
	struct manager *m = p->data;

	priv_dispatch(m->o.priv);
}

static void tick(uv_timer_t *t)
{
	struct manager *m = t->data;

	if (m->idle)
		recording_machine(&m->recording, idlewatch_state(m->idle));
	cycle_turn(m);
}

static void on_soon(uv_timer_t *t)
{
	struct manager *m = t->data;

	if (m->batches.resume) {
		m->batches.resume = false;
		ingest_resume(m->registers.ingest);
	}
	cycle_turn(m);
}

static void loaded(void *manager)
{
	struct manager *m = manager;

	batch_resume(&m->batches);
	coding_tell(&m->coding);
}

static void tabled(void *manager)
{
	struct manager *m = manager;

	registers_want(&m->registers);
}

/* When the manager stops, after all that was under way: the parent reports the end of
 * a step, and the idle watch is used then. */
static void rest(struct manager *m)
{
	if (!m->core.stopping || m->resting || m->work.now.step || m->registers.job ||
	    m->carrying.job || m->services.job || m->lifting.job)
		return;
	m->resting = true;
	uv_close((uv_handle_t *)&m->parent, NULL);
	if (m->idle)
		idlewatch_stop(m->idle);
	m->lifting.idle = m->idle = m->work.idle = NULL;
}

static void over(void *manager)
{
	struct manager *m = manager;

	rest(m);
	core_soon(&m->core);
}

static struct manager *put_together(uv_loop_t *loop, const struct manager_options *o)
{
	struct manager *m = xcalloc(1, sizeof *m);
	struct core *c = &m->core;

	m->o = *o;
	m->started_ms = clock_now_ms();
	*c = (struct core){.conf = o->conf,
	    .priv = o->priv,
	    .home = o->home,
	    .user = o->user,
	    .uid = geteuid(),
	    .loop = loop,
	    .turn = on_soon};
	m->learning = (struct learning){
	    .core = c, .changes = &m->changes, .settled = batch_resume, .arg = &m->batches};
	m->registers = (struct registers){.core = c, .over = over, .arg = m};
	m->boosting = (struct boosting){.core = c};
	m->coding = (struct coding){.core = c};
	m->carrying = (struct carrying){.core = c, .over = over, .arg = m};
	m->trials = (struct trials){.core = c, .promises = {.core = c}};
	m->services = (struct services){.core = c, .trials = &m->trials, .over = over, .arg = m};
	m->batches = (struct batches){.core = c,
	    .learning = &m->learning,
	    .registers = &m->registers,
	    .trials = &m->trials,
	    .recording = &m->recording};
	m->fetching = (struct fetching){.core = c, .learning = &m->learning};
	m->lifting = (struct lifting){.core = c, .learning = &m->learning, .over = over, .arg = m};
	m->recording.fd = -1;
	m->work = (struct work){.core = c,
	    .learning = &m->learning,
	    .trials = &m->trials,
	    .recording = &m->recording,
	    .over = over,
	    .arg = m};
	return m;
}

static struct idle_policy idle_policy(const struct conf *c)
{
	return (struct idle_policy){.after_s = c->idle.after_s,
	    .cpu = c->idle.cpu,
	    .psi = c->idle.psi,
	    .battery_ok = c->idle.battery};
}

static void start_ticking(struct manager *m)
{
	double every_ms = m->core.conf->decide.every_s * 1000;
	uint64_t period = every_ms < TICK_MS ? (uint64_t)every_ms : TICK_MS;

	uv_timer_start(&m->tick, tick, period, period);
}

static int start(struct manager *m, struct err *e)
{
	struct ingest_ops ops = {batch_take, batch_commit, store_log_of, &m->batches};
	struct idle_policy idle = idle_policy(m->core.conf);
	struct modules *ms = &m->core.modules;

	if (core_open(&m->core, e) || trials_open(&m->trials, e))
		return -1;
	record_recover(&m->core);
	trials_drop_held(&m->trials);
	if (work_remember(&m->work, e))
		return -1;
	recording_start(&m->recording, &m->core);
	m->idle = m->work.idle = idlewatch_start(m->core.loop, &idle, cycle_idle_changed, m, e);
	if (!m->idle)
		return -1;
	m->lifting.idle = m->idle;
	m->registers.ingest = ingest_start(m->core.loop, m->o.monitors, m->o.monitor_uid, &ops, e);
	if (!m->registers.ingest)
		return -1;
	m->trials.ingest = m->boosting.ingest = m->registers.ingest;
	registers_want(&m->registers);
	trials_watch(&m->trials);
	boosting_tell(&m->boosting);
	/* Not before: its threads come after confine(). */
	ms->pool.loop = m->core.loop;
	ms->pool.loaded = loaded;
	ms->pool.tabled = tabled;
	ms->pool.arg = m;
	return 0;
}

struct manager *manager_start(uv_loop_t *loop, const struct manager_options *o, struct err *e)
{
	struct manager *m = put_together(loop, o);

	uv_timer_init(loop, &m->tick);
	uv_timer_init(loop, &m->core.soon);
	uv_poll_init(loop, &m->parent, priv_events(o->priv));
	m->tick.data = m->core.soon.data = m->parent.data = m;
	uv_poll_start(&m->parent, UV_READABLE, parent_spoke);
	looptime_start(&m->looptime, loop);
	learning_start(&m->learning);
	if (start(m, e) == 0) {
		start_ticking(m);
		return m;
	}
	manager_stop(m);
	uv_run(loop, UV_RUN_DEFAULT);
	manager_free(m);
	return NULL;
}

static void follow_policy(struct manager *m)
{
	struct idle_policy idle = idle_policy(m->core.conf);

	idlewatch_policy(m->idle, &idle);
	start_ticking(m);
	/* The parent would not let it in. */
	work_cancel(&m->work);
	modules_judge_again(&m->core.modules);
	registers_want(&m->registers);
	core_soon(&m->core);
}

int manager_reload(struct manager *m, struct err *e)
{
	const char *path;
	struct conf c;

	if (m->core.stopping)
		return err_set(e, "the manager is stopping");
	if (priv_reload(m->o.priv, &path, e) ||
	    conf_read_fd(PRIV_FD_POLICY, *path ? path : NULL, &c, e)) {
		log_error("%s; the policy stays as it was", e->text);
		return -1;
	}
	conf_free(m->o.conf);
	*m->o.conf = c;
	log_info("policy: %s", c.path ? c.path : "defaults");
	follow_policy(m);
	return 0;
}

void manager_stop(struct manager *m)
{
	if (m->core.stopping)
		return;
	m->core.stopping = true;
	work_cancel(&m->work);
	if (m->registers.job)
		edit_cancel(m->registers.job);
	if (m->carrying.job)
		edit_cancel(m->carrying.job);
	if (m->services.job)
		edit_cancel(m->services.job);
	if (m->lifting.job)
		edit_cancel(m->lifting.job);
	fetching_stop(&m->fetching);
	learning_stop(&m->learning);
	ingest_stop(m->registers.ingest);
	m->registers.ingest = m->trials.ingest = m->boosting.ingest = NULL;
	uv_close((uv_handle_t *)&m->tick, NULL);
	uv_close((uv_handle_t *)&m->core.soon, NULL);
	looptime_stop(&m->looptime);
	rest(m);
}

void manager_free(struct manager *m)
{
	changes_free(&m->changes);
	learning_free(&m->learning);
	registers_free(&m->registers);
	boosting_free(&m->boosting);
	carrying_free(&m->carrying);
	lifting_free(&m->lifting);
	coding_free(&m->coding);
	trials_free(&m->trials);
	recording_stop(&m->recording);
	turns_free(&m->turns);
	durations_free(&m->work.durations);
	core_close(&m->core);
	free(m);
}

/* ---- for the API ---- */

struct store *manager_store(struct manager *m)
{
	return m->core.store;
}

struct decay manager_decay(const struct manager *m)
{
	return modules_decay(&m->core.modules);
}

int manager_status(struct manager *m, struct manager_status *s, struct err *e)
{
	const struct idle *idle = idlewatch_state(m->idle);
	const struct module *mod;
	size_t i;

	*s = (struct manager_status){.mode = m->o.user ? "user" : "system",
	    .state_dir = m->o.state_dir,
	    .policy = m->core.conf->path,
	    .started_ms = m->started_ms,
	    .monitor = *ingest_status(m->registers.ingest),
	    .wanted = m->registers.want.n,
	    .observed = m->registers.observed,
	    .idle = idle->state == IDLE_YES,
	    .working_step = work_step(&m->work),
	    .working_left_s = NAN};
	for (i = 0; i < m->core.modules.module.n; i++)
		s->modules += m->core.modules.module.v[i]->row.state != MODULE_NO_ARTIFACT;
	judge_idle(m->core.conf, idle, s->idle_text, sizeof s->idle_text);
	mod = m->work.now.step ? modules_get(&m->core.modules, m->work.now.module) : NULL;
	if (mod) {
		s->working_module = mod->row.id;
		s->working_path = mod->row.path;
		s->working_change = change_id(m->work.now.change);
		s->working_since_ms = m->work.now.since_ms;
		s->working_left_s = work_left(&m->work);
	}
	if (store_accounting(m->core.store, &s->samples, e) ||
	    store_count_events(m->core.store, 0, -1, EVENT_SWAPPED, 0, &s->swaps, e) ||
	    store_count_events(m->core.store, 0, -1, EVENT_ROLLED_BACK, 0, &s->rollbacks, e) ||
	    store_count_events(m->core.store, 0, -1, EVENT_FAILED, 0, &s->failures, e))
		return -1;
	return 0;
}

double manager_samples(struct manager *m, uint64_t module)
{
	struct module *mod = modules_get(&m->core.modules, module);
	struct decay at = modules_decay(&m->core.modules);
	struct err e;

	if (!mod || !mod->row.mapped)
		return 0;
	/* Of an older store, which has no sums. */
	if (!mod->row.samples_ms && module_load(&m->core.modules, mod, &e)) {
		log_error("%s", e.text);
		return 0;
	}
	modules_trim(&m->core.modules, NULL);
	if (mod->memory.loaded)
		return profile_total(&mod->profile.now, at).samples;
	return mod->row.samples * decay_since(at, mod->row.samples_ms);
}

int manager_profile(
    struct manager *m, uint64_t module, struct profile *out, size_t *functions, struct err *e)
{
	struct module *mod = modules_get(&m->core.modules, module);
	struct decay at = modules_decay(&m->core.modules);
	size_t i;

	*out = (struct profile){0};
	if (!mod)
		return err_set(e, "no such module");
	if (module_load(&m->core.modules, mod, e))
		return -1;
	*functions = mod->profile.now.func.n;
	profile_copy_used(out, &mod->profile.now);
	for (i = 0; i < out->func.n; i++)
		profile_age(&out->func.v[i], at);
	modules_trim(&m->core.modules, NULL);
	return 0;
}

int manager_print_profile(struct manager *m, uint64_t module, struct buf *out, struct err *e)
{
	struct module *mod = modules_get(&m->core.modules, module);
	int r;

	if (!mod)
		return err_set(e, "no such module");
	if (module_load(&m->core.modules, mod, e))
		return -1;
	r = edit_print_samples(
	    &mod->profile.now, store_density(&mod->row), modules_decay(&m->core.modules), out, e);
	modules_trim(&m->core.modules, NULL);
	return r;
}

bool manager_map(struct manager *m, uint64_t module, const struct build_id *build,
    const struct map **map, const struct map_table **table)
{
	struct modules *ms = &m->core.modules;
	struct module *mod = modules_get(ms, module);
	struct build *b = NULL;
	enum found found = FOUND_OUTSIDE;
	struct err e;

	if (mod)
		found = modules_find(ms, mod->row.path, build, clock_now_ms(), &mod, &b, NULL, &e);
	if (found == FOUND_ERROR)
		log_warn("%s", e.text);
	if (found != FOUND_MAPPED)
		return false;
	modules_trim(ms, mod);
	*map = &b->map;
	*table = &mod->builds.origin.v[b->origin].table;
	return true;
}

int manager_code(
    struct manager *m, const struct code_order *o, const struct code_view **view, struct err *e)
{
	return coding_get(&m->coding, o, view, e);
}

bool manager_trial(struct manager *m, uint64_t module, struct manager_trial *out)
{
	const struct module_trial *x = trials_of(&m->trials, module);

	if (!x)
		return false;
	*out = (struct manager_trial){.kind = x->t.kind,
	    .trouble = x->t.trouble,
	    .cycles = x->t.cycles,
	    .began_ms = x->began_ms,
	    .ended_ms = x->ended_ms,
	    .verdict = x->verdict,
	    .promised = x->promised,
	    .model = x->model,
	    .estimate = trial_estimate(&x->t),
	    .outlook = trials_outlook(&m->trials, x),
	    .runs = {x->t.runs[TRIAL_OLD], x->t.runs[TRIAL_NEW]}};
	trials_text(x, out->text, sizeof out->text);
	return true;
}

bool manager_legacy(struct manager *m, uint64_t module, struct manager_legacy *out)
{
	struct module *mod = modules_get(&m->core.modules, module);

	if (!mod || !lifting_explain(&m->core, mod, out))
		return false;
	if (m->lifting.job && m->lifting.module == module) {
		out->state = LIFT_RUNNING;
		snprintf(out->text, sizeof out->text, "is being lifted");
	}
	return true;
}

bool manager_order(struct manager *m, uint64_t module, struct manager_order *out)
{
	const struct module *mod = modules_get(&m->core.modules, module);
	const char *path = mod ? conf_order_for(m->core.conf, mod->row.path) : NULL;

	if (!path)
		return false;
	*out = (struct manager_order){path, &mod->list.said};
	return true;
}

bool manager_can_rollback(struct manager *m, uint64_t module)
{
	struct module *mod = modules_get(&m->core.modules, module);
	struct build_id to;

	if (mod && trials_open_of(&m->trials, module))
		return true;
	return mod && record_rollback_target(&m->core, &mod->row, &to, NULL);
}

/* The module (id 0: *mod = NULL, all of the user's), of which no change is under way. */
static int find_free(struct manager *m, uint64_t id, uint32_t uid, struct module **mod,
    uint64_t *change, struct err *e)
{
	const struct doing *d = &m->work.now;
	const struct change_entry *c;

	*mod = id ? modules_get(&m->core.modules, id) : NULL;
	if (id && !*mod) {
		err_set(e, "no such module");
		return MANAGER_NOT_FOUND;
	}
	c = d->step && d->module == id && d->change ? d->change
						    : change_of_module(&m->changes, id, uid);
	if (!c)
		return MANAGER_OK;
	*change = c->c.id;
	err_set(e, "change %llu of this module is under way", (unsigned long long)c->c.id);
	return MANAGER_CONFLICT;
}

static struct change_entry *add_change(struct manager *m, enum change_kind kind,
    const struct module *mod, uint32_t uid, bool force, uint64_t *id)
{
	struct change_entry *c = change_add(
	    &m->changes, kind, mod ? mod->row.id : 0, mod ? mod->row.path : "", uid, force);

	if (mod)
		vec_push(&c->todo, mod->row.id);
	*id = c->c.id;
	/* After its asker has its answer. */
	core_soon(&m->core);
	return c;
}

int manager_reoptimize(
    struct manager *m, uint64_t module, uint32_t uid, bool force, uint64_t *change, struct err *e)
{
	struct change_entry *c;
	struct module *mod;
	size_t i;
	int rc = find_free(m, module, uid, &mod, change, e);

	if (rc)
		return rc;
	c = add_change(m, CHANGE_REOPTIMIZE, mod, uid, force, change);
	for (i = 0; !module && i < m->core.modules.module.n; i++) {
		mod = m->core.modules.module.v[i];
		if (mod->row.artifact && mod->row.mapped && (uid == 0 || mod->row.uid == uid))
			vec_push(&c->todo, mod->row.id);
	}
	return MANAGER_OK;
}

int manager_rollback(
    struct manager *m, uint64_t module, uint32_t uid, uint64_t *change, struct err *e)
{
	struct build_id to;
	struct module *mod;
	int rc = find_free(m, module, uid, &mod, change, e);

	if (rc)
		return rc;
	err_set(e,
	    store_laid_out(&mod->row)
		? "%s: there is no kept build to go back to"
		: "%s: runs in its original layout; there is nothing to roll back",
	    mod->row.path);
	if (!trials_open_of(&m->trials, module) &&
	    !record_rollback_target(&m->core, &mod->row, &to, e))
		return MANAGER_REFUSED;
	if (m->work.now.module == module && m->work.now.step)
		work_cancel(&m->work);
	add_change(m, CHANGE_ROLLBACK, mod, uid, false, change);
	return MANAGER_OK;
}

const struct change *manager_change(struct manager *m, uint64_t id)
{
	const struct change_entry *c = change_get(&m->changes, id);

	return c ? &c->c : NULL;
}

double manager_change_left(struct manager *m, uint64_t id)
{
	const struct change_entry *doing = m->work.now.change;

	return doing && doing->c.id == id ? work_left(&m->work) : NAN;
}

unsigned manager_change_ahead(struct manager *m, uint64_t id)
{
	return change_ahead(&m->changes, id);
}

void manager_on_change(struct manager *m, void (*fn)(void *arg, uint64_t id), void *arg)
{
	m->changes.ready = fn;
	m->changes.arg = arg;
	m->coding.ready = fn;
	m->coding.arg = arg;
}
