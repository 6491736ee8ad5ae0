/* common/ldscript: which inputs ld may read as a script. */
#include "common/command/ldscript.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check(const char *s, struct err *e)
{
	return ldscript_check(s, strlen(s), "in.ld", "", e);
}

static const char *const good[] = {"", "crt", "{ global: f; local: *; };\n# INPUTS, all\n",
    "{ f; };", "blob \1\2\377", "a\nb\nc\n",
    ("/* GNU ld script\n   Use the shared library. */\nOUTPUT_FORMAT(elf64-x86-64)\n"
     "GROUP ( /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libc_nonshared.a "
     " AS_NEEDED ( /lib64/ld-linux-x86-64.so.2 ) )\n"),
    "INPUT(libncurses.so.6 -ltinfo)\n", "INPUT(f.o)", "INPUT(\"a b.o\", ./c.o, sub/d.o)",
    "SEARCH_DIR(\"=/usr/lib\"); SEARCH_DIR(=/lib) INPUT(-lx)",
    ("ENTRY(_start) SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .text : { KEEP(*(.init)) "
     "*(.text .text.*) *crtend.o(.x) } /DISCARD/ : { *(.note) } . = ALIGN(64 / 8); }"),
    "SECTIONS { .x : { *(.x) } } INSERT AFTER .data;"};

START_TEST(accepted)
{
	struct err e = {""};

	ck_assert_msg(!check(good[_i], &e), "%s", e.text);
}
END_TEST

static const char *const bad[] = {"INCLUDE /etc/shadow", "INCLUDE foo", "x = 1; INCLUDE \"/x\"",
    "INPUT(/usr/../../etc/x)", "INPUT(../x.o)", "INPUT(-l../x)", "INPUT(-L/x)", "INPUT(-T/x)",
    "INPUT(\"../x\")", "GROUP(a AS_NEEDED(x/../../../y))", "INPUT(..)", "INPUT", "INPUT(a",
    "INPUT(a;b)", "INPUT(a INCLUDE{)", "STARTUP(x.o)", "OUTPUT(/home/x)", "OUTPUT(x)",
    "TARGET(binary)", "SEARCH_DIR(/home)", "SEARCH_DIR(=/usr/../..)", "SEARCH_DIR(\"/home\")",
    "SECTIONS { .t : { /etc/shadow(.text) } }", "SECTIONS { .t : { \"/etc/shadow\"(.text) } }",
    "SECTIONS { .t : { a/../../x.o(.text) } }", "SECTIONS { .t : { x/*(.t) INCLUDE y */ } }",
    "SECTIONS { INCLUDE x }", "SECTIONS { a=1;INCLUDE x }", "SECTIONS{a=INCLUDE x}",
    "SECTIONS { } /* open", "SECTIONS { } \"open", "SECTIONS { } # INCLUDE", "SECTIONS { a\\b }",
    "SECTIONS { \1 }", "\177ELF = 1; INCLUDE x", "\177ELF\2\1\1 INCLUDE x", "!<arch>\nINCLUDE x",
    "!<thin>\n", "# \"\nINCLUDE /x\n# \"\nINPUT(a)", "VERSION { } INPUT /* */ /x"};

START_TEST(refused)
{
	struct err e = {""};

	ck_assert_msg(check(bad[_i], &e) == -1, "accepted: %s", bad[_i]);
	ck_assert_int_eq(strncmp(e.text, "in.ld: ", 7), 0);
}
END_TEST

START_TEST(bytes)
{
	static const char nul[] = "INPUT\0(a)";
	unsigned char elf[96] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	struct err e;

	ck_assert_int_eq(ldscript_check(nul, sizeof nul - 1, "in.ld", "", &e), -1);
	ck_assert_int_eq(ldscript_check("INPUT(a\0)", 9, "in.ld", "", &e), -1);
	memcpy(elf + 64, "INCLUDE x", 9);
	elf[16] = 1;
	elf[18] = 0x3e;
	ck_assert_int_eq(ldscript_check(elf, sizeof elf, "in.ld", "", &e), 0);
	ck_assert_int_eq(ldscript_check("INPUT(/a)", 9, "/s/in.ld", "/s", &e), 0);
	ck_assert_int_eq(ldscript_check("INPUT(a -lb)", 12, "/in.ld", "/s", &e), 0);
	ck_assert_int_eq(ldscript_check("INPUT(/a)", 9, "/sys/in.ld", "/s", &e), -1);
	ck_assert_int_eq(ldscript_check("INPUT(/a)", 9, "/s/../in.ld", "/s", &e), -1);
	elf[18] = '=';
	ck_assert_int_eq(ldscript_check(elf, sizeof elf, "in.ld", "", &e), -1);
}
END_TEST

/* The linker's own script, which people begin theirs with. */
START_TEST(the_default_script)
{
	FILE *f = popen("ld --verbose | sed '1,/^=====/d; /^=====/,$d'", "r");
	struct buf b = {0};
	struct err e = {""};
	size_t r;

	ck_assert_ptr_nonnull(f);
	while ((r = fread(buf_grow(&b, 4096), 1, 4096, f)) > 0)
		b.n -= 4096 - r;
	b.n -= 4096;
	pclose(f);
	ck_assert_uint_gt(b.n, 2000);
	ck_assert_msg(!ldscript_check(b.p, b.n, "default", "", &e), "%s", e.text);
	buf_free(&b);
}
END_TEST

UNIT_MAIN("ldscript", 0, NULL, NULL, UNIT_LOOP(accepted, sizeof good / sizeof *good),
    UNIT_LOOP(refused, sizeof bad / sizeof *bad), bytes, the_default_script)
