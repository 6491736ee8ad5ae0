/* Small functions seen from behind: which way led to where the sample is. */
#include "managerd/replay/backward.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct uops u;
static struct replay_sample s;
static uint8_t stack[64];

static void begin_block(uint8_t term, uint32_t to, uint32_t other)
{
	vec_push(&u.block,
	    (struct uops_block){
		.uop = (uint32_t)u.uop.n, .term = term, .cond = 4, .to = to, .other = other});
}

static void put(uint8_t kind, uint8_t dst, uint8_t src, int64_t imm)
{
	struct uops_block *b = &u.block.v[u.block.n - 1];

	vec_push(&u.uop, (struct uop){.kind = kind,
			     .size = 3,
			     .dst = dst,
			     .src = src,
			     .base = UR_BX,
			     .index = UA_NONE,
			     .disp = 8,
			     .imm = imm,
			     .at = 4 * b->nuop++});
}

static void end_block(void)
{
	put(UOP_END, 0, 0, 0);
}

/* 0 branches to 1 and 2, which lead to 3, where the sample is behind `behind`. */
static void diamond(void (*one)(void), void (*two)(void), void (*behind)(void))
{
	begin_block(UT_COND, 1, 2);
	end_block();
	begin_block(UT_GO, 3, 0);
	one();
	end_block();
	begin_block(UT_GO, 3, 0);
	two();
	end_block();
	begin_block(UT_STOP, 0, 0);
	behind();
	put(UOP_FLAGS, 0, 0, 0);
	end_block();
	vec_push(&u.func, (struct uops_func){.nblock = 4});
	uops_link(&u);
	s = (struct replay_sample){.block = 3,
	    .uop = u.block.v[3].uop + u.block.v[3].nuop - 1,
	    .stack = stack,
	    .nstack = sizeof stack};
	s.gpr[UR_SP] = 0x7ff000;
}

static void teardown(void)
{
	uops_free(&u);
	memset(stack, 0, sizeof stack);
}

static void nothing(void)
{
}
static void five(void)
{
	put(UOP_MOV, UR_AX, UO_IMM, 5);
}
static void six(void)
{
	put(UOP_MOV, UR_AX, UO_IMM, 6);
}
static void next_of_bx(void)
{
	put(UOP_LEA, UR_AX, UO_UNKNOWN, 0);
}
static void double_ax(void)
{
	put(UOP_ADD, UR_AX, UR_AX, 0);
}
static void add_cx(void)
{
	put(UOP_ADD, UR_AX, UR_CX, 0);
}
static void lose_ax(void)
{
	put(UOP_MOV, UR_AX, UO_UNKNOWN, 0);
}
static void call(void)
{
	put(UOP_CALL, 0, 0, 0);
}
static void load(void)
{
	put(UOP_MOV, UR_AX, UO_MEM, 0);
}
static void store_five(void)
{
	put(UOP_MOV, UO_MEM, UO_IMM, 5);
}
static void push_five(void)
{
	put(UOP_PUSH, 0, UO_IMM, 5);
}
static void push_six(void)
{
	put(UOP_PUSH, 0, UO_IMM, 6);
}

static enum replay_entry ask(uint32_t *from)
{
	*from = UOPS_NONE;
	return replay_backward(&u, &s, from);
}

static void tells(uint32_t block)
{
	uint32_t from;

	ck_assert_int_eq(ask(&from), REPLAY_RESOLVED);
	ck_assert_uint_eq(from, block);
}

static void tells_nothing(void)
{
	uint32_t from;

	ck_assert_int_eq(ask(&from), REPLAY_UNRESOLVED);
}

START_TEST(what_arms_leave_excludes_the_others)
{
	diamond(five, six, nothing);
	s.gpr[UR_AX] = 5;
	tells(1);
	s.gpr[UR_AX] = 6;
	tells(2);
}
END_TEST

START_TEST(what_would_fit_excludes_nothing)
{
	diamond(five, nothing, nothing);
	s.gpr[UR_AX] = 5;
	tells_nothing();
	s.gpr[UR_AX] = 4;
	tells(2);
}
END_TEST

START_TEST(registers_are_compared_with_registers)
{
	diamond(next_of_bx, six, nothing);
	s.gpr[UR_BX] = 100;
	s.gpr[UR_AX] = 108;
	tells(1);
	s.gpr[UR_AX] = 6;
	tells(2);
}
END_TEST

START_TEST(the_own_block_is_undone_first)
{
	diamond(five, six, add_cx);
	s.gpr[UR_CX] = 100;
	s.gpr[UR_AX] = 105;
	tells(1);
	s.gpr[UR_AX] = 106;
	tells(2);
}
END_TEST

START_TEST(what_is_lost_tells_nothing)
{
	static void (*const lost[])(void) = {double_ax, lose_ax, call};

	diamond(five, six, lost[_i]);
	s.gpr[UR_AX] = 10;
	tells_nothing();
}
END_TEST

START_TEST(memory_that_was_loaded_is_compared)
{
	diamond(store_five, five, load);
	s.gpr[UR_BX] = 100;
	s.gpr[UR_AX] = 6;
	tells(2);
	s.gpr[UR_AX] = 5;
	tells_nothing();
}
END_TEST

START_TEST(the_stack_is_compared)
{
	diamond(push_five, push_six, nothing);
	stack[0] = 6;
	tells(2);
	stack[0] = 5;
	tells(1);
	s.nstack = 0;
	tells_nothing();
}
END_TEST

/* A loop of one block: entered with rax = 8, each turn adds rcx, until it is 8. */
START_TEST(jumps_need_their_condition)
{
	begin_block(UT_GO, 1, 0);
	put(UOP_MOV, UR_AX, UO_IMM, 8);
	end_block();
	begin_block(UT_COND, 2, 1);
	put(UOP_ADD, UR_AX, UR_CX, 0);
	put(UOP_FLAGS, 0, 0, 0);
	put(UOP_CMP, UR_AX, UO_IMM, 8);
	end_block();
	begin_block(UT_STOP, 0, 0);
	end_block();
	vec_push(&u.func, (struct uops_func){.nblock = 3});
	uops_link(&u);
	s = (struct replay_sample){.block = 1, .uop = u.block.v[1].uop + 2};
	s.gpr[UR_CX] = 1;
	s.gpr[UR_AX] = 7;
	tells(1);
	s.gpr[UR_AX] = 9; /* with 8 it would not have gone on */
	tells(0);
}
END_TEST

START_TEST(open_blocks_are_no_joins)
{
	uint32_t from;

	diamond(five, six, nothing);
	u.block.v[3].open = true;
	ck_assert_int_eq(ask(&from), REPLAY_NO_JOIN);
	s.block = 1;
	s.uop = u.block.v[1].uop;
	ck_assert_int_eq(ask(&from), REPLAY_NO_JOIN);
}
END_TEST

UNIT_MAIN("replay_backward", 0, NULL, teardown, what_arms_leave_excludes_the_others,
    what_would_fit_excludes_nothing, registers_are_compared_with_registers,
    the_own_block_is_undone_first, UNIT_LOOP(what_is_lost_tells_nothing, 3),
    memory_that_was_loaded_is_compared, the_stack_is_compared, jumps_need_their_condition,
    open_blocks_are_no_joins)
