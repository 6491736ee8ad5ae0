/*
 * What is known of the time before an instruction, while instructions are undone
 * from a sample backward: registers and flags bit by bit, the top of the stack as
 * it was copied, and memory that was loaded since. For
 * backward replay alone (managerd/replay/backward.h).
 */
#ifndef MORPH_MANAGERD_REPLAY_PAST_H
#define MORPH_MANAGERD_REPLAY_PAST_H

#include "managerd/replay/forward.h"
#include "managerd/replay/value.h"

enum { PAST_SEEN = 8, PAST_ANY = -1 };

struct past {
	struct tnum reg[UR_N];
	struct tnum flags;
	int cond;   /* that these flags meet, or PAST_ANY */
	bool never; /* it was not so */
	uint32_t nseen;
	const uint8_t *stack; /* what lies at [low, high), as sampled */
	uint64_t low, high;
	struct { /* memory that a later instruction loaded; the last of the struct */
		uint64_t at, v;
		unsigned size;
	} seen[PAST_SEEN];
};

/* All that the sample has; its stack is borrowed. */
void past_begin(struct past *p, const struct replay_sample *s);
void past_copy(struct past *to, const struct past *p);
/* Undoes the n instructions before o, backward; returns how many. Fewer where nothing
 * is known of what was before one, or one was not so: p->never. */
uint32_t past_undo(struct past *p, const struct uop *o, uint32_t n);

/* ---- how instructions are undone ---- */

struct tnum past_address(const struct past *p, const struct uop *o);
struct tnum past_load(const struct past *p, uint64_t at, unsigned size);
void past_learn_memory(struct past *p, uint64_t at, unsigned size, struct tnum v);
void past_forget_memory(struct past *p);
/* Before a store the n bytes there may have been others. */
void past_forget_bytes(struct past *p, uint64_t at, unsigned n);
/* Of operands that are no register. */
struct tnum past_other_value(
    const struct past *p, const struct uop *o, uint8_t operand, unsigned size);
void past_learn_other(
    struct past *p, const struct uop *o, uint8_t operand, unsigned size, struct tnum v);
struct tnum past_other_result(struct past *p, const struct uop *o);

static inline void learn_bits(struct past *p, struct tnum *of, struct tnum v)
{
	p->never |= ((of->v ^ v.v) & ~of->m & ~v.m) != 0;
	of->v |= v.v;
	of->m &= v.m;
}

static inline struct tnum value(
    const struct past *p, const struct uop *o, uint8_t operand, unsigned size)
{
	return operand < UR_N ? cut(p->reg[operand], size) : past_other_value(p, o, operand, size);
}

/* v is cut to size. */
static inline void learn(
    struct past *p, const struct uop *o, uint8_t operand, unsigned size, struct tnum v)
{
	if (operand < UR_N)
		learn_bits(p, &p->reg[operand], (struct tnum){v.v, v.m | ~mask(size)});
	else
		past_learn_other(p, o, operand, size, v);
}

static inline void forget_reg(struct past *p, uint8_t r)
{
	p->reg[r] = unknown(3);
}

/* What the instruction left in its destination, which before it held anything. */
static inline struct tnum result(struct past *p, const struct uop *o)
{
	uint64_t lost = o->size < 2 ? mask(o->size) : UINT64_MAX;
	struct tnum *to, r;

	if (o->dst >= UR_N)
		return past_other_result(p, o);
	to = &p->reg[o->dst];
	r = cut(*to, o->size);
	p->never |= o->size == 2 && to->v >> 32;
	to->v &= ~lost;
	to->m |= lost;
	return r;
}

#endif
