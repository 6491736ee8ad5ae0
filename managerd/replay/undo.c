#include "managerd/replay/past.h"

enum { EQUAL = 4 };

/* ---- flags ---- */

static void forget_flags(struct past *p)
{
	p->flags = (struct tnum){0, FLAG_ALL};
	p->cond = PAST_ANY;
}

/* Is anything known of them that an operation's could contradict? */
static bool flags_count(const struct past *p)
{
	return p->cond != PAST_ANY || p->flags.m != FLAG_ALL;
}

/* An instruction left these, and says nothing of those before. */
static void undo_flags(struct past *p, struct tnum f)
{
	f.m |= FLAG_AF;
	p->never |= p->cond != PAST_ANY && condition((unsigned)p->cond, f) == 0;
	learn_bits(p, &p->flags, f);
	forget_flags(p);
}

/* Those that a result alone decides. */
static struct tnum result_flags(struct tnum r, unsigned size)
{
	struct tnum f = {0, FLAG_ALL};
	int sign = bit(r, width(size) - 1);

	if (!r.m || r.v) {
		f.m &= ~(uint64_t)FLAG_ZF;
		f.v |= r.v ? 0 : FLAG_ZF;
	}
	if (sign >= 0) {
		f.m &= ~(uint64_t)FLAG_SF;
		f.v |= sign ? FLAG_SF : 0;
	}
	return f;
}

static struct tnum operation_flags(enum uop_kind kind, struct tnum a, struct tnum b, unsigned size)
{
	struct tnum f = {0, FLAG_ALL};

	switch (kind) {
	case UOP_ADD:
		tnum_add(a, b, size, &f);
		break;
	case UOP_SUB:
	case UOP_CMP:
		tnum_sub(a, b, size, &f);
		break;
	case UOP_AND:
	case UOP_TEST:
		tnum_and(a, b, size, &f);
		break;
	case UOP_OR:
		tnum_or(a, b, size, &f);
		break;
	default:
		tnum_xor(a, b, size, &f);
	}
	return f;
}

/* ---- instructions ---- */

static bool undo_compare(struct past *p, const struct uop *o)
{
	bool equal = p->cond == EQUAL;
	struct tnum a, b;

	if (!flags_count(p))
		return true;
	a = value(p, o, o->dst, o->size);
	b = value(p, o, o->src, o->size);
	if (o->kind == UOP_CMP && o->dst == o->src && o->dst < UO_MEM)
		a = b = known(0);
	undo_flags(p, operation_flags(o->kind, a, b, o->size));
	if (equal && o->kind == UOP_CMP) {
		learn(p, o, o->dst, o->size, b);
		learn(p, o, o->src, o->size, a);
	} else if (equal && o->dst == o->src) {
		learn(p, o, o->dst, o->size, known(0));
	}
	return true;
}

/* What the destination held, by the result and the other operand. */
static struct tnum operand_before(enum uop_kind kind, struct tnum r, struct tnum b, unsigned size)
{
	switch (kind) {
	case UOP_ADD:
		return cut(tnum_minus(r, b), size);
	case UOP_SUB:
		return cut(tnum_plus(r, b), size);
	case UOP_XOR:
		return tnum_differ(r, b);
	case UOP_AND: /* as it is where b is 1 */
		return (struct tnum){r.v & b.v, mask(size) & ~(b.v & ~r.m)};
	default: /* UOP_OR: where b is 0 */
		return (struct tnum){r.v & ~(b.v | b.m), r.m | b.v | b.m};
	}
}

static bool undo_arithmetic(struct past *p, const struct uop *o)
{
	bool same = o->dst == o->src && o->dst < UO_MEM;
	struct tnum f, r = result(p, o), a, b = value(p, o, o->src, o->size), zero = known(0);

	if (same && (o->kind == UOP_SUB || o->kind == UOP_XOR)) {
		learn_bits(p, &r, zero);
		undo_flags(p, operation_flags(UOP_SUB, zero, zero, o->size));
		return true;
	}
	if (same) {
		f = result_flags(r, o->size);
		if (o->kind != UOP_ADD)
			learn(p, o, o->dst, o->size, r);
		undo_flags(p, f);
		return true;
	}
	if (o->kind == UOP_AND)
		p->never |= (r.v & ~(b.v | b.m)) != 0;
	else if (o->kind == UOP_OR)
		p->never |= (b.v & ~(r.v | r.m)) != 0;
	a = operand_before(o->kind, r, b, o->size);
	if (flags_count(p)) {
		f = operation_flags(o->kind, a, b, o->size);
		learn_bits(p, &f, result_flags(r, o->size));
		undo_flags(p, f);
	}
	learn(p, o, o->dst, o->size, a);
	return true;
}

static bool undo_unary(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o), a = r;

	switch (o->kind) {
	case UOP_INC:
		a = cut(tnum_minus(r, known(1)), o->size);
		break;
	case UOP_DEC:
		a = cut(tnum_plus(r, known(1)), o->size);
		break;
	case UOP_NEG:
		a = cut(tnum_minus(known(0), r), o->size);
		break;
	case UOP_NOT:
		a = (struct tnum){~r.v & ~r.m & mask(o->size), r.m};
		break;
	case UOP_BSWAP:
		a = tnum_bswap(r, o->size);
		break;
	}
	if (o->kind != UOP_NOT && o->kind != UOP_BSWAP)
		undo_flags(p, result_flags(r, o->size));
	learn(p, o, o->dst, o->size, a);
	return true;
}

static bool undo_shift(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o), a = unknown(o->size);
	unsigned n = (unsigned)o->imm & (o->size == 3 ? 63 : 31);
	uint64_t lost;

	forget_flags(p);
	if (o->src != UO_IMM || n >= width(o->size) || (!n && o->size == 2))
		return true;
	if (o->kind == UOP_SHL) {
		lost = ((uint64_t)1 << n) - 1;
		p->never |= (r.v & lost) != 0;
		a = (struct tnum){r.v >> n, r.m >> n | (mask(o->size) & ~(mask(o->size) >> n))};
	} else {
		lost = ~(mask(o->size) >> n) & mask(o->size);
		p->never |= o->kind == UOP_SHR && r.v & lost;
		a = (struct tnum){r.v << n & mask(o->size),
		    (r.m << n | (((uint64_t)1 << n) - 1)) & mask(o->size)};
	}
	learn(p, o, o->dst, o->size, a);
	return true;
}

static bool undo_extension(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o), low = cut(r, o->aux), whole = low;

	if (o->kind == UOP_MOVSX)
		whole = tnum_sign_extend(low, o->aux, o->size);
	learn_bits(p, &r, whole);
	learn(p, o, o->src, o->aux, low);
	return true;
}

static bool undo_lea(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o), at = cut(past_address(p, o), o->size), x;

	learn_bits(p, &r, at);
	if (o->base == UA_UNKNOWN || !at.m)
		return true;
	x = known((uint64_t)(int64_t)o->disp);
	if (o->index < UR_N && o->base < UR_N)
		x = tnum_plus(x,
		    (struct tnum){p->reg[o->index].v << o->scale, p->reg[o->index].m << o->scale});
	if (o->base < UR_N && o->base != o->index)
		learn(p, o, o->base, o->size, cut(tnum_minus(r, x), o->size));
	return true;
}

static bool undo_set(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o);

	p->never |= r.v > 1;
	if (!r.m && p->cond == PAST_ANY)
		p->cond = r.v ? o->aux : o->aux ^ 1;
	return true;
}

static bool undo_push(struct past *p, const struct uop *o)
{
	struct tnum sp = p->reg[UR_SP], v;

	if (sp.m)
		return false;
	v = past_load(p, sp.v, o->size);
	past_forget_bytes(p, sp.v, 1u << o->size);
	p->reg[UR_SP].v += 1u << o->size;
	if (o->src != UO_MEM)
		learn(p, o, o->src, o->size, v);
	return true;
}

static bool undo_pop(struct past *p, const struct uop *o)
{
	struct tnum r;

	if (p->reg[UR_SP].m || o->dst == UR_SP)
		return false;
	r = result(p, o);
	p->reg[UR_SP].v -= 1u << o->size;
	past_learn_memory(p, p->reg[UR_SP].v, o->size, r);
	return true;
}

static bool undo_call(struct past *p, const struct uop *o)
{
	uint8_t r;

	p->never |= o->aux;
	past_forget_memory(p);
	forget_flags(p);
	for (r = 0; r < UR_N; r++)
		if (UR_CALLER_SAVED >> r & 1)
			forget_reg(p, r);
	return true;
}

static bool undo_wipe(struct past *p, const struct uop *o)
{
	struct tnum at = past_address(p, o);

	if (at.m)
		past_forget_memory(p);
	else
		past_forget_bytes(p, at.v, 64);
	return true;
}

/* Such as only change their destination and the flags. */
static bool undo_other(struct past *p, const struct uop *o)
{
	result(p, o);
	if (o->dst == UO_MEM)
		past_forget_memory(p);
	forget_flags(p);
	return true;
}

/* ---- all ---- */

static bool undo_nothing(struct past *p, const struct uop *o)
{
	return true;
}

static bool undo_unknown(struct past *p, const struct uop *o)
{
	return false;
}

static bool undo_mov(struct past *p, const struct uop *o)
{
	struct tnum r;

	if (o->dst != o->src || o->dst >= UR_N || o->size < 2) {
		r = result(p, o);
		learn(p, o, o->src, o->size, r);
	}
	return true;
}

static bool undo_only_flags(struct past *p, const struct uop *o)
{
	forget_flags(p);
	return true;
}

static bool undo_choice(struct past *p, const struct uop *o)
{
	forget_reg(p, o->dst);
	return true;
}

static bool undo_sign_dx(struct past *p, const struct uop *o)
{
	forget_reg(p, UR_DX);
	return true;
}

static bool undo_product(struct past *p, const struct uop *o)
{
	forget_reg(p, UR_AX);
	forget_reg(p, UR_DX);
	forget_flags(p);
	return true;
}

static bool (*const undo[UOP_N])(struct past *p, const struct uop *o) = {
#define U(kind, how, back) [UOP_##kind] = undo_##back,
#include "managerd/replay/instructions.h"
#undef U
};

uint32_t past_undo(struct past *p, const struct uop *o, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && !p->never; i++)
		if (o--, !undo[o->kind](p, o))
			break;
	return i;
}
