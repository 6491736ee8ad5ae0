/*
 * Exception tables in files: the reader, and what the comparison of two builds sees of a change.
 */
#include "common/unwind/ehtable.h"
#include "common/elf/elf.h"
#include "editor-driver/proof/bytes.h"
#include "tests/unit/program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FUNC = 0x1000, ADDR = 0x2000 };

/* GCC's: two call sites, a catch of the second type after a cleanup's, a list. */
static const uint8_t GCC[] = {0xff, 0x9b, 26, 1, 8, 0x10, 5, 0x40, 3, 0x20, 8, 0, 0, 0, 0, 2, 0x7d,
    0x7f, 0x7d, 0, 0, 0x44, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0};

static struct eh_table t;

static void setup(void)
{
	ck_assert_int_eq(eh_table_read(GCC, GCC + sizeof GCC, ADDR, FUNC, &t), 0);
}

static void teardown(void)
{
	eh_table_free(&t);
}

START_TEST(call_sites)
{
	uint64_t until;

	ck_assert_uint_eq(t.site.n, 2);
	ck_assert_uint_eq(t.site.v[0].begin, FUNC + 0x10);
	ck_assert_uint_eq(t.site.v[0].end, FUNC + 0x15);
	ck_assert_uint_eq(t.site.v[0].pad, FUNC + 0x40);
	ck_assert_uint_eq(t.site.v[1].pad, 0);
	ck_assert_ptr_null(eh_table_at(&t, FUNC, &until));
	ck_assert_uint_eq(until, FUNC + 0x10);
	ck_assert_ptr_eq(eh_table_at(&t, FUNC + 0x14, &until), &t.site.v[0]);
	ck_assert_uint_eq(until, FUNC + 0x15);
	ck_assert_ptr_null(eh_table_at(&t, FUNC + 0x15, &until));
	ck_assert_ptr_null(eh_table_at(&t, FUNC + 0x28, &until));
	ck_assert_uint_eq(until, UINT64_MAX);
}
END_TEST

START_TEST(actions_and_types)
{
	eh_filters f = {0};
	uint64_t type;

	ck_assert_int_eq(eh_table_filters(&t, 3, &f), 0);
	ck_assert_uint_eq(f.n, 2);
	ck_assert_int_eq(f.v[0], 2);
	ck_assert_int_eq(f.v[1], 0);
	ck_assert_int_eq(eh_table_type(&t, 2, &type), 0);
	ck_assert_uint_eq(type, ADDR + 21 + 0x44);
	ck_assert_int_eq(eh_table_type(&t, 1, &type), 0);
	ck_assert_uint_eq(type, 0);
	ck_assert_int_eq(eh_table_list(&t, -1, &f), 0);
	ck_assert_uint_eq(f.n, 2);
	ck_assert_int_eq(eh_table_type(&t, 9, &type), -1);
	ck_assert_int_eq(eh_table_list(&t, -9, &f), -1);
	ck_assert_int_eq(eh_table_filters(&t, 99, &f), -1);
	vec_free(&f);
}
END_TEST

/* Landing pads that count from the table itself, backwards. */
START_TEST(pads_of_another_section)
{
	static const uint8_t far[] = {
	    0x1b, 4, 0, 0, 0, 0xff, 0x0b, 13, 1, 0, 0, 0, 2, 0, 0, 0, 0xfb, 0xff, 0xff, 0xff, 0};
	struct eh_table f;

	ck_assert_int_eq(eh_table_read(far, far + sizeof far, ADDR, FUNC, &f), 0);
	ck_assert_uint_eq(f.site.n, 1);
	ck_assert_uint_eq(f.site.v[0].pad, ADDR);
	ck_assert(f.own_base);
	eh_table_free(&f);
}
END_TEST

/* Every table that is cut off before its actions is refused, and none is read past its end. */
START_TEST(cut_off)
{
	struct eh_table f;
	uint8_t *copy;
	size_t n;

	for (n = 0; n < 13; n++) {
		copy = malloc(n ? n : 1);
		memcpy(copy, GCC, n);
		ck_assert_int_eq(eh_table_read(copy, copy + n, ADDR, FUNC, &f), -1);
		eh_table_free(&f);
		free(copy);
	}
}
END_TEST

static const struct {
	uint8_t at, to;
} ODD[] = {{0, 0x9b}, {0, 0x2b}, {1, 0x01}, {1, 0x09}, {2, 0xff}, {2, 3}, {3, 0x11}, {3, 0x05},
    {4, 0xff}, {4, 7}, {9, 0x14}};

START_TEST(odd)
{
	uint8_t copy[sizeof GCC];
	struct eh_table f;

	memcpy(copy, GCC, sizeof GCC);
	copy[ODD[_i].at] = ODD[_i].to;
	ck_assert_int_eq(eh_table_read(copy, copy + sizeof copy, ADDR, FUNC, &f), -1);
	eh_table_free(&f);
}
END_TEST

/* ---- a linked program, in which only main has a table ---- */

static const char SOURCE[] =
    "struct D { int n; __attribute__((noinline)) ~D() { asm(\"\"); } };\n"
    "__attribute__((noinline)) void h(int n) { if (n > 1) throw n; if (n > 2) throw 2L; }\n"
    "int main(int argc, char **) {\n"
    "	try { D d{argc}; h(argc); D e{argc}; h(argc + 1); }\n"
    "	catch (int i) { return i; }\n"
    "	catch (long) { h(3); return 2; }\n"
    "	return 0; }\n";

static void link_program(void)
{
	program_make(SOURCE, "cc", "g++ -O1 -fno-reorder-blocks-and-partition");
}

/* Is it seen when these bits of a byte of the file differ? */
static bool seen(const uint8_t *at, uint8_t bits)
{
	static const struct blockmap none;
	struct err e;
	struct elf *o = elf_mem_open(program.p, program.n, "p", &e), *m;
	struct bytes_position place;
	struct buf copy = {0};
	int rc;

	buf_add(&copy, program.p, program.n);
	copy.p[at - (const uint8_t *)program.p] ^= (char)bits;
	m = elf_mem_open(copy.p, copy.n, "q", &e);
	rc = bytes_compare(
	    &(struct bytes_build){m, &none}, &(struct bytes_build){o, &none}, NULL, 0, &place, &e);
	elf_file_close(m);
	elf_file_close(o);
	buf_free(&copy);
	return rc != 0;
}

START_TEST(changes_are_seen)
{
	struct err e;
	struct elf *o = elf_mem_open(program.p, program.n, "p", &e);
	enum { TYPES = 2 * 4, RECORDS = 3 * 2 };
	struct elf_section s;
	struct eh_table table;
	uint64_t i;

	ck_assert_int_eq(elf_file_section(o, ".gcc_except_table", &s, &e), 1);
	elf_file_close(o);
	ck_assert_int_eq(eh_table_read(s.data, s.data + s.size, s.addr, 0, &table), 0);
	ck_assert_uint_gt(table.site.n, 3);
	ck_assert(!seen(s.data, 0));
	for (i = 0; i < table.types; i++) {
		if (i >= table.actions + RECORDS && i < table.types - TYPES)
			continue; /* alignment */
		ck_assert_msg(seen(s.data + i, 1), "byte %u of %u", (unsigned)i, (unsigned)s.size);
		ck_assert_msg(seen(s.data + i, 0x20), "byte %u", (unsigned)i);
	}
	eh_table_free(&table);
}
END_TEST

UNIT_MAIN("ehtable", 0, setup, teardown, call_sites, actions_and_types, pads_of_another_section,
    cut_off, UNIT_LOOP(odd, sizeof ODD / sizeof *ODD), UNIT_CASE(60, link_program, program_remove),
    changes_are_seen)
