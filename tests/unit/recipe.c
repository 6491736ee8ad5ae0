/* hooks/recipe: from the line of a link to the line of a relink. */
#include "hooks/recipe.h"
#include "common/command/ldopt.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* Files of this world end in a known way; number = place in the list. */
static const char *const world[] = {"crt1.o", "a.o", "/x/libx.a", "sc.ld", "v.map", "dir/k.txt"};

static struct args raw;

static int64_t file(void *arg, const char *path, enum recipe_use use)
{
	size_t i;

	for (i = 0; i < sizeof world / sizeof *world; i++)
		if (!strcmp(world[i], path)) {
			if (use == RECIPE_RAW)
				args_add(&raw, path);
			return use == RECIPE_LAZY && *path == 'd' ? RECIPE_UNUSED : (int64_t)i;
		}
	return -1;
}

static char *folder(void *arg, const char *path)
{
	return path[0] == '/' ? xstrdup(path) : xasprintf("/cwd/%s", path);
}

static enum linker linker = LINKER_GNU;
static const char *sysroot = "";

static void make(const char *line, const char *recipe, struct err *why)
{
	struct recipe_files f = {.file = file, .folder = folder, .sysroot = sysroot};
	struct args in = {0}, out = {0};
	char *joined;

	args_split(&in, line, strlen(line));
	recipe_make(&out, linker, &in, &f);
	joined = args_join(&out, ' ');
	ck_assert_str_eq(joined, recipe);
	free(joined);
	*why = (struct err){""};
	recipe_check(linker, (const char *const *)out.v, out.n, sizeof world / sizeof *world, why);
	args_free(&in);
	args_free(&out);
}

/* What becomes of a link, and that it may be repeated. */
static void expect(const char *line, const char *recipe)
{
	struct err why;

	make(line, recipe, &why);
	ck_assert_str_eq(why.text, "");
}

/* The same, and why it costs the artifact. */
static void costs(const char *line, const char *recipe, const char *because)
{
	struct err why;

	make(line, recipe, &why);
	ck_assert_str_eq(why.text, because);
}

START_TEST(files_become_numbers)
{
	expect("crt1.o a.o /x/libx.a -lm", "@0 @1 @2 -lm");
	costs("a.o missing.o", "@1 missing.o", "missing.o: not an input that Morph knows");
	costs("a.o -", "@1 -", "-: not an input that Morph knows");
}
END_TEST

START_TEST(what_gcc_passes)
{
	expect(
	    "-plugin /p/lto.so -plugin-opt=/p/wrap -plugin-opt=-pass-through=-lc --build-id "
	    "--eh-frame-hdr -m elf_x86_64 --hash-style=gnu --as-needed -dynamic-linker "
	    "/lib64/ld-linux-x86-64.so.2 -pie -o prog crt1.o -L. -L/usr/lib a.o -lc --push-state",
	    "--eh-frame-hdr -m elf_x86_64 --hash-style=gnu --as-needed -dynamic-linker "
	    "/lib64/ld-linux-x86-64.so.2 -pie @0 -L=/cwd/. -L=/usr/lib @1 -lc --push-state");
}
END_TEST

START_TEST(others_have_one_spelling)
{
	linker = LINKER_LLD;
	expect(
	    "-dynamic-linker /l -melf_x86_64 -znow -z relro -e main -s -shared -soname x -rpath /y "
	    "-L. -l m -O2 -u f --Map=m -o p a.o -T sc.ld --threads=4 -b elf",
	    "--dynamic-linker=/l -m elf_x86_64 -z now -z relro --entry=main --strip-all --shared "
	    "--soname=x --rpath=/y -L=/cwd/. -lm -O2 --undefined=f @1 --script=@3 --format=elf");
	costs("-pie --icf=all a.o", "--pie --icf=all @1",
	    "--icf all: not an operand that Morph repeats");
	expect("--plugin-opt=x --lto-O3 a.o", "@1");
	costs("--no-such a.o", "--no-such @1", "--no-such: not an option that Morph repeats");
	linker = LINKER_GNU;
}
END_TEST

/* As Bazel passes the objects of libraries. */
START_TEST(unused_objects_are_gone)
{
	linker = LINKER_GOLD;
	expect("crt1.o --start-lib a.o dir/k.txt --end-lib dir/k.txt",
	    "@0 --start-lib @1 --end-lib @5");
	expect("-start-lib dir/k.txt -end-lib a.o", "--start-lib --end-lib @1");
	linker = LINKER_GNU;
	costs("--start-lib a.o --end-lib", "--start-lib @1 --end-lib",
	    "--start-lib: not an option that Morph repeats");
}
END_TEST

START_TEST(outputs_are_gone)
{
	expect("-o x a.o", "@1");
	expect("-ox a.o", "@1");
	expect("--output x a.o --output=x", "@1");
	expect("-Map m -Map=m --Map m -M --print-map a.o", "@1");
	expect("--dependency-file d --dependency-file=d a.o", "@1");
	expect("--build-id=sha1 -build-id=0xab a.o", "@1");
	expect("--out-implib i -t -v -V --trace a.o", "@1");
}
END_TEST

START_TEST(search_folders)
{
	expect("-L dir -Ldir -L/abs --library-path=dir --library-path dir",
	    "-L=/cwd/dir -L=/cwd/dir -L=/abs -L=/cwd/dir -L=/cwd/dir");
	expect("-L=/in/root -L$SYSROOT/lib", "-L=/in/root -L=/lib");
	sysroot = "/sdk";
	expect("--sysroot=sdk -L=/in/root -L/out -L$SYSROOT/lib",
	    "-L=/sdk/in/root -L=/out -L=/sdk/lib --sysroot=/sdk");
	sysroot = "";
	expect("-rpath-link a:/b --rpath-link=c -rpath /r", "-rpath /r");
}
END_TEST

START_TEST(options_with_files)
{
	expect("-T sc.ld -Tsc.ld --script=sc.ld --script sc.ld",
	    "-T @3 -T @3 --script=@3 --script=@3");
	expect("-version-script v.map --version-script=v.map --dynamic-list=v.map",
	    "-version-script=@4 --version-script=@4 --dynamic-list=@4");
	costs("-T searched.ld", "-T searched.ld",
	    "-T searched.ld: not an operand that Morph repeats");
	expect("-R a.o --just-symbols=a.o", "-R @1 --just-symbols=@1");
	expect("-R /some/folder -R/other", "-rpath /some/folder -rpath /other");
}
END_TEST

START_TEST(what_costs_the_artifact)
{
	costs("--some-new-option=dir/k.txt a.o", "--some-new-option=dir/k.txt @1",
	    "--some-new-option: not an option that Morph repeats");
	costs("-c a.o", "-c a.o", "-c: not an option that Morph repeats");
	costs("--force-exe-suffix", "--force-exe-suffix",
	    "--force-exe-suffix: not an option that Morph repeats");
	costs("-r a.o", "-r @1", "-r: not an option that Morph repeats");
	costs("--oformat=binary", "--oformat=binary",
	    "--oformat binary: not an operand that Morph repeats");
	costs("-b srec a.o", "-b srec @1", "-b srec: not an operand that Morph repeats");
}
END_TEST

START_TEST(values_are_no_files)
{
	/* Each value is a file of the world, and means something else here. */
	expect("-soname a.o -h a.o -ha.o -e a.o -u a.o", "-soname a.o -h a.o -h a.o -e a.o -u a.o");
	expect("-rpath dir/k.txt --wrap a.o --defsym a=1 -Ttext 0x10 -Tdata=0x20",
	    "-rpath dir/k.txt --wrap a.o --defsym a=1 -Ttext 0x10 -Tdata=0x20");
	expect("--dynamic-linker=dir/k.txt -rpath=dir/k.txt",
	    "--dynamic-linker=dir/k.txt -rpath=dir/k.txt");
	expect("-l a.o -lfoo -l:libx.a", "-l a.o -lfoo -l:libx.a");
}
END_TEST

START_TEST(one_dash_and_first_letters)
{
	/* Long options whose first letter is a short option with a value. */
	expect("-shared -static -Bsymbolic -export-dynamic -as-needed -fatal-warnings -relax -cref "
	       "a.o",
	    "-shared -static -Bsymbolic -export-dynamic -as-needed -fatal-warnings -relax @1");
	expect("-( a.o -) --start-group -O1 -O 2 -melf_x86_64",
	    "-( @1 -) --start-group -O1 -O 2 -melf_x86_64");
}
END_TEST

START_TEST(at_signs)
{
	costs("-rpath @c", "-rpath @c", "-rpath @c: not an operand that Morph repeats");
	costs("--soname=@b", "--soname=@b", "--soname @b: not an operand that Morph repeats");
	costs("@missing", "@missing", "@missing: not an input that Morph knows");
	expect("-u memcpy@GLIBC_2.2.5", "-u memcpy@GLIBC_2.2.5");
}
END_TEST

START_TEST(raw_inputs)
{
	char *joined;

	expect("a.o -b binary v.map -b default crt1.o -T sc.ld",
	    "@1 -b binary @4 -b default @0 -T @3");
	joined = args_join(&raw, ' ');
	ck_assert_str_eq(joined, "v.map sc.ld");
	free(joined);
}
END_TEST

static struct ldcmd command(const char *line, struct args *a)
{
	struct ldcmd c;

	*a = (struct args){0};
	args_split(a, line, strlen(line));
	ldcmd_read(&c, LINKER_GNU, (const char *const *)a->v, a->n);
	return c;
}

START_TEST(facts)
{
	struct args a;
	struct ldcmd c = command("-m elf_i386 -r --sysroot=/r -Map=m --dependency-file d a.o", &a);

	ck_assert_str_eq(c.output, "a.out");
	ck_assert_str_eq(c.emulation, "elf_i386");
	ck_assert_str_eq(c.sysroot, "/r");
	ck_assert_str_eq(c.map, "m");
	ck_assert_str_eq(c.dependency_file, "d");
	ck_assert(c.relocatable && !c.inquiry && !c.map_stdout);
	args_free(&a);
	c = command("-M -o out -lc --build-id=sha1", &a);
	ck_assert_str_eq(c.output, "out");
	ck_assert(c.map_stdout && !c.map && !c.relocatable && !c.inquiry);
	args_free(&a);
	c = command("-v", &a);
	ck_assert(c.inquiry);
	args_free(&a);
	c = command("a.o --version", &a);
	ck_assert(c.inquiry);
	args_free(&a);
	c = command("a.o -o", &a);
	ck_assert_str_eq(c.output, "a.out");
	args_free(&a);
}
END_TEST

int main(void)
{
	int failed = UNIT_RUN("recipe", 0, NULL, NULL, files_become_numbers, what_gcc_passes,
	    others_have_one_spelling, unused_objects_are_gone, outputs_are_gone, search_folders,
	    options_with_files, what_costs_the_artifact, values_are_no_files,
	    one_dash_and_first_letters, at_signs, raw_inputs, facts);

	args_free(&raw);
	return failed;
}
