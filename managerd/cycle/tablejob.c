/*
 * A module that becomes hot gets its replay table, by a job beside the edits. That
 * is short, and registers are to be replayed while the machine is busy: it does not
 * wait for idleness, and is not paused.
 */
#include "common/log.h"
#include "managerd/cycle/manager.h"

static void no_table(struct module *mod, const char *why)
{
	mod->table = TABLE_FAILED;
	log_warn(
	    "%s: no replay table, registers of its samples are of no use: %s", mod->row.path, why);
}

static void table_done(const struct edit_result *r, void *arg)
{
	struct manager *m = arg;
	struct module *mod = modules_get(&m->modules, m->table_module);

	m->table = NULL;
	if (mod && (mod->row.uid != m->table_uid ||
		       !build_id_equal(&mod->row.origin, &m->table_origin)))
		mod = NULL; /* another program by now */
	if (mod && r->end == EDIT_LATER)
		cycle_later(m, mod);
	else if (mod && r->end != EDIT_DONE && r->end != EDIT_CANCELLED)
		no_table(mod, r->error);
	else if (mod && r->end == EDIT_DONE) {
		log_info("%s: replay table made in %.1f s", mod->row.path, r->ran_s);
		module_take_table(&m->modules, mod, r->blob);
	}
	registers_want(m);
	manager_rest(m);
	cycle_soon(m);
}

static void start_table(struct manager *m, struct module *mod)
{
	struct edit_request q = {.kind = EDIT_TABLE,
	    .module = mod->row.path,
	    .id = mod->row.current,
	    .origin = mod->row.origin,
	    .deadline_s = m->o.conf->edit.deadline_s};
	struct err e;

	m->table_module = mod->row.id;
	m->table_origin = mod->row.origin;
	m->table_uid = mod->row.uid;
	m->table = edit_start(m->loop, m->o.priv, &q, table_done, m, &e);
	if (!m->table) {
		log_info("%s: no replay table yet: %s", mod->row.path, e.text);
		cycle_later(m, mod);
	}
}

void table_turn(struct manager *m)
{
	struct module *mod = m->table ? NULL : registers_table_due(m);

	if (!mod)
		return;
	turns_serve(&m->table_turns, mod->row.uid);
	start_table(m, mod);
}
