#include "managerd/replay/forward.h"
#include "managerd/replay/value.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- values: whatever the processor makes of them must be among what is known ---- */

enum { ROUNDS = 3000 };

static uint64_t rnd_state = 88172645463325252;
static uint64_t rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	return rnd_state ^= rnd_state << 17;
}

/* Known as a whole, or in some bits, or not at all. */
static struct tnum some_value(unsigned size)
{
	uint64_t v = rnd() & 1 ? rnd() % 5 - 2 : rnd(), m = 0;

	switch (rnd() % 4) {
	case 0:
		m = rnd() & rnd();
		break;
	case 1:
		m = rnd() & 1 ? UINT64_MAX : 0xff;
		break;
	}
	return cut((struct tnum){v & ~m, m}, size);
}

static uint64_t one_of(struct tnum t)
{
	return t.v | (rnd() & t.m);
}

struct native {
	uint64_t a, b, flags; /* a: in and out */
};

/* Below the red zone, flags in and out. */
#define RUN(T, INSN) \
	do { \
		T a_ = (T)n->a, b_ = (T)n->b; \
		asm volatile("leaq -128(%%rsp), %%rsp\n\tpushq %[f]\n\tpopfq\n\t" INSN \
			     "\n\tpushfq\n\tpopq %[f]\n\tleaq 128(%%rsp), %%rsp" \
			     : [a] "+q"(a_), [f] "+r"(n->flags) \
			     : [b] "q"(b_), "c"((uint8_t)n->b) \
			     : "cc", "memory"); \
		n->a = a_; \
	} while (0)
#define EACH_SIZE(NAME, BEFORE, OPERANDS) \
	static void NAME(struct native *n, unsigned size) \
	{ \
		switch (size) { \
		case 0: \
			RUN(uint8_t, BEFORE "b " OPERANDS); \
			break; \
		case 1: \
			RUN(uint16_t, BEFORE "w " OPERANDS); \
			break; \
		case 2: \
			RUN(uint32_t, BEFORE "l " OPERANDS); \
			break; \
		case 3: \
			RUN(uint64_t, BEFORE "q " OPERANDS); \
			break; \
		} \
	}
#define EACH_WIDE_SIZE(NAME, BEFORE, OPERANDS) \
	static void NAME(struct native *n, unsigned size) \
	{ \
		switch (size) { \
		case 1: \
			RUN(uint16_t, BEFORE "w " OPERANDS); \
			break; \
		case 2: \
			RUN(uint32_t, BEFORE "l " OPERANDS); \
			break; \
		case 3: \
			RUN(uint64_t, BEFORE "q " OPERANDS); \
			break; \
		} \
	}
EACH_SIZE(run_add, "add", "%[b], %[a]")
EACH_SIZE(run_adc, "adc", "%[b], %[a]")
EACH_SIZE(run_sub, "sub", "%[b], %[a]")
EACH_SIZE(run_sbb, "sbb", "%[b], %[a]")
EACH_SIZE(run_and, "and", "%[b], %[a]")
EACH_SIZE(run_or, "or", "%[b], %[a]")
EACH_SIZE(run_xor, "xor", "%[b], %[a]")
EACH_SIZE(run_shl, "shl", "%%cl, %[a]")
EACH_SIZE(run_shr, "shr", "%%cl, %[a]")
EACH_SIZE(run_sar, "sar", "%%cl, %[a]")
EACH_SIZE(run_rol, "rol", "%%cl, %[a]")
EACH_SIZE(run_ror, "ror", "%%cl, %[a]")
EACH_WIDE_SIZE(run_imul, "imul", "%[b], %[a]")
EACH_WIDE_SIZE(run_shld, "shld", "%%cl, %[b], %[a]")
EACH_WIDE_SIZE(run_shrd, "shrd", "%%cl, %[b], %[a]")

static struct tnum cf(struct tnum f)
{
	return (struct tnum){f.v & FLAG_CF, f.m & FLAG_CF};
}

static struct tnum evaluate(
    enum uop_kind kind, struct tnum a, struct tnum b, unsigned size, struct tnum *f)
{
	switch (kind) {
	case UOP_ADD:
		return tnum_add(a, b, size, f);
	case UOP_ADC:
		return tnum_adc(a, b, cf(*f), size, f);
	case UOP_SUB:
		return tnum_sub(a, b, size, f);
	case UOP_SBB:
		return tnum_sbb(a, b, cf(*f), size, f);
	case UOP_AND:
		return tnum_and(a, b, size, f);
	case UOP_OR:
		return tnum_or(a, b, size, f);
	case UOP_XOR:
		return tnum_xor(a, b, size, f);
	case UOP_IMUL:
		return tnum_imul(a, b, size, f);
	case UOP_SHLD:
	case UOP_SHRD:
		return tnum_double_shift(kind, a, b, cut(b, 0), size, f);
	default:
		return tnum_shift(kind, a, cut(b, 0), size, f);
	}
}

static const struct operation {
	enum uop_kind kind;
	void (*run)(struct native *, unsigned);
	unsigned least;     /* size */
	uint64_t undefined; /* flags that may be unknown although all operands are known */
	bool exact;
} operations[] = {
    {UOP_ADD, run_add, 0, 0, true},
    {UOP_ADC, run_adc, 0, 0, true},
    {UOP_SUB, run_sub, 0, 0, true},
    {UOP_SBB, run_sbb, 0, 0, true},
    {UOP_AND, run_and, 0, FLAG_AF, true},
    {UOP_OR, run_or, 0, FLAG_AF, true},
    {UOP_XOR, run_xor, 0, FLAG_AF, true},
    {UOP_SHL, run_shl, 0, FLAG_AF | FLAG_OF | FLAG_CF, true},
    {UOP_SHR, run_shr, 0, FLAG_AF | FLAG_OF | FLAG_CF, true},
    {UOP_SAR, run_sar, 0, FLAG_AF | FLAG_OF | FLAG_CF, true},
    {UOP_ROL, run_rol, 0, FLAG_OF, true},
    {UOP_ROR, run_ror, 0, FLAG_OF, true},
    {UOP_IMUL, run_imul, 1, FLAG_ALL & ~(FLAG_CF | FLAG_OF), true},
    {UOP_SHLD, run_shld, 1, FLAG_ALL, false},
    {UOP_SHRD, run_shrd, 1, FLAG_ALL, false},
};

START_TEST(values_like_the_processor)
{
	const struct operation *op = &operations[_i];
	unsigned size = 0, k;
	struct native n;
	struct tnum a, b, f, r;
	bool all;

	for (k = 0; k < ROUNDS; k++) {
		size = op->least + (unsigned)(rnd() % (4 - op->least));
		a = some_value(size);
		b = some_value(size);
		f = some_value(3);
		f = (struct tnum){f.v & FLAG_ALL, f.m & FLAG_ALL};
		all = !(a.m | b.m | f.m);
		n = (struct native){one_of(a), one_of(b), one_of(f) | 2};
		r = evaluate(op->kind, a, b, size, &f);
		op->run(&n, size);
		ck_assert_msg(!((n.a ^ r.v) & ~r.m), "kind %d size %u: 0x%lx, not 0x%lx", op->kind,
		    size, r.v, n.a);
		ck_assert_msg(!((n.flags ^ f.v) & ~f.m & FLAG_ALL),
		    "kind %d size %u: flags 0x%lx (0x%lx), not 0x%lx", op->kind, size, f.v, f.m,
		    n.flags & FLAG_ALL);
		ck_assert(!(r.v & r.m) && !(f.v & f.m) && !(r.m & ~mask(size)));
		if (all && op->exact)
			ck_assert_msg(!r.m && !(f.m & ~op->undefined), "kind %d size %u: not known",
			    op->kind, size);
	}
}
END_TEST

START_TEST(conditions_like_the_processor)
{
	static const uint64_t bits[] = {FLAG_CF, FLAG_PF, FLAG_ZF, FLAG_SF, FLAG_OF};
	uint64_t flags, m;
	unsigned i, k, c;
	int is, taken;
	bool cf, zf, sf, of;

	for (i = 0; i < 32; i++) {
		for (flags = k = 0; k < 5; k++)
			flags |= i >> k & 1 ? bits[k] : 0;
		cf = flags & FLAG_CF;
		zf = flags & FLAG_ZF;
		sf = flags & FLAG_SF;
		of = flags & FLAG_OF;
		for (c = 0; c < UC_N; c++) {
			is = (int[]){of, cf, zf, cf || zf, sf, (flags & FLAG_PF) != 0, sf != of,
				 zf || sf != of}[c >> 1] ^
			     (int)(c & 1);
			ck_assert_int_eq(condition(c, known(flags)), is);
			for (k = 0; k < 5; k++) { /* one flag less */
				m = bits[k];
				taken = condition(c, (struct tnum){flags & ~m, m});
				ck_assert(taken < 0 || taken == is);
			}
		}
	}
	ck_assert_int_eq(condition(6, (struct tnum){FLAG_CF, FLAG_ZF}), 1);  /* be */
	ck_assert_int_eq(condition(15, (struct tnum){FLAG_ZF, FLAG_SF}), 0); /* g */
}
END_TEST

/* ---- evaluation ---- */

static struct uops u;
static struct replay_sample s;
static struct replay_outcome edge[REPLAY_OUTCOMES];
static bool own;
static uint8_t stack[64];

static void setup(void)
{
	u = (struct uops){0};
	s = (struct replay_sample){.gpr[UR_SP] = 0x7000, .stack = stack, .nstack = sizeof stack};
	memset(stack, 0, sizeof stack);
	vec_push(&u.func, (struct uops_func){.key = {{1}}});
}

static void teardown(void)
{
	uops_free(&u);
}

static void put(struct uop o)
{
	const struct uops_block *b = &u.block.v[u.block.n - 1];

	o.at = (uint32_t)u.uop.n - b->uop;
	vec_push(&u.uop, o);
}

static void block(void)
{
	vec_push(&u.block, (struct uops_block){.uop = (uint32_t)u.uop.n, .join = UOPS_NONE});
	u.func.v[u.func.n - 1].nblock++;
}

static void end(enum uop_term term, unsigned cond, uint32_t to, uint32_t other)
{
	struct uops_block *b = &u.block.v[u.block.n - 1];

	put((struct uop){.kind = UOP_END});
	b->nuop = (uint32_t)u.uop.n - b->uop;
	b->term = (uint8_t)term;
	b->cond = (uint8_t)cond;
	b->to = to;
	b->other = other;
}

static void leave_block(void)
{
	block();
	put((struct uop){.kind = UOP_STOP});
	end(UT_STOP, 0, 0, 0);
}

enum { COND_E = 4, COND_NE = 5 };

static struct uop cmp_imm(uint8_t dst, int64_t imm)
{
	return (struct uop){.kind = UOP_CMP,
	    .size = 3,
	    .dst = dst,
	    .src = UO_IMM,
	    .imm = imm,
	    .base = UR_SP,
	    .index = UA_NONE};
}

/* Block 0: the uops put before; if equal to block 1, else to block 2. */
static uint32_t outcomes(void)
{
	end(UT_COND, COND_E, 1, 2);
	leave_block();
	leave_block();
	return replay_forward(&u, &s, edge, &own);
}

START_TEST(knows_registers)
{
	block();
	put(cmp_imm(UR_R9, 5));
	s.gpr[UR_R9] = 5;
	ck_assert_int_eq(outcomes(), 1);
	ck_assert(own && edge[0].from == 0 && edge[0].to == 1);
	s.gpr[UR_R9] = 6;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 1);
	ck_assert(edge[0].to == 2);
	s.uop = 1; /* behind the comparison: the flags of the moment */
	s.flags = FLAG_ZF;
	ck_assert(replay_forward(&u, &s, edge, &own) == 1 && edge[0].to == 1);
}
END_TEST

START_TEST(guesses_nothing)
{
	static const struct uop ends[] = {{.kind = UOP_STOP}, {.kind = UOP_CALL},
	    {.kind = UOP_FLAGS}, {.kind = UOP_CMP, .size = 3, .dst = UR_AX, .src = UO_UNKNOWN},
	    {.kind = UOP_CMP,
		.size = 2,
		.dst = UO_MEM,
		.src = UO_IMM,
		.base = UR_BX,
		.index = UA_NONE},
	    {.kind = UOP_DIV, .size = 3, .src = UR_BX}};

	block();
	put(ends[_i]);
	s.gpr[UR_BX] = 0;
	s.flags = FLAG_ZF;
	ck_assert_int_eq(outcomes(), 0);
	ck_assert(!own);
}
END_TEST

START_TEST(no_alternative_is_no_outcome)
{
	block();
	end(UT_GO, 0, 1, 0);
	block();
	put(cmp_imm(UR_AX, 0));
	end(UT_COND_OUT, COND_NE, 0, 2);
	block();
	end(UT_COND, COND_E, 3, 0);
	leave_block();
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 1);
	ck_assert(!own && edge[0].from == 2 && edge[0].to == 3);
	s.gpr[UR_AX] = 1; /* leaves the function */
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
}
END_TEST

START_TEST(reads_the_stack)
{
	struct uop c = cmp_imm(UO_MEM, 0x42);

	stack[16] = 0x42;
	block();
	c.disp = 16;
	put(c);
	ck_assert(outcomes() == 1 && edge[0].to == 1);
	s.nstack = 20; /* not all of it was copied */
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
	s.stack = NULL;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
}
END_TEST

static struct uop move(uint8_t dst, uint8_t src, uint8_t base, int32_t disp)
{
	return (struct uop){.kind = UOP_MOV,
	    .size = 3,
	    .dst = dst,
	    .src = src,
	    .base = base,
	    .index = UA_NONE,
	    .disp = disp};
}

START_TEST(remembers_stores)
{
	s.stack = NULL;
	s.gpr[UR_AX] = 7;
	block();
	put((struct uop){.kind = UOP_PUSH, .size = 3, .src = UR_AX});
	put(move(UO_MEM, UO_UNKNOWN, UR_SP, 8)); /* next to it */
	put(move(UR_BX, UO_MEM, UR_SP, 0));
	put(cmp_imm(UR_BX, 7));
	ck_assert(outcomes() == 1 && edge[0].to == 1);
}
END_TEST

START_TEST(forgets_what_a_store_may_change)
{
	block();
	put(move(UO_MEM, UR_AX, UR_SP, 24));
	switch (_i) {
	case 0: /* through an address that was loaded */
		put(move(UR_CX, UO_UNKNOWN, UA_NONE, 0));
		put(move(UO_MEM, UR_DX, UR_CX, 0));
		break;
	case 1: /* into its last byte */
		put((struct uop){.kind = UOP_MOV,
		    .size = 0,
		    .dst = UO_MEM,
		    .src = UO_UNKNOWN,
		    .base = UR_SP,
		    .index = UA_NONE,
		    .disp = 31});
		break;
	case 2: /* a vector that begins before it */
		put((struct uop){
		    .kind = UOP_WIPE, .base = UR_SP, .index = UA_NONE, .disp = 24 - 63});
		break;
	case 3: /* from below all that is followed: reaches it by no byte, stays known */
		put((struct uop){
		    .kind = UOP_WIPE, .base = UR_SP, .index = UA_NONE, .disp = 24 - 64});
		break;
	}
	put(move(UR_BX, UO_MEM, UR_SP, 24));
	put(cmp_imm(UR_BX, 0));
	ck_assert_int_eq(outcomes(), _i == 3);
}
END_TEST

START_TEST(loops_end)
{
	block();
	put((struct uop){.kind = UOP_INC, .size = 2, .dst = UR_CX});
	put(cmp_imm(UR_CX, 5));
	end(UT_COND, COND_NE, 0, 1);
	leave_block();
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 1);
	ck_assert(own && edge[0].to == 0); /* its next turn */
	u.block.v[0].term = UT_GO;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
}
END_TEST

/* A turn takes three instructions. */
START_TEST(follows_what_is_behind_a_loop)
{
	block();
	put((struct uop){.kind = UOP_DEC, .size = 2, .dst = UR_CX});
	put(cmp_imm(UR_CX, 0));
	end(UT_COND, COND_NE, 0, 1);
	block();
	put(cmp_imm(UR_DX, 7));
	end(UT_COND, COND_E, 2, 3);
	leave_block();
	leave_block();
	s.gpr[UR_CX] = REPLAY_IDLE / 3;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 2);
	ck_assert(edge[0].to == 0 && edge[1].from == 1 && edge[1].to == 3);
	s.gpr[UR_CX] = REPLAY_IDLE / 3 + 2;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 1);
}
END_TEST

/* A ring of more branches than one sample may tell. */
START_TEST(directions_are_bounded)
{
	unsigned i;

	for (i = 0; i < REPLAY_OUTCOMES + 2; i++) {
		block();
		put(cmp_imm(UR_DX, 7));
		end(UT_COND, COND_NE, i + 1, 0);
	}
	leave_block();
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), REPLAY_OUTCOMES);
	ck_assert(edge[REPLAY_OUTCOMES - 1].from == REPLAY_OUTCOMES - 1);
}
END_TEST

static void jump_table(void)
{
	static const uint32_t to[] = {1, UOPS_NONE, 2};
	unsigned i;

	for (i = 0; i < 3; i++)
		vec_push(&u.target, to[i]);
	vec_push(&u.table, (struct uops_table){0, 3});
	u.func.v[0].ntable = 1;
}

/* Block 0 branches by memory to 1 or 2, which meet in 3; that compares. */
static void hammock(uint16_t writes, bool stores)
{
	block();
	put((struct uop){.kind = UOP_CMP,
	    .size = 3,
	    .dst = UO_MEM,
	    .src = UO_IMM,
	    .base = UR_AX,
	    .index = UA_NONE});
	end(UT_COND, COND_E, 1, 2);
	u.block.v[0].join = 3;
	u.block.v[0].writes = writes;
	u.block.v[0].stores = stores;
	leave_block();
	leave_block();
	block();
}

START_TEST(goes_on_where_ways_meet)
{
	static const uint16_t writes[] = {1 << UR_DX, 1 << UR_BX};

	hammock(writes[_i], true);
	put(cmp_imm(UR_BX, 7));
	end(UT_COND, COND_E, 4, 5);
	leave_block();
	leave_block();
	s.gpr[UR_BX] = 7;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), !_i);
	ck_assert(_i || (edge[0].from == 3 && edge[0].to == 4 && !own));
}
END_TEST

START_TEST(memory_lasts_where_no_way_stores)
{
	hammock(0, _i);
	put(cmp_imm(UO_MEM, 0));
	end(UT_COND, COND_E, 4, 5);
	leave_block();
	leave_block();
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), !_i);
}
END_TEST

START_TEST(follows_jump_tables)
{
	static const struct {
		uint64_t index;
		uint32_t n, to;
	} cases[] = {{0, 1, 1}, {1, 0}, {2, 1, 2}, {3, 0}, {UINT64_MAX, 0}};
	unsigned i;

	jump_table();
	block();
	put((struct uop){.kind = UOP_LOOKUP, .size = 3, .dst = UR_AX, .index = UR_DX});
	put((struct uop){.kind = UOP_ADD_BASE, .size = 3, .dst = UR_CX, .src = UR_AX});
	end(UT_REG, 0, 0, 0);
	u.block.v[0].reg = UR_CX;
	leave_block();
	leave_block();
	for (i = 0; i < 5; i++) {
		s.gpr[UR_DX] = cases[i].index;
		ck_assert_int_eq(replay_forward(&u, &s, edge, &own), cases[i].n);
		ck_assert(!cases[i].n || (own && edge[0].to == cases[i].to));
	}
	u.block.v[0].term = UT_LOOKUP;
	u.block.v[0].reg = UR_DX;
	for (i = 0; i < 5; i++) {
		s.gpr[UR_DX] = cases[i].index;
		ck_assert_int_eq(replay_forward(&u, &s, edge, &own), cases[i].n);
	}
}
END_TEST

static bool place_at(void *arg, uint64_t address, struct replay_place *at)
{
	*at = (struct replay_place){0, address == 0x1000 ? 1 : 7, 0};
	return address == 0x1000 || address == 0x2000;
}

START_TEST(follows_known_addresses)
{
	block();
	end(UT_REG, 0, 0, 0);
	u.block.v[0].reg = UR_AX;
	leave_block();
	s.gpr[UR_AX] = 0x1000;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
	s.place_at = place_at;
	ck_assert(replay_forward(&u, &s, edge, &own) == 1 && edge[0].to == 1);
	s.gpr[UR_AX] = 0x2000; /* a block that it has not */
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
}
END_TEST

/* What a callee saves is known behind it; memory and all else are not. */
START_TEST(goes_on_behind_calls)
{
	static const struct {
		struct uop compared;
		uint8_t never_returns;
		uint32_t n;
	} cases[] = {{{.dst = UR_BX}, 0, 1}, {{.dst = UR_R15}, 0, 1}, {{.dst = UR_BX}, 1, 0},
	    {{.dst = UR_AX}, 0, 0}, {{.dst = UR_R11}, 0, 0}, {{.dst = UO_MEM}, 0, 0}};
	struct uop c = cmp_imm(cases[_i].compared.dst, 0);

	block();
	put((struct uop){.kind = UOP_CALL, .aux = cases[_i].never_returns});
	put(c);
	ck_assert_int_eq(outcomes(), cases[_i].n);
	ck_assert(!cases[_i].n || edge[0].to == 1);
}
END_TEST

START_TEST(flags_do_not_come_back)
{
	block();
	put((struct uop){.kind = UOP_CALL});
	s.flags = FLAG_ZF;
	ck_assert_int_eq(outcomes(), 0);
}
END_TEST

/* The byte before 0x5001 is the last of the call in function 1. */
static bool return_place(void *arg, uint64_t address, struct replay_place *at)
{
	*at = (struct replay_place){1, 0, (uint32_t)(address - 0x5000)};
	return address >= 0x5000 && address < 0x5004;
}

START_TEST(returns_into_the_caller)
{
	block();
	put((struct uop){.kind = UOP_POP, .size = 3, .dst = UR_BX});
	end(UT_RET, 0, 0, 0);
	vec_push(&u.func, (struct uops_func){.key = {{2}}, .block = 1});
	block();
	put((struct uop){.kind = UOP_CALL});
	put(cmp_imm(UR_BX, 9));
	stack[0] = 9;
	stack[8] = 1;
	stack[9] = 0x50;
	ck_assert_int_eq(outcomes(), 0);
	s.place_at = return_place;
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 1);
	ck_assert(edge[0].func == 1 && edge[0].from == 0 && edge[0].to == 1 && edge[0].out == 1);
	ck_assert(!own);
	stack[8] = 2; /* behind no call */
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
	stack[9] = 0x60; /* not of the program */
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
	stack[8] = 1;
	stack[9] = 0x50;
	s.nstack = 15; /* not copied */
	ck_assert_int_eq(replay_forward(&u, &s, edge, &own), 0);
}
END_TEST

UNIT_MAIN("replay", 0, NULL, NULL,
    UNIT_LOOP(values_like_the_processor, sizeof operations / sizeof *operations),
    conditions_like_the_processor, UNIT_CASE(0, setup, teardown), knows_registers,
    UNIT_LOOP(guesses_nothing, 6), no_alternative_is_no_outcome, reads_the_stack, remembers_stores,
    UNIT_LOOP(forgets_what_a_store_may_change, 4), loops_end, follows_what_is_behind_a_loop,
    directions_are_bounded, UNIT_LOOP(goes_on_where_ways_meet, 2),
    UNIT_LOOP(memory_lasts_where_no_way_stores, 2), follows_jump_tables, follows_known_addresses,
    UNIT_LOOP(goes_on_behind_calls, 6), flags_do_not_come_back, returns_into_the_caller)
