/* Counters that are kept in registers: what is known of registers, where counters are kept, and
 * that the output check refuses all that would lose turns or harm the program. */
#include "editor/count/liveness.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

static struct unit *parse(const char *functions)
{
	char *text =
	    arena_printf(&mem, "\t.text\n%s\t.ident\t\"GCC: (Debian) 12.2.0\"\n", functions);
	struct err e;
	struct unit *u = unit_parse(&mem, text, strlen(text), &e);

	ck_assert_msg(u != NULL, "%s", e.text);
	return u;
}

static char *function(const char *name, const char *body)
{
	return arena_printf(&mem,
	    "\t.type\t%s, @function\n%s:\n\t.cfi_startproc\n%s\t.cfi_endproc\n\t.size\t%s, .-%s\n",
	    name, name, body, name, name);
}

static const struct func *func(const struct unit *u, const char *name)
{
	uint32_t i;

	for (i = 0; i < u->nfunc; i++)
		if (!strcmp(u->func[i].name, name))
			return u->func[i].impl;
	ck_abort_msg("no function %s", name);
}

/* ---- one instruction ---- */

static const char *names(uint16_t mask)
{
	static const char *const name[UR_N] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "8",
	    "9", "10", "11", "12", "13", "14", "15"};
	struct buf b = {0};
	char *s;
	int r;

	if (mask == REGS_ALL)
		return "all";
	for (r = 0; r < UR_N; r++)
		if (mask >> r & 1)
			buf_printf(&b, "%s%s", b.n ? " " : "", name[r]);
	s = arena_strdup(&mem, buf_cstr(&b));
	buf_free(&b);
	return s;
}

static void expect(const char *insn, const char *reads, const char *kills, const char *touches)
{
	struct unit *u = parse(arena_printf(&mem, "%s%s",
	    function("f", arena_printf(&mem, "\t%s\n\tret\n", insn)), function("g", "\tret\n")));
	const struct func *f = func(u, "f");
	struct reg_effect e;
	struct regs r;
	uint32_t i;

	regs_open(&r, u->impl);
	for (i = 0; u->impl->stmt.v[f->code.v[i]].kind != ST_INSN; i++)
		;
	e = regs_of_stmt(&r, &u->impl->stmt.v[f->code.v[i]]);
	ck_assert_msg(!strcmp(names(e.reads), reads), "%s reads %s", insn, names(e.reads));
	ck_assert_msg(!strcmp(names(e.kills), kills), "%s kills %s", insn, names(e.kills));
	ck_assert_msg(!strcmp(names(e.touches), touches), "%s touches %s", insn, names(e.touches));
	regs_close(&r);
	unit_free(u);
}

START_TEST(instructions_use_what_they_name)
{
	expect("movl %ecx, %edx", "cx", "dx", "cx dx");
	expect("movq 8(%rdi,%r9,4), %rdi", "di 9", "di", "di 9");
	expect("movb %ah, %bl", "ax bx", "", "ax bx");
	expect("movw %si, %r8w", "si 8", "", "si 8");
	expect("movl %esi, (%rbx)", "bx si", "", "bx si");
	expect("addl %ecx, %edx", "cx dx", "", "cx dx");
	expect("xorl %edx, %edx", "", "dx", "dx");
	expect("xorw %dx, %dx", "dx", "", "dx");
	expect("xorl %edx, %ecx", "cx dx", "", "cx dx");
	expect("leaq (%rax,%r15), %r12", "ax 15", "12", "ax 12 15");
	expect("movzbl (%r10), %r10d", "10", "10", "10");
	expect("cmovne %ecx, %edx", "cx dx", "", "cx dx");
	expect("sete %cl", "cx", "", "cx");
	expect("imull $7, %esi, %edi", "si", "di", "si di");
	expect("popq %rbp", "", "bp", "bp");
	expect("movq %xmm0, %rcx", "", "cx", "cx");
	expect("pextrw $1, %xmm0, %ecx", "", "cx", "cx");
	expect("movss %xmm0, 4(%r13)", "13", "", "13");
}
END_TEST

START_TEST(instructions_use_what_they_do_not_name)
{
	expect("mull %ecx", "ax cx dx", "", "ax cx dx");
	expect("imulq %rcx", "ax cx dx", "", "ax cx dx");
	expect("idivl 4(%rdi)", "ax dx di", "", "ax dx di");
	expect("cltd", "ax dx", "", "ax dx");
	expect("cqto", "ax dx", "", "ax dx");
	expect("cltq", "ax", "", "ax");
	expect("sall %cl, %edi", "cx di", "", "cx di");
	expect("shldl %eax, %edi", "ax cx di", "", "ax cx di");
	expect("lock cmpxchgq %rcx, (%rdi)", "ax cx di", "", "ax cx di");
	expect("xchgl %ecx, (%rdi)", "cx di", "", "cx di");
	expect("leave", "bp", "", "bp");
	expect("rep stosq", "ax cx si di", "", "ax cx si di");
	expect("repnz scasb", "ax cx si di", "", "ax cx si di");
}
END_TEST

START_TEST(what_is_not_understood_uses_all)
{
	expect("cpuid", "all", "", "all");
	expect("rdtsc", "all", "", "all");
	expect("syscall", "all", "", "all");
	expect("movsb", "all", "", "all");
	expect("cmpxchg16b (%rdi)", "all", "", "all");
	expect("mulx %rax, %rcx, %rsi", "all", "", "all");
	expect("pcmpistri $1, %xmm0, %xmm1", "all", "", "all");
	expect("movq %r17, %rcx", "all", "", "all");
	expect("call *%rax", "ax cx dx si di 8 9 10", "", "all");
	expect("call __x86_indirect_thunk_rbx", "all", "", "all");
	expect("call __tls_get_addr@PLT", "all", "", "all");
}
END_TEST

START_TEST(calls_hand_over_arguments)
{
	expect("call somewhere", "ax cx dx si di 8 9 10", "", "all");
	expect("call memset@PLT", "dx si di", "ax cx dx si di 8 9 10 11", "all");
	expect("call *memset@GOTPCREL(%rip)", "dx si di", "ax cx dx si di 8 9 10 11", "all");
	expect("call __stack_chk_fail@PLT", "", "ax cx dx si di 8 9 10 11", "all");
	/* Of the unit itself: it changes what it changes, and takes what it takes. */
	expect("call g", "ax dx", "", "all");
	expect("call g@PLT", "ax cx dx si di 8 9 10", "", "all");
	expect("ret", "ax bx dx bp sp 12 13 14 15", "", "all");
}
END_TEST

/* ---- a function ---- */

#define LOOP(BODY, BEHIND)                                                                         \
	"\txorl\t%eax, %eax\n.L2:\n\taddl\t(%rdi), %eax\n" BODY                                    \
	"\taddq\t$4, %rdi\n\tcmpq\t%rsi, %rdi\n\tjne\t.L2\n" BEHIND

static char *counted(const char *functions)
{
	struct unit *u = parse(functions);
	struct unit_placement *placement = arena_array(&mem, u->nfunc, sizeof *placement);
	const struct unit_counting how = {.edges = true};
	struct buf out = {0};
	struct err e;
	char *s;

	ck_assert_int_eq(unit_count(u, &how, placement, &e), 0);
	unit_emit(u, placement, 7, &out);
	ck_assert_msg(!unit_check_counting(u, placement, 7, out.p, out.n, &e), "%s\n%s", e.text,
	    buf_cstr(&out));
	s = arena_strndup(&mem, out.p, out.n);
	buf_free(&out);
	unit_free(u);
	return s;
}

/* The register of the first counter that is kept in one: "ecx"; "" when none is. */
static const char *kept_in(const char *functions)
{
	const char *at = strstr(counted(functions), "\tmovl\t$0, %");
	const char *end = at ? strstr(at, "\t# .LMC") : NULL;

	return end ? arena_strndup(&mem, at + 11, (size_t)(end - at) - 11) : "";
}

static void keeps(const char *body, const char *want)
{
	const char *got = kept_in(function("f", body));

	ck_assert_msg(!strcmp(got, want), "kept in '%s', not '%s':\n%s", got, want, body);
}

START_TEST(a_loop_has_a_free_register)
{
	keeps(LOOP("", "\tret\n"), "ecx");
	keeps(LOOP("\txorb\t%cl, 8(%rdi)\n", "\tret\n"), "r8d");
	keeps(LOOP("\tsall\t%cl, (%rdi)\n", "\tret\n"), "r8d");
}
END_TEST

START_TEST(what_is_needed_behind_it_is_not_free)
{
	keeps(LOOP("", "\taddl\t%ecx, %eax\n\tret\n"), "r8d");
	keeps(LOOP("", "\tmovl\t%eax, %ecx\n\tret\n"), "ecx");
	keeps(LOOP("", "\tmovb\t%al, %cl\n\tret\n"), "r8d");
	keeps(LOOP("", "\tjmp\tother\n"), "r11d");
	keeps(LOOP("", "\tjmp\tstrlen@PLT\n"), "ecx");
	keeps(LOOP("", "\tjmp\t*%rax\n"), "");
	keeps(LOOP("", "\tcpuid\n\tret\n"), "");
}
END_TEST

START_TEST(where_control_may_leave_nothing_is_kept)
{
	keeps(LOOP("\tcall\tother\n", "\tret\n"), "");
	keeps(LOOP("\tcall\tmemcmp@PLT\n", "\tret\n"), "");
	keeps(LOOP("\tje\tother\n", "\tret\n"), "");
	keeps(LOOP("#APP\n# 1 \"a.c\" 1\n\tnop\n# 0 \"\" 2\n#NO_APP\n", "\tret\n"), "");
	keeps(LOOP("\trep stosb\n", "\tret\n"), "r8d");
}
END_TEST

START_TEST(a_saved_register_is_free_while_it_is_saved)
{
	static const char body[] = "\tmovl\t(%r8,%r9), %ecx\n\tmovl\t(%r10,%r11), %edx\n";

	keeps(arena_printf(&mem, "%s",
		  LOOP("\tmovl\t(%r8,%r9), %ecx\n\tmovl\t(%r10,%r11), %edx\n", "\tret\n")),
	    "");
	keeps(arena_printf(&mem,
		  "\tpushq\t%%rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 3, -16\n\txorl\t%%eax, "
		  "%%eax\n"
		  ".L2:\n\taddl\t(%%rdi), %%eax\n%s\taddq\t$4, %%rdi\n\tcmpq\t%%rsi, "
		  "%%rdi\n\tjne\t.L2\n"
		  "\tpopq\t%%rbx\n\t.cfi_def_cfa_offset 8\n\tret\n",
		  body),
	    "ebx");
	/* Without unwind information for it, nobody could restore it. */
	keeps(arena_printf(&mem,
		  "\tpushq\t%%rbx\n\t.cfi_def_cfa_offset 16\n\txorl\t%%eax, %%eax\n"
		  ".L2:\n\taddl\t(%%rdi), %%eax\n%s\taddq\t$4, %%rdi\n\tcmpq\t%%rsi, "
		  "%%rdi\n\tjne\t.L2\n"
		  "\tpopq\t%%rbx\n\t.cfi_def_cfa_offset 8\n\tret\n",
		  body),
	    "");
}
END_TEST

/* GCC's -fipa-ra: a caller that knows what f changes keeps values in the rest. */
START_TEST(callers_keep_what_a_function_leaves_alone)
{
	const char *leaf = function("f", LOOP("", "\tret\n"));
	const char *caller = "\tcall\tf\n\tmovl\t%ecx, %eax\n\tjmp\tstrlen@PLT\n";

	ck_assert_str_eq(kept_in(arena_printf(&mem, "%s%s", leaf, function("g", caller))), "r8d");
	/* Its own callers do, too. */
	caller = "\tcall\tg\n\tmovl\t%ecx, %eax\n\tjmp\tstrlen@PLT\n";
	ck_assert_str_eq(kept_in(arena_printf(&mem, "%s%s%s", leaf,
			     function("g", "\tcall\tf\n\txorl\t%eax, %eax\n\tjmp\tfree@PLT\n"),
			     function("h", caller))),
	    "r8d");
	/* But not where g changes it itself, as far as they know. */
	ck_assert_str_eq(
	    kept_in(arena_printf(&mem, "%s%s%s", leaf,
		function("g", "\tmovl\t$1, %ecx\n\tcall\tf\n\txorl\t%eax, %eax\n\tjmp\tfree@PLT\n"),
		function("h", caller))),
	    "ecx");
	/* By another name all may be needed. */
	ck_assert_str_eq(kept_in(arena_printf(&mem, "%s\t.set\tg,f\n", leaf)), "");
	/* One that keeps to another ABI. */
	ck_assert_str_eq(kept_in(function("f",
			     "\tpushq\t%rcx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 2, -16\n" LOOP(
				 "", "\tpopq\t%rcx\n\t.cfi_def_cfa_offset 8\n\tret\n"))),
	    "");
}
END_TEST

/* ---- the check ---- */

static const char loops[] =
    "\txorl\t%eax, %eax\n\ttestl\t%esi, %esi\n\tje\t.L5\n.L2:\n\taddl\t(%rdi), %eax\n"
    "\tcmpl\t$9, %eax\n\tje\t.L4\n\taddq\t$4, %rdi\n\tcmpq\t%rsi, %rdi\n\tjne\t.L2\n\tmovl\t%r8d, "
    "%ecx\n"
    ".L4:\n\tmovl\t%r8d, %ecx\n\taddl\t%ecx, %eax\n.L5:\n\tret\n";

static bool refused(const char *from, const char *to, bool all, const char *why)
{
	struct unit *u = parse(function("f", loops));
	struct unit_placement *placement = arena_array(&mem, u->nfunc, sizeof *placement);
	const struct unit_counting how = {.edges = true};
	struct buf out = {0}, changed = {0};
	const char *p, *at;
	struct err e = {""};
	int rc;

	ck_assert_int_eq(unit_count(u, &how, placement, &e), 0);
	unit_emit(u, placement, 7, &out);
	ck_assert_int_eq(unit_check_counting(u, placement, 7, out.p, out.n, &e), 0);
	for (p = buf_cstr(&out); (at = strstr(p, from)); p = at + strlen(from)) {
		buf_add(&changed, p, (size_t)(at - p));
		buf_str(&changed, to);
		if (!all) {
			p = at + strlen(from);
			break;
		}
	}
	ck_assert_msg(changed.n, "no '%s' in\n%s", from, out.p);
	buf_str(&changed, p);
	rc = unit_check_counting(u, placement, 7, changed.p, changed.n, &e);
	ck_assert_msg(rc, "accepted:\n%s", buf_cstr(&changed));
	ck_assert_msg(strstr(e.text, why), "%s, not '%s':\n%s", e.text, why, buf_cstr(&changed));
	buf_free(&out);
	buf_free(&changed);
	unit_free(u);
	return true;
}

START_TEST(the_check_refuses_lost_turns)
{
	const char *text = counted(function("f", loops));
	const char *clear = "\tmovl\t$0, %ecx\t# .LMC0+", *add = "\taddq\t%rcx, .LMC0+";
	char *line;

	ck_assert_msg(strstr(text, clear) && strstr(text, add), "%s", text);
	line = arena_strndup(&mem, strstr(text, clear), strcspn(strstr(text, clear), "\n") + 1);
	refused(line, "", true, "not in its register");
	refused(line, arena_printf(&mem, "%s%s", line, line), false, "are lost");
	line = arena_strndup(&mem, strstr(text, add), strcspn(strstr(text, add), "\n") + 1);
	refused(line, "", false, "holds a counter");
	refused(line, arena_printf(&mem, "%s%s", line, line), false, "not in its register");
	refused("\tleaq\t1(%rcx), %rcx", "\tleaq\t2(%rcx), %rcx", false, "");
	refused("\tleaq\t1(%rcx), %rcx", "\tleaq\t1(%rdx), %rdx", false, "");
	refused(line, "", true, "holds a counter");
}
END_TEST

START_TEST(the_check_refuses_harm)
{
	refused("\tmovl\t%r8d, %ecx", "\taddl\t%r8d, %ecx", true, "reads what is left");
	refused("\taddl\t(%rdi), %eax", "\taddl\t(%rdi,%rcx), %eax", true, "holds a counter");
	refused("\taddl\t(%rdi), %eax", "\tcall\tmemset@PLT", true, "control leaves");
	refused("\tjne\t.LMB0.1", "\tjne\t.LMB0.5", true, "some ways");
}
END_TEST

UNIT_MAIN("promote", 0, setup, teardown,
	instructions_use_what_they_name, instructions_use_what_they_do_not_name,
	what_is_not_understood_uses_all, calls_hand_over_arguments, a_loop_has_a_free_register,
	what_is_needed_behind_it_is_not_free, where_control_may_leave_nothing_is_kept,
	a_saved_register_is_free_while_it_is_saved, callers_keep_what_a_function_leaves_alone,
	the_check_refuses_lost_turns, the_check_refuses_harm)
