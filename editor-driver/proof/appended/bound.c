#include "editor-driver/proof/appended/comparison.h"

/*
 * How many entries of a jump table can be used: code before the jump compares the index, and this
 * goes back from there over instructions that have one predecessor each, as far as that is so. All
 * ways to an instruction of the new code are known, since nothing but the walk's pairs leads there.
 */

enum { BACK_MAX = 64 };
enum { CC_B = 2, CC_E = 4, CC_BE = 6 };

/* What is looked for: the number in the low `width` bits of a register or of memory. */
struct search {
	struct comparison *c;
	bool memory;
	int reg;
	ZydisDecodedOperandMem mem; /* its displacement absolute where it is relative to rip */
	unsigned width;
	uint64_t most;  /* only numbers up to that are known to be what is looked for */
	bool b, e, be;  /* conditions that hold, of flags that the last comparison set */
	uint64_t limit; /* of the low `compared` bits of the register */
	unsigned compared;
	bool found;
};

static uint64_t low_bits(unsigned width)
{
	return width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool is_low_register(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && insn_register(o->reg.value) >= 0 &&
	       !(o->reg.value >= ZYDIS_REGISTER_AH && o->reg.value <= ZYDIS_REGISTER_BH);
}

/* ---- memory ---- */

static ZydisDecodedOperandMem memory_of(
    const ZydisDecodedOperand *o, uint64_t at, const struct insn_operands *x)
{
	ZydisDecodedOperandMem m = o->mem;

	if (m.base == ZYDIS_REGISTER_RIP)
		m.disp.value += (int64_t)(at + x->i.length);
	return m;
}

static bool same_memory(const ZydisDecodedOperandMem *a, const ZydisDecodedOperandMem *b)
{
	return a->segment == b->segment && a->base == b->base && a->index == b->index &&
	       a->scale == b->scale && a->disp.value == b->disp.value;
}

/* ---- comparisons ---- */

/* What the conditions say of a number compared with v; false: nothing. */
static bool limit_of(const struct search *s, uint64_t v, uint64_t *limit)
{
	if (s->b && v) {
		*limit = v - 1;
		return true;
	}
	*limit = v;
	return s->e || s->be;
}

static void take_comparison(struct search *s, uint64_t at, const struct insn_operands *x)
{
	const ZydisDecodedOperand *o = &x->o[0];
	ZydisDecodedOperandMem m;
	uint64_t limit;

	if (x->i.mnemonic != ZYDIS_MNEMONIC_CMP || x->o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    s->compared || !limit_of(s, x->o[1].imm.value.u & low_bits(o->size), &limit) ||
	    limit > s->most)
		return;
	if (s->memory) {
		m = memory_of(o, at, x);
		s->found = o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->size >= s->width &&
			   same_memory(&m, &s->mem);
	} else if (is_low_register(o) && insn_register(o->reg.value) == s->reg) {
		s->compared = o->size;
		s->found = o->size >= s->width;
	}
	s->limit = limit;
}

/* ---- instructions that make the number ---- */

/* The number is what the second operand has, in so many bits. */
static bool look_there(struct search *s, uint64_t at, const struct insn_operands *x)
{
	const ZydisDecodedOperand *o = &x->o[1];

	s->width = least(s->width, o->size);
	s->memory = o->type == ZYDIS_OPERAND_TYPE_MEMORY;
	if (s->memory)
		s->mem = memory_of(o, at, x);
	else if (is_low_register(o))
		s->reg = insn_register(o->reg.value);
	else
		return false;
	return true;
}

/* Of a register whose low bits were compared: are the others zero? */
static bool is_extended(const struct search *s, const struct insn_operands *x)
{
	if (x->i.mnemonic == ZYDIS_MNEMONIC_MOVZX)
		return x->o[1].size <= s->compared;
	return x->o[0].size == 32 && s->compared == 32;
}

/* An instruction that writes the register. False: the search ends. */
static bool take_writer(struct search *s, uint64_t at, const struct insn_operands *x)
{
	const ZydisDecodedOperand *o = x->o;

	if (o[0].type != ZYDIS_OPERAND_TYPE_REGISTER || insn_register(o[0].reg.value) != s->reg ||
	    o[0].size < 32 || !(o[0].actions & ZYDIS_OPERAND_ACTION_WRITE))
		return false;
	if (s->compared) {
		s->found = is_extended(s, x);
		return false;
	}
	switch (x->i.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
		return look_there(s, at, x);
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		if (s->width > o[1].size && s->most > low_bits(o[1].size - 1u))
			s->most = low_bits(o[1].size - 1u);
		return look_there(s, at, x);
	case ZYDIS_MNEMONIC_AND:
		s->limit = o[1].imm.value.u;
		s->found = o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && s->limit <= s->most &&
			   s->limit <= low_bits(31);
		return false;
	default:
		return false;
	}
}

/* cltq: of %rax from %eax. */
static bool is_cltq(const struct search *s, const struct insn_operands *x)
{
	return x->i.mnemonic == ZYDIS_MNEMONIC_CDQE && !s->reg && !s->memory && !s->compared;
}

static bool writes(const struct search *s, const struct insn_operands *x)
{
	const ZydisDecodedOperand *o;
	unsigned k;

	for (k = 0; k < x->i.operand_count; k++) {
		o = &x->o[k];
		if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (s->memory && o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			return true;
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		if (s->memory ? (insn_register(o->reg.value) >= 0 &&
				    (insn_register(o->reg.value) == insn_register(s->mem.base) ||
					insn_register(o->reg.value) == insn_register(s->mem.index)))
			      : insn_register(o->reg.value) == s->reg)
			return true;
	}
	return false;
}

/* ---- back ---- */

/* The condition that holds where a conditional jump led to `next`. */
static bool take_jump(struct search *s, uint64_t at, const struct insn *i, uint64_t next)
{
	bool taken = i->to == next;
	unsigned cond = i->cond ^ !taken;

	if (taken == (at + i->len == next))
		return false;
	s->b |= cond == CC_B;
	s->e |= cond == CC_E;
	s->be |= cond == CC_BE;
	return true;
}

/* The instruction at an address, after which `next` comes. False: the search ends. */
static bool take(struct search *s, uint64_t at, uint64_t next)
{
	struct insn_operands x;
	const uint8_t *p;
	struct insn i;
	uint64_t n;

	decode(s->c, &s->c->made, at, &i);
	if (i.kind == INSN_NOP || i.kind == INSN_JMP)
		return true;
	if (i.kind == INSN_JCC)
		return take_jump(s, at, &i, next);
	p = image_bytes(&s->c->made, at, &n);
	if (i.kind != INSN_PLAIN || !insn_operands(&s->c->decoder, p, n, &x) ||
	    x.i.mnemonic == ZYDIS_MNEMONIC_CALL || x.i.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		return false;
	take_comparison(s, at, &x);
	if (s->found)
		return false;
	if (is_cltq(s, &x)) {
		s->width = least(s->width, 32);
		s->most = s->most < low_bits(31) ? s->most : low_bits(31);
	} else if (writes(s, &x) && (s->memory || !take_writer(s, at, &x))) {
		return false;
	}
	if (x.i.cpu_flags && x.i.cpu_flags->modified | x.i.cpu_flags->undefined |
				 x.i.cpu_flags->set_0 | x.i.cpu_flags->set_1)
		s->b = s->e = s->be = false;
	return true;
}

/* The register that a load or jump has as its index. */
static int index_of(struct comparison *c, uint64_t load)
{
	uint64_t n;
	const uint8_t *p = image_bytes(&c->made, load, &n);
	struct insn_operands x;
	unsigned k;

	if (insn_operands(&c->decoder, p, n, &x))
		for (k = 0; k < x.i.operand_count; k++)
			if (x.o[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    x.o[k].mem.index != ZYDIS_REGISTER_NONE)
				return insn_register(x.o[k].mem.index);
	return -1;
}

uint64_t bound_of(struct comparison *c, uint64_t load)
{
	struct search s = {.c = c, .reg = index_of(c, load), .width = 64, .most = UINT64_MAX};
	const struct spot *at = spot_at(c, load), *next;
	unsigned n;

	for (n = 0; n < BACK_MAX && at->pred && at->pred != SPOT_MANY; n++) {
		next = at;
		at = &c->spot.v[at->pred - 1];
		if (!take(&s, c->made.begin + at->made, c->made.begin + next->made))
			break;
	}
	if (s.found)
		return s.limit + 1;
	return s.most == UINT64_MAX && s.width < 32 && !s.compared ? low_bits(s.width) + 1
								   : UINT64_MAX;
}
