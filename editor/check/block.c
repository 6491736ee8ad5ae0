/*
 * The output check of one block: its instructions, its successors, its unwind states.
 */
#include "editor/check/check.h"
#include "editor/asm/insn.h"

/* "call *f@GOTPCREL(%rip)" in place of "call f@PLT". A call of __tls_get_addr
 * is part of a sequence that the linker knows. */
static bool through_got(const struct stmt *st, const struct stmt *o)
{
	static const char tail[] = "@GOTPCREL(%rip)";
	struct str name = symbol_of(o->arg);

	return o->kind == ST_INSN && (str_is(o->op, "call") || str_is(o->op, "jmp")) &&
	       str_equal(st->op, o->op) && !str_is(name, "__tls_get_addr") &&
	       str_is((struct str){name.p + name.n, o->arg.n - name.n}, "@PLT") &&
	       st->arg.n == 1 + name.n + sizeof tail - 1 && *st->arg.p == '*' &&
	       !memcmp(st->arg.p + 1, name.p, name.n) &&
	       !memcmp(st->arg.p + 1 + name.n, tail, sizeof tail - 1);
}

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

/* The block that control runs into after statement i, or NONE. */
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

static int check_conditional(struct checker *c, struct block_ref r, const struct stmt *const *jump,
    size_t njump, uint32_t next)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct blk *k = &f->blk[r.id];
	const struct stmt *orig = &c->u->stmt.v[f->code.v[k->jump]];
	struct str op;
	uint32_t to;

	if (!njump || jump[0]->kind != ST_INSN || insn_classify(jump[0], &op) != INSN_JCC)
		return wrong_block(c, r, "its conditional jump is gone");
	to = target_block(c, jump[0], r.func);
	if (njump == 2) {
		if (jump[1]->kind != ST_INSN || insn_classify(jump[1], &op) != INSN_JMP)
			return wrong_block(c, r, "its second jump is no jmp");
		next = target_block(c, jump[1], r.func);
	}
	if (to == NONE || next == NONE)
		return wrong_block(c, r, "its conditional jump goes elsewhere");
	if (str_equal(jump[0]->op, orig->op) && k->target == to && k->fall == next)
		return 0;
	if (str_is(jump[0]->op, insn_inverse(orig->op)) && k->fall == to && k->target == next)
		return 0;
	return wrong_block(c, r, "its conditional jump goes elsewhere");
}

static int check_exits(struct checker *c, struct block_ref r, const struct stmt *const *jump,
    size_t njump, uint32_t next)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct blk *k = &f->blk[r.id];
	struct str op;

	if (k->term == TERM_INDIRECT || k->term == TERM_END)
		return njump ? wrong_block(c, r, "something was added after its end") : 0;
	if (k->term == TERM_COND)
		return check_conditional(c, r, jump, njump, next);
	if (njump == 1 && jump[0]->kind == ST_INSN && insn_classify(jump[0], &op) == INSN_JMP)
		next = target_block(c, jump[0], r.func);
	else if (njump)
		return wrong_block(c, r, "its jump was changed");
	return next != NONE && next == (k->term == TERM_JUMP ? k->target : k->fall)
		   ? 0
		   : wrong_block(c, r, "control goes on elsewhere");
}

static int check_label(struct checker *c, struct block_ref r, const struct stmt *st, bool begun)
{
	struct label *l = label_find(c->u, st->op);

	if (!l || l->block == NONE)
		return 0;
	if (r.copy || l->func != r.func || l->block != r.id || begun ||
	    c->label_met[l - c->u->label.v])
		return wrong_block(c, r, "a label moved");
	c->label_met[l - c->u->label.v] = true;
	return 0;
}

/* The original's next statement of code at or after *at, with its unwind
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
		return wrong_block(c, r, "a copy of what must be there once");
	if (!section_fits(f, section_of(c->u, &c->u->stmt.v[f->code.v[f->blk[r.id].first]]),
		section_of(&c->out, st)))
		return wrong_block(c, r, "it is in a section that does not fit");
	if (f->has_cfi != c->in_proc || (c->in_proc && c->proc != r.func))
		return wrong_block(c, r, "its unwind procedure is not its own");
	if (o && !same_stmt(st, o) && !through_got(st, o))
		return wrong_block(c, r, "an instruction changed");
	if (o && f->has_cfi && memcmp(&c->cfi, &c->u->cfi.v[cfi], sizeof c->cfi))
		return wrong_block(c, r, "unwind state changed");
	return o ? handlers_check(c, r, st, o) : 0;
}

int check_block(struct checker *c, struct block_ref r, size_t i, size_t *end)
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
			if (check_outside(c, i))
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
			return wrong_block(c, r, "more than two jumps at its end");
		if (check_code(c, r, st, o, cfi))
			return -1;
		if (o)
			at++;
		else
			jump[njump++] = st;
	}
	*end = i;
	if (next_code(c, f, k, &at, &cfi))
		return wrong_block(c, r, "an instruction is missing");
	return check_exits(c, r, jump, njump, next_block(c, i, r.func));
}
