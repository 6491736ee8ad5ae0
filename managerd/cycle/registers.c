#include "managerd/cycle/registers.h"
#include "common/log.h"
#include "managerd/samples/weight.h"

#include <stdlib.h>

/* ---- whose ---- */

/* Only what may be laid out has use for them. */
static bool eligible(const struct core *c, const struct store_module *row)
{
	return c->conf->profile.registers && core_may_lay_out(c, row);
}

/* Builds of the present program that have been seen; others resolve
 * branches of functions that may be gone. */
void registers_add_builds(
    const struct store_module *row, const struct builds *builds, struct wire_want *w)
{
	const struct build *b;
	size_t i;

	if (w->n < WIRE_WANT_MAX)
		w->id[w->n++] = row->current;
	for (i = 0; i < builds->build.n; i++) {
		b = &builds->build.v[i];
		if (w->n < WIRE_WANT_MAX && !build_id_equal(&b->id, &row->current) &&
		    build_id_equal(&builds->origin.v[b->origin].id, &row->origin))
			w->id[w->n++] = b->id;
	}
}

void registers_want(struct registers *r)
{
	struct modules *ms = &r->core->modules;
	struct wire_want w = {0};
	struct module *mod;
	size_t i;

	if (!r->ingest)
		return;
	w.id = xcalloc(WIRE_WANT_MAX, sizeof *w.id);
	for (i = 0; i < ms->module.n; i++) {
		mod = ms->module.v[i];
		if (eligible(r->core, &mod->row) && module_has_table(ms, mod))
			registers_add_builds(&mod->row, &mod->builds, &w);
	}
	if (wire_want_equal(&w, &r->want)) {
		free(w.id);
		return;
	}
	free(r->want.id);
	r->want = w;
	log_debug("registers are wanted of %u builds", w.n);
	ingest_want(r->ingest, &w);
}

/* ---- replay tables ---- */

/* The busiest module that should have a replay table and has none, or NULL. */
static struct module *table_due(const struct registers *r)
{
	struct core *c = r->core;
	double enough = c->conf->decide.min_samples / 4;
	int64_t now = clock_now_ms();
	struct module *mod, *best = NULL;
	size_t i;

	for (i = 0; i < c->modules.module.n; i++) {
		mod = c->modules.module.v[i];
		if ((double)mod->row.mapped >= enough && now >= mod->schedule.not_before_ms &&
		    (!best || core_sooner(&r->turns, &mod->row, &best->row)) &&
		    eligible(c, &mod->row) && !module_has_table(&c->modules, mod) &&
		    mod->builds.table == TABLE_ABSENT)
			best = mod;
	}
	return best;
}

static void table_done(const struct edit_result *done, void *arg)
{
	struct registers *r = arg;
	struct module *mod = modules_get(&r->core->modules, r->module);

	r->job = NULL;
	if (mod && (mod->row.uid != r->uid || !build_id_equal(&mod->row.origin, &r->origin)))
		mod = NULL; /* not that program of that owner any more */
	if (mod && done->end == EDIT_LATER) {
		log_info("%s: no replay table yet: %s", mod->row.path, done->error);
		core_later(r->core, &mod->schedule);
	} else if (mod && done->end == EDIT_DONE) {
		log_info("%s: replay table made in %.1f s", mod->row.path, done->ran_s);
		module_take_table(&r->core->modules, mod, done->blob);
	} else if (mod && done->end != EDIT_CANCELLED) {
		mod->builds.table = TABLE_FAILED;
		log_warn("%s: no replay table, registers of its samples are of no use: %s",
		    mod->row.path, done->error);
	}
	registers_want(r);
	r->over(r->arg);
}

void registers_table_turn(struct registers *r)
{
	struct module *mod = r->job ? NULL : table_due(r);
	struct edit_request q;
	struct err e;

	if (!mod)
		return;
	turns_serve(&r->turns, mod->row.uid);
	q = (struct edit_request){.job = {.kind = PRIV_TABLE,
				      .module = mod->row.path,
				      .id = mod->row.current,
				      .origin = mod->row.origin},
	    .deadline_s = r->core->conf->edit.deadline_s};
	r->module = mod->row.id;
	r->origin = mod->row.origin;
	r->uid = mod->row.uid;
	r->job = edit_start(r->core->loop, r->core->priv, &q, table_done, r, &e);
	if (!r->job) {
		log_info("%s: no replay table yet: %s", mod->row.path, e.text);
		core_later(r->core, &mod->schedule);
	}
}

/* ---- what they come to ---- */

void place_build(struct place *p, struct module *mod, const struct build *b)
{
	p->now = &mod->profile.now;
	p->origin = &mod->builds.origin.v[b->origin];
	p->f = NULL;
}

struct profile_func *place_slot(struct place *p, uint32_t slot)
{
	const struct map_table *t = &p->origin->table;
	uint32_t block;

	if (!p->f || slot < p->f->slot || slot - p->f->slot >= p->f->nblock) {
		p->f = map_slot(t, slot, &block);
		p->pf = origin_func(p->origin, p->now, (size_t)(p->f - t->func.v));
	}
	return p->pf;
}

enum came { WENT_TO, CAME_FROM, CALLED };

/* Moves what came up to the profile. */
static void merge(struct place *p, struct pairs *pairs, enum came how)
{
	const struct pair *e;
	uint32_t from;
	size_t i;

	pairs_sort(pairs);
	for (i = 0; i < pairs->n; i++) {
		e = &pairs->v[i];
		if (!place_slot(p, e->a))
			continue;
		from = e->a - p->f->slot;
		if (how == WENT_TO)
			profile_add_edge(p->pf, from, e->b - p->f->slot,
			    (double)e->n / WEIGHT_ONE * p->weight, p->at);
		else if (how == CALLED)
			profile_add_call(p->pf, from, &p->origin->table.func.v[e->b].key,
			    e->n * p->weight, p->at);
		else
			profile_add_predecessor(p->pf, from,
			    e->b == UINT32_MAX ? PROFILE_UNRESOLVED : e->b - p->f->slot,
			    e->n * p->weight, p->at);
	}
	pairs_free(pairs);
}

static void add_counts(struct observe_count *to, const struct observe_count *c)
{
	to->samples += c->samples;
	to->placed += c->placed;
	to->own += c->own;
	to->outcomes += c->outcomes;
	to->callers += c->callers;
	to->joins += c->joins;
	to->predecessors += c->predecessors;
	to->charged += c->charged;
	to->uncharged += c->uncharged;
}

/* One module's observer, if it has a table. */
static struct observer begin(const struct batch_module *at)
{
	struct origin *o;

	if (!at->mod)
		return (struct observer){0};
	o = &at->mod->builds.origin.v[at->mod->builds.build.v[at->build].origin];
	if (!o->uops_func)
		return (struct observer){0};
	return (struct observer){.map = &at->mod->builds.build.v[at->build].map,
	    .table = &o->table,
	    .uops = &o->uops,
	    .uops_func = o->uops_func,
	    .closed = o->closed,
	    .nclosed = o->nclosed,
	    .weights = &o->weights};
}

static void end(
    struct registers *r, const struct batch_module *at, struct place *p, struct observer *o)
{
	place_build(p, at->mod, &at->mod->builds.build.v[at->build]);
	p->weight = p->age * at->weight;
	merge(p, &o->edge, WENT_TO);
	merge(p, &o->predecessors, CAME_FROM);
	merge(p, &o->call, CALLED);
	add_counts(&r->observed, &o->count);
	if (o->count.samples)
		log_debug("%s: %llu samples with registers, %llu branch outcomes, %llu callers",
		    at->mod->row.path, (unsigned long long)o->count.samples,
		    (unsigned long long)o->count.outcomes, (unsigned long long)o->count.callers);
	if (o->count.charged + o->count.uncharged)
		log_debug("%s: called %llu samples of other code, and perhaps %llu",
		    at->mod->row.path, (unsigned long long)o->count.charged,
		    (unsigned long long)o->count.uncharged);
}

/* Samples that the replay table's own functions called one another in. */
static void add_sites(struct address_calls *calls, uint32_t module, struct observer *o)
{
	size_t i;

	for (i = 0; i < o->site.n; i++)
		vec_push(&calls->v, (struct address_call){module, module, o->site.v[i].waiting,
					o->site.v[i].address, o->site.v[i].site, 1});
	vec_free(&o->site);
}

/* Who called the function that this site is in, and so on. */
static void add_chain(struct address_calls *calls, const struct observer *o,
    const struct wire_caller *c, const struct wire_site *s)
{
	const struct wire_site *next = s, *end = c->site + c->nsite;
	uint32_t word;

	while (observe_next_word(&o[s->module], s->offset, s->word, &word)) {
		while (next < end && next->word < word)
			next++;
		if (next == end || next->word != word || next->module == WIRE_OTHER_CODE ||
		    !o[next->module].uops || !observe_is_return(&o[next->module], next->offset) ||
		    !observe_may_call(&o[next->module], next->offset, &o[s->module], s->offset))
			return;
		vec_push(&calls->v, (struct address_call){s->module, next->module, true,
					s->offset - 1, next->offset - 1, c->count});
		s = next;
	}
}

/* The call that a sample of other code is on behalf of. */
static void add_caller(struct address_calls *calls, struct observer *o, const struct wire_caller *c)
{
	struct address_call call = {.callee = c->callee, .address = c->address, .count = c->count};
	const struct wire_site *s = c->direct ? c->site : observe_site(o, c);

	if (!s) {
		o[c->site->module].count.uncharged += c->count;
		return;
	}
	o[s->module].count.charged += c->count;
	call.caller = s->module;
	call.site = c->direct ? s->offset : s->offset - 1;
	vec_push(&calls->v, call);
	if (!c->direct)
		add_chain(calls, o, c, s);
}

void registers_take(struct registers *r, const struct wire_batch *b, const struct batch_module *at,
    struct place *p, struct address_calls *calls)
{
	struct observer *o;
	uint32_t i;

	r->observed.unsent += b->regs_unsent;
	if ((!b->nregs && !b->ncaller) || !r->core->conf->profile.registers)
		return;
	o = xcalloc(b->nmodule, sizeof *o);
	for (i = 0; i < b->nmodule; i++) {
		if (at[i].mod)
			module_more_table(&r->core->modules, at[i].mod,
			    &at[i]
				 .mod->builds.origin
				 .v[at[i].mod->builds.build.v[at[i].build].origin]);
		o[i] = begin(&at[i]);
	}
	for (i = 0; i < b->nregs; i++)
		if (o[b->regs[i].module].uops)
			observe(&o[b->regs[i].module], &b->regs[i]);
		else
			r->observed.samples++;
	for (i = 0; i < b->ncaller; i++)
		add_caller(calls, o, &b->caller[i]);
	for (i = 0; i < b->nmodule; i++) {
		add_sites(calls, i, &o[i]);
		if (o[i].uops)
			end(r, &at[i], p, &o[i]);
	}
	free(o);
}

void registers_free(struct registers *r)
{
	turns_free(&r->turns);
	free(r->want.id);
}
