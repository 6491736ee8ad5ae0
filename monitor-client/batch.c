#include "monitor-client/batch.h"
#include "common/sort.h"

#include <stdlib.h>
#include <string.h>

static int entry_compare(const void *pa, const void *pb)
{
	const struct batch_entry *a = pa, *b = pb;

	return ORDER(a->module, b->module) ?: ORDER(a->offset, b->offset);
}

/* Sorts and adds up equal places. */
static void compact(struct batch *b)
{
	size_t i, n = 0;

	if (b->sorted == b->entry.n)
		return;
	qsort(b->entry.v, b->entry.n, sizeof *b->entry.v, entry_compare);
	for (i = 0; i < b->entry.n; i++)
		if (n && !entry_compare(&b->entry.v[n - 1], &b->entry.v[i])) {
			b->entry.v[n - 1].count += b->entry.v[i].count;
			b->entry.v[n - 1].extra += b->entry.v[i].extra;
		} else {
			b->entry.v[n++] = b->entry.v[i];
		}
	b->entry.n = b->sorted = n;
}

/* The module's index, or -1 when its path finds no room. */
static int64_t module_index(struct batch *b, const struct place *at)
{
	size_t n = strlen(at->path) + 1;
	struct buf key = {0};
	uint64_t *slot;
	int64_t index = -1;

	buf_add(&key, &at->uid, sizeof at->uid);
	buf_add(&key, at->path, n);
	buf_add(&key, at->id->b, at->id->n);
	if ((slot = htab_get(&b->index, key.p, key.n))) {
		index = (int64_t)*slot;
	} else if (room_take(&b->paths, BATCH_PATHS, at->uid, n)) {
		index = (int64_t)b->module.n;
		*htab_put(&b->index, key.p, key.n, NULL) = b->module.n;
		vec_push(&b->module,
		    (struct wire_module){.id = *at->id, .path = xstrdup(at->path), .uid = at->uid});
	}
	buf_free(&key);
	return index;
}

int64_t batch_place(struct batch *b, const struct place *at)
{
	int64_t module = module_index(b, at);

	if (b->entry.n >= BATCH_ENTRIES)
		compact(b);
	if (module < 0 || b->entry.n >= BATCH_ENTRIES) {
		batch_dropped(b, 1);
		return -1;
	}
	b->taken++;
	vec_push(&b->entry,
	    (struct batch_entry){.module = (uint32_t)module, .offset = at->offset, .count = 1});
	return module;
}

/* They leave half of the room to all others. */
int64_t batch_extra(struct batch *b, const struct place *at)
{
	int64_t module = module_index(b, at);

	if (b->entry.n >= BATCH_ENTRIES / 2)
		compact(b);
	if (module < 0 || b->entry.n >= BATCH_ENTRIES / 2)
		return -1;
	vec_push(&b->entry,
	    (struct batch_entry){.module = (uint32_t)module, .offset = at->offset, .extra = 1});
	return module;
}

/* Most sites are of one build. */
static bool same_module(const struct place *a, const struct place *b)
{
	return a && a->id == b->id && a->path == b->path;
}

void batch_caller(
    struct batch *b, uint32_t callee, uint64_t address, const struct callers_sites *from)
{
	struct wire_site site[WIRE_SITES];
	struct wire_caller c = {.callee = callee,
	    .address = address,
	    .direct = from->direct,
	    .looked = from->looked,
	    .nsite = from->n,
	    .site = site};
	const struct place *last = NULL;
	int64_t module = -1;
	uint32_t i;

	for (i = 0; i < from->n; i++) {
		if (!from->at[i].id) {
			site[i] = (struct wire_site){from->word[i], WIRE_OTHER_CODE, 0};
			continue;
		}
		if (!same_module(last, &from->at[i]))
			module = module_index(b, &from->at[i]);
		if (module < 0)
			return;
		last = &from->at[i];
		site[i] = (struct wire_site){from->word[i], (uint32_t)module, last->offset};
	}
	if (c.nsite)
		callers_add(&b->caller, from->at[0].uid, &c);
}

void batch_kernel(struct batch *b)
{
	b->taken++;
	b->kernel++;
}

void batch_outside(struct batch *b)
{
	b->taken++;
	b->outside++;
}

void batch_dropped(struct batch *b, uint64_t n)
{
	b->taken += n;
	b->dropped += n;
}

void batch_run(struct batch *b, const struct build_id *id, const struct wire_run *r)
{
	uint32_t i = 0;

	while (i < b->nrun_build && !build_id_equal(&b->run_build[i], id))
		i++;
	if (i == WIRE_RUN_BUILDS_MAX || b->run.n == WIRE_RUNS_MAX) {
		b->runs_unsent++;
		return;
	}
	if (i == b->nrun_build)
		b->run_build[b->nrun_build++] = *id;
	vec_push(&b->run, *r);
	b->run.v[b->run.n - 1].build = i;
}

static void add_sample(struct wire_sample *to, uint32_t *n, uint64_t offset, uint64_t count)
{
	if (count)
		to[(*n)++] = (struct wire_sample){offset, count};
}

/* A module that called others is in the batch without samples, too. */
static bool *find_callers(const struct batch *b)
{
	bool *calls = xcalloc(b->module.n, sizeof *calls);
	const struct wire_caller *c;
	uint32_t i;

	for (c = b->caller.entry.v; c < b->caller.entry.v + b->caller.entry.n; c++)
		for (i = 0; i < c->nsite; i++)
			if (c->site[i].module != WIRE_OTHER_CODE)
				calls[c->site[i].module] = true;
	return calls;
}

/* Gives every module its run of samples, and of extra ones, which have as much room
 * after all of those. A module whose only samples were
 * dropped is left out. Returns how many are left, at the beginning; rename: their
 * new indices. */
static uint32_t fill_modules(struct batch *b, struct wire_sample *sample, uint32_t *rename)
{
	bool *calls = find_callers(b);
	struct wire_sample *extra = sample + b->entry.n;
	const struct batch_entry *e;
	size_t i, from, m;
	uint32_t n = 0;
	struct wire_module t, *mod;

	for (m = 0, i = 0; m < b->module.n; m++) {
		mod = &b->module.v[m];
		mod->sample = sample + i;
		mod->extra = extra + i;
		for (from = i; i < b->entry.n && b->entry.v[i].module == m; i++) {
			e = &b->entry.v[i];
			add_sample(mod->sample, &mod->nsample, e->offset, e->count);
			add_sample(mod->extra, &mod->nextra, e->offset, e->extra);
		}
		rename[m] = i == from && !calls[m] ? REGS_NOWHERE : n;
		if (rename[m] == REGS_NOWHERE)
			continue;
		t = b->module.v[n];
		b->module.v[n++] = b->module.v[m];
		b->module.v[m] = t;
	}
	free(calls);
	return n;
}

static void batch_clear(struct batch *b)
{
	size_t i;

	for (i = 0; i < b->module.n; i++)
		free(b->module.v[i].path);
	b->module.n = b->entry.n = b->sorted = 0;
	b->run.n = b->nrun_build = b->nuse = 0;
	b->plain = b->extra = 0;
	b->taken = b->kernel = b->outside = b->dropped = b->runs_unsent = 0;
	htab_free(&b->index);
	room_free(&b->paths);
	elsewheres_clear(&b->elsewhere);
	callers_clear(&b->caller);
}

/* The frame once more, with registers. plain: bytes of it without. */
static void put_secret(struct batch *b, struct wire_batch *w, size_t plain, struct buf *out)
{
	size_t n = plain + 5 + 2 * 10 + (size_t)b->regs.n * WIRE_REGS_MAX;

	if (!b->regs.seen || !out || n > WIRE_MAX_PAYLOAD) {
		regs_clear(&b->regs, false);
		return;
	}
	w->regs = b->regs.v;
	w->nregs = b->regs.n;
	w->regs_unsent = regs_unsent(&b->regs);
	buf_secret_room(out, n);
	wire_put_batch(out, w);
	regs_clear(&b->regs, true);
}

uint64_t batch_flush(struct batch *b, uint64_t session, uint64_t seq, uint64_t end_ns,
    struct buf *out, struct buf *secret)
{
	struct wire_batch w = {.session = session,
	    .seq = seq,
	    .start_ns = b->start_ns,
	    .end_ns = end_ns,
	    .taken = b->taken,
	    .kernel = b->kernel,
	    .outside = b->outside,
	    .dropped = b->dropped,
	    .run_build = b->run_build,
	    .nrun_build = b->nrun_build,
	    .run = b->run.v,
	    .nrun = (uint32_t)b->run.n,
	    .runs_unsent = b->runs_unsent,
	    .use = b->use,
	    .nuse = b->nuse,
	    .plain = b->plain,
	    .extra = b->extra};
	struct wire_sample *sample, *elsewhere;
	uint32_t *rename;
	size_t begin = out->n;

	b->start_ns = end_ns;
	if (!w.taken && !b->entry.n && !w.nrun && !w.runs_unsent && !w.nuse)
		return 0;
	compact(b);
	sample = xcalloc(2 * b->entry.n, sizeof *sample);
	rename = xcalloc(b->module.n, sizeof *rename);
	w.nmodule = fill_modules(b, sample, rename);
	w.module = b->module.v;
	elsewhere = elsewheres_fill(&b->elsewhere);
	w.elsewhere = b->elsewhere.place.v;
	w.nelsewhere = (uint32_t)b->elsewhere.place.n;
	callers_fill(&b->caller, rename, w.nmodule, w.nelsewhere);
	w.caller = b->caller.entry.v;
	w.ncaller = (uint32_t)b->caller.entry.n;
	wire_put_batch(out, &w);
	regs_rename(&b->regs, rename);
	put_secret(b, &w, out->n - begin, secret);
	free(rename);
	free(sample);
	free(elsewhere);
	batch_clear(b);
	return w.taken;
}

void batch_free(struct batch *b)
{
	batch_clear(b);
	regs_free(&b->regs);
	elsewheres_free(&b->elsewhere);
	callers_free(&b->caller);
	vec_free(&b->module);
	vec_free(&b->entry);
	vec_free(&b->run);
}
