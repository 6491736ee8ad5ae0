/*
 * Lifting: functions of small programs, their jump tables, and why some stay.
 */
#include "common/artifact/artifact.h"
#include "editor/unit.h"
#include "lifter/lift.h"
#include "tests/unit/program.h"

static const char SOURCE[] =
    "int puts(const char *);\n"
    "int by_table(int x, int y) { switch (x) { case 0: return y + 1; case 1: return y * 3;\n"
    "  case 2: return y - 7; case 3: return y ^ 5; case 4: return y << 2; case 5: puts(\"\"); }\n"
    "  return 9; }\n"
    "int by_mask(int x, int y) { switch (x & 7) { case 0: return y + 1; case 1: return y * 3;\n"
    "  case 2: return y - 7; case 3: return y ^ 5; case 4: return y << 2; case 5: puts(\"\");\n"
    "  case 6: return 2; case 7: return y & 3; } return 9; }\n"
    "void nothing(void) {}\n"
    "__asm__(\".text\\n.globl entered\\n.type entered,@function\\nentered:\\n.cfi_startproc\\n\"\n"
    "  \"inc %eax\\n.Lagain: dec %edi\\njnz .Lagain\\nnop\\nnop\\nret\\n.cfi_endproc\\n\"\n"
    "  \".size entered,.-entered\\n\");\n"
    /* The table's address is stored, too: whoever reads it there might read entries. */
    "__asm__(\".text\\n.globl shown\\n.type shown,@function\\nshown:\\n.cfi_startproc\\n\"\n"
    "  \"lea .Lt(%rip), %rdx\\nmov %rdx, -8(%rsp)\\ncmp $1, %edi\\nja .Lo\\nmov %edi, %eax\\n\"\n"
    "  \"movslq (%rdx,%rax,4), %rax\\nadd %rdx, %rax\\njmp *%rax\\n.La: mov $1, %eax\\nret\\n\"\n"
    "  \".Lb: mov $2, %eax\\nret\\n.Lo: mov $3, %eax\\nret\\n.cfi_endproc\\n.size "
    "shown,.-shown\\n\"\n"
    "  \".section .rodata\\n.balign 4\\n.Lt: .long .La-.Lt, .Lb-.Lt\\n.text\\n\");\n"
    "__asm__(\".text\\n.globl kept\\n.type kept,@function\\nkept:\\n.cfi_startproc\\n\"\n"
    "  \"lea .Lu(%rip), %rdx\\ncmp $1, %edi\\nja .Lr\\nmov %edi, %eax\\n\"\n"
    "  \"movslq (%rdx,%rax,4), %rax\\nadd %rdx, %rax\\nmov %rdx, -8(%rsp)\\njmp *%rax\\n\"\n"
    "  \".Lp: mov $1, %eax\\nret\\n.Lq: mov $2, %eax\\nret\\n.Lr: mov $3, %eax\\nret\\n\"\n"
    "  \".cfi_endproc\\n.size kept,.-kept\\n.section .rodata\\n.balign 4\\n\"\n"
    "  \".Lu: .long .Lp-.Lu, .Lq-.Lu\\n.text\\n\");\n"
    "int by_label(int x, int y) { static const void *const to[] = {&&a, &&b, &&c};\n"
    "  goto *to[x]; a: return y * 3; b: puts(\"\"); c: return y ^ 5; }\n"
    "void pointed(void) { puts(\"\"); puts(\"\"); } void taken(void) { puts(\"\"); puts(\"\"); }\n"
    "void (*const pointers[])(void) = {pointed, pointed, taken};\n"
    "void *take(void) { return (void *)taken; }\n"
    "int main(int c, char **v) { return by_table(c, c) + by_mask(c, c); }\n";

static struct lifter *l;

static void open_as(const char *flags)
{
	char *command = xasprintf("gcc -O2 -fcf-protection=none %s", flags);
	struct err e;

	program_make(SOURCE, "c", command);
	l = lift_open(&(struct lift_file){program.p, program.n, "p"}, NULL, &e);
	ck_assert_msg(l != NULL, "%s", l ? "" : e.text);
	free(command);
}

/* A shell command in the program's folder, and a file of that. */
static void run(const char *command, const char *file, struct buf *out)
{
	char *line = xasprintf("cd %s; %s", dir, command), *path = xasprintf("%s/%s", dir, file);
	struct err e;

	ck_assert_int_eq(
	    spawn_run(&(struct spawn){.argv = (const char *const[]){"sh", "-ec", line, NULL}}, &e),
	    0);
	out->n = 0;
	ck_assert_int_eq(file_read(path, 0, out, &e), 0);
	free(line);
	free(path);
}

static void teardown(void)
{
	lift_close(l);
	program_remove();
}

static struct lifted lifted(const char *name)
{
	struct lifted f;
	size_t i;

	for (i = 0; i < lift_count(l); i++) {
		lift_function(l, i, &f);
		if (!strcmp(f.name, name))
			return f;
		lifted_free(&f);
	}
	ck_abort_msg("no %s", name);
}

static void check_table(const char *name, uint32_t entries, bool wide)
{
	struct lifted f = lifted(name);
	struct arena mem = {0};
	struct unit *u;
	struct err e;
	uint32_t i, insns = 0;

	ck_assert_msg(!f.stays, "%s", f.stays);
	ck_assert_uint_eq(f.indirect, 1);
	ck_assert_uint_eq(f.known, 1);
	ck_assert_uint_eq(f.table.n, 1);
	ck_assert_uint_eq(f.table.v[0].n, entries);
	ck_assert_int_eq(f.table.v[0].wide, wide);
	u = unit_parse_code(&mem, f.text.p, f.text.n, &e);
	ck_assert_msg(u != NULL, "%s", u ? "" : e.text);
	ck_assert_uint_eq(u->nfunc, 1);
	ck_assert_ptr_null(u->func->opaque);
	for (i = 0; i < u->func->cfg.nblock; i++)
		insns += u->func->cfg.block[i].insns;
	ck_assert_uint_eq(insns, f.insn.n);
	unit_free(u);
	arena_free(&mem);
	lifted_free(&f);
}

static void check_stays(const char *name, const char *why)
{
	struct lifted f = lifted(name);

	ck_assert_msg(f.stays != NULL, "%s is lifted", name);
	ck_assert_str_eq(f.stays, why);
	ck_assert_ptr_nonnull(strstr(buf_cstr(&f.text), "\t.stays\t"));
	lifted_free(&f);
}

/* A comparison says how many entries a table has, and a mask. */
START_TEST(tables_of_distances)
{
	open_as("-pie -fpie");
	check_table("by_table", 6, false);
	check_table("by_mask", 8, false);
}
END_TEST

START_TEST(tables_of_addresses)
{
	open_as("-no-pie -fno-pie");
	check_table("by_table", 6, true);
	check_table("by_mask", 8, true);
}
END_TEST

/* It is lifted, and jumps by the old table into the old code. */
START_TEST(a_table_that_is_shown_is_not_copied)
{
	static const char *const name[] = {"shown", "kept"};
	struct lifted f;
	size_t i;

	open_as("-pie -fpie");
	for (i = 0; i < 2; i++) {
		f = lifted(name[i]);
		ck_assert_msg(!f.stays, "%s", f.stays);
		ck_assert_uint_eq(f.indirect, 1);
		ck_assert_uint_eq(f.known, 0);
		ck_assert_ptr_nonnull(strstr(buf_cstr(&f.text), "lea image+0x"));
		lifted_free(&f);
	}
}
END_TEST

static unsigned count_of(const struct buf *text, const char *what)
{
	const char *at = text->p, *end = text->p + text->n;
	unsigned n = 0;

	for (; (at = memmem(at, (size_t)(end - at), what, strlen(what))); at++)
		n++;
	return n;
}

/* Of a computed goto each label is a word of the relocations, which leads to the new code later. */
START_TEST(labels_as_values)
{
	static const char *const flags[] = {"-pie -fpie", "-no-pie -fno-pie -Wl,--emit-relocs"};
	struct arena mem = {0};
	struct lifted f;
	struct unit *u;
	struct err e;
	uint32_t i, edges = 0;

	open_as(flags[_i]);
	f = lifted("by_label");
	ck_assert_msg(!f.stays, "%s", f.stays);
	ck_assert_uint_eq(count_of(&f.text, "\t.section\t.morph.words,"), 1);
	ck_assert_uint_eq(count_of(&f.text, "\t.quad\timage+0x"), 3);
	u = unit_parse_code(&mem, f.text.p, f.text.n, &e);
	ck_assert_msg(u != NULL, "%s", u ? "" : e.text);
	for (i = 0; i < u->func->cfg.nedge; i++)
		edges += u->func->cfg.edge[i].kind == EDGE_INDIRECT;
	ck_assert_uint_eq(edges, 3);
	unit_free(u);
	arena_free(&mem);
	lifted_free(&f);
}
END_TEST

/* Those to a function are to lead to its new body, unless code makes its address, or anything might
 * be one. */
START_TEST(pointers_to_functions)
{
	static const struct {
		const char *flags, *name;
		unsigned pointers;
	} of[] = {{"-pie -fpie", "pointed", 2}, {"-pie -fpie -rdynamic", "pointed", 3},
	    {"-shared -fPIC -Wl,-Bsymbolic", "pointed", 3}, {"-pie -fpie", "taken", 0},
	    {"-no-pie -fno-pie", "pointed", 0},
	    {"-no-pie -fno-pie -Wl,--emit-relocs", "pointed", 2},
	    {"-no-pie -fno-pie -Wl,--emit-relocs", "taken", 0}};
	struct lifted f;
	size_t i;

	for (i = 0; i < sizeof of / sizeof *of; i++) {
		open_as(of[i].flags);
		f = lifted(of[i].name);
		ck_assert_msg(!f.stays, "%s", f.stays);
		ck_assert_msg(count_of(&f.text, "\t.quad\timage+0x") == of[i].pointers, "%s: %s",
		    of[i].flags, buf_cstr(&f.text));
		ck_assert_uint_eq(count_of(&f.text, ", pointed\n"), of[i].pointers);
		lifted_free(&f);
		teardown();
		l = NULL;
	}
}
END_TEST

START_TEST(what_must_stay)
{
	open_as("-pie -fpie");
	check_stays("nothing", "shorter than a jump");
	check_stays("entered", "a jump into its first bytes");
}
END_TEST

/* What is lifted is the same where other functions are not. */
START_TEST(some_alone)
{
	struct lifted f, alone;
	size_t i;

	open_as("-pie -fpie -fno-inline");
	f = lifted("main");
	ck_assert_ptr_nonnull(strstr(buf_cstr(&f.text), "call\tby_table\t#=e8@"));
	ck_assert(lift_find(l, f.addr, &i));
	lift_only(l, &i, 1);
	alone = lifted("main");
	ck_assert(!alone.stays);
	ck_assert_str_eq(buf_cstr(&alone.text), buf_cstr(&f.text));
	lifted_free(&alone);
	lifted_free(&f);
	check_stays("by_table", ART_UNSAMPLED);
}
END_TEST

static bool is_named(const char *name)
{
	struct lifted f;
	bool found = false;
	size_t i;

	for (i = 0; i < lift_count(l); i++) {
		lift_function(l, i, &f);
		found |= !strcmp(f.name, name);
		lifted_free(&f);
	}
	return found;
}

/* Functions of a stripped program are named as its debug information says, if it is of this build.
 */
START_TEST(names_from_elsewhere)
{
	struct buf stripped = {0}, debug = {0}, mini = {0};
	struct lift_file file[3];
	struct err e;

	open_as("-pie -fpie -g");
	ck_assert(is_named("by_table"));
	lift_close(l);
	run("objcopy --only-keep-debug p debug && strip p", "p", &stripped);
	run("true", "debug", &debug);
	run("xz <debug >debug.xz && objcopy --add-section .gnu_debugdata=debug.xz p", "p", &mini);
	file[0] = (struct lift_file){stripped.p, stripped.n, "stripped"};
	file[1] = (struct lift_file){debug.p, debug.n, "debug"};
	file[2] = (struct lift_file){mini.p, mini.n, "mini"};
	l = lift_open(&file[0], NULL, &e);
	ck_assert(!is_named("by_table"));
	lift_close(l);
	l = lift_open(&file[0], &file[1], &e);
	ck_assert(is_named("by_table"));
	lift_close(l);
	l = lift_open(&file[2], NULL, &e);
	ck_assert(is_named("by_table"));
	lift_close(l);
	run("echo 'int main(void) { return 0; }' >o.c; gcc -o o o.c", "o", &debug);
	file[1] = (struct lift_file){debug.p, debug.n, "another build"};
	l = lift_open(&file[0], &file[1], &e);
	ck_assert(!is_named("by_table"));
	buf_free(&mini);
	buf_free(&debug);
	lift_close(l);
	l = NULL;
	buf_free(&stripped);
}
END_TEST

UNIT_MAIN("lift", 60, NULL, teardown, tables_of_distances, tables_of_addresses,
    a_table_that_is_shown_is_not_copied, UNIT_LOOP(labels_as_values, 2), pointers_to_functions,
    what_must_stay, some_alone, names_from_elsewhere)
