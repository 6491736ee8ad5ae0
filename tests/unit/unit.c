/*
 * The text side of the editor: what the parser sees in a function, what the
 * printer makes of a layout, and what the output check does not let pass.
 */
#include "common/publish.h"
#include "editor/count/count.h"
#include "editor/unit.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define IDENT "\t.ident\t\"GCC: 12\"\n"
#define TYPED(name) "\t.globl\t" name "\n\t.type\t" name ", @function\n" name ":\n"
#define SIZED(name) "\t.size\t" name ", .-" name "\n"
/* A function without unwind directives, and one with. */
#define BARE(name, body) TYPED(name) body SIZED(name)
#define FUNC(name, body) TYPED(name) "\t.cfi_startproc\n" body "\t.cfi_endproc\n" SIZED(name)
#define UNIT(text) "\t.file\t\"t.c\"\n\t.text\n" text IDENT

static struct arena mem;
static struct unit *last;
static struct probes **counted; /* of the text that is checked; NULL: nothing is */

static void setup(void)
{
	mem = (struct arena){0};
	last = NULL;
	counted = NULL;
}

static void teardown(void)
{
	unit_free(last);
	arena_free(&mem);
}

static struct unit *parse(const char *text)
{
	struct err e;

	unit_free(last);
	last = unit_parse(&mem, text, strlen(text), &e);
	ck_assert_msg(last != NULL, "refused: %s", e.text);
	return last;
}

static const struct unit_func *only(const char *text)
{
	struct unit *u = parse(text);

	ck_assert_uint_eq(u->nfunc, 1);
	return &u->func[0];
}

/* "0>1n 0>2t": source, target, first letter of the edge's kind. */
static const char *edges(const struct unit_func *f)
{
	struct buf b = {0};
	const char *s;
	uint32_t i;

	for (i = 0; i < f->cfg.nedge; i++)
		buf_printf(&b, "%s%u>%u%c", i ? " " : "", f->cfg.edge[i].src, f->cfg.edge[i].dst,
		    "fjtnix"[f->cfg.edge[i].kind]);
	s = arena_strdup(&mem, buf_cstr(&b));
	buf_free(&b);
	return s;
}

static void expect(const char *text, uint32_t blocks, const char *want)
{
	const struct unit_func *f = only(text);

	ck_assert_msg(!f->opaque, "opaque: %s", f->opaque);
	ck_assert_uint_eq(f->cfg.nblock, blocks);
	ck_assert_str_eq(edges(f), want);
}

static struct layout random_layout(const struct unit_func *f, uint64_t seed)
{
	struct layout_options o = {.split = !f->one_part, .copies = true};
	struct layout l;

	layout_random(&f->cfg, &o, seed, &l, &mem);
	l.entry_align = 0; /* as the texts below expect it */
	return l;
}

/* All functions that may move, in random layouts; seed 0: all stay. */
static char *print(const struct unit *u, uint64_t seed)
{
	struct unit_placement *placement = arena_array(&mem, u->nfunc, sizeof *placement);
	struct buf out = {0};
	struct err e;
	uint32_t i;
	char *s;

	for (i = 0; i < u->nfunc; i++) {
		placement[i].edit = u->func[i].movable;
		placement[i].rank = (uint32_t)(i * 7 + seed) % 100;
		placement[i].layout = random_layout(&u->func[i], seed * 1000 + i);
		placement[i].padding = (uint8_t)((seed + i) * 13 % 64);
	}
	unit_emit(u, seed ? placement : NULL, 7, &out);
	ck_assert_msg(!unit_check(u, out.p, out.n, &e), "%s\n%.*s", e.text, (int)out.n, out.p);
	s = arena_strndup(&mem, out.p, out.n);
	buf_free(&out);
	return s;
}

/* One function, with this block order; cold blocks behind nhot. */
static char *print_order(const struct unit *u, uint32_t *order, uint32_t nhot)
{
	struct unit_placement *placement = arena_array(&mem, u->nfunc, sizeof *placement);
	struct buf out = {0};
	struct err e;
	char *s;

	placement[0] = (struct unit_placement){
	    .edit = true, .rank = 12, .layout = {order, u->func[0].cfg.nblock, nhot}};
	unit_emit(u, placement, 7, &out);
	ck_assert_msg(!unit_check(u, out.p, out.n, &e), "%s\n%.*s", e.text, (int)out.n, out.p);
	s = arena_strndup(&mem, out.p, out.n);
	buf_free(&out);
	return s;
}

/* One function, as it was, but its first call through the GOT. */
static char *print_direct(const struct unit *u)
{
	struct unit_placement *placement = arena_array(&mem, u->nfunc, sizeof *placement);
	static const bool direct[8] = {true};
	struct buf out = {0};
	char *s;

	placement[0].edit = true;
	placement[0].direct = direct;
	layout_identity(&u->func[0].cfg, &placement[0].layout, &mem);
	unit_emit(u, placement, 7, &out);
	s = arena_strndup(&mem, out.p, out.n);
	buf_free(&out);
	return s;
}

static void has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in\n%s", part, text);
}

/* ---- blocks and edges ---- */

#define DIAMOND \
	"\ttestl\t%edi, %edi\n\tje\t.L2\n\tmovl\t$1, %eax\n\tret\n\t.p2align 4,,10\n\t.p2align " \
	"3\n" \
	".L2:\n\tmovl\t$2, %eax\n\tcall\tg@PLT\n\taddl\t$1, %eax\n\tret\n"

START_TEST(branches)
{
	const struct unit_func *f;

	expect(UNIT(FUNC("f", DIAMOND)), 3, "0>2t 0>1n");
	f = &last->func[0];
	ck_assert_uint_eq(f->cfg.block[0].insns, 2);
	ck_assert_uint_eq(f->cfg.block[1].insns, 2);
	ck_assert_uint_eq(f->cfg.block[2].insns, 4);
	ck_assert_uint_eq(f->cfg.block[0].flags, 0);
	ck_assert_uint_eq(f->cfg.block[1].flags, BLK_EXIT);
	ck_assert(f->global && f->movable && !f->one_part);
	ck_assert_str_eq(f->name, "f");
	ck_assert_uint_eq(f->ncall, 1);
	ck_assert_str_eq(f->call[0].callee, "g");
	ck_assert_uint_eq(f->call[0].block, 2);
	ck_assert_uint_eq(f->call[0].insn, 1);
	ck_assert_str_eq(last->name, "t.c");
	ck_assert_str_eq(last->producer, "GCC: 12");
}
END_TEST

START_TEST(loops_and_falls)
{
	expect(UNIT(FUNC("f", "\tjmp\t.L3\n.L4:\n\tincl\t%eax\n.L3:\n\tcmpl\t$9, %eax\n"
			      "\tjne\t.L4\n\tret\n")),
	    4, "0>2j 1>2f 2>1t 2>3n");
	/* Labels that nothing jumps to begin no block. */
	expect(UNIT(FUNC("f", ".LFB0:\n\tnop\n.LVL1:\n\tnop\n.L9:\n\tret\n")), 1, "");
}
END_TEST

#define GCC_SWITCH \
	"\tcmpl\t$2, %edi\n\tja\t.L1\n\tleaq\t.L4(%rip), %rdx\n\tmovslq\t(%rdx,%rdi,4), %rax\n" \
	"\taddq\t%rdx, %rax\n\tnotrack jmp\t*%rax\n\t.section\t.rodata\n\t.align 4\n.L4:\n" \
	"\t.long\t.L1-.L4\n\t.long\t.L3-.L4\n\t.long\t.L1-.L4\n\t.text\n" \
	".L3:\n\tmovl\t$3, %eax\n\tret\n.L1:\n\tret\n"

START_TEST(gcc_switch)
{
	expect(UNIT(FUNC("f", GCC_SWITCH)), 4, "0>3t 0>1n 1>3i 1>2i");
	ck_assert(!last->func[0].one_part);
	ck_assert_uint_eq(last->func[0].cfg.block[1].flags, BLK_INDIRECT);
	ck_assert_uint_eq(last->func[0].cfg.block[2].flags, BLK_EXIT);
}
END_TEST

START_TEST(clang_switch)
{
	/* clang's table comes behind the function: all labels in it may be meant. */
	expect(UNIT(FUNC("f",
		   "\tja\t.LBB0_3\n\tjmpq\t*.LJTI0_0(,%rdi,8)\n.LBB0_1:\n\tretq\n"
		   ".LBB0_3:\n\tretq\n.LBB0_4:\n\tretq\n.Lfunc_end0:\n") "\t.section\t.rodata,"
									 "\"a\",@progbits\n.LJTI0_"
									 "0:\n\t.quad\t.LBB0_1\n"
									 "\t.quad\t.LBB0_4\n"),
	    5, "0>3t 0>1n 1>2i 1>4i");
}
END_TEST

START_TEST(computed_goto)
{
	expect(UNIT(FUNC("f", "\tjmp\t*t.0(,%rax,8)\n.L2:\n\tincl\t%eax\n\tjmp\t*t.0(,%rax,8)\n"
			      ".L3:\n\tret\n") "\t.section\t.rodata\n\t.align "
					       "8\nt.0:\n\t.quad\t.L2\n\t.quad\t.L3\n"),
	    3, "0>1i 0>2i 1>1i 1>2i");
	ck_assert(!last->func[0].one_part);
}
END_TEST

START_TEST(distances_hold_one_part)
{
	const struct unit_func *f;

	f = only(UNIT(FUNC("f",
	    "\taddq\t$.L2, %rax\n\tjmp\t*%rax\n.L2:\n\tret\n.L3:\n\tret\n") "\t.section\t."
									    "rodata\nd.0:\n\t."
									    "long\t.L3-.L2\n"));
	ck_assert(f->one_part && f->movable && !f->opaque);
	f = only(UNIT(
	    FUNC("f", "\tmovl\t$.L3-.L2, %eax\n\tje\t.L2\n\tret\n.L2:\n\tret\n.L3:\n\tret\n")));
	ck_assert(f->one_part && f->movable && !f->opaque);
}
END_TEST

START_TEST(indirect_tail_call)
{
	expect(UNIT(FUNC("f", "\ttestl\t%edi, %edi\n\tje\t.L2\n\tjmp\t*72(%rdi)\n.L2:\n\tret\n")),
	    3, "0>2t 0>1n");
	ck_assert_uint_eq(last->func[0].cfg.block[1].flags, BLK_EXIT);
}
END_TEST

START_TEST(conditional_tail_call)
{
	expect(UNIT(FUNC("f", "\ttestl\t%edi, %edi\n\tjne\tg\n\tret\n")), 2, "0>1f");
	ck_assert_uint_eq(last->func[0].cfg.block[0].flags, BLK_EXIT);
	ck_assert_str_eq(last->func[0].call[0].callee, "g");
	/* Recursion through the function's own name is one, too. */
	expect(UNIT(FUNC("f", "\ttestl\t%edi, %edi\n\tjne\tf\n\tret\n")), 2, "0>1f");
}
END_TEST

START_TEST(noreturn_ends)
{
	uint32_t order[] = {0, 2, 1};

	expect(UNIT(FUNC("f", "\tje\t.L2\n\tcall\tabort@PLT\n.L2:\n\tcall\tmine\n")), 3,
	    "0>2t 0>1n 1>2f");
	ck_assert_uint_eq(last->func[0].cfg.block[1].flags, BLK_NORETURN);
	ck_assert_uint_eq(last->func[0].cfg.block[2].flags, BLK_NORETURN | BLK_CALLS);
	/* What runs off the end of the text runs nowhere: no jump is made up. */
	lacks(print_order(last, order, 3), "mine\n\tjmp");
}
END_TEST

START_TEST(odd_bounds)
{
	static const struct {
		const char *text, *why;
	} odd[] = {
	    {FUNC("f", "\tud2\n.L2:\n\tje\t.L2\n"), "falls off its end"},
	    {TYPED("f") "\t.cfi_startproc\n\tje\t.L2\n\tret\n\t.cfi_endproc\n.L2:\n" SIZED("f"),
		"a jump target after its unwind procedure"},
	    {"#APP\n# 0 \"\" 2\n" FUNC("f", "\tnop\n#NO_APP\n\tret\n"),
		"begins inside inline assembly"},
	    {"#APP\n# 0 \"\" 2\n" FUNC("f", "\tnop\n# 1 \"\" 1\n#APP\n#NO_APP\n\tret\n"),
		"begins inside inline assembly"},
	};
	char text[1000];
	size_t i;

	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		snprintf(text, sizeof text, UNIT("%s"), odd[i].text);
		ck_assert_str_eq(only(text)->opaque, odd[i].why);
		print(last, i);
	}
}
END_TEST

START_TEST(asm_goto)
{
	expect(UNIT(FUNC("f", "#APP\n# 3 \"t.c\" 1\n\tjc .L2\n# 0 \"\" 2\n#NO_APP\n\tnop\n\tret\n"
			      ".L2:\n\tret\n")),
	    3, "0>1f 0>2i");
	expect(UNIT(FUNC("f", "#APP\n\tjc .L2\n\tjmp .L2\n#NO_APP\n\tret\n.L2:\n\tret\n")), 3,
	    "0>1f 0>2i");
}
END_TEST

START_TEST(labels_behind_asm_are_the_compilers)
{
	const char *text;

	/* Before it says #NO_APP, GCC may print its own labels and locations. */
	parse(UNIT("\t.file 1 \"t.c\"\n" FUNC("f",
	    "#APP\n# 3 \"t.c\" 1\n\tnop\n# 0 \"\" 2\n.LVL1:\n\t.loc 1 3 view .LVU7\n"
	    "\t.cfi_def_cfa_offset 24\n#NO_APP\n\tje\t.L2\n\tnop\n.L2:\n\tret\n") "\t.section\t."
										  "debug_loclists,"
										  "\"\",@"
										  "progbits\n\t."
										  "uleb128 "
										  ".LVL1-."
										  "Ltext0\n"));
	ck_assert_ptr_null(last->func[0].opaque);
	text = print(last, 3);
	has(text, "\t.uleb128\t0\n");
	lacks(text, ".LVU7");
}
END_TEST

#define COLD \
	"\t.section\t.text.unlikely,\"ax\",@progbits\n.LCOLDB0:\n\t.text\n.LHOTB0:\n" TYPED( \
	    "f") "\t.cfi_startproc\n\tsubq\t$8, %rsp\n\t.cfi_def_cfa_offset " \
		 "16\n\tje\t.L52\n.L53:\n" \
		 "\taddq\t$8, %rsp\n\t.cfi_remember_state\n\t.cfi_def_cfa_offset 8\n\tret\n" \
		 "\t.cfi_endproc\n\t.section\t.text.unlikely\n\t.cfi_startproc\n\t.type\tf.cold, " \
		 "@function\n" \
		 "f.cold:\n.L52:\n\t.cfi_def_cfa_offset " \
		 "16\n\tcall\tg\n\tjmp\t.L53\n\t.cfi_endproc\n\t.text\n" SIZED( \
		     "f") "\t.section\t.text.unlikely\n\t.size\tf.cold, " \
			  ".-f.cold\n.LCOLDE0:\n\t.text\n.LHOTE0:\n"

START_TEST(cold_part_is_rejoined)
{
	uint32_t order[] = {0, 2, 1};
	const char *text;

	expect(UNIT(COLD), 3, "0>2t 0>1n 2>1j");
	ck_assert_uint_eq(last->func[0].cfg.block[0].flags, 0);
	ck_assert_uint_eq(last->func[0].cfg.block[2].flags, BLK_COLD | BLK_CALLS);
	/* In one part: the cold symbol is gone, its size too. */
	text = print_order(last, order, 3);
	lacks(text, "f.cold");
	has(text, "\tjne\t.LMB0.1\n.LMB0.2:\n.L52:\n\tcall\tg\n.LMB0.1:\n");
	/* In two: it is the editor's own now. */
	text = print_order(last, order, 1);
	has(text,
	    "\t.section\t.text.unlikely.f,\"ax\",@progbits\n\t.type\tf.cold, @function\nf.cold:\n"
	    "\t.cfi_startproc\n.LMB0.2:\n\t.cfi_def_cfa_offset 16\n");
	has(text, "\t.size\tf.cold, .-f.cold\n");
}
END_TEST

/* ---- what is not understood ---- */

#define BESIDE(text) UNIT(FUNC("f", DIAMOND) text)

START_TEST(cold_names_that_are_taken)
{
	static const char *const by[] = {BESIDE("f.cold:\n\tnop\n"), BESIDE("\t.set\tf.cold, f\n"),
	    BESIDE("\t.comm\tf.cold,4,4\n"), BESIDE("#APP\nf.cold:\n\tnop\n#NO_APP\n"),
	    BESIDE(FUNC("g", "\tjmp\tf.cold\n")), BESIDE("\t.data\n\t.quad\tf.cold\n\t.text\n")};
	size_t i;

	for (i = 0; i < sizeof by / sizeof *by; i++) {
		parse(by[i]);
		ck_assert_ptr_null(last->func[0].opaque);
		ck_assert_msg(last->func[0].one_part, "%s", by[i]);
		print(last, i + 1);
	}
	ck_assert(!only(BESIDE("g.cold:\n\tnop\n"))->one_part);
}
END_TEST

START_TEST(opaque_functions)
{
	static const struct {
		const char *body, *why;
	} odd[] = {
	    {".LFB0:\n\t.cfi_personality 0x3,__gxx_personality_v0\n\t.cfi_lsda "
	     "0x3,.LLSDA0\n\tret\n",
		"exception table (LSDA) not understood"},
	    {"\t.cfi_escape 0x2d\n\tret\n", ".cfi_escape"},
	    {"\t.cfi_escape 0xf,0x3,0x77,0x78,0x6\n\tret\n", ".cfi_escape"},
	    {"\t.cfi_escape 0xf,0x2,0x76,0x78,0x6\n\tret\n", ".cfi_escape"},
	    {"\t.cfi_escape 0xf,0x3,0x76,0x78,0x6\n\t.cfi_def_cfa_offset 8\n\tret\n",
		"CFI offset from an expression"},
	    {"\t.cfi_window_save\n\tret\n", "CFI directive not understood"},
	    {"\t.cfi_def_cfa_offset big\n\tret\n", "CFI operand not understood"},
	    {"\t.cfi_restore_state\n\tret\n", "CFI state restored that was not remembered"},
	    {".L2:\n\tloop\t.L2\n\tret\n", "a jump of short reach (loop, jrcxz, xbegin)"},
	    {".L2:\n\tjrcxz\t.L2\n\tret\n", "a jump of short reach (loop, jrcxz, xbegin)"},
	    {"\txbegin\t.L2\n.L2:\n\tret\n", "a jump of short reach (loop, jrcxz, xbegin)"},
	    {".L2:\n\tbnd jne\t.L2\n\tret\n", "a jump with a prefix"},
	    {".L2:\n\tbnd jmp\t.L2\n", "a jump with a prefix"},
	    {"\tjmp\t.L2+3\n.L2:\n\tret\n", "jump operand not understood"},
	    {"\tjne,pn .L2\n.L2:\n\tret\n", "jump operand not understood"},
	    {"\tjmp\t.L77\n", "jump operand not understood"},
	    {"\tjmp\t1f\n1:\n\tret\n", "jump operand not understood"},
	    {"1:\n\tret\n", "a numeric label"},
	    {"\tnop\nsecond:\n\tret\n", "a second entry label"},
	    {"\t.frobnicate 3\n\tret\n", "directive .frobnicate"},
	    {"\tnop\n\t.set\there, .\n\tret\n", "a symbol that is set to its place"},
	    {"\t.pushsection .rodata\n\t.popsection\n\tret\n", "section stack inside"},
	    {"\tret\n\t.quad\t.L3\n.L3:\n", "data that refers to labels in code"},
	    {"\t.section\t.text.odd,\"ax\",@progbits\n\tnop\n\t.text\n\tret\n",
		"code in a third section"},
	    {"\t.section\t.rodata\n\tnop\n\t.text\n\tret\n", "code in a third section"},
	    {"\tcall\t__morestack\n\tret\n", "split stack"},
	    {"#APP\n\t.cfi_adjust_cfa_offset 8\n#NO_APP\n\tret\n",
		"unwind directives in inline assembly"},
	    {"#APP\n\tloop .L2\n#NO_APP\n.L2:\n\tret\n",
		"inline assembly with a jump of short reach"},
	    {"#APP\n1:\tnop\n#NO_APP\n\tnop\n#APP\n\tjmp 1b\n#NO_APP\n",
		"inline assembly that refers to another's label"},
	    {"#APP\n\tjmp 7f\n#NO_APP\n\tret\n", "inline assembly that refers to another's label"},
	    {"#APP\n# 1 \"t.c\" 1\n\tnop\n# 0 \"\" 2\n\tret\n#NO_APP\n\tnop\n",
		"a block ends inside inline assembly"},
	    {"\tje\t.L2\n.L2:\n\tret\n\t.cfi_endproc\n\t.cfi_startproc\n",
		"two unwind procedures in one part"},
	};
	const struct unit_func *f;
	char text[1000];
	size_t i;

	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		snprintf(text, sizeof text,
		    UNIT(TYPED("f") "\t.cfi_startproc\n%s\t.cfi_endproc\n" SIZED("f")),
		    odd[i].body);
		f = only(text);
		ck_assert_msg(f->opaque, "understood:\n%s", odd[i].body);
		ck_assert_str_eq(f->opaque, odd[i].why);
		ck_assert_uint_eq(f->cfg.nblock, 1);
		ck_assert_uint_eq(f->cfg.nedge, 0);
		print(last, 0);
		print(last, 1);
	}
}
END_TEST

START_TEST(local_labels_in_one_asm_are_fine)
{
	expect(
	    UNIT(FUNC("f", "#APP\n1:\tdecl %eax\n\tjz 2f\n\tjnz 1b\n2:\n#NO_APP\n\tret\n")), 1, "");
}
END_TEST

START_TEST(unwind_procedures)
{
	ck_assert_str_eq(
	    only(UNIT(BARE("f", "\tnop\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n")))->opaque,
	    "CFI procedure not understood");
	ck_assert_str_eq(
	    only(UNIT(BARE("f", "\t.cfi_startproc\n\tret\n\t.cfi_endproc\n\tnop\n")))->opaque,
	    "code outside .cfi_startproc");
	ck_assert_str_eq(only(UNIT(BARE("f", "\t.cfi_offset 3, -16\n\tret\n")))->opaque,
	    "CFI directive outside of a procedure");
	/* Without any there is nothing to restate. */
	expect(UNIT(BARE("f", DIAMOND)), 3, "0>2t 0>1n");
	lacks(print(last, 5), ".cfi_");
}
END_TEST

static void stays(const char *text)
{
	struct unit *u = parse(text);
	uint32_t i;

	for (i = 0; i < u->nfunc; i++)
		ck_assert_msg(!u->func[i].movable, "%s moves", u->func[i].name);
	lacks(print(u, 1), ".text.sorted");
}

START_TEST(functions_that_stay)
{
	stays(UNIT("\t.section\t.init.text,\"ax\",@progbits\n" FUNC("f", "\tret\n")));
	/* Distances from one to the other. */
	stays(UNIT(FUNC("f", "\tret\n") FUNC("g", "\tret\n") "\t.data\n\t.long\tg-f\n"));
	stays(UNIT("base:\n" FUNC("f", "\tnop\n.L2:\n\tret\n") "\t.data\n\t.long\t.L2-base\n"));
	stays(UNIT(FUNC("f", "\tret\n") FUNC("g", "\tret\n") "\t.set\tspan, g-f\n"));
	/* Patchable entries and prefix data. */
	stays(UNIT(".LPFE0:\n\tnop\n\tnop\n" FUNC("f", "\tnop\n\tret\n")));
	stays(UNIT("\t.p2align 4\n\t.long\t3238382334\n" FUNC("f", "\tret\n")));
	/* Not even its parts are clear. */
	stays(UNIT(
	    TYPED("f") "\tret\n\t.section\t.text.unlikely\n\t.type\tf.cold, @function\nf.cold:\n"
		       "\tud2\n\t.text\n\t.byte\t0\n" SIZED("f") "\t.size\tf.cold, .-f.cold\n"));
	stays(UNIT(TYPED("f") "\tret\n\t.size\tf, 3\n"));
	stays(UNIT(TYPED("f") "\tret\n\t.section\t.rodata\n" SIZED("f") "\t.text\n"));
}
END_TEST

START_TEST(bounds_inside_procedures)
{
	struct unit *u = parse(
	    UNIT("\t.cfi_startproc\n" BARE("f", "\tret\n") "\t.cfi_endproc\n" FUNC("g", "\tret\n")
		    TYPED("h") "\t.cfi_startproc\n\tret\n\t.cfi_endproc\n"
			       "\t.cfi_startproc\n\t.type\th.cold, @function\nh.cold:\n\tud2\n"
			       "\t.cfi_endproc\n" SIZED("h") SIZED("h.cold")));

	ck_assert_uint_eq(u->nfunc, 3);
	ck_assert_str_eq(u->func[0].opaque, "its bound is inside an unwind procedure");
	ck_assert(!u->func[0].movable && u->func[1].movable);
	/* A cold part may have a procedure of its own in the same section. */
	ck_assert(!u->func[2].opaque && u->func[2].cfg.nblock == 2 &&
		  (u->func[2].cfg.block[1].flags & BLK_COLD));
	print(u, 1);
}
END_TEST

START_TEST(refused_units)
{
	static const char changes[] = "inline assembly changes the section";
	static const struct {
		const char *text, *why;
	} odd[] = {
	    {"\t.text\n" FUNC("f", "\tret\n"), "no .ident of a compiler"},
	    {UNIT("\t.intel_syntax noprefix\n"), "line 3: directive .intel_syntax"},
	    {UNIT("\t.macro m\n"), "line 3: directive .macro"},
	    {UNIT("\t.section\t.gnu.lto_.decls,\"e\",@progbits\n"), "LTO object"},
	    {UNIT("\t.section\t.eh_frame,\"a\",@progbits\n"), "unwind tables without CFI"},
	    {UNIT("\t.section\t.llvm_bb_addr_map,\"o\",@llvm_bb_addr_map,.text\n"),
		"has a block map already"},
	    {UNIT("\t.section\t.morph.fn,\"ax\",@progbits\n"), "has a block map already"},
	    {UNIT("\tnop; nop\n"), "line 3: not the form of compiler output"},
	    {UNIT("\tnop /* two */\n"), "line 3: not the form of compiler output"},
	    {UNIT("f: ret\n"), "line 3: not the form of compiler output"},
	    {UNIT(".previous = 1\n"), "line 3: not the form of compiler output"},
	    {UNIT("here = .\n"), "line 3: a symbol that is set to its place"},
	    {UNIT("\t.text 1\n"), "line 3: subsection"},
	    {UNIT(".L1:\n.L1:\n"), "line 4: label .L1 again"},
	    {UNIT(".LMB0.0:\n"), "line 3: has block labels already"},
	    {UNIT("\t.pushsection .data\n"), ".pushsection without .popsection"},
	    {UNIT("\t.popsection\n"), "line 3: .popsection alone"},
	    {UNIT("\t.cfi_startproc\n" FUNC("f", "\tret\n")), "nested unwind procedure"},
	    {UNIT("\t.cfi_startproc\n\t.cfi_startproc\n"), "nested unwind procedure"},
	    {UNIT("#APP\n\tnop\n"), "#APP without #NO_APP"},
	    {UNIT("#APP\n\t.previous\n#NO_APP\n"), ".previous in inline assembly"},
	    {UNIT("#APP\n\t.data\n\t.ascii \"a\n\t.text\"\n#NO_APP\n"), changes},
	    {UNIT("#APP\n\t.data; /* .text\n; .text\n */ nop\n#NO_APP\n"), changes},
	    {UNIT("#APP\n\tmovb $';, %al; .data\n#NO_APP\n"), changes},
	    {UNIT("#APP\n\t.DATA\n#NO_APP\n"), changes},
	    {UNIT("#APP\n\t.if 0\n\t.data\n\t.endif\n#NO_APP\n"), changes},
	    {UNIT("#APP\n\t.if 0\n\t.pushsection .x\n\t.else\n\t.popsection\n\t.endif\n#NO_APP\n"),
		changes},
	    {UNIT("#APP\n\t.section .x\n\t.if 0\n\t.previous\n\t.endif\n#NO_APP\n"),
		".previous in inline assembly"},
	    {UNIT("#APP\n\t.popsection\n#NO_APP\n"), changes},
	    {UNIT("#APP\n\t.endif\n#NO_APP\n"), "inline assembly leaves .if or .rept open"},
	    {UNIT("#APP\n\t.intel_syntax noprefix\n#NO_APP\n"), ".intel_syntax in inline assembly"},
	    {UNIT("#APP\n\t.att_syntax noprefix\n#NO_APP\n\tmovl St(%rip), %eax\n"),
		".att_syntax noprefix in inline assembly, and"},
	    {UNIT("\tleaq di+8(%rip), %rax\n#APP\n\t.att_syntax noprefix\n#NO_APP\n"),
		".att_syntax noprefix in inline assembly, and"},
	    {UNIT("\t.data\n\t.quad R10D\n\t.text\n#APP\n\t.att_syntax noprefix\n#NO_APP\n"),
		".att_syntax noprefix in inline assembly, and"},
	    {UNIT("#APP\n\t.att_syntax noprefix\n#NO_APP\n\tnop\n#APP\n\tmov xmm17, %eax\n"
		  "#NO_APP\n"),
		".att_syntax noprefix in inline assembly, and"},
	    {UNIT("#APP\n\t.pushsection .x\n#NO_APP\n"), changes},
	    {UNIT("#APP\n\t.if 0\n#NO_APP\n"), "inline assembly leaves .if or .rept open"},
	    {UNIT("#APP\n\t.macro m\n\t.endm\n#NO_APP\n"), ".macro in inline assembly"},
	};
	struct arena a = {0};
	struct err e;
	size_t i;

	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		ck_assert_msg(!unit_parse(&a, odd[i].text, strlen(odd[i].text), &e),
		    "not refused:\n%s", odd[i].text);
		ck_assert_msg(strstr(e.text, odd[i].why), "\"%s\" for \"%s\"", e.text, odd[i].why);
	}
	ck_assert_ptr_null(unit_parse(&a, "", 0, &e));
	arena_free(&a);
}
END_TEST

START_TEST(inline_assembly_may_leave_registers_without_prefix)
{
	parse(UNIT("\t.section .rodata\n\t.string \"st \\\"ax\"\n\t.text\n" FUNC("f",
	    "#APP\n\t.intel_syntax noprefix\n\tlea eax, [edi+1]\n\t.att_syntax noprefix\n#NO_APP\n"
	    "\tmovl stx(%rip), %r10d\n\tcall axe@PLT\n\tmovl $kk1, %eax\n\tmovl r10dx, %ecx\n"
	    "\tret\n")));
	ck_assert_ptr_null(last->func[0].opaque);
}
END_TEST

START_TEST(inline_assembly_may_push_and_pop)
{
	parse(UNIT("#APP\n\t.pushsection .x\n\t.previous\n\t.popsection\n#NO_APP\n" FUNC(
	    "f", "#APP\n\t.if 1\n\t.rept 3\n\tnop\n\t.endr\n\t.endif\n#NO_APP\n\tret\n")));
	ck_assert_ptr_null(last->func[0].opaque);
}
END_TEST

/* By whom the text after it is: code that nobody typed as a function stays where it is. */
START_TEST(inline_assembly_may_switch_sections)
{
	const char *text;

	parse(UNIT(
	    "#APP\n\t.section .x,\"a\"\n\t.long 1\n\t.previous\n\t.data; d: .long 2\n"
	    "\t.text\nhand:\n\tret\n\t.section\t.rodata\n.LC0:\n\t.string\t\"don't\"\n#NO_APP\n"
	    "\t.text\n" FUNC("f", "\tret\n")));
	ck_assert_uint_eq(last->nfunc, 1);
	ck_assert(!last->func[0].opaque && last->func[0].movable);
	text = print(last, 1);
	has(text, "\t.section\t.text.sorted.");
	has(text, "hand:\n\tret\n\t.section\t.rodata\n");
	/* It is in force: f is no code. */
	parse(UNIT("#APP\n\t.data\n#NO_APP\n" FUNC("f", "\tret\n") "\t.text\n"));
	ck_assert_uint_eq(last->nfunc, 0);
	parse(UNIT("#APP\n\t.pushsection .data\n\t.text\n\t.if "
		   "1\n\t.data\n\t.previous\n\t.endif\n\t.popsection\n\t.intel_syntax "
		   "noprefix\n\tnop\n\t.att_syntax\n"
		   "\"a b\": 1: c : .section .x\n\t.previous\n#NO_APP\n" FUNC("f", "\tret\n")));
	ck_assert(last->nfunc == 1 && last->func[0].movable);
	parse(UNIT(FUNC("f", "#APP\n\t.text\n#NO_APP\n\tret\n")
		FUNC("g", "#APP\n\t.section .x\n"
			  "\t.previous\n#NO_APP\n\tret\n")));
	ck_assert_str_eq(last->func[0].opaque, "inline assembly changes the section");
	ck_assert(!last->func[0].movable && !last->func[1].opaque);
	print(last, 1);
	/* How much it pads depends on where it lies; what it pads elsewhere does not. */
	parse(UNIT(FUNC("f", "#APP\n\tnop; .Balign 64\n1:\tnop\n#NO_APP\n\tret\n")
		FUNC("g", "#APP\n\t.pushsection .data\n\t.p2align 3\n\t.popsection\n"
			  "#NO_APP\n\tret\n")));
	ck_assert_str_eq(last->func[0].opaque, "inline assembly aligns its code");
	ck_assert(!last->func[0].movable && !last->func[1].opaque && last->func[1].movable);
	print(last, 1);
	parse(UNIT("#APP\n\t.long f-g\n#NO_APP\n" FUNC("f", "\tret\n") FUNC("g", "\tret\n")
		FUNC("h", "\tret\n")));
	ck_assert(!last->func[0].movable && !last->func[1].movable && last->func[2].movable);
	print(last, 1);
	/* clang prints it as it is. */
	parse(UNIT(
	    "  # Start of file scope inline assembly\n\tnop; nop\n.data\nx:.long 9\n\t.text\n\n"
	    "  # End of file scope inline assembly\n" FUNC("f", "\tret\n")));
	ck_assert(last->nfunc == 1 && last->func[0].movable);
	print(last, 1);
}
END_TEST

/* ---- keys ---- */

static struct hash128 key_of(const char *text, const char *name)
{
	struct unit *u = parse(text);
	uint32_t i;

	for (i = 0; i < u->nfunc && strcmp(u->func[i].name, name); i++)
		;
	ck_assert_uint_lt(i, u->nfunc);
	return u->func[i].key;
}

static bool same_key(const char *a, const char *b)
{
	struct hash128 x = key_of(a, "f"), y = key_of(b, "f");

	return hash_equal(&x, &y);
}

#define KEYED(l, n, c) \
	FUNC("f", \
	    "\tje\t.L" l "\n\tincl\tcount." n "(%rip)\n\tmovl\t$" c ", %eax\n.L" l ":\n\tret\n")

START_TEST(key_knows_the_code_alone)
{
	ck_assert(same_key(UNIT(KEYED("2", "0", "7")), UNIT(KEYED("41", "0", "7"))));
	ck_assert(same_key(UNIT(KEYED("2", "0", "7")), UNIT(KEYED("2", "12", "7"))));
	ck_assert(same_key(UNIT(KEYED("2", "0", "7")),
	    UNIT(FUNC("e", "\tje\t.L9\n.L9:\n\tud2\n") KEYED("2", "0", "7"))));
	ck_assert(same_key(UNIT(KEYED("2", "0", "7")),
	    UNIT(FUNC("f",
		"\t.loc 1 2 3\n\tje\t.L2\n.LVL3:\n"
		"\tincl\tcount.0(%rip)\n\t.p2align 4\n\tmovl\t$7, %eax\n.L2:\n\tret\n"))));
	ck_assert(!same_key(UNIT(KEYED("2", "0", "7")), UNIT(KEYED("2", "0", "8"))));
	ck_assert(!same_key(UNIT(FUNC("f", "\tcall\tg\n\tcall\th\n\tret\n")),
	    UNIT(FUNC("f", "\tcall\th\n\tcall\tg\n\tret\n"))));
	ck_assert(!same_key(UNIT(FUNC("f", "\tje\t.L2\n\tnop\n.L2:\n\tnop\n.L3:\n\tret\n")),
	    UNIT(FUNC("f", "\tje\t.L3\n\tnop\n.L2:\n\tnop\n.L3:\n\tret\n"))));
}
END_TEST

START_TEST(key_knows_tables_and_names)
{
	struct hash128 a, b;

	ck_assert(!same_key(UNIT(FUNC("f", GCC_SWITCH)),
	    UNIT(FUNC("f",
		"\tcmpl\t$2, %edi\n\tja\t.L1\n\tleaq\t.L4(%rip), %rdx\n"
		"\tmovslq\t(%rdx,%rdi,4), %rax\n\taddq\t%rdx, %rax\n\tnotrack jmp\t*%rax\n"
		"\t.section\t.rodata\n\t.align 4\n.L4:\n\t.long\t.L3-.L4\n\t.long\t.L1-.L4\n"
		"\t.long\t.L1-.L4\n\t.text\n.L3:\n\tmovl\t$3, %eax\n\tret\n.L1:\n\tret\n"))));
	a = key_of(UNIT(FUNC("f", "\tret\n")), "f");
	b = key_of(UNIT(FUNC("g", "\tret\n")), "g");
	ck_assert(!hash_equal(&a, &b));
}
END_TEST

/* ---- printing ---- */

START_TEST(jumps_follow_from_the_order)
{
	uint32_t swapped[] = {0, 2, 1}, same[] = {0, 1, 2};
	const char *text;

	parse(UNIT(FUNC("f", "\ttestl\t%edi, %edi\n\tje\t.L2\n\tincl\t%eax\n.L2:\n\tret\n")));
	has(print_order(last, same, 3),
	    "\tje\t.LMB0.2\n.LMB0.1:\n\tincl\t%eax\n.LMB0.2:\n.L2:\n\tret\n");
	text = print_order(last, swapped, 3);
	has(text, "\ttestl\t%edi, %edi\n\tjne\t.LMB0.1\n.LMB0.2:\n.L2:\n\tret\n");
	has(text, ".LMB0.1:\n\tincl\t%eax\n\tjmp\t.LMB0.2\n");
	has(text, "\t.section\t.text.sorted.00000012,\"ax\",@progbits\n\t.p2align\t1\n");
}
END_TEST

START_TEST(unwind_state_is_restated)
{
	uint32_t order[] = {0, 2, 1};
	const char *text;

	parse(UNIT(
	    FUNC("f", "\tpushq\t%rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 3, -16\n\tje\t.L2\n"
		      "\tpopq\t%rbx\n\t.cfi_remember_state\n\t.cfi_restore 3\n"
		      "\t.cfi_def_cfa_offset 8\n\tret\n.L2:\n\t.cfi_restore_state\n\tcall\tg\n"
		      "\tud2\n")));
	text = print_order(last, order, 1);
	has(text, "f.cold:\n\t.cfi_startproc\n.LMB0.2:\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 3, "
		  "-16\n");
	has(text, ".LMB0.1:\n\tpopq\t%rbx\n\t.cfi_restore 3\n\t.cfi_def_cfa_offset 8\n\tret\n");
	parse(UNIT(FUNC("f", "\t.cfi_register %rip, %rdx\n\t.cfi_val_offset 3, -16\n\tje\t.L2\n"
			     "\t.cfi_register 6, 0\n\tret\n.L2:\n\tud2\n")));
	text = print_order(last, order, 1);
	has(text, ".LMB0.2:\n\t.cfi_val_offset 3, -16\n\t.cfi_register 6, 0\n"
		  "\t.cfi_register 16, 1\n");
	/* Vector registers, as ms_abi saves them. */
	parse(UNIT(FUNC("f", "\t.cfi_offset %xmm15, -32\n\t.cfi_offset 23, -48\n\tje\t.L2\n"
			     "\tret\n.L2:\n\tud2\n")));
	has(print_order(last, order, 1),
	    ".LMB0.2:\n\t.cfi_offset 23, -48\n\t.cfi_offset 32, -32\n");
	ck_assert_str_eq(only(UNIT(FUNC("f", "\t.cfi_register 3, 33\n\tret\n")))->opaque,
	    "CFI operand not understood");
}
END_TEST

/* Thunks jump to another name of a function, which GCC sets once. */
START_TEST(jumps_to_aliases)
{
	expect(UNIT("\t.set\t.LTHUNK0,g\n" FUNC("f", "\tjmp\t.LTHUNK0\n")), 1, "");
	ck_assert_str_eq(last->func[0].call[0].callee, "g");
	has(print(last, 1), "\tjmp\t.LTHUNK0\n");
	ck_assert_str_eq(
	    only(UNIT("\t.set\t.LTHUNK0,g\n\t.set\t.LTHUNK0,h\n" FUNC("f", "\tjmp\t.LTHUNK0\n")))
		->opaque,
	    "jump operand not understood");
	ck_assert_str_eq(
	    only(UNIT("\t.set\t.LTHUNK0,.L5\n" FUNC("f", "\tjmp\t.LTHUNK0\n")))->opaque,
	    "jump operand not understood");
	ck_assert_str_eq(
	    only(UNIT("\t.set\t.LTHUNK0,g+1\n" FUNC("f", "\tjmp\t.LTHUNK0\n")))->opaque,
	    "jump operand not understood");
}
END_TEST

START_TEST(alignment_moves_along)
{
	uint32_t order[] = {0};

	parse(UNIT("\t.p2align 6\n\t.p2align 4\n" FUNC("f", "\tret\n")));
	has(print_order(last, order, 1), ",\"ax\",@progbits\n\t.p2align\t6\n");
	/* Of opaque functions, too. */
	parse(UNIT("\t.align 64\n" FUNC("f", "\tloop\tf\n\tret\n")));
	has(print_order(last, order, 1), ",\"ax\",@progbits\n\t.p2align\t6\n");
}
END_TEST

START_TEST(comdat_and_quotes)
{
	uint32_t order[] = {0, 2, 1};
	const char *text;

	parse(UNIT(
	    "\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n" FUNC("_Z1fv", DIAMOND)));
	text = print_order(last, order, 2);
	has(text, "\t.section\t.text.sorted.00000012,\"axG\",@progbits,_Z1fv,comdat\n");
	has(text, "\t.section\t.text.unlikely._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n");
	has(text,
	    "\t.section\t.llvm_bb_addr_map,\"oG\",@0x6fff4c0a,.text.unlikely._Z1fv,_Z1fv,comdat\n");
	parse(UNIT(FUNC("\"f$_0\"", DIAMOND)));
	ck_assert_str_eq(last->func[0].name, "f$_0");
	text = print_order(last, order, 2);
	has(text, "\t.section\t\".text.unlikely.f$_0\",\"ax\",@progbits\n");
	has(text, "\t.size\t\"f$_0.cold\", .-\"f$_0.cold\"\n");
}
END_TEST

START_TEST(sections_of_one_name)
{
	const char *text;

	/* What belongs to another symbol is another section, and stays so. */
	parse(
	    UNIT(FUNC("f", ".LPF0:\n\t.section\tents,\"awo\",@progbits,f\n\t.quad\t.LPF0\n\t.text\n"
			   "\tret\n") FUNC("g",
		".LPF1:\n\t.section\tents,\"awo\",@progbits,g\n\t.quad\t.LPF1\n\t.text\n"
		"\tret\n")));
	text = print(last, 1);
	has(text, "\t.section\tents,\"awo\",@progbits,f\n\t.quad\t.LPF0\n");
	has(text, "\t.section\tents,\"awo\",@progbits,g\n\t.quad\t.LPF1\n");
}
END_TEST

START_TEST(aliases_follow)
{
	struct unit *u =
	    parse(UNIT(FUNC("f", "\tret\n") "\t.globl\talias\nalias = f\n\t.set\tother, f\n"));
	const char *text = print(u, 1);

	has(text, "alias = f\n");
	has(text, "\t.set\tother, f\n");
	has(text, ".text.sorted.");
}
END_TEST

START_TEST(previous_is_named)
{
	const char *text;

	parse(UNIT(
	    "\t.data\n\t.long\t1\n\t.text\n" FUNC("f", "\tret\n") "\t.previous\n\t.long\t2\n"));
	text = print(last, 1);
	has(text, "\t.data\n\t.long\t2\n");
	lacks(text, ".previous");
	parse(UNIT("\t.section\t.debug_str,\"MS\",@progbits,1\n\t.long\t1\n\t.text\n" FUNC(
	    "f", "\tret\n") "\t.previous\n\t.long\t2\n"));
	text = print(last, 1);
	has(text, "\t.section\t.debug_str,\"MS\",@progbits,1\n\t.long\t2\n");
	lacks(text, ".previous");
}
END_TEST

START_TEST(locations_are_restated)
{
	uint32_t order[] = {0, 2, 1};
	const char *text;

	parse(UNIT(
	    "\t.file 1 \"t.c\"\n" FUNC("f", "\t.loc 1 1 is_stmt 1 view -0\n\tje\t.L2\n\t.loc 1 2 "
					    "is_stmt 0\n\tcall\tg\n.LVL4:\n\t.loc 1 3 is_stmt 1\n"
					    ".L2:\n\tret\n") FUNC("g", "\t.loc 1 9\n\tret\n")));
	text = print_order(last, order, 3);
	has(text, ".LMB0.2:\n\t.loc 1 3 is_stmt 1\n");
	has(text, ".LMB0.1:\n\t.loc 1 2 is_stmt 0\n");
	/* The address behind a call is its return address, wherever it goes next. */
	has(text, "\tcall\tg\n.LVL4:\n\tjmp\t.LMB0.2\n");
	/* is_stmt was 1 here, and is; in functions that are not understood, too. */
	has(text, "g:\n\t.cfi_startproc\n\t.loc 1 9 is_stmt 1\n");
	parse(UNIT("\t.file 1 \"t.c\"\n" FUNC("f", "\t.loc 1 1\n\tje\t.L2\n\t.loc 1 2 is_stmt 0\n"
						   "\tnop\n\t.loc 1 3 is_stmt 1\n.L2:\n\tret\n")
		FUNC("g", "\t.loc 1 9\n\tloop\tg\n\tret\n")));
	has(print_order(last, order, 3), "\t.loc 1 9 is_stmt 1\n\tloop\tg\n");
}
END_TEST

/* ---- a whole unit, for what holds of all texts ---- */

static const char WHOLE[] =
    "\t.file\t\"t.c\"\n\t.text\n"
    "#APP\n\t.globl hand\nhand:\n\tret\n#NO_APP\n"
    "\t.local\tstate\n\t.comm\tstate,4,4\n"
    "\t.p2align 4\n" FUNC("g", GCC_SWITCH) "\t.p2align 4\n" COLD FUNC("loop",
	"\tpushq\t%rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 3, -16\n\tmovl\t%edi, %ebx\n"
	"\tjmp\t.L13\n\t.p2align 4,,10\n.L14:\n\tcall\tg@PLT\n\taddl\t%eax, state(%rip)\n"
	"\tcmpl\t$7, %eax\n\tjg\t.L15\n.L13:\n\tsubl\t$1, %ebx\n\tjns\t.L14\n"
	"\tucomisd\t%xmm1, %xmm0\n\tjp\t.L15\n\tjne\t.L15\n\tmovl\t$1, %eax\n\tpopq\t%rbx\n"
	"\t.cfi_remember_state\n\t.cfi_def_cfa_offset 8\n\tret\n.L15:\n"
	"\t.cfi_restore_state\n#APP\n# 9 \"t.c\" 1\n1:\tdecl %eax\n\tjnz 1b\n# 0 \"\" 2\n#NO_APP\n"
	"\tpopq\t%rbx\n\t.cfi_def_cfa_offset 8\n\ttestl\t%eax, %eax\n\tjne\tg\n\tjmp\thand\n")
	FUNC("opaque",
	    "\t.cfi_personality 0x3,pers\n\t.cfi_lsda 0x3,.LLSDA3\n\tnop\n.LEHB0:\n\tcall\tg@PLT\n"
	    ".LEHE0:\n\tje\t.L21\n\tret\n.L21:\n\tud2\n\t.section\t.gcc_except_table,\"a\",@"
	    "progbits\n"
	    ".LLSDA3:\n\t.byte\t0xff\n\t.uleb128 .LEHE0-.LEHB0\n\t.text\n")
	    FUNC("jumps", "\tjmp\t*t.1(,%rdi,8)\n.L31:\n\tincl\t%eax\n\tjmp\t*t.1(,%rax,8)\n.L32:"
			  "\n\tret\n") "\t.section\t.rodata\n\t.align 8\n\t.type\tt.1, "
				       "@object\n\t.size\tt.1, 16\nt.1:\n"
				       "\t.quad\t.L31\n\t.quad\t.L32\n"
				       "\t.data\n\t.globl\tptr\n\t.align "
				       "8\nptr:\n\t.quad\tloop\n\t.weak\tweak\n\t.set\tweak,"
				       "g\n" IDENT "\t.section\t.note.GNU-stack,\"\",@progbits\n";

/* The text without what printing adds when all stays. */
static char *stripped(const char *text)
{
	const char *line, *nl;
	struct buf b = {0};
	char *s;

	for (line = text; *line; line = nl + 1) {
		nl = strchr(line, '\n');
		if (!strncmp(line, "\t.section\t.llvm_bb_addr_map", 27))
			break;
		if (strncmp(line, ".LMB", 4) && strncmp(line, ".LME", 4))
			buf_add(&b, line, (size_t)(nl + 1 - line));
	}
	s = arena_strndup(&mem, b.p, b.n);
	buf_free(&b);
	return s;
}

START_TEST(in_place_nothing_changes)
{
	ck_assert_str_eq(stripped(print(parse(WHOLE), 0)), WHOLE);
}
END_TEST

START_TEST(any_layout_passes_the_check)
{
	struct unit *u = parse(WHOLE);
	uint64_t seed;

	for (seed = 1; seed < 200; seed++)
		print(u, seed);
}
END_TEST

START_TEST(same_input_same_text)
{
	struct unit *u = parse(WHOLE);
	const char *a = print(u, 7), *b = print(u, 7);

	ck_assert_str_eq(a, b);
	ck_assert_str_ne(a, print(u, 8));
}
END_TEST

/* ---- the output check, on lines changed one at a time ---- */

struct line {
	const char *p;
	size_t n;
};

static size_t lines_of(const char *text, struct line *out, size_t max)
{
	const char *nl;
	size_t n = 0;

	for (; *text && n < max; text = nl + 1) {
		nl = strchr(text, '\n');
		out[n++] = (struct line){text, (size_t)(nl - text)};
	}
	ck_assert_uint_lt(n, max);
	return n;
}

static bool starts(struct line l, const char *s)
{
	return l.n >= strlen(s) && !memcmp(l.p, s, strlen(s));
}

static bool contains(struct line l, const char *s)
{
	return memmem(l.p, l.n, s, strlen(s)) != NULL;
}

/* Lines that may go, come twice or change without the program noticing: the
 * editor's own labels and directives, alignment and holes in code, section switches
 * (which have a test of their own), labels nobody refers to. */
static bool harmless(struct line l)
{
	static const char *const own[] = {"# ", "\t.p2align", "\t.section", "\t.text", "\t.data",
	    "# ", "\t.file", "\t.ident", ".LME", ".LCOLD", ".LHOT", ".LEH", ".LF", ".Ltmp",
	    ".Lfunc", "\t.cfi_endproc", "\t.cfi_remember"};
	size_t i;

	for (i = 0; i < sizeof own / sizeof *own; i++)
		if (starts(l, own[i]))
			return true;
	return !l.n || starts(l, ".LBB0_2:") || starts(l, ".LBB0_7:") || starts(l, "GCC_except") ||
	       contains(l, ".cold") || contains(l, "0xcc");
}

static bool is_insn(struct line l)
{
	return l.n > 1 && l.p[0] == '\t' && l.p[1] >= 'a' && l.p[1] <= 'z';
}

static bool refused(const struct unit *u, const struct buf *text)
{
	return counted ? unit_check_counting(u, counted, 7, text->p, text->n, NULL)
		       : unit_check(u, text->p, text->n, NULL);
}

/* The text with lines [i, i+2) printed as given; n < 0 leaves a line out. */
static void with(struct buf *b, const struct line *l, size_t nl, size_t i, const char *line)
{
	size_t k;

	b->n = 0;
	for (k = 0; k < nl; k++) {
		if (k == i)
			buf_str(b, line);
		else
			buf_printf(b, "%.*s\n", (int)l[k].n, l[k].p);
	}
}

static size_t end_of_code(const struct line *l, size_t n)
{
	size_t i;

	for (i = 0; i < n && !starts(l[i], "\t.section\t.llvm_bb_addr_map"); i++)
		;
	return i;
}

static struct line *split_lines(const char *text, size_t *all, size_t *code)
{
	struct line *l = arena_array(&mem, 4000, sizeof *l);

	*all = lines_of(text, l, 4000);
	*code = end_of_code(l, *all);
	return l;
}

/* Without a hop control falls to where it goes: nothing is lost with it. */
static bool hops(struct line l, struct line next)
{
	return starts(l, "\tjmp\t") && next.n + 4 == l.n && next.p[next.n - 1] == ':' &&
	       !memcmp(l.p + 5, next.p, next.n - 1);
}

/* A boundary of no call site. */
static bool unused_boundary(const char *text, struct line l)
{
	const char *from = arena_printf(&mem, "%.*s-", (int)l.n - 1, l.p);

	return starts(l, ".LMX") && !strstr(text, from);
}

static void mutate_lines(const struct unit *u, const char *text)
{
	size_t n, code, i, found = 0;
	struct line *l = split_lines(text, &n, &code);
	struct buf b = {0};
	char *twice;

	for (i = 0; i < code; i++) {
		if (harmless(l[i]) || unused_boundary(text, l[i]))
			continue;
		with(&b, l, n, i, "");
		ck_assert_msg(refused(u, &b) != (i + 1 < code && hops(l[i], l[i + 1])),
		    "dropped and not missed, or a hop and missed: %.*s", (int)l[i].n, l[i].p);
		twice =
		    arena_printf(&mem, "%.*s\n%.*s\n", (int)l[i].n, l[i].p, (int)l[i].n, l[i].p);
		with(&b, l, n, i, twice);
		/* The assembler refuses a label that is there twice. */
		ck_assert_msg(refused(u, &b) || starts(l[i], "\t.cfi_") ||
				  starts(l[i], "#NO_APP") || starts(l[i], ".LMS"),
		    "twice and not seen: %.*s", (int)l[i].n, l[i].p);
		found++;
	}
	ck_assert_uint_gt(found, 70);
	buf_free(&b);
}

START_TEST(check_misses_no_line)
{
	struct unit *u = parse(WHOLE);

	mutate_lines(u, print(u, 0));
	mutate_lines(u, print(u, 1));
	mutate_lines(u, print(u, 2));
	mutate_lines(u, print(u, 3));
}
END_TEST

static void replaced(const char *text, const char *from, const char *to)
{
	char *at = strstr(text, from);
	struct buf b = {0};

	ck_assert_msg(at != NULL, "no \"%s\"", from);
	buf_add(&b, text, (size_t)(at - text));
	buf_str(&b, to);
	buf_str(&b, at + strlen(from));
	ck_assert_msg(refused(last, &b), "not seen: %s for %s", to, from);
	buf_free(&b);
}

/* Of tests/asm. */
static struct unit *parse_file(const char *name)
{
	struct buf text = {0};
	struct unit *u;
	struct err e;

	ck_assert_msg(
	    !file_read(arena_printf(&mem, "tests/asm/%s", name), 0, &text, &e), "%s", e.text);
	u = parse(arena_strdup(&mem, buf_cstr(&text)));
	buf_free(&text);
	return u;
}

START_TEST(check_misses_no_line_of_an_exception_table)
{
	static const char *const file[] = {"throws.s", "throws-clang.s"};
	const struct unit_func *f;
	struct unit *u;
	uint64_t seed;

	u = parse_file(file[_i]);
	f = &u->func[0];
	ck_assert_msg(!f->opaque, "%s", f->opaque);
	for (seed = 0; seed < 5; seed++)
		mutate_lines(u, print(u, seed));
}
END_TEST

START_TEST(check_reads_exception_tables)
{
	const char *text;

	parse_file("throws.s");
	text = print_order(last, (uint32_t[]){0, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 2);
	has(text, "\t.byte\t0x1b\n");
	replaced(text, "\t.byte\t0x1b\n", "\t.byte\t0xff\n");
	replaced(text, "\t.uleb128\t5\n", "\t.uleb128\t3\n");
	replaced(text, "\t.long\t.LMB0.3-.LML0.0.s", "\t.long\t.LMB0.7-.LML0.0.s");
	replaced(text, "\t.long\t.LMB0.3-.LML0.0.s", "\t.long\t.LMB0.3-.LMX0.0");
	replaced(text, "\t.uleb128\t.LMB0.7-", "\t.uleb128\t.LMB0.8-");
	replaced(text, "\t.cfi_lsda 0x1b,.LML0.0", "\t.cfi_lsda 0x1b,.LML0.1");
	replaced(text, "\t.cfi_lsda 0x1b,.LML0.1\n", "");
	replaced(text, "_personality_v0\n", "_personality_v1\n");
	replaced(text, "\t.byte\t0x9b\n", "\t.byte\t0x1b\n");
	replaced(text, "\t.byte\t0x7f\n", "\t.byte\t0x7e\n");
	replaced(text, "DW.ref._ZTI1A-.", "DW.ref._ZTI1B-.");
	replaced(text, ".LLSDATT0:\n\t.byte\t0x1\n", "\t.byte\t0x1\n.LLSDATT0:\n");
	replaced(
	    text, "\t.section\t.gcc_except_table,\"a\"", "\t.section\t.gcc_except_table.x,\"a\"");
	/* A call site that ends early, or begins late. */
	replaced(text, ".LMX0.1:\n\tcall\t_Z1hi@PLT\n", "\tcall\t_Z1hi@PLT\n.LMX0.1:\n");
	replaced(text, ".LMX0.2:\n\tleaq", "\tleaq");
}
END_TEST

/* A label for each block comes between the cold part and what its table counts from. */
START_TEST(check_reads_far_exception_tables)
{
	static const char before[] = "\tpushq\t%rbp\n";
	struct buf b = {0}, text = {0};
	struct unit *u;
	struct err e;
	char *at;
	int i;

	ck_assert(!file_read("tests/asm/throws.s", 0, &text, &e));
	at = strstr(buf_cstr(&text), before);
	buf_add(&b, text.p, (size_t)(at - buf_cstr(&text)));
	for (i = 0; i < 200; i++)
		buf_printf(&b, "\tje\t.LX%d\n.LX%d:\n", i, i);
	buf_str(&b, at);
	u = parse(arena_strdup(&mem, buf_cstr(&b)));
	ck_assert_uint_gt(u->func[0].cfg.nblock, 200);
	b.n = 0;
	unit_emit(u, NULL, 1, &b);
	ck_assert_msg(!unit_check(u, b.p, b.n, &e), "%s", e.text);
	buf_free(&text);
	buf_free(&b);
}
END_TEST

/* What a table cannot be; the function stays whole. */
START_TEST(odd_exception_tables)
{
	static const struct {
		const char *from, *to, *why;
	} odd[] = {
	    {"\t.byte\t0xff\n\t.byte\t0x9b", "\t.byte\t0x0\n\t.byte\t0x9b", NULL},
	    {"\t.byte\t0x1\n\t.uleb128 .LLSDACSE0", "\t.byte\t0x3\n\t.uleb128 .LLSDACSE0", NULL},
	    {".LLSDACSB0:\n", ".LLSDACSB0:\n\t.uleb128 0\n", NULL},
	    {"\t.uleb128 .L10-.LFB0\n", "\t.uleb128 .L10-.LEHB0\n", NULL},
	    {"\t.uleb128 .L10-.LFB0\n", "\t.uleb128 .L2-.LFB0\n", NULL},
	    {"\t.uleb128 .LEHB2-.LCOLDB0", "\t.uleb128 .LEHB1-.LCOLDB0", NULL},
	    {".LLSDATTC0:\n\t.byte\t0x1\n", ".LLSDATTC0:\n\t.byte\t0x2\n",
		"exception tables of two kinds"},
	    {".gcc_except_table,\"a\",@progbits", ".gcc_except_table,\"ao\",@progbits,.text", NULL},
	};
	const char *why = "exception table (LSDA) not understood", *text, *at;
	struct buf b = {0};

	parse_file("throws.s");
	text = stripped(print(last, 0));
	at = strstr(text, odd[_i].from);
	ck_assert_ptr_nonnull(at);
	buf_add(&b, text, (size_t)(at - text));
	buf_str(&b, odd[_i].to);
	buf_str(&b, at + strlen(odd[_i].from));
	parse(arena_strdup(&mem, buf_cstr(&b)));
	buf_free(&b);
	ck_assert_msg(last->func[0].opaque, "understood");
	ck_assert_str_eq(last->func[0].opaque, odd[_i].why ? odd[_i].why : why);
	print(last, 1);
}
END_TEST

START_TEST(check_misses_no_counter)
{
	static const enum counter_kind kinds[] = {COUNTERS_PLAIN, COUNTERS_ATOMIC, COUNTERS_THREAD};
	struct unit_placement *placement;
	struct unit *u = parse(WHOLE);
	struct buf out = {0};
	struct err e;
	size_t i;

	placement = arena_array(&mem, u->nfunc, sizeof *placement);
	for (i = 0; i < 6; i++) {
		counted = arena_array(&mem, u->nfunc, sizeof *counted);
		ck_assert(
		    !unit_count(u, &(struct unit_counting){.edges = i & 1, .kind = kinds[i / 2]},
			placement, counted, &e));
		out.n = 0;
		unit_emit_counting(u, placement, counted, 7, &out);
		ck_assert_msg(!refused(u, &out), "%s", buf_cstr(&out));
		mutate_lines(u, buf_cstr(&out));
	}
	buf_free(&out);
}
END_TEST

START_TEST(check_knows_the_order)
{
	struct unit *u = parse(WHOLE);
	size_t n, code, i, found = 0;
	struct buf b = {0};
	struct line *l;
	uint64_t seed;
	char *swapped;

	for (seed = 0; seed < 4; seed++) {
		l = split_lines(print(u, seed), &n, &code);
		for (i = 0; i + 1 < code; i++) {
			if (!is_insn(l[i]) || harmless(l[i + 1]) || starts(l[i + 1], ".LFE") ||
			    (l[i].n == l[i + 1].n && !memcmp(l[i].p, l[i + 1].p, l[i].n)))
				continue;
			swapped = arena_printf(
			    &mem, "%.*s\n%.*s\n", (int)l[i + 1].n, l[i + 1].p, (int)l[i].n, l[i].p);
			with(&b, l, i + 1, i, swapped);
			for (size_t k = i + 2; k < n; k++)
				buf_printf(&b, "%.*s\n", (int)l[k].n, l[k].p);
			ck_assert_msg(refused(u, &b), "swapped and not seen: %s", swapped);
			found++;
		}
	}
	ck_assert_uint_gt(found, 80);
	buf_free(&b);
}
END_TEST

/* Every jump the other way, and to every other block. */
START_TEST(check_follows_jumps)
{
	struct unit *u = parse(WHOLE);
	size_t n, code, i, found = 0;
	struct buf b = {0};
	unsigned func, to, k;
	struct line *l;
	uint64_t seed;
	char op[8];

	for (seed = 0; seed < 4; seed++) {
		l = split_lines(print(u, seed), &n, &code);
		for (i = 0; i < code; i++) {
			if (sscanf(l[i].p, "\t%7s .LMB%u.%u\n", op, &func, &to) != 3 || *op != 'j')
				continue;
			for (k = 0; k < u->func[func].cfg.nblock + 1; k++) {
				if (k == to)
					continue;
				with(&b, l, n, i,
				    arena_printf(&mem, "\t%s\t.LMB%u.%u\n", op, func, k));
				ck_assert(refused(u, &b));
			}
			with(&b, l, n, i,
			    arena_printf(&mem, "\t%s\t.LMB%u.%u\n",
				strcmp(op, "jmp") ? "jmp" : "je", func, to));
			ck_assert(refused(u, &b));
			if (strcmp(op, "jmp")) {
				with(&b, l, n, i,
				    arena_printf(&mem, "\t%s\t.LMB%u.%u\n",
					strcmp(op, "je") ? "je" : "jne", func, to));
				ck_assert_msg(refused(u, &b), "%s", op);
			}
			found++;
		}
	}
	ck_assert_uint_gt(found, 15);
	buf_free(&b);
}
END_TEST

/* A call through the GOT replaces one through the PLT, of that function. */
START_TEST(check_reads_calls_through_the_got)
{
	struct unit *u = parse(UNIT(FUNC("f", "\tcall\tg@PLT\n\tcall\th@PLT\n\tcall\tg\n"
					      "\tjmp\tg@PLT\n")));
	char *text = print_direct(u), *call;
	struct err e;

	has(text, "\tcall\t*g@GOTPCREL(%rip)\n\tcall\th@PLT\n\tcall\tg\n\tjmp\tg@PLT\n");
	ck_assert_int_eq(unit_check(u, text, strlen(text), &e), 0);
	call = strstr(text, "*g@GOT");
	call[1] = 'h';
	ck_assert_int_eq(unit_check(u, text, strlen(text), &e), -1);
	memcpy(call, "g@GOTPCREL(%rip)  ", 17);
	ck_assert_int_eq(unit_check(u, text, strlen(text), &e), -1);
	u = parse(UNIT(FUNC("f", "\tcall\t__tls_get_addr@PLT\n\tret\n")));
	text = print_direct(u);
	ck_assert_int_eq(unit_check(u, text, strlen(text), &e), -1);
}
END_TEST

/* Behind what moved, where it was, in front of where it is, and nowhere else. */
START_TEST(check_lets_holes_stand_where_functions_were)
{
	struct unit *u = parse(WHOLE);
	size_t n, code, i, holes, found = 0, leads = 0;
	struct buf b = {0};
	struct line *l;
	uint64_t seed;

	for (seed = 0; seed < 4; seed++) {
		l = split_lines(print(u, seed), &n, &code);
		for (i = holes = 0; i < code; i++) {
			if (contains(l[i], "0xcc")) {
				bool lead = starts(l[i - 1], "\t.p2align"); /* of an entry */

				ck_assert(starts(l[i - 1 - lead], "\t.section") ||
					  (!lead && starts(l[i - 1], "\t.text")));
				leads += lead;
				holes += !lead;
			}
			with(&b, l, n, i,
			    arena_printf(&mem, "%.*s\n\t.skip\t9, 0xcc\n", (int)l[i].n, l[i].p));
			if (!refused(u, &b))
				ck_assert_msg(seed && starts(l[i], "\t.") && !is_insn(l[i + 1]),
				    "behind %.*s", (int)l[i].n, l[i].p);
		}
		ck_assert(!seed == !holes);
		found += holes;
	}
	ck_assert_uint_gt(found, 6);
	ck_assert_uint_gt(leads, 6);
	buf_free(&b);
}
END_TEST

/* Every number, one more. */
START_TEST(check_reads_operands)
{
	struct unit *u = parse(WHOLE);
	size_t n, code, i, k, found = 0;
	struct buf b = {0};
	struct line *l;
	uint64_t seed;
	char *line;

	for (seed = 0; seed < 3; seed++) {
		l = split_lines(print(u, seed), &n, &code);
		for (i = 0; i < code; i++) {
			if (harmless(l[i]) || *l[i].p == '.' || contains(l[i], ".LMB"))
				continue;
			for (k = 0; k < l[i].n && !(l[i].p[k] >= '0' && l[i].p[k] <= '8'); k++)
				;
			if (k == l[i].n || contains(l[i], "#"))
				continue;
			line = arena_printf(&mem, "%.*s\n", (int)l[i].n, l[i].p);
			line[k]++;
			with(&b, l, n, i, line);
			ck_assert_msg(refused(u, &b), "not read: %s", line);
			found++;
		}
	}
	ck_assert_uint_gt(found, 60);
	buf_free(&b);
}
END_TEST

START_TEST(check_knows_sections)
{
	const char *text = print(parse(WHOLE), 0), *moved = print(last, 3);

	replaced(text, "\t.section\t.rodata\n\t.align 4\n.L4:", "\t.align 4\n.L4:");
	replaced(text, "\t.long\t.L1-.L4\n\t.text\n", "\t.long\t.L1-.L4\n");
	replaced(text, "\t.data\n\t.globl\tptr\n", "\t.globl\tptr\n");
	replaced(text, "\t.data\n\t.globl\tptr\n", "\t.section\t.data.rel,\"aw\"\n\t.globl\tptr\n");
	replaced(text, "\t.align 8\nptr:", "\t.align 4\nptr:");
	replaced(text, "#APP\n\t.globl hand\n", "\t.section\t.init,\"ax\"\n#APP\n\t.globl hand\n");
	replaced(moved, "\t.section\t.text.sorted.", "\t.section\t.init.text.");
	replaced(moved, ",\"ax\",@progbits\n\t.p2align\t1\n",
	    ",\"axG\",@progbits,g,comdat\n\t.p2align\t1\n");
}
END_TEST

START_TEST(check_refuses_strangers)
{
	const char *text = print(parse(WHOLE), 0);
	struct buf b = {0};

	ck_assert(refused(last, &b));
	replaced(text, ".LMB0.1:\n", ".LMB0.1:\n.LMB0.1:\n");
	replaced(text, ".LMB0.1:\n", ".LMB0.77:\n");
	replaced(text, ".LMB0.1:\n", ".LMB9.0:\n");
	replaced(text, ".LME0.3:\n", ".LME0.3:\n\tnop\n");
	replaced(text, "\t.globl\tptr\n", "\t.globl\tptr\n\t.globl\tstate\n");
	replaced(text, "#NO_APP\n", "");
	buf_str(&b, text);
	buf_str(&b, "\t.text\n\tnop\n");
	ck_assert(refused(last, &b));
	buf_free(&b);
}
END_TEST

/* ---- odd sizes ---- */

/* What a compiler hook prints, which reads no debug sections, is what is printed after all was
 * read. */
START_TEST(debug_sections_may_stay_unread)
{
	static const char debug[] =
	    "\t.section\t.debug_info,\"\",@progbits\n.Ldebug_info0:\n\t.long\t0x1\n\t.quad\t.LFB0\n"
	    "\t.section\t.debug_str,\"MS\",@progbits,1\n.LASF0:\n\t.string \"a/*b;c\"\n\t.ascii "
	    "\"x\"\n"
	    "\t.section\t.debug_line,\"\",@progbits\n.Ldebug_line0:\n\t.text\n";
	struct buf text = {0}, all = {0}, code = {0};
	struct arena a = {0};
	struct unit *u;
	struct err e;

	buf_str(&text, UNIT(FUNC("f", "\ttestl %edi, %edi\n\tje .L2\n\tnop\n.L2:\n\tret\n")));
	text.n -= strlen(IDENT);
	buf_str(&text, debug);
	buf_str(&text, IDENT);
	u = unit_parse(&a, text.p, text.n, &e);
	ck_assert_msg(u, "%s", e.text);
	unit_emit(u, NULL, 1, &all);
	unit_free(u);
	u = unit_parse_code(&a, text.p, text.n, &e);
	ck_assert_msg(u, "%s", e.text);
	unit_emit(u, NULL, 1, &code);
	ck_assert_str_eq(buf_cstr(&all), buf_cstr(&code));
	unit_free(u);
	arena_free(&a);
	buf_free(&text);
	buf_free(&all);
	buf_free(&code);
}
END_TEST

static double seconds(const struct buf *text)
{
	struct arena a = {0};
	struct timespec t0, t1;
	struct unit *u;
	struct err e;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	u = unit_parse(&a, text->p, text->n, &e);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	unit_free(u);
	arena_free(&a);
	return (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
}

/* n times the piece, in one function or outside; %d is the number. */
static double grown(const char *piece, const char *end, unsigned n, bool inside)
{
	struct buf b = {0};
	double s;
	unsigned i;

	buf_str(&b, "\t.text\n");
	if (inside)
		buf_str(&b, TYPED("f"));
	for (i = 0; i < n; i++)
		buf_printf(&b, piece, i, i, i);
	buf_str(&b, end);
	buf_str(&b, inside ? SIZED("f") IDENT : IDENT);
	s = seconds(&b);
	buf_free(&b);
	return s;
}

START_TEST(hostile_texts_take_linear_time)
{
	static const struct {
		const char *piece, *end;
		bool inside;
	} t[] = {
	    {"\t.section\t.rodata\n\t.text\n.L%u:\n", "\tret\n", true},
	    {"\tjmp\t*%%rax\n\t.section\t.rodata\n\t.quad\t.L%u\n\t.text\n.L%u:\n", "\tret\n",
		true},
	    {"\tjmp\t*%%rax\n.L%u:\n\tleaq\t.L%u(%%rip), %%rax\n", "\tret\n", true},
	    {"#APP\n\tjmp .L%u\n#NO_APP\n.L%u:\n", "\tret\n", true},
	    {"#APP\n%u:\n#NO_APP\n\tnop\n", "\tret\n", true},
	    {"\t.type\tf%u, @function\nf%u:\n", "\tret\n", false},
	    {"\t.type\tf%u, @function\nf%u:\n\tret\n\t.size\tf%u, .-f%u\n", "", false},
	    {"\t.section\t.text.f%u,\"ax\",@progbits\n\tnop\n", "", false},
	    {"\t.cfi_startproc\n\t.cfi_endproc\n.Lx%u:\n", "", false},
	};
	size_t i;
	double s;

	for (i = 0; i < sizeof t / sizeof *t; i++) {
		s = grown(t[i].piece, t[i].end, 60000, t[i].inside);
		/* Quadratic: minutes. The bound is wide for a busy machine under ASan. */
		ck_assert_msg(s < 15, "case %zu: %.1f s", i, s);
	}
}
END_TEST

UNIT_MAIN("unit", 120, setup, teardown, debug_sections_may_stay_unread, branches, loops_and_falls,
    gcc_switch, clang_switch, computed_goto, distances_hold_one_part, indirect_tail_call,
    conditional_tail_call, noreturn_ends, odd_bounds, asm_goto, labels_behind_asm_are_the_compilers,
    cold_part_is_rejoined, cold_names_that_are_taken, opaque_functions,
    local_labels_in_one_asm_are_fine, unwind_procedures, functions_that_stay,
    bounds_inside_procedures, refused_units, inline_assembly_may_leave_registers_without_prefix,
    inline_assembly_may_push_and_pop, inline_assembly_may_switch_sections, key_knows_the_code_alone,
    key_knows_tables_and_names, jumps_follow_from_the_order, unwind_state_is_restated,
    jumps_to_aliases, alignment_moves_along, comdat_and_quotes, sections_of_one_name,
    previous_is_named, aliases_follow, locations_are_restated, in_place_nothing_changes,
    any_layout_passes_the_check, same_input_same_text, check_misses_no_line,
    UNIT_LOOP(check_misses_no_line_of_an_exception_table, 2), check_reads_exception_tables,
    check_reads_far_exception_tables, UNIT_LOOP(odd_exception_tables, 8), check_misses_no_counter,
    check_knows_the_order, check_follows_jumps, check_reads_calls_through_the_got,
    check_lets_holes_stand_where_functions_were, check_reads_operands, check_knows_sections,
    check_refuses_strangers, hostile_texts_take_linear_time)
