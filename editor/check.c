/*
 * The output check. Reads the printed text with the scanner only, follows the
 * block labels, and compares with the original what a machine would execute:
 * every block once, the same instructions (calls of the same function through
 * the PLT or the GOT), the same ways out (perhaps past blocks that hold nothing
 * but a jump), the same unwind state at every instruction, in a section of the
 * same group. A copy of a block must do the same; it has no label that anything
 * else could refer to, and holds nothing that may not be there twice. All that
 * is in no block (data, functions that move as a whole, code outside of
 * functions) must be there statement by statement, in order and in its section.
 * What has no place (bindings, types, sizes) must be there, as often. Where a
 * function moved away there may be a hole.
 *
 * Not compared: alignment in code, debug sections and .loc, the block map.
 */
#include "editor/text.h"

#include "editor/insn.h"

#include <stdio.h>
#include <stdlib.h>

struct checker {
	const struct unit_impl *u; /* the original */
	struct unit_impl out;      /* only its statements and sections are filled */
	struct err *e;
	bool **seen;     /* [function][block] */
	bool *label_met; /* of the original's labels */
	struct cfi_state cfi;
	struct cfi_stack stack;
	bool in_proc;
	uint32_t proc; /* function whose blocks the open procedure holds, or NONE */
	size_t rest;   /* statement of the original that must come next outside of blocks */
	uint32_t left; /* the function that came last, when it moved; NONE */
	uint64_t symbols, out_symbols; /* order-free sums over what has no place */
};

struct block_ref {
	uint32_t func, id;
	uint32_t copy; /* 0: the block itself */
};

static bool parse_ref(struct str s, const char *prefix, struct block_ref *r)
{
	const char *p = s.p + 4, *end = s.p + s.n;
	uint64_t v[3] = {0, 0, 0};
	int k = 0;

	if (s.n < 7 || !str_starts(s, prefix) || !(*p >= '0' && *p <= '9'))
		return false;
	for (; p < end; p++) {
		if (*p == '.' && k < 2 && p + 1 < end)
			k++;
		else if (*p >= '0' && *p <= '9' && v[k] <= UINT32_MAX)
			v[k] = 10 * v[k] + (uint64_t)(*p - '0');
		else
			return false;
	}
	if (!k || v[0] >= NONE || v[1] >= NONE || v[2] >= NONE)
		return false;
	*r = (struct block_ref){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]};
	return true;
}

static bool is_ref(const struct stmt *st, const char *prefix, struct block_ref *r)
{
	return st->kind == ST_LABEL && parse_ref(st->op, prefix, r);
}

static int wrong(struct checker *c, struct block_ref r, const char *what)
{
	return err_set(c->e, "output check: function %s, block %u: %s",
	    r.func < c->u->func.n ? c->u->func.v[r.func].pub->name : "?", r.id, what);
}

static int wrong_at(struct checker *c, size_t i, const char *what)
{
	const struct stmt *st = i < c->out.stmt.n ? &c->out.stmt.v[i] : NULL;

	return err_set(c->e, "output check: line %zu%s%.*s: %s", i + 1, st ? ": " : "",
	    st ? (int)st->line.n : 0, st ? st->line.p : "", what);
}

static bool same_str(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static bool same_stmt(const struct stmt *a, const struct stmt *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == ST_ASM)
		return same_str(a->line, b->line);
	return same_str(a->op, b->op) && (a->kind == ST_LABEL || same_str(a->arg, b->arg));
}

/* "call *f@GOTPCREL(%rip)" in place of "call f@PLT". A call of __tls_get_addr
 * is part of a sequence that the linker knows. */
static bool through_got(const struct stmt *st, const struct stmt *o)
{
	static const char tail[] = "@GOTPCREL(%rip)";
	struct str name = symbol_of(o->arg);

	return o->kind == ST_INSN && (str_is(o->op, "call") || str_is(o->op, "jmp")) &&
	       same_str(st->op, o->op) && !str_is(name, "__tls_get_addr") &&
	       str_is((struct str){name.p + name.n, o->arg.n - name.n}, "@PLT") &&
	       st->arg.n == 1 + name.n + sizeof tail - 1 && *st->arg.p == '*' &&
	       !memcmp(st->arg.p + 1, name.p, name.n) &&
	       !memcmp(st->arg.p + 1 + name.n, tail, sizeof tail - 1);
}

static bool is_code(const struct stmt *st)
{
	return st->kind == ST_INSN || st->kind == ST_ASM ||
	       (st->kind == ST_DIR && st->dir == DIR_DATA);
}

static bool is_cfi(const struct stmt *st)
{
	return st->kind == ST_DIR && st->dir == DIR_CFI;
}

static const struct section *section_of(const struct unit_impl *u, const struct stmt *st)
{
	return &u->section.v[st->section];
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_section(const struct section *a, const struct section *b)
{
	return a->plain && b->plain ? same_str(a->name, b->name)
				    : same_text(a->directive, b->directive);
}

/* May code of f stand in section s, when it was in section `was`? */
static bool section_fits(const struct func *f, const struct section *was, const struct section *s)
{
	if (same_section(was, s))
		return true;
	return f->pub->movable && s->code && same_text(was->group, s->group) &&
	       (str_starts(s->name, ".text.sorted.") || str_starts(s->name, ".text.unlikely."));
}

/* ---- blocks ---- */

static uint32_t target_block(struct checker *c, const struct stmt *st, uint32_t func)
{
	struct block_ref r;
	struct label *l;
	struct str op;

	insn_classify(st, &op);
	if (parse_ref(op, ".LMB", &r))
		return r.func == func && !r.copy ? r.id : NONE;
	l = label_find(c->u, op);
	return l && l->func == func ? l->block : NONE;
}

/* The block that control runs into behind statement i, or NONE. */
static uint32_t next_block(struct checker *c, size_t i, uint32_t func)
{
	uint16_t section = c->out.stmt.v[i - 1].section;
	struct block_ref r;
	const struct stmt *st;

	for (; i < c->out.stmt.n; i++) {
		st = &c->out.stmt.v[i];
		if (str_is(st->op, ".cfi_endproc") || own_size(&c->u->func.v[func], st) ||
		    (st->section == section && is_code(st)))
			return NONE;
		if (is_ref(st, ".LMB", &r))
			return r.func == func && st->section == section ? r.id : NONE;
	}
	return NONE;
}

/* Does control that goes to block `from` get to `to`, with nothing on the way
 * but jumps? */
static bool leads(struct checker *c, const struct func *f, uint32_t from, uint32_t to)
{
	const struct blk *k;
	uint32_t hops, i;

	for (hops = 0; from != to && from != NONE && hops < f->nblk; hops++) {
		k = &f->blk[from];
		for (i = k->first; i < k->last; i++)
			if (is_code(&c->u->stmt.v[f->code.v[i]]) && i != k->jump)
				return false;
		if (k->term != TERM_JUMP && k->term != TERM_FALL)
			return false;
		from = k->term == TERM_JUMP ? k->target : k->fall;
	}
	return from == to && to != NONE;
}

static int check_conditional(struct checker *c, struct block_ref r, const struct stmt *const *jump,
    size_t njump, uint32_t next)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct blk *k = &f->blk[r.id];
	const struct stmt *orig = &c->u->stmt.v[f->code.v[k->jump]];
	struct str op;
	uint32_t to;

	if (!njump || jump[0]->kind != ST_INSN || insn_classify(jump[0], &op) != INSN_JCC)
		return wrong(c, r, "its conditional jump is gone");
	to = target_block(c, jump[0], r.func);
	if (njump == 2) {
		if (jump[1]->kind != ST_INSN || insn_classify(jump[1], &op) != INSN_JMP)
			return wrong(c, r, "its second jump is no jmp");
		next = target_block(c, jump[1], r.func);
	}
	if (same_str(jump[0]->op, orig->op) && leads(c, f, k->target, to) &&
	    leads(c, f, k->fall, next))
		return 0;
	if (str_is(jump[0]->op, insn_inverse(orig->op)) && leads(c, f, k->fall, to) &&
	    leads(c, f, k->target, next))
		return 0;
	return wrong(c, r, "its conditional jump goes elsewhere");
}

static int check_exits(struct checker *c, struct block_ref r, const struct stmt *const *jump,
    size_t njump, uint32_t next)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct blk *k = &f->blk[r.id];
	struct str op;

	if (k->term == TERM_INDIRECT || k->term == TERM_END)
		return njump ? wrong(c, r, "something was added behind its end") : 0;
	if (k->term == TERM_COND)
		return check_conditional(c, r, jump, njump, next);
	if (njump == 1 && jump[0]->kind == ST_INSN && insn_classify(jump[0], &op) == INSN_JMP)
		next = target_block(c, jump[0], r.func);
	else if (njump)
		return wrong(c, r, "its jump was changed");
	return leads(c, f, k->term == TERM_JUMP ? k->target : k->fall, next)
		   ? 0
		   : wrong(c, r, "control goes on elsewhere");
}

/* Whose procedure is it that begins at statement i? The next block says so. */
static uint32_t proc_owner(struct checker *c, size_t i)
{
	struct block_ref r;

	for (i++; i < c->out.stmt.n; i++) {
		if (is_ref(&c->out.stmt.v[i], ".LMB", &r))
			return r.func < c->u->func.n && c->u->func.v[r.func].blk ? r.func : NONE;
		if (is_code(&c->out.stmt.v[i]) || str_is(c->out.stmt.v[i].op, ".cfi_startproc") ||
		    str_is(c->out.stmt.v[i].op, ".cfi_endproc"))
			break;
	}
	return NONE;
}

/* A CFI directive among the blocks of function func. */
static int apply_cfi(struct checker *c, const struct stmt *st, uint32_t func)
{
	struct block_ref r = {func, 0};
	const char *why;

	if (str_is(st->op, ".cfi_startproc")) {
		c->cfi = cfi_initial();
		c->stack.n = 0;
		c->in_proc = true;
		c->proc = func;
	} else if (str_is(st->op, ".cfi_endproc")) {
		c->in_proc = false;
		c->proc = NONE;
	} else if (c->in_proc) {
		why = cfi_apply(st, &c->cfi, &c->stack);
		if (why)
			return wrong(c, r, why);
	}
	return 0;
}

static int check_label(struct checker *c, struct block_ref r, const struct stmt *st, bool begun)
{
	struct label *l = label_find(c->u, st->op);

	if (!l || l->block == NONE)
		return 0;
	if (r.copy || l->func != r.func || l->block != r.id || begun || c->label_met[l - c->u->label.v])
		return wrong(c, r, "a label moved");
	c->label_met[l - c->u->label.v] = true;
	return 0;
}

/* The original's next statement of code at or behind *at, with its unwind
 * state; NULL at the end of the block. */
static const struct stmt *next_code(
    struct checker *c, const struct func *f, const struct blk *k, uint32_t *at, uint32_t *cfi)
{
	const struct stmt *o;

	for (; *at < k->last; ++*at) {
		o = &c->u->stmt.v[f->code.v[*at]];
		if (is_cfi(o) && o->aux != NONE)
			*cfi = o->aux;
		if (is_code(o) && *at != k->jump)
			return o;
	}
	return NULL;
}

/* One statement of code inside block r, against the original's o. */
static int check_code(struct checker *c, struct block_ref r, const struct stmt *st,
    const struct stmt *o, uint32_t cfi)
{
	const struct func *f = &c->u->func.v[r.func];

	if (r.copy && (st->kind != ST_INSN || refers_to_here(st)))
		return wrong(c, r, "a copy of what must be there once");
	if (!section_fits(f, section_of(c->u, &c->u->stmt.v[f->code.v[f->blk[r.id].first]]),
		section_of(&c->out, st)))
		return wrong(c, r, "it is in a section that does not fit");
	if (f->has_cfi != c->in_proc || (c->in_proc && c->proc != r.func))
		return wrong(c, r, "its unwind procedure is not its own");
	if (o && !same_stmt(st, o) && !through_got(st, o))
		return wrong(c, r, "an instruction changed");
	if (o && f->has_cfi && memcmp(&c->cfi, &c->u->cfi.v[cfi], sizeof c->cfi))
		return wrong(c, r, "unwind state changed");
	return 0;
}

static int outside(struct checker *c, size_t i);

/* The block whose label is statement i; *end becomes where it stopped. */
static int check_block(struct checker *c, struct block_ref r, size_t i, size_t *end)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct blk *k = &f->blk[r.id];
	const struct stmt *jump[2], *st, *o;
	uint32_t at = k->first, cfi = k->cfi_in;
	struct block_ref other;
	bool begun = false;
	size_t njump = 0;

	for (i++; i < c->out.stmt.n; i++) {
		st = &c->out.stmt.v[i];
		if (is_ref(st, ".LMB", &other) || is_ref(st, ".LME", &other))
			break;
		if (!section_of(&c->out, st)->code) {
			if (outside(c, i))
				return -1;
			continue;
		}
		if (is_cfi(st) && apply_cfi(c, st, r.func))
			return -1;
		if (st->kind == ST_LABEL && check_label(c, r, st, begun))
			return -1;
		if (!is_code(st))
			continue;
		begun = true;
		o = next_code(c, f, k, &at, &cfi);
		if (!o && njump == 2)
			return wrong(c, r, "more than two jumps at its end");
		if (check_code(c, r, st, o, cfi))
			return -1;
		if (o)
			at++;
		else
			jump[njump++] = st;
	}
	*end = i;
	if (next_code(c, f, k, &at, &cfi))
		return wrong(c, r, "an instruction is missing");
	return check_exits(c, r, jump, njump, next_block(c, i, r.func));
}

/* ---- functions that move as a whole ---- */

static bool switches_section(const struct stmt *st)
{
	return st->kind == ST_DIR &&
	       (st->dir == DIR_SECTION || st->dir == DIR_PUSH || st->dir == DIR_POP);
}

/* A directive that may be printed in other words: sections are compared by
 * themselves, and a location may have to say is_stmt again. */
static bool restated(const struct stmt *st)
{
	return switches_section(st) || (st->kind == ST_DIR && st->dir == DIR_LOC);
}

/* Function func, whose label is statement i, as it was; *end is behind it. */
static int check_whole(struct checker *c, uint32_t func, size_t i, size_t *end)
{
	const struct func *f = &c->u->func.v[func];
	struct block_ref r = {func, 0}, own;
	const struct stmt *o, *st;
	uint32_t at = f->begin;

	for (i++; at < f->end; i++) {
		o = &c->u->stmt.v[at];
		if (i == c->out.stmt.n)
			return wrong(c, r, "its end is missing");
		st = &c->out.stmt.v[i];
		if (is_ref(st, ".LME", &own) && own.func == func)
			continue;
		if (!(restated(o) && restated(st)) && !same_stmt(st, o))
			return wrong(c, r, "it changed, though it is not understood");
		if (!section_fits(f, section_of(c->u, o), section_of(&c->out, st)))
			return wrong(c, r, "it is in a section that does not fit");
		at++;
	}
	*end = i;
	return 0;
}

/* ---- the rest ---- */

/* What is neither in blocks nor in whole functions, and has a place. */
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

/* Does statement i of the original stand outside of what check_block and
 * check_whole compare? */
static bool is_rest(struct checker *c, size_t i)
{
	const struct stmt *st = &c->u->stmt.v[i];
	uint32_t func = c->u->stmt_func[i];
	const struct func *f = func == NONE ? NULL : &c->u->func.v[func];

	if (!placed(c->u, st))
		return false;
	if (!f || f->unsorted || !f->part1)
		return true;
	return f->blk && !section_of(c->u, st)->code;
}

static const struct stmt *rest_next(struct checker *c)
{
	while (c->rest < c->u->stmt.n && !is_rest(c, c->rest))
		c->rest++;
	return c->rest < c->u->stmt.n ? &c->u->stmt.v[c->rest] : NULL;
}

/* Labels of functions in blocks may stand between blocks: debug labels. */
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
	if (is_ref(st, ".LME", &r))
		return true;
	if (name.n <= 5 || memcmp(name.p + name.n - 5, ".cold", 5))
		return false;
	name.n -= 5;
	l = label_find(c->u, name);
	f = l && l->func != NONE ? &c->u->func.v[l->func] : NULL;
	return f && f->blk;
}

/* Is it a hole where the last function was? None of what the original has
 * there may have come since. */
static bool hole(struct checker *c, const struct stmt *st)
{
	struct str n = operand_at(st->arg, 0);
	const struct func *f = c->left == NONE ? NULL : &c->u->func.v[c->left];

	return f && !c->in_proc && st->kind == ST_DIR && str_is(st->op, ".skip") &&
	       str_is(operand_at(st->arg, 1), "0xcc") && n.n && n.n <= 2 && *n.p >= '0' &&
	       *n.p <= '9' && same_section(section_of(&c->out, st), &c->u->section.v[f->section]) &&
	       (!rest_next(c) || c->rest > f->begin);
}

/* Statement i of the output, when it is in no block. */
static int outside(struct checker *c, size_t i)
{
	const struct stmt *st = &c->out.stmt.v[i], *o;

	if (!placed(&c->out, st))
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
	if ((!o || !same_stmt(st, o)) && hole(c, st)) {
		c->left = NONE;
		return 0;
	}
	if (!o || !same_stmt(st, o))
		return wrong_at(c, i, "not what the original has here");
	if (!same_section(section_of(&c->out, st), section_of(c->u, o)))
		return wrong_at(c, i, "not in its section");
	if (section_of(c->u, o)->code)
		c->left = NONE;
	c->rest++;
	return 0;
}

/* ---- what has no place ---- */

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

static uint64_t symbol_sum(const struct unit_impl *u, const struct unit_impl *text)
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

/* ---- all of it ---- */

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
				return wrong(c, r, "it is missing");
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
			if (outside(c, i))
				return -1;
			continue;
		}
		if (r.func >= c->u->func.n || r.id >= c->u->func.v[r.func].nblk)
			return wrong(c, r, "no such block");
		if (r.copy && (!r.id || !c->u->func.v[r.func].blk))
			return wrong(c, r, "a copy of what cannot have one");
		if (!r.copy && c->seen[r.func][r.id])
			return wrong(c, r, "it is there twice");
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
	r = unit_scan(&c.out, text, n, e) || unit_sections(&c.out, e) ? -1 : check_all(&c);
	for (i = 0; i < c.u->func.n; i++)
		free(c.seen[i]);
	free(c.seen);
	free(c.label_met);
	vec_free(&c.out.stmt);
	vec_free(&c.out.section);
	htab_free(&c.out.section_by_name);
	htab_free(&c.out.section_by_text);
	arena_free(&mem);
	return r;
}
