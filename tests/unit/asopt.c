/* common/asopt: what an object may be assembled again with. */
#include "common/command/asopt.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const char *const good[] = {"", "--64", "--64\n--gdwarf-5", "-g", "-gdwarf-5",
    "-march=generic64+sse2", "--compress-debug-sections=zlib\n--noexecstack\n-W",
    "-mtune=znver3\n-mrelax-relocations=no"};

START_TEST(repeated)
{
	struct err e;

	ck_assert_msg(!asopt_check(good[_i], &e), "%s", e.text);
}
END_TEST

static const char *const bad[] = {"@list", "/etc/passwd", "x.s", "-", "--", "-I/home", "-I", "-o",
    "-ox", "-a=listing", "-al=listing", "-a", "--MD", "--MD=x", "--M", "-f", "--defsym",
    "--version", "--6", "--gdwarf", "--noexec", "-march", "-march=", "-march=a/b", "-march=a b",
    "--compress-debug-sections=@x", "-mmnemonic=intel", "-gdwarf-6", "--32", "-L", "-D", "--64x",
    "--debug-prefix-map", " --64", "--64\t"};

START_TEST(refused)
{
	char *among = xasprintf("--64\n%s\n-g", bad[_i]);
	struct err e = {""};

	ck_assert_int_eq(asopt_check(bad[_i], &e), -1);
	ck_assert_int_eq(strncmp(e.text, bad[_i], strlen(bad[_i])), 0);
	ck_assert_ptr_nonnull(strstr(e.text, ": not an option of as"));
	ck_assert_int_eq(asopt_check(among, &e), -1);
	free(among);
}
END_TEST

START_TEST(kinds)
{
	ck_assert_int_eq(asopt_kind("--gdwarf-4"), ASOPT_DEBUG);
	ck_assert_int_eq(asopt_kind("--version"), ASOPT_INQUIRY);
	ck_assert_int_eq(asopt_kind("-s"), ASOPT_KEEP);
	ck_assert_int_eq(asopt_kind(""), ASOPT_REFUSED);
	ck_assert_int_eq(asopt_kind("--64\n--64"), ASOPT_REFUSED);
}
END_TEST

static const char *const plain[] = {"", "\t.text\n\tret\n", "\t.string \".include \\\"x\\\"\"\n",
    "\t.ascii\t\"/* a/* .incbin\\0\"\n", "# .include it's\n",
    "\tmovl 4(%rdi), %eax\t# p_1->opts.include\n", "\tmovl %eax, %ebx /* c */\n",
    "\tcall include\n\t.includes\n.Linclude:\n",
    "\t.string \"it's \\\" /* #\"\n# 1 \"it's\"\n#APP don't \"\n# .irp\n\t.string \".macro\"\n"};

START_TEST(text_without_files)
{
	struct err e = {""};

	ck_assert_msg(!as_text_check(plain[_i], strlen(plain[_i]), &e), "%s", e.text);
}
END_TEST

static const char *const files[] = {".incbin \"x\"", "\t.include\t\"x\"\n", ".INCBIN \"x\"",
    "1:.incbin\"x\"", "\f.incbin \"x\"\n", ".byte '# ; .incbin \"x\"\n",
    ".byte '\" ; .Include \"x\"\n", ".inc/**/bin \"x\"\n", ".inc/*\n*/bin \"x\"\n",
    ".irp x,bin\n.inc\\x \"f\"\n.endr\n", ".irpc x,n\n", ".macro m\n", ".altmacro\n",
    ".string \"a\" ; .incbin \"x\"\n", ".string \"a\", \"b\\\".incbin\"\n",
    ".ascii \"a\n\" ; .incbin \"x\"\n", "# \" ; .incbin \"x\"\n", ".string .incbin\n",
    ".string \"a\\\\\";.incbin \"x\"", ".stringer \"\\.incbin\"", ".irep x,bin\n", "\t.IREPC x,n\n",
    ".mri 1\n",
    /* where a line before is read on */
    ".ascii \"a\n.string \"; .irp x,inc; .ascii \"\n", "/*\n# */ .irp x,inc\n",
    "/*\n.string \"*/ .macro m; .ascii \"\n", ".byte '\"; .ascii \"\n.string \"; .irp x,n;\"\n",
    "# 1 \"a\n.string \"; .irp x,n;\"\n", "nop; # 1 \"a\n# .irp x,n\n", "#NO_APP\n# ; .irp x,inc\n",
    "\t.ascii \"a\\\n\"\n.string \".irpc\"\n"};

START_TEST(text_with_files)
{
	struct err e = {""};

	ck_assert_msg(as_text_check(files[_i], strlen(files[_i]), &e) == -1, "%s", files[_i]);
	ck_assert_ptr_nonnull(strstr(e.text, "another file"));
}
END_TEST

/* Wherever in a long text it is. */
START_TEST(text_with_files_at)
{
	enum { AROUND = 150 };
	const char *file = files[_i];
	size_t n = strlen(file), at, last = strncmp(file, "#NO_APP", 7) ? AROUND : 0;
	char *text = xmalloc(n + AROUND);

	for (at = 0; at <= last; at++) {
		memset(text, '\n', n + AROUND);
		memcpy(text + at, file, n);
		ck_assert_msg(as_text_check(text, n + AROUND, NULL) == -1, "%s at %zu", file, at);
	}
	free(text);
}
END_TEST

UNIT_MAIN("asopt", 0, NULL, NULL, UNIT_LOOP(repeated, sizeof good / sizeof *good),
    UNIT_LOOP(refused, sizeof bad / sizeof *bad), kinds,
    UNIT_LOOP(text_without_files, sizeof plain / sizeof *plain),
    UNIT_LOOP(text_with_files, sizeof files / sizeof *files),
    UNIT_LOOP(text_with_files_at, sizeof files / sizeof *files))
