#include "managerd/replay/value.h"

static void set_flag(struct tnum *f, uint64_t flag, int value)
{
	f->v = value > 0 ? f->v | flag : f->v & ~flag;
	f->m = value < 0 ? f->m | flag : f->m & ~flag;
}

/* Those that speak of the result alone. */
static inline __attribute__((always_inline)) struct tnum result_flags(struct tnum r, unsigned size)
{
	unsigned top = width(size) - 1;
	uint64_t some = r.m != 0, odd = (r.m & 0xff) != 0;
	struct tnum f;

	f.v = (r.v | r.m ? 0 : FLAG_ZF) | (r.v >> top & 1) * FLAG_SF |
	      (!__builtin_parity((unsigned)(r.v & 0xff)) & !odd) * FLAG_PF;
	f.m = (r.v ? 0 : some * FLAG_ZF) | (r.m >> top & 1) * FLAG_SF | odd * FLAG_PF;
	return f;
}

/* Flag `to` as bit `at` of x. */
static inline void add_flag(struct tnum *f, uint64_t to, struct tnum x, unsigned at)
{
	f->v |= (x.v >> at & 1) * to;
	f->m |= (x.m >> at & 1) * to;
}

/* Of r = a + b, or with b's bits turned of r = a - b: not where the signs differ. */
static inline struct tnum overflow(struct tnum a, struct tnum b, struct tnum r)
{
	uint64_t differ = (a.v ^ b.v) & ~(a.m | b.m), m = (a.m | b.m | r.m) & ~differ;

	return (struct tnum){(r.v ^ a.v) & ~differ & ~m, m};
}

/* Is a + carry > b? */
static inline bool above(uint64_t a, uint64_t b, uint64_t carry)
{
	return a > b || (a == b && carry);
}

static inline __attribute__((always_inline)) struct tnum add(
    struct tnum a, struct tnum b, struct tnum carry, unsigned size, struct tnum *f)
{
	struct tnum r = cut(tnum_plus(tnum_plus(a, b), carry), size);
	bool over = above(a.v, ~b.v & mask(size), carry.v);
	bool may = above(a.v | a.m, ~(b.v | b.m) & mask(size), carry.v | carry.m);

	*f = result_flags(r, size);
	add_flag(f, FLAG_CF, (struct tnum){over, may & !over}, 0);
	add_flag(f, FLAG_OF, overflow(a, b, r), width(size) - 1);
	add_flag(f, FLAG_AF, tnum_differ(tnum_differ(a, b), r), 4);
	return r;
}

struct tnum tnum_adc(struct tnum a, struct tnum b, struct tnum carry, unsigned size, struct tnum *f)
{
	return add(a, b, carry, size, f);
}

/* Of r = a + b, or with b's bits turned of r = a - b, when all bits are known. */
static inline uint64_t flags_known(uint64_t a, uint64_t b, uint64_t r, bool carry, unsigned size)
{
	unsigned top = width(size) - 1;
	uint64_t over = (r ^ a) & ~(a ^ b);

	return carry * FLAG_CF | !__builtin_parity((unsigned)(r & 0xff)) * FLAG_PF | !r * FLAG_ZF |
	       (r >> top & 1) * FLAG_SF | (over >> top & 1) * FLAG_OF;
}

struct tnum tnum_add(struct tnum a, struct tnum b, unsigned size, struct tnum *f)
{
	uint64_t r = (a.v + b.v) & mask(size);

	if (!(a.m | b.m)) {
		*f = known(flags_known(a.v, b.v, r, r < a.v, size) | ((a.v ^ b.v ^ r) & FLAG_AF));
		return known(r);
	}
	return add(a, b, known(0), size, f);
}

static inline __attribute__((always_inline)) struct tnum sub(
    struct tnum a, struct tnum b, struct tnum borrow, unsigned size, struct tnum *f)
{
	struct tnum r = cut(tnum_minus(tnum_minus(a, b), borrow), size);
	bool over = above(b.v, a.v | a.m, borrow.v);
	bool may = above(b.v | b.m, a.v, borrow.v | borrow.m);

	*f = result_flags(r, size);
	if (!(borrow.v | borrow.m) && (a.v ^ b.v) & ~a.m & ~b.m)
		set_flag(f, FLAG_ZF, 0);
	add_flag(f, FLAG_CF, (struct tnum){over, may & !over}, 0);
	add_flag(f, FLAG_OF, overflow(a, (struct tnum){~b.v & ~b.m, b.m}, r), width(size) - 1);
	add_flag(f, FLAG_AF, tnum_differ(tnum_differ(a, b), r), 4);
	return r;
}

struct tnum tnum_sbb(
    struct tnum a, struct tnum b, struct tnum borrow, unsigned size, struct tnum *f)
{
	return sub(a, b, borrow, size, f);
}

struct tnum tnum_sub(struct tnum a, struct tnum b, unsigned size, struct tnum *f)
{
	uint64_t r = (a.v - b.v) & mask(size);

	if (!(a.m | b.m)) {
		*f =
		    known(flags_known(a.v, ~b.v, r, a.v < b.v, size) | ((a.v ^ b.v ^ r) & FLAG_AF));
		return known(r);
	}
	if (a.m == mask(size) || b.m == mask(size)) { /* borrows of nothing but 0, or to the most */
		*f = (struct tnum){0, (b.v | b.m) > a.v ? FLAG_ALL : FLAG_ALL & ~FLAG_CF};
		return unknown(size);
	}
	return sub(a, b, known(0), size, f);
}

static struct tnum logic(struct tnum r, unsigned size, struct tnum *f)
{
	*f = result_flags(r, size);
	f->m |= FLAG_AF;
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
	logic(r, size, f);
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
	logic(r, size, f);
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
	return cut(
	    (struct tnum){(uint64_t)tnum_extended(a.v, from), (uint64_t)tnum_extended(a.m, from)},
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

/* Any of these flags makes it true. LESS represents one more, SF != OF. */
enum { LESS = 2 };
static const uint16_t flags_of[UC_N / 2] = {
    FLAG_OF, FLAG_CF, FLAG_ZF, FLAG_CF | FLAG_ZF, FLAG_SF, FLAG_PF, LESS, LESS | FLAG_ZF};

int condition(unsigned cond, struct tnum f)
{
	uint64_t of = flags_of[cond >> 1], m = (f.m / FLAG_SF | f.m / FLAG_OF) & 1;
	uint64_t v = (f.v / FLAG_SF ^ f.v / FLAG_OF) & 1 & ~m;
	int no = (int)(cond & 1);

	if ((f.v | v * LESS) & of)
		return 1 ^ no;
	return (f.m | m * LESS) & of ? -1 : no;
}
