/* How the evaluator's instructions read and write; for its own sources alone. */
#ifndef MORPH_MANAGERD_REPLAY_OPERAND_H
#define MORPH_MANAGERD_REPLAY_OPERAND_H

#include "managerd/replay/machine.h"

/* One instruction; false where it is not known what it does. */
typedef bool evaluate(struct machine *m, const struct uop *o);

/* Products, quotients, single bits, conditions and exchanges. */
evaluate eval_imul, eval_imul3, eval_multiply, eval_divide, eval_sign_dx, eval_bit_test,
    eval_bit_scan, eval_setcc, eval_cmov, eval_exchange, eval_cmpxchg;

struct tnum read_other(struct machine *m, const struct uop *o, uint8_t operand, unsigned size);
void write_other(
    struct machine *m, const struct uop *o, uint8_t operand, unsigned size, struct tnum v);
void store_operand(struct machine *m, const struct uop *o, unsigned size, struct tnum v);

static inline struct tnum read_operand(
    struct machine *m, const struct uop *o, uint8_t operand, unsigned size)
{
	return operand < UR_N ? cut(machine_reg(m, operand), size)
			      : read_other(m, o, operand, size);
}

static inline struct tnum read_dst(struct machine *m, const struct uop *o)
{
	return read_operand(m, o, o->dst, o->size);
}

static inline struct tnum read_src(struct machine *m, const struct uop *o)
{
	return read_operand(m, o, o->src, o->size);
}

/* v is cut to size; 4 bytes zero those above. */
static inline void write_reg(struct machine *m, uint8_t r, unsigned size, struct tnum v)
{
	uint64_t keep = size < 2 ? ~mask(size) : 0;

	m->v[r] = (m->v[r] & keep) | v.v;
	m->m[r] = (m->m[r] & keep) | v.m;
	if (m->code_reg == r)
		m->code_reg = UR_N;
}

static inline void write_operand(
    struct machine *m, const struct uop *o, uint8_t operand, struct tnum v)
{
	if (operand < UR_N)
		write_reg(m, operand, o->size, v);
	else
		write_other(m, o, operand, o->size, v);
}

static inline void write_dst(struct machine *m, const struct uop *o, struct tnum v)
{
	write_operand(m, o, o->dst, v);
}

/* For an operation that sets all of them. */
static inline struct tnum *new_flags(struct machine *m)
{
	m->last.of = NULL;
	return &m->flags;
}

static inline void no_flags(struct machine *m)
{
	*new_flags(m) = (struct tnum){0, FLAG_ALL};
}

/* Most operations' flags are never looked at: they are made when they are. */
static inline void set_flags(
    struct machine *m, flags_of *of, unsigned size, struct tnum a, struct tnum b)
{
	m->last.a = a;
	m->last.b = b;
	m->last.of = of;
	m->last.size = size;
}

#endif
