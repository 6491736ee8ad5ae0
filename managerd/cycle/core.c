#include "managerd/cycle/core.h"
#include "common/log.h"
#include "managerd/os/pool.h"

#include <stdlib.h>

enum { TROUBLE_MS = 10000 };

static char *store_path(const struct core *c)
{
	return xasprintf("%s/morph.db", c->home);
}

int core_open(struct core *c, struct err *e)
{
	char *path = store_path(c);

	c->store = store_open(path, e);
	free(path);
	if (!c->store || modules_open(&c->modules, c->store, c->priv, c->conf, e))
		return -1;
	c->modules.tables = xasprintf("%s/replay", c->home);
	modules_sweep_tables(&c->modules);
	return 0;
}

void core_close(struct core *c)
{
	modules_close(&c->modules);
	store_close(c->store);
}

struct checkpoint {
	struct core *core;
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
	c->core->checkpointing = false;
	free(c->path);
	free(c);
}

static void checkpoint_when_due(struct core *core)
{
	struct checkpoint *c;

	if (core->checkpointing || !store_checkpoint_due(core->store))
		return;
	core->checkpointing = true;
	c = xcalloc(1, sizeof *c);
	*c = (struct checkpoint){.core = core, .path = store_path(core)};
	pool_run(core->modules.pool.loop, run_checkpoint, checkpointed, c);
}

int core_begin(struct core *c, struct err *e)
{
	return store_begin(c->store, e);
}

int core_end(struct core *c, int rc, struct err *e)
{
	struct err why;

	if (rc == 0)
		rc = store_commit(c->store, e);
	if (rc == 0) {
		checkpoint_when_due(c);
		return 0;
	}
	log_error("%s", e->text);
	c->trouble_until_ms = clock_now_ms() + TROUBLE_MS;
	store_rollback(c->store);
	if (modules_reload(&c->modules, &why))
		log_error("%s", why.text);
	return -1;
}

void core_soon(struct core *c)
{
	/* 0 ms would be in this very turn, again and again (libuv before 1.45). */
	if (!c->stopping)
		uv_timer_start(&c->soon, c->turn, 1, 0);
}

void core_later(const struct core *c, struct schedule *s)
{
	s->not_before_ms = clock_now_ms() + (int64_t)(c->conf->decide.every_s * 1000);
}

bool core_sooner(const struct turns *t, const struct store_module *a, const struct store_module *b)
{
	uint64_t x = turns_last(t, a->uid), y = turns_last(t, b->uid);

	return x != y ? x < y : a->mapped > b->mapped;
}

bool core_may_lay_out(const struct core *c, const struct store_module *row)
{
	const struct conf_module *policy;

	if (!row->artifact || row->state == MODULE_NO_ARTIFACT || row->state == MODULE_GONE ||
	    (c->user && row->uid != c->uid))
		return false;
	policy = conf_module_for(c->conf, row->path);
	return !policy || policy->action == CONF_OPTIMIZE;
}
