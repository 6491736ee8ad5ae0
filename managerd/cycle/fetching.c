#include "managerd/cycle/fetching.h"
#include "common/log.h"

/* Again after so long, then after twice as long each time. */
enum { AGAIN_MS = 600000, AGAIN_MAX_MS = 86400000 };

static bool eligible(const struct core *c, const struct store_module *row)
{
	const struct conf_module *policy;

	if (row->state != MODULE_NO_ARTIFACT || !row->origin.n ||
	    row->uid != (c->user ? c->uid : 0))
		return false;
	policy = conf_module_for(c->conf, row->path);
	return !policy || policy->action == CONF_OPTIMIZE;
}

bool fetching_is_before(const struct core *c, const struct store_module *row)
{
	return c->conf->fetch.servers.n && eligible(c, row) && !row->fetch_tries;
}

static struct module *due(const struct core *c)
{
	struct decay at = modules_decay(&c->modules);
	double best_samples = 0, samples;
	struct module *mod, *best = NULL;
	size_t i;

	for (i = 0; i < c->modules.module.n; i++) {
		mod = c->modules.module.v[i];
		if (!eligible(c, &mod->row) || at.now_ms < mod->row.fetch_ms)
			continue;
		samples = mod->row.outside_aged * decay_since(at, mod->row.outside_ms);
		if (samples >= c->conf->decide.min_samples / 4 && samples > best_samples) {
			best = mod;
			best_samples = samples;
		}
	}
	return best;
}

static int64_t again_ms(int64_t tries)
{
	int64_t ms = AGAIN_MS;

	for (; tries > 0 && ms < AGAIN_MAX_MS; tries--)
		ms *= 2;
	return ms < AGAIN_MAX_MS ? ms : AGAIN_MAX_MS;
}

/* why: NULL = it is there, as far as the parent knows. */
static void note(struct core *c, struct module *mod, const char *why)
{
	struct store_module *r = &mod->row;
	struct err e;

	r->fetch_ms = clock_now_ms() + again_ms(r->fetch_tries);
	r->fetch_tries++;
	module_text(&r->fetch_why, why);
	core_end(c, core_begin(c, &e) || store_put_module(c->store, r, &e), &e);
}

static void fetched(const char *why, void *arg)
{
	struct fetching *f = arg;
	struct module *mod = modules_get(&f->core->modules, f->module);

	f->task = 0;
	core_soon(f->core);
	if (!mod || mod->row.uid != f->uid || !build_id_equal(&mod->row.origin, &f->origin))
		return; /* not that program of that owner any more */
	if (*why) {
		log_info("%s: its artifact was not fetched: %s", mod->row.path, why);
		note(f->core, mod, why);
		return;
	}
	log_info("%s: its artifact was fetched", mod->row.path);
	learning_inspect(f->learning, &mod->row);
	note(f->core, mod, NULL);
}

void fetching_turn(struct fetching *f)
{
	struct core *c = f->core;
	struct module *mod;
	struct err e;

	if (f->task || !c->conf->fetch.servers.n || clock_now_ms() < c->trouble_until_ms ||
	    !(mod = due(c)))
		return;
	f->module = mod->row.id;
	f->origin = mod->row.origin;
	f->uid = mod->row.uid;
	f->task = priv_fetch(c->priv, mod->row.path, fetched, f, &e);
	if (!f->task)
		note(c, mod, e.text);
}

void fetching_stop(struct fetching *f)
{
	if (f->task)
		priv_drop(f->core->priv, f->task);
	f->task = 0;
}
