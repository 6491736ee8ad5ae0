#include "managerd/replay/operand.h"

bool eval_imul(struct machine *m, const struct uop *o)
{
	struct tnum a = cut(machine_reg(m, o->dst), o->size), b = read_src(m, o);

	write_reg(m, o->dst, o->size, tnum_imul(a, b, o->size, new_flags(m)));
	return true;
}

bool eval_imul3(struct machine *m, const struct uop *o)
{
	struct tnum a = read_src(m, o), b = known((uint64_t)o->imm & mask(o->size));

	write_reg(m, o->dst, o->size, tnum_imul(a, b, o->size, new_flags(m)));
	return true;
}

/* dx:ax = ax * src */
bool eval_multiply(struct machine *m, const struct uop *o)
{
	struct tnum a = cut(machine_reg(m, UR_AX), o->size), b = read_src(m, o);
	struct tnum low, high = unknown(o->size);
	unsigned __int128 p = (unsigned __int128)a.v * b.v;
	bool over;

	if (o->kind == UOP_IMULA)
		p = (unsigned __int128)((__int128)(int64_t)tnum_sign_extend(a, o->size, 3).v *
					(int64_t)tnum_sign_extend(b, o->size, 3).v);
	low = tnum_imul(a, b, o->size, new_flags(m));
	if (!low.m) {
		high = known((uint64_t)(p >> width(o->size)) & mask(o->size));
		over = o->kind == UOP_MULA ? high.v != 0 : m->flags.v & FLAG_CF;
		m->flags.v = over ? FLAG_CF | FLAG_OF : 0;
	}
	write_reg(m, UR_AX, o->size, low);
	write_reg(m, UR_DX, o->size, high);
	return true;
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

bool eval_divide(struct machine *m, const struct uop *o)
{
	struct tnum low = cut(machine_reg(m, UR_AX), o->size),
		    high = cut(machine_reg(m, UR_DX), o->size);
	struct tnum d = read_src(m, o);
	struct tnum quot = unknown(o->size), rest = unknown(o->size);

	if (!(low.m | high.m | d.m)) {
		quot = rest = known(0);
		if (!quotient(o->kind, o->size, (unsigned __int128)high.v << width(o->size) | low.v,
			d.v, &quot.v, &rest.v))
			return false;
	}
	write_reg(m, UR_AX, o->size, quot);
	write_reg(m, UR_DX, o->size, rest);
	no_flags(m);
	return true;
}

bool eval_sign_dx(struct machine *m, const struct uop *o)
{
	int sign = bit(machine_reg(m, UR_AX), width(o->size) - 1);

	write_reg(m, UR_DX, o->size, sign < 0 ? unknown(o->size) : known(sign ? mask(o->size) : 0));
	return true;
}

bool eval_bit_test(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o);
	struct tnum i = read_src(m, o);
	uint64_t one = (uint64_t)1 << (i.v & (width(o->size) - 1)), old = machine_flags(m)->m;
	bool sure = !(i.m & (width(o->size) - 1));

	m->flags.m = FLAG_ALL & ~(uint64_t)FLAG_ZF;
	m->flags.m |= old & FLAG_ZF;
	m->flags.v &= FLAG_ZF;
	if (o->dst == UO_MEM && o->src != UO_IMM) { /* reaches beyond the operand */
		if (o->kind != UOP_BT)
			memory_forget(&m->mem);
		return true;
	}
	if (sure && !(a.m & one)) {
		m->flags.m &= ~(uint64_t)FLAG_CF;
		m->flags.v |= a.v & one ? FLAG_CF : 0;
	}
	if (o->kind == UOP_BT)
		return true;
	if (!sure)
		a = unknown(o->size);
	else if (o->kind == UOP_BTC)
		a.v ^= one & ~a.m;
	else
		a = (struct tnum){o->kind == UOP_BTS ? a.v | one : a.v & ~one, a.m & ~one};
	write_dst(m, o, a);
	return true;
}

/* Flags: ZF where all agree, CF and others not. */
bool eval_bit_scan(struct machine *m, const struct uop *o)
{
	struct tnum a = read_src(m, o);
	unsigned top = width(o->size) - 1;

	no_flags(m);
	if (a.m || !a.v) {
		/* What a scan of zero leaves depends on the processor. */
		m->flags.m &= o->kind <= UOP_BSR && a.v ? ~(uint64_t)FLAG_ZF : UINT64_MAX;
		if (o->kind == UOP_POPCNT && !a.m)
			m->flags = known(FLAG_ZF);
		write_reg(m, o->dst, 3, o->kind == UOP_POPCNT && !a.m ? known(0) : unknown(3));
		return true;
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
		m->flags = known(0);
	}
	if (o->kind == UOP_BSF || o->kind == UOP_BSR)
		m->flags.m &= ~(uint64_t)FLAG_ZF;
	write_reg(m, o->dst, o->size, a);
	return true;
}

bool eval_cmov(struct machine *m, const struct uop *o)
{
	struct tnum no = cut(machine_reg(m, o->dst), o->size), yes = read_src(m, o);
	int c = condition(o->aux, *machine_flags(m));

	write_reg(m, o->dst, o->size, c < 0 ? tnum_join(no, yes) : c ? yes : no);
	return true;
}

bool eval_setcc(struct machine *m, const struct uop *o)
{
	int c = condition(o->aux, *machine_flags(m));

	write_dst(m, o, c < 0 ? (struct tnum){0, 1} : known((uint64_t)c));
	return true;
}

bool eval_exchange(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o);
	struct tnum b = read_src(m, o);

	/* Memory first: its address may be in src. Of one register with itself
	 * the sum stays. */
	if (o->kind == UOP_XADD)
		b = tnum_add(a, b, o->size, new_flags(m));
	if (o->dst == UO_MEM || o->kind == UOP_XCHG)
		write_dst(m, o, b);
	write_operand(m, o, o->src, a);
	if (o->dst != UO_MEM && o->kind == UOP_XADD)
		write_dst(m, o, b);
	return true;
}

/* Whether it wrote is not followed up. */
bool eval_cmpxchg(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o);

	set_flags(m, tnum_sub, o->size, cut(machine_reg(m, UR_AX), o->size), a);
	if (o->dst == UO_MEM)
		store_operand(m, o, o->size, unknown(o->size));
	else if (o->dst < UO_MEM)
		write_reg(m, o->dst < UR_N ? o->dst : o->dst - UO_HIGH, 3, unknown(3));
	write_reg(m, UR_AX, 3, unknown(3));
	return true;
}
