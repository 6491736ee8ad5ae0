#include "managerd/cycle/coding.h"
#include "tests/unit/fakepriv.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 10, SIZE = 16 };

static char dir[64];
static struct priv *priv;
static struct conf conf;
static struct core core;
static struct coding coding;
static uv_loop_t loop;
static unsigned told;
static struct err e;

static void tell(void *arg, uint64_t none)
{
	ck_assert_uint_eq(none, 0);
	told++;
}

static void loaded(void *arg)
{
	coding_tell(arg);
}

static struct hash128 key_of(uint32_t f)
{
	return hash_bytes(&f, sizeof f);
}

static void put_code(uint64_t module, const struct build_id *id, uint32_t functions)
{
	struct store_build b = {.module = module, .id = *id, .origin = *id};
	struct blockmap map = {.id = *id};
	struct map_table t = {0};
	struct buf blob = {0};
	uint32_t f, i;

	vec_push(&map.seg, (struct elf_segment){4096, 4096, functions * BLOCKS * SIZE});
	for (f = 0; f < functions; f++) {
		uint64_t at = 4096 + (uint64_t)f * BLOCKS * SIZE;

		map_table_add(&t, &(struct map_func){.key = key_of(f),
				      .tu = 1,
				      .ord = f,
				      .nblock = BLOCKS,
				      .name = f ? "cold" : "hot",
				      .tu_name = "a_unit_with_a_name.c"});
		vec_push(&map.frag, (struct bm_frag){.addr = at,
					.tu = 1,
					.size = BLOCKS * SIZE,
					.func = f,
					.first = f * BLOCKS,
					.n = BLOCKS});
		for (i = 0; i < BLOCKS; i++)
			vec_push(&map.block, (struct bm_block){at + i * SIZE, SIZE, i, f});
	}
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	map_table_encode(&t, &blob);
	ck_assert_int_eq(store_put_table(core.store, module, id, blob.p, blob.n, &e), 0);
	blob.n = 0;
	blockmap_encode(&map, &blob);
	b.map = blob.p;
	b.nmap = blob.n;
	ck_assert_int_eq(store_put_build(core.store, &b, &e), 0);
	buf_free(&blob);
	blockmap_free(&map);
	map_table_free(&t);
}

/* A module with 100 samples in block 3 of its first function, whose branch went to block 5. */
static uint64_t put_module(const char *path, uint8_t build, uint32_t functions)
{
	struct decay now = {(int64_t)time(NULL) * 1000, 1e9};
	struct store_module m = {.id = module_id(path),
	    .path = path,
	    .text = "",
	    .artifact = "/x.morph",
	    .current = {1, {build}},
	    .origin = {1, {build}},
	    .mapped = 100};
	struct hash128 key = key_of(0);
	struct profile p = {0};

	profile_add(profile_put(&p, &key, "hot", "a.c", NULL, BLOCKS), 3, 100, now);
	profile_add_edge(profile_get(&p, &key), 3, 5, 7, now);
	ck_assert_int_eq(store_put_module(core.store, &m, &e), 0);
	ck_assert_int_eq(store_save_profile(core.store, m.id, PROFILE_NOW, &p, &e), 0);
	profile_free(&p);
	put_code(m.id, &m.current, functions);
	return m.id;
}

static void setup(void)
{
	char *path;

	strcpy(dir, "/tmp/morph-coding-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/morph.db", dir);
	conf_defaults(&conf);
	uv_loop_init(&loop);
	core = (struct core){.loop = &loop, .store = store_open(path, &e)};
	free(path);
	ck_assert_ptr_nonnull(core.store);
	priv = fake_new();
	coding = (struct coding){.core = &core, .ready = tell};
	told = 0;
	put_module("/small", 1, 3);
	put_module("/large", 2, 5000);
	ck_assert_int_eq(modules_open(&core.modules, core.store, priv, &conf, &e), 0);
	core.modules.pool.loop = &loop;
	core.modules.pool.loaded = loaded;
	core.modules.pool.arg = &coding;
}

static void teardown(void)
{
	uv_run(&loop, UV_RUN_DEFAULT);
	coding_free(&coding);
	modules_close(&core.modules);
	store_close(core.store);
	priv_close(priv);
	uv_loop_close(&loop);
	conf_free(&conf);
	dir_remove(dir, NULL);
}

static struct code_order order(const char *path, uint32_t from, uint32_t to)
{
	return (struct code_order){.module = module_id(path), .query = {from, to, 64}};
}

/* Asks until it is made, as the API does. */
static const struct code_view *wait_for(const struct code_order *o)
{
	const struct code_view *v = NULL;
	unsigned before;
	int rc;

	while ((rc = coding_get(&coding, o, &v, &e)) == 0) {
		before = told;
		while (told == before)
			ck_assert(uv_run(&loop, UV_RUN_ONCE) || told != before);
	}
	ck_assert_msg(rc == 1, "%s", e.text);
	return v;
}

START_TEST(small_programs_are_done_at_once)
{
	struct code_order o = order("/small", 0, 0);
	const struct code_view *v;

	ck_assert_int_eq(coding_get(&coding, &o, &v, &e), 1);
	ck_assert_ptr_nonnull(v);
	ck_assert_uint_eq(told, 0);
	ck_assert_uint_eq(v->code->block.n, 3 * BLOCKS);
	ck_assert_double_eq_tol(v->code->samples, 100, 0.01);
	ck_assert_double_eq_tol(v->code->block.v[3].samples, 100, 0.01);
	ck_assert_str_eq(v->name[v->code->block.v[3].function].name, "hot");
	ck_assert_uint_eq(v->code->edge.n, 1);
	ck_assert_uint_eq(v->code->edge.v[0].to, 5);
	ck_assert_uint_eq(v->build.b[0], 1);
}
END_TEST

START_TEST(large_programs_are_waited_for)
{
	struct code_order all = order("/large", 0, 0), part = order("/large", 4096, 4160);
	const struct code_view *v;

	ck_assert_int_eq(coding_get(&coding, &all, &v, &e), 0);
	ck_assert_ptr_null(v);
	ck_assert_int_eq(coding_get(&coding, &part, &v, &e), 0);
	v = wait_for(&all);
	ck_assert_uint_ge(told, 1);
	ck_assert_uint_eq(v->code->nblock, 5000 * BLOCKS);
	ck_assert_uint_eq(v->code->block.n, 0);
	ck_assert_double_eq_tol(v->code->samples, 100, 0.01);
	v = wait_for(&part);
	ck_assert_uint_eq(v->code->block.n, 4);
	ck_assert_str_eq(v->name[v->code->block.v[3].function].tu, "a_unit_with_a_name.c");
	ck_assert_uint_eq(v->code->edge.n, 1);
}
END_TEST

START_TEST(functions_are_found_by_their_keys)
{
	struct code_order o = order("/small", 0, 0);

	o.query.find = true;
	o.query.key = key_of(1);
	ck_assert_uint_eq(wait_for(&o)->code->part.n, 1);
	ck_assert_uint_eq(coding.code.part.v[0].from, 4096 + BLOCKS * SIZE);
	o.query.key = key_of(77);
	ck_assert_uint_eq(wait_for(&o)->code->part.n, 0);
}
END_TEST

/* Somebody else's program at the same path has not the map of the one before. */
START_TEST(another_owner_has_another_map)
{
	struct code_order o = order("/small", 0, 0);

	ck_assert_ptr_nonnull(wait_for(&o));
	modules_get(&core.modules, o.module)->row.uid = 4321;
	ck_assert_ptr_nonnull(wait_for(&o));
	ck_assert_uint_eq(coding.uid, 4321);
}
END_TEST

START_TEST(what_is_not_there_is_said)
{
	struct code_order o = order("/small", 0, 0);
	const struct code_view *v;

	modules_get(&core.modules, o.module)->row.origin.b[0] = 99;
	o.original = true;
	ck_assert_int_eq(coding_get(&coding, &o, &v, &e), 1);
	ck_assert_ptr_null(v);
	o.module = 1;
	ck_assert_int_eq(coding_get(&coding, &o, &v, &e), -1);
}
END_TEST

/* The module is gone when the pool has made its map. */
START_TEST(modules_may_go_meanwhile)
{
	struct code_order o = order("/large", 0, 0);
	const struct code_view *v;

	while (!coding.working) {
		ck_assert_int_eq(coding_get(&coding, &o, &v, &e), 0);
		if (!coding.working)
			uv_run(&loop, UV_RUN_ONCE);
	}
	ck_assert_int_eq(modules_reload(&core.modules, &e), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert(!coding.working);
	ck_assert_ptr_nonnull(wait_for(&o));
}
END_TEST

UNIT_MAIN("coding", 60, setup, teardown, small_programs_are_done_at_once,
    large_programs_are_waited_for, functions_are_found_by_their_keys, another_owner_has_another_map,
    what_is_not_there_is_said, modules_may_go_meanwhile)
