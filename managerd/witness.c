#include "managerd/witness.h"
#include "common/le.h"
#include "managerd/witness_value.h"

#include <stddef.h>
#include <string.h>

enum {
	BELOW = 128, /* bytes below the stack pointer that are followed, too: pushes, red zone */
	WINDOW = BELOW + WITNESS_STACK
};

/* What is known of the stack's top. Read from the sample until the first store. */
struct memory {
	const struct witness_sample *s;
	uint64_t low; /* address of byte[0] */
	bool own;     /* byte and known are in force */
	uint8_t byte[WINDOW];
	uint64_t known[WINDOW / 64];
};

struct state {
	/* Of registers bits known to be 1 and bits not known: apart, since a pair that
	 * is written in halves and read as a whole waits for the writes. */
	uint64_t v[UR_N], m[UR_N];
	struct tnum flags;
	struct { /* the last operation, whose flags nobody has asked for yet */
		struct tnum a, b;
		uint8_t kind, size; /* UOP_NOP: there is none */
	} last;
	const struct uops *u;
	uint32_t func, block, uop; /* the next instruction */
	uint32_t out;              /* as in struct witness_edge */
	uint32_t idle;             /* instructions since the last direction */
	uint32_t code_block;       /* code_reg holds the address of this block */
	uint8_t code_reg;          /* UR_N: none does */
	struct memory mem;
};

/* ---- memory ---- */

static size_t copied(const struct witness_sample *s)
{
	if (!s->stack)
		return 0;
	return s->nstack < WITNESS_STACK ? s->nstack : WITNESS_STACK;
}

static uint64_t ones(unsigned n)
{
	return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

static void own_memory(struct memory *m)
{
	size_t i, n = copied(m->s);

	if (m->own)
		return;
	m->own = true;
	memset(m->known, 0, sizeof m->known);
	if (n)
		memcpy(m->byte + BELOW, m->s->stack, n);
	for (i = 0; i < n; i += 64)
		m->known[(BELOW + i) / 64] = ones((unsigned)(n - i < 64 ? n - i : 64));
}

static void forget_memory(struct memory *m)
{
	m->own = true;
	memset(m->known, 0, sizeof m->known);
}

/* Of n bytes, at most 8, from byte at on, which are known. */
static uint64_t known_bytes(const struct memory *m, uint64_t at, unsigned n)
{
	unsigned shift = at % 64;
	uint64_t bits = m->known[at / 64] >> shift;

	if (shift + n > 64)
		bits |= m->known[at / 64 + 1] << (64 - shift);
	return bits & ones(n);
}

static void set_known_bytes(struct memory *m, uint64_t at, unsigned n, uint64_t bits)
{
	unsigned shift = at % 64;
	uint64_t *word = &m->known[at / 64];

	word[0] = (word[0] & ~(ones(n) << shift)) | bits << shift;
	if (shift + n > 64)
		word[1] = (word[1] & ~(ones(n) >> (64 - shift))) | bits >> (64 - shift);
}

static uint64_t get_bytes(const uint8_t *p, unsigned size)
{
	switch (size) {
	case 0:
		return *p;
	case 1:
		return get_le16(p);
	case 2:
		return get_le32(p);
	}
	return get_le64(p);
}

static struct tnum load(const struct memory *m, struct tnum address, unsigned size)
{
	uint64_t at = address.v - m->low, n = 1u << size;

	if (address.m || at >= WINDOW || WINDOW - at < n)
		return unknown(size);
	if (m->own)
		return known_bytes(m, at, (unsigned)n) == ones((unsigned)n)
			   ? known(get_bytes(m->byte + at, size))
			   : unknown(size);
	if (at < BELOW || at - BELOW + n > copied(m->s))
		return unknown(size);
	return known(get_bytes(m->s->stack + (at - BELOW), size));
}

/* The bytes of which all bits are known. */
static uint64_t sure_bytes(struct tnum v, unsigned n)
{
	uint64_t sure = 0;
	unsigned i;

	if (!v.m)
		return ones(n);
	for (i = 0; i < n; i++)
		sure |= (uint64_t) !(v.m >> 8 * i & 0xff) << i;
	return sure;
}

/* Some of the n bytes may lie beyond the window. */
static void lose_bytes(struct memory *m, uint64_t at, unsigned n)
{
	for (; n; at++, n--)
		if (at < WINDOW)
			set_known_bytes(m, at, 1, 0);
}

static void store(struct memory *m, struct tnum address, unsigned size, struct tnum v)
{
	uint64_t at = address.v - m->low;
	unsigned n = 1u << size;

	if (address.m) {
		forget_memory(m);
		return;
	}
	if (at >= WINDOW && at + n > n)
		return;
	own_memory(m);
	if (at >= WINDOW || WINDOW - at < n) {
		lose_bytes(m, at, n);
		return;
	}
	set_known_bytes(m, at, n, sure_bytes(v, n));
	memcpy(m->byte + at, &(uint64_t){htole64(v.v)}, n);
}

static void wipe_memory(struct memory *m, struct tnum address, unsigned n)
{
	uint64_t at = address.v - m->low;

	if (address.m) {
		forget_memory(m);
	} else if (at < WINDOW || at + n < n) {
		own_memory(m);
		lose_bytes(m, at, n);
	}
}

/* ---- operands ---- */

static struct tnum reg(const struct state *st, unsigned r)
{
	return (struct tnum){st->v[r], st->m[r]};
}

static struct tnum address_of(const struct state *st, const struct uop *o)
{
	struct tnum a = known((uint64_t)(int64_t)o->disp), x;

	if (o->base == UA_UNKNOWN)
		return unknown(3);
	if (o->base < UR_N)
		a = tnum_plus(a, reg(st, o->base));
	if (o->index < UR_N) {
		x = reg(st, o->index);
		a = tnum_plus(a, (struct tnum){x.v << o->scale, x.m << o->scale});
	}
	return a;
}

static struct tnum read_other(struct state *st, const struct uop *o, uint8_t operand, unsigned size)
{
	struct tnum x;

	switch (operand) {
	case UO_MEM:
		return load(&st->mem, address_of(st, o), size);
	case UO_IMM:
		return known((uint64_t)o->imm & mask(size));
	case UO_UNKNOWN:
		return unknown(size);
	}
	x = reg(st, operand - UO_HIGH);
	return cut((struct tnum){x.v >> 8, x.m >> 8}, 0);
}

static inline struct tnum read_operand(
    struct state *st, const struct uop *o, uint8_t operand, unsigned size)
{
	return operand < UR_N ? cut(reg(st, operand), size) : read_other(st, o, operand, size);
}

static inline void write_bits(
    struct state *st, uint8_t r, struct tnum v, unsigned shift, uint64_t field)
{
	st->v[r] = (st->v[r] & ~field) | v.v << shift;
	st->m[r] = (st->m[r] & ~field) | v.m << shift;
	if (st->code_reg == r)
		st->code_reg = UR_N;
}

static inline void write_reg(struct state *st, uint8_t r, unsigned size, struct tnum v)
{
	write_bits(st, r, v, 0, size < 2 ? mask(size) : UINT64_MAX);
}

static void write_operand(
    struct state *st, const struct uop *o, uint8_t operand, unsigned size, struct tnum v)
{
	if (operand < UR_N)
		write_reg(st, operand, size, v);
	else if (operand == UO_MEM)
		store(&st->mem, address_of(st, o), size, v);
	else if (operand < UO_MEM)
		write_bits(st, operand - UO_HIGH, v, 8, 0xff00);
}

/* ---- flags ---- */

/* For an operation that sets all of them. */
static struct tnum *new_flags(struct state *st)
{
	st->last.kind = UOP_NOP;
	return &st->flags;
}

/* Most operations' flags are never looked at: they are made when they are. */
static void set_flags(struct state *st, uint8_t kind, unsigned size, struct tnum a, struct tnum b)
{
	st->last.a = a;
	st->last.b = b;
	st->last.kind = kind;
	st->last.size = (uint8_t)size;
}

static struct tnum *flags(struct state *st)
{
	struct tnum a = st->last.a, b = st->last.b, *f = &st->flags;
	unsigned size = st->last.size;

	switch (st->last.kind) {
	case UOP_ADD:
		tnum_add(a, b, size, f);
		break;
	case UOP_SUB:
	case UOP_CMP:
		tnum_sub(a, b, size, f);
		break;
	case UOP_AND:
	case UOP_TEST:
		tnum_and(a, b, size, f);
		break;
	case UOP_OR:
		tnum_or(a, b, size, f);
		break;
	case UOP_XOR:
		tnum_xor(a, b, size, f);
		break;
	case UOP_SHL:
	case UOP_SHR:
	case UOP_SAR:
		tnum_shift(st->last.kind, a, b, size, f);
		break;
	}
	return new_flags(st);
}

static void no_flags(struct state *st)
{
	*new_flags(st) = (struct tnum){0, FLAG_ALL};
}

/* ---- instructions ---- */

static struct tnum carry(struct state *st)
{
	struct tnum f = *flags(st);

	return (struct tnum){f.v & FLAG_CF, f.m & FLAG_CF};
}

static void keep_carry(struct tnum *flags, struct tnum old)
{
	flags->v = (flags->v & ~(uint64_t)FLAG_CF) | old.v;
	flags->m = (flags->m & ~(uint64_t)FLAG_CF) | old.m;
}

/* Two operands, result in the first. */
static void arithmetic(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->dst, o->size);
	struct tnum b = read_operand(st, o, o->src, o->size), r = a;

	/* Of one register with itself the value does not matter. */
	if (o->dst == o->src && o->dst < UO_MEM &&
	    (o->kind == UOP_SUB || o->kind == UOP_XOR || o->kind == UOP_CMP))
		a = b = known(0);
	switch (o->kind) {
	case UOP_ADD:
		r = cut(tnum_plus(a, b), o->size);
		break;
	case UOP_SUB:
		r = cut(tnum_minus(a, b), o->size);
		break;
	case UOP_AND:
		r = tnum_both(a, b);
		break;
	case UOP_OR:
		r = tnum_any(a, b);
		break;
	case UOP_XOR:
		r = tnum_differ(a, b);
		break;
	}
	set_flags(st, o->kind, o->size, a, b);
	if (o->kind != UOP_CMP && o->kind != UOP_TEST)
		write_operand(st, o, o->dst, o->size, r);
}

static void with_carry(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->dst, o->size);
	struct tnum b = read_operand(st, o, o->src, o->size), c = carry(st);

	if (o->kind == UOP_ADC)
		a = tnum_adc(a, b, c, o->size, &st->flags);
	else if (o->dst == o->src && o->dst < UO_MEM)
		a = tnum_sbb(known(0), known(0), c, o->size, &st->flags);
	else
		a = tnum_sbb(a, b, c, o->size, &st->flags);
	write_operand(st, o, o->dst, o->size, a);
}

/* A table of distances gives the address in two steps. */
static void add_base(struct state *st, const struct uop *o)
{
	bool code = st->code_reg == o->dst || st->code_reg == o->src;

	write_reg(st, o->dst, 3, tnum_plus(reg(st, o->dst), reg(st, o->src)));
	no_flags(st);
	if (code)
		st->code_reg = o->dst;
}

static void unary(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->dst, o->size), old, r = a;

	switch (o->kind) {
	case UOP_INC:
		old = carry(st);
		r = tnum_add(a, known(1), o->size, &st->flags);
		keep_carry(&st->flags, old);
		break;
	case UOP_DEC:
		old = carry(st);
		r = tnum_sub(a, known(1), o->size, &st->flags);
		keep_carry(&st->flags, old);
		break;
	case UOP_NEG:
		r = cut(tnum_minus(known(0), a), o->size);
		set_flags(st, UOP_SUB, o->size, known(0), a);
		break;
	case UOP_NOT:
		r = (struct tnum){~a.v & ~a.m & mask(o->size), a.m};
		break;
	case UOP_BSWAP:
		r = tnum_bswap(a, o->size);
		break;
	}
	write_operand(st, o, o->dst, o->size, r);
}

static void shifts(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->dst, o->size);
	struct tnum count = read_operand(st, o, o->src, 0), r;
	bool shift = o->kind == UOP_SHL || o->kind == UOP_SHR || o->kind == UOP_SAR;

	if (shift && !count.m && tnum_count(count, o->size)) {
		r = tnum_shifted(o->kind, a, tnum_count(count, o->size), o->size);
		set_flags(st, o->kind, o->size, a, count);
	} else if (o->kind == UOP_SHLD || o->kind == UOP_SHRD)
		r = tnum_double_shift(
		    o->kind, a, cut(reg(st, o->aux), o->size), count, o->size, flags(st));
	else
		r = tnum_shift(o->kind, a, count, o->size, flags(st));
	write_operand(st, o, o->dst, o->size, r);
}

/* dx:ax = ax * src */
static void multiply(struct state *st, const struct uop *o)
{
	struct tnum a = cut(reg(st, UR_AX), o->size), b = read_operand(st, o, o->src, o->size);
	struct tnum low, high = unknown(o->size);
	unsigned __int128 p = (unsigned __int128)a.v * b.v;
	bool over;

	if (o->kind == UOP_IMULA)
		p = (unsigned __int128)((__int128)(int64_t)tnum_sign_extend(a, o->size, 3).v *
					(int64_t)tnum_sign_extend(b, o->size, 3).v);
	low = tnum_imul(a, b, o->size, new_flags(st));
	if (!low.m) {
		high = known((uint64_t)(p >> width(o->size)) & mask(o->size));
		over = o->kind == UOP_MULA ? high.v != 0 : st->flags.v & FLAG_CF;
		st->flags.v = over ? FLAG_CF | FLAG_OF : 0;
	}
	write_reg(st, UR_AX, o->size, low);
	write_reg(st, UR_DX, o->size, high);
}

/* False when it would trap. */
static bool quotient(enum uop_kind kind, unsigned size, unsigned __int128 n, uint64_t d,
    uint64_t *quot, uint64_t *rest)
{
	unsigned up = 128 - 2 * width(size);
	__int128 sn = (__int128)(n << up) >> up, sd = (int64_t)(d << up / 2) >> up / 2, q;

	if (!d)
		return false;
	if (kind == UOP_DIV) {
		*quot = (uint64_t)(n / d);
		*rest = (uint64_t)(n % d);
		return n / d <= mask(size);
	}
	if (sd == -1 && n << up == (unsigned __int128)1 << 127)
		return false;
	q = sn / sd;
	*quot = (uint64_t)q & mask(size);
	*rest = (uint64_t)(sn % sd) & mask(size);
	return q == (int64_t)tnum_sign_extend(known(*quot), size, 3).v;
}

static bool divide(struct state *st, const struct uop *o)
{
	struct tnum low = cut(reg(st, UR_AX), o->size), high = cut(reg(st, UR_DX), o->size);
	struct tnum d = read_operand(st, o, o->src, o->size);
	struct tnum quot = unknown(o->size), rest = unknown(o->size);

	if (!(low.m | high.m | d.m)) {
		quot = rest = known(0);
		if (!quotient(o->kind, o->size,
			(unsigned __int128)high.v << width(o->size) | low.v, d.v, &quot.v, &rest.v))
			return false;
	}
	write_reg(st, UR_AX, o->size, quot);
	write_reg(st, UR_DX, o->size, rest);
	no_flags(st);
	return true;
}

static void sign_dx(struct state *st, const struct uop *o)
{
	int sign = bit(reg(st, UR_AX), width(o->size) - 1);

	write_reg(st, UR_DX, o->size,
	    sign < 0 ? unknown(o->size) : known(sign ? mask(o->size) : 0));
}

static void bit_test(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->dst, o->size);
	struct tnum i = read_operand(st, o, o->src, o->size);
	uint64_t one = (uint64_t)1 << (i.v & (width(o->size) - 1)), old = flags(st)->m;
	bool sure = !(i.m & (width(o->size) - 1));

	st->flags.m = FLAG_ALL & ~(uint64_t)FLAG_ZF;
	st->flags.m |= old & FLAG_ZF;
	st->flags.v &= FLAG_ZF;
	if (o->dst == UO_MEM && o->src != UO_IMM) { /* reaches beyond the operand */
		if (o->kind != UOP_BT)
			forget_memory(&st->mem);
		return;
	}
	if (sure && !(a.m & one)) {
		st->flags.m &= ~(uint64_t)FLAG_CF;
		st->flags.v |= a.v & one ? FLAG_CF : 0;
	}
	if (o->kind == UOP_BT)
		return;
	if (!sure)
		a = unknown(o->size);
	else if (o->kind == UOP_BTC)
		a.v ^= one & ~a.m;
	else
		a = (struct tnum){o->kind == UOP_BTS ? a.v | one : a.v & ~one, a.m & ~one};
	write_operand(st, o, o->dst, o->size, a);
}

/* Flags: ZF where all agree, CF and others not. */
static void bit_scan(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->src, o->size);
	unsigned top = width(o->size) - 1;

	no_flags(st);
	if (a.m || !a.v) {
		/* What a scan of zero leaves depends on the processor. */
		st->flags.m &= o->kind <= UOP_BSR && a.v ? ~(uint64_t)FLAG_ZF : UINT64_MAX;
		if (o->kind == UOP_POPCNT && !a.m)
			st->flags = known(FLAG_ZF);
		write_reg(st, o->dst, 3, o->kind == UOP_POPCNT && !a.m ? known(0) : unknown(3));
		return;
	}
	switch (o->kind) {
	case UOP_BSF:
	case UOP_TZCNT:
		a.v = (uint64_t)__builtin_ctzll(a.v);
		break;
	case UOP_BSR:
		a.v = 63 - (uint64_t)__builtin_clzll(a.v);
		break;
	case UOP_LZCNT:
		a.v = top - (63 - (uint64_t)__builtin_clzll(a.v));
		break;
	default:
		a.v = (uint64_t)__builtin_popcountll(a.v);
		st->flags = known(0);
	}
	if (o->kind == UOP_BSF || o->kind == UOP_BSR)
		st->flags.m &= ~(uint64_t)FLAG_ZF;
	write_reg(st, o->dst, o->size, a);
}

static void conditional_move(struct state *st, const struct uop *o)
{
	struct tnum no = cut(reg(st, o->dst), o->size), yes = read_operand(st, o, o->src, o->size);
	int c = condition(o->aux, *flags(st));

	write_reg(st, o->dst, o->size, c < 0 ? tnum_join(no, yes) : c ? yes : no);
}

static void set_condition(struct state *st, const struct uop *o)
{
	int c = condition(o->aux, *flags(st));

	write_operand(st, o, o->dst, 0, c < 0 ? (struct tnum){0, 1} : known((uint64_t)c));
}

static void exchange(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->dst, o->size);
	struct tnum b = read_operand(st, o, o->src, o->size);

	/* Memory first: its address may be in src. Of one register with itself
	 * the sum stays. */
	if (o->kind == UOP_XADD)
		b = tnum_add(a, b, o->size, new_flags(st));
	if (o->dst == UO_MEM || o->kind == UOP_XCHG)
		write_operand(st, o, o->dst, o->size, b);
	write_operand(st, o, o->src, o->size, a);
	if (o->dst != UO_MEM && o->kind == UOP_XADD)
		write_operand(st, o, o->dst, o->size, b);
}

/* Whether it wrote is not followed up. */
static void compare_exchange(struct state *st, const struct uop *o)
{
	struct tnum a = read_operand(st, o, o->dst, o->size);

	set_flags(st, UOP_CMP, o->size, cut(reg(st, UR_AX), o->size), a);
	if (o->dst == UO_MEM)
		store(&st->mem, address_of(st, o), o->size, unknown(o->size));
	else if (o->dst < UO_MEM)
		write_reg(st, o->dst < UR_N ? o->dst : o->dst - UO_HIGH, 3, unknown(3));
	write_reg(st, UR_AX, 3, unknown(3));
}

static void push(struct state *st, const struct uop *o)
{
	struct tnum v = read_operand(st, o, o->src, o->size);

	write_reg(st, UR_SP, 3, tnum_plus(reg(st, UR_SP), known(-(uint64_t)(1 << o->size))));
	store(&st->mem, reg(st, UR_SP), o->size, v);
}

static struct tnum pop(struct state *st, unsigned size)
{
	struct tnum v = load(&st->mem, reg(st, UR_SP), size);

	write_reg(st, UR_SP, 3, tnum_plus(reg(st, UR_SP), known(1u << size)));
	return v;
}

static void lookup(struct state *st, const struct uop *o)
{
	const struct uops_func *f = &st->u->func.v[st->func];
	const struct uops_table *t = &st->u->table.v[f->table + o->imm];
	struct tnum i = reg(st, o->index);

	write_reg(st, o->dst, 3, unknown(3));
	if (i.m || i.v >= t->n || st->u->target.v[t->first + i.v] == UOPS_NONE)
		return;
	st->code_reg = o->dst;
	st->code_block = st->u->target.v[t->first + i.v];
}

/* Products, single bits, conditions and exchanges; false where it ends. */
static bool step_seldom(struct state *st, const struct uop *o)
{
	struct tnum v;

	switch ((enum uop_kind)o->kind) {
	case UOP_IMUL:
		v = tnum_imul(cut(reg(st, o->dst), o->size), read_operand(st, o, o->src, o->size),
		    o->size, new_flags(st));
		write_reg(st, o->dst, o->size, v);
		return true;
	case UOP_IMUL3:
		v = tnum_imul(read_operand(st, o, o->src, o->size),
		    known((uint64_t)o->imm & mask(o->size)), o->size, new_flags(st));
		write_reg(st, o->dst, o->size, v);
		return true;
	case UOP_MULA:
	case UOP_IMULA:
		multiply(st, o);
		return true;
	case UOP_DIV:
	case UOP_IDIV:
		return divide(st, o);
	case UOP_SIGN_DX:
		sign_dx(st, o);
		return true;
	case UOP_BT:
	case UOP_BTS:
	case UOP_BTR:
	case UOP_BTC:
		bit_test(st, o);
		return true;
	case UOP_BSF:
	case UOP_BSR:
	case UOP_TZCNT:
	case UOP_LZCNT:
	case UOP_POPCNT:
		bit_scan(st, o);
		return true;
	case UOP_SETCC:
		set_condition(st, o);
		return true;
	case UOP_CMOV:
		conditional_move(st, o);
		return true;
	case UOP_XCHG:
	case UOP_XADD:
		exchange(st, o);
		return true;
	case UOP_CMPXCHG:
		compare_exchange(st, o);
		return true;
	default: /* not understood: calls and the ends of blocks do not come here */
		return false;
	}
}

/* Moves, arithmetic and the stack, and by step_seldom() all others; false where it
 * ends. */
static bool step(struct state *st, const struct uop *o)
{
	struct tnum v;

	switch ((enum uop_kind)o->kind) {
	case UOP_NOP:
		break;
	case UOP_FLAGS:
		no_flags(st);
		break;
	case UOP_MOV:
		write_operand(st, o, o->dst, o->size, read_operand(st, o, o->src, o->size));
		break;
	case UOP_MOVZX:
		write_reg(st, o->dst, o->size, read_operand(st, o, o->src, o->aux));
		break;
	case UOP_MOVSX:
		v = read_operand(st, o, o->src, o->aux);
		write_reg(st, o->dst, o->size, tnum_sign_extend(v, o->aux, o->size));
		break;
	case UOP_LEA:
		write_reg(st, o->dst, o->size, cut(address_of(st, o), o->size));
		break;
	case UOP_LOOKUP:
		lookup(st, o);
		break;
	case UOP_ADD:
	case UOP_SUB:
	case UOP_AND:
	case UOP_OR:
	case UOP_XOR:
	case UOP_CMP:
	case UOP_TEST:
		arithmetic(st, o);
		break;
	case UOP_ADC:
	case UOP_SBB:
		with_carry(st, o);
		break;
	case UOP_ADD_BASE:
		add_base(st, o);
		break;
	case UOP_INC:
	case UOP_DEC:
	case UOP_NEG:
	case UOP_NOT:
	case UOP_BSWAP:
		unary(st, o);
		break;
	case UOP_SHL:
	case UOP_SHR:
	case UOP_SAR:
	case UOP_ROL:
	case UOP_ROR:
	case UOP_SHLD:
	case UOP_SHRD:
		shifts(st, o);
		break;
	case UOP_PUSH:
		push(st, o);
		break;
	case UOP_POP:
		v = pop(st, o->size);
		write_operand(st, o, o->dst, o->size, v);
		break;
	case UOP_LEAVE:
		write_reg(st, UR_SP, 3, reg(st, UR_BP));
		write_reg(st, UR_BP, 3, pop(st, 3));
		break;
	case UOP_WIPE:
		wipe_memory(&st->mem, address_of(st, o), 64);
		break;
	default:
		return step_seldom(st, o);
	}
	return true;
}

/* ---- control ---- */

static uint32_t indirect(const struct state *st, const struct uops_block *b)
{
	const struct uops_func *f = &st->u->func.v[st->func];
	const struct witness_sample *s = st->mem.s;
	const struct uops_table *t;
	struct witness_place at;

	if (b->term == UT_REG && st->code_reg == b->reg)
		return st->code_block;
	if (st->m[b->reg])
		return UOPS_NONE;
	if (b->term == UT_LOOKUP) {
		t = &st->u->table.v[f->table + b->to];
		return st->v[b->reg] < t->n ? st->u->target.v[t->first + st->v[b->reg]] : UOPS_NONE;
	}
	if (!s->place_at || !s->place_at(s->arg, st->v[b->reg], &at) || at.func != st->func ||
	    at.offset)
		return UOPS_NONE;
	return at.block < f->nblock ? at.block : UOPS_NONE;
}

static bool told_before(const struct state *st, const struct witness_edge *edge, uint32_t n)
{
	while (n--)
		if (edge[n].from == st->block && edge[n].func == st->func)
			return true;
	return false;
}

/* Where block b goes, or UOPS_NONE; *told: and it could have gone elsewhere. */
static uint32_t successor(struct state *st, const struct uops_block *b, bool *told)
{
	int c;

	*told = false;
	switch (b->term) {
	case UT_GO:
		return b->to;
	case UT_COND:
		c = condition(b->cond, *flags(st));
		*told = true;
		return c < 0 ? UOPS_NONE : c ? b->to : b->other;
	case UT_COND_OUT:
		return condition(b->cond, *flags(st)) == 0 ? b->other : UOPS_NONE;
	case UT_REG:
	case UT_LOOKUP:
		*told = true;
		return indirect(st, b);
	}
	return UOPS_NONE;
}

static void begin(struct state *st, const struct uops *u, const struct witness_sample *s)
{
	st->u = u;
	st->func = s->func;
	st->block = s->block;
	st->uop = s->uop;
	st->out = 0;
	st->idle = 0;
	st->code_reg = UR_N;
	memcpy(st->v, s->gpr, sizeof st->v);
	memset(st->m, 0, sizeof st->m);
	*new_flags(st) = known(s->flags & FLAG_ALL);
	st->mem.s = s;
	st->mem.low = s->gpr[UR_SP] - BELOW;
	st->mem.own = false;
}

static void wipe(struct state *st)
{
	explicit_bzero(st, offsetof(struct state, u));
	if (st->mem.own)
		explicit_bzero(st->mem.byte, sizeof st->mem.byte);
}

/* Those of a set, and the flags. */
static void forget_registers(struct state *st, unsigned set)
{
	no_flags(st);
	for (; set; set &= set - 1)
		write_reg(st, (uint8_t)__builtin_ctz(set), 3, unknown(3));
}

/* Goes on behind a call, as it is when that has come back. */
static bool pass_call(struct state *st, const struct uop *o)
{
	if (o->aux)
		return false;
	forget_memory(&st->mem);
	forget_registers(st, UR_CALLER_SAVED);
	st->uop++;
	return true;
}

/* Goes on where the ways from a block meet again, whichever is taken. */
static bool pass_branch(struct state *st, const struct uops_block *b)
{
	if (b->join == UOPS_NONE)
		return false;
	if (b->stores)
		forget_memory(&st->mem);
	forget_registers(st, b->writes);
	st->idle += WITNESS_BLIND;
	st->block = b->join;
	st->uop = st->u->block.v[st->u->func.v[st->func].block + b->join].uop;
	return true;
}

/* Goes on behind the call that the return address on the stack belongs to. */
static bool pass_return(struct state *st)
{
	const struct witness_sample *s = st->mem.s;
	struct tnum back = pop(st, 3);
	struct witness_place at;
	uint32_t uop;

	if (back.m || !s->place_at || !s->place_at(s->arg, back.v - 1, &at))
		return false;
	uop = uops_behind_call(st->u, at.func, at.block, at.offset + 1);
	if (uop == UOPS_NONE)
		return false;
	st->func = at.func;
	st->block = at.block;
	st->uop = uop;
	st->code_reg = UR_N;
	st->out++;
	return true;
}

static bool pass_block(struct state *st, struct witness_edge *edge, uint32_t *n)
{
	const struct uops_func *f = &st->u->func.v[st->func];
	const struct uops_block *b = &st->u->block.v[f->block + st->block];
	uint32_t next;
	bool told;

	if (b->term == UT_RET)
		return pass_return(st);
	next = successor(st, b, &told);
	if (next == UOPS_NONE)
		return pass_branch(st, b);
	if (told && !told_before(st, edge, *n)) {
		edge[(*n)++] = (struct witness_edge){st->func, st->block, next, st->out};
		st->idle = 0;
	}
	st->block = next;
	st->uop = st->u->block.v[f->block + next].uop;
	return true;
}

/* From one instruction to the next; false where nothing is known of that. */
static bool pass(struct state *st, struct witness_edge *edge, uint32_t *n)
{
	const struct uop *o = &st->u->uop.v[st->uop];

	if (o->kind == UOP_END)
		return pass_block(st, edge, n);
	if (o->kind == UOP_CALL)
		return pass_call(st, o);
	st->uop++;
	return step(st, o);
}

uint32_t witness_run(const struct uops *u, const struct witness_sample *s,
    struct witness_edge edge[WITNESS_EDGES], bool *own)
{
	uint32_t n = 0, steps;
	struct state st;

	begin(&st, u, s);
	for (steps = 0; steps < WITNESS_UOPS && st.idle < WITNESS_IDLE && n < WITNESS_EDGES;
	     steps++, st.idle++)
		if (!pass(&st, edge, &n))
			break;
	wipe(&st);
	*own = n && !edge[0].out && edge[0].from == s->block;
	return n;
}
