#include "managerd/replay/past.h"
#include "common/le.h"

#include <stddef.h>
#include <string.h>

/* ---- memory ---- */

static bool on_stack(const struct past *p, uint64_t at, uint64_t n)
{
	return p->low <= at && at < p->high && p->high - at >= n;
}

struct tnum past_load(const struct past *p, uint64_t at, unsigned size)
{
	uint32_t i;

	if (on_stack(p, at, 1u << size))
		return known(get_le(p->stack + (at - p->low), size));
	for (i = 0; i < p->nseen; i++)
		if (p->seen[i].at == at && p->seen[i].size == size)
			return known(p->seen[i].v);
	return unknown(size);
}

void past_learn_memory(struct past *p, uint64_t at, unsigned size, struct tnum v)
{
	struct tnum was = past_load(p, at, size);

	learn_bits(p, &was, v);
	if (v.m || on_stack(p, at, 1))
		return;
	p->seen[p->nseen % PAST_SEEN].at = at;
	p->seen[p->nseen % PAST_SEEN].v = v.v;
	p->seen[p->nseen % PAST_SEEN].size = size;
	p->nseen += p->nseen < PAST_SEEN;
}

void past_forget_memory(struct past *p)
{
	p->nseen = 0;
	p->high = p->low;
}

void past_forget_bytes(struct past *p, uint64_t at, unsigned n)
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

struct tnum past_address(const struct past *p, const struct uop *o)
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

struct tnum past_other_value(
    const struct past *p, const struct uop *o, uint8_t operand, unsigned size)
{
	struct tnum x;

	switch (operand) {
	case UO_MEM:
		x = past_address(p, o);
		return x.m ? unknown(size) : past_load(p, x.v, size);
	case UO_IMM:
		return known((uint64_t)o->imm & mask(size));
	case UO_UNKNOWN:
		return unknown(size);
	}
	x = p->reg[operand - UO_HIGH];
	return cut((struct tnum){x.v >> 8, x.m >> 8}, 0);
}

void past_learn_other(
    struct past *p, const struct uop *o, uint8_t operand, unsigned size, struct tnum v)
{
	struct tnum x;

	if (operand < UO_MEM) {
		learn_bits(p, &p->reg[operand - UO_HIGH],
		    (struct tnum){v.v << 8, v.m << 8 | ~UINT64_C(0xff00)});
	} else if (operand == UO_MEM) {
		x = past_address(p, o);
		if (!x.m)
			past_learn_memory(p, x.v, size, v);
	} else if (operand == UO_IMM) {
		x = past_other_value(p, o, operand, size);
		learn_bits(p, &x, v);
	}
}

struct tnum past_other_result(struct past *p, const struct uop *o)
{
	struct tnum r = past_other_value(p, o, o->dst, o->size), at;

	if (o->dst < UO_MEM) {
		p->reg[o->dst - UO_HIGH].v &= ~UINT64_C(0xff00);
		p->reg[o->dst - UO_HIGH].m |= 0xff00;
	} else if (o->dst == UO_MEM) {
		at = past_address(p, o);
		if (at.m)
			past_forget_memory(p);
		else
			past_forget_bytes(p, at.v, 1u << o->size);
	} else {
		p->nseen = 0; /* a variable */
	}
	return r;
}

/* ---- as a whole ---- */

void past_begin(struct past *p, const struct replay_sample *s)
{
	size_t n = s->nstack < REPLAY_STACK ? s->nstack : REPLAY_STACK;
	unsigned r;

	for (r = 0; r < UR_N; r++)
		p->reg[r] = known(s->gpr[r]);
	p->flags = known(s->flags & FLAG_ALL);
	p->cond = PAST_ANY;
	p->never = false;
	p->nseen = 0;
	p->stack = s->stack;
	p->low = s->gpr[UR_SP];
	p->high = p->low + (s->stack && p->low + n > p->low ? n : 0);
}

void past_copy(struct past *to, const struct past *p)
{
	memcpy(to, p, offsetof(struct past, seen) + p->nseen * sizeof *p->seen);
}
