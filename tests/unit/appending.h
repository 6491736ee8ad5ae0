/*
 * A build that is made by adding code to a program, for the tests of its proof:
 * tests/corpus/appended/old.s, with the bodies of new.s behind it. Headers, index, notes and map
 * are put together here by hand, and every part is known by where it lies in the file, so that a
 * test can change it.
 */
#ifndef MORPH_TEST_APPENDING_H
#define MORPH_TEST_APPENDING_H

#include "common/elf/blockmap.h"
#include "common/le.h"
#include "common/publish.h"
#include "common/sort.h"
#include "common/spawn.h"
#include "common/unwind/ehframe.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, SECTIONS_MAX = 64 };

/* Bytes of the file, from one offset to another. */
struct part {
	size_t begin, end;
};

static struct appending {
	char dir[64]; /* of all tests: what one has linked, others have without waiting */
	char *old_path, *made_path;
	struct buf old, bodies; /* the program; the bodies, linked */
	struct buf made;
	struct blockmap map;                /* of the program */
	size_t moved;                       /* functions of MOVED */
	uint64_t base;                      /* address of the new segment, less its offset */
	struct part headers, index, linked; /* of the new segment */
} app = {.dir = "/tmp/morph-appended-XXXXXX"};

static struct elf *open_bytes(const struct buf *b)
{
	struct err e;
	struct elf *f = elf_mem_open(b->p, b->n, "bytes", &e);

	ck_assert_ptr_nonnull(f);
	return f;
}

/* ---- looking ---- */

struct symbol_search {
	const char *name;
	uint64_t value;
};

static int see_symbol(const struct elf_symbol *s, void *arg)
{
	struct symbol_search *q = arg;

	if (strcmp(s->name, q->name))
		return 0;
	q->value = s->value;
	return 1;
}

static uint64_t symbol_value(const struct buf *file, const char *name)
{
	struct symbol_search q = {.name = name};
	struct elf *f = open_bytes(file);

	ck_assert_msg(elf_file_symbols(f, false, see_symbol, &q) == 1, "no symbol %s", name);
	elf_file_close(f);
	return q.value;
}

static struct elf_section section_of(struct elf *f, const char *name)
{
	struct elf_section s;
	struct err e;

	ck_assert_msg(elf_file_section(f, name, &s, &e) == 1, "no section %s", name);
	return s;
}

static Elf64_Ehdr *ehdr(struct buf *b)
{
	return (Elf64_Ehdr *)b->p;
}

static Elf64_Phdr *phdr(struct buf *b, unsigned i)
{
	return (Elf64_Phdr *)(b->p + ehdr(b)->e_phoff) + i;
}

/* The offset in the made file of an address. */
static size_t offset_of(uint64_t addr)
{
	Elf64_Phdr *ph;
	unsigned i;

	for (i = 0; i < ehdr(&app.made)->e_phnum; i++) {
		ph = phdr(&app.made, i);
		if (ph->p_type == PT_LOAD && addr - ph->p_vaddr < ph->p_filesz)
			return ph->p_offset + (addr - ph->p_vaddr);
	}
	ck_abort_msg("nothing is loaded at %#lx", (unsigned long)addr);
}

/* ---- the program, and new bodies linked behind it ---- */

/* The bodies begin on the second page of the new segment. */
static const char SCRIPT[] =
    "PHDRS { all PT_LOAD FLAGS(5); }\n"
    "SECTIONS { . = BASE; .text : { *(.text) } :all .rodata : { *(.rodata) }\n"
    ".eh_frame : { *(.eh_frame) } .gcc_except_table : { *(.gcc_except_table) }\n"
    ".llvm_bb_addr_map 0 : { *(.llvm_bb_addr_map) } .morph.fn 0 : { *(.morph.fn) }\n"
    "/DISCARD/ : { *(.note*) } }\n";
static const char BUILD[] =
    "a=$PWD/tests/corpus/appended; mkdir '%s'; cd '%s'\n"
    "as %s -I $a $a/old.s -o old.o; as %s -I $a $a/new.s -o new.o\n"
    "g++ -Wl,--build-id %s -o p old.o\n"
    "end=$(readelf -lW p | awk '$1 == \"LOAD\" { a = $3; n = $6 } END { print a \" + \" n }')\n"
    "base=$(( (($end) / 4096 + 2) * 4096 ))\n"
    "printf '%%s' '%s' | sed \"s/BASE/$base/\" >script\n"
    "nm --defined-only p | awk '{ print $3 \" = 0x\" $1 \";\" }' >symbols\n"
    "ld -T script -e 0 -o bodies symbols new.o\n";

static void link_files(const char *symbols, const char *options)
{
	char *dir = xasprintf("%s/%s %s", app.dir, symbols, options);
	char *line = xasprintf(BUILD, dir, dir, symbols, symbols, options, SCRIPT);
	char *bodies = xasprintf("%s/bodies", dir);
	struct spawn build = {.argv = (const char *const[]){"sh", "-ec", line, NULL}};
	struct err e;

	if (access(bodies, F_OK))
		ck_assert_int_eq(spawn_run(&build, &e), 0);
	app.old_path = xasprintf("%s/p", dir);
	app.made_path = xasprintf("%s/made", dir);
	ck_assert_int_eq(file_read(app.old_path, 0, &app.old, &e), 0);
	ck_assert_int_eq(file_read(bodies, 0, &app.bodies, &e), 0);
	free(bodies);
	free(line);
	free(dir);
}

/* ---- put together ---- */

static void pad_to(struct buf *b, size_t n)
{
	ck_assert_uint_le(b->n, n);
	memset(buf_grow(b, n - b->n), 0, n - b->n);
}

/* Entries of an index. */
typedef VEC(struct eh_fde) fdes;

static void list_fdes(const struct buf *file, fdes *out)
{
	struct elf *f = open_bytes(file);
	struct elf_section s = section_of(f, ".eh_frame");
	struct eh_frames all = {.p = s.data, .size = s.size, .addr = s.addr};
	struct eh_fde one;
	int rc;

	while ((rc = eh_frames_next(&all, &one)) > 0)
		vec_push(out, one);
	ck_assert_int_eq(rc, 0);
	elf_file_close(f);
}

static int by_pc(const void *a, const void *b)
{
	return ORDER(((const struct eh_fde *)a)->pc, ((const struct eh_fde *)b)->pc);
}

static void put_index(struct buf *out, uint64_t addr)
{
	struct elf *f = open_bytes(&app.old);
	fdes all = {0};
	size_t i;

	list_fdes(&app.old, &all);
	list_fdes(&app.bodies, &all);
	vec_sort(&all, by_pc);
	buf_add(out, "\1\x1b\3\x3b", 4);
	buf_le32(out, (uint32_t)(section_of(f, ".eh_frame").addr - addr - 4));
	buf_le32(out, (uint32_t)all.n);
	for (i = 0; i < all.n; i++) {
		buf_le32(out, (uint32_t)(all.v[i].pc - addr));
		buf_le32(out, (uint32_t)(all.v[i].at - addr));
	}
	vec_free(&all);
	elf_file_close(f);
}

/* Headers, index and bodies. */
static void put_segment(void)
{
	struct buf *made = &app.made;
	Elf64_Phdr load = *phdr(&app.bodies, 0), *ph;
	unsigned n = ehdr(&app.old)->e_phnum, i;
	uint64_t addr = load.p_vaddr - PAGE;

	pad_to(made, (made->n + PAGE - 1) / PAGE * PAGE);
	app.base = addr - made->n;
	app.headers = (struct part){made->n, made->n + (n + 1) * sizeof load};
	buf_add(made, phdr(&app.old, 0), n * sizeof load);
	buf_grow(made, sizeof load);
	pad_to(made, made->n + sizeof load); /* for one more */
	app.index.begin = made->n;
	put_index(made, app.base + made->n);
	app.index.end = made->n;
	pad_to(made, app.headers.begin + PAGE);
	app.linked = (struct part){made->n, made->n + load.p_filesz};
	buf_add(made, app.bodies.p + load.p_offset, load.p_filesz);
	load.p_offset = app.headers.begin;
	load.p_vaddr = load.p_paddr = addr;
	load.p_filesz = load.p_memsz = made->n - load.p_offset;
	load.p_align = PAGE;
	ehdr(made)->e_phoff = app.headers.begin;
	ehdr(made)->e_phnum++;
	*phdr(made, n) = load;
	for (i = 0; i < n; i++) {
		ph = phdr(made, i);
		if (ph->p_type == PT_PHDR) {
			ph->p_offset = app.headers.begin;
			ph->p_filesz = ph->p_memsz = app.headers.end - app.headers.begin;
		} else if (ph->p_type == PT_GNU_EH_FRAME) {
			ph->p_offset = app.index.begin;
			ph->p_filesz = ph->p_memsz = app.index.end - app.index.begin;
		} else {
			continue;
		}
		ph->p_vaddr = ph->p_paddr = app.base + ph->p_offset;
	}
}

/* ---- sections ---- */

/* A section of another content than the program's, or with one more behind it. */
static void put_content(Elf64_Shdr *sh, const struct elf_section *more)
{
	struct buf *made = &app.made;
	size_t at = made->n;

	if (sh->sh_size)
		buf_add(made, app.old.p + sh->sh_offset, sh->sh_size);
	buf_add(made, more->data, more->size);
	sh->sh_offset = at;
	sh->sh_size = made->n - at;
}

static Elf64_Shdr put_note(const struct build_id *origin)
{
	struct buf *made = &app.made;
	size_t at = made->n;

	buf_le32(made, 6);
	buf_le32(made, origin->n);
	buf_le32(made, 1);
	buf_add(made, "Morph\0\0", 8);
	buf_add(made, origin->b, origin->n);
	return (Elf64_Shdr){
	    .sh_type = SHT_NOTE, .sh_offset = at, .sh_size = made->n - at, .sh_addralign = 4};
}

static void put_sections(const struct build_id *origin)
{
	struct buf *made = &app.made;
	struct elf *f = open_bytes(&app.old), *g = open_bytes(&app.bodies);
	unsigned n = ehdr(made)->e_shnum, names = ehdr(made)->e_shstrndx;
	struct elf_section text = section_of(g, ".text"), map = section_of(g, ".llvm_bb_addr_map"),
			   fn = section_of(g, ".morph.fn"), more;
	static const char added[] = ".morph.text\0.note.morph";
	Elf64_Shdr sh[SECTIONS_MAX];
	uint32_t name;

	ck_assert_uint_le(n + 2, SECTIONS_MAX);
	memcpy(sh, made->p + ehdr(made)->e_shoff, n * sizeof *sh);
	sh[section_of(f, map.name).index].sh_size = sh[section_of(f, fn.name).index].sh_size = 0;
	put_content(&sh[section_of(f, map.name).index], &map);
	put_content(&sh[section_of(f, fn.name).index], &fn);
	pad_to(made, (made->n + 3) / 4 * 4);
	name = (uint32_t)sh[names].sh_size;
	sh[n] = (Elf64_Shdr){.sh_name = name,
	    .sh_type = SHT_PROGBITS,
	    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
	    .sh_addr = text.addr,
	    .sh_offset = text.addr - app.base,
	    .sh_size = text.size,
	    .sh_addralign = 16};
	sh[n + 1] = put_note(origin);
	sh[n + 1].sh_name = name + 12;
	more = (struct elf_section){.data = (const uint8_t *)added, .size = sizeof added};
	put_content(&sh[names], &more);
	pad_to(made, (made->n + 7) / 8 * 8);
	ehdr(made)->e_shoff = made->n;
	ehdr(made)->e_shnum = (uint16_t)(n + 2);
	buf_add(made, sh, (n + 2) * sizeof *sh);
	elf_file_close(f);
	elf_file_close(g);
}

/* ---- entries ---- */

static const struct {
	const char *old, *body;
	unsigned skip; /* endbr64 */
	uint64_t unit;
} MOVED[] = {{"alpha", "alpha_body", 4, 0x1000}, {"beta", "beta_body", 0, 0x2000},
    {"gamma", "gamma_body", 4, 0x3000}, {"epsilon", "epsilon_body", 0, 0x7000}};
enum { MOVED_N = 3, MOVED_FIXED = 4 };

static void put_entries(void)
{
	uint64_t from;
	uint8_t *p;
	size_t i;

	for (i = 0; i < app.moved; i++) {
		from = symbol_value(&app.old, MOVED[i].old) + MOVED[i].skip;
		p = (uint8_t *)app.made.p + offset_of(from);
		*p = 0xe9;
		put_le32(p + 1, (uint32_t)(symbol_value(&app.bodies, MOVED[i].body) - from - 5));
	}
}

/* ---- words ---- */

static bool is_fixed(void)
{
	return ehdr(&app.old)->e_type == ET_EXEC;
}

/* At fixed addresses: the pointer itself, in the new file, by the symbol of the first. */
static uint8_t *pointer_at(const char *symbol, unsigned n)
{
	return (uint8_t *)app.made.p + offset_of(symbol_value(&app.old, symbol) + 8 * n);
}

/* Of the program's pointers that lead to a symbol of it, the n-th: where it leads, in the new file,
 * by its relocation (R_X86_64_RELATIVE). */
static uint8_t *word_of(const char *symbol, unsigned n)
{
	static const char *const pointers[][2] = {
	    {"alpha_2", "label"}, {"beta", "beta_pointer"}, {"delta", "pointer"}};
	uint64_t to = symbol_value(&app.old, symbol), i;
	struct elf *f;
	struct elf_section s;
	uint8_t *found = NULL;

	for (i = 0; is_fixed(); i++)
		if (!strcmp(pointers[i][0], symbol))
			return pointer_at(pointers[i][1], n);
	f = open_bytes(&app.old);
	s = section_of(f, ".rela.dyn");
	for (i = 0; i < s.size && !found; i += sizeof(Elf64_Rela))
		if (get_le32(s.data + i + offsetof(Elf64_Rela, r_info)) == R_X86_64_RELATIVE &&
		    get_le64(s.data + i + offsetof(Elf64_Rela, r_addend)) == to && !n--)
			found =
			    (uint8_t *)app.made.p + s.offset + i + offsetof(Elf64_Rela, r_addend);
	elf_file_close(f);
	return found;
}

/* The address of a dynamic symbol, in the new file; NULL: there is none. */
static uint8_t *symbol_word(const char *symbol)
{
	struct elf *f = open_bytes(&app.old);
	struct elf_section s = section_of(f, ".dynsym"), names = section_of(f, ".dynstr");
	uint8_t *found = NULL;
	uint64_t i;

	for (i = 0; i < s.size && !found; i += sizeof(Elf64_Sym))
		if (!strcmp((const char *)names.data + get_le32(s.data + i), symbol))
			found =
			    (uint8_t *)app.made.p + s.offset + i + offsetof(Elf64_Sym, st_value);
	elf_file_close(f);
	return found;
}

static void put_word(uint8_t *word, const char *body)
{
	ck_assert_ptr_nonnull(word);
	put_le64(word, symbol_value(&app.bodies, body));
}

/* A label's address leads to its block in the new body, pointers to a function to that. */
static void put_words(void)
{
	struct elf *f = open_bytes(&app.old);
	struct elf_section kept;
	bool known = !is_fixed() || elf_file_section(f, ".rela.data.rel.ro", &kept, NULL) > 0;

	elf_file_close(f);
	if (!known)
		return;
	put_word(word_of("alpha_2", 0), "alpha_6");
	put_word(word_of("beta", 0), "beta_body");
	put_word(word_of("beta", 1), "beta_body");
	if (symbol_word("beta")) {
		put_word(symbol_word("beta"), "beta_body");
		put_le16(symbol_word("beta") - 2, ehdr(&app.old)->e_shnum);
		put_le64(symbol_word("beta") + 8, 1);
	}
}

/* symbols: that both texts are assembled with; options: of the program's link. */
static void make_appended(const char *symbols, const char *options)
{
	struct build_id id;
	struct err e;
	struct elf *f;

	link_files(symbols, options);
	f = open_bytes(&app.old);
	ck_assert_msg(!blockmap_from_elf(f, &app.map, &e), "%s", e.text);
	id = elf_file_build_id(f);
	app.moved = elf_file_kind(f) == ELF_EXEC ? MOVED_FIXED : MOVED_N;
	buf_add(&app.made, app.old.p, app.old.n);
	app.made.p[section_of(f, ".note.gnu.build-id").offset + 16] ^= 1;
	elf_file_close(f);
	put_segment();
	put_sections(&id);
	put_entries();
	put_words();
	ck_assert_int_eq(publish_bytes(app.made_path, app.made.p, app.made.n, 0755, &e), 0);
}

static void appended_remove(void)
{
	unlink(app.made_path);
	blockmap_free(&app.map);
	buf_free(&app.old);
	buf_free(&app.bodies);
	buf_free(&app.made);
	free(app.old_path);
	free(app.made_path);
}

#endif
