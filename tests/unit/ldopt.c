/* common/ldopt: ld's options, and which of them a recipe may have. */
#include "common/command/ldopt.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3 };

/* Splits at blanks; "~" is a blank within an argument. */
static size_t split(char *line, const char **arg)
{
	char *save = NULL, *word, *p;
	size_t n = 0;

	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		for (p = word; *p; p++)
			if (*p == '~')
				*p = ' ';
		arg[n++] = word;
	}
	return n;
}

static int check_for(enum linker linker, const char *text, struct err *e)
{
	char *line = xstrdup(text);
	const char *arg[64];
	size_t n = split(line, arg);
	int rc = recipe_check(linker, arg, n, INPUTS, e);

	free(line);
	return rc;
}

static int check(const char *text, struct err *e)
{
	return check_for(LINKER_GNU, text, e);
}

static const char *const good[] = {"",
    "--eh-frame-hdr -m elf_x86_64 --hash-style=gnu --as-needed -dynamic-linker "
    "/lib64/ld-linux-x86-64.so.2 -pie -z now -z relro @0 -L=/usr/lib @1 -lgcc --push-state "
    "--as-needed -lgcc_s --pop-state -lc @2",
    "-static -melf_x86_64 -znow --start-group -lc -lgcc_eh --end-group -O1 -O 2 -( -) @0",
    "-shared -soname libf.so.1 --version-script=@1 -dynamic-list=@2 -z pack-relative-relocs",
    "-T @1 --script=@1 --script @1 -dT @1 -R @0 --just-symbols=@0",
    "--gc-sections --wrap=malloc --wrap malloc -u main -e start --defsym=a=0x10 --defsym a=b+4",
    "-rpath $ORIGIN/../lib:/opt/x~y -rpath=/x -z max-page-size=0x1000 -z stack-size=65536",
    "-b binary @1 -b default @0 -l:libx.so.1 -Ttext=0x400000 -Ttext-segment 400000",
    "--section-start=.foo=0x100 --sort-section=name --unresolved-symbols=ignore-all",
    "-s -S -x -X -E -q", "--build-id=none --sysroot=/opt/sdk",
    "--package-metadata={\"type\":\"deb\",\"os\":\"debian\"} --demangle --unique=.text --unique"};

START_TEST(repeated)
{
	struct err e = {""};

	ck_assert_msg(!check(good[_i], &e), "%s", e.text);
}
END_TEST

static const struct {
	const char *line, *named;
} bad[] = {
    {"-plugin evil.so", "-plugin"},
    {"--build-id=0x12", "--build-id"},
    {"-build-id=none", "-build-id"},
    {"--sysroot=/opt/../..", "--sysroot"},
    {"--sysroot=opt", "--sysroot"},
    {"--sysroot /opt", "--sysroot"},
    {"-plugin=evil.so", "-plugin"},
    {"--plugin evil.so", "--plugin"},
    {"--plug evil.so", "--plug"},
    {"-plugi=evil.so", "-plugi"},
    {"-plugin-opt=x", "-plugin-opt"},
    {"--plugin-o x", "--plugin-o"},
    {"-T /abs/script", "-T /abs/script"},
    {"-T/abs/script", "-T /abs/script"},
    {"-T@0", "-T @0"},
    {"-T=@0", "-T =@0"},
    {"-T @9", "-T @9"},
    {"-T @", "-T @"},
    {"-T -plugin", "-T -plugin"},
    {"-T", "-T"},
    {"--script=/abs", "--script /abs"},
    {"--scrip=@0", "--scrip"},
    {"-dT/abs", "-dT/abs"},
    {"-dT /abs", "-dT /abs"},
    {"--default-script=/abs", "--default-script /abs"},
    {"-c @0", "-c"},
    {"-ctf-variables", "-ctf-variables"},
    {"-ctf-share-types=share-duplicated", "-ctf-share-types"},
    {"-check-sections", "-check-sections"},
    {"--mri-script=@0", "--mri-script"},
    {"-R /home/x.o", "-R /home/x.o"},
    {"--just-symbols=/home/x.o", "--just-symbols /home/x.o"},
    {"@file", "@file"},
    {"@@0", "@@0"},
    {"@3", "@3"},
    {"@0x", "@0x"},
    {"@-1", "@-1"},
    {"@4294967296", "@4294967296"},
    {"@18446744073709551616", "@18446744073709551616"},
    {"/abs/path/x.o", "/abs/path/x.o"},
    {"../x.o", "../x.o"},
    {"=/x.o", "=/x.o"},
    {"-", "-"},
    {"-- @0", "--"},
    {"-o/elsewhere", "-o"},
    {"-o out", "-o"},
    {"--output=x", "--output"},
    {"-output", "-o"},
    {"--outp=x", "--outp"},
    {"-oformat=elf64-x86-64", "-o"},
    {"--oformat=binary", "--oformat binary"},
    {"-Map=x", "-Map"},
    {"-Ma=x", "-Ma"},
    {"-M", "-M"},
    {"--print-map", "--print-map"},
    {"--dependency-file=x", "--dependency-file"},
    {"--depend=x", "--depend"},
    {"--out-implib=x", "--out-implib"},
    {"--error-handling-script=x", "--error-handling-script"},
    {"--error-h=x", "--error-h"},
    {"--sysroot=/", "--sysroot"},
    {"-sysr=/", "-sysr"},
    {"-L/home", "-L /home"},
    {"-L=home", "-L =home"},
    {"-L =/home", "-L =/home"},
    {"-L$SYSROOT/x", "-L $SYSROOT/x"},
    {"--library-path=/home", "--library-path /home"},
    {"-l/home/x", "-l /home/x"},
    {"-l:../x", "-l :../x"},
    {"-l @x", "-l @x"},
    {"--library=a/b", "--library a/b"},
    {"-library x.so", "x.so"}, /* -l ibrary */
    {"-Y P,/home", "-Y"},
    {"-A /x", "-A"},
    {"-m elf_i386", "-m elf_i386"},
    {"-mi386pep", "-m i386pep"},
    {"-b srec @0", "-b srec"},
    {"-b plugin @0", "-b plugin"},
    {"--format=verilog", "--format verilog"},
    {"-r", "-r"},
    {"-i", "-i"},
    {"-Ur", "-Ur"},
    {"--relocatable", "--relocatable"},
    {"-G", "-G"},
    {"-G x.o", "-G x.o"},
    {"-G abc", "-G abc"},
    {"-rpath-link=/home", "-rpath-link"},
    {"-rpath @list", "-rpath @list"},
    {"-rpath -plugin", "-rpath -plugin"},
    {"-rpath=@0", "-rpath @0"},
    {"--defsym a=@0", "--defsym a=@0"},
    {"--defsym=a=@0", "--defsym a=@0"},
    {"-usym", "-u sym"},
    {"-und x", "-und"},
    {"-unresolved=x", "-unresolved"},
    {"-estart", "-e start"},
    {"-hlib.so", "-h lib.so"},
    {"-sx", "-sx"},
    {"-e /x", "-e /x"},
    {"--wrap=a/b", "--wrap a/b"},
    {"-z nonsense", "-z nonsense"},
    {"-z max-page-size=a/b", "-z max-page-size=a/b"},
    {"--hash-style=x", "--hash-style x"},
    {"--hash", "--hash"},
    {"--gc-sections=x", "--gc-sections x"},
    {"--version", "--version"},
    {"--verbose", "--verbose"},
    {"--task-link=x", "--task-link"},
    {"--remap-inputs-file=/x", "--remap-inputs-file"},
    {"-flto", "-flto"},
    {"-f/x", "-f /x"},
    {"--dll", "--dll"},
    {"--output-def=x", "--output-def"},
    {"--soname=a\nb", "--soname a\nb"},
};

START_TEST(refused)
{
	struct err e = {""};
	size_t n = strlen(bad[_i].named);

	ck_assert_msg(check(bad[_i].line, &e) == -1, "accepted: %s", bad[_i].line);
	ck_assert_msg(!strncmp(e.text, bad[_i].named, n) && e.text[n] == ':',
	    "%s: not named in: %s", bad[_i].line, e.text);
}
END_TEST

/* An abbreviation is known by what it abbreviates: the table must have all. */
START_TEST(ld_has_no_other_options)
{
	FILE *f = popen("LC_ALL=C ld --help", "r");
	char line[512], *p, *end;
	size_t seen = 0, i;
	const char *arg;
	struct ldopt o;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f) && strncmp(line, "elf32_x86_64:", 13)) {
		/* "  -e ADDRESS, --entry ADDRESS  Set …" */
		p = line;
		while (!strncmp(p, "  -", 3) || !strncmp(p, ", -", 3)) {
			p += 2;
			end = p + 2 + strcspn(p + 2, " =[\t\n,<");
			arg = xasprintf("%.*s", (int)(end - p), p);
			i = 0;
			ck_assert(ldopt_next(LINKER_GNU, &arg, 1, &i, &o));
			ck_assert_msg(o.kind != LDOPT_UNKNOWN, "not in the table: %s", arg);
			seen++;
			free((char *)arg);
			p = end + strcspn(end, ",\n");
			if (memmem(end, (size_t)(p - end), "  ", 2))
				break;
		}
	}
	pclose(f);
	ck_assert_uint_gt(seen, 150);
}
END_TEST

/* gold, lld and mold: one spelling of each option. */
START_TEST(others)
{
	static const char fine[] =
	    "--eh-frame-hdr -m elf_x86_64 --hash-style=gnu --as-needed "
	    "--dynamic-linker=/lib64/ld-linux-x86-64.so.2 --pie -z now -O2 @0 -L=/usr/lib -lgcc "
	    "--version-script=@1 --gc-sections --rpath=$ORIGIN --entry=main --icf=none";
	static const char *const bad_line[] = {"-pie", "--entry main", "-e main", "-znow", "-O 2",
	    "-melf_x86_64", "-l gcc", "-L /usr/lib", "--version-script=/etc/passwd",
	    "-T/etc/passwd", "--plugin=x.so", "--icf=all", "--symbol-ordering-file=@0",
	    "--section-ordering-file=@0", "--reproduce=x", "--run", "--chroot=/", "-C",
	    "--threads=1", "--Map=x", "-o", "--repro", "--print-symbol-order=x", "--save-temps",
	    "--mllvm=-x", "-mllvm", "--soname=@0", "-zq"};
	static const enum linker linker[] = {LINKER_GOLD, LINKER_LLD, LINKER_MOLD};
	struct err e = {""};
	size_t i, k;

	for (k = 0; k < sizeof linker / sizeof *linker; k++) {
		ck_assert_msg(!check_for(linker[k], fine, &e), "%s", e.text);
		for (i = 0; i < sizeof bad_line / sizeof *bad_line; i++)
			ck_assert_msg(check_for(linker[k], bad_line[i], &e), "%s", bad_line[i]);
	}
	ck_assert(check_for(LINKER_UNKNOWN, "", &e));
}
END_TEST

START_TEST(linkers)
{
	static const struct {
		const char *path;
		enum linker linker;
	} of[] = {{"/usr/bin/x86_64-linux-gnu-ld", LINKER_GNU},
	    {"/usr/bin/x86_64-linux-gnu-ld.bfd", LINKER_GNU}, {"ld.bfd", LINKER_GNU},
	    {"/usr/bin/x86_64-linux-gnu-ld.gold", LINKER_GOLD}, {"/opt/gold", LINKER_GOLD},
	    {"/usr/lib/llvm-14/bin/lld", LINKER_LLD}, {"/usr/bin/ld.lld-19", LINKER_LLD},
	    {"/usr/bin/mold", LINKER_MOLD}, {"/usr/bin/x86_64-linux-gnu-mold", LINKER_MOLD},
	    {"/bin/sh", LINKER_UNKNOWN}, {"/usr/bin/wild", LINKER_UNKNOWN}};
	size_t i;

	for (i = 0; i < sizeof of / sizeof *of; i++)
		ck_assert_int_eq(linker_of_program(of[i].path), of[i].linker);
	ck_assert_int_eq(linker_named("ld.mold"), LINKER_MOLD);
	ck_assert_int_eq(linker_named("/usr/bin/ld"), LINKER_UNKNOWN);
	ck_assert_int_eq(linker_named("ld.lld-19"), LINKER_LLD);
	ck_assert_int_eq(linker_named("ld.lld-"), LINKER_UNKNOWN);
	ck_assert_int_eq(linker_named("ld.lld-19/../sh"), LINKER_UNKNOWN);
	ck_assert_str_eq(linker_name(LINKER_GNU), "ld");
	ck_assert_str_eq(linker_name(LINKER_LLD), "ld.lld");
}
END_TEST

UNIT_MAIN("ldopt", 0, NULL, NULL, others, linkers, UNIT_LOOP(repeated, sizeof good / sizeof *good),
    UNIT_LOOP(refused, sizeof bad / sizeof *bad), ld_has_no_other_options)
