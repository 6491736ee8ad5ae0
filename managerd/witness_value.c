#include "managerd/witness_value.h"

static void set_flag(struct tnum *f, uint64_t flag, int value)
{
	f->v = value > 0 ? f->v | flag : f->v & ~flag;
	f->m = value < 0 ? f->m | flag : f->m & ~flag;
}

static int is_zero(struct tnum a)
{
	if (a.v)
		return 0;
	return a.m ? -1 : 1;
}

static int parity(struct tnum a)
{
	return a.m & 0xff ? -1 : !__builtin_parity((unsigned)(a.v & 0xff));
}

/* Those that speak of the result alone. */
static void set_result(struct tnum *f, struct tnum r, unsigned size)
{
	set_flag(f, FLAG_ZF, is_zero(r));
	set_flag(f, FLAG_SF, bit(r, width(size) - 1));
	set_flag(f, FLAG_PF, parity(r));
}

/* Overflow of r = a + b, or with b's sign turned of r = a - b. */
static int overflow(int a, int b, int r)
{
	if (a >= 0 && b >= 0 && a != b)
		return 0;
	return a < 0 || b < 0 || r < 0 ? -1 : r != a;
}

static int auxiliary(struct tnum a, struct tnum b, struct tnum r)
{
	struct tnum x = {a.v ^ b.v ^ r.v, a.m | b.m | r.m};

	return bit(x, 4);
}

struct tnum tnum_add(struct tnum a, struct tnum b, struct tnum carry, unsigned size, struct tnum *f)
{
	unsigned __int128 least = (unsigned __int128)a.v + b.v + carry.v;
	unsigned __int128 most = (unsigned __int128)(a.v | a.m) + (b.v | b.m) + (carry.v | carry.m);
	unsigned top = width(size) - 1;
	struct tnum r = cut(tnum_plus(tnum_plus(a, b), carry), size);

	set_result(f, r, size);
	set_flag(f, FLAG_CF, least > mask(size) ? 1 : most > mask(size) ? -1 : 0);
	set_flag(f, FLAG_OF, overflow(bit(a, top), bit(b, top), bit(r, top)));
	set_flag(f, FLAG_AF, auxiliary(a, b, r));
	return r;
}

struct tnum tnum_sub(
    struct tnum a, struct tnum b, struct tnum borrow, unsigned size, struct tnum *f)
{
	unsigned __int128 least = (unsigned __int128)b.v + borrow.v;
	unsigned __int128 most = (unsigned __int128)(b.v | b.m) + (borrow.v | borrow.m);
	unsigned top = width(size) - 1;
	struct tnum r = cut(tnum_minus(tnum_minus(a, b), borrow), size);
	int sb = bit(b, top);

	set_result(f, r, size);
	if (!(borrow.v | borrow.m) && (a.v ^ b.v) & ~a.m & ~b.m)
		set_flag(f, FLAG_ZF, 0);
	set_flag(f, FLAG_CF, (a.v | a.m) < least ? 1 : a.v < most ? -1 : 0);
	set_flag(f, FLAG_OF, overflow(bit(a, top), sb < 0 ? sb : !sb, bit(r, top)));
	set_flag(f, FLAG_AF, auxiliary(a, b, r));
	return r;
}

static struct tnum logic(struct tnum r, unsigned size, struct tnum *f)
{
	*f = (struct tnum){0, FLAG_AF};
	set_result(f, r, size);
	return r;
}

struct tnum tnum_and(struct tnum a, struct tnum b, unsigned size, struct tnum *f)
{
	return logic(tnum_both(a, b), size, f);
}

struct tnum tnum_or(struct tnum a, struct tnum b, unsigned size, struct tnum *f)
{
	return logic(tnum_any(a, b), size, f);
}

struct tnum tnum_xor(struct tnum a, struct tnum b, unsigned size, struct tnum *f)
{
	return logic(tnum_differ(a, b), size, f);
}

static uint64_t rotated(uint64_t x, unsigned left, unsigned w)
{
	return left ? x << left | x >> (w - left) : x;
}

static struct tnum rotate(
    enum uop_kind kind, struct tnum a, unsigned n, unsigned size, struct tnum *f)
{
	unsigned w = width(size), left = kind == UOP_ROL ? n % w : (w - n % w) % w;
	struct tnum r = cut((struct tnum){rotated(a.v, left, w), rotated(a.m, left, w)}, size);
	int carry = bit(r, kind == UOP_ROL ? 0 : w - 1);
	int other = bit(r, kind == UOP_ROL ? w - 1 : w - 2);

	set_flag(f, FLAG_CF, carry);
	set_flag(f, FLAG_OF, n == 1 && carry >= 0 && other >= 0 ? carry ^ other : -1);
	return r;
}

static int xor_bits(int a, int b)
{
	return a < 0 || b < 0 ? -1 : a ^ b;
}

static struct tnum shift(
    enum uop_kind kind, struct tnum a, unsigned n, unsigned size, struct tnum *f)
{
	struct tnum r = tnum_shifted(kind, a, n, size);
	unsigned w = width(size), top = w - 1;
	int carry = n > w ? -1 : bit(a, kind == UOP_SHL ? w - n : n - 1), over = 0;

	if (kind == UOP_SHL)
		over = xor_bits(carry, bit(r, top));
	else if (kind == UOP_SHR)
		over = bit(a, top);
	*f = (struct tnum){0, FLAG_AF};
	set_result(f, r, size);
	set_flag(f, FLAG_CF, carry);
	set_flag(f, FLAG_OF, n == 1 ? over : -1);
	return r;
}

/* A count is taken modulo 64 or 32. True when it is known; *n gets it. */
static bool shift_count(struct tnum count, unsigned size, unsigned *n)
{
	*n = tnum_count(count, size);
	return !tnum_count(known(count.m), size);
}

struct tnum tnum_shift(
    enum uop_kind kind, struct tnum a, struct tnum count, unsigned size, struct tnum *f)
{
	bool turn = kind == UOP_ROL || kind == UOP_ROR;
	uint64_t touched = turn ? FLAG_CF | FLAG_OF : FLAG_ALL;
	unsigned n;

	if (!shift_count(count, size, &n)) {
		f->v &= ~touched;
		f->m |= touched;
		return unknown(size);
	}
	if (!n)
		return a;
	return turn ? rotate(kind, a, n, size, f) : shift(kind, a, n, size, f);
}

struct tnum tnum_double_shift(enum uop_kind kind, struct tnum a, struct tnum b, struct tnum count,
    unsigned size, struct tnum *f)
{
	unsigned w = width(size), n;
	struct tnum r;
	int carry;

	if (!shift_count(count, size, &n) || n >= w) {
		*f = (struct tnum){0, FLAG_ALL};
		return unknown(size);
	}
	if (!n)
		return a;
	if (kind == UOP_SHLD) {
		r = (struct tnum){a.v << n | b.v >> (w - n), a.m << n | b.m >> (w - n)};
		carry = bit(a, w - n);
	} else {
		r = (struct tnum){a.v >> n | b.v << (w - n), a.m >> n | b.m << (w - n)};
		carry = bit(a, n - 1);
	}
	r = cut(r, size);
	*f = (struct tnum){0, FLAG_AF};
	set_result(f, r, size);
	set_flag(f, FLAG_CF, carry);
	set_flag(f, FLAG_OF, n == 1 ? xor_bits(bit(a, w - 1), bit(r, w - 1)) : -1);
	return r;
}

struct tnum tnum_imul(struct tnum a, struct tnum b, unsigned size, struct tnum *f)
{
	__int128 p = (__int128)tnum_extended(a.v, size) * tnum_extended(b.v, size);
	struct tnum r = known((uint64_t)p & mask(size));
	int over = p != tnum_extended(r.v, size);

	*f = (struct tnum){0, FLAG_ALL};
	if (a.m || b.m)
		return unknown(size);
	set_flag(f, FLAG_CF, over);
	set_flag(f, FLAG_OF, over);
	return r;
}

struct tnum tnum_sign_extend(struct tnum a, unsigned from, unsigned to)
{
	return cut((struct tnum){(uint64_t)tnum_extended(a.v, from),
		       (uint64_t)tnum_extended(a.m, from)},
	    to);
}

struct tnum tnum_bswap(struct tnum a, unsigned size)
{
	unsigned down = 64 - width(size);

	return (struct tnum){__builtin_bswap64(a.v) >> down, __builtin_bswap64(a.m) >> down};
}

struct tnum tnum_join(struct tnum a, struct tnum b)
{
	uint64_t m = a.m | b.m | (a.v ^ b.v);

	return (struct tnum){a.v & ~m, m};
}

static int flag(struct tnum f, uint64_t which)
{
	return f.m & which ? -1 : (f.v & which) != 0;
}

static int either(int a, int b)
{
	if (a > 0 || b > 0)
		return 1;
	return a < 0 || b < 0 ? -1 : 0;
}

int condition(unsigned cond, struct tnum f)
{
	int less = xor_bits(flag(f, FLAG_SF), flag(f, FLAG_OF)), yes = -1;

	switch (cond >> 1) {
	case 0:
		yes = flag(f, FLAG_OF);
		break;
	case 1:
		yes = flag(f, FLAG_CF);
		break;
	case 2:
		yes = flag(f, FLAG_ZF);
		break;
	case 3:
		yes = either(flag(f, FLAG_CF), flag(f, FLAG_ZF));
		break;
	case 4:
		yes = flag(f, FLAG_SF);
		break;
	case 5:
		yes = flag(f, FLAG_PF);
		break;
	case 6:
		yes = less;
		break;
	case 7:
		yes = either(less, flag(f, FLAG_ZF));
		break;
	}
	return yes < 0 ? yes : yes ^ (int)(cond & 1);
}
