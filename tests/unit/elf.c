#include "common/elf/elf.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static const char lib_source[] =
    "__attribute__((visibility(\"protected\"))) int shown(int x) { return x + 1; }\n"
    "int table[7] = {1};\n"
    "__attribute__((weak)) int maybe(void) { return 2; }\n"
    "extern int elsewhere(int);\n"
    "int calls(int x) { return elsewhere(x); }\n"
    "static int hidden_one(int x) { return x * 3; }\n"
    "int (*p)(int) = hidden_one;\n";

static const char prog_source[] = "#include <stdio.h>\n"
				  "#include <stdlib.h>\n"
				  "int main(int argc, char **argv)\n"
				  "{\n"
				  "\tif (argc > 1) fputs(argv[1], stderr);\n"
				  "\treturn puts(\"hello\") < 0 ? abs(argc) : 0;\n"
				  "}\n";

/* Builds with the C compiler: CFLAGS… of one line, split at blanks. */
static void cc(const char *args)
{
	char *line = xasprintf("gcc %s", args);
	struct spawn s = {.argv = (const char *const[]){"sh", "-ec", line, NULL}};
	struct err e;

	ck_assert_int_eq(spawn_run(&s, &e), 0);
	free(line);
}

static void enter(void)
{
	struct err e;

	strcpy(dir, "/tmp/morph-elf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	publish_bytes("lib.c", lib_source, sizeof lib_source - 1, 0644, &e);
	publish_bytes("prog.c", prog_source, sizeof prog_source - 1, 0644, &e);
}

static void leave(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	dir_remove(dir, NULL);
}

static struct elf *open_file(const char *path)
{
	struct err e;
	struct elf *f = elf_file_open(path, -1, &e);

	ck_assert_msg(f != NULL, "%s", e.text);
	return f;
}

START_TEST(build_ids_print_and_parse)
{
	struct build_id id, other;
	char hex[BUILD_ID_HEX];

	ck_assert_int_eq(build_id_parse("00a1ff", &id), 0);
	ck_assert_uint_eq(id.n, 3);
	ck_assert_uint_eq(id.b[1], 0xa1);
	ck_assert_str_eq(build_id_hex(&id, hex), "00a1ff");
	ck_assert_int_eq(build_id_parse("00a1fe", &other), 0);
	ck_assert(!build_id_equal(&id, &other));
	ck_assert(build_id_equal(&id, &id));
	ck_assert_int_eq(build_id_parse("", &id), -1);
	ck_assert_int_eq(build_id_parse("abc", &id), -1);
	ck_assert_int_eq(build_id_parse("AB", &id), -1);
	ck_assert_int_eq(build_id_parse("0g", &id), -1);
	memset(hex, 'a', 64);
	hex[64] = '\0';
	ck_assert_int_eq(build_id_parse(hex, &id), 0);
	ck_assert_uint_eq(id.n, 32);
	ck_assert_int_eq(
	    build_id_parse(
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &id),
	    -1);
}
END_TEST

START_TEST(an_artifacts_place_by_build_id)
{
	struct build_id id;
	char *path;

	ck_assert_int_eq(build_id_parse("00a1ff", &id), 0);
	path = build_id_path("/a:/b", 2, &id);
	ck_assert_str_eq(path, "/a/00/a1ff.morph");
	free(path);
	ck_assert_int_eq(build_id_parse("ab", &id), 0);
	ck_assert_ptr_null(build_id_path("/a", 2, &id));
}
END_TEST

START_TEST(kinds_are_told_apart)
{
	static const struct {
		const char *args;
		enum elf_kind kind;
	} t[] = {
	    {"-c prog.c -o f", ELF_OBJECT},
	    {"-no-pie prog.c -o f", ELF_EXEC},
	    {"-pie -fPIE prog.c -o f", ELF_PIE},
	    {"-static-pie -fPIE prog.c -o f", ELF_PIE},
	    {"-static prog.c -o f", ELF_EXEC},
	    {"-shared -fPIC lib.c -o f", ELF_SHARED},
	    {"-pie -fPIE prog.c -o f -fuse-ld=gold", ELF_PIE},
	};
	struct elf *f;
	size_t i;

	for (i = 0; i < sizeof t / sizeof *t; i++) {
		cc(t[i].args);
		f = open_file("f");
		ck_assert_msg(elf_file_kind(f) == t[i].kind, "%s", t[i].args);
		elf_file_close(f);
	}
	/* A shared library with an interpreter. */
	f = open_file("/lib/x86_64-linux-gnu/libc.so.6");
	ck_assert_int_eq(elf_file_kind(f), ELF_SHARED);
	elf_file_close(f);
}
END_TEST

START_TEST(notes_are_found)
{
	static const char note[] = "\t.section .note.morph,\"\",@note\n"
				   "\t.long 6, 4, 1\n\t.ascii \"Morph\\0\\0\\0\"\n"
				   "\t.byte 0xde, 0xad, 0xbe, 0xef\n"
				   "\t.section .note.GNU-stack,\"\",@progbits\n";
	char hex[BUILD_ID_HEX];
	struct build_id id;
	struct elf *f;
	struct err e;

	publish_bytes("note.s", note, sizeof note - 1, 0644, &e);
	cc("prog.c note.s -o f -Wl,--build-id=0x0123456789");
	f = open_file("f");
	id = elf_file_build_id(f);
	ck_assert_str_eq(build_id_hex(&id, hex), "0123456789");
	id = elf_file_origin(f);
	ck_assert_str_eq(build_id_hex(&id, hex), "deadbeef");
	elf_file_close(f);
	cc("prog.c -o f -Wl,--build-id=none");
	f = open_file("f");
	ck_assert_uint_eq(elf_file_build_id(f).n, 0);
	ck_assert_uint_eq(elf_file_origin(f).n, 0);
	elf_file_close(f);
}
END_TEST

/* Where the bytes are; without section headers, too. */
START_TEST(notes_have_a_place)
{
	static const uint8_t id[] = {1, 0x23, 0x45, 0x67, 0x89};
	struct buf file = {0};
	struct build_id found;
	struct elf *f;
	struct err e;
	Elf64_Ehdr *eh;
	uint64_t at;
	int i;

	cc("prog.c -o f -Wl,--build-id=0x0123456789");
	ck_assert_int_eq(file_read("f", 0, &file, &e), 0);
	eh = (void *)file.p;
	for (i = 0; i < 2; i++) {
		f = elf_mem_open(file.p, file.n, "f", &e);
		found = elf_file_build_id_note(f, &at);
		ck_assert_uint_eq(found.n, sizeof id);
		ck_assert_mem_eq(file.p + at, id, sizeof id);
		elf_file_close(f);
		eh->e_shoff = 0;
		eh->e_shnum = eh->e_shstrndx = 0;
	}
	buf_free(&file);
}
END_TEST

static int count_section(const struct elf_section *s, void *arg)
{
	unsigned *n = arg;

	++*n;
	ck_assert(s->type == SHT_NOBITS ? !s->data : s->data != NULL);
	return !strcmp(s->name, ".data") ? 5 : 0;
}

START_TEST(sections_and_segments_are_read)
{
	struct elf_section s;
	struct elf_segment seg[4];
	unsigned n = 0;
	struct elf *f;
	struct err e;

	cc("prog.c -o f");
	f = open_file("f");
	ck_assert_int_eq(elf_file_section(f, ".text", &s, &e), 1);
	ck_assert(s.size > 0 && s.data && (s.flags & SHF_EXECINSTR) && s.addr);
	ck_assert_uint_eq(elf_file_exec_segments(f, seg, 4), 1);
	ck_assert(seg[0].vaddr <= s.addr && s.addr + s.size <= seg[0].vaddr + seg[0].filesz);
	ck_assert_int_eq(elf_file_section(f, ".bss", &s, &e), 1);
	ck_assert_ptr_null(s.data);
	ck_assert_int_eq(elf_file_section(f, ".no-such", &s, &e), 0);
	ck_assert_int_eq(elf_file_sections(f, count_section, &n), 5);
	ck_assert_uint_gt(n, 5);
	elf_file_close(f);
}
END_TEST

struct wanted {
	const char *name, *version;
	unsigned seen;
	struct elf_symbol s;
};

static int pick_symbol(const struct elf_symbol *s, void *arg)
{
	struct wanted *w = arg;

	if (!strcmp(s->name, w->name)) {
		w->seen++;
		w->s = *s;
	}
	return 0;
}

START_TEST(symbols_carry_their_versions)
{
	struct wanted w = {.name = "puts"};
	struct elf *f;

	cc("prog.c -o f");
	f = open_file("f");
	ck_assert_int_eq(elf_file_symbols(f, true, pick_symbol, &w), 0);
	ck_assert_uint_eq(w.seen, 1);
	ck_assert_str_eq(w.s.version, "GLIBC_2.2.5");
	ck_assert_uint_eq(w.s.shndx, SHN_UNDEF);
	w = (struct wanted){.name = "main"};
	ck_assert_int_eq(elf_file_symbols(f, false, pick_symbol, &w), 0);
	ck_assert_uint_eq(w.seen, 1);
	ck_assert_uint_eq(w.s.type, STT_FUNC);
	ck_assert_ptr_null(w.s.version);
	elf_file_close(f);
	/* Several versions of one symbol, defined. */
	f = open_file("/lib/x86_64-linux-gnu/libc.so.6");
	w = (struct wanted){.name = "memcpy"};
	ck_assert_int_eq(elf_file_symbols(f, true, pick_symbol, &w), 0);
	ck_assert_uint_eq(w.seen, 2);
	ck_assert(!strcmp(w.s.version, "GLIBC_2.14") || !strcmp(w.s.version, "GLIBC_2.2.5"));
	elf_file_close(f);
}
END_TEST

START_TEST(objects_in_memory_are_read)
{
	struct buf b = {0};
	struct elf_section s;
	struct elf *f;
	struct err e;

	cc("-c prog.c -o f");
	/* At an odd address, as inside an archive. */
	buf_char(&b, 0);
	ck_assert_int_eq(file_read("f", 0, &b, &e), 0);
	f = elf_mem_open(b.p + 1, b.n - 1, "lib.a(f)", &e);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(elf_file_section(f, ".text", &s, &e), 1);
	elf_file_close(f);
	ck_assert_ptr_null(elf_mem_open("!<arch>\n", 8, "lib.a", &e));
	ck_assert_str_eq(e.text, "lib.a: not an ELF file");
	/* Another machine. */
	b.p[1 + 18] = (char)EM_AARCH64;
	b.p[1 + 19] = 0;
	ck_assert_ptr_null(elf_mem_open(b.p + 1, b.n - 1, "lib.a(f)", &e));
	ck_assert_str_eq(e.text, "lib.a(f): not an ELF file for x86-64");
	buf_free(&b);
}
END_TEST

static struct elf_face face_of(const char *path)
{
	struct elf *f = open_file(path);
	struct elf_face face;
	struct err e;

	ck_assert_msg(!elf_face_read(f, &face, &e), "%s", e.text);
	elf_file_close(f);
	return face;
}

/* 0 when alike; else the difference must hold this text. */
static void compare(const char *a, const char *b, const char *difference)
{
	struct elf_face x = face_of(a), y = face_of(b);
	struct err e = {0};

	if (!difference) {
		ck_assert_msg(!elf_face_compare(&x, &y, &e), "%s", e.text);
	} else {
		ck_assert_int_eq(elf_face_compare(&x, &y, &e), -1);
		ck_assert_msg(strstr(e.text, difference) != NULL, "%s", e.text);
	}
	elf_face_free(&x);
	elf_face_free(&y);
}

START_TEST(the_face_ignores_layout)
{
	cc("-O0 -shared -fPIC lib.c -o a -Wl,-soname,lib.so.1 -lm -Wl,--no-as-needed -lm");
	cc("-O2 -falign-functions=64 -fno-toplevel-reorder -shared -fPIC lib.c -o b "
	   "-Wl,-soname,lib.so.1 -Wl,--no-as-needed -lm -Wl,--build-id=0x42");
	compare("a", "b", NULL);
	cc("-O0 prog.c -o a");
	cc("-O2 prog.c -o b -Wl,--build-id=none");
	compare("a", "b", NULL);
}
END_TEST

START_TEST(every_part_of_the_face_counts)
{
	static const struct {
		const char *args, *difference;
	} t[] = {
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.2", "soname differs: lib.so.1, lib.so.2"},
	    {"-shared -fPIC lib.c -o b", "soname differs: lib.so.1, (none)"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Wl,--no-as-needed -lm",
		"needed library differs"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Wl,-rpath,/x", "runpath differs"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Wl,--disable-new-dtags,-rpath,/x",
		"rpath differs"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Wl,-z,now", "DT_FLAGS"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Wl,-z,nodelete", "DT_FLAGS_1 differs"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Wl,-z,execstack",
		"executable stack differs"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Dshown=seen",
		"dynamic symbol differs"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -Dweak=noinline",
		"dynamic symbol differs: D maybe"},
	    {"-shared -fPIC lib.c -o b -Wl,-soname,lib.so.1 -fvisibility=hidden",
		"dynamic symbol differs"},
	    {"-pie -fPIE prog.c -o b", "kind of file differs"},
	};
	size_t i;

	cc("-shared -fPIC lib.c -o a -Wl,-soname,lib.so.1");
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		cc(t[i].args);
		compare("a", "b", t[i].difference);
	}
	/* The size of an object counts, that of a function does not. */
	cc("-x c -shared -fPIC - -o c <<'E'\nint table[7] = {1};\nE");
	cc("-x c -shared -fPIC - -o d <<'E'\nint table[8] = {1};\nE");
	compare("c", "d", "dynamic symbol differs: D table@ 1 1 0 28, D table@ 1 1 0 32");
	cc("prog.c -o a");
	cc("prog.c -o b -Wl,--dynamic-linker,/lib64/other.so");
	compare("a", "b", "interpreter differs");
}
END_TEST

/* Cut anywhere, or with any byte of the headers changed, a file is read or
 * refused, never more (the sanitizers watch). */
START_TEST(damaged_files_do_no_harm)
{
	struct buf b = {0};
	struct err e;
	size_t i, step;

	cc("-shared -fPIC lib.c -o f -Wl,-soname,lib.so.1 -lm");
	ck_assert_int_eq(file_read("f", 0, &b, &e), 0);
	step = b.n / 4000 + 1;
	for (i = 0; i < 2 * b.n; i += step) {
		size_t n = i < b.n ? i : b.n;
		char *copy = memcpy(xmalloc(n), b.p, n);
		struct elf_face face;
		struct buf thin = {0}, image = {0};
		struct elf_names names = {0};
		size_t surplus;
		struct elf *f;

		if (i >= b.n)
			copy[i - b.n] ^= (char)(1 << i % 8 | 0x40);
		f = elf_mem_open(copy, n, "f", &e);
		if (f && !elf_face_read(f, &face, &e))
			elf_face_free(&face);
		if (f) {
			elf_file_build_id(f);
			elf_file_close(f);
		}
		elf_thin_shared(copy, n, "name", &thin, &e);
		buf_free(&thin);
		elf_rename(&names, copy, n, &thin, &e);
		buf_free(&thin);
		elf_names_free(&names);
		elf_image(copy, n, &image, &surplus, &e);
		buf_free(&image);
		free(copy);
	}
	buf_free(&b);
}
END_TEST

static void thin_file(const char *from, const char *to, const char *name)
{
	struct buf in = {0}, out = {0};
	struct err e;

	ck_assert_int_eq(file_read(from, 0, &in, &e), 0);
	ck_assert_msg(!elf_thin_shared(in.p, in.n, name, &out, &e), "%s", e.text);
	ck_assert_int_eq(publish_bytes(to, out.p, out.n, 0755, &e), 0);
	buf_free(&in);
	buf_free(&out);
}

static void rename_file(struct elf_names *names, const char *from, const char *to)
{
	struct buf in = {0}, out = {0};
	struct err e;

	ck_assert_int_eq(file_read(from, 0, &in, &e), 0);
	ck_assert_msg(!elf_rename(names, in.p, in.n, &out, &e), "%s", e.text);
	ck_assert_ptr_null(memmem(out.p, out.n, "fgetpos64", 9));
	ck_assert_int_eq(publish_bytes(to, out.p, out.n, 0755, &e), 0);
	buf_free(&in);
	buf_free(&out);
}

static void same_file(const char *a, const char *b)
{
	struct buf x = {0}, y = {0};
	struct err e;

	ck_assert_int_eq(file_read(a, 0, &x, &e), 0);
	ck_assert_int_eq(file_read(b, 0, &y, &e), 0);
	ck_assert_uint_eq(x.n, y.n);
	ck_assert_int_eq(memcmp(x.p, y.p, x.n), 0);
	buf_free(&x);
	buf_free(&y);
}

/* Links against the C library, as it is, thinned, and with other names for what the program does
 * not use: same bytes. */
START_TEST(a_thin_library_links_the_same)
{
	static const char *const linker[] = {"bfd", "gold"};
	static const char *const lib[] = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"};
	static const char *const used[] = {"main", "_init", "_fini", "__libc_start_main", "stderr",
	    "fputs", "puts", "abs", "__cxa_finalize", "__gmon_start__", "__stack_chk_fail",
	    "_GLOBAL_OFFSET_TABLE_", "_IO_stdin_used", "data_start", "__data_start", "__dso_handle",
	    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy0"};
	struct elf_names names = {0};
	size_t i;
	char *s;

	for (i = 0; i < sizeof used / sizeof *used; i++)
		htab_put_str(&names.kept, used[i], NULL);
	dir_make("real", 0755, NULL);
	dir_make("thin", 0755, NULL);
	dir_make("renamed", 0755, NULL);
	for (i = 0; i < 3; i++) {
		s = xasprintf("/lib/x86_64-linux-gnu/%s", lib[i]);
		ck_assert_int_eq(chdir("real"), 0);
		ck_assert_int_eq(symlink(s, lib[i]), 0);
		ck_assert_int_eq(chdir("../thin"), 0);
		thin_file(s, lib[i], "never used: it has one");
		ck_assert_int_eq(chdir("../renamed"), 0);
		free(s);
		s = xasprintf("../thin/%s", lib[i]);
		rename_file(&names, s, lib[i]);
		ck_assert_int_eq(chdir(".."), 0);
		free(s);
	}
	for (i = 0; i < 4; i++) {
		s = xasprintf("-fuse-ld=%s %s prog.c -c -o prog.o; for d in real thin renamed; do "
			      "gcc -fuse-ld=%s %s -nostdlib -o $d.out "
			      "$(gcc -print-file-name=%scrt1.o) prog.o $d/*.so* "
			      "$(gcc -print-file-name=libc_nonshared.a); done",
		    linker[i / 2], i % 2 ? "-no-pie -fno-pie" : "-pie -fPIE", linker[i / 2],
		    i % 2 ? "-no-pie" : "-pie", i % 2 ? "" : "S");
		cc(s);
		free(s);
		same_file("real.out", "thin.out");
		if (i < 2)
			same_file("real.out", "renamed.out");
	}
	/* Each library has its own, and one that has names of another the same for them. */
	ck_assert_uint_gt(names.n, 3000);
	ck_assert_uint_eq(names.n, names.given.n + 1);
	elf_names_free(&names);
}
END_TEST

/* Without a soname the path counts: the copy has it wherever it lies. */
START_TEST(a_thin_library_keeps_the_name_it_was_linked_by)
{
	char *line;

	dir_make("thin", 0755, NULL);
	cc("-shared -fPIC lib.c -o plain.so -lm");
	thin_file("./plain.so", "thin/moved.so", "./plain.so");
	line = xasprintf("-c prog.c -o prog.o; for l in ./plain.so thin/moved.so; do "
			 "gcc -Wl,--no-as-needed,--unresolved-symbols=ignore-all prog.o $l -o "
			 "$(basename $l).out; done");
	cc(line);
	free(line);
	same_file("plain.so.out", "moved.so.out");
}
END_TEST

static Elf64_Shdr section_header(const struct buf *b, uint32_t i)
{
	Elf64_Ehdr eh;
	Elf64_Shdr sh;

	memcpy(&eh, b->p, sizeof eh);
	memcpy(&sh, b->p + eh.e_shoff + i * sizeof sh, sizeof sh);
	return sh;
}

static Elf64_Shdr section_of_type(const struct buf *b, uint32_t type)
{
	Elf64_Shdr sh;
	uint32_t i = 0;

	do
		sh = section_header(b, i++);
	while (sh.sh_type != type);
	return sh;
}

/* Another linker may keep the names of sections among the dynamic strings. */
START_TEST(a_thin_library_has_its_name_in_a_shared_string_table)
{
	struct buf in = {0}, out = {0};
	Elf64_Shdr dynamic, strings, before;
	Elf64_Ehdr eh;
	Elf64_Dyn dyn;
	struct err e;
	size_t at = 0;

	cc("-shared -fPIC lib.c -o f -lm");
	ck_assert_int_eq(file_read("f", 0, &in, &e), 0);
	memcpy(&eh, in.p, sizeof eh);
	eh.e_shstrndx = (Elf64_Half)section_of_type(&in, SHT_DYNSYM).sh_link;
	before = section_header(&in, eh.e_shstrndx);
	memcpy(in.p, &eh, sizeof eh);
	ck_assert_msg(!elf_thin_shared(in.p, in.n, "./f", &out, &e), "%s", e.text);
	dynamic = section_of_type(&out, SHT_DYNAMIC);
	strings = section_header(&out, dynamic.sh_link);
	do {
		memcpy(&dyn, out.p + dynamic.sh_offset + at, sizeof dyn);
		at += sizeof dyn;
	} while (dyn.d_tag != DT_SONAME && at < dynamic.sh_size);
	ck_assert_int_eq(dyn.d_tag, DT_SONAME);
	ck_assert_uint_eq(dyn.d_un.d_val, before.sh_size);
	ck_assert_mem_eq(out.p + strings.sh_offset, in.p + before.sh_offset, before.sh_size);
	ck_assert_str_eq((char *)out.p + strings.sh_offset + before.sh_size, "./f");
	buf_free(&in);
	buf_free(&out);
}
END_TEST

static void image_of(const char *path, struct buf *out, size_t *surplus)
{
	struct buf in = {0};
	struct err e;

	out->n = 0;
	ck_assert_int_eq(file_read(path, 0, &in, &e), 0);
	ck_assert_msg(!elf_image(in.p, in.n, out, surplus, &e), "%s", e.text);
	buf_free(&in);
}

START_TEST(the_image_is_what_runs)
{
	struct buf a = {0}, b = {0};
	size_t surplus;

	cc("-g prog.c -o a -Wl,-rpath,/aaaa; strip -o b a; echo 1234567 >>b; "
	   "sed s,/aaaa,/bbbb, a >c");
	image_of("a", &a, &surplus);
	ck_assert_uint_eq(surplus, 0);
	image_of("b", &b, &surplus);
	ck_assert_uint_eq(surplus, 8);
	ck_assert_uint_eq(a.n, b.n);
	ck_assert_int_eq(memcmp(a.p, b.p, a.n), 0);
	image_of("c", &b, &surplus);
	ck_assert_uint_eq(a.n, b.n);
	ck_assert_int_ne(memcmp(a.p, b.p, a.n), 0);
	buf_free(&a);
	buf_free(&b);
}
END_TEST

START_TEST(what_is_no_library_is_not_thinned)
{
	struct buf in = {0}, out = {0};
	struct err e;

	cc("-c prog.c -o f");
	ck_assert_int_eq(file_read("f", 0, &in, &e), 0);
	ck_assert_int_eq(elf_thin_shared(in.p, in.n, NULL, &out, &e), -1);
	ck_assert_str_eq(e.text, "not a shared library for x86-64");
	ck_assert_uint_eq(out.n, 0);
	buf_free(&in);
}
END_TEST

/* ---- memory ---- */

/* A file of n bytes, a hole after the headers: sections of a type, each of
 * which begins at its begin and is as long as it. */
static void write_sparse(const char *path, off_t n, unsigned sections, uint32_t type)
{
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = ET_DYN,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT,
	    .e_ehsize = sizeof eh,
	    .e_shentsize = sizeof(Elf64_Shdr),
	    .e_shstrndx = 1,
	    .e_shoff = sizeof eh};
	Elf64_Shdr sh = {.sh_type = type, .sh_size = (uint64_t)n}, names = sh;
	struct buf b = {0};
	struct err e;
	unsigned i;

	eh.e_shnum = (uint16_t)(2 + sections);
	names.sh_type = SHT_STRTAB;
	names.sh_size = 16;
	buf_add(&b, &eh, sizeof eh);
	memset(buf_grow(&b, sizeof sh), 0, sizeof sh);
	buf_add(&b, &names, sizeof names);
	for (i = 0; i < sections; i++)
		buf_add(&b, &sh, sizeof sh);
	ck_assert_int_eq(publish_bytes(path, b.p, b.n, 0644, &e), 0);
	ck_assert_int_eq(truncate(path, n), 0);
	buf_free(&b);
}

static long peak_mb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

START_TEST(memory_is_bounded_by_what_is_asked)
{
	long before = peak_mb();
	struct elf *f;

	write_sparse("f", (off_t)2 << 30, 40, SHT_NOTE);
	f = open_file("f");
	ck_assert_uint_eq(elf_file_build_id(f).n, 0);
	ck_assert_uint_eq(elf_file_origin(f).n, 0);
	ck_assert_uint_eq(elf_file_counted(f).n, 0);
	elf_file_close(f);
	write_sparse("f", (off_t)2 << 30, 40, SHT_DYNAMIC);
	f = open_file("f");
	ck_assert_int_eq(elf_file_kind(f), ELF_SHARED);
	elf_file_close(f);
	ck_assert_int_lt(peak_mb() - before, 32);
}
END_TEST

static int any_section(const struct elf_section *s, void *arg)
{
	return 0;
}

START_TEST(sections_are_no_more_than_the_file)
{
	long before = peak_mb();
	struct elf *f;

	write_sparse("f", 4 << 20, 1000, SHT_PROGBITS);
	f = open_file("f");
	ck_assert_int_eq(elf_file_sections(f, any_section, NULL), -1);
	elf_file_close(f);
	ck_assert_int_lt(peak_mb() - before, 64);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
	struct err e;

	ck_assert_int_eq(mkfifo("fifo", 0644), 0);
	ck_assert_ptr_null(elf_file_open("fifo", -1, &e));
	ck_assert_str_eq(e.text, "fifo: not a regular file");
	ck_assert_ptr_null(elf_file_open("fifo", open("fifo", O_RDONLY | O_NONBLOCK), &e));
	ck_assert_str_eq(e.text, "fifo: not an ELF file");
}
END_TEST

UNIT_MAIN("elf", 120, enter, leave, build_ids_print_and_parse, an_artifacts_place_by_build_id,
    kinds_are_told_apart, notes_are_found, notes_have_a_place, sections_and_segments_are_read,
    symbols_carry_their_versions, objects_in_memory_are_read, the_face_ignores_layout,
    every_part_of_the_face_counts, damaged_files_do_no_harm, a_thin_library_links_the_same,
    a_thin_library_keeps_the_name_it_was_linked_by,
    a_thin_library_has_its_name_in_a_shared_string_table, the_image_is_what_runs,
    what_is_no_library_is_not_thinned, memory_is_bounded_by_what_is_asked,
    sections_are_no_more_than_the_file, only_regular_files_are_opened)
