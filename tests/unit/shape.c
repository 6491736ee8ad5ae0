/*
 * What of a function is the same in a changed program: the hashes of its blocks, which blocks and
 * functions correspond by them, and a profile that is carried over.
 */
#include "editor-driver/profile/carry.h"
#include "editor/cfg.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNC(name, body) \
	"\t.globl\t" name "\n\t.type\t" name ", @function\n" name ":\n" body "\t.size\t" name \
	", .-" name "\n"
#define IDENT "\t.ident\t\"GCC: 12\"\n"

/* Entry; loop of 1, 2 and 3; end 4. */
#define LOOP(top, skip, constant, extra) \
	"\tmovl\t$0, %eax\n" top ":\n\taddl\t" constant ", %eax\n\tcmpl\t$9, (%rdi)\n\tje\t" skip \
	"\n" extra "\tincl\t4(%rdi)\n\tcall\tf@PLT\n" skip ":\n\tdecl\t%esi\n\tjne\t" top \
	"\n\txorl\t%edx, %edx\n\tret\n"
#define PLAIN LOOP(".L2", ".L3", "$1", "")

static struct arena mem;
static struct shapes old, now;

static void setup(void)
{
	mem = (struct arena){0};
	old = now = (struct shapes){0};
}

static void teardown(void)
{
	shapes_free(&old);
	shapes_free(&now);
	arena_free(&mem);
}

static void add_unit(const char *text, const char *tu, struct buf *out)
{
	struct arena a = {0};
	struct buf whole = {0};
	struct unit *u;
	struct err e;

	buf_printf(&whole, "\t.file\t\"t.c\"\n\t.text\n%s" IDENT, text);
	u = unit_parse(&a, whole.p, whole.n, &e);
	ck_assert_msg(u != NULL, "refused: %s", e.text);
	shapes_add(u, tu, out);
	unit_free(u);
	arena_free(&a);
	buf_free(&whole);
}

static void decode(struct buf *bytes, struct shapes *s)
{
	struct err e;

	shapes_free(s);
	ck_assert_msg(!shapes_decode(bytes->p, bytes->n, s, &e), "%s", e.text);
	buf_free(bytes);
}

static void read_one(const char *text, struct shapes *s)
{
	struct buf b = {0};

	shapes_begin(&b);
	add_unit(text, "t.c", &b);
	decode(&b, s);
}

static void both(const char *a, const char *b)
{
	read_one(a, &old);
	read_one(b, &now);
}

static const struct shape_block *block(const struct shapes *s, uint32_t b)
{
	ck_assert_uint_lt(b, s->func.v[0].nblock);
	return &s->func.v[0].block[b];
}

/* What the blocks of the first function have become: "0>0 1>1 2>-". */
static const char *matched(void)
{
	static char text[256];
	const uint32_t *to = shape_match(&old.func.v[0], &now.func.v[0], &mem);
	uint32_t b;
	int n = 0;

	for (b = 0; b < old.func.v[0].nblock; b++)
		n += to[b] == SHAPE_NONE ? sprintf(text + n, "%s%u>-", b ? " " : "", b)
					 : sprintf(text + n, "%s%u>%u", b ? " " : "", b, to[b]);
	return text;
}

/* ---- hashes ---- */

START_TEST(labels_and_inversion_do_not_count)
{
	uint32_t b, level;

	both(FUNC("f", LOOP(".L2", ".L3", "$1", "")), FUNC("f", LOOP(".L7", ".L9", "$1", "")));
	ck_assert_uint_eq(old.func.v[0].nblock, 5);
	for (b = 0; b < 5; b++)
		for (level = 0; level < SHAPE_LEVELS; level++)
			ck_assert_uint_eq(block(&old, b)->hash[level], block(&now, b)->hash[level]);
	both(FUNC("f", "\tcmpl\t$1, %edi\n\tje\t.L1\n\tincl\t%eax\n.L1:\n\tret\n"),
	    FUNC("f",
		"\tcmpl\t$1, %edi\n\tjne\t.L1\n\tjmp\t.L2\n.L1:\n\tincl\t%eax\n.L2:\n\tret\n"));
	ck_assert_uint_eq(block(&old, 0)->hash[SHAPE_TEXT], block(&now, 0)->hash[SHAPE_TEXT]);
}
END_TEST

START_TEST(levels_get_looser)
{
	const uint32_t *a, *b;

	both(FUNC("f", "\tmovl\t$1, %eax\n\taddl\tx(%rip), %eax\n\tret\n"),
	    FUNC("f", "\tmovl\t$2, %edx\n\taddl\tx(%rip), %edx\n\tret\n"));
	a = block(&old, 0)->hash;
	b = block(&now, 0)->hash;
	ck_assert_uint_ne(a[SHAPE_TEXT], b[SHAPE_TEXT]);
	ck_assert_uint_eq(a[SHAPE_OPS], b[SHAPE_OPS]);
	read_one(FUNC("f",
		     "\taddl\ty(%rip), %edx\n\tnop\n\taddl\t%eax, %edx\n\tmovl\t$2, %edx\n\tret\n"),
	    &now);
	b = block(&now, 0)->hash;
	ck_assert_uint_ne(a[SHAPE_OPS], b[SHAPE_OPS]);
	ck_assert_uint_eq(a[SHAPE_SET], b[SHAPE_SET]);
	read_one(FUNC("f", "\tsubl\t$2, %edx\n\tret\n"), &now);
	ck_assert_uint_ne(a[SHAPE_SET], block(&now, 0)->hash[SHAPE_SET]);
}
END_TEST

/* ---- blocks ---- */

START_TEST(a_constant_changes_nothing)
{
	both(FUNC("f", PLAIN), FUNC("f", LOOP(".L2", ".L3", "$77", "")));
	ck_assert_str_eq(matched(), "0>0 1>1 2>2 3>3 4>4");
}
END_TEST

START_TEST(what_is_inserted_matches_nothing)
{
	both(FUNC("f", PLAIN),
	    FUNC("f", LOOP(".L2", ".L3", "$1",
			  "\ttestl\t%ecx, %ecx\n\tje\t.L8\n\tcall\tgreet@PLT\n.L8:\n")));
	ck_assert_str_eq(matched(), "0>0 1>1 2>4 3>5 4>6");
}
END_TEST

START_TEST(blocks_that_are_alike_keep_their_order)
{
#define SAME(label) "\tmovl\t8(%rbx), %eax\n\ttestl\t%eax, %eax\n\tje\t" label "\n"
	both(FUNC("f", "\tpushq\t%rbx\n" SAME(".L9") SAME(".L9") SAME(".L9") ".L9:\n\tret\n"),
	    FUNC("f", "\tpushq\t%rbx\n" SAME(
			  ".L9") "\tcall\tg@PLT\n\ttestl\t%eax, %eax\n\tjs\t.L9\n" SAME(".L9")
			  SAME(".L9") ".L9:\n\tret\n"));
	ck_assert_str_eq(matched(), "0>0 1>2 2>3 3>4");
}
END_TEST

START_TEST(moved_blocks_are_found)
{
	both(FUNC("f", "\ttestl\t%edi, "
		       "%edi\n\tje\t.L1\n\tcall\ta@PLT\n\tret\n.L1:\n\tcall\tb@PLT\n\tret\n"),
	    FUNC("f", "\ttestl\t%edi, "
		      "%edi\n\tjne\t.L1\n\tcall\tb@PLT\n\tret\n.L1:\n\tcall\ta@PLT\n\tret\n"));
	ck_assert_str_eq(matched(), "0>0 1>2 2>1");
}
END_TEST

/* ---- functions ---- */

static void check_pair(uint32_t f, enum shape_how how, const char *name, const char *tu)
{
	const struct shape_pair *p = shapes_pair(&old, &now, &mem);

	ck_assert_int_eq(p[f].how, how);
	if (how == SHAPE_GONE)
		return;
	ck_assert_str_eq(now.func.v[p[f].func].name, name);
	ck_assert_str_eq(now.func.v[p[f].func].tu, tu);
}

START_TEST(functions_by_key_name_and_content)
{
	both(FUNC("same", PLAIN) FUNC("edited", LOOP(".L4", ".L5", "$1", ""))
		 FUNC("before", "\tcall\tx@PLT\n\tret\n")
		     FUNC("part.isra.0", "\tmovl\t$5, %eax\n\tret\n") FUNC("gone", "\thlt\n"),
	    FUNC("part", "\tmovl\t$6, %eax\n\tret\n") FUNC("after", "\tcall\tx@PLT\n\tret\n")
		FUNC("edited", LOOP(".L4", ".L5", "$7", "")) FUNC("same", PLAIN));
	check_pair(0, SHAPE_SAME, "same", "t.c");
	check_pair(1, SHAPE_CHANGED, "edited", "t.c");
	check_pair(2, SHAPE_RENAMED, "after", "t.c");
	check_pair(3, SHAPE_CHANGED, "part", "t.c");
	check_pair(4, SHAPE_GONE, NULL, NULL);
}
END_TEST

START_TEST(content_of_several_says_nothing)
{
	both(FUNC("a", "\txorl\t%eax, %eax\n\tret\n"),
	    FUNC("b", "\txorl\t%eax, %eax\n\tret\n") FUNC("c", "\txorl\t%eax, %eax\n\tret\n"));
	check_pair(0, SHAPE_GONE, NULL, NULL);
}
END_TEST

START_TEST(one_name_in_two_units)
{
	struct buf b = {0};

	shapes_begin(&b);
	add_unit(FUNC("init", "\tmovl\t$1, %eax\n\tret\n"), "a.c", &b);
	add_unit(FUNC("init", "\tmovl\t$2, %eax\n\tret\n"), "b.c", &b);
	decode(&b, &old);
	shapes_begin(&b);
	add_unit(FUNC("init", "\tmovl\t$3, %eax\n\tret\n"), "b.c", &b);
	add_unit(FUNC("init", "\tmovl\t$4, %eax\n\tret\n"), "c.c", &b);
	decode(&b, &now);
	check_pair(0, SHAPE_CHANGED, "init", "c.c");
	check_pair(1, SHAPE_CHANGED, "init", "b.c");
}
END_TEST

/* ---- the file ---- */

START_TEST(damage_is_refused)
{
	struct buf b = {0};
	struct shapes s;
	struct err e;
	size_t n, accepted = 0;

	shapes_begin(&b);
	n = b.n;
	add_unit(FUNC("f", PLAIN), "t.c", &b);
	ck_assert(shapes_decode(b.p, n, &s, &e) == 0 && !s.func.n);
	for (n = 0; n < b.n; n++) {
		accepted += shapes_decode(b.p, n, &s, &e) == 0;
		ck_assert_uint_eq(s.func.n, 0);
		shapes_free(&s);
	}
	ck_assert_uint_eq(accepted, 1);
	buf_uleb(&b, 0);
	ck_assert_int_lt(shapes_decode(b.p, b.n, &s, &e), 0);
	ck_assert_ptr_nonnull(strstr(e.text, "damaged at function 1"));
	buf_free(&b);
}
END_TEST

START_TEST(successors_are_of_the_function)
{
	struct buf b = {0};
	struct shapes s;
	struct err e;
	size_t n;

	shapes_begin(&b);
	add_unit(
	    FUNC("f",
		"\ttestl\t%edi, %edi\n\tje\t.L1\n.L2:\n\tincl\t%eax\n\tjmp\t.L2\n.L1:\n\tret\n"),
	    "t.c", &b);
	ck_assert_int_eq(shapes_decode(b.p, b.n, &s, &e), 0);
	shapes_free(&s);
	/* Of the last block: three hashes, instructions, no successor; before it the one that block
	 * 1 has. */
	n = b.n - (4 * SHAPE_LEVELS + 2) - 1;
	ck_assert_int_eq(b.p[n], 1);
	b.p[n] = 3;
	ck_assert_int_lt(shapes_decode(b.p, b.n, &s, &e), 0);
	buf_free(&b);
}
END_TEST

/* ---- profiles ---- */

static struct carried became[SHAPE_RENAMED + 1];

static void carry_text(const char *profile, struct counts *out)
{
	struct counts c;
	struct buf text = {0};
	struct err e;

	ck_assert_int_eq(counts_parse(profile, strlen(profile), "p", COUNTS_SAMPLES,
			     carry_funcs(&old, &mem), old.func.n, &c, &e),
	    0);
	ck_assert_uint_eq(c.unknown + c.no_block, 0);
	carry(&old, &now, &c, became, &text);
	counts_free(&c);
	ck_assert_int_eq(counts_parse(text.p, text.n, "q", COUNTS_SAMPLES, carry_funcs(&now, &mem),
			     now.func.n, out, &e),
	    0);
	ck_assert_uint_eq(out->unknown + out->no_block, 0);
	buf_free(&text);
}

static double samples(const struct counts *c, size_t f, uint32_t b)
{
	return (double)c->block[f][b] / SAMPLE_ONE;
}

START_TEST(a_changed_function_keeps_its_share)
{
	struct counts c;

	/* 2 is gone: its samples go to the others, as these have them. */
	both(FUNC("f", PLAIN) FUNC("g", "\tret\n"),
	    FUNC("g", "\tret\n") FUNC("f",
		"\tmovl\t$0, %eax\n.L2:\n\taddl\t$2, %eax\n\tcmpl\t$9, (%rdi)\n"
		"\tje\t.L3\n\tud2\n.L3:\n\tdecl\t%esi\n\tjne\t.L2\n\txorl\t%edx, %edx\n\tret\n"));
	carry_text("f 1 30\nf 2 20\nf 3 10\ng 0 5\n", &c);
	ck_assert_double_eq(samples(&c, 0, 0), 5);
	ck_assert_double_eq_tol(samples(&c, 1, 1) + samples(&c, 1, 2) + samples(&c, 1, 3), 60, .1);
	ck_assert_uint_eq(became[SHAPE_SAME].functions, 1);
	ck_assert_uint_eq(became[SHAPE_CHANGED].functions, 1);
	ck_assert_uint_eq(became[SHAPE_CHANGED].samples, 60 * SAMPLE_ONE);
	counts_free(&c);
}
END_TEST

START_TEST(flows_go_along)
{
	const struct counts_flow *v;
	struct counts c;

	both(FUNC("f", PLAIN) FUNC("g", "\tmovl\t$1, %eax\n\tret\n") FUNC("h", "\thlt\n"),
	    FUNC("g", "\tmovl\t$2, %eax\n\tret\n")
		FUNC("f", LOOP(".L2", ".L3", "$1",
			      "\ttestl\t%ecx, %ecx\n\tje\t.L8\n\tcall\tgreet@PLT\n.L8:\n")));
	/* 1 > 2 has something between them now; the call of h has no end. */
	carry_text(
	    "f 1 30\nf 1 > 2 4\nf 1 > 3 6\nf 3 < 2 7\nf 2 @ g 3\nf 2 @ h 2\ng 0 1\nh 0 9\n", &c);
	ck_assert_uint_eq(counts_flows(&c, 1, COUNTS_EDGES, &v), 1);
	ck_assert(v->block == 1 && v->to == 5 && v->value == 6 * SAMPLE_ONE);
	ck_assert_uint_eq(counts_flows(&c, 1, COUNTS_PRED, &v), 1);
	ck_assert(v->block == 4 && v->to == 5 && v->value == 7 * SAMPLE_ONE);
	ck_assert_uint_eq(counts_flows(&c, 1, COUNTS_CALLS, &v), 1);
	ck_assert(v->block == 4 && v->to == 0 && v->value == 3 * SAMPLE_ONE);
	ck_assert_uint_eq(became[SHAPE_GONE].functions, 1);
	ck_assert_uint_eq(became[SHAPE_GONE].samples, 9 * SAMPLE_ONE);
	counts_free(&c);
}
END_TEST

START_TEST(nothing_that_corresponds_is_the_entry)
{
	struct counts c;

	both(FUNC("f", "\ttestl\t%edi, %edi\n\tje\t.L1\n\tincl\t%eax\n.L1:\n\tret\n"),
	    FUNC("f", "\tcpuid\n\tret\n"));
	carry_text("f 1 8\n", &c);
	ck_assert_double_eq(samples(&c, 0, 0), 8);
	counts_free(&c);
}
END_TEST

UNIT_MAIN("shape", 0, setup, teardown, labels_and_inversion_do_not_count, levels_get_looser,
    a_constant_changes_nothing, what_is_inserted_matches_nothing,
    blocks_that_are_alike_keep_their_order, moved_blocks_are_found,
    functions_by_key_name_and_content, content_of_several_says_nothing, one_name_in_two_units,
    damage_is_refused, successors_are_of_the_function, a_changed_function_keeps_its_share,
    flows_go_along, nothing_that_corresponds_is_the_entry)
