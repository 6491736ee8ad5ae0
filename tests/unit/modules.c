#include "managerd/modules/modules.h"
#include "managerd/replay/tables.h"
#include "tests/unit/fakepriv.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64], path[80];
static struct priv *priv;
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
	ck_assert_int_eq(store_put_table(ms.store, m.id, &b.id, blob.p, blob.n, &e), 0);
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
	conf_defaults(&conf);
	s = store_open(path, &e);
	ck_assert_ptr_nonnull(s);
	priv = fake_new();
	ck_assert_int_eq(modules_open(&ms, s, priv, &conf, &e), 0);
	put_module("/known/prog", 7);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	id = (struct build_id){1, {7}};
}

static void teardown(void)
{
	modules_close(&ms);
	store_close(ms.store);
	priv_close(priv);
	conf_free(&conf);
	dir_remove(dir, NULL);
}

static enum wanted wanted;

static enum found find_at(const char *name, const struct build_id *b, int64_t s, struct module **m)
{
	struct build *build;

	return modules_find(&ms, name, b, s * 1000, m, &build, &wanted, &e);
}

static enum found find(const char *name, const struct build_id *b, struct module **m)
{
	return find_at(name, b, 1000, m);
}

/* What an inspection at a file of the parent's says, for samples of one of its builds. */
static void learn(const char *name, const struct build_id *asked)
{
	struct fake_file *f = fake_find(priv, name);
	struct priv_inspected gone = {.status = PRIV_GONE, .why = "it is gone"};
	const struct priv_inspected *r = f ? &f->inspection : &gone;
	struct joined j = {0};
	struct err why = {0};
	bool useful = r->status == PRIV_FOLLOWED &&
		      !module_join(r->table, r->ntable, r->map, r->nmap, &j, &why);

	if (f)
		f->inspection.stamp = f->stamp;
	ck_assert_int_eq(store_begin(ms.store, &e), 0);
	ck_assert_msg(!modules_learn(
			  &ms, name, asked, 1, false, r, useful ? &j : NULL, why.text, 1000000, &e),
	    "%s", e.text);
	ck_assert_msg(!store_commit(ms.store, &e), "%s", e.text);
	joined_free(&j);
}

static struct decay at(int64_t now_ms)
{
	return (struct decay){now_ms, 1e9};
}

START_TEST(known_builds_are_found)
{
	struct build_id other = {1, {9}};
	struct module *m;

	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert(m->memory.loaded);
	ck_assert_uint_eq(m->builds.build.n, 1);
	ck_assert_int_eq(find("/known/prog (deleted)", &id, &m), FOUND_MAPPED);
	ck_assert_uint_eq(m->builds.build.n, 1);
	ck_assert_int_eq(find("/known/prog", &other, &m), FOUND_STALE);
	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(find("/unknown/prog", &id, &m), FOUND_OUTSIDE);
	ck_assert_ptr_null(m);
}
END_TEST

/* A table of g alone; f is not understood there. */
static struct buf make_table(void)
{
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
	uops_free(&u);
	return bytes;
}

START_TEST(replay_tables_come_with_their_module)
{
	struct module *m;
	struct buf bytes = make_table();
	struct blob made = memblob(bytes.p, bytes.n), junk = memblob("junk", 4);

	ms.tables = xasprintf("%s/replay", dir);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert(!module_has_table(&ms, m));
	ck_assert_ptr_null(m->builds.origin.v[0].uops_func);
	module_take_table(&ms, m, &made);
	ck_assert(module_has_table(&ms, m));
	ck_assert_uint_eq(m->builds.origin.v[0].uops_func[0], UOPS_NONE);
	ck_assert_uint_eq(m->builds.origin.v[0].uops_func[1], 0);
	/* A new manager finds it. */
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	m = modules_of_path(&ms, "/known/prog");
	ck_assert(module_has_table(&ms, m));
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert_uint_eq(m->builds.origin.v[0].uops_func[1], 0);
	/* What is no table is not asked for again and again. */
	module_take_table(&ms, m, &junk);
	ck_assert_int_eq(m->builds.table, TABLE_FAILED);
	/* Of programs that are gone none stays. */
	m->row.origin.b[0]++;
	modules_sweep_tables(&ms);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	ck_assert(!module_has_table(&ms, modules_of_path(&ms, "/known/prog")));
	buf_free(&bytes);
}
END_TEST

/* What was begun for one owner's program is not another's who copied the build-id. */
START_TEST(tables_stay_with_their_owner)
{
	struct table_name name = {module_id("/known/prog"), 0, id};
	struct module *m;
	struct buf bytes = make_table();
	struct blob made = memblob(bytes.p, bytes.n);
	uv_loop_t *loop = uv_default_loop();

	ms.tables = xasprintf("%s/replay", dir);
	ms.pool.loop = loop;
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	module_take_table(&ms, m, &made);
	fake_artifact(fake_file(priv, "/known/prog", 1001, 7), 2);
	learn("/known/prog", &id);
	uv_run(loop, UV_RUN_DEFAULT);
	m = modules_of_path(&ms, "/known/prog");
	ck_assert_uint_eq(m->row.uid, 1001);
	ck_assert_uint_eq(m->builds.build.n, 1);
	ck_assert_ptr_null(m->builds.origin.v[0].uops_func);
	ck_assert(!module_has_table(&ms, m));
	ck_assert(!tables_have(ms.tables, &name)); /* written behind the sweep */
	buf_free(&bytes);
}
END_TEST

/* … of functions with names that take long to decode. */
static void put_long_table(void)
{
	static char name[MAP_NAME_MAX];
	struct module *m = modules_of_path(&ms, "/known/prog");
	struct map_table t = {0};
	struct buf blob = {0};
	uint32_t f;

	memset(name, 'x', sizeof name - 1);
	for (f = 0; f < MODULE_LONG / sizeof name + 1; f++)
		map_table_add(&t, &(struct map_func){.key = hash_bytes(&f, sizeof f),
				      .tu = 1,
				      .ord = f,
				      .nblock = 2,
				      .name = name,
				      .tu_name = ""});
	map_table_encode(&t, &blob);
	ck_assert_int_eq(store_put_table(ms.store, m->row.id, &id, blob.p, blob.n, &e), 0);
	buf_free(&blob);
	map_table_free(&t);
}

START_TEST(maps_stay_with_their_owner)
{
	uv_loop_t *loop = uv_default_loop();
	struct module *m;

	put_long_table();
	ms.pool.loop = loop;
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_LOADING);
	fake_file(priv, "/known/prog", _i ? 1001 : 0, 7);
	learn("/known/prog", &id);
	uv_run(loop, UV_RUN_DEFAULT);
	m = modules_of_path(&ms, "/known/prog");
	ck_assert_uint_eq(m->row.uid, _i ? 1001 : 0);
	ck_assert_uint_eq(m->builds.build.n, _i ? 0 : 1);
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
	f = origin_func(&m->builds.origin.v[0], &m->profile.now, 1);
	ck_assert_str_eq(f->name, "g");
	profile_add(f, 1, 42, at(1000));
	ck_assert_int_eq(module_save(&ms, m, &e), 0);
	ms.memory.bytes += (size_t)MODULES_MEMORY; /* as if others took it all */
	modules_trim(&ms, m);
	ck_assert(m->memory.loaded);
	modules_trim(&ms, NULL);
	ck_assert(!m->memory.loaded);
	ms.memory.bytes -= (size_t)MODULES_MEMORY;
	ck_assert_uint_eq(ms.memory.bytes, 0);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert_double_eq(origin_func(&m->builds.origin.v[0], &m->profile.now, 1)->block[1], 42);
	ck_assert(!m->profile.now.func.v[0].dirty &&
		  !m->profile.now.func.v[1].dirty); /* nothing to write */
}
END_TEST

/* What functions had that are others now is kept, to be carried over; also where nothing of it was
 * in memory. */
START_TEST(a_program_changes_while_it_is_not_loaded)
{
	struct fake_file *file = fake_file(priv, "/known/prog", 0, 8);
	struct build_id eight = {1, {8}};
	struct module *m;
	char *shapes;

	ms.tables = xasprintf("%s/replay", dir);
	ck_assert_int_eq(dir_make(ms.tables, 0700, &e), 0);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	profile_add(
	    origin_func(&m->builds.origin.v[0], &m->profile.now, 0), 1, 30, modules_decay(&ms));
	profile_add(
	    origin_func(&m->builds.origin.v[0], &m->profile.now, 1), 1, 42, modules_decay(&ms));
	ck_assert_int_eq(module_save(&ms, m, &e), 0);
	shapes =
	    xasprintf("%s/%016llx-00000000-07.shapes", ms.tables, (unsigned long long)m->row.id);
	ck_assert_int_eq(publish_bytes(shapes, "", 0, 0600, &e), 0);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	fake_artifact(file, 1);
	learn("/known/prog", &eight);
	m = modules_of_path(&ms, "/known/prog");
	ck_assert(build_id_equal(&m->row.origin, &eight));
	ck_assert_int_eq(module_load(&ms, m, &e), 0);
	ck_assert_uint_eq(m->profile.now.func.n, 1);
	ck_assert_double_eq_tol(m->profile.now.func.v[0].block[1], 30, .1);
	ck_assert_double_eq_tol(
	    profile_total(&m->profile.before, modules_decay(&ms)).samples, 72, .1);
	free(shapes);
}
END_TEST

START_TEST(layout_profile)
{
	struct module *m;
	double noise;

	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	profile_add(origin_func(&m->builds.origin.v[0], &m->profile.now, 0), 0, 10, at(1000));
	ck_assert_double_eq(
	    profile_distance(&m->profile.now, &m->profile.layout, at(1000), &noise), 1);
	ck_assert_int_eq(module_set_layout(&ms, m, NULL, 7, &e), 0);
	ck_assert_double_eq(
	    profile_distance(&m->profile.now, &m->profile.layout, at(1000), &noise), 0);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	m = modules_of_path(&ms, "/known/prog");
	ck_assert_int_eq(module_load(&ms, m, &e), 0);
	ck_assert_double_eq(profile_total(&m->profile.layout, at(1000)).samples, 10);
	ck_assert_uint_eq(m->row.list, 7);
	ck_assert_int_eq(module_clear_layout(&ms, m, &e), 0);
	ck_assert_double_eq(profile_total(&m->profile.layout, at(1000)).samples, 0);
	ck_assert_uint_eq(m->row.list, 0);
}
END_TEST

/* Rows of the store, that many of a user. */
static void put_strangers(uint32_t uid, int n, bool artifact)
{
	char name[64];
	struct store_module row = {
	    .path = name, .uid = uid, .text = "", .state = MODULE_NO_ARTIFACT};

	ck_assert_int_eq(store_begin(ms.store, &e), 0);
	for (row.last_ms = 1; row.last_ms <= n; row.last_ms++) {
		snprintf(name, sizeof name, "/stranger/%u/%d", uid, (int)row.last_ms);
		row.id = module_id(name);
		row.layout_ms = artifact;
		ck_assert_int_eq(store_put_module(ms.store, &row, &e), 0);
	}
	ck_assert_int_eq(store_commit(ms.store, &e), 0);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
}

/* Who has most makes room, the longest silent first; nobody else does. */
START_TEST(the_largest_user_makes_room)
{
	struct module *m;

	put_strangers(1000, MODULES_MAX - 101, false);
	put_strangers(1001, 100, false);
	ck_assert_uint_eq(ms.module.n, MODULES_MAX);
	fake_file(priv, "/new", 1001, 7);
	learn("/new", &id);
	ck_assert_int_eq(find("/new", &id, &m), FOUND_OUTSIDE);
	ck_assert_ptr_nonnull(m);
	ck_assert_ptr_null(modules_of_path(&ms, "/stranger/1000/1"));
	ck_assert_ptr_nonnull(modules_of_path(&ms, "/stranger/1000/3000"));
	ck_assert_ptr_nonnull(modules_of_path(&ms, "/stranger/1001/1"));
	ck_assert_ptr_eq(modules_of_path(&ms, "/new"), m);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
}
END_TEST

/* A user whose modules are all laid out has none to give: theirs alone are refused. */
START_TEST(a_full_user_is_refused)
{
	put_strangers(1000, MODULES_MAX - 1, true);
	fake_file(priv, "/new", 1000, 7);
	learn("/new", &id);
	ck_assert_ptr_null(modules_of_path(&ms, "/new"));
	ck_assert_uint_eq(ms.module.n, MODULES_MAX);
}
END_TEST

/* … and keep out nobody else by that. */
START_TEST(a_user_full_of_layouts_makes_room_for_others)
{
	put_strangers(1000, MODULES_MAX - 201, true);
	put_strangers(1001, 200, true);
	fake_file(priv, "/new", 1002, 7);
	learn("/new", &id);
	ck_assert_ptr_nonnull(modules_of_path(&ms, "/new"));
	ck_assert_ptr_null(modules_of_path(&ms, "/stranger/1000/1"));
	ck_assert_ptr_nonnull(modules_of_path(&ms, "/stranger/1001/1"));
}
END_TEST

/* A row that came under an id stays that one's. */
START_TEST(no_module_takes_the_id_of_another)
{
	struct store_module row = {
	    .id = module_id("/bin/new"), .path = "/other", .uid = 1001, .text = ""};
	struct module *m;

	ck_assert_int_eq(store_put_module(ms.store, &row, &e), 0);
	ck_assert_int_eq(modules_reload(&ms, &e), 0);
	fake_artifact(fake_file(priv, "/bin/new", 1000, 7), 3);
	learn("/bin/new", &id);
	ck_assert_ptr_null(modules_of_path(&ms, "/bin/new"));
	m = modules_get(&ms, row.id);
	ck_assert_str_eq(m->row.path, "/other");
	ck_assert_uint_eq(m->row.uid, 1001);
}
END_TEST

START_TEST(looks_make_modules)
{
	struct fake_file *f = fake_file(priv, "/bin/new", 1000, 9);
	struct build_id nine = {1, {9}};
	struct module *m;

	fake_artifact(f, 3);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_OUTSIDE);
	ck_assert_int_eq(wanted, INSPECTION_FULL);
	learn("/bin/new", &nine);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_MAPPED);
	ck_assert_int_eq(wanted, INSPECTION_NOT);
	ck_assert_uint_eq(m->row.uid, 1000);
	ck_assert_uint_eq(m->profile.now.func.n, 3);
	ck_assert(module_unchanged(&ms, m));
	f->stamp.ino++;
	ck_assert(!module_unchanged(&ms, m));
	/* An inspection that nobody's samples asked for makes none. */
	fake_artifact(fake_file(priv, "/bin/other", 1000, 8), 3);
	learn("/bin/other", &nine);
	ck_assert_ptr_null(modules_of_path(&ms, "/bin/other"));
	/* Why it may not be swapped stays until the next inspection. */
	f->inspection.refused = "it has two names";
	learn("/bin/new", &nine);
	ck_assert_str_eq(m->file.refused, "it has two names");
	f->inspection.refused = "";
	learn("/bin/new", &nine);
	ck_assert_ptr_null(m->file.refused);
}
END_TEST

/* What was sampled before there was an artifact says nothing of how much of the
 * program is understood. */
START_TEST(coverage_begins_with_the_artifact)
{
	struct fake_file *f = fake_file(priv, "/bin/new", 1000, 9);
	struct build_id nine = {1, {9}};
	struct module *m;

	find("/bin/new", &nine, &m);
	learn("/bin/new", &nine);
	m = modules_of_path(&ms, "/bin/new");
	m->row.outside = 90000;
	m->row.outside_aged = 90000;
	fake_artifact(f, 3);
	learn("/bin/new", &nine);
	ck_assert_int_eq(m->row.state, MODULE_ORIGINAL);
	ck_assert_double_eq(m->row.outside_aged, 0);
	ck_assert_uint_eq(m->row.outside, 90000);
	/* Of the same artifact it counts. */
	m->row.outside_aged = 7;
	learn("/bin/new", &nine);
	ck_assert_double_eq(m->row.outside_aged, 7);
}
END_TEST

/* After 30 s again, then after twice as long each time, and shallow. */
START_TEST(vain_looks_wait_longer_each_time)
{
	static const int at[] = {30, 60, 120, 240, 480, 960, 1920, 3600, 3600};
	struct module *m;
	size_t i;

	fake_file(priv, "/bin/new", 1000, 7);
	for (i = 0; i < sizeof at / sizeof *at; i++) {
		learn("/bin/new", &id); /* at 1000 s */
		find_at("/bin/new", &id, 1000 + at[i] - 1, &m);
		ck_assert_int_eq(wanted, INSPECTION_NOT);
		find_at("/bin/new", &id, 1000 + at[i], &m);
		ck_assert_int_eq(wanted, INSPECTION_SHALLOW);
	}
}
END_TEST

/* Nothing that was known of a path is the next owner's. */
START_TEST(another_owner_starts_afresh)
{
	struct fake_file *f = fake_file(priv, "/bin/new", 1000, 9);
	struct build_id nine = {1, {9}};
	struct store_event *ev;
	struct buf made;
	struct blob table;
	struct arena a = {0};
	struct module *m;
	size_t n;

	fake_artifact(f, 3);
	learn("/bin/new", &nine);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_MAPPED);
	profile_add(origin_func(&m->builds.origin.v[0], &m->profile.now, 1), 1, 42, at(1000));
	m->row.mapped = 42;
	module_hold(&m->row, "rolled back");
	f->held = true;
	ms.tables = xasprintf("%s/replay", dir);
	made = make_table();
	table = memblob(made.p, made.n);
	module_take_table(&ms, m, &table);
	buf_free(&made);
	ck_assert(module_has_table(&ms, m));
	ck_assert_int_eq(module_save(&ms, m, &e), 0);
	f->inspection.uid = 1001;
	learn("/bin/new", &nine);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_MAPPED);
	ck_assert(!module_has_table(&ms, m));
	ck_assert_uint_eq(m->row.uid, 1001);
	ck_assert_uint_eq(m->row.mapped, 0);
	ck_assert_ptr_null(m->row.held_why);
	ck_assert(!f->held);
	ck_assert_double_eq(profile_total(&m->profile.now, at(1000)).samples, 0);
	ck_assert_int_eq(store_events(ms.store, m->row.id, -1, 10, &a, &ev, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	arena_free(&a);
}
END_TEST

START_TEST(holds_outlive_the_store)
{
	struct fake_file *f = fake_file(priv, "/bin/new", 1000, 9);
	struct build_id nine = {1, {9}};
	struct module *m;

	fake_artifact(f, 3);
	f->held = true;
	learn("/bin/new", &nine);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_MAPPED);
	ck_assert_int_eq(m->row.state, MODULE_HELD);
	ck_assert_int_eq(m->row.held_until_ms, -1);
	/* Another program is not what was held. */
	f->inspection.id.b[0] = f->inspection.origin.b[0] = 10;
	learn("/bin/new", &nine);
	ck_assert_int_eq(m->row.state, MODULE_ORIGINAL);
	ck_assert(!f->held);
}
END_TEST

/* What an inspector says may be anything. */
START_TEST(garbled_answers_are_no_artifact)
{
	static const struct {
		size_t table, map; /* bytes that are left */
	} cut[] = {{0, 99999}, {9, 99999}, {99999, 0}, {99999, 9}};
	struct fake_file *f = fake_file(priv, "/bin/new", 1000, 9);
	struct build_id nine = {1, {9}};
	struct module *m;

	fake_artifact(f, 3);
	if (f->inspection.ntable > cut[_i].table)
		f->inspection.ntable = cut[_i].table;
	if (f->inspection.nmap > cut[_i].map)
		f->inspection.nmap = cut[_i].map;
	learn("/bin/new", &nine);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_OUTSIDE);
	ck_assert_int_eq(m->row.state, MODULE_NO_ARTIFACT);
}
END_TEST

/* A batch that names many large programs gets those that there is room for. */
START_TEST(batches_load_what_there_is_room_for)
{
	enum { FULL = 2 };
	struct module *m;

	ms.memory.bytes += FULL * (size_t)MODULES_MEMORY + 1; /* of modules that batches touched */
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_LOADING);
	ck_assert(!m->memory.loaded && !m->builds.build.n);
	ms.memory.bytes -= FULL * (size_t)MODULES_MEMORY + 1;
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	/* What is not saved yet is not freed. */
	m->memory.touched = true;
	ms.memory.bytes += MODULES_MEMORY;
	modules_trim(&ms, NULL);
	ck_assert(m->memory.loaded);
	m->memory.touched = false;
	modules_trim(&ms, NULL);
	ck_assert(!m->memory.loaded);
	ms.memory.bytes -= MODULES_MEMORY;
}
END_TEST

/* The pool loads one large build of a user at a time. */
START_TEST(one_users_builds_wait_for_each_other)
{
	uv_loop_t loop;
	struct module *m = modules_of_path(&ms, "/known/prog");

	uv_loop_init(&loop);
	ms.pool.loop = &loop;
	m->memory.large = true;
	ms.memory.loading[0] = m->row.uid;
	ms.memory.nloading = 1;
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_LOADING);
	ck_assert(!m->memory.loading && !m->builds.build.n);
	ms.memory.loading[0] = m->row.uid + 1;
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert(!m->memory.large);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	ms.pool.loop = NULL;
}
END_TEST

/* A table of a few bytes that represents gigabytes of counters. */
START_TEST(giants_are_refused)
{
	static char name[MAP_NAME_MAX + 2];
	struct fake_file *f = fake_file(priv, "/bin/new", 1000, 9);
	struct build_id nine = {1, {9}};
	struct map_table t = {0};
	struct module *m;

	fake_artifact(f, 3);
	map_table_add(&t, &(struct map_func){
			      .tu = 1, .nblock = MODULE_BLOCKS_MAX + 1, .name = "", .tu_name = ""});
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	f->table.n = 0;
	map_table_encode(&t, &f->table);
	f->inspection.table = f->table.p;
	f->inspection.ntable = f->table.n;
	learn("/bin/new", &nine);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_OUTSIDE);
	ck_assert_ptr_nonnull(strstr(m->row.text, "more than"));
	map_table_free(&t);
	/* And a name of a size that each line of a profile would have. */
	memset(name, 'x', sizeof name - 1);
	t = (struct map_table){0};
	map_table_add(&t, &(struct map_func){.tu = 1, .nblock = 1, .name = name, .tu_name = ""});
	f->table.n = 0;
	map_table_encode(&t, &f->table);
	f->inspection.table = f->table.p;
	f->inspection.ntable = f->table.n;
	learn("/bin/new", &nine);
	ck_assert_ptr_nonnull(strstr(m->row.text, "a name of more than"));
	map_table_free(&t);
	/* Before the first byte is decoded. */
	f->inspection.nmap = MODULE_BYTES_MAX + 1;
	learn("/bin/new", &nine);
	ck_assert_ptr_nonnull(strstr(m->row.text, "bytes there is room for"));
}
END_TEST

/* Another user's file with a copied build-id changes nothing here. */
START_TEST(copied_build_ids_have_tables_of_their_own)
{
	struct fake_file *f = fake_file(priv, "/bob/copy", 1001, 7);
	struct module *m;

	fake_artifact(f, 1);
	learn("/bob/copy", &id);
	ck_assert_int_eq(find("/bob/copy", &id, &m), FOUND_MAPPED);
	ck_assert_uint_eq(m->profile.now.func.n, 1);
	ck_assert_int_eq(find("/known/prog", &id, &m), FOUND_MAPPED);
	ck_assert_uint_eq(m->profile.now.func.n, 2);
}
END_TEST

START_TEST(what_was_swapped_in_is_known_at_once)
{
	struct fake_file *f = fake_file(priv, "/bin/new", 1000, 9);
	struct build_id nine = {1, {9}}, ten = {1, {10}};
	struct module *m;

	fake_artifact(f, 3);
	learn("/bin/new", &nine);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_MAPPED);
	ck_assert_msg(!module_place(&ms, m, &ten, f->map.p, f->map.n, 2000, &e), "%s", e.text);
	ck_assert_int_eq(m->row.state, MODULE_LAID_OUT);
	ck_assert_int_eq(find("/bin/new", &ten, &m), FOUND_MAPPED);
	ck_assert_int_eq(find("/bin/new", &nine, &m), FOUND_MAPPED); /* still runs */
	ck_assert(!module_unchanged(&ms, m));
	ck_assert_msg(!module_place(&ms, m, &nine, NULL, 0, 3000, &e), "%s", e.text);
	ck_assert_int_eq(m->row.state, MODULE_ORIGINAL);
}
END_TEST

UNIT_MAIN("modules", 60, setup, teardown, known_builds_are_found,
    replay_tables_come_with_their_module, tables_stay_with_their_owner,
    UNIT_LOOP(maps_stay_with_their_owner, 2), UNIT_LOOP(odd_paths_are_outside, 9),
    ignored_are_outside, profiles_come_back_after_unloading,
    a_program_changes_while_it_is_not_loaded, layout_profile, the_largest_user_makes_room,
    a_full_user_is_refused, a_user_full_of_layouts_makes_room_for_others,
    no_module_takes_the_id_of_another, looks_make_modules, coverage_begins_with_the_artifact,
    vain_looks_wait_longer_each_time, another_owner_starts_afresh, holds_outlive_the_store,
    UNIT_LOOP(garbled_answers_are_no_artifact, 4), giants_are_refused,
    batches_load_what_there_is_room_for, one_users_builds_wait_for_each_other,
    copied_build_ids_have_tables_of_their_own, what_was_swapped_in_is_known_at_once)
