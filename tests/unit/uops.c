#include "common/uops.h"
#include "editor/replay/replay.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct arena mem;
static struct uops u;
static struct err e;

static void setup(void)
{
	mem = (struct arena){0};
	u = (struct uops){0};
}

static void teardown(void)
{
	uops_free(&u);
	arena_free(&mem);
}

/* Compiles one function whose instructions all have 4 bytes. sizes: of its
 * blocks; lengths: how many there are in all. */
static uint32_t compile(const char *body, const char *data, const uint32_t *sizes, unsigned lengths)
{
	const char *text = arena_printf(&mem,
	    "\t.file\t\"a.c\"\n\t.text\n\t.type\tf, @function\nf:\n\t.cfi_startproc\n%s"
	    "\t.cfi_endproc\n\t.size\tf, .-f\n%s\t.ident\t\"GCC: (test) 12\"\n",
	    body, data);
	struct unit *unit = unit_parse(&mem, text, strlen(text), &e);
	uint8_t measured[64];
	uint32_t differing;

	ck_assert_msg(unit != NULL, "%s", e.text);
	ck_assert_msg(!unit->func[0].opaque, "%s", unit->func[0].opaque);
	memset(measured, 4, sizeof measured);
	ck_assert_msg(
	    !unit_uops(unit, measured, lengths, &sizes, &u, &differing, &e), "%s", e.text);
	unit_free(unit);
	return differing;
}

/* ---- instructions ---- */

static struct uop compiled(const char *insn)
{
	const char *body = arena_printf(&mem, "\t%s\n\tret\n", insn);

	u = (struct uops){0};
	ck_assert_int_eq(compile(body, "", (uint32_t[]){8}, 2), 0);
	ck_assert_int_eq(u.uop.v[1].kind, UOP_END);
	ck_assert_int_eq(u.block.v[0].term, UT_RET);
	return u.uop.v[0];
}

static const struct {
	const char *text;
	struct uop is;
} insns[] = {
    {"movl %eax, %r9d", {UOP_MOV, 2, UR_R9, UR_AX, UA_NONE, UA_NONE}},
    {"movq $-5, 8(%rsp)", {UOP_MOV, 3, UO_MEM, UO_IMM, UR_SP, UA_NONE, 0, 0, 8, 0, -5}},
    {"movq foo(%rip), %rax", {UOP_MOV, 3, UR_AX, UO_UNKNOWN, UA_NONE, UA_NONE}},
    {"movl %eax, foo+8(%rip)", {UOP_MOV, 2, UO_UNKNOWN, UR_AX, UA_NONE, UA_NONE}},
    {"movl %fs:foo@tpoff, %eax", {UOP_MOV, 2, UR_AX, UO_MEM, UA_UNKNOWN, UA_NONE}},
    {"movl %eax, %fs:16", {UOP_MOV, 2, UO_MEM, UR_AX, UA_UNKNOWN, UA_NONE}},
    {"leaq -1(%rbx,%rcx,4), %rdx", {UOP_LEA, 3, UR_DX, 0, UR_BX, UR_CX, 2, 0, -1}},
    {"leaq foo(%rip), %rdx", {UOP_MOV, 3, UR_DX, UO_UNKNOWN, UA_NONE, UA_NONE}},
    {"cmpb $3, %ah", {UOP_CMP, 0, UO_HIGH, UO_IMM, UA_NONE, UA_NONE, 0, 0, 0, 0, 3}},
    {"testq %rdi, %rdi", {UOP_TEST, 3, UR_DI, UR_DI, UA_NONE, UA_NONE}},
    {"shrl %edx", {UOP_SHR, 2, UR_DX, UO_IMM, UA_NONE, UA_NONE, 0, 0, 0, 0, 1}},
    {"sarq %cl, %rdx", {UOP_SAR, 3, UR_DX, UR_CX, UA_NONE, UA_NONE}},
    {"shldl $3, %eax, %edx", {UOP_SHLD, 2, UR_DX, UO_IMM, UA_NONE, UA_NONE, 0, UR_AX, 0, 0, 3}},
    {"imulq $24, %rax, %rcx", {UOP_IMUL3, 3, UR_CX, UR_AX, UA_NONE, UA_NONE, 0, 0, 0, 0, 24}},
    {"imull %ebx", {UOP_IMULA, 2, 0, UR_BX, UA_NONE, UA_NONE}},
    {"movzbl %ah, %eax", {UOP_MOVZX, 2, UR_AX, UO_HIGH, UA_NONE, UA_NONE}},
    {"movslq %edi, %rdi", {UOP_MOVSX, 3, UR_DI, UR_DI, UA_NONE, UA_NONE, 0, 2}},
    {"cltq", {UOP_MOVSX, 3, UR_AX, UR_AX, UA_NONE, UA_NONE, 0, 2}},
    {"cqto", {UOP_SIGN_DX, 3, 0, 0, UA_NONE, UA_NONE}},
    {"cmovl %eax, %ebx", {UOP_CMOV, 2, UR_BX, UR_AX, UA_NONE, UA_NONE, 0, 12}},
    {"cmovlel %eax, %ebx", {UOP_CMOV, 2, UR_BX, UR_AX, UA_NONE, UA_NONE, 0, 14}},
    {"cmovsq %rax, %rbx", {UOP_CMOV, 3, UR_BX, UR_AX, UA_NONE, UA_NONE, 0, 8}},
    {"setnb %al", {UOP_SETCC, 0, UR_AX, 0, UA_NONE, UA_NONE, 0, 3}},
    {"xchgq (%rdi), %rax", {UOP_XCHG, 3, UO_MEM, UR_AX, UA_UNKNOWN, UA_NONE}},
    {"lock addl $1, 8(%rsp)", {UOP_ADD, 2, UO_MEM, UO_IMM, UA_UNKNOWN, UA_NONE, 0, 0, 0, 0, 1}},
    {"rep bsfl %eax, %edx", {UOP_TZCNT, 2, UR_DX, UR_AX, UA_NONE, UA_NONE}},
    {"pushq $-2", {UOP_PUSH, 3, 0, UO_IMM, UA_NONE, UA_NONE, 0, 0, 0, 0, -2}},
    {"popq %rbp", {UOP_POP, 3, UR_BP, 0, UA_NONE, UA_NONE}},
    {"movq %xmm0, %rax", {UOP_MOV, 3, UR_AX, UO_UNKNOWN, UA_NONE, UA_NONE}},
    {"movups %xmm0, 8(%rsp)", {UOP_WIPE, 0, 0, 0, UR_SP, UA_NONE, 0, 0, 8}},
    {"addsd %xmm1, %xmm0", {UOP_NOP, 0, 0, 0, UA_NONE, UA_NONE}},
    {"ucomisd %xmm1, %xmm0", {UOP_FLAGS, 0, 0, 0, UA_NONE, UA_NONE}},
    {"fucompi %st(1), %st", {UOP_FLAGS, 0, 0, 0, UA_NONE, UA_NONE}},
    {"fstpt 16(%rsp)", {UOP_WIPE, 0, 0, 0, UR_SP, UA_NONE, 0, 0, 16}},
    {"call g", {UOP_CALL}},
};

START_TEST(reads_an_instruction)
{
	struct uop is = insns[_i].is, got = compiled(insns[_i].text);

	if (is.kind == UOP_CALL)
		is.imm = uops_callee("g", 1);
	ck_assert_msg(!memcmp(&is, &got, sizeof is),
	    "%s: kind %d size %d dst %d src %d base %d index %d scale %d aux %d disp %d imm %ld",
	    insns[_i].text, got.kind, got.size, got.dst, got.src, got.base, got.index, got.scale,
	    got.aux, got.disp, (long)got.imm);
}
END_TEST

static const char *const odd[] = {"rep stosq", "rep movsb", "syscall", "cpuid", "pushfq", "popfq",
    "rcll %eax", "divb %cl", "movl %cs, %eax", "pcmpestri $1, %xmm0, %xmm1", "leal (%edi), ",
    "movb %ah, %eax", "frobnicate %eax, %ebx", "movq %rax", "xlatb", "fxsave (%rdi)",
    "cmpxchg16b (%rdi)", "addl %eax, $5", "setfoo %al", "cmovfoo %eax, %ebx",
    "lock movl %eax, %ebx"};

START_TEST(stops_at_what_it_does_not_know)
{
	ck_assert_msg(compiled(odd[_i]).kind == UOP_STOP, "%s", odd[_i]);
}
END_TEST

/* ---- functions ---- */

static const char loop[] = "\tpushq\t%rbx\n\t.cfi_def_cfa_offset 16\n"
			   ".L2:\n\tcall\tg\n\tdecl\t%ebx\n\tjne\t.L2\n"
			   "\tpopq\t%rbx\n\t.cfi_def_cfa_offset 8\n\tret\n";
static const uint32_t loop_sizes[] = {4, 12, 8};

START_TEST(places_instructions)
{
	const struct uops_frame *f;

	ck_assert_int_eq(compile(loop, "", loop_sizes, 6), 0);
	ck_assert_int_eq(u.func.v[0].nblock, 3);
	ck_assert_int_eq(u.block.v[1].term, UT_COND);
	ck_assert(u.block.v[1].cond == 5 && u.block.v[1].to == 1 && u.block.v[1].other == 2);
	ck_assert_int_eq(uops_at(&u, 0, 1, 4), u.block.v[1].uop + 1);
	ck_assert_int_eq(u.uop.v[uops_at(&u, 0, 1, 8)].kind, UOP_END);
	ck_assert_int_eq(u.uop.v[uops_at(&u, 0, 1, 20)].kind, UOP_END);
	ck_assert(uops_at(&u, 0, 1, 2) == UOPS_NONE && uops_at(&u, 0, 3, 0) == UOPS_NONE);
	ck_assert(uops_at(&u, 1, 0, 0) == UOPS_NONE);
	ck_assert_uint_eq(uops_after_call(&u, 0, 1, 4), u.block.v[1].uop + 1);
	ck_assert_uint_eq(uops_after_call(&u, 0, 1, 0), UOPS_NONE);
	ck_assert_uint_eq(uops_after_call(&u, 0, 1, 8), UOPS_NONE);
	f = uops_frame(&u, uops_at(&u, 0, 0, 0));
	ck_assert(f && f->reg == UR_SP && f->offset == 8);
	f = uops_frame(&u, uops_at(&u, 0, 1, 8));
	ck_assert(f && f->reg == UR_SP && f->offset == 16);
	f = uops_frame(&u, uops_at(&u, 0, 2, 4));
	ck_assert(f && f->reg == UR_SP && f->offset == 8);
}
END_TEST

START_TEST(knows_what_is_called)
{
	static const struct {
		const char *call, *name;
	} c[] = {{"call g", "g"}, {"call g@PLT", "g"}, {"call *g@GOTPCREL(%rip)", "g"},
	    {"call *%rax", NULL}, {"call *8(%rdi)", NULL}, {"call *g(,%rax,8)", NULL}};
	size_t i;

	for (i = 0; i < sizeof c / sizeof *c; i++) {
		ck_assert_int_eq(
		    compiled(c[i].call).imm, c[i].name ? uops_callee(c[i].name, 1) : 0);
		uops_free(&u);
	}
	ck_assert_uint_ne(uops_callee("g", 1), uops_callee("h", 1));
}
END_TEST

START_TEST(knows_what_is_left_by_returning)
{
	static const struct {
		const char *body;
		bool returns;
		uint32_t size[3];
		unsigned n;
	} c[] = {{loop, true, {4, 12, 8}, 6}, {"\tcall\texit@PLT\n", true, {4}, 1},
	    {"\tjmp\tg\n", false, {4}, 1}, {"\tjmp\t*%rax\n", false, {4}, 1},
	    {"\ttestl\t%eax, %eax\n\tje\tg\n\tret\n", false, {8, 4}, 3}};
	size_t i;

	for (i = 0; i < sizeof c / sizeof *c; i++) {
		ck_assert_int_eq(compile(c[i].body, "", c[i].size, c[i].n), 0);
		ck_assert_msg(uops_returns(&u, 0) == c[i].returns, "%s", c[i].body);
		uops_free(&u);
	}
}
END_TEST

START_TEST(knows_how_functions_are_left)
{
	ck_assert_int_eq(compile(loop, "", loop_sizes, 6), 0);
	ck_assert(u.uop.v[u.block.v[1].uop].kind == UOP_CALL && !u.uop.v[u.block.v[1].uop].aux);
	ck_assert_int_eq(u.block.v[2].term, UT_RET);
	uops_free(&u);
	ck_assert_int_eq(compile("\tcall\texit@PLT\n", "", (uint32_t[]){4}, 1), 0);
	ck_assert(u.uop.v[0].kind == UOP_CALL && u.uop.v[0].aux == 1);
	ck_assert_int_eq(u.block.v[0].term, UT_STOP);
	uops_free(&u);
	ck_assert_int_eq(compile("\trep ret\n", "", (uint32_t[]){4}, 1), 0);
	ck_assert_int_eq(u.block.v[0].term, UT_RET);
	uops_free(&u);
	ck_assert_int_eq(compile("\tret\t$8\n", "", (uint32_t[]){4}, 1), 0);
	ck_assert_int_eq(u.block.v[0].term, UT_STOP);
}
END_TEST

START_TEST(leaves_out_what_differs)
{
	ck_assert_int_eq(compile(loop, "", (uint32_t[]){4, 13, 8}, 6), 1);
	ck_assert(!u.func.n && !u.uop.n && !u.block.n && !u.frame.n);
}
END_TEST

START_TEST(refuses_other_measures)
{
	uint32_t *sizes[] = {NULL}, differing;
	const char *text = arena_printf(&mem,
	    "\t.file\t\"a.c\"\n\t.text\n\t.type\tf, @function\nf:\n\tnop\n\tret\n"
	    "\t.size\tf, .-f\n\t.ident\t\"GCC: (test) 12\"\n");
	struct unit *unit = unit_parse(&mem, text, strlen(text), &e);
	const uint32_t *const *none = (const uint32_t *const *)sizes;

	ck_assert(!unit_uops(unit, "\1\1", 2, none, &u, &differing, &e));
	ck_assert(unit_uops(unit, "\1", 1, none, &u, &differing, &e));
	ck_assert(unit_uops(unit, "\1\1\1", 3, none, &u, &differing, &e));
	ck_assert(unit_uops(unit, "\1\x80", 2, none, &u, &differing, &e));
	ck_assert(!u.func.n);
	unit_free(unit);
}
END_TEST

/* The base of a table is known far from where it was loaded, until it changes. */
static const char table[] = "\t.section\t.rodata\n.L4:\n\t.long\t.L5-.L4\n\t.long\t.L6-.L4\n"
			    "\t.long\tg-.L4\n\t.text\n";
#define DISPATCH \
	"\tmovslq\t(%rdx,%rax,4), %rax\n\taddq\t%rdx, %rax\n\tjmp\t*%rax\n" \
	".L5:\n\tnop\n\tret\n.L6:\n\tret\n"

START_TEST(follows_a_table_of_distances)
{
	static const char body[] = "\tleaq\t.L4(%rip), %rdx\n\ttestl\t%edi, %edi\n\tje\t.L5\n"
				   "\tmovl\t%edi, %eax\n\tcmpl\t$2, %eax\n" DISPATCH;

	ck_assert_int_eq(compile(body, table, (uint32_t[]){12, 20, 8, 4}, 11), 0);
	ck_assert(u.func.v[0].ntable == 1 && u.table.v[0].n == 2);
	ck_assert(u.target.v[0] == 2 && u.target.v[1] == 3);
	ck_assert_int_eq(u.block.v[1].term, UT_REG);
	ck_assert_int_eq(u.uop.v[u.block.v[1].uop + 2].kind, UOP_LOOKUP);
	ck_assert_int_eq(u.uop.v[u.block.v[1].uop + 3].kind, UOP_ADD_BASE);
}
END_TEST

START_TEST(forgets_a_table_over_calls)
{
	static const char body[] = "\tleaq\t.L4(%rip), %rdx\n\tcall\tg\n\tje\t.L5\n"
				   "\tmovl\t%edi, %eax\n\tcmpl\t$2, %eax\n" DISPATCH;

	ck_assert_int_eq(compile(body, table, (uint32_t[]){12, 20, 8, 4}, 11), 0);
	ck_assert_int_eq(u.uop.v[u.block.v[1].uop + 2].kind, UOP_MOVSX);
	ck_assert_int_eq(u.uop.v[u.block.v[1].uop + 3].kind, UOP_ADD);
}
END_TEST

START_TEST(no_table_that_may_change)
{
	char *writable = arena_strdup(&mem, table);

	memcpy(strstr(writable, ".rodata"), ".data\t\t", 7);
	ck_assert_int_eq(
	    compile("\tleaq\t.L4(%rip), %rdx\n" DISPATCH, writable, (uint32_t[]){16, 8, 4}, 7), 0);
	ck_assert_int_eq(u.func.v[0].ntable, 0);
	ck_assert_int_eq(u.uop.v[1].kind, UOP_MOVSX);
}
END_TEST

START_TEST(follows_addresses_in_the_jump)
{
	const char *data = "\t.section\t.data.rel.ro.local,\"aw\"\nt:\n\t.quad\t.L5\n\t.quad\t.L6\n"
			   "\t.quad\t0\n\t.text\n";

	ck_assert_int_eq(compile("\tjmp\t*t(,%rsi,8)\n.L5:\n\tnop\n\tret\n.L6:\n\tret\n", data,
			     (uint32_t[]){4, 8, 4}, 4),
	    0);
	ck_assert(u.block.v[0].term == UT_LOOKUP && u.block.v[0].reg == UR_SI);
	ck_assert(u.table.v[0].n == 2 && u.target.v[1] == 2);
}
END_TEST

/* ---- where ways meet ---- */

START_TEST(meets_behind_both_arms)
{
	static const char body[] = "\tcmpl\t$1, (%rdi)\n\tje\t.L5\n\tmovl\t$2, %ebx\n"
				   "\tjmp\t.L6\n.L5:\n\tmovl\t%ecx, (%rsi)\n.L6:\n\tret\n";

	ck_assert_int_eq(compile(body, "", (uint32_t[]){8, 8, 4, 4}, 6), 0);
	ck_assert_int_eq(u.block.v[0].join, 3);
	ck_assert(u.block.v[0].writes == 1 << UR_BX && u.block.v[0].stores);
	ck_assert(u.block.v[1].join == UOPS_NONE && u.block.v[3].join == UOPS_NONE);
}
END_TEST

/* What pushes and pops leaves the stack pointer where it was; of a call that does
 * not come back nothing arrives. */
START_TEST(arms_that_do_not_meet_do_not_count)
{
	static const char body[] = "\ttestb\t$1, (%rdi)\n\tje\t.L5\n"
				   "\tpushq\t%rax\n\t.cfi_adjust_cfa_offset 8\n\tpopq\t%rdx\n"
				   "\t.cfi_adjust_cfa_offset -8\n\tcmpb\t$2, (%rdi)\n\tjne\t.L6\n"
				   ".L5:\n\tret\n.L6:\n\tmovl\t$3, %ebx\n\tcall\tabort\n";

	ck_assert_int_eq(compile(body, "", (uint32_t[]){8, 16, 4, 8}, 9), 0);
	ck_assert_int_eq(u.block.v[0].join, 2);
	ck_assert(u.block.v[0].writes == 1 << UR_DX && u.block.v[0].stores);
	ck_assert_int_eq(u.block.v[1].join, 2);
	ck_assert(!u.block.v[1].writes && !u.block.v[1].stores);
}
END_TEST

START_TEST(does_not_meet_behind_what_it_does_not_know)
{
	ck_assert_int_eq(
	    compile("\tje\t.L5\n\tcpuid\n.L5:\n\tret\n", "", (uint32_t[]){4, 4, 4}, 3), 0);
	ck_assert_int_eq(u.block.v[0].join, UOPS_NONE);
	uops_free(&u);
	ck_assert_int_eq(
	    compile("\tje\t.L5\n\tret\n.L5:\n\tret\n", "", (uint32_t[]){4, 4, 4}, 3), 0);
	ck_assert_int_eq(u.block.v[0].join, UOPS_NONE);
}
END_TEST

/* ---- the file ---- */

static bool is_it(void *arg, const struct hash128 *key, const void *end)
{
	return !memcmp(key, arg, sizeof *key);
}

/* Whichever function is left out, the other is read as ever. */
START_TEST(reads_some_functions)
{
	struct buf all = {0};
	struct hash128 key;
	struct uops some;

	compile("\tmovabsq\t$-81985529216486896, %rax\n\tret\n", "", (uint32_t[]){8}, 2);
	compile(loop, "", loop_sizes, 6);
	key = u.func.v[1].key;
	uops_sort(&u);
	uops_encode(&u, &all);
	ck_assert_msg(!uops_decode_some(all.p, all.n, is_it, &key, &some, &e), "%s", e.text);
	ck_assert_int_eq(some.func.n, 1);
	ck_assert_uint_lt(some.uop.n, u.uop.n);
	ck_assert_uint_ne(uops_after_call(&some, 0, 1, 4), UOPS_NONE);
	ck_assert_int_eq(uops_frame(&some, uops_at(&some, 0, 1, 8))->offset, 16);
	uops_free(&some);
	key = u.func.v[uops_find(&u, &key) ? 0 : 1].key;
	ck_assert_msg(!uops_decode_some(all.p, all.n, is_it, &key, &some, &e), "%s", e.text);
	ck_assert_int_eq(some.func.n, 1);
	ck_assert_uint_eq(some.uop.n, some.block.v[0].nuop);
	uops_free(&some);
	ck_assert(uops_decode_some(all.p, all.n - 1, is_it, &key, &some, &e));
	buf_free(&all);
}
END_TEST

START_TEST(reads_what_it_writes)
{
	struct buf once = {0}, twice = {0};
	struct hash128 key, other = {{7}};
	struct uops back;
	size_t n;

	compile(loop, "", loop_sizes, 6);
	key = u.func.v[0].key;
	compile(loop, "", loop_sizes, 6); /* the same again */
	compile("\tmovabsq\t$-81985529216486896, %rax\n\tret\n", "", (uint32_t[]){8}, 2);
	uops_sort(&u);
	ck_assert_int_eq(u.func.n, 2);
	uops_encode(&u, &once);
	ck_assert_msg(!uops_decode(once.p, once.n, &back, &e), "%s", e.text);
	uops_encode(&back, &twice);
	ck_assert(once.n == twice.n && !memcmp(once.p, twice.p, once.n));
	ck_assert(uops_find(&back, &key) < 2 && uops_find(&back, &other) == UOPS_NONE);
	ck_assert_uint_ne(uops_after_call(&back, uops_find(&back, &key), 1, 4), UOPS_NONE);
	ck_assert_int_eq(
	    uops_frame(&back, uops_at(&back, uops_find(&back, &key), 1, 8))->offset, 16);
	uops_free(&back);
	for (n = 0; n < once.n; n++)
		ck_assert(uops_decode(once.p, n, &back, &e) && !back.func.n);
	buf_char(&once, 0);
	ck_assert(uops_decode(once.p, once.n, &back, &e));
	ck_assert(uops_decode(NULL, 0, &back, &e));
	buf_free(&once);
	buf_free(&twice);
}
END_TEST

/* Linked or not, over gaps and dense runs. */
START_TEST(finds_frames)
{
	const struct uops_frame *want[100];
	uint32_t i, r = 7;

	for (i = 0; i < 100; i++) {
		r = r * 1664525 + 1013904223;
		if (r >> (i < 50 ? 28 : 31))
			continue;
		vec_push(&u.frame, (struct uops_frame){i, r & 1 << 20 ? UR_SP : UA_NONE, 8});
	}
	ck_assert_uint_gt(u.frame.n, 20);
	for (i = 0; i < 100; i++) {
		vec_push(&u.uop, (struct uop){.kind = UOP_NOP});
		want[i] = uops_frame(&u, i);
	}
	uops_link(&u);
	for (i = 0; i < 100; i++)
		ck_assert_ptr_eq(uops_frame(&u, i), want[i]);
	ck_assert_ptr_null(uops_frame(&u, UOPS_NONE));
}
END_TEST

/* A function of one block of one uop, NOP at `kind`. */
START_TEST(refuses_what_is_out_of_bounds)
{
	static const uint8_t head[] = {'M', 'o', 'r', 'p', 'h', 'U', 'O', '5', 1, 1, 2, 3, 4, 5, 6,
	    7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	static const struct {
		const char *what;
		uint8_t n, body[24];
	} cases[] = {
	    {"sound", 13, {1, 0, UT_STOP, 0, 0, 0, 0, 0, 1, UOP_END, 0, 1}},
	    {"no end", 13, {1, 0, UT_STOP, 0, 0, 0, 0, 0, 1, UOP_NOP, 0, 1}},
	    {"no uop", 10, {1, 0, UT_STOP, 0, 0, 0, 0, 0, 0}},
	    {"jump out", 13, {1, 0, UT_GO, 0, 0, 1, 0, 0, 1, UOP_END, 0, 1}},
	    {"no such table", 13, {1, 0, UT_LOOKUP, 0, 0, 0, 0, 0, 1, UOP_END, 0, 1}},
	    {"more blocks than bytes", 13, {100, 0, UT_STOP, 0, 0, 0, 0, 0, 1, UOP_END, 0, 1}},
	    {"target out", 15, {1, 1, 1, 2, UT_STOP, 0, 0, 0, 0, 0, 1, UOP_END, 0, 1}},
	    {"no such condition", 13, {1, 0, UT_COND, 16, 0, 0, 0, 0, 1, UOP_END, 0, 1}},
	    {"no such register", 13, {1, 0, UT_REG, 0, 16, 0, 0, 0, 1, UOP_END, 0, 1}},
	    {"meets out", 14, {1, 0, UT_STOP, 0, 0, 0, 0, 2, 0, 1, UOP_END, 0, 1}},
	    {"writes more than there is", 16,
		{1, 0, UT_STOP, 0, 0, 0, 0, 1, 0x80, 0x80, 8, 1, UOP_END, 0, 1}},
	    {"lookup without table", 20,
		{1, 0, UT_STOP, 0, 0, 0, 0, 0, 2, UOP_LOOKUP, 4 + 16, 1, UA_NONE, UR_DX, 0, 0,
		    UOP_END, 0, 2}},
	    {"place goes back", 17,
		{1, 0, UT_STOP, 0, 0, 0, 0, 0, 2, UOP_NOP, 0, 1, UOP_END + 1, 0, 1}},
	    {"high byte of 8 bytes", 17,
		{1, 0, UT_STOP, 0, 0, 0, 0, 0, 2, UOP_INC, 1 + 96, 1, UO_HIGH, UOP_END, 0, 2}},
	};
	struct buf b = {0};
	struct uops back;
	int rc;

	buf_add(&b, head, sizeof head);
	buf_add(&b, cases[_i].body, cases[_i].n - 1);
	rc = uops_decode(b.p, b.n, &back, &e);
	ck_assert_msg((rc == 0) == (_i == 0), "%s: %s", cases[_i].what, e.text);
	uops_free(&back);
	buf_free(&b);
}
END_TEST

UNIT_MAIN("uops", 0, setup, teardown, UNIT_LOOP(reads_an_instruction, sizeof insns / sizeof *insns),
    UNIT_LOOP(stops_at_what_it_does_not_know, sizeof odd / sizeof *odd), places_instructions,
    knows_how_functions_are_left, knows_what_is_called, knows_what_is_left_by_returning,
    leaves_out_what_differs, refuses_other_measures, follows_a_table_of_distances,
    forgets_a_table_over_calls, no_table_that_may_change, follows_addresses_in_the_jump,
    meets_behind_both_arms, arms_that_do_not_meet_do_not_count,
    does_not_meet_behind_what_it_does_not_know, reads_some_functions, reads_what_it_writes,
    finds_frames, UNIT_LOOP(refuses_what_is_out_of_bounds, 14))
