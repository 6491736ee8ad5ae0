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
 * From the first of these on every register that may hold a number that is not the original's is
 * followed until it is overwritten: nothing else may read it. At calls, returns and jumps out of
 *the new code it is assumed that no address of a jump table is an argument, a result or in a
 *register that calls preserve for the caller, since compilers keep it to themselves.
 */

/* Parts of a register, bits 0–7, 8–15, 16–31 and 32–63. */
enum { LOW = 1, HIGH = 2, WORD = LOW | HIGH, LONG = WORD | 4, ALL = LONG | 8 };
enum { RUN_MAX = 64 };

/* A register before an instruction. */
struct held {
	uint64_t at;
	uint8_t reg, parts;
	bool base; /* it is the address of the table, or as in the original */
};

struct following {
	struct comparison *c;
	const struct table_base *b;
	VEC(struct held) todo;
	struct htab done;
	size_t uses;
};

static void hold(struct following *f, uint64_t at, unsigned reg, unsigned parts, bool base)
{
	uint64_t key[] = {at, reg << 5 | parts << 1 | base};
	bool fresh;

	htab_put(&f->done, key, sizeof key, &fresh);
	if (fresh)
		vec_push(&f->todo, (struct held){at, (uint8_t)reg, (uint8_t)parts, base});
}

/* ---- what an instruction does with a register ---- */

static unsigned parts_of(const ZydisDecodedOperand *o, bool written)
{
	switch (o->size) {
	case 8:
		return o->reg.value >= ZYDIS_REGISTER_AH && o->reg.value <= ZYDIS_REGISTER_BH ? HIGH
											      : LOW;
	case 16:
		return WORD;
	case 32:
		return written ? ALL : LONG;
	default:
		return ALL;
	}
}

/* xor %eax, %eax */
static bool makes_zero(const struct insn_operands *x)
{
	return (x->i.mnemonic == ZYDIS_MNEMONIC_XOR || x->i.mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       x->o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       x->o[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       x->o[0].reg.value == x->o[1].reg.value;
}

struct effect {
	unsigned reads, writes; /* parts */
};

static struct effect effect_on(const struct insn_operands *x, int reg)
{
	struct effect e = {0};
	const ZydisDecodedOperand *o;
	unsigned k;

	for (k = 0; k < x->i.operand_count; k++) {
		o = &x->o[k];
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (insn_register(o->mem.base) == reg || insn_register(o->mem.index) == reg))
			e.reads |= ALL;
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || insn_register(o->reg.value) != reg)
			continue;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ && !makes_zero(x))
			e.reads |= parts_of(o, false);
		if (o->actions & ZYDIS_OPERAND_ACTION_WRITE)
			e.writes |= parts_of(o, true);
	}
	return e;
}

static bool touches(const struct insn_operands *x, int reg)
{
	struct effect e = effect_on(x, reg);

	return e.reads || e.writes;
}

/* Those that a function need not keep for its caller. */
static bool lost_in_calls(unsigned reg)
{
	enum { RBX = 3, RSP = 4, RBP = 5, R12 = 12 };

	return reg != RBX && reg != RSP && reg != RBP && reg < R12;
}

/* ---- jumps through the table ---- */

static bool read_insn(struct comparison *c, uint64_t at, struct insn *i, struct insn_operands *x)
{
	uint64_t n;
	const uint8_t *p = image_bytes(&c->made, at, &n);

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

/* A register after a jump through the table. */
static int hold_at_targets(
    struct following *f, const struct table_use *u, int reg, unsigned parts, bool base)
{
	uint64_t k;

	for (k = 0; k < u->entries; k++)
		hold(f, table_target(&f->c->made, u->made, u->size, k), (unsigned)reg, parts, base);
	return table_spend(f->c, u->entries);
}

static int follow_load(
    struct following *f, const struct held *h, const struct insn_operands *x, uint64_t next)
{
	struct sequence s = {.base = h->reg, .x = insn_register(x->o[0].reg.value)};
	struct table_use *u;
	int other;

	if (!find_sequence(f->c, next, &s))
		return differ(f->c, h->at, f->b->orig, "a jump table is used for something else");
	u = table_add_use(f->c,
	    &(struct table_use){
		.load = h->at, .jump = s.jump, .made = f->b->made, .orig = f->b->orig, .size = 4});
	f->uses++;
	other = s.sum == s.base ? s.x : s.base;
	hold(f, s.after_sum, (unsigned)other, ALL, other == s.base);
	return hold_at_targets(f, u, s.sum, ALL, false);
}

/* ---- from instruction to instruction ---- */

static int follow_jump(struct following *f, const struct held *h, unsigned parts, bool base)
{
	size_t i;

	if (table_spend(f->c, f->c->use.n))
		return -1;
	for (i = 0; i < f->c->use.n; i++)
		if (f->c->use.v[i].jump == h->at &&
		    hold_at_targets(f, &f->c->use.v[i], h->reg, parts, base))
			return -1;
	return 0;
}

/* After an instruction that left parts of the register as they were. */
static int follow_on(struct following *f, const struct held *h, const struct insn *i,
    const struct insn_operands *x, unsigned parts)
{
	bool base = h->base && parts == ALL;

	if (i->kind == INSN_LEAVE)
		return follow_jump(f, h, parts, base);
	if (i->kind == INSN_END || i->kind == INSN_ODD)
		return 0;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_CALL && lost_in_calls(h->reg))
		return 0;
	if (i->kind == INSN_JCC || i->kind == INSN_BRANCH)
		hold(f, i->to, h->reg, parts, base);
	hold(f, i->kind == INSN_JMP ? i->to : h->at + i->len, h->reg, parts, base);
	return 0;
}

static int step(struct following *f, const struct held *h)
{
	struct insn_operands x;
	struct effect e = {0};
	struct insn i;

	/* Outside of the new code, or after a call that does not come back. */
	if (!spot_at(f->c, h->at) || !read_insn(f->c, h->at, &i, &x))
		return 0;
	if (h->base && is_load(&x, h->reg))
		return follow_load(f, h, &x, h->at + i.len);
	if (i.kind != INSN_NOP)
		e = effect_on(&x, h->reg);
	if (e.reads & h->parts)
		return differ(f->c, h->at, f->b->orig, "the address of a jump table is used");
	return h->parts & ~e.writes ? follow_on(f, h, &i, &x, h->parts & ~e.writes) : 0;
}

int address_follow(struct comparison *c, const struct table_base *b)
{
	struct following f = {.c = c, .b = b};
	struct insn_operands x;
	struct held h;
	struct insn i;
	int rc = 0;

	if (!read_insn(c, b->at, &i, &x) || !is_register(&x.o[0]))
		return differ(c, b->at, b->orig, "it refers to another address");
	hold(&f, b->at + i.len, (unsigned)insn_register(x.o[0].reg.value), ALL, true);
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
