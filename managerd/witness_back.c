#include "managerd/witness_back.h"
#include "common/le.h"
#include "managerd/witness_value.h"

#include <stddef.h>
#include <string.h>

enum { SEEN = 8, ANY = -1, EQUAL = 4 };

/* What is known of the time before an instruction. */
struct past {
	struct tnum reg[UR_N];
	struct tnum flags;
	int cond;   /* that these flags meet, or ANY */
	bool never; /* it was not so */
	uint32_t nseen;
	const uint8_t *stack; /* what lies at [low, high), as sampled */
	uint64_t low, high;
	struct { /* memory that an instruction behind loaded; the last of the struct */
		uint64_t at, v;
		unsigned size;
	} seen[SEEN];
};

struct search {
	const struct uops *u;
	const struct uops_func *f;
	uint32_t uops;  /* undone so far */
	uint32_t depth; /* blocks back that are looked at now */
};

static void learn_bits(struct past *p, struct tnum *of, struct tnum v)
{
	p->never |= ((of->v ^ v.v) & ~of->m & ~v.m) != 0;
	of->v |= v.v;
	of->m &= v.m;
}

/* ---- memory ---- */

static bool on_stack(const struct past *p, uint64_t at, uint64_t n)
{
	return p->low <= at && at < p->high && p->high - at >= n;
}

static struct tnum load(const struct past *p, uint64_t at, unsigned size)
{
	uint64_t v = 0;
	uint32_t i;

	if (on_stack(p, at, 1u << size)) {
		memcpy(&v, p->stack + (at - p->low), 1u << size);
		return known(le64toh(v));
	}
	for (i = 0; i < p->nseen; i++)
		if (p->seen[i].at == at && p->seen[i].size == size)
			return known(p->seen[i].v);
	return unknown(size);
}

static void learn_memory(struct past *p, uint64_t at, unsigned size, struct tnum v)
{
	struct tnum was = load(p, at, size);

	learn_bits(p, &was, v);
	if (v.m || on_stack(p, at, 1))
		return;
	p->seen[p->nseen % SEEN].at = at;
	p->seen[p->nseen % SEEN].v = v.v;
	p->seen[p->nseen % SEEN].size = size;
	p->nseen += p->nseen < SEEN;
}

static void forget_memory(struct past *p)
{
	p->nseen = 0;
	p->high = p->low;
}

/* Before a store the n bytes there may have been others. */
static void forget_bytes(struct past *p, uint64_t at, unsigned n)
{
	uint32_t i, k;

	for (i = k = 0; i < p->nseen; i++)
		if (p->seen[i].at - at >= n && at - p->seen[i].at >= 1u << p->seen[i].size)
			p->seen[k++] = p->seen[i];
	p->nseen = k;
	if (at - p->low >= p->high - p->low && p->low - at >= n)
		return;
	if (p->high - at > n && p->high - at - n < p->high - p->low) {
		p->stack += at + n - p->low;
		p->low = at + n;
	} else {
		p->high = p->low;
	}
}

/* ---- operands ---- */

static struct tnum address_of(const struct past *p, const struct uop *o)
{
	struct tnum a = known((uint64_t)(int64_t)o->disp), x;

	if (o->base == UA_UNKNOWN)
		return unknown(3);
	if (o->base < UR_N)
		a = tnum_plus(a, p->reg[o->base]);
	if (o->index < UR_N) {
		x = p->reg[o->index];
		a = tnum_plus(a, (struct tnum){x.v << o->scale, x.m << o->scale});
	}
	return a;
}

static struct tnum other_value(
    const struct past *p, const struct uop *o, uint8_t operand, unsigned size)
{
	struct tnum x;

	switch (operand) {
	case UO_MEM:
		x = address_of(p, o);
		return x.m ? unknown(size) : load(p, x.v, size);
	case UO_IMM:
		return known((uint64_t)o->imm & mask(size));
	case UO_UNKNOWN:
		return unknown(size);
	}
	x = p->reg[operand - UO_HIGH];
	return cut((struct tnum){x.v >> 8, x.m >> 8}, 0);
}

static inline struct tnum value(
    const struct past *p, const struct uop *o, uint8_t operand, unsigned size)
{
	return operand < UR_N ? cut(p->reg[operand], size) : other_value(p, o, operand, size);
}

static void learn_other(
    struct past *p, const struct uop *o, uint8_t operand, unsigned size, struct tnum v)
{
	struct tnum x;

	if (operand < UO_MEM) {
		learn_bits(p, &p->reg[operand - UO_HIGH],
		    (struct tnum){v.v << 8, v.m << 8 | ~UINT64_C(0xff00)});
	} else if (operand == UO_MEM) {
		x = address_of(p, o);
		if (!x.m)
			learn_memory(p, x.v, size, v);
	} else if (operand == UO_IMM) {
		x = other_value(p, o, operand, size);
		learn_bits(p, &x, v);
	}
}

static inline void learn(
    struct past *p, const struct uop *o, uint8_t operand, unsigned size, struct tnum v)
{
	if (operand < UR_N)
		learn_bits(p, &p->reg[operand], (struct tnum){v.v, v.m | ~mask(size)});
	else
		learn_other(p, o, operand, size, v);
}

static void forget_bits(struct tnum *of, uint64_t field)
{
	of->v &= ~field;
	of->m |= field;
}

static void forget_reg(struct past *p, uint8_t r)
{
	p->reg[r] = unknown(3);
}

/* What the instruction left in its destination, which before it held anything. */
static struct tnum result(struct past *p, const struct uop *o)
{
	struct tnum r = value(p, o, o->dst, o->size), at;

	if (o->dst < UR_N) {
		p->never |= o->size == 2 && p->reg[o->dst].v >> 32;
		forget_bits(&p->reg[o->dst], o->size < 2 ? mask(o->size) : UINT64_MAX);
	} else if (o->dst < UO_MEM) {
		forget_bits(&p->reg[o->dst - UO_HIGH], 0xff00);
	} else if (o->dst == UO_MEM) {
		at = address_of(p, o);
		if (at.m)
			forget_memory(p);
		else
			forget_bytes(p, at.v, 1u << o->size);
	} else {
		p->nseen = 0; /* a variable */
	}
	return r;
}

/* ---- flags ---- */

static void forget_flags(struct past *p)
{
	p->flags = (struct tnum){0, FLAG_ALL};
	p->cond = ANY;
}

/* Is anything known of them that an operation's could contradict? */
static bool flags_count(const struct past *p)
{
	return p->cond != ANY || p->flags.m != FLAG_ALL;
}

/* An instruction left these, and says nothing of those before. */
static void undo_flags(struct past *p, struct tnum f)
{
	f.m |= FLAG_AF;
	p->never |= p->cond != ANY && condition((unsigned)p->cond, f) == 0;
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

static void undo_compare(struct past *p, const struct uop *o)
{
	bool equal = p->cond == EQUAL;
	struct tnum a, b;

	if (!flags_count(p))
		return;
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

static void undo_arithmetic(struct past *p, const struct uop *o)
{
	bool same = o->dst == o->src && o->dst < UO_MEM;
	struct tnum f, r = result(p, o), a, b = value(p, o, o->src, o->size), zero = known(0);

	if (same && (o->kind == UOP_SUB || o->kind == UOP_XOR)) {
		learn_bits(p, &r, zero);
		undo_flags(p, operation_flags(UOP_SUB, zero, zero, o->size));
		return;
	}
	if (same) {
		f = result_flags(r, o->size);
		if (o->kind != UOP_ADD)
			learn(p, o, o->dst, o->size, r);
		undo_flags(p, f);
		return;
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
}

static void undo_unary(struct past *p, const struct uop *o)
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
}

static void undo_shift(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o), a = unknown(o->size);
	unsigned n = (unsigned)o->imm & (o->size == 3 ? 63 : 31);
	uint64_t lost;

	forget_flags(p);
	if (o->src != UO_IMM || n >= width(o->size) || (!n && o->size == 2))
		return;
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
}

static void undo_extension(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o), low = cut(r, o->aux), whole = low;

	if (o->kind == UOP_MOVSX)
		whole = tnum_sign_extend(low, o->aux, o->size);
	learn_bits(p, &r, whole);
	learn(p, o, o->src, o->aux, low);
}

static void undo_lea(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o), at = cut(address_of(p, o), o->size), x;

	learn_bits(p, &r, at);
	if (o->base == UA_UNKNOWN || !at.m)
		return;
	x = known((uint64_t)(int64_t)o->disp);
	if (o->index < UR_N && o->base < UR_N)
		x = tnum_plus(x,
		    (struct tnum){p->reg[o->index].v << o->scale, p->reg[o->index].m << o->scale});
	if (o->base < UR_N && o->base != o->index)
		learn(p, o, o->base, o->size, cut(tnum_minus(r, x), o->size));
}

static void undo_set(struct past *p, const struct uop *o)
{
	struct tnum r = result(p, o);

	p->never |= r.v > 1;
	if (!r.m && p->cond == ANY)
		p->cond = r.v ? o->aux : o->aux ^ 1;
}

static bool undo_push(struct past *p, const struct uop *o)
{
	struct tnum sp = p->reg[UR_SP], v;

	if (sp.m)
		return false;
	v = load(p, sp.v, o->size);
	forget_bytes(p, sp.v, 1u << o->size);
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
	learn_memory(p, p->reg[UR_SP].v, o->size, r);
	return true;
}

static bool undo_call(struct past *p, const struct uop *o)
{
	uint8_t r;

	p->never |= o->aux;
	forget_memory(p);
	forget_flags(p);
	for (r = 0; r < UR_N; r++)
		if (UR_CALLER_SAVED >> r & 1)
			forget_reg(p, r);
	return true;
}

static void undo_wipe(struct past *p, const struct uop *o)
{
	struct tnum at = address_of(p, o);

	if (at.m)
		forget_memory(p);
	else
		forget_bytes(p, at.v, 64);
}

/* Such as only change their destination and the flags. */
static void undo_other(struct past *p, const struct uop *o)
{
	result(p, o);
	if (o->dst == UO_MEM)
		forget_memory(p);
	forget_flags(p);
}

/* One instruction; false where nothing is known of what was before. */
static bool undo(struct past *p, const struct uop *o)
{
	struct tnum r;

	switch ((enum uop_kind)o->kind) {
	case UOP_NOP:
	case UOP_END:
		return true;
	case UOP_STOP:
	case UOP_LEAVE:
	case UOP_XCHG:
	case UOP_XADD:
	case UOP_CMPXCHG:
	case UOP_N:
		return false;
	case UOP_CALL:
		return undo_call(p, o);
	case UOP_FLAGS:
	case UOP_BT:
		forget_flags(p);
		return true;
	case UOP_MOV:
		if (o->dst != o->src || o->dst >= UR_N || o->size < 2) {
			r = result(p, o);
			learn(p, o, o->src, o->size, r);
		}
		return true;
	case UOP_MOVZX:
	case UOP_MOVSX:
		undo_extension(p, o);
		return true;
	case UOP_LEA:
		undo_lea(p, o);
		return true;
	case UOP_CMP:
	case UOP_TEST:
		undo_compare(p, o);
		return true;
	case UOP_ADD:
	case UOP_SUB:
	case UOP_AND:
	case UOP_OR:
	case UOP_XOR:
		undo_arithmetic(p, o);
		return true;
	case UOP_INC:
	case UOP_DEC:
	case UOP_NEG:
	case UOP_NOT:
	case UOP_BSWAP:
		undo_unary(p, o);
		return true;
	case UOP_SHL:
	case UOP_SHR:
	case UOP_SAR:
		undo_shift(p, o);
		return true;
	case UOP_SETCC:
		undo_set(p, o);
		return true;
	case UOP_CMOV:
	case UOP_LOOKUP:
		forget_reg(p, o->dst);
		return true;
	case UOP_PUSH:
		return undo_push(p, o);
	case UOP_POP:
		return undo_pop(p, o);
	case UOP_WIPE:
		undo_wipe(p, o);
		return true;
	case UOP_MULA:
	case UOP_IMULA:
	case UOP_DIV:
	case UOP_IDIV:
		forget_reg(p, UR_AX);
		forget_flags(p);
		forget_reg(p, UR_DX);
		return true;
	case UOP_SIGN_DX:
		forget_reg(p, UR_DX);
		return true;
	case UOP_ADC:
	case UOP_SBB:
	case UOP_ROL:
	case UOP_ROR:
	case UOP_SHLD:
	case UOP_SHRD:
	case UOP_IMUL:
	case UOP_IMUL3:
	case UOP_BTS:
	case UOP_BTR:
	case UOP_BTC:
	case UOP_BSF:
	case UOP_BSR:
	case UOP_TZCNT:
	case UOP_LZCNT:
	case UOP_POPCNT:
	case UOP_ADD_BASE:
		undo_other(p, o);
		return true;
	}
	return false;
}

/* ---- ways ---- */

enum verdict { IMPOSSIBLE, POSSIBLE, GOES_ON };

/* From uop i back to where block b begins. */
static enum verdict undo_block(
    struct search *w, struct past *p, const struct uops_block *b, uint32_t i)
{
	while (i > b->uop) {
		if (w->uops++ >= WITNESS_BACK_UOPS || !undo(p, &w->u->uop.v[--i]))
			return p->never ? IMPOSSIBLE : POSSIBLE;
		if (p->never)
			return IMPOSSIBLE;
	}
	return GOES_ON;
}

/* Over the jump at the end of block `from` to block `to`. */
static bool undo_jump(struct past *p, const struct uops_block *from, uint32_t to)
{
	unsigned cond;

	if (from->term == UT_GO || (from->term == UT_COND && from->to == from->other))
		return true;
	cond = from->term == UT_COND && from->to == to ? from->cond : from->cond ^ 1u;
	if (condition(cond, p->flags) == 0)
		return false;
	if (p->cond == ANY)
		p->cond = (int)cond;
	return true;
}

static void copy(struct past *to, const struct past *p)
{
	memcpy(to, p, offsetof(struct past, seen) + p->nseen * sizeof *p->seen);
}

/* depth: how many blocks back `from` is. */
static bool possible(
    struct search *w, const struct past *behind, uint32_t from, uint32_t to, uint32_t depth)
{
	const struct uops_block *b = &w->u->block.v[w->f->block + from];
	enum verdict v;
	struct past p;
	uint32_t i;

	copy(&p, behind);
	if (!undo_jump(&p, b, to))
		return false;
	v = undo_block(w, &p, b, b->uop + b->nuop - 1);
	if (v != GOES_ON || b->open || !b->nfrom || depth == w->depth)
		return v != IMPOSSIBLE;
	for (i = 0; i < b->nfrom; i++)
		if (possible(w, &p, w->u->from.v[b->from + i], from, depth + 1))
			return true;
	return false;
}

static void begin(struct past *p, const struct witness_sample *s)
{
	size_t n = s->nstack < WITNESS_STACK ? s->nstack : WITNESS_STACK;
	unsigned r;

	for (r = 0; r < UR_N; r++)
		p->reg[r] = known(s->gpr[r]);
	p->flags = known(s->flags & FLAG_ALL);
	p->cond = ANY;
	p->never = false;
	p->nseen = 0;
	p->stack = s->stack;
	p->low = s->gpr[UR_SP];
	p->high = p->low + (s->stack && p->low + n > p->low ? n : 0);
}

/* Drops of the n ways into a block those that contradict within so many blocks;
 * that they all do cannot be, and the last is believed. Returns how many are left,
 * and looks at no more where enough of them are. */
static uint32_t exclude(struct search *w, const struct past *p, uint32_t block, uint32_t *way,
    uint32_t n, uint32_t depth, uint32_t enough)
{
	uint32_t i, stay = 0;

	w->depth = depth;
	for (i = n; i-- > 0 && n > 1 && stay < enough;)
		if (possible(w, p, way[i], block, 1))
			stay++;
		else
			way[i] = way[--n];
	return n;
}

enum witness_entry witness_back(
    const struct uops *u, const struct witness_sample *s, uint32_t *from)
{
	static const uint8_t depth[] = {1, 3, WITNESS_BACK_BLOCKS};
	struct search w = {.u = u, .f = &u->func.v[s->func]};
	const struct uops_block *b = &u->block.v[w.f->block + s->block];
	uint32_t way[WITNESS_BACK_WAYS], n;
	struct past p;
	size_t k;

	if (b->open || b->nfrom < 2 || b->nfrom > WITNESS_BACK_WAYS)
		return WITNESS_NO_JOIN;
	begin(&p, s);
	n = b->nfrom;
	memcpy(way, u->from.v + b->from, n * sizeof *way);
	if (undo_block(&w, &p, b, s->uop) == GOES_ON)
		for (k = 0; k < sizeof depth && n > 1; k++)
			n = exclude(&w, &p, s->block, way, n, depth[k],
			    depth[k] < WITNESS_BACK_BLOCKS ? n : 2);
	explicit_bzero(&p, sizeof p);
	*from = way[0];
	return n == 1 ? WITNESS_TOLD : WITNESS_UNTOLD;
}
