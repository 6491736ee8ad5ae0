/*
 * Values of which some bits are known, and the flags that operations on them
 * leave.
 * Addition and subtraction: Vishwanathan et al., "Sound, precise, and fast
 * abstract interpretation with tristate numbers" (CGO 2022). Flags: Intel SDM
 * volume 2; what it calls undefined is unknown.
 */
#ifndef MORPH_MANAGERD_REPLAY_VALUE_H
#define MORPH_MANAGERD_REPLAY_VALUE_H

#include "common/uops.h"

struct tnum {
	uint64_t v; /* bits known to be 1 */
	uint64_t m; /* bits that are not known; v & m == 0 */
};

enum {
	FLAG_CF = 1,
	FLAG_PF = 4,
	FLAG_AF = 16,
	FLAG_ZF = 64,
	FLAG_SF = 128,
	FLAG_OF = 2048,
	FLAG_ALL = FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF
};

/* size: log2 of bytes, as in struct uop. */
static inline unsigned width(unsigned size)
{
	return 8u << size;
}

static inline uint64_t mask(unsigned size)
{
	static const uint64_t of[] = {UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX};

	return of[size];
}

static inline struct tnum known(uint64_t v)
{
	return (struct tnum){v, 0};
}

static inline struct tnum unknown(unsigned size)
{
	return (struct tnum){0, mask(size)};
}

static inline struct tnum cut(struct tnum a, unsigned size)
{
	return (struct tnum){a.v & mask(size), a.m & mask(size)};
}

/* One bit: 0, 1, or -1 for not known. */
static inline int bit(struct tnum a, unsigned i)
{
	return a.m >> i & 1 ? -1 : (int)(a.v >> i & 1);
}

/* ---- values alone; sum and difference are of all 64 bits ---- */

static inline struct tnum tnum_plus(struct tnum a, struct tnum b)
{
	uint64_t m = a.m + b.m, v = a.v + b.v;
	uint64_t mu = ((m + v) ^ v) | a.m | b.m;

	return (struct tnum){v & ~mu, mu};
}

static inline struct tnum tnum_minus(struct tnum a, struct tnum b)
{
	uint64_t d = a.v - b.v;
	uint64_t mu = ((d + a.m) ^ (d - b.m)) | a.m | b.m;

	return (struct tnum){d & ~mu, mu};
}

static inline struct tnum tnum_both(struct tnum a, struct tnum b)
{
	uint64_t may = (a.v | a.m) & (b.v | b.m), must = a.v & b.v;

	return (struct tnum){must, may & ~must};
}

static inline struct tnum tnum_any(struct tnum a, struct tnum b)
{
	uint64_t must = a.v | b.v;

	return (struct tnum){must, (a.m | b.m) & ~must};
}

static inline struct tnum tnum_differ(struct tnum a, struct tnum b)
{
	uint64_t m = a.m | b.m;

	return (struct tnum){(a.v ^ b.v) & ~m, m};
}

/* What a known count of a shift comes to. */
static inline unsigned tnum_count(struct tnum count, unsigned size)
{
	return (unsigned)count.v & (size == 3 ? 63 : 31);
}

static inline int64_t tnum_extended(uint64_t x, unsigned size)
{
	unsigned up = 64 - width(size);

	return (int64_t)(x << up) >> up;
}

/* By n < 64. */
static inline struct tnum tnum_shifted(enum uop_kind kind, struct tnum a, unsigned n, unsigned size)
{
	struct tnum r;

	if (kind == UOP_SHL)
		r = (struct tnum){a.v << n, a.m << n};
	else if (kind == UOP_SHR)
		r = (struct tnum){a.v >> n, a.m >> n};
	else
		r = (struct tnum){(uint64_t)(tnum_extended(a.v, size) >> n),
		    (uint64_t)(tnum_extended(a.m, size) >> n)};
	return cut(r, size);
}

/* ---- with flags ---- */

/* Operands and results are cut to size; *f is what the flags become. Each
 * function sets all of *f but those it says to leave alone. */
struct tnum tnum_add(struct tnum a, struct tnum b, unsigned size, struct tnum *f);
struct tnum tnum_adc(
    struct tnum a, struct tnum b, struct tnum carry, unsigned size, struct tnum *f);
struct tnum tnum_sub(struct tnum a, struct tnum b, unsigned size, struct tnum *f);
struct tnum tnum_sbb(
    struct tnum a, struct tnum b, struct tnum borrow, unsigned size, struct tnum *f);
struct tnum tnum_and(struct tnum a, struct tnum b, unsigned size, struct tnum *f);
struct tnum tnum_or(struct tnum a, struct tnum b, unsigned size, struct tnum *f);
struct tnum tnum_xor(struct tnum a, struct tnum b, unsigned size, struct tnum *f);
/* kind: UOP_SHL, UOP_SHR, UOP_SAR, UOP_ROL, UOP_ROR. A count of 0 leaves all
 * flags alone, a rotation all except CF and OF. */
struct tnum tnum_shift(
    enum uop_kind kind, struct tnum a, struct tnum count, unsigned size, struct tnum *f);
/* kind: UOP_SHLD, UOP_SHRD; the bits of b come in. */
struct tnum tnum_double_shift(enum uop_kind kind, struct tnum a, struct tnum b, struct tnum count,
    unsigned size, struct tnum *f);
struct tnum tnum_imul(struct tnum a, struct tnum b, unsigned size, struct tnum *f);
struct tnum tnum_sign_extend(struct tnum a, unsigned from, unsigned to);
struct tnum tnum_bswap(struct tnum a, unsigned size);
/* Either of both. */
struct tnum tnum_join(struct tnum a, struct tnum b);
/* 1 true, 0 false, -1 not known. */
int condition(unsigned cond, struct tnum flags);

#endif
