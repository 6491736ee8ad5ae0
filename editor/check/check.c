/*
 * The output check. Reads the printed text with the scanner only, follows the block labels, and
 * compares with the original what a machine would execute: every block once, the same instructions
 * (calls of the same function through the PLT or the GOT), the same successors (perhaps past blocks
 * that only jump), the same unwind state and exceptions at every instruction, in a section of the
 * same group. A copy of a block must do the same; it has no label that anything else could refer
 * to, and holds nothing that must not be duplicated. All that is in no block (data, functions that
 * move as a whole, code outside of functions) must be there statement by statement, in order and in
 * its section. What has no position (bindings, types, sizes) must be there, as often. Where a
 * function moved away there may be padding.
 *
 * Not compared: alignment in code, debug sections and .loc, the block map.
 */
#include "editor/check/check.h"

#include <stdlib.h>

/* ---- functions that move as a whole ---- */

static bool switches_section(const struct stmt *st)
{
	return st->kind == ST_DIR &&
	       (st->dir == DIR_SECTION || st->dir == DIR_PUSH || st->dir == DIR_POP);
}

/* A directive that may be printed differently: sections are compared by themselves, and a location
 * may have to repeat is_stmt. */
static bool restated(const struct stmt *st)
{
	return switches_section(st) || (st->kind == ST_DIR && st->dir == DIR_LOC);
}

/* Function func, whose label is statement i, as it was; *end is after it. */
static int check_whole(struct checker *c, uint32_t func, size_t i, size_t *end)
{
	const struct func *f = &c->u->func.v[func];
	struct block_ref r = {func, 0}, own;
	const struct stmt *o, *st;
	uint32_t at = f->begin;

	for (i++; at < f->end; i++) {
		o = &c->u->stmt.v[at];
		if (i == c->out.stmt.n)
			return wrong_block(c, r, "its end is missing");
		st = &c->out.stmt.v[i];
		if (is_ref(st, ".LME", &own) && own.func == func)
			continue;
		if (!(restated(o) && restated(st)) && !same_stmt(st, o))
			return wrong_block(c, r, "it changed, though it is not understood");
		if (!section_fits(f, section_of(c->u, o), section_of(&c->out, st)))
			return wrong_block(c, r, "it is in a section that does not fit");
		at++;
	}
	*end = i;
	return 0;
}

/* ---- the whole check ---- */

static bool moved(const struct checker *c, uint32_t func, const struct stmt *st)
{
	return !same_section(section_of(&c->out, st), &c->u->section.v[c->u->func.v[func].section]);
}

static int check_missing(struct checker *c)
{
	const struct label *l;
	const struct func *f;
	struct block_ref r;
	size_t i;

	for (r.func = 0; r.func < c->u->func.n; r.func++) {
		f = &c->u->func.v[r.func];
		for (r.id = 0; r.id < f->nblk; r.id++)
			if (!c->seen[r.func][r.id] && !f->unsorted && f->part1)
				return wrong_block(c, r, "it is missing");
	}
	for (i = 0; i < c->u->label.n; i++) {
		l = &c->u->label.v[i];
		if (l->block != NONE && c->u->func.v[l->func].blk && !c->label_met[i] &&
		    l->stmt != c->u->func.v[l->func].cold_label)
			return err_set(
			    c->e, "output check: label %.*s is missing", (int)l->name.n, l->name.p);
	}
	if (rest_next(c))
		return err_set(c->e, "output check: missing: %.*s", (int)rest_next(c)->line.n,
		    rest_next(c)->line.p);
	if (symbol_sum(c->u, c->u) != symbol_sum(c->u, &c->out))
		return err_set(
		    c->e, "output check: a symbol's binding, type, size or value changed");
	return 0;
}

static int check_all(struct checker *c)
{
	struct block_ref r;
	size_t i, end = 0;

	c->proc = c->left = NONE;
	for (i = 0; i < c->out.stmt.n; i++) {
		if (!is_ref(&c->out.stmt.v[i], ".LMB", &r)) {
			if (check_outside(c, i))
				return -1;
			continue;
		}
		if (r.func >= c->u->func.n || r.id >= c->u->func.v[r.func].nblk)
			return wrong_block(c, r, "no such block");
		if (r.copy && (!r.id || !c->u->func.v[r.func].blk))
			return wrong_block(c, r, "a copy of what cannot have one");
		if (!r.copy && c->seen[r.func][r.id])
			return wrong_block(c, r, "it is there twice");
		c->seen[r.func][r.id] |= !r.copy;
		if (!r.id)
			c->left = moved(c, r.func, &c->out.stmt.v[i]) ? r.func : NONE;
		if (c->u->func.v[r.func].blk ? check_block(c, r, i, &end)
					     : check_whole(c, r.func, i, &end))
			return -1;
		i = end - 1;
	}
	return check_missing(c);
}

int unit_check(const struct unit *unit, const char *text, size_t n, struct err *e)
{
	struct checker c = {.u = unit->impl, .e = e};
	struct arena mem = {0};
	size_t i;
	int r;

	c.out.mem = &mem;
	c.label_met = xcalloc(c.u->label.n, sizeof *c.label_met);
	c.seen = xcalloc(c.u->func.n, sizeof *c.seen);
	for (i = 0; i < c.u->func.n; i++)
		c.seen[i] = xcalloc(c.u->func.v[i].nblk, sizeof **c.seen);
	r = unit_scan(&c.out, text, n, true, e) || unit_sections(&c.out, e) ? -1 : check_all(&c);
	for (i = 0; i < c.u->func.n; i++)
		free(c.seen[i]);
	free(c.seen);
	free(c.label_met);
	handlers_free(&c);
	vec_free(&c.out.stmt);
	vec_free(&c.out.section);
	htab_free(&c.out.section_by_name);
	htab_free(&c.out.section_by_text);
	arena_free(&mem);
	return r;
}
