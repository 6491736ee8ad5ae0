#include "editor-driver/proof/appended/comparison.h"

/*
 * The address of a table that was made again is another number than in the original, so it may only
 * be used to jump through that table:
 *
 *	lea	T(%rip), %base
 *	…
 *	movslq	(%base,%index,4), %x
 *	add	%base, %x		or add %x, %base
 *	jmp	*%x			or jmp *%base
 *
 *	mov	T(,%index,8), %x
 *	jmp	*%x
 *
 * From the first of these on the register is followed until it is overwritten: nothing else may
 *read it. It is assumed that compilers keep the address of a jump table to themselves, and what
 *they jump to: these are no arguments and no results; a push of such a register only makes room;
 *and what reads a register after a call that it was in before is on a way that the program does not
 * take, since the call does not come back.
 */

enum { RUN_MAX = 64 };

/* The register that has the address before an instruction; or, where ways meet, as in the original.
 */
struct held {
	uint64_t at;
	int reg;
	bool called; /* since there was a call */
};

struct following {
	struct comparison *c;
	const struct table_base *b;
	VEC(struct held) todo;
	struct htab done;
	size_t uses;
};

static void hold(struct following *f, uint64_t at, const struct held *h)
{
	uint64_t key[] = {at, (uint64_t)h->reg << 1 | h->called};
	bool fresh;

	htab_put(&f->done, key, sizeof key, &fresh);
	if (fresh)
		vec_push(&f->todo, (struct held){at, h->reg, h->called});
}

/* ---- what an instruction does with a register ---- */

/* xor %eax, %eax; or $-1, %eax: what was in the first operand does not matter. */
static bool ignores_input(const struct insn_operands *x)
{
	const ZydisDecodedOperand *o = x->o;

	switch (x->i.mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
		return o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].reg.value == o[1].reg.value;
	case ZYDIS_MNEMONIC_OR:
		return o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o[1].imm.value.s == -1;
	case ZYDIS_MNEMONIC_AND:
		return o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !o[1].imm.value.s;
	default:
		return x->i.mnemonic == ZYDIS_MNEMONIC_PUSH;
	}
}

struct effect {
	bool reads, writes; /* any of it */
};

static struct effect effect_on(const struct insn_operands *x, int reg)
{
	struct effect e = {false, false};
	const ZydisDecodedOperand *o;
	unsigned k;

	for (k = 0; k < x->i.operand_count; k++) {
		o = &x->o[k];
		e.reads |=
		    o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (insn_register(o->mem.base) == reg || insn_register(o->mem.index) == reg);
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || insn_register(o->reg.value) != reg)
			continue;
		e.reads |= o->actions & ZYDIS_OPERAND_ACTION_MASK_READ && !ignores_input(x);
		e.writes |= (o->actions & ZYDIS_OPERAND_ACTION_WRITE) != 0;
	}
	return e;
}

static bool touches(const struct insn_operands *x, int reg)
{
	struct effect e = effect_on(x, reg);

	return e.reads || e.writes;
}

/* ---- jumps through the table ---- */

static bool read_insn(struct comparison *c, uint64_t at, struct insn *i, struct insn_operands *x)
{
	uint64_t n;
	const uint8_t *p = loaded_bytes(&c->made, at, &n);

	decode(c, &c->made, at, i);
	return insn_operands(&c->decoder, p, n, x);
}

static bool is_register(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->size == 64 &&
	       insn_register(o->reg.value) >= 0;
}

/* movslq (%base,%index,4), %x? */
static bool is_load(const struct insn_operands *x, int base)
{
	const ZydisDecodedOperand *m = &x->o[1];

	return x->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD && is_register(&x->o[0]) &&
	       m->type == ZYDIS_OPERAND_TYPE_MEMORY && m->size == 32 && m->mem.scale == 4 &&
	       insn_register(m->mem.base) == base && insn_register(m->mem.index) >= 0 &&
	       insn_register(m->mem.index) != base && !m->mem.disp.value &&
	       m->mem.segment != ZYDIS_REGISTER_FS && m->mem.segment != ZYDIS_REGISTER_GS &&
	       insn_register(x->o[0].reg.value) != base;
}

/* The register that an addition of two makes, or -1. */
static int sum_of(const struct insn_operands *x, int a, int b)
{
	int to, from;

	if (x->i.mnemonic != ZYDIS_MNEMONIC_ADD || !is_register(&x->o[0]) || !is_register(&x->o[1]))
		return -1;
	to = insn_register(x->o[0].reg.value);
	from = insn_register(x->o[1].reg.value);
	return (to == a && from == b) || (to == b && from == a) ? to : -1;
}

/* What comes after the load, until the jump. */
struct sequence {
	uint64_t after_sum, jump; /* addresses; 0: not met yet */
	int base, x, sum;
};

/* Takes the next instruction. False: it is of no such sequence. */
static bool next_of(
    struct sequence *s, uint64_t at, const struct insn *i, const struct insn_operands *x)
{
	if (i->kind == INSN_LEAVE && s->after_sum) {
		s->jump = at;
		return x->o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       insn_register(x->o[0].reg.value) == s->sum;
	}
	if (i->kind != INSN_PLAIN || x->i.mnemonic == ZYDIS_MNEMONIC_CALL)
		return false;
	if (s->after_sum)
		return !touches(x, s->sum);
	s->sum = sum_of(x, s->base, s->x);
	if (s->sum >= 0)
		s->after_sum = at + i->len;
	return s->after_sum || (!touches(x, s->base) && !touches(x, s->x));
}

static bool find_sequence(struct comparison *c, uint64_t at, struct sequence *s)
{
	struct insn_operands x;
	struct insn i;
	unsigned n;

	for (n = 0; n < RUN_MAX && !s->jump; n++) {
		if (!spot_at(c, at) || !read_insn(c, at, &i, &x))
			return false;
		if (i.kind != INSN_NOP && i.kind != INSN_JMP && !next_of(s, at, &i, &x))
			return false;
		at = i.kind == INSN_JMP ? i.to : at + i.len;
	}
	return s->jump;
}

/* The register after a jump through a table. */
static int hold_at_targets(struct following *f, const struct table_use *u, const struct held *h)
{
	uint64_t k;

	for (k = 0; k < u->entries; k++)
		hold(f, table_target(&f->c->made, u->made, u->size, k), h);
	return table_spend(f->c, u->entries);
}

static int follow_load(
    struct following *f, const struct held *h, const struct insn_operands *x, uint64_t next)
{
	struct sequence s = {.base = h->reg, .x = insn_register(x->o[0].reg.value)};

	if (!find_sequence(f->c, next, &s))
		return differ(f->c, h->at, f->b->orig, "a jump table is used for something else");
	table_add_use(f->c,
	    &(struct table_use){
		.load = h->at, .jump = s.jump, .made = f->b->made, .orig = f->b->orig, .size = 4});
	f->uses++;
	if (s.sum != s.base)
		hold(f, s.after_sum, h);
	return 0;
}

/* ---- from instruction to instruction ---- */

static int follow_jump(struct following *f, const struct held *h)
{
	size_t i;

	if (table_spend(f->c, f->c->use.n))
		return -1;
	for (i = 0; i < f->c->use.n; i++)
		if (f->c->use.v[i].jump == h->at && hold_at_targets(f, &f->c->use.v[i], h))
			return -1;
	return 0;
}

/* On to another instruction of the function: jumps to others leave it. */
static void hold_at(struct following *f, const struct held *h, uint64_t to)
{
	const struct blockmap *m = f->c->made_map;
	const struct bm_block *a = blockmap_find(m, h->at), *b = blockmap_find(m, to);

	if (!a || !b ||
	    (m->frag.v[a->frag].tu == m->frag.v[b->frag].tu &&
		m->frag.v[a->frag].func == m->frag.v[b->frag].func))
		hold(f, to, h);
}

/* After an instruction that did not change the register. */
static int follow_on(
    struct following *f, struct held h, const struct insn *i, const struct insn_operands *x)
{
	if (i->kind == INSN_LEAVE)
		return follow_jump(f, &h);
	if (i->kind == INSN_END || i->kind == INSN_ODD)
		return 0;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_CALL) {
		if (!insn_is_kept(h.reg))
			return 0;
		h.called = true;
	}
	if (i->kind == INSN_JCC || i->kind == INSN_BRANCH)
		hold_at(f, &h, i->to);
	hold_at(f, &h, i->kind == INSN_JMP ? i->to : h.at + i->len);
	return 0;
}

/* An entry was loaded: it is for this jump. */
static int jump_by(
    struct following *f, const struct held *h, const struct insn *i, const struct insn_operands *x)
{
	struct table_use u = {
	    .load = f->b->at, .jump = h->at, .made = f->b->made, .orig = f->b->orig, .size = 8};

	if (i->kind != INSN_LEAVE || x->o[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return differ(f->c, h->at, f->b->orig, "an entry of a jump table is used");
	f->uses++;
	table_add_use(f->c, &u);
	return 0;
}

static int step(struct following *f, const struct held *h)
{
	struct effect e = {false, false};
	struct insn_operands x;
	struct insn i;

	/* Outside of the new code, or after a call that does not come back. */
	if (!spot_at(f->c, h->at) || !read_insn(f->c, h->at, &i, &x))
		return 0;
	if (!f->b->loads && is_load(&x, h->reg))
		return follow_load(f, h, &x, h->at + i.len);
	if (i.kind != INSN_NOP)
		e = effect_on(&x, h->reg);
	if (e.reads && f->b->loads)
		return jump_by(f, h, &i, &x);
	if (e.reads && !h->called)
		return differ(f->c, h->at, f->b->orig, "the address of a jump table is used");
	return e.reads || e.writes ? 0 : follow_on(f, *h, &i, &x);
}

int address_follow(struct comparison *c, const struct table_base *b)
{
	struct following f = {.c = c, .b = b};
	struct insn_operands x;
	struct held h = {.called = false};
	struct insn i;
	int rc = 0;

	if (!read_insn(c, b->at, &i, &x) || !is_register(&x.o[0]))
		return differ(c, b->at, b->orig, "it refers to another address");
	h.reg = insn_register(x.o[0].reg.value);
	hold(&f, b->at + i.len, &h);
	while (f.todo.n && !rc) {
		h = f.todo.v[--f.todo.n];
		rc = table_spend(c, 1) || step(&f, &h) ? -1 : 0;
	}
	if (!rc && !f.uses)
		rc = differ(c, b->at, b->orig, "it refers to another address");
	vec_free(&f.todo);
	htab_free(&f.done);
	return rc;
}
