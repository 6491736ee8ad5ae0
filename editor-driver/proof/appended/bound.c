#include "editor-driver/proof/appended/comparison.h"

/*
 * How many entries of a jump table can be used: code before the jump compares the index, and this
 * goes back from there until it meets that, on every way. All ways to an instruction of the new
 * code are known, since nothing but the walk's pairs leads there. Of the index only the low 32 bits
 * count: with others it would be outside of a file that is no larger than 4 GiB.
 */

enum { STEPS_MAX = 512, COMPARED_MAX = 4 };
enum { CC_B = 2, CC_E = 4, CC_BE = 6 };

/* An integer register, or memory. */
struct place {
	bool memory;
	int reg;
	ZydisDecodedOperandMem mem; /* its displacement absolute where it is relative to rip */
};

/* A place that was found compared, which may prove to have held the number: `limit` is the most
 * that its low `width` bits were. */
struct compared {
	struct place at;
	unsigned width;
	uint64_t limit;
};

/* What is looked for, going back: the number in the low `width` bits of a place. */
struct search {
	struct place at;
	unsigned width;
	uint64_t most; /* only numbers up to that are known to be what is looked for */
	bool b, e, be; /* conditions that hold, of flags that the comparison before has set */
	struct compared compared[COMPARED_MAX];
	unsigned n;
	uint64_t limit; /* of the number, once it is found */
};
enum outcome { GOES_ON, FOUND, LOST };

static uint64_t low_bits(unsigned width)
{
	return width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
}

/* ---- places ---- */

static bool place_of(
    const ZydisDecodedOperand *o, uint64_t at, const struct insn_operands *x, struct place *p)
{
	*p = (struct place){.memory = o->type == ZYDIS_OPERAND_TYPE_MEMORY, .reg = -1};
	if (p->memory) {
		p->mem = o->mem;
		if (o->mem.base == ZYDIS_REGISTER_RIP)
			p->mem.disp.value += (int64_t)(at + x->i.length);
		return true;
	}
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    !(o->reg.value >= ZYDIS_REGISTER_AH && o->reg.value <= ZYDIS_REGISTER_BH))
		p->reg = insn_register(o->reg.value);
	return p->reg >= 0;
}

static bool same_address(const ZydisDecodedOperandMem *a, const ZydisDecodedOperandMem *b)
{
	return a->segment == b->segment && a->base == b->base && a->index == b->index &&
	       a->scale == b->scale;
}

static bool same_place(const struct place *a, const struct place *b)
{
	if (a->memory != b->memory)
		return false;
	return a->memory ? same_address(&a->mem, &b->mem) && a->mem.disp.value == b->mem.disp.value
			 : a->reg == b->reg;
}

/* May writing an operand change the place, of at most 8 bytes, or where it is? */
static bool disturbs(
    const ZydisDecodedOperand *o, uint64_t at, const struct insn_operands *x, const struct place *p)
{
	struct place w;
	int reg;

	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		reg = insn_register(o->reg.value);
		return reg >= 0 && (p->memory ? reg == insn_register(p->mem.base) ||
						    reg == insn_register(p->mem.index)
					      : reg == p->reg);
	}
	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || !p->memory)
		return false;
	place_of(o, at, x, &w);
	return !same_address(&w.mem, &p->mem) ||
	       (w.mem.disp.value < p->mem.disp.value + 8 &&
		   p->mem.disp.value < w.mem.disp.value + o->size / 8);
}

static bool is_disturbed(const struct insn_operands *x, uint64_t at, const struct place *p)
{
	unsigned k;

	for (k = 0; k < x->i.operand_count; k++)
		if (x->o[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    disturbs(&x->o[k], at, x, p))
			return true;
	return false;
}

/* ---- comparisons ---- */

/* What the comparisons say of the low bits of the number alone, once it is known to be no larger
 * than these can be. */
static void narrow(struct search *s)
{
	const struct compared *k;

	for (k = s->compared; k < s->compared + s->n; k++)
		if (s->limit <= low_bits(k->width) && k->limit < s->limit &&
		    same_place(&k->at, &s->at))
			s->limit = k->limit;
}

/* Is the number at most something, by one of the comparisons? */
static enum outcome settle(struct search *s)
{
	const struct compared *k;

	for (k = s->compared; k < s->compared + s->n; k++)
		if (k->width >= s->width && k->limit <= s->most && same_place(&k->at, &s->at)) {
			s->limit = k->limit;
			narrow(s);
			return FOUND;
		}
	return GOES_ON;
}

static void take_comparison(struct search *s, uint64_t at, const struct insn_operands *x)
{
	struct compared k = {.width = x->o[0].size};
	uint64_t v;

	if (x->i.mnemonic != ZYDIS_MNEMONIC_CMP || x->o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    s->n == COMPARED_MAX || !place_of(&x->o[0], at, x, &k.at))
		return;
	v = x->o[1].imm.value.u & low_bits(k.width);
	k.limit = s->b && v ? v - 1 : v;
	if ((s->b && v) || s->e || s->be)
		s->compared[s->n++] = k;
}

/* ---- instructions that make numbers ---- */

/* One that makes a register what `bits` bits of another place are, others becoming zero, or copies
 * of the sign. */
struct copy {
	struct place to, from;
	unsigned bits;
	bool is_signed;
};

static bool read_copy(uint64_t at, const struct insn_operands *x, struct copy *c)
{
	const ZydisDecodedOperand *o = x->o;

	c->is_signed =
	    x->i.mnemonic == ZYDIS_MNEMONIC_MOVSX || x->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	if (x->i.mnemonic != ZYDIS_MNEMONIC_MOV && x->i.mnemonic != ZYDIS_MNEMONIC_MOVZX &&
	    !c->is_signed)
		return false;
	c->bits = o[1].size;
	return o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].size >= 32 &&
	       place_of(&o[0], at, x, &c->to) && place_of(&o[1], at, x, &c->from);
}

/* What was compared after an instruction, as it was before that. */
static void go_back_compared(
    struct search *s, uint64_t at, const struct insn_operands *x, const struct copy *c)
{
	struct compared *k;
	unsigned i, n = 0;

	for (i = 0; i < s->n; i++) {
		k = &s->compared[i];
		if (is_disturbed(x, at, &k->at)) {
			if (!c || !same_place(&k->at, &c->to) ||
			    (c->is_signed && k->width > c->bits &&
				k->limit > low_bits(c->bits - 1)))
				continue;
			k->width = k->width < c->bits ? k->width : c->bits;
			k->at = c->from;
		}
		s->compared[n++] = *k;
	}
	s->n = n;
}

/* The number, likewise. */
static enum outcome go_back_number(
    struct search *s, uint64_t at, const struct insn_operands *x, const struct copy *c)
{
	if (!is_disturbed(x, at, &s->at) || x->i.mnemonic == ZYDIS_MNEMONIC_CDQE)
		return GOES_ON;
	if (c && same_place(&s->at, &c->to)) {
		if (c->bits < s->width) {
			s->width = c->bits;
			if (c->is_signed && s->most > low_bits(c->bits - 1))
				s->most = low_bits(c->bits - 1);
		}
		s->at = c->from;
		return GOES_ON;
	}
	if (x->i.mnemonic != ZYDIS_MNEMONIC_AND || s->at.memory || x->o[0].size < s->width ||
	    x->o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return LOST;
	s->limit = x->o[1].imm.value.u & low_bits(s->width);
	return s->limit <= s->most ? FOUND : LOST;
}

/* A call keeps some registers, and nothing else. */
static enum outcome go_back_call(struct search *s)
{
	unsigned i, n = 0;

	for (i = 0; i < s->n; i++)
		if (!s->compared[i].at.memory && insn_is_kept(s->compared[i].at.reg))
			s->compared[n++] = s->compared[i];
	s->n = n;
	s->b = s->e = s->be = false;
	return !s->at.memory && insn_is_kept(s->at.reg) ? GOES_ON : LOST;
}

static bool sets_flags(const struct insn_operands *x)
{
	const ZydisAccessedFlags *f = x->i.cpu_flags;

	return f && (f->modified || f->set_0 || f->set_1 || f->undefined);
}

/* ---- back ---- */

/* The condition that holds where a conditional jump led to `next`. */
static enum outcome take_jump(struct search *s, uint64_t at, const struct insn *i, uint64_t next)
{
	bool taken = i->to == next;
	unsigned cond = i->cond ^ !taken;

	if (taken == (at + i->len == next))
		return LOST;
	s->b |= cond == CC_B;
	s->e |= cond == CC_E;
	s->be |= cond == CC_BE;
	return GOES_ON;
}

/* Over the instruction at an address, after which `next` comes. */
static enum outcome take(struct comparison *c, struct search *s, uint64_t at, uint64_t next)
{
	struct insn_operands x;
	enum outcome outcome;
	const uint8_t *p;
	struct copy copy;
	struct insn i;
	bool copies;
	uint64_t n;

	decode(c, &c->made, at, &i);
	if (i.kind == INSN_NOP || i.kind == INSN_JMP)
		return GOES_ON;
	if (i.kind == INSN_JCC)
		return take_jump(s, at, &i, next);
	p = loaded_bytes(&c->made, at, &n);
	if ((i.kind != INSN_PLAIN && i.kind != INSN_CALL) ||
	    !insn_operands(&c->decoder, p, n, &x) || x.i.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		return LOST;
	if (x.i.mnemonic == ZYDIS_MNEMONIC_CALL)
		return go_back_call(s);
	take_comparison(s, at, &x);
	copies = read_copy(at, &x, &copy);
	outcome = go_back_number(s, at, &x, copies ? &copy : NULL);
	go_back_compared(s, at, &x, copies ? &copy : NULL);
	if (sets_flags(&x))
		s->b = s->e = s->be = false;
	return outcome == GOES_ON ? settle(s) : outcome;
}

/* Ways back that are looked at, and what they say. */
struct ways {
	unsigned steps; /* still to be taken */
	uint64_t most;  /* that the number can be, by comparisons */
	unsigned width; /* it is no more than the largest of so many bits; 32: nothing is known */
	bool compared;  /* on every way */
};

/* A way ends without a comparison: what is known is how many bits the number has. */
static void give_up(struct ways *w, const struct search *s)
{
	unsigned width = s->most == UINT64_MAX ? s->width : 32;

	w->compared = false;
	w->width = width > w->width ? width : w->width;
}

/* All ways to an instruction. */
static void search(
    struct comparison *c, const struct search *s, const struct spot *at, struct ways *w)
{
	const struct spot *from;
	enum outcome outcome;
	struct search before;
	uint32_t k;

	if (!at->pred)
		give_up(w, s);
	for (k = at->pred; k; k = c->pred.v[k - 1].next) {
		if (c->pred.v[k - 1].from == SPOT_UNKNOWN || !w->steps) {
			give_up(w, s);
			return;
		}
		w->steps--;
		from = &c->spot.v[c->pred.v[k - 1].from - 1];
		before = *s;
		outcome = take(c, &before, c->made.begin + from->made, c->made.begin + at->made);
		if (outcome == FOUND)
			w->most = before.limit > w->most ? before.limit : w->most;
		else if (outcome == GOES_ON)
			search(c, &before, from, w);
		else
			give_up(w, s);
	}
}

uint64_t bound_of(struct comparison *c, uint64_t load, bool *compared)
{
	struct search s = {.width = 32, .most = UINT64_MAX};
	struct ways w = {.steps = STEPS_MAX, .compared = true};
	struct insn_operands x;
	uint64_t n, of_width;
	const uint8_t *p = loaded_bytes(&c->made, load, &n);
	unsigned k;

	*compared = false;
	if (!insn_operands(&c->decoder, p, n, &x))
		return UINT64_MAX;
	for (k = 0; k < x.i.operand_count && x.o[k].type != ZYDIS_OPERAND_TYPE_MEMORY; k++)
		;
	s.at.reg = k < x.i.operand_count ? insn_register(x.o[k].mem.index) : -1;
	search(c, &s, spot_at(c, load), &w);
	*compared = w.compared;
	of_width = w.width < 32 ? low_bits(w.width) : UINT64_MAX - 1;
	return (w.compared || of_width < w.most ? w.most : of_width) + 1;
}
