#include "managerd/cycle/carrying.h"
#include "common/log.h"
#include "common/publish.h"

/* Which job it needs, or 0. */
static enum priv_job_kind needs(struct core *c, struct module *mod)
{
	if (!core_may_lay_out(c, &mod->row))
		return 0;
	if (mod->memory.loaded && mod->profile.before.func.n)
		return PRIV_CARRY;
	if ((double)mod->row.mapped >= c->conf->decide.min_samples / 4 &&
	    !module_has_shapes(&c->modules, mod) && mod->builds.shapes == TABLE_ABSENT)
		return PRIV_SHAPES;
	return 0;
}

static struct module *due(struct carrying *c, enum priv_job_kind *kind)
{
	struct core *core = c->core;
	struct module *mod, *best = NULL;
	enum priv_job_kind k;
	size_t i;

	for (i = 0; i < core->modules.module.n; i++) {
		mod = core->modules.module.v[i];
		if (clock_now_ms() < mod->schedule.not_before_ms ||
		    (best && !core_sooner(&c->turns, &mod->row, &best->row)))
			continue;
		k = needs(core, mod);
		if (k) {
			best = mod;
			*kind = k;
		}
	}
	return best;
}

/* text: NULL = the job could make none. */
static void carried(struct core *c, struct module *mod, const void *text, size_t n)
{
	struct err e;

	mod->schedule.decided_ms = 0;
	core_end(c, core_begin(c, &e) || module_carry(&c->modules, mod, text, n, &e), &e);
}

static void failed(struct carrying *c, struct module *mod, const char *why)
{
	if (c->kind == PRIV_CARRY) {
		log_warn("%s: its profile cannot be carried over: %s", mod->row.path, why);
		carried(c->core, mod, NULL, 0);
	} else {
		log_warn("%s: no shapes, once it is changed its functions lose their profile: %s",
		    mod->row.path, why);
		module_take_shapes(&c->core->modules, mod, NULL);
	}
}

static void done(const struct edit_result *r, void *arg)
{
	struct carrying *c = arg;
	struct module *mod = modules_get(&c->core->modules, c->module);
	struct err e;

	c->job = NULL;
	if (mod && (mod->row.uid != c->uid || !build_id_equal(&mod->row.origin, &c->origin)))
		mod = NULL; /* not that program of that owner any more */
	if (mod && c->kind == PRIV_CARRY && module_load(&c->core->modules, mod, &e)) {
		log_warn("%s: %s", mod->row.path, e.text);
		mod = NULL;
	}
	if (mod && r->end == EDIT_LATER)
		core_later(c->core, &mod->schedule);
	else if (mod && r->end != EDIT_DONE && r->end != EDIT_CANCELLED)
		failed(c, mod, r->error);
	else if (mod && r->end == EDIT_DONE && c->kind == PRIV_CARRY)
		carried(c->core, mod, r->blob->p, r->blob->n);
	else if (mod && r->end == EDIT_DONE)
		module_take_shapes(&c->core->modules, mod, r->blob);
	c->over(c->arg);
}

/* The samples to carry over, and the shapes they are by. */
static int open_before(struct core *core, struct module *mod, struct edit_request *q,
    struct buf *samples, struct err *e)
{
	q->job.shapes = module_shapes_before(&core->modules, mod);
	if (q->job.shapes < 0)
		return err_set(e, "the shapes of the program before are gone");
	if (edit_print_samples(&mod->profile.before, 1, modules_decay(&core->modules), samples, e))
		return -1;
	q->samples = samples->p;
	q->nsamples = samples->n;
	return 0;
}

static void start(struct carrying *c, struct module *mod)
{
	struct core *core = c->core;
	struct edit_request q = {.job = {.kind = c->kind,
				     .module = mod->row.path,
				     .id = mod->row.current,
				     .origin = mod->row.origin,
				     .shapes = -1},
	    .deadline_s = core->conf->edit.deadline_s};
	struct buf samples = {0};
	struct err e;

	if (c->kind == PRIV_CARRY && open_before(core, mod, &q, &samples, &e)) {
		failed(c, mod, e.text);
	} else if (!(c->job = edit_start(core->loop, core->priv, &q, done, c, &e))) {
		log_info("%s: %s yet: %s", mod->row.path,
		    c->kind == PRIV_CARRY ? "its profile is not carried over" : "no shapes",
		    e.text);
		core_later(core, &mod->schedule);
	}
	fd_close(&q.job.shapes);
	buf_free(&samples);
}

void carrying_turn(struct carrying *c)
{
	struct module *mod = c->job ? NULL : due(c, &c->kind);

	if (!mod)
		return;
	turns_serve(&c->turns, mod->row.uid);
	c->module = mod->row.id;
	c->origin = mod->row.origin;
	c->uid = mod->row.uid;
	start(c, mod);
}

void carrying_free(struct carrying *c)
{
	turns_free(&c->turns);
}
