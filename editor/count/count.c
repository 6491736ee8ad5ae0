/*
 * Counters for a unit's functions: which, and in which layout.
 */
#include "editor/count/counters.h"
#include "editor/asm/insn.h"

/* The order of the original, split where it was. */
static void original_layout(const struct func *f, struct layout *l, struct arena *a)
{
	layout_identity(&f->pub->cfg, l, a);
	if (f->blk && !f->one_part)
		l->nhot = f->nhot_blk;
}

/* Does a jump of short reach, or unknown text, forbid that code is added? */
static bool may_grow(const struct unit_impl *u, const struct func *f)
{
	const struct stmt *st;
	struct str op;
	size_t i;

	for (i = 0; i < f->code.n; i++) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind == ST_INSN && insn_classify(st, &op) == INSN_SHORT)
			return false;
	}
	return true;
}

static bool countable(const struct unit_impl *u, const struct func *f)
{
	if (f->blk)
		return true;
	return !f->unsorted && f->part1 && may_grow(u, f) && probe_entry(u, f) != NONE;
}

static void count_func(struct unit_impl *u, struct func *f, const struct unit_counting *how,
    struct unit_placement *placement, struct probes **probes)
{
	struct unit_func *pub = f->pub;
	struct probe_want want = {.edges = how->edges,
	    .heads_only = !f->blk || !pub->movable,
	    .weighed = how->weight && how->weight[pub->ord]};
	struct probes *p = arena_alloc(u->mem, sizeof *p);
	struct arena scratch = {0};

	want.dear = f->blk ? flags_live(u, f, &scratch) : arena_array(&scratch, 1, 1);
	probes_choose(&pub->cfg, &want, p, u->mem);
	p->kind = how->kind;
	*probes = p;
	placement->edit = pub->movable;
	original_layout(f, &placement->layout, u->mem);
	arena_free(&scratch);
}

static bool mentions(const struct unit_impl *u, const char *what)
{
	const struct str *last = u->stmt.n ? &u->stmt.v[u->stmt.n - 1].line : NULL;
	const char *p = last ? u->stmt.v[0].line.p : NULL;

	return p && memmem(p, (size_t)(last->p + last->n - p), what, strlen(what));
}

/* Does the text use the names of what would be added? No compiler's output does. */
static bool names_taken(const struct unit_impl *u)
{
	static const char *const names[] = {".LMC", ".LMS", ".LMT"};
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (mentions(u, names[i]))
			return true;
	return false;
}

int unit_count(struct unit *unit, const struct unit_counting *how, struct unit_placement *placement,
    struct probes **probes, struct err *e)
{
	struct unit_impl *u = unit->impl;
	uint32_t i;

	if (names_taken(u))
		return 0;
	if (how->kind == COUNTERS_THREAD && mentions(u, "%gs"))
		return err_set(e, "it uses the register that finds a thread's counters");
	if (how->kind == COUNTERS_THREAD && mentions(u, "gnu_indirect_function"))
		return err_set(e, "its ifunc resolvers may run before there are threads");
	for (i = 0; i < unit->nfunc; i++)
		if (countable(u, &u->func.v[i]))
			count_func(u, &u->func.v[i], how, &placement[i], &probes[i]);
	if (how->kind == COUNTERS_THREAD)
		entries_mark(u, probes);
	return 0;
}

bool any_probes(const struct unit *u, struct probes *const *probes)
{
	uint32_t i;

	for (i = 0; i < u->nfunc && !probes[i]; i++)
		;
	return i < u->nfunc;
}
