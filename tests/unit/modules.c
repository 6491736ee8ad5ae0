#include "managerd/modules.h"
#include "common/publish.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64], path[80], file[80];
static struct conf conf;
static struct modules ms;
static struct build_id id;
static struct err e;

/* A module of the store alone: two functions of two blocks, 16 bytes each. */
static void put_module(const char *module, uint8_t build)
{
	struct store_module m = {.id = module_id(module),
	    .path = module,
	    .text = "",
	    .artifact = "/x.morph",
	    .current = {1, {build}},
	    .origin = {1, {build}}};
	struct store_build b = {.module = m.id, .id = m.current, .origin = m.current};
	struct blockmap map = {.id = m.current};
	struct map_table t = {0};
	struct buf blob = {0};
	uint32_t f;

	vec_push(&map.seg, (struct elf_segment){0, 0, 4096});
	for (f = 0; f < 2; f++) {
		map_table_add(&t, &(struct map_func){.key = hash_bytes(&f, sizeof f),
				      .tu = 1,
				      .ord = f,
				      .nblock = 2,
				      .name = f ? "g" : "f",
				      .tu_name = "a.c"});
		vec_push(&map.frag,
		    (struct bm_frag){
			.addr = f * 32, .tu = 1, .size = 32, .func = f, .first = f * 2, .n = 2});
		vec_push(&map.block, (struct bm_block){f * 32, 16, 0, f});
		vec_push(&map.block, (struct bm_block){f * 32 + 16, 16, 1, f});
	}
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	ck_assert_int_eq(store_put_module(ms.store, &m, &e), 0);
	map_table_encode(&t, &blob);
	ck_assert_int_eq(store_put_table(ms.store, &b.id, blob.p, blob.n, &e), 0);
	blob.n = 0;
	blockmap_encode(&map, &blob);
	b.map = blob.p;
	b.nmap = blob.n;
	ck_assert_int_eq(store_put_build(ms.store, &b, &e), 0);
	buf_free(&blob);
	blockmap_free(&map);
	map_table_free(&t);
}

static void setup(void)
{
	struct store *s;

	strcpy(dir, "/tmp/morph-modules-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/morph.db", dir);
	snprintf(file, sizeof file, "%s/file", dir);
	conf_defaults(&conf);
	s = store_open(path, &e);
	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(modules_open(&ms, s, &conf, &e), 0);
	put_module("/known/prog", 7);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	id = (struct build_id){1, {7}};
}

static void teardown(void)
{
	modules_close(&ms);
	store_close(ms.store);
	conf_free(&conf);
	dir_remove(dir, NULL);
}

static enum found find(const char *name, const struct build_id *b, struct module **m)
{
	struct build *build;

	return modules_find(&ms, name, b, 1000000, m, &build, &e);
}

START_TEST(known_builds_are_found)
{
	struct build_id other = {1, {9}};
	struct module *m;

	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert(m->loaded);
	ck_assert_uint_eq(m->build.n, 1);
	ck_assert_int_eq(find("/known/prog (deleted)", &id, &m), FOUND_MAPPED);
	ck_assert_uint_eq(m->build.n, 1);
	ck_assert_int_eq(find("/known/prog", &other, &m), FOUND_STALE);
	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(find("/unknown/prog", &id, &m), FOUND_OUTSIDE);
	ck_assert_ptr_null(m);
}
END_TEST

/* A table of g alone; f is not understood there. */
static char *make_table(void)
{
	char *made = xasprintf("%s/made", dir);
	struct uops u = {0};
	struct buf bytes = {0};
	uint32_t g = 1, i;

	vec_push(&u.func, (struct uops_func){hash_bytes(&g, sizeof g), 0, 2, 0, 0});
	for (i = 0; i < 2; i++) {
		vec_push(&u.block, (struct uops_block){.uop = i, .nuop = 1, .join = UOPS_NONE});
		vec_push(&u.uop, (struct uop){.kind = UOP_END, .base = UA_NONE, .index = UA_NONE});
	}
	uops_sort(&u);
	uops_encode(&u, &bytes);
	ck_assert_int_eq(publish_bytes(made, bytes.p, bytes.n, 0600, &e), 0);
	buf_free(&bytes);
	uops_free(&u);
	return made;
}

START_TEST(witness_tables_come_with_their_module)
{
	struct module *m;
	char *made = make_table();

	ms.tables = xasprintf("%s/witness", dir);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert(!module_has_table(&ms, m));
	ck_assert_ptr_null(m->origin.v[0].uops_func);
	ck_assert_msg(!module_take_table(&ms, m, made, &e), "%s", e.text);
	ck_assert(module_has_table(&ms, m));
	ck_assert_uint_eq(m->origin.v[0].uops_func[0], UOPS_NONE);
	ck_assert_uint_eq(m->origin.v[0].uops_func[1], 0);
	/* A new manager finds it. */
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	m = modules_of_path(&ms, "/known/prog");
	ck_assert(module_has_table(&ms, m));
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert_uint_eq(m->origin.v[0].uops_func[1], 0);
	/* What is no table is not asked for again and again. */
	ck_assert_int_eq(publish_bytes(made, "junk", 4, 0600, &e), 0);
	ck_assert_int_eq(module_take_table(&ms, m, made, &e), -1);
	ck_assert_int_eq(m->table, TABLE_FAILED);
	/* Of programs that are gone none stays. */
	m->row.origin.b[0]++;
	modules_sweep_tables(&ms);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	ck_assert(!module_has_table(&ms, modules_of_path(&ms, "/known/prog")));
	free(made);
}
END_TEST

START_TEST(odd_paths_are_outside)
{
	static const char *const odd[] = {"", "prog", "/", "/known//prog", "/known/./prog",
	    "/x/../known/prog", "/known/prog/", "[vdso]", " (deleted)"};
	struct module *m;

	ck_assert_int_eq(find(odd[_i], &id, &m), FOUND_OUTSIDE);
	ck_assert_ptr_null(m);
}
END_TEST

START_TEST(ignored_are_outside)
{
	static const char policy[] = "modules: [{path: /known/*, action: ignore}]";
	struct module *m;

	ck_assert_int_eq(conf_parse("p", policy, strlen(policy), &conf, &e), 0);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_OUTSIDE);
}
END_TEST

START_TEST(profiles_come_back_after_unloading)
{
	struct module *m;
	struct profile_func *f;

	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	f = module_func(m, &m->origin.v[0], 1);
	ck_assert_str_eq(f->name, "g");
	profile_add(f, 1, 42, 1000, 1e9);
	ck_assert_int_eq(module_save(&ms, m, &e), 0);
	ms.bytes += (size_t)MODULES_MEMORY; /* as if others took it all */
	modules_trim(&ms, m);
	ck_assert(m->loaded);
	modules_trim(&ms, NULL);
	ck_assert(!m->loaded);
	ms.bytes -= (size_t)MODULES_MEMORY;
	ck_assert_uint_eq(ms.bytes, 0);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert_double_eq(module_func(m, &m->origin.v[0], 1)->block[1], 42);
}
END_TEST

START_TEST(layout_profile)
{
	struct module *m;
	double noise;

	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	profile_add(module_func(m, &m->origin.v[0], 0), 0, 10, 1000, 1e9);
	ck_assert_double_eq(profile_distance(&m->now, &m->layout, 1000, 1e9, &noise), 1);
	ck_assert_int_eq(module_set_layout(&ms, m, NULL, &e), 0);
	ck_assert_double_eq(profile_distance(&m->now, &m->layout, 1000, 1e9, &noise), 0);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	m = modules_of_path(&ms, "/known/prog");
	ck_assert_int_eq(module_load(&ms, m, &e), 0);
	ck_assert_double_eq(profile_total(&m->layout, 1000, 1e9).samples, 10);
	ck_assert_int_eq(module_clear_layout(&ms, m, &e), 0);
	ck_assert_double_eq(profile_total(&m->layout, 1000, 1e9).samples, 0);
}
END_TEST

/* Files without artifact are noted, up to a bound; known modules stay. */
START_TEST(strangers_make_room)
{
	struct store_module row = {.path = file, .text = "", .state = MODULE_NO_ARTIFACT};
	struct module *m;
	struct build_id self;
	struct elf *f;
	int i;

	ck_assert_int_eq(store_begin(ms.store, &e), 0);
	for (i = 0; i < MODULES_MAX - 1; i++) {
		snprintf(file, sizeof file, "/stranger/%d", i);
		row.id = module_id(file);
		row.last_ms = i;
		ck_assert_int_eq(store_put_module(ms.store, &row, &e), 0);
	}
	ck_assert_int_eq(store_commit(ms.store, &e), 0);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	ck_assert_uint_eq(ms.module.n, MODULES_MAX);
	snprintf(file, sizeof file, "%s/prog", dir);
	ck_assert_int_eq(symlink("/bin/true", file), 0);
	f = elf_file_open(file, -1, &e);
	ck_assert_ptr_nonnull(f);
	self = elf_file_build_id(f);
	elf_file_close(f);
	ck_assert_int_eq(find(file, &self, &m), FOUND_OUTSIDE);
	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(m->row.state, MODULE_NO_ARTIFACT);
	ck_assert_uint_lt(ms.module.n, MODULES_MAX / 2 + 10);
	ck_assert_ptr_null(modules_of_path(&ms, "/stranger/0"));
	ck_assert_ptr_nonnull(modules_of_path(&ms, "/stranger/4094"));
	ck_assert_ptr_eq(modules_of_path(&ms, file), m);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
}
END_TEST

int main(void)
{
	Suite *su = suite_create("modules");
	TCase *t = tcase_create("modules");
	SRunner *r = srunner_create(su);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, known_builds_are_found);
	tcase_add_test(t, witness_tables_come_with_their_module);
	tcase_add_loop_test(t, odd_paths_are_outside, 0, 9);
	tcase_add_test(t, ignored_are_outside);
	tcase_add_test(t, profiles_come_back_after_unloading);
	tcase_add_test(t, layout_profile);
	tcase_add_test(t, strangers_make_room);
	tcase_set_timeout(t, 60);
	suite_add_tcase(su, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
