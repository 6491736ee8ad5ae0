/* Registers of samples against a map, a table and two small functions. */
#include "managerd/samples/observe.h"
#include "managerd/replay/tables.h"
#include "managerd/samples/weight.h"
#include "common/log.h"
#include "common/publish.h"
#include "tests/unit/memblob.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * f, 3 blocks of 16 bytes from offset 0x100: cmp $5, %rax; je 1, else 2.
 * g, 1 block from 0x200: a call of 5 bytes, then a nop; h, likewise from 0x300. Mapped at BASE.
 */
enum { F = 0x100, G = 0x200, H = 0x300 };
#define BASE 0x550000000000u

static struct map_table t;
static struct map m;
static struct uops u;
static struct observer o;
static struct err e;

static struct hash128 key(const char *name)
{
	return hash_bytes(name, strlen(name));
}

static void add_func(const char *name, uint32_t ord, uint32_t nblock)
{
	map_table_add(&t, &(struct map_func){.key = key(name),
			      .tu = 1,
			      .ord = ord,
			      .nblock = nblock,
			      .name = name,
			      .tu_name = "a.c"});
}

static void add_block(uint8_t term, uint32_t uop, uint32_t nuop)
{
	vec_push(&u.block, (struct uops_block){.uop = uop,
			       .nuop = nuop,
			       .to = 1,
			       .other = 2,
			       .join = UOPS_NONE,
			       .term = term,
			       .cond = 4});
}

static void add_uop(uint8_t kind, uint32_t at)
{
	vec_push(&u.uop, (struct uop){.kind = kind,
			     .size = 3,
			     .dst = UR_AX,
			     .src = UO_IMM,
			     .base = UA_NONE,
			     .index = UA_NONE,
			     .imm = 5,
			     .at = at});
}

static void setup(void)
{
	uint32_t i;

	add_func("f", 0, 3);
	add_func("g", 1, 1);
	add_func("h", 2, 1);
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	for (i = 0; i < 3; i++)
		vec_push(&m.range, (struct map_range){F + 16 * i, F + 16 * i + 16, i});
	vec_push(&m.range, (struct map_range){G, G + 16, 3});
	vec_push(&m.range, (struct map_range){H, H + 16, 4});
	map_index(&m);
	vec_push(&u.func, (struct uops_func){key("f"), 0, 3, 0, 0});
	vec_push(&u.func, (struct uops_func){key("g"), 3, 1, 0, 0});
	vec_push(&u.func, (struct uops_func){key("h"), 4, 1, 0, 0});
	add_block(UT_COND, 0, 2);
	add_uop(UOP_CMP, 0);
	add_uop(UOP_END, 4);
	for (i = 0; i < 2; i++) {
		add_block(UT_STOP, u.uop.n, 1);
		add_uop(UOP_END, 0);
	}
	for (i = 0; i < 2; i++) {
		add_block(UT_STOP, u.uop.n, 3);
		add_uop(UOP_CALL, 0);
		add_uop(UOP_NOP, 5);
		add_uop(UOP_END, 6);
	}
	vec_push(&u.frame, (struct uops_frame){0, UR_SP, 24});
	uops_sort(&u);
	o = (struct observer){.map = &m, .table = &t, .uops = &u};
	o.uops_func = observe_link(&t, &u);
}

static void teardown(void)
{
	free((uint32_t *)o.uops_func);
	pairs_free(&o.edge);
	pairs_free(&o.call);
	vec_free(&o.site);
	uops_free(&u);
	map_free(&m);
	map_table_free(&t);
	memset(&t, 0, sizeof t);
	memset(&m, 0, sizeof m);
	memset(&u, 0, sizeof u);
}

static struct wire_regs sample(uint64_t offset, uint64_t ax)
{
	return (struct wire_regs){
	    .offset = offset, .base = BASE, .gpr = {ax, [WIRE_RSP] = 0x7ffffff0}};
}

START_TEST(directions_follow_the_registers)
{
	struct wire_regs r;
	int i;

	for (i = 0; i < 10; i++) {
		r = sample(F, i < 7 ? 5 : 6);
		observe(&o, &r);
	}
	pairs_sort(&o.edge);
	ck_assert_uint_eq(o.edge.n, 2);
	ck_assert(o.edge.v[0].a == 0 && o.edge.v[0].b == 1 && o.edge.v[0].n == 7 * WEIGHT_ONE);
	ck_assert(o.edge.v[1].a == 0 && o.edge.v[1].b == 2 && o.edge.v[1].n == 3 * WEIGHT_ONE);
	ck_assert_uint_eq(o.count.samples, 10);
	ck_assert_uint_eq(o.count.placed, 10);
	ck_assert_uint_eq(o.count.own, 10);
	ck_assert_uint_eq(o.count.outcomes, 10);
	ck_assert_uint_eq(o.count.callers, 0);
}
END_TEST

/* f compares a word of the stack. */
START_TEST(the_stack_resolves_branches)
{
	struct wire_regs r = sample(F, 6);
	struct uop *cmp = &u.uop.v[u.block.v[u.func.v[uops_find(&u, &t.func.v[0].key)].block].uop];

	cmp->dst = UO_MEM;
	cmp->base = UR_SP;
	cmp->disp = 8;
	r.nstack = 1;
	r.stack[0] = r.stack[1] = 5;
	observe(&o, &r);
	ck_assert_uint_eq(o.count.placed, 1);
	ck_assert_uint_eq(o.count.outcomes, 0); /* word 1 was not sent */
	r.nstack = 2;
	observe(&o, &r);
	ck_assert_uint_eq(o.count.outcomes, 1);
	pairs_sort(&o.edge);
	ck_assert_uint_eq(o.edge.n, 1);
	ck_assert(o.edge.v[0].a == 0 && o.edge.v[0].b == 1);
}
END_TEST

/* f's block 1 goes back to block 0, which decrements rax: some turns of a loop. */
START_TEST(of_a_loop_the_next_turn_counts)
{
	struct wire_regs r = sample(F + 16, 9);
	struct uops_func *f = &u.func.v[uops_find(&u, &t.func.v[0].key)];

	u.uop.v[u.block.v[f->block].uop].kind = UOP_SUB;
	u.uop.v[u.block.v[f->block].uop].imm = 1;
	u.block.v[f->block].cond = 5;
	u.block.v[f->block + 1].term = UT_GO;
	u.block.v[f->block + 1].to = 0;
	observe(&o, &r);
	pairs_sort(&o.edge);
	ck_assert_uint_eq(o.count.outcomes, 1);
	ck_assert_uint_eq(o.edge.n, 1);
	ck_assert(o.edge.v[0].a == 0 && o.edge.v[0].b == 1 && o.edge.v[0].n == WEIGHT_ONE);
}
END_TEST

/* g returns behind a call at the end of f's block 1, which goes on to block 0. */
START_TEST(directions_behind_a_return_are_the_callers)
{
	const uint32_t f = u.func.v[uops_find(&u, &t.func.v[0].key)].block;
	struct wire_regs r = sample(G + 6, 5);

	u.block.v[f + 1] = (struct uops_block){
	    .uop = (uint32_t)u.uop.n, .nuop = 2, .join = UOPS_NONE, .term = UT_GO};
	add_uop(UOP_CALL, 0);
	add_uop(UOP_END, 4);
	u.block.v[u.func.v[uops_find(&u, &t.func.v[1].key)].block].term = UT_RET;
	r.nstack = 1;
	r.stack[0] = BASE + F + 16 + 4;
	observe(&o, &r);
	pairs_sort(&o.edge);
	ck_assert_uint_eq(o.edge.n, 1);
	ck_assert(o.edge.v[0].a == 0 && o.edge.v[0].b == 1 && o.edge.v[0].n == WEIGHT_ONE);
	ck_assert_uint_eq(o.count.own, 0);
	r.stack[0]++; /* behind no call */
	observe(&o, &r);
	ck_assert_uint_eq(o.count.outcomes, 1);
}
END_TEST

START_TEST(where_samples_pile_up_they_are_worth_less)
{
	uint32_t block = u.func.v[uops_find(&u, &t.func.v[1].key)].block, i, rare;
	uint32_t uop = u.block.v[block].uop, first = 0, last = 0;
	struct weights w = weights_new(&u);

	for (i = 0; i < 3000; i++) {
		last = weight_of_sample(&w, &u, block, uop);
		first = i ? first : last;
	}
	rare = weight_of_sample(&w, &u, block, uop + 1);
	ck_assert_uint_ge(first, WEIGHT_ONE * 3 / 4);
	ck_assert_uint_le(first, WEIGHT_ONE);
	/* One instruction of three has them all: it weighs a third. */
	ck_assert_uint_eq(last, WEIGHT_ONE / 3);
	ck_assert_uint_eq(rare, WEIGHT_MAX);
	/* Nothing is known of other blocks. */
	ck_assert_uint_eq(w.samples[uop], 3000);
	ck_assert_uint_eq(w.samples[uop + 1], 1);
	weights_free(&w);
}
END_TEST

/* In full where nothing else is known, a quarter or an eighth in the end. */
START_TEST(biased_outcomes_count_where_there_are_few)
{
	struct weights w = weights_new(&u);
	uint32_t i;

	ck_assert_uint_eq(weight_of_outcome(&w, 1, WEIGHT_ONE, WEIGHT_FAR), WEIGHT_ONE);
	for (i = 0; i < 40; i++)
		ck_assert_uint_eq(weight_of_outcome(&w, 0, WEIGHT_ONE, WEIGHT_AHEAD), WEIGHT_ONE);
	ck_assert_uint_eq(weight_of_outcome(&w, 0, WEIGHT_ONE, WEIGHT_FAR), WEIGHT_ONE * 5 / 8);
	for (i = 0; i < 10000; i++)
		weight_of_outcome(&w, 0, WEIGHT_ONE, WEIGHT_AHEAD);
	ck_assert_uint_eq(weight_of_outcome(&w, 0, WEIGHT_ONE, WEIGHT_FAR), WEIGHT_ONE / 4);
	ck_assert_uint_eq(weight_of_outcome(&w, 0, WEIGHT_ONE, WEIGHT_LAST), WEIGHT_ONE / 8);
	w.resolved[0] = UINT32_MAX;
	ck_assert_uint_eq(weight_of_outcome(&w, 0, 1, WEIGHT_FAR), 1);
	ck_assert_uint_eq(w.resolved[0], UINT32_MAX);
	weights_free(&w);
}
END_TEST

START_TEST(instructions_that_tell_too_seldom_are_left_alone)
{
	struct weights w = weights_new(&u);
	unsigned i;

	for (i = 0; i < 10000; i++) {
		weight_note_backward(&w, 0, i % 20 != 0);
		weight_note_backward(&w, 1, i % 5 != 0);
		ck_assert_uint_lt(w.blind[0], UINT8_MAX);
		if (w.blind[1] == UINT8_MAX)
			break;
	}
	/* Each fifth unresolved: one more per replay, so that it soon saturates. */
	ck_assert_uint_gt(i, 200);
	ck_assert_uint_lt(i, 300);
	weights_free(&w);
}
END_TEST

START_TEST(a_sample_is_weighed_where_it_fell)
{
	struct wire_regs r = sample(F, 5);
	struct weights w = weights_new(&u);
	uint32_t i;

	o.weights = &w;
	for (i = 0; i < 1000; i++)
		observe(&o, &r);
	weights_free(&w);
	pairs_sort(&o.edge);
	ck_assert_uint_eq(o.count.outcomes, 1000);
	/* One of two instructions, at which the branch waits: from a half down to a sixteenth. */
	ck_assert_uint_ge(o.edge.v[0].n, 197 * WEIGHT_ONE);
	ck_assert_uint_le(o.edge.v[0].n, 199 * WEIGHT_ONE);
}
END_TEST

START_TEST(places_the_table_does_not_know_say_nothing)
{
	static const uint64_t odd[] = {0, F - 1, F + 1, F + 48, G + 16, UINT64_MAX};
	struct wire_regs r;
	size_t i;

	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		r = sample(odd[i], 5);
		observe(&o, &r);
	}
	ck_assert_uint_eq(o.count.samples, i);
	ck_assert_uint_eq(o.count.placed, 0);
	ck_assert_uint_eq(o.edge.n, 0);
}
END_TEST

START_TEST(the_caller_is_at_the_frames_return_address)
{
	struct wire_regs r = sample(F, 5);

	/* CFA = rsp + 24: the return address is word 2, whatever else points to
	 * code. */
	r.ncode = 2;
	r.code[0] = (struct wire_code){1, F + 5};
	r.code[1] = (struct wire_code){2, G + 5};
	observe(&o, &r);
	ck_assert_uint_eq(o.count.callers, 1);
	/* No call lies before these. */
	r.code[1].offset = G + 6;
	observe(&o, &r);
	r.code[1].offset = G;
	observe(&o, &r);
	r.code[1].offset = 0;
	observe(&o, &r);
	/* The word is unresolved, or another is known. */
	r.code[1] = (struct wire_code){3, G + 5};
	observe(&o, &r);
	r.ncode = 1;
	observe(&o, &r);
	ck_assert_uint_eq(o.count.callers, 1);
	pairs_sort(&o.call);
	ck_assert_uint_eq(o.call.n, 1);
	ck_assert_uint_eq(o.call.v[0].a, 3); /* the slot of g's block */
	ck_assert_uint_eq(o.call.v[0].b, 0); /* f */
}
END_TEST

/* Where the sample's function was called, or where the code was that called it. */
START_TEST(call_sites_of_samples_are_noted)
{
	struct wire_regs r = sample(F, 5);

	r.ncode = 2;
	r.code[0] = (struct wire_code){1, G + 5}; /* below the return address */
	r.code[1] = (struct wire_code){2, G + 5};
	observe(&o, &r);
	ck_assert_uint_eq(o.site.n, 1);
	ck_assert(o.site.v[0].address == F && o.site.v[0].site == G + 4);
	/* It returns to other code, which g had called. */
	r.code[1] = (struct wire_code){4, G + 5};
	observe(&o, &r);
	ck_assert_uint_eq(o.site.n, 2);
	ck_assert_uint_eq(o.count.callers, 1);
	/* It returns to where no call is, or only words that are no calls come after it. */
	r.code[1] = (struct wire_code){2, G + 6};
	observe(&o, &r);
	r.code[1] = (struct wire_code){4, G + 6};
	observe(&o, &r);
	ck_assert_uint_eq(o.site.n, 2);
	vec_free(&o.site);
}
END_TEST

/* g's frame at the return is known: who called that is the next word but two. */
START_TEST(callers_of_callers_are_noted)
{
	struct wire_regs r = sample(F, 5);
	uint32_t word;

	ck_assert(observe_next_word(&o, G + 5, 2, &word) && word == 5);
	ck_assert(!observe_next_word(&o, G + 6, 2, &word));
	r.ncode = 3;
	r.code[0] = (struct wire_code){2, G + 5};
	r.code[1] = (struct wire_code){4, G + 5};
	r.code[2] = (struct wire_code){5, G + 5};
	observe(&o, &r);
	ck_assert_uint_eq(o.site.n, 2);
	ck_assert(!o.site.v[0].waiting && o.site.v[0].site == G + 4);
	ck_assert(o.site.v[1].waiting && o.site.v[1].address == G + 4);
	ck_assert_uint_eq(o.site.v[1].site, G + 4);
	/* The word there is no return address, or there is none. */
	r.code[2].offset = G + 6;
	observe(&o, &r);
	r.ncode = 2;
	observe(&o, &r);
	ck_assert_uint_eq(o.site.n, 4);
	vec_free(&o.site);
}
END_TEST

/* g is left by a jump, as far as is known, f by returning once all its blocks do. */
START_TEST(calls_within_the_program_call_nothing_else)
{
	uint32_t *closed;
	size_t n, i;
	uint32_t f = u.func.v[0].block == 0 ? 0 : 1;

	ck_assert(observe_calls_out(&o, G + 5));
	ck_assert(!observe_calls_out(&o, G + 6));
	ck_assert(!observe_calls_out(&o, F + 4));
	ck_assert(!observe_calls_out(&o, 0));
	ck_assert(!observe_calls_out(&o, 0x10000));
	closed = observe_closed(&t, &u, o.uops_func, &n);
	ck_assert_uint_eq(n, 0);
	free(closed);
	for (i = 1; i < 3; i++)
		u.block.v[u.func.v[f].block + i].term = UT_RET;
	closed = observe_closed(&t, &u, o.uops_func, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(closed[0], uops_callee("f", 1));
	o.closed = closed;
	o.nclosed = n;
	u.uop.v[u.block.v[3].uop].imm = uops_callee("f", 1);
	ck_assert(!observe_calls_out(&o, G + 5));
	u.uop.v[u.block.v[3].uop].imm = uops_callee("memcpy", 6);
	ck_assert(observe_calls_out(&o, G + 5));
	u.uop.v[u.block.v[3].uop].imm = 0;
	ck_assert(observe_calls_out(&o, G + 5));
	free(closed);
}
END_TEST

static void calls(uint32_t block, const char *name)
{
	u.uop.v[u.block.v[block].uop].imm = uops_callee(name, strlen(name));
}

/* The site that is chosen of some, by its index; -1: none. */
static int chosen(const struct observer *of, uint32_t looked, size_t n, struct wire_site *site)
{
	struct wire_caller c = {.looked = looked, .nsite = (uint32_t)n, .site = site};
	const struct wire_site *s = observe_site(of, &c);

	return s ? (int)(s - site) : -1;
}
#define CHOSEN(looked, ...) \
	chosen(two, looked, sizeof((struct wire_site[]){__VA_ARGS__}) / sizeof(struct wire_site), \
	    (struct wire_site[]){__VA_ARGS__})

/* g calls memcpy, h calls g, which is left by returning alone; each frame has three words. */
START_TEST(a_site_has_its_callers_above_it)
{
	uint32_t closed[] = {uops_callee("g", 1)};
	struct observer two[2] = {0};

	calls(3, "memcpy");
	calls(4, "g");
	o.closed = closed;
	o.nclosed = 1;
	two[0] = o;
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 0, H + 5}, {8, WIRE_OTHER_CODE, 0}), 0);
	/* What an earlier call left comes first. */
	ck_assert_int_eq(
	    CHOSEN(64, {1, 0, G + 5}, {2, 0, G + 5}, {5, 0, H + 5}, {8, WIRE_OTHER_CODE, 0}), 1);
	/* No caller; none of g; none that is a call; the caller has none. */
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {6, 0, H + 5}, {8, WIRE_OTHER_CODE, 0}), -1);
	calls(4, "f");
	closed[0] = uops_callee("f", 1);
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 0, H + 5}, {8, WIRE_OTHER_CODE, 0}), -1);
	calls(4, "g");
	closed[0] = uops_callee("g", 1);
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 0, H + 6}, {8, WIRE_OTHER_CODE, 0}), -1);
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 0, H + 5}, {9, WIRE_OTHER_CODE, 0}), -1);
	/* Nobody looked there, or nothing is known of what is there. */
	ck_assert_int_eq(CHOSEN(8, {2, 0, G + 5}, {5, 0, H + 5}), 0);
	ck_assert_int_eq(CHOSEN(5, {2, 0, G + 5}), 0);
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 1, 77}), 0);
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 0, 0x10000}), 0);
	ck_assert_int_eq(CHOSEN(64, {2, 1, G + 5}, {5, WIRE_OTHER_CODE, 0}), -1);
	/* g was called by something that it jumped from. */
	calls(4, "unknown");
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 0, H + 5}, {8, WIRE_OTHER_CODE, 0}), 0);
	u.uop.v[u.block.v[4].uop].imm = 0;
	ck_assert_int_eq(CHOSEN(64, {2, 0, G + 5}, {5, 0, H + 5}, {8, WIRE_OTHER_CODE, 0}), 0);
	o.closed = NULL;
	o.nclosed = 0;
}
END_TEST

START_TEST(functions_of_another_shape_have_no_table)
{
	uint32_t *link;

	u.func.v[uops_find(&u, &t.func.v[0].key)].nblock = 2;
	link = observe_link(&t, &u);
	ck_assert_uint_eq(link[0], UOPS_NONE);
	ck_assert_uint_ne(link[1], UOPS_NONE);
	free(link);
}
END_TEST

static size_t files_in(const char *dir)
{
	char *cmd = xasprintf("ls %s | wc -l", dir);
	FILE *f = popen(cmd, "r");
	size_t n = 99;

	ck_assert_int_eq(fscanf(f, "%zu", &n), 1);
	pclose(f);
	free(cmd);
	return n;
}

static bool keep_one(void *arg, const struct table_name *name)
{
	return name->module == 1;
}

static bool not_the_first(void *arg, const struct table_name *name)
{
	return !table_name_equal(name, arg);
}

static struct buf bytes;

static int take(const char *to, const struct table_name *name, size_t n)
{
	struct blob b = memblob(bytes.p, n);
	int rc = tables_take(to, name, &b, &e);

	blob_free(&b);
	return rc;
}

START_TEST(tables_are_kept_in_a_folder)
{
	char dir[] = "/tmp/morph-tables-XXXXXX", *to, *made;
	struct table_name a = {1, 1000, {2, {1, 2}}}, b = {1, 1000, {2, {3, 4}}};
	struct table_name c = {2, 1000, {2, {1, 2}}}, other = {1, 1001, {2, {1, 2}}};
	struct uops got;

	log_init("observe", LOG_LVL_ERROR);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	to = xasprintf("%s/replay", dir);
	uops_encode(&u, &bytes);
	ck_assert(!tables_have(to, &a));
	ck_assert_int_eq(tables_load(to, &a, NULL, &got, NULL, &e), 0);
	ck_assert_msg(take(to, &a, bytes.n) == 0, "%s", e.text);
	ck_assert_msg(take(to, &c, bytes.n) == 0, "%s", e.text);
	ck_assert(tables_have(to, &a) && tables_have(to, &c) && !tables_have(to, &b));
	ck_assert(!tables_have(to, &other));
	ck_assert_int_eq(tables_load(to, &a, NULL, &got, NULL, &e), 1);
	ck_assert_uint_eq(got.uop.n, u.uop.n);
	uops_free(&got);
	ck_assert_int_eq(take(to, &b, bytes.n), 0);
	ck_assert(tables_have(to, &a) && tables_have(to, &c) && tables_have(to, &b));
	tables_sweep(to, not_the_first, &a);
	ck_assert(!tables_have(to, &a) && tables_have(to, &c) && tables_have(to, &b));
	/* What is damaged is not taken, and does not stay. */
	ck_assert_int_eq(take(to, &a, bytes.n - 1), -1);
	ck_assert(tables_have(to, &b));
	made = xasprintf("%s/0000000000000001-000003e8-0304.uops", to);
	ck_assert_int_eq(truncate(made, 30), 0);
	ck_assert_int_eq(tables_load(to, &b, NULL, &got, NULL, &e), -1);
	ck_assert(!tables_have(to, &b));
	ck_assert_int_eq(publish_bytes(made, bytes.p, bytes.n, 0600, &e), 0);
	ck_assert_uint_eq(files_in(to), 2);
	tables_sweep(to, keep_one, NULL);
	ck_assert(tables_have(to, &b));
	ck_assert_uint_eq(files_in(to), 1);
	dir_remove(dir, NULL);
	buf_free(&bytes);
	free(made);
	free(to);
}
END_TEST

START_TEST(shapes_of_another_program_are_found)
{
	char dir[] = "/tmp/morph-tables-XXXXXX", byte = 0;
	struct table_name replay = {1, 1000, {2, {1, 2}}},
			  old = {1, 1000, {2, {1, 2}}, TABLE_SHAPES};
	struct table_name now = {1, 1000, {2, {3, 4}}, TABLE_SHAPES};
	struct table_name user = {1, 1001, {2, {3, 4}}, TABLE_SHAPES};
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	buf_str(&bytes, "any bytes");
	ck_assert_int_eq(take(dir, &old, bytes.n), 0);
	ck_assert(tables_have(dir, &old) && !tables_have(dir, &replay));
	ck_assert_int_eq(tables_open_other(dir, &old), -1);
	ck_assert_int_eq(tables_open_other(dir, &user), -1);
	fd = tables_open_other(dir, &now);
	ck_assert(fd >= 0 && read(fd, &byte, 1) == 1 && byte == 'a');
	close(fd);
	tables_sweep(dir, not_the_first, &replay);
	ck_assert(tables_have(dir, &old));
	tables_sweep(dir, not_the_first, &old);
	ck_assert(!tables_have(dir, &old));
	dir_remove(dir, NULL);
	buf_free(&bytes);
}
END_TEST

UNIT_MAIN("observe", 0, setup, teardown, directions_follow_the_registers,
    the_stack_resolves_branches, of_a_loop_the_next_turn_counts,
    directions_behind_a_return_are_the_callers, where_samples_pile_up_they_are_worth_less,
    instructions_that_tell_too_seldom_are_left_alone, biased_outcomes_count_where_there_are_few,
    a_sample_is_weighed_where_it_fell, places_the_table_does_not_know_say_nothing,
    the_caller_is_at_the_frames_return_address, call_sites_of_samples_are_noted,
    callers_of_callers_are_noted, calls_within_the_program_call_nothing_else,
    a_site_has_its_callers_above_it, functions_of_another_shape_have_no_table,
    tables_are_kept_in_a_folder, shapes_of_another_program_are_found)
