/*
 * A module that becomes hot gets its replay table, by a job beside the edits. That
 * is short, and registers are to be replayed while the machine is busy: it does not
 * wait for idleness, and is not paused.
 */
#include "common/log.h"
#include "managerd/cycle/registers.h"

static void no_table(struct module *mod, const char *why)
{
	mod->table = TABLE_FAILED;
	log_warn(
	    "%s: no replay table, registers of its samples are of no use: %s", mod->row.path, why);
}

/* The module it is for, if it is that program of that owner still. */
static struct module *module_of(const struct registers *r)
{
	struct module *mod = modules_get(&r->core->modules, r->module);

	return mod && mod->row.uid == r->uid && build_id_equal(&mod->row.origin, &r->origin) ? mod
											     : NULL;
}

static void table_done(const struct edit_result *done, void *arg)
{
	struct registers *r = arg;
	struct module *mod = module_of(r);

	r->job = NULL;
	if (mod && done->end == EDIT_LATER)
		core_later(r->core, mod);
	else if (mod && done->end == EDIT_DONE) {
		log_info("%s: replay table made in %.1f s", mod->row.path, done->ran_s);
		module_take_table(&r->core->modules, mod, done->blob);
	} else if (mod && done->end != EDIT_CANCELLED)
		no_table(mod, done->error);
	registers_want(r);
	r->over(r->arg);
}

void table_turn(struct registers *r)
{
	struct module *mod = r->job ? NULL : registers_table_due(r);
	struct edit_request q;
	struct err e;

	if (!mod)
		return;
	turns_serve(&r->turns, mod->row.uid);
	q = (struct edit_request){.kind = EDIT_TABLE,
	    .module = mod->row.path,
	    .id = mod->row.current,
	    .origin = mod->row.origin,
	    .deadline_s = r->core->conf->edit.deadline_s};
	r->module = mod->row.id;
	r->origin = mod->row.origin;
	r->uid = mod->row.uid;
	r->job = edit_start(r->core->loop, r->core->priv, &q, table_done, r, &e);
	if (!r->job) {
		log_info("%s: no replay table yet: %s", mod->row.path, e.text);
		core_later(r->core, mod);
	}
}
