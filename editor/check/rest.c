/*
 * The output check of what is in no block: what must keep the original's order, and what may be
 * anywhere.
 */
#include "editor/map/blockmap.h"
#include "editor/check/check.h"

/* What is neither in blocks nor in whole functions, and has a position. */
static bool placed(const struct unit_impl *u, const struct stmt *st)
{
	const struct section *s = section_of(u, st);

	if (s->debug || own_section(s->name))
		return false;
	switch (st->kind) {
	case ST_LABEL:
	case ST_INSN:
	case ST_ASM:
		return true;
	case ST_DIR:
		return st->dir == DIR_DATA || st->dir == DIR_CFI || st->dir == DIR_UNKNOWN ||
		       (st->dir == DIR_ALIGN && !s->code);
	}
	return false;
}

/* Is it of an exception table that is compared with the code of its function? */
static bool in_table(const struct checker *c, const struct stmt *st)
{
	return section_of(c->u, st)->eh_table && st->aux != NONE && c->u->func.v[st->aux].blk;
}

/* Is statement i of the original outside of what check_block and check_whole compare? */
static bool is_rest(struct checker *c, size_t i)
{
	const struct stmt *st = &c->u->stmt.v[i];
	uint32_t func = c->u->stmt_func[i];
	const struct func *f = func == NONE ? NULL : &c->u->func.v[func];

	if (!placed(c->u, st) || in_table(c, st))
		return false;
	if (!f || f->unsorted || !f->part1)
		return true;
	return f->blk && !section_of(c->u, st)->code;
}

const struct stmt *rest_next(struct checker *c)
{
	while (c->rest < c->u->stmt.n && !is_rest(c, c->rest))
		c->rest++;
	return c->rest < c->u->stmt.n ? &c->u->stmt.v[c->rest] : NULL;
}

/* Debug labels of functions may be between blocks. */
static bool loose_label(struct checker *c, const struct stmt *st)
{
	struct label *l = st->kind == ST_LABEL ? label_find(c->u, st->op) : NULL;

	return l && l->func != NONE && l->block == NONE && c->u->func.v[l->func].blk;
}

static bool added_label(struct checker *c, const struct stmt *st)
{
	const struct func *f;
	struct str name = unquote(st->op);
	struct block_ref r;
	struct label *l;

	if (st->kind != ST_LABEL)
		return false;
	if (is_ref(st, ".LME", &r) || str_starts(name, ".LMX"))
		return true;
	if (name.n <= 5 || memcmp(name.p + name.n - 5, ".cold", 5))
		return false;
	name.n -= 5;
	l = label_find(c->u, name);
	f = l && l->func != NONE ? &c->u->func.v[l->func] : NULL;
	return f && f->blk;
}

/* Less than a hundred bytes of int3 before or after functions? */
static bool is_room(const struct checker *c, const struct stmt *st)
{
	struct str n = operand_at(st->arg, 0);

	return !c->in_proc && st->kind == ST_DIR && str_is(st->op, ".skip") &&
	       str_is(operand_at(st->arg, 1), "0xcc") && n.n && n.n <= 2 && *n.p >= '0' &&
	       *n.p <= '9';
}

/* Is it padding where the last function was? Nothing of the original's may have come since. */
static bool padding(struct checker *c, const struct stmt *st)
{
	const struct func *f = c->left == NONE ? NULL : &c->u->func.v[c->left];

	return f && is_room(c, st) &&
	       same_section(section_of(&c->out, st), &c->u->section.v[f->section]) &&
	       (!rest_next(c) || c->rest > f->begin);
}

/* Is it before a function's entry, in a section made for that? */
static bool entry_padding(const struct checker *c, size_t i)
{
	const struct stmt *st = &c->out.stmt.v[i];

	return i > 1 && is_room(c, st) && st[-1].kind == ST_DIR && st[-1].dir == DIR_ALIGN &&
	       st[-2].kind == ST_DIR && st[-2].dir == DIR_SECTION &&
	       str_starts(section_of(&c->out, st)->name, ".text.sorted.");
}

int check_outside(struct checker *c, size_t i)
{
	const struct stmt *st = &c->out.stmt.v[i], *o;

	if (!placed(&c->out, st) || (c->own && c->own[i]))
		return 0;
	if (is_cfi(st)) {
		if (str_is(st->op, ".cfi_startproc") && (c->proc = proc_owner(c, i)) != NONE)
			return apply_cfi(c, st, c->proc);
		if (c->proc != NONE)
			return apply_cfi(c, st, c->proc);
	}
	o = rest_next(c);
	if ((!o || !same_stmt(st, o)) && (loose_label(c, st) || added_label(c, st)))
		return 0;
	if ((!o || !same_stmt(st, o)) && padding(c, st)) {
		c->left = NONE;
		return 0;
	}
	if (!o || !same_stmt(st, o))
		return entry_padding(c, i) ? 0 : wrong_line(c, i, "not what the original has here");
	if (!same_section(section_of(&c->out, st), section_of(c->u, o)))
		return wrong_line(c, i, "not in its section");
	if (section_of(c->u, o)->code)
		c->left = NONE;
	c->rest++;
	return 0;
}

/* ---- what has no position ---- */

static uint64_t stmt_hash(struct str a, struct str b)
{
	struct hash128 x = hash_bytes(a.p, a.n), y = hash_bytes(b.p, b.n);

	return hash_short(&x) * 3 + hash_short(&y);
}

/* A function's size is ".-NAME" wherever its end is. */
static uint64_t size_hash(const struct unit_impl *u, const struct stmt *st)
{
	struct str name = operand_at(st->arg, 0), size = operand_at(st->arg, 1);
	struct label *l = label_find(u, name);

	if (!l || l->func == NONE)
		return stmt_hash(st->op, st->arg);
	if (size_to_end(size, name))
		size = (struct str){".-", 2};
	return stmt_hash(name, size);
}

static bool is_cold_part(const struct unit_impl *u, struct str name)
{
	return u->func.n && unquote(name).n > 5 &&
	       !memcmp(unquote(name).p + unquote(name).n - 5, ".cold", 5);
}

uint64_t symbol_sum(const struct unit_impl *u, const struct unit_impl *text)
{
	const struct stmt *st;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < text->stmt.n; i++) {
		st = &text->stmt.v[i];
		if (st->kind != ST_DIR || section_of(text, st)->debug ||
		    own_section(section_of(text, st)->name))
			continue;
		switch (st->dir) {
		case DIR_TYPE:
		case DIR_SIZE:
			if (is_cold_part(u, operand_at(st->arg, 0)))
				break;
			sum += st->dir == DIR_SIZE ? size_hash(u, st) : stmt_hash(st->op, st->arg);
			break;
		case DIR_SYMBOL:
		case DIR_SET:
		case DIR_MISC:
			sum += stmt_hash(st->op, st->arg);
			break;
		}
	}
	return sum;
}
