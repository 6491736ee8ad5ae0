#include "editor-driver/proof/bytes.h"
#include "editor-driver/proof/image.h"
#include "tests/unit/program.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One program, and a copy of its bytes to change. */

static const char SOURCE[] =
    "#include <stdio.h>\n"
    "int data = 77; int *pointer = &data;\n"
    "int f(int n) { return n * 12345; }\n"
    "int (*function)(int) = f;\n"
    "__attribute__((section(\".eh_frame_other\"))) int other = 4711;\n"
    "__asm__(\"nop; .globl g; g: movl $0, %eax; movl $1, %eax; movl $2, %eax; ret\");\n"
    "int main(void) { puts(\"a string\"); return f(*pointer) == 3; }\n";

static void setup(void)
{
	program_make(SOURCE, "c", "gcc -O1 -rdynamic -Wl,--audit=an_auditor");
}

/* Compares with the program a copy of which the byte at `at` differs in the bits of `by`. */
static int compare_at(size_t at, uint8_t by, struct err *e)
{
	static const struct blockmap none;
	struct elf *o = elf_mem_open(program.p, program.n, "p", e), *m;
	struct bytes_position place;
	struct buf copy = {0};
	int rc;

	buf_add(&copy, program.p, program.n);
	copy.p[at] ^= (char)by;
	m = elf_mem_open(copy.p, copy.n, "q", e);
	ck_assert_ptr_nonnull(m);
	rc = bytes_compare(
	    &(struct bytes_build){m, &none}, &(struct bytes_build){o, &none}, NULL, 0, &place, e);
	elf_file_close(m);
	elf_file_close(o);
	buf_free(&copy);
	return rc;
}

/* The same `at` bytes behind a section's begin, one bit; NULL: none differs. */
static int compare(const char *section, uint64_t at, struct err *e)
{
	struct elf *o = elf_mem_open(program.p, program.n, "p", e);
	struct elf_section s;

	if (section) {
		ck_assert_int_eq(elf_file_section(o, section, &s, e), 1);
		ck_assert_uint_lt(at, s.size);
		at += (uint64_t)((const char *)s.data - program.p);
	}
	elf_file_close(o);
	return compare_at(at, section ? 0x10 : 0, e);
}

START_TEST(equal)
{
	struct err e = {{0}};

	ck_assert_msg(!compare(NULL, 0, &e), "%s", e.text);
}
END_TEST

static const struct {
	const char *section;
	uint64_t at;
} CHANGED[] = {{".rodata", 5}, {".data", 16}, {".data", 24}, {".interp", 2}, {".init_array", 0},
    {".text", 1}, {".init", 5}, {".dynamic", 8 * 7}, {".rela.dyn", 16}, {".rela.plt", 12},
    {".dynsym", 28}, {".plt", 22}, {".eh_frame_hdr", 13}, {".eh_frame", 14}, {".eh_frame_hdr", 1},
    {".eh_frame_hdr", 3}, {".eh_frame_hdr", 4}, {".eh_frame_other", 1}};

START_TEST(changed)
{
	struct err e = {{0}};

	ck_assert_msg(compare(CHANGED[_i].section, CHANGED[_i].at, &e), "%s", CHANGED[_i].section);
	ck_assert_ptr_nonnull(strstr(e.text, "."));
}
END_TEST

/* Of code the byte does not matter: wherever it is no padding. */
START_TEST(all_code)
{
	struct err e = {{0}};
	struct elf *f = elf_mem_open(program.p, program.n, "p", &e);
	struct elf_section s;
	uint64_t at = 0, missed = 0;
	unsigned len;

	ck_assert_int_eq(elf_file_section(f, ".text", &s, &e), 1);
	while (at < s.size) {
		len = bytes_nop(s.data + at, s.size - at);
		missed += !len && !compare(".text", at, &e);
		at += len ? len : 1;
	}
	ck_assert_uint_eq(missed, 0);
	elf_file_close(f);
}
END_TEST

/* A section that is not loaded becomes another .rodata that is. */
START_TEST(section_twice)
{
	static const struct blockmap none;
	struct err e = {{0}};
	struct buf copy = {0};
	struct elf *o = elf_mem_open(program.p, program.n, "p", &e), *m;
	const Elf64_Ehdr *eh = (const void *)program.p;
	struct elf_section first, second;
	struct bytes_position place;
	Elf64_Shdr *sh;

	buf_add(&copy, program.p, program.n);
	ck_assert_int_eq(elf_file_section(o, ".rodata", &first, &e), 1);
	ck_assert_int_eq(elf_file_section(o, ".comment", &second, &e), 1);
	sh = (Elf64_Shdr *)(void *)(copy.p + eh->e_shoff);
	sh[second.index].sh_name = sh[first.index].sh_name;
	sh[second.index].sh_flags = SHF_ALLOC;
	m = elf_mem_open(copy.p, copy.n, "q", &e);
	ck_assert_int_eq(bytes_compare(&(struct bytes_build){m, &none},
			     &(struct bytes_build){o, &none}, NULL, 0, &place, &e),
	    -1);
	ck_assert_ptr_nonnull(strstr(e.text, "two sections"));
	elf_file_close(m);
	elf_file_close(o);
	buf_free(&copy);
}
END_TEST

static uint64_t address_of_g, address_of_data;

static int find_symbol(const struct elf_symbol *s, void *arg)
{
	if (!strcmp(s->name, "g"))
		address_of_g = s->value;
	if (!strcmp(s->name, "data"))
		address_of_data = s->value;
	return 0;
}

START_TEST(texts_for_the_loader)
{
	static const char *const text[] = {"an_auditor", "libc.so.6"};
	const char *at;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof text / sizeof *text; i++) {
		at = memmem(program.p, program.n, text[i], strlen(text[i]) + 1);
		ck_assert_ptr_nonnull(at);
		ck_assert_int_eq(compare_at((size_t)(at - program.p) + 3, 1, &e), -1);
		ck_assert_msg(strstr(e.text, "a dynamic tag changed") != NULL, "%s", e.text);
	}
}
END_TEST

/* A pointer to data that moved as another section did, to which nothing refers. */
START_TEST(moved_with_another)
{
	enum { BY = 0x10000 };
	static const struct blockmap none;
	struct err e = {{0}};
	struct buf copy = {0};
	struct elf *o = elf_mem_open(program.p, program.n, "p", &e), *m;
	const Elf64_Ehdr *eh = (const void *)program.p;
	struct elf_section note, rela;
	struct bytes_position place;
	Elf64_Shdr *sh;
	Elf64_Rela *r;

	buf_add(&copy, program.p, program.n);
	elf_file_symbols(o, false, find_symbol, NULL);
	ck_assert_int_eq(elf_file_section(o, ".note.ABI-tag", &note, &e), 1);
	ck_assert_int_eq(elf_file_section(o, ".rela.dyn", &rela, &e), 1);
	sh = (Elf64_Shdr *)(void *)(copy.p + eh->e_shoff);
	sh[note.index].sh_addr += BY;
	r = (Elf64_Rela *)(void *)(copy.p + ((const char *)rela.data - program.p));
	while (r->r_info != R_X86_64_RELATIVE || (uint64_t)r->r_addend != address_of_data)
		r++;
	m = elf_mem_open(copy.p, copy.n, "q", &e);
	ck_assert_msg(!bytes_compare(&(struct bytes_build){m, &none},
			  &(struct bytes_build){o, &none}, NULL, 0, &place, &e),
	    "%s", e.text);
	elf_file_close(m);
	r->r_addend += BY;
	m = elf_mem_open(copy.p, copy.n, "q", &e);
	ck_assert_int_eq(bytes_compare(&(struct bytes_build){m, &none},
			     &(struct bytes_build){o, &none}, NULL, 0, &place, &e),
	    -1);
	ck_assert_ptr_nonnull(strstr(e.text, "a relocation changed"));
	elf_file_close(m);
	elf_file_close(o);
	buf_free(&copy);
}
END_TEST

/* g as four blocks, in this order. */
static void map_g(struct blockmap *m, const uint32_t *id)
{
	static const uint32_t size[] = {5, 5, 5, 1};
	uint64_t at = address_of_g;
	int i;

	vec_push(&m->frag, (struct bm_frag){.addr = at, .tu = 7, .size = 16, .n = 4});
	for (i = 0; i < 4; at += size[i++])
		vec_push(&m->block, (struct bm_block){.addr = at, .size = size[i], .id = id[i]});
}

/* Two blocks of g change places, the first of which is block `first`. */
static int swap_blocks(uint32_t first, const uint64_t *edited, size_t n, struct err *e)
{
	static const uint32_t right[] = {0, 1, 2, 3};
	uint32_t order[] = {0, 1, 2, 3};
	struct elf *o = elf_mem_open(program.p, program.n, "p", e), *m;
	struct blockmap was = {0}, is = {0};
	struct elf_section text;
	struct buf copy = {0};
	struct bytes_position at;
	char *g;
	int rc;

	ck_assert_int_eq(elf_file_section(o, ".text", &text, e), 1);
	elf_file_symbols(o, false, find_symbol, NULL);
	buf_add(&copy, program.p, program.n);
	g = copy.p + ((const char *)text.data - program.p) + (address_of_g - text.addr);
	g[5 * first + 1] = (char)(first + 1);
	g[5 * first + 6] = (char)first;
	order[first] = first + 1;
	order[first + 1] = first;
	map_g(&was, right);
	map_g(&is, order);
	m = elf_mem_open(copy.p, copy.n, "q", e);
	rc = bytes_compare(
	    &(struct bytes_build){m, &is}, &(struct bytes_build){o, &was}, edited, n, &at, e);
	elf_file_close(m);
	elf_file_close(o);
	buf_free(&copy);
	blockmap_free(&was);
	blockmap_free(&is);
	return rc;
}

static const uint64_t EDITED = 7;

/* Where no jump says so, only the order of blocks tells what comes next. */
START_TEST(order_of_blocks)
{
	struct err e = {{0}};

	ck_assert_int_eq(swap_blocks(1, NULL, 0, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "another order"));
	/* Of a unit that is edited the order is what changes. */
	ck_assert_msg(!swap_blocks(1, &EDITED, 1, &e), "%s", e.text);
}
END_TEST

/* A function whose beginning has moved, and its symbol has not. */
START_TEST(left_behind)
{
	struct err e = {{0}};

	ck_assert_int_eq(swap_blocks(0, &EDITED, 1, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "a dynamic symbol changed"));
}
END_TEST

START_TEST(no_operations)
{
	static const struct {
		const char *bytes;
		unsigned n, is;
	} nop[] = {{"\x90", 1, 1}, {"\x66\x90", 2, 2}, {"\x0f\x1f\x00", 3, 3},
	    {"\x0f\x1f\x40\x00", 4, 4}, {"\x0f\x1f\x44\x00\x00", 5, 5},
	    {"\x0f\x1f\x80\x00\x00\x00\x00", 7, 7},
	    {"\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 11, 11}, {"\xcc", 1, 1},
	    {"\x0f\x1f", 2, 0}, {"\x0f\x1f\x44\x00", 4, 0}, {"\xc3", 1, 0}, {"\x66", 1, 0}};
	size_t i;

	for (i = 0; i < sizeof nop / sizeof *nop; i++)
		ck_assert_uint_eq(bytes_nop((const uint8_t *)nop[i].bytes, nop[i].n), nop[i].is);
}
END_TEST

UNIT_MAIN("bytes", 60, setup, program_remove, equal,
    UNIT_LOOP(changed, sizeof CHANGED / sizeof *CHANGED), all_code, section_twice,
    texts_for_the_loader, moved_with_another, order_of_blocks, left_behind, no_operations)
