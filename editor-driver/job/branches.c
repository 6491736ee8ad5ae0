#include "editor-driver/job/branches.h"
#include "common/sort.h"
#include "editor-driver/plan/built.h"
#include "editor-driver/plan/callees.h"
#include "editor/layout/relax.h"
#include "editor/replay/replay.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };

/* Of addresses: both ends of a range, inclusive; source and target. */
struct pair {
	uint64_t from, to, count;
};

struct pairs {
	struct pair *v;
	size_t n, cap;
};

struct maker {
	struct plan *p;
	struct mapindex build;
	const struct built_code *code;
	struct arena mem;
	struct callees callees;
	uint64_t *entry;  /* by function: address, 0 = the build does not have it */
	uint32_t *chosen; /* by function, at the first of those that share their counts: the one of
			     them that the build has, + 1 */
	struct pairs ranges, jumps, calls;
	struct branches_result *r;
};

/* A function in the build. */
struct placed {
	const struct unit_func *f;
	const struct unit_sites *sites;
	struct layout layout;
	struct fe_slot *slot;
	uint32_t n;        /* slots that the build has */
	uint32_t *primary; /* by block */
};

/* The jumps at the end of a slot. */
struct ending {
	struct layout_jumps to;
	uint64_t cond, jump; /* where they are */
	uint64_t last;       /* the last instruction, or a byte of it */
	uint32_t shift;      /* bytes that calls before it have more than in the original */
};

/* ---- where things are ---- */

static void find_entries(struct maker *m)
{
	struct plan *p = m->p;
	const struct plan_tu *t;
	struct func_blocks b;
	uint32_t i, k, *chosen;

	m->entry = arena_array(&m->mem, p->nfunc, sizeof *m->entry);
	m->chosen = arena_array(&m->mem, p->nfunc, sizeof *m->chosen);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++) {
			k = plan_index(p, t, i);
			if (!p->counts->block[k])
				continue;
			chosen = &m->chosen[p->counts->first[k]];
			mapindex_blocks(&m->build, hash_short(&t->art->hash), i, 1, &b);
			m->entry[k] = b.block.n ? b.block.v[0]->addr : 0;
			if (m->entry[k] && !*chosen)
				*chosen = k + 1;
			mapindex_blocks_free(&b);
		}
}

/* May a layout make this call through the GOT, a byte longer (editor-driver/plan/layout.c)? */
static bool may_grow(const struct maker *m, const struct unit_call *c)
{
	return *c->callee && !htab_get_str(&m->p->defined, c->callee);
}

/* Of the calls in a block before instruction `insn`, those that are a byte longer; of all, `longer`
 * are. */
static uint32_t shift_before(
    const struct maker *m, const struct placed *x, uint32_t block, uint32_t insn, uint32_t longer)
{
	const struct unit_func *f = x->f;
	uint32_t k = (uint32_t)partition_point(0, f->ncall, i, f->call[i].block < block), n = 0;

	for (; k < f->ncall && f->call[k].block == block && f->call[k].insn < insn; k++)
		n += may_grow(m, &f->call[k]);
	return n < longer ? n : longer;
}

/* The bytes of the jump at the end of a slot, whose jumps have `both` bytes: it comes after a
 * conditional one, or is alone. */
static uint32_t jump_bytes(uint32_t both, bool cond)
{
	return !cond ? both : both == 4 || both == 8 ? 2 : 5;
}

/* Where the jumps at the end of block b begin, in a slot at `from` that ends at `to`: where they do
 * in the original, but for calls that are longer. */
static uint64_t body_end(const struct maker *m, const struct placed *x, uint32_t b, uint64_t from,
    uint64_t to, struct ending *e)
{
	const struct cfg_block *block = &x->f->cfg.block[b];
	uint32_t site = x->sites->jump[b], body, longer;
	uint64_t at = to;

	body = site != UNIT_NO_SITE ? site : block->bytes - block->jump;
	if (e->to.jump != NONE)
		at -= relax_jump(EDGE_JUMP, at, x->slot[x->primary[e->to.jump]].addr);
	if (e->to.cond != NONE)
		at -= relax_jump(EDGE_TAKEN, at, x->slot[x->primary[e->to.cond]].addr);
	longer = at - from > body ? (uint32_t)(at - from - body) : 0;
	e->shift = shift_before(m, x, b, NONE, longer);
	at = from + body + e->shift;
	return at < to ? at : to;
}

static struct ending find_end(const struct maker *m, const struct placed *x, uint32_t k)
{
	const struct fe_slot *s = &x->slot[k];
	uint32_t b = x->layout.order[k], site = x->sites->last[b], last_shift;
	struct ending e = {.to = layout_slot_jumps(&x->f->cfg, &x->layout, k)};
	uint64_t to = s->addr + s->bytes;

	e.cond = e.jump = body_end(m, x, b, s->addr, to, &e);
	if (e.to.jump != NONE)
		e.jump = to - jump_bytes((uint32_t)(to - e.cond), e.to.cond != NONE);
	last_shift = shift_before(m, x, b, x->f->cfg.block[b].insns - 1, e.shift);
	e.last = s->addr + s->bytes - 1;
	if (e.to.jump != NONE || e.to.cond != NONE)
		e.last = e.jump;
	else if (site != UNIT_NO_SITE && site + last_shift < s->bytes)
		e.last = s->addr + site + last_shift;
	return e;
}

/* ---- what is executed ---- */

static uint64_t whole(double count)
{
	return count < 0x1p62 ? (uint64_t)llround(count) : (uint64_t)1 << 62;
}

static void add(struct pairs *v, uint64_t from, uint64_t to, double count)
{
	if (whole(count))
		vec_push(v, (struct pair){from, to, whole(count)});
}

/* Does edge e lead from slot k to the next without a jump? */
static bool falls(const struct placed *x, uint32_t k, const struct cfg_edge *e)
{
	return edge_direct(e->kind) && k + 1 < x->n && layout_runs_on(&x->layout, k) &&
	       e->dst == x->layout.order[k + 1];
}

/* The executions of slot k that fall through to the next. */
static double fall_count(const struct placed *x, uint32_t k, double share)
{
	const struct cfg *g = &x->f->cfg;
	uint32_t b = x->layout.order[k], i;
	double n = 0;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		if (falls(x, k, &g->edge[i]))
			n += (double)g->edge[i].count * share;
	return n;
}

static uint64_t source(const struct ending *end, const struct cfg_edge *e)
{
	if (!edge_direct(e->kind))
		return end->last;
	return e->dst == end->to.cond ? end->cond : end->jump;
}

/* Returns the executions of slot k that leave the block by an edge. */
static double add_jumps(
    struct maker *m, const struct placed *x, uint32_t k, double share, const struct ending *end)
{
	const struct cfg *g = &x->f->cfg;
	uint32_t b = x->layout.order[k], i, to;
	const struct cfg_edge *e;
	double n, left = 0;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++) {
		e = &g->edge[i];
		n = (double)e->count * share;
		left += n;
		to = x->primary[e->dst];
		if (e->kind != EDGE_THROW && to < x->n && !falls(x, k, e))
			add(&m->jumps, source(end, e), x->slot[to].addr, n);
	}
	return left;
}

/* left: executions that leave the block by an edge; those of a tail call do not. */
static void add_calls(
    struct maker *m, const struct placed *x, uint32_t k, double left, const struct ending *end)
{
	uint32_t b = x->layout.order[k], callee, site;
	const struct cfg_block *block = &x->f->cfg.block[b];
	const struct plan_call *c = m->callees.call.v, *stop = c + m->callees.call.n;
	const struct unit_call *call;
	uint64_t at;
	double n;

	c += partition_point(0, m->callees.call.n, i, c[i].block < b);
	for (; c < stop && c->block == b; c++) {
		call = &x->f->call[c->call];
		callee = m->chosen[m->p->counts->first[c->callee]];
		site = x->sites->call[c->call];
		at = x->slot[k].addr;
		if (site != UNIT_NO_SITE)
			at += site + shift_before(m, x, b, call->insn, end->shift);
		n = x->slot[k].count;
		if (call->insn + 1 == block->insns && block->flags & BLK_EXIT)
			n -= left;
		if (callee)
			add(&m->calls, at, m->entry[callee - 1], n * c->share);
	}
}

static void add_slots(struct maker *m, const struct placed *x)
{
	struct pair run = {0, 0, 0};
	uint64_t count, fell = 0; /* executions that fell from the slot before */
	struct ending end;
	double share, left;
	uint32_t k, b;

	for (k = 0; k < x->n; k++) {
		b = x->layout.order[k];
		count = whole(x->slot[k].count);
		share = count ? x->slot[k].count / (double)x->f->cfg.block[b].count : 0;
		if (run.count && (count != run.count || fell != count)) {
			vec_push(&m->ranges, run);
			run.count = 0;
		}
		fell = whole(fall_count(x, k, share));
		if (!count || !x->slot[k].bytes)
			continue;
		end = find_end(m, x, k);
		if (!run.count)
			run = (struct pair){x->slot[k].addr, 0, count};
		run.to = end.last;
		left = add_jumps(m, x, k, share, &end);
		add_calls(m, x, k, left, &end);
	}
	if (run.count)
		vec_push(&m->ranges, run);
}

/* ---- the functions ---- */

static void add_func(struct maker *m, const struct plan_tu *t, uint32_t i,
    const struct unit_sites *sites, struct arena *scratch)
{
	struct placed x = {.f = &t->unit->func[i], .sites = sites};
	double *count;
	uint32_t k;

	x.n = built_func(&m->build, hash_short(&t->art->hash), x.f, scratch, &x.layout, &x.slot);
	x.primary = arena_array(scratch, x.f->cfg.nblock, sizeof *x.primary);
	count = arena_array(scratch, x.layout.n, sizeof *count);
	built_jumps(&x.f->cfg, &x.layout, x.slot, x.n, m->code, x.primary, scratch);
	layout_flow(&x.f->cfg, &x.layout, count);
	for (k = 0; k < x.layout.n; k++)
		x.slot[k].count = count[k];
	callees_find(&m->callees, t, i);
	add_slots(m, &x);
	m->r->functions++;
	m->r->unplaced += !x.f->opaque && sites->jump[0] == UNIT_NO_SITE;
}

static int find_sites(struct maker *m, struct plan_tu *t, const struct buf *measured,
    struct unit_sites *sites, struct arena *a, struct err *e)
{
	const uint32_t **size = arena_array(a, t->nfunc, sizeof *size);
	struct plan_text again = {0};
	struct unit *u = plan_unit(m->p, t, &again, e);
	uint32_t i;
	int rc = -1;

	for (i = 0; i < t->nfunc; i++)
		size[i] = measured_sizes(m->p, t, &t->unit->func[i]);
	if (u)
		rc = unit_find_sites(u, measured->p, measured->n, size, sites, a, e)
			 ? err_wrap(e, "%s", t->art->name)
			 : 0;
	plan_text_free(&again);
	return rc;
}

static int add_unit(struct maker *m, struct plan_tu *t, const struct buf *measured, struct err *e)
{
	struct unit_sites *sites;
	struct arena scratch = {0};
	uint32_t i, k;
	int rc;

	sites = arena_array(&scratch, t->nfunc, sizeof *sites);
	rc = find_sites(m, t, measured, sites, &scratch, e);
	for (i = 0; !rc && i < t->nfunc; i++) {
		k = plan_index(m->p, t, i);
		if (t->weight[i] && m->chosen[m->p->counts->first[k]] == k + 1)
			add_func(m, t, i, &sites[i], &scratch);
		else
			m->r->absent += counts_stands(m->p->counts, k) && !m->chosen[k];
	}
	arena_free(&scratch);
	return rc;
}

/* ---- the text ---- */

static int by_place(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return ORDER(x->from, y->from) ?: ORDER(x->to, y->to);
}

/* Sorts, and adds up what is of the same places. */
static void sort_and_add(struct pairs *v)
{
	size_t i, n = 0;

	vec_sort(v, by_place);
	for (i = 0; i < v->n; i++)
		if (n && !by_place(&v->v[n - 1], &v->v[i]))
			v->v[n - 1].count += v->v[i].count;
		else
			v->v[n++] = v->v[i];
	v->n = n;
}

static int print(const struct blockmap *build, const struct pairs *v, const char *between,
    struct buf *out, struct err *e)
{
	const struct pair *x;
	uint64_t from, to;

	buf_printf(out, "%zu\n", v->n);
	for (x = v->v; x < v->v + v->n; x++) {
		if (!blockmap_offset(build, x->from, 1, &from) ||
		    !blockmap_offset(build, x->to, 1, &to))
			return err_set(e, "block map: code at 0x%llx lies in no segment",
			    (unsigned long long)x->from);
		buf_printf(out, "%llx%s%llx:%llu\n", (unsigned long long)from, between,
		    (unsigned long long)to, (unsigned long long)x->count);
	}
	return 0;
}

int branches_make(struct plan *p, const struct built_code *code, const struct measured *measured,
    struct buf *out, struct branches_result *r, struct err *e)
{
	struct maker m = {.p = p, .code = code, .r = r};
	size_t i;
	int rc = 0;

	mapindex_make(&m.build, code->map);
	find_entries(&m);
	callees_begin(&m.callees, p);
	for (i = 0; i < p->ntu && !rc; i++)
		if (p->tu[i].edited)
			rc = add_unit(&m, &p->tu[i], &measured->tu[i], e);
	sort_and_add(&m.ranges);
	sort_and_add(&m.jumps);
	sort_and_add(&m.calls);
	r->ranges = m.ranges.n;
	r->jumps = m.jumps.n;
	r->calls = m.calls.n;
	for (i = 0; i < m.calls.n; i++)
		vec_push(&m.jumps, m.calls.v[i]);
	sort_and_add(&m.jumps);
	rc = rc || print(code->map, &m.ranges, "-", out, e);
	buf_str(out, "0\n");
	rc = rc || print(code->map, &m.jumps, "->", out, e) ? -1 : 0;
	vec_free(&m.ranges);
	vec_free(&m.jumps);
	vec_free(&m.calls);
	callees_free(&m.callees);
	mapindex_free(&m.build);
	arena_free(&m.mem);
	return rc;
}
