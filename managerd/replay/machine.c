#include "managerd/replay/operand.h"

#include <string.h>

/* ---- operands ---- */

/* False where it is not known. */
static inline bool address(const struct machine *m, const struct uop *o, uint64_t *at)
{
	uint64_t a = (uint64_t)(int64_t)o->disp, hidden = 0;

	if (o->base < UR_N) {
		a += m->v[o->base];
		hidden = m->m[o->base];
	} else if (o->base == UA_UNKNOWN) {
		return false;
	}
	if (o->index < UR_N) {
		a += m->v[o->index] << o->scale;
		hidden |= m->m[o->index] << o->scale;
	}
	*at = a;
	return !hidden;
}

static struct tnum address_value(const struct machine *m, const struct uop *o)
{
	struct tnum a = known((uint64_t)(int64_t)o->disp), x;

	if (o->base == UA_UNKNOWN)
		return unknown(3);
	if (o->base < UR_N)
		a = tnum_plus(a, machine_reg(m, o->base));
	if (o->index < UR_N) {
		x = machine_reg(m, o->index);
		a = tnum_plus(a, (struct tnum){x.v << o->scale, x.m << o->scale});
	}
	return a;
}

struct tnum read_other(struct machine *m, const struct uop *o, uint8_t operand, unsigned size)
{
	struct tnum x;
	uint64_t at;

	if (operand == UO_MEM)
		return address(m, o, &at) ? memory_load(&m->mem, at, size) : unknown(size);
	if (operand == UO_IMM)
		return known((uint64_t)o->imm & mask(size));
	if (operand == UO_UNKNOWN)
		return unknown(size);
	x = machine_reg(m, operand - UO_HIGH);
	return cut((struct tnum){x.v >> 8, x.m >> 8}, 0);
}

void store_operand(struct machine *m, const struct uop *o, unsigned size, struct tnum v)
{
	uint64_t at;

	if (address(m, o, &at))
		memory_store(&m->mem, at, size, v);
	else
		memory_forget(&m->mem);
}

void write_other(
    struct machine *m, const struct uop *o, uint8_t operand, unsigned size, struct tnum v)
{
	unsigned r = operand - UO_HIGH;

	if (operand == UO_MEM) {
		store_operand(m, o, size, v);
	} else if (operand < UO_MEM) {
		m->v[r] = (m->v[r] & ~UINT64_C(0xff00)) | v.v << 8;
		m->m[r] = (m->m[r] & ~UINT64_C(0xff00)) | v.m << 8;
		if (m->code_reg == r)
			m->code_reg = UR_N;
	}
}

/* Of one register with itself the value does not matter. */
static bool same_register(const struct uop *o)
{
	return o->dst == o->src && o->dst < UO_MEM;
}

/* ---- moves ---- */

static bool eval_nop(struct machine *m, const struct uop *o)
{
	return true;
}

static bool eval_flags(struct machine *m, const struct uop *o)
{
	no_flags(m);
	return true;
}

static bool eval_mov(struct machine *m, const struct uop *o)
{
	write_dst(m, o, read_src(m, o));
	return true;
}

static bool eval_movzx(struct machine *m, const struct uop *o)
{
	write_reg(m, o->dst, o->size, read_operand(m, o, o->src, o->aux));
	return true;
}

static bool eval_movsx(struct machine *m, const struct uop *o)
{
	struct tnum v = read_operand(m, o, o->src, o->aux);

	write_reg(m, o->dst, o->size, tnum_sign_extend(v, o->aux, o->size));
	return true;
}

static bool eval_lea(struct machine *m, const struct uop *o)
{
	write_reg(m, o->dst, o->size, cut(address_value(m, o), o->size));
	return true;
}

static bool eval_lookup(struct machine *m, const struct uop *o)
{
	const struct uops_table *t = &m->u->table.v[m->f->table + o->imm];
	struct tnum i = machine_reg(m, o->index);

	write_reg(m, o->dst, 3, unknown(3));
	if (i.m || i.v >= t->n || m->u->target.v[t->first + i.v] == UOPS_NONE)
		return true;
	m->code_reg = o->dst;
	m->code_block = m->u->target.v[t->first + i.v];
	return true;
}

/* A table of distances gives the address in two steps. */
static bool eval_add_base(struct machine *m, const struct uop *o)
{
	bool code = m->code_reg == o->dst || m->code_reg == o->src;

	write_reg(m, o->dst, 3, tnum_plus(machine_reg(m, o->dst), machine_reg(m, o->src)));
	no_flags(m);
	if (code)
		m->code_reg = o->dst;
	return true;
}

/* ---- arithmetic ---- */

static bool eval_add(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), b = read_src(m, o);

	set_flags(m, tnum_add, o->size, a, b);
	write_dst(m, o, cut(tnum_plus(a, b), o->size));
	return true;
}

static bool eval_sub(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), b = read_src(m, o);

	if (same_register(o))
		a = b = known(0);
	set_flags(m, tnum_sub, o->size, a, b);
	write_dst(m, o, cut(tnum_minus(a, b), o->size));
	return true;
}

static bool eval_cmp(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), b = read_src(m, o);

	if (same_register(o))
		a = b = known(0);
	set_flags(m, tnum_sub, o->size, a, b);
	return true;
}

static bool eval_and(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), b = read_src(m, o);

	set_flags(m, tnum_and, o->size, a, b);
	write_dst(m, o, tnum_both(a, b));
	return true;
}

static bool eval_test(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o);

	set_flags(m, tnum_and, o->size, a, read_src(m, o));
	return true;
}

static bool eval_or(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), b = read_src(m, o);

	set_flags(m, tnum_or, o->size, a, b);
	write_dst(m, o, tnum_any(a, b));
	return true;
}

static bool eval_xor(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), b = read_src(m, o);

	if (same_register(o))
		a = b = known(0);
	set_flags(m, tnum_xor, o->size, a, b);
	write_dst(m, o, tnum_differ(a, b));
	return true;
}

static struct tnum carry(struct machine *m)
{
	struct tnum f = *machine_flags(m);

	return (struct tnum){f.v & FLAG_CF, f.m & FLAG_CF};
}

static bool eval_with_carry(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), b = read_src(m, o), c = carry(m);

	if (o->kind == UOP_ADC)
		a = tnum_adc(a, b, c, o->size, &m->flags);
	else if (same_register(o))
		a = tnum_sbb(known(0), known(0), c, o->size, &m->flags);
	else
		a = tnum_sbb(a, b, c, o->size, &m->flags);
	write_dst(m, o, a);
	return true;
}

static bool eval_step(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), old = carry(m);

	a = (o->kind == UOP_INC ? tnum_add : tnum_sub)(a, known(1), o->size, &m->flags);
	m->flags.v = (m->flags.v & ~(uint64_t)FLAG_CF) | old.v;
	m->flags.m = (m->flags.m & ~(uint64_t)FLAG_CF) | old.m;
	write_dst(m, o, a);
	return true;
}

static bool eval_neg(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o);

	set_flags(m, tnum_sub, o->size, known(0), a);
	write_dst(m, o, cut(tnum_minus(known(0), a), o->size));
	return true;
}

static bool eval_not(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o);

	write_dst(m, o, (struct tnum){~a.v & ~a.m & mask(o->size), a.m});
	return true;
}

static bool eval_bswap(struct machine *m, const struct uop *o)
{
	write_dst(m, o, tnum_bswap(read_dst(m, o), o->size));
	return true;
}

/* ---- shifts ---- */

static struct tnum flags_of_shl(struct tnum a, struct tnum n, unsigned size, struct tnum *f)
{
	return tnum_shift(UOP_SHL, a, n, size, f);
}

static struct tnum flags_of_shr(struct tnum a, struct tnum n, unsigned size, struct tnum *f)
{
	return tnum_shift(UOP_SHR, a, n, size, f);
}

static struct tnum flags_of_sar(struct tnum a, struct tnum n, unsigned size, struct tnum *f)
{
	return tnum_shift(UOP_SAR, a, n, size, f);
}

static inline bool shift(struct machine *m, const struct uop *o, enum uop_kind kind, flags_of *of)
{
	struct tnum a = read_dst(m, o), count = read_operand(m, o, o->src, 0);

	if (!count.m && tnum_count(count, o->size)) {
		set_flags(m, of, o->size, a, count);
		a = tnum_shifted(kind, a, tnum_count(count, o->size), o->size);
	} else {
		a = tnum_shift(kind, a, count, o->size, machine_flags(m));
	}
	write_dst(m, o, a);
	return true;
}

static bool eval_shl(struct machine *m, const struct uop *o)
{
	return shift(m, o, UOP_SHL, flags_of_shl);
}

static bool eval_shr(struct machine *m, const struct uop *o)
{
	return shift(m, o, UOP_SHR, flags_of_shr);
}

static bool eval_sar(struct machine *m, const struct uop *o)
{
	return shift(m, o, UOP_SAR, flags_of_sar);
}

static bool eval_rotate(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), count = read_operand(m, o, o->src, 0);

	write_dst(m, o, tnum_shift(o->kind, a, count, o->size, machine_flags(m)));
	return true;
}

static bool eval_double_shift(struct machine *m, const struct uop *o)
{
	struct tnum a = read_dst(m, o), count = read_operand(m, o, o->src, 0);
	struct tnum b = cut(machine_reg(m, o->aux), o->size);

	write_dst(m, o, tnum_double_shift(o->kind, a, b, count, o->size, machine_flags(m)));
	return true;
}

/* ---- the stack ---- */

static bool eval_push(struct machine *m, const struct uop *o)
{
	struct tnum v = read_src(m, o), sp;

	sp = tnum_plus(machine_reg(m, UR_SP), known(-(uint64_t)(1 << o->size)));
	write_reg(m, UR_SP, 3, sp);
	if (sp.m)
		memory_forget(&m->mem);
	else
		memory_store(&m->mem, sp.v, o->size, v);
	return true;
}

struct tnum machine_pop(struct machine *m, unsigned size)
{
	struct tnum sp = machine_reg(m, UR_SP);

	write_reg(m, UR_SP, 3, tnum_plus(sp, known(1u << size)));
	return sp.m ? unknown(size) : memory_load(&m->mem, sp.v, size);
}

static bool eval_pop(struct machine *m, const struct uop *o)
{
	write_dst(m, o, machine_pop(m, o->size));
	return true;
}

static bool eval_leave(struct machine *m, const struct uop *o)
{
	write_reg(m, UR_SP, 3, machine_reg(m, UR_BP));
	write_reg(m, UR_BP, 3, machine_pop(m, 3));
	return true;
}

static bool eval_wipe(struct machine *m, const struct uop *o)
{
	uint64_t at;

	if (address(m, o, &at))
		memory_lose(&m->mem, at, 64);
	else
		memory_forget(&m->mem);
	return true;
}

/* ---- all ---- */

static bool eval_nothing(struct machine *m, const struct uop *o)
{
	return false;
}

static evaluate *const eval[UOP_N] = {
#define U(kind, how, back) [UOP_##kind] = eval_##how,
#include "managerd/replay/instructions.h"
#undef U
};

uint32_t machine_run(struct machine *m, const struct uop *o, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && eval[o[i].kind](m, &o[i]))
		i++;
	return i;
}

void machine_begin(struct machine *m, const struct uops *u, const uint64_t gpr[UR_N],
    uint64_t flags, const uint8_t *stack, size_t nstack)
{
	memcpy(m->v, gpr, sizeof m->v);
	memset(m->m, 0, sizeof m->m);
	*new_flags(m) = known(flags & FLAG_ALL);
	m->u = u;
	m->code_reg = UR_N;
	memory_begin(&m->mem, stack, nstack, gpr[UR_SP]);
}

struct tnum *machine_flags(struct machine *m)
{
	if (m->last.of)
		m->last.of(m->last.a, m->last.b, m->last.size, &m->flags);
	return new_flags(m);
}

void machine_forget(struct machine *m, unsigned set)
{
	unsigned r;

	no_flags(m);
	if (m->code_reg < UR_N && set >> m->code_reg & 1)
		m->code_reg = UR_N;
	for (; set; set &= set - 1) {
		r = (unsigned)__builtin_ctz(set);
		m->v[r] = 0;
		m->m[r] = UINT64_MAX;
	}
}

void machine_wipe(struct machine *m)
{
	explicit_bzero(m, offsetof(struct machine, u));
	memory_wipe(&m->mem);
}
