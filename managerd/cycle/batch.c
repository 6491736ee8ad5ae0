/*
 * A batch of samples: every count of it ends up in exactly one place of the
 * accounting, in the same transaction as the profiles it adds to.
 */
#include "managerd/cycle/manager.h"

#include "common/log.h"

#include <stdlib.h>

/* Of loading for one batch, in one turn of the loop; and how many turns, since
 * what is loaded may go again where memory is short. */
enum { TURN_NS = 30000000, LOAD_TURNS_MAX = 200 };

/* Moves the hits of the touched slots to the profile; returns those whose
 * function the current program has no more. */
static uint64_t merge_hits(const struct place *p, const struct map_touched *touched)
{
	const struct map_func *f = NULL;
	struct profile_func *pf = NULL;
	uint64_t gone = 0, n;
	uint32_t slot, block;
	size_t i;

	for (i = 0; i < touched->slot.n; i++) {
		slot = touched->slot.v[i];
		if (!f || slot < f->slot || slot - f->slot >= f->nblock) {
			f = map_slot(&p->origin->table, slot, &block);
			pf = module_func(p->mod, p->origin, (size_t)(f - p->origin->table.func.v));
		}
		n = p->origin->hit[slot];
		p->origin->hit[slot] = 0;
		if (pf)
			profile_add(pf, slot - f->slot, (double)n * p->weight, p->at);
		else
			gone += n;
	}
	return gone;
}

static void add_aged(double *sum, int64_t *as_of_ms, const struct place *p, uint64_t n)
{
	*sum *= decay_since(p->at, *as_of_ms);
	*sum += (double)n * p->weight;
	*as_of_ms = p->at.now_ms;
}

static void count_outside(struct store_module *r, const struct place *p, uint64_t n)
{
	r->outside += n;
	add_aged(&r->outside_aged, &r->outside_ms, p, n);
}

static uint64_t sum(const struct wire_module *w)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < w->nsample; i++)
		n += w->sample[i].count;
	return n;
}

static int take_module(struct manager *m, const struct wire_module *w, struct place *p,
    struct accounting *acc, struct batch_module *at, struct err *e)
{
	struct map_touched touched = {0};
	uint64_t all = sum(w), outside, gone;
	struct module *mod;
	struct build *build;

	switch (modules_find(&m->modules, w->path, &w->id, p->at.now_ms, &mod, &build, NULL, e)) {
	case FOUND_ERROR:
		return -1;
	case FOUND_OUTSIDE:
		acc->no_artifact += all;
		if (!mod)
			return 0;
		count_outside(&mod->row, p, all);
		break;
	case FOUND_LOADING:
	case FOUND_STALE:
		acc->stale += all;
		mod->row.stale += all;
		break;
	case FOUND_MAPPED:
		*at = (struct batch_module){mod, (size_t)(build - mod->build.v)};
		p->mod = mod;
		p->origin = &mod->origin.v[build->origin];
		outside = map_samples(&build->map, w->sample, w->nsample, p->origin->hit, &touched);
		gone = merge_hits(p, &touched);
		vec_free(&touched.slot);
		acc->no_block += outside;
		acc->stale += gone;
		acc->mapped += all - outside - gone;
		count_outside(&mod->row, p, outside);
		mod->row.stale += gone;
		mod->row.mapped += all - outside - gone;
		add_aged(&mod->row.samples, &mod->row.samples_ms, p, all - outside - gone);
		log_debug("%s: %llu samples, %llu mapped", mod->row.path, (unsigned long long)all,
		    (unsigned long long)(all - outside - gone));
		break;
	}
	mod->row.last_ms = p->at.now_ms;
	mod->touched = true;
	return 0;
}

static int take(
    struct manager *m, const struct wire_hello *h, const struct wire_batch *b, struct err *e)
{
	struct accounting acc = {.taken = b->taken,
	    .kernel = b->kernel,
	    .no_build_id = b->outside,
	    .dropped = b->dropped};
	struct place p = {.at = modules_decay(&m->modules)};
	struct batch_module *at;
	uint32_t i;
	int rc = 0;

	/* A recorded feed counts as usage now, whenever it was recorded. */
	p.weight =
	    h->source == WIRE_SRC_RECORDED ? 1 : decay_since(p.at, (int64_t)(b->end_ns / 1000000));
	at = xcalloc(b->nmodule, sizeof *at);
	for (i = 0; rc == 0 && i < b->nmodule; i++)
		rc = take_module(m, &b->module[i], &p, &acc, &at[i], e);
	if (rc == 0)
		registers_take(m, b, at, &p);
	free(at);
	return rc ? rc : store_account(m->store, b->session, b->seq, p.at.now_ms, &acc, e);
}

/* Has the file inspected that samples name. True: it is to be waited for. */
static bool ask(struct manager *m, const struct wire_module *w, const struct module *mod,
    enum wanted wanted)
{
	struct inspection q = {.path = module_path(&m->modules, w->path),
	    .uid = w->uid,
	    .asked = {w->id},
	    .nasked = 1,
	    .hint = {w->id},
	    .shallow = wanted == INSPECTION_SHALLOW && !(mod && mod->row.artifact),
	    .awaited = true};
	bool asked;

	if (mod)
		q.hint[1] = mod->row.origin;
	asked = cycle_learning(m, q.path) || inspections_ask(m->inspections, &q);
	free((char *)q.path);
	return asked;
}

/*
 * Loads what a batch needs, a bit in each turn of the loop, and has the files
 * inspected that nothing is known of, lest their samples be lost. 0 it may be
 * merged, 1 not yet, -1.
 */
static int prepare(struct manager *m, const struct wire_batch *b, bool over, struct err *e)
{
	uint64_t begin = uv_hrtime();
	int64_t now = clock_now_ms();
	struct module *mod;
	struct build *build;
	enum wanted wanted = INSPECTION_NOT;
	enum found found;
	bool wait;
	uint32_t i;

	if (b->session != m->load_session || b->seq != m->load_seq) {
		m->load_session = b->session;
		m->load_seq = b->seq;
		m->load_from = 0;
		m->load_wait = false;
	}
	for (i = m->load_from; i < b->nmodule; i++) {
		found = modules_find(&m->modules, b->module[i].path, &b->module[i].id, now, &mod,
		    &build, over ? NULL : &wanted, e);
		if (found == FOUND_ERROR) {
			m->load_from = 0;
			return -1;
		}
		m->load_wait |= found == FOUND_LOADING;
		if (wanted != INSPECTION_NOT)
			m->load_wait |= ask(m, &b->module[i], mod, wanted);
		if (uv_hrtime() - begin > TURN_NS && i + 1 < b->nmodule &&
		    m->load_turns++ < LOAD_TURNS_MAX) {
			m->load_from = i + 1;
			m->resume = true;
			cycle_soon(m);
			return 1;
		}
	}
	wait = m->load_wait && !over;
	/* What an early turn began may be there by now, and nothing more to come. */
	if (wait && m->load_turns && !inspections_awaited(m->inspections) && !m->learn.n) {
		m->resume = true;
		cycle_soon(m);
	}
	m->load_from = 0;
	m->load_wait = false;
	m->load_turns = 0;
	return wait;
}

int batch_take(void *manager, const struct wire_hello *h, const struct wire_batch *b, bool over,
    struct err *e)
{
	struct manager *m = manager;
	int rc = store_seen(m->store, b->session, b->seq, e);
	bool seen = rc == 1;

	if (rc == 0)
		rc = prepare(m, b, over, e);
	if (rc == 1 && !seen)
		return 1;
	if (rc >= 0 && !m->in_batch)
		rc = store_begin(m->store, e);
	m->in_batch = true;
	if (rc == 0 && !seen)
		rc = take(m, h, b, e);
	if (rc >= 0)
		return 0;
	m->in_batch = false;
	return manager_end(m, -1, e);
}

int batch_commit(void *manager, struct err *e)
{
	struct manager *m = manager;
	struct module *mod;
	size_t i;
	int rc = 0;

	m->in_batch = false;
	for (i = 0; rc == 0 && i < m->modules.module.n; i++) {
		mod = m->modules.module.v[i];
		if (mod->touched)
			rc = module_save(&m->modules, mod, e);
		mod->touched = false;
	}
	if (manager_end(m, rc, e))
		return -1;
	modules_trim(&m->modules, NULL);
	registers_want(m);
	cycle_soon(m);
	return 0;
}
