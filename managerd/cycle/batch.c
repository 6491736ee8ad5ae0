#include "managerd/cycle/batch.h"
#include "common/log.h"
#include "common/wire/samples.h"
#include "managerd/cycle/gathering.h"

#include <stdlib.h>

/* Of loading for one batch, in one turn of the loop; and how many turns, since
 * what is loaded may go again where memory is short. */
enum { TURN_NS = 30000000, LOAD_TURNS_MAX = 200 };

/* Adds them to the profile; returns the samples whose function the current program has no more. */
static uint64_t merge_hits(struct place *p, const struct map_hits *hits, struct recording *record)
{
	const struct map_hit *h;
	uint64_t gone = 0;

	for (h = hits->v.v; h < hits->v.v + hits->v.n; h++) {
		if (!place_slot(p, h->slot)) {
			gone += h->samples;
			continue;
		}
		profile_add(p->pf, h->slot - p->f->slot, (double)h->samples * p->weight, p->at);
		recording_count(record, p->origin, p->f, h->slot - p->f->slot, h->samples);
	}
	return gone;
}

static void count_outside(struct store_module *r, const struct place *p, uint64_t n)
{
	r->outside += n;
	r->outside_aged = r->outside_aged * decay_since(p->at, r->outside_ms) + (double)n * p->age;
	r->outside_ms = p->at.now_ms;
}

/* n samples, extra ones too, of this weight but for their age. */
static void count_profile(struct store_module *r, const struct place *p, double weight, uint64_t n)
{
	double old = decay_since(p->at, r->samples_ms), new = (double)n * p->age *weight;

	r->samples = r->samples * old + new;
	r->squares = r->squares * old + new *weight;
	r->samples_ms = p->at.now_ms;
}

/* All samples of a module weigh as much together as those of the accounting. Where these are too
 * few to say what each weighs, it is what the samples of all programs say. */
static double weight_of(const struct wire_batch *b, const struct wire_module *m)
{
	const double few = 16;
	double all = b->plain ? (double)b->plain / (double)(b->plain + b->extra) : 0;
	double plain = (double)wire_sum_samples(m->sample, m->nsample),
	       extra = (double)wire_sum_samples(m->extra, m->nextra);

	return m->boosted ? (plain + few * all) / (plain + extra + few) : 1;
}

static int take_module(struct batches *t, const struct wire_module *w, struct place *p,
    struct accounting *acc, struct batch_module *at, struct err *e)
{
	struct modules *ms = &t->core->modules;
	struct map_hits hits = {0};
	uint64_t all = wire_sum_samples(w->sample, w->nsample),
		 extra = wire_sum_samples(w->extra, w->nextra), outside, gone;
	struct module *mod;
	struct build *build;

	switch (modules_find(ms, w->path, &w->id, p->at.now_ms, &mod, &build, NULL, e)) {
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
		*at = (struct batch_module){mod, (size_t)(build - mod->builds.build.v), at->weight};
		place_build(p, mod, build);
		p->weight = p->age * at->weight;
		outside = map_samples(&build->map, w->sample, w->nsample, &hits);
		recording_begin(t->recording, mod, p->origin);
		gone = merge_hits(p, &hits, t->recording);
		recording_end(t->recording, outside);
		hits.v.n = 0;
		extra -= map_samples(&build->map, w->extra, w->nextra, &hits);
		extra -= merge_hits(p, &hits, t->recording);
		vec_free(&hits.v);
		acc->no_block += outside;
		acc->stale += gone;
		acc->mapped += all - outside - gone;
		count_outside(&mod->row, p, outside);
		mod->row.stale += gone;
		mod->row.mapped += all - outside - gone;
		count_profile(&mod->row, p, at->weight, all - outside - gone + extra);
		log_debug("%s: %llu samples, %llu mapped, %llu extra", mod->row.path,
		    (unsigned long long)all, (unsigned long long)(all - outside - gone),
		    (unsigned long long)extra);
		break;
	}
	mod->row.last_ms = p->at.now_ms;
	mod->memory.touched = true;
	return 0;
}

static int take(
    struct batches *t, const struct wire_hello *h, const struct wire_batch *b, struct err *e)
{
	struct accounting acc = {.taken = b->taken,
	    .kernel = b->kernel,
	    .no_build_id = b->outside,
	    .dropped = b->dropped};
	struct place p = {.at = modules_decay(&t->core->modules)};
	struct address_calls calls = {0};
	struct batch_module *at;
	uint32_t i;
	int rc = 0;

	/* A recorded feed counts as usage now, whenever it was recorded. */
	p.age =
	    h->source == WIRE_SRC_RECORDED ? 1 : decay_since(p.at, (int64_t)(b->end_ns / 1000000));
	at = xcalloc(b->nmodule, sizeof *at);
	for (i = 0; rc == 0 && i < b->nmodule; i++) {
		at[i].weight = weight_of(b, &b->module[i]);
		rc = take_module(t, &b->module[i], &p, &acc, &at[i], e);
	}
	if (rc == 0) {
		registers_take(t->registers, b, at, &p, &calls);
		trials_take(t->trials, b);
	}
	free(at);
	if (rc == 0)
		rc = gather_batch(t->core, h, b, &calls, p.at.now_ms, e);
	vec_free(&calls.v);
	return rc ? rc : store_account(t->core->store, b->session, b->seq, p.at.now_ms, &acc, e);
}

/* Has the file inspected that samples name. True: it is to be waited for. */
static bool ask(
    struct batches *t, const struct wire_module *w, const struct module *mod, enum wanted wanted)
{
	struct inspection q = {.path = module_path(&t->core->modules, w->path),
	    .uid = w->uid,
	    .asked = {w->id},
	    .nasked = 1,
	    .hint = {w->id},
	    .shallow = wanted == INSPECTION_SHALLOW && !(mod && mod->row.artifact),
	    .awaited = true};
	bool asked;

	if (mod)
		q.hint[1] = mod->row.origin;
	asked = learning_wanted(t->learning, &q);
	free((char *)q.path);
	return asked;
}

/*
 * Loads what a batch needs, a bit in each turn of the loop, and has the files
 * inspected that nothing is known of, or their samples would be lost. 0 it may be
 * merged, 1 not yet, -1.
 */
static int prepare(struct batches *t, const struct wire_batch *b, bool over, struct err *e)
{
	uint64_t begin = uv_hrtime();
	int64_t now = clock_now_ms();
	struct module *mod;
	struct build *build;
	enum wanted wanted = INSPECTION_NOT;
	enum found found;
	bool wait;
	uint32_t i;

	if (b->session != t->load.session || b->seq != t->load.seq) {
		t->load.session = b->session;
		t->load.seq = b->seq;
		t->load.from = 0;
		t->load.wait = false;
	}
	for (i = t->load.from; i < b->nmodule; i++) {
		found = modules_find(&t->core->modules, b->module[i].path, &b->module[i].id, now,
		    &mod, &build, over ? NULL : &wanted, e);
		if (found == FOUND_ERROR) {
			t->load.from = 0;
			return -1;
		}
		t->load.wait |= found == FOUND_LOADING;
		if (wanted != INSPECTION_NOT)
			t->load.wait |= ask(t, &b->module[i], mod, wanted);
		if (uv_hrtime() - begin > TURN_NS && i + 1 < b->nmodule &&
		    t->load.turns++ < LOAD_TURNS_MAX) {
			t->load.from = i + 1;
			batch_resume(t);
			return 1;
		}
	}
	wait = t->load.wait && !over;
	/* What an early turn began may be there by now, and nothing more to come. */
	if (wait && t->load.turns && learning_settled(t->learning))
		batch_resume(t);
	t->load.from = 0;
	t->load.wait = false;
	t->load.turns = 0;
	return wait;
}

int batch_take(
    void *arg, const struct wire_hello *h, const struct wire_batch *b, bool over, struct err *e)
{
	struct batches *t = arg;
	int rc = store_seen(t->core->store, b->session, b->seq, e);
	bool seen = rc == 1;

	if (rc == 0)
		rc = prepare(t, b, over, e);
	if (rc == 1 && !seen)
		return 1;
	if (rc >= 0 && !t->open)
		rc = core_begin(t->core, e);
	t->open = true;
	if (rc == 0 && !seen)
		rc = take(t, h, b, e);
	if (rc >= 0)
		return 0;
	t->open = false;
	return core_end(t->core, -1, e);
}

static int save_touched(struct modules *ms, struct err *e)
{
	struct module *mod;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < ms->module.n; i++) {
		mod = ms->module.v[i];
		if (mod->memory.touched)
			rc = module_save(ms, mod, e);
		mod->memory.touched = false;
	}
	return rc;
}

int batch_commit(void *arg, struct err *e)
{
	struct batches *t = arg;

	t->open = false;
	if (core_end(t->core,
		save_touched(&t->core->modules, e) || trials_save(t->trials, e) ? -1 : 0, e))
		return -1;
	modules_trim(&t->core->modules, NULL);
	registers_want(t->registers);
	core_soon(t->core);
	return 0;
}

void batch_resume(void *arg)
{
	struct batches *t = arg;

	t->resume = true;
	core_soon(t->core);
}
