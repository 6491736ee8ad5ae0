#include "managerd/store/addresses.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[80];
static struct store *s;
static struct err e;
static const struct address_calls no_calls;
static struct arena mem;

static void setup(void)
{
	strcpy(dir, "/tmp/morph-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/morph.db", dir);
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
}

static void teardown(void)
{
	store_close(s);
	arena_free(&mem);
	dir_remove(dir, NULL);
}

static void reopen(void)
{
	store_close(s);
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
}

static struct build_id bid(const char *hex)
{
	struct build_id id;

	build_id_parse(hex, &id);
	return id;
}

static struct store_module module(const char *p)
{
	return (struct store_module){.id = module_id(p),
	    .path = p,
	    .uid = 1000,
	    .state = MODULE_LAID_OUT,
	    .text = "t",
	    .artifact = "/a.morph",
	    .current = bid("aabb"),
	    .origin = bid("cc"),
	    .first_ms = 1,
	    .last_ms = 2,
	    .layout_ms = 3,
	    .held_until_ms = -1,
	    .held_why = "why",
	    .mapped = 10,
	    .stale = 11,
	    .outside = 12,
	    .outside_aged = 1.5,
	    .outside_ms = 4,
	    .predicted = true,
	    .estimate = {0.25, 0.125, 0.5, 0.0625, 3000},
	    .taken_before = 9,
	    .taken_after = 8,
	    .predicted_ms = 5,
	    .samples = 2.5,
	    .squares = 1.25,
	    .list = UINT64_MAX - 1,
	    .samples_ms = 6,
	    .fetch_ms = 7,
	    .fetch_tries = 3,
	    .fetch_why = "no server has it",
	    .lift_why = "it is packed"};
}

static void put(const char *p)
{
	struct store_module m = module(p);

	ck_assert_msg(store_put_module(s, &m, &e) == 0, "%s", e.text);
}

static int account(uint64_t session, uint64_t seq, uint64_t mapped)
{
	struct accounting a = {.taken = mapped + 15,
	    .mapped = mapped,
	    .stale = 1,
	    .dropped = 2,
	    .kernel = 3,
	    .no_build_id = 4,
	    .no_artifact = 5};

	return store_account(s, session, seq, 1000, &a, &e);
}

static struct decay at(int64_t now_ms)
{
	return (struct decay){now_ms, 10};
}

START_TEST(accounting_adds_up_and_stays)
{
	struct accounting a;

	ck_assert_int_eq(account(UINT64_MAX, 1, 100), 0);
	ck_assert_int_eq(account(UINT64_MAX, 2, 50), 0);
	reopen();
	ck_assert_int_eq(store_accounting(s, &a, &e), 0);
	ck_assert_uint_eq(a.batches, 2);
	ck_assert_uint_eq(a.mapped, 150);
	ck_assert_uint_eq(a.taken, a.mapped + accounting_outside(&a) + a.stale + a.dropped);
	ck_assert_int_eq(store_seen(s, UINT64_MAX, 2, &e), 1);
	ck_assert_int_eq(store_seen(s, UINT64_MAX, 3, &e), 0);
	ck_assert_int_eq(store_seen(s, 1, 2, &e), 0);
}
END_TEST

START_TEST(sums_that_do_not_add_up_are_refused)
{
	struct accounting a = {.taken = 5, .mapped = 4};

	ck_assert_int_eq(store_account(s, 1, 1, 0, &a, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, path));
}
END_TEST

START_TEST(a_batch_counts_once)
{
	ck_assert_int_eq(account(7, 1, 100), 0);
	ck_assert_int_eq(account(7, 1, 100), -1);
}
END_TEST

START_TEST(rollback_leaves_nothing)
{
	struct accounting a;

	ck_assert_int_eq(store_begin(s, &e), 0);
	ck_assert_int_eq(account(7, 1, 100), 0);
	store_rollback(s);
	store_rollback(s);
	ck_assert_int_eq(store_seen(s, 7, 1, &e), 0);
	ck_assert_int_eq(store_accounting(s, &a, &e), 0);
	ck_assert_uint_eq(a.taken, 0);
}
END_TEST

START_TEST(modules_as_they_were_put)
{
	struct store_module *m, want = module("/bin/b");
	size_t n;

	put("/bin/a");
	want.mapped = 99;
	want.held_why = NULL;
	want.artifact = NULL;
	ck_assert_int_eq(store_put_module(s, &want, &e), 0);
	put("/bin/a");
	ck_assert_int_eq(store_modules(s, 0, &mem, &m, &n, &e), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(m[0].path, "/bin/b");
	ck_assert_ptr_null(m[0].held_why);
	ck_assert_ptr_null(m[0].artifact);
	ck_assert_int_eq(store_modules(s, module_id("/bin/a"), &mem, &m, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	want = module("/bin/a");
	ck_assert_uint_eq(m->id, want.id);
	ck_assert_str_eq(m->artifact, "/a.morph");
	ck_assert_str_eq(m->held_why, "why");
	ck_assert(build_id_equal(&m->current, &want.current));
	ck_assert(build_id_equal(&m->origin, &want.origin));
	ck_assert_int_eq(m->held_until_ms, -1);
	ck_assert_uint_eq(m->stale, 11);
	ck_assert_double_eq(m->outside_aged, 1.5);
	ck_assert_double_eq(m->samples, 2.5);
	ck_assert_int_eq(m->samples_ms, 6);
	ck_assert_uint_eq(m->list, UINT64_MAX - 1);
	ck_assert_int_eq(m->fetch_ms, 7);
	ck_assert_int_eq(m->fetch_tries, 3);
	ck_assert_str_eq(m->fetch_why, "no server has it");
	ck_assert_str_eq(m->lift_why, "it is packed");
	ck_assert(m->predicted);
	ck_assert_double_eq(m->estimate.gain, 0.25);
	ck_assert_double_eq(m->estimate.low, 0.125);
	ck_assert_double_eq(m->estimate.high, 0.5);
	ck_assert_double_eq(m->estimate.missed, 0.0625);
	ck_assert_double_eq(m->estimate.samples, 3000);
	ck_assert_int_eq(m->predicted_ms, 5);
	ck_assert_int_eq(store_modules(s, 4711, &mem, &m, &n, &e), 0);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(builds_and_tables)
{
	struct store_build b = {.module = module_id("/bin/a"),
			       .id = bid("0102"),
			       .origin = bid("0102"),
			       .kind = BUILD_ORIGINAL,
			       .state = BUILD_CURRENT,
			       .made_ms = 1,
			       .bytes = 5,
			       .map = "map",
			       .nmap = 3},
			   *out;
	struct buf table = {0};
	struct build_id unknown = bid("ff");
	size_t n;

	put("/bin/a");
	ck_assert_int_eq(store_put_build(s, &b, &e), 0);
	b.id = bid("03");
	b.kind = BUILD_LAID_OUT;
	b.made_ms = 2;
	ck_assert_int_eq(store_put_build(s, &b, &e), 0);
	ck_assert_int_eq(store_set_build_state(s, b.module, &b.origin, BUILD_KEPT, &e), 0);
	ck_assert_int_eq(store_builds(s, b.module, NULL, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert(build_id_equal(&out[0].id, &b.id));
	ck_assert_int_eq(out[1].state, BUILD_KEPT);
	ck_assert_ptr_null(out[0].map);
	ck_assert_int_eq(store_builds(s, b.module, &b.id, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(out->nmap, 3);
	ck_assert_mem_eq(out->map, "map", 3);
	ck_assert_int_eq(store_builds(s, b.module, &unknown, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(store_put_table(s, b.module, &b.origin, "tab", 3, &e), 0);
	ck_assert_int_eq(store_table(s, b.module, &b.origin, &table, &e), 1);
	ck_assert_str_eq(buf_cstr(&table), "tab");
	ck_assert_int_eq(store_same_table(s, b.module, &b.origin, "tab", 3, &e), 1);
	ck_assert_int_eq(store_same_table(s, b.module, &b.origin, "ta", 2, &e), 0);
	ck_assert_int_eq(store_same_table(s, b.module, &unknown, "tab", 3, &e), 0);
	ck_assert_int_eq(store_table(s, b.module, &unknown, &table, &e), 0);
	buf_free(&table);
	b.module = 4711;
	ck_assert_int_eq(store_put_build(s, &b, &e), -1); /* of no module */
}
END_TEST

START_TEST(past_builds_are_bounded)
{
	struct store_build b = {.module = module_id("/bin/a"), .map = "map", .nmap = 3}, *out;
	struct buf table = {0};
	uint8_t i;
	size_t n;

	put("/bin/a");
	for (i = 0; i < 10; i++) {
		b.id = b.origin = (struct build_id){1, {i}};
		b.state = i ? BUILD_PAST : BUILD_KEPT;
		b.made_ms = i;
		ck_assert_int_eq(store_put_build(s, &b, &e), 0);
		ck_assert_int_eq(store_put_table(s, b.module, &b.id, "tab", 3, &e), 0);
	}
	ck_assert_int_eq(store_prune_builds(s, b.module, 4, &e), 0);
	ck_assert_int_eq(store_builds(s, b.module, NULL, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(out[3].id.b[0], 6);
	ck_assert_int_eq(out[4].state, BUILD_KEPT);
	b.id.b[0] = 5;
	ck_assert_int_eq(store_table(s, b.module, &b.id, &table, &e), 0);
	b.id.b[0] = 6;
	ck_assert_int_eq(store_table(s, b.module, &b.id, &table, &e), 1);
	buf_free(&table);
}
END_TEST

START_TEST(modules_go_with_all_there_is_of_them)
{
	uint64_t id = module_id("/bin/a");
	struct hash128 k = hash_bytes("f", 1);
	struct store_build b = {.module = id, .id = {1, {5}}, .origin = {1, {5}}};
	struct store_event ev = {.module = id, .kind = EVENT_LEARNED, .text = ""};
	struct decision d = {.verdict = VERDICT_WAIT, .rung = RUNG_COVERAGE};
	struct profile p = {0}, q;
	struct store_module *m;
	struct store_event *left;
	struct buf table = {0};
	size_t n;

	put("/bin/a");
	put("/bin/b");
	profile_add(profile_put(&p, &k, "f", "a.c", NULL, 3), 2, 7.5, at(1000));
	ck_assert_int_eq(store_save_profile(s, id, PROFILE_NOW, &p, &e), 0);
	ck_assert_int_eq(store_put_build(s, &b, &e), 0);
	ck_assert_int_eq(store_put_table(s, id, &b.id, "tab", 3, &e), 0);
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ck_assert_int_eq(store_put_decision(s, id, 100, &d, &e), 0);
	ck_assert_msg(!store_drop_module(s, id, &e), "%s", e.text);
	put("/bin/a");
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	ck_assert_uint_eq(q.func.n, 0);
	ck_assert_int_eq(store_table(s, id, &b.id, &table, &e), 0);
	ck_assert_int_eq(store_events(s, id, -1, 10, &mem, &left, &n, &e), 0);
	ck_assert_uint_eq(n, 0);
	profile_free(&p);
	profile_free(&q);
	ck_assert_int_eq(store_drop_module(s, id, &e), 0);
	ck_assert_int_eq(store_modules(s, 0, &mem, &m, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(m->path, "/bin/b");
}
END_TEST

START_TEST(profiles)
{
	uint64_t id = module_id("/bin/a");
	struct profile p = {0}, q;
	struct hash128 k = hash_bytes("f", 1), l = hash_bytes("g", 1);
	struct profile_func *f;

	put("/bin/a");
	profile_add(profile_put(&p, &k, "f", "a.c", NULL, 3), 2, 7.5, at(1000));
	profile_add(profile_put(&p, &l, "g", "a.c", "odd", 1), 0, 1, at(1000));
	ck_assert_int_eq(store_save_profile(s, id, PROFILE_NOW, &p, &e), 0);
	ck_assert(!p.func.v[0].dirty);
	p.func.v[0].block[2] = 1; /* not dirty: not written */
	ck_assert_int_eq(store_save_profile(s, id, PROFILE_NOW, &p, &e), 0);
	reopen();
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	ck_assert_uint_eq(q.func.n, 2);
	f = profile_get(&q, &k);
	ck_assert_uint_eq(f->nblock, 3);
	ck_assert_double_eq(f->block[2], 7.5);
	ck_assert_int_eq(f->as_of_ms, 1000);
	ck_assert_ptr_null(f->opaque);
	ck_assert_str_eq(profile_get(&q, &l)->opaque, "odd");
	profile_free(&q);
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_LAYOUT, &q, &e), 0);
	ck_assert_uint_eq(q.func.n, 0);
	ck_assert_int_eq(store_clear_profile(s, id, PROFILE_NOW, &e), 0);
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	ck_assert_uint_eq(q.func.n, 0);
	profile_free(&p);
}
END_TEST

START_TEST(outcomes_and_calls_stay)
{
	uint64_t id = module_id("/bin/a");
	struct hash128 k = hash_bytes("f", 1), l = hash_bytes("g", 1);
	struct profile p = {0}, q;
	struct profile_func *f;

	put("/bin/a");
	f = profile_put(&p, &k, "f", "a.c", NULL, 3);
	profile_add_edge(f, 2, 1, 7.25, at(1000));
	profile_add_edge(f, 0, 1, 3, at(1000));
	profile_add_predecessor(f, 1, 2, 4.5, at(1000));
	profile_add_predecessor(f, 1, PROFILE_UNRESOLVED, 2, at(1000));
	profile_add_call(f, 1, &l, 5, at(1000));
	ck_assert_int_eq(store_save_profile(s, id, PROFILE_NOW, &p, &e), 0);
	reopen();
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	f = profile_get(&q, &k);
	ck_assert_uint_eq(f->edge.n, 2);
	ck_assert_uint_eq(f->edge.v[1].block, 2);
	ck_assert_uint_eq(f->edge.v[1].to, 1);
	ck_assert_double_eq(f->edge.v[1].n, 7.25);
	ck_assert_uint_eq(f->predecessors.n, 2);
	ck_assert_uint_eq(f->predecessors.v[0].block, 1);
	ck_assert_uint_eq(f->predecessors.v[0].to, 2);
	ck_assert_double_eq(f->predecessors.v[0].n, 4.5);
	ck_assert_uint_eq(f->predecessors.v[1].to, PROFILE_UNRESOLVED);
	ck_assert_uint_eq(f->call.n, 1);
	ck_assert_uint_eq(f->call.v[0].block, 1);
	ck_assert(hash_equal(&f->call.v[0].callee, &l));
	ck_assert_double_eq(f->call.v[0].n, 5);
	ck_assert_int_eq(f->as_of_ms, 1000);
	ck_assert(!f->dirty);
	profile_free(&p);
	profile_free(&q);
}
END_TEST

static void sql(const char *text)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Of a module, 7.5 samples in block 2; closes the store. */
static void save_one_function(uint64_t id, const struct hash128 *k, struct profile *p)
{
	put("/bin/a");
	profile_add(profile_put(p, k, "f", "a.c", NULL, 3), 2, 7.5, at(1000));
	ck_assert_int_eq(store_save_profile(s, id, PROFILE_NOW, p, &e), 0);
	store_close(s);
}

/* Up to schema 11. */
#define NO_GAINS "DROP TABLE gains;"
/* Up to schema 10. */
#define NO_LIFTS \
	NO_GAINS "ALTER TABLE modules DROP COLUMN lift_why; ALTER TABLE modules DROP COLUMN list;"
/* Up to schema 8. */
#define NO_ADDRESSES \
	NO_LIFTS "DROP TABLE addresses; DROP TABLE address_files; DROP TABLE address_batches;"
/* Up to schema 7. */
#define NO_SQUARES NO_ADDRESSES "ALTER TABLE modules DROP COLUMN squares;"
/* Up to schema 6. */
#define NO_ESTIMATES \
	"ALTER TABLE modules DROP COLUMN gain_low; ALTER TABLE modules DROP COLUMN gain_high;" \
	"ALTER TABLE modules DROP COLUMN gain_missed;" \
	"ALTER TABLE modules DROP COLUMN gain_samples;" NO_SQUARES
/* Up to schema 3. */
#define NO_SUMS \
	NO_ESTIMATES \
	"ALTER TABLE modules DROP COLUMN samples; ALTER TABLE modules DROP COLUMN samples_ms;" \
	"ALTER TABLE modules DROP COLUMN fetch_ms; ALTER TABLE modules DROP COLUMN fetch_tries;" \
	"ALTER TABLE modules DROP COLUMN fetch_why; DROP TABLE trials;"

/* A store of schema 1 is the present one without four columns. */
START_TEST(an_earlier_store_is_brought_up)
{
	struct hash128 k = hash_bytes("f", 1);
	uint64_t id = module_id("/bin/a");
	struct profile p = {0}, q;
	struct buf table = {0};

	save_one_function(id, &k, &p);
	sql("ALTER TABLE profile DROP COLUMN edges; ALTER TABLE profile DROP COLUMN calls;"
	    "DROP INDEX events_when; DROP TABLE tables;"
	    "CREATE TABLE tables (origin BLOB PRIMARY KEY, data BLOB NOT NULL);"
	    "INSERT INTO tables VALUES (x'0b', 'tab');"
	    "INSERT INTO builds SELECT id, x'0c', x'0b', 1, 0, 0, 0, '' FROM modules;" NO_SUMS
	    "PRAGMA user_version = 1");
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(store_table(s, id, &(struct build_id){1, {11}}, &table, &e), 1);
	ck_assert_uint_eq(table.n, 3);
	buf_free(&table);
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	ck_assert_double_eq(profile_get(&q, &k)->block[2], 7.5);
	profile_free(&q);
	profile_add_edge(p.func.v, 0, 1, 3, at(1000));
	ck_assert_int_eq(store_save_profile(s, id, PROFILE_NOW, &p, &e), 0);
	reopen();
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	ck_assert_uint_eq(q.func.v[0].edge.n, 1);
	profile_free(&p);
	profile_free(&q);
}
END_TEST

static int files(const char *prefix)
{
	DIR *d = opendir(dir);
	struct dirent *f;
	int n = 0;

	while ((f = readdir(d)))
		n += strncmp(f->d_name, prefix, strlen(prefix)) == 0;
	closedir(d);
	return n;
}

/* Nobody constructs a path with another one's id. */
START_TEST(ids_are_of_a_cryptographic_hash)
{
	struct hash128 h = hash_bytes("/bin/a", 6);

	ck_assert_uint_ne(module_id("/bin/a"), hash_short(&h));
	ck_assert_uint_eq(module_id("/bin/a"), UINT64_C(0xc35679b7a4e438a4));
}
END_TEST

/* Up to schema 3 they were; all that is known of a module goes with it. */
START_TEST(modules_of_an_earlier_store_get_their_ids)
{
	struct hash128 h = hash_bytes("/bin/a", 6), k = hash_bytes("f", 1);
	uint64_t id = module_id("/bin/a");
	struct store_build b = {.module = id, .id = {1, {5}}, .origin = {1, {5}}}, *build;
	struct store_event ev = {.module = id, .kind = EVENT_LEARNED, .text = ""}, *event;
	struct decision d = {.verdict = VERDICT_WAIT,
	    .rung = RUNG_COVERAGE,
	    .step = {[RUNG_COVERAGE] = {.outcome = OUTCOME_STOPPED}}};
	struct store_decision last;
	struct profile p = {0}, q;
	struct store_module *m;
	struct buf table = {0};
	char text[1500];
	size_t n;

	put("/bin/b");
	put("/bin/a");
	ck_assert_int_eq(store_put_build(s, &b, &e), 0);
	ck_assert_int_eq(store_put_table(s, id, &b.id, "tab", 3, &e), 0);
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ck_assert_int_eq(store_put_decision(s, id, 100, &d, &e), 0);
	save_one_function(id, &k, &p);
	snprintf(text, sizeof text,
	    "CREATE TABLE old AS SELECT %lld AS x, %lld AS y;"
	    "UPDATE modules SET id = x FROM old WHERE id = y;"
	    "UPDATE builds SET module = x FROM old; UPDATE tables SET module = x FROM old;"
	    "UPDATE profile SET module = x FROM old; UPDATE decisions SET module = x FROM old;"
	    "UPDATE rungs SET module = x FROM old; UPDATE events SET module = x FROM old;"
	    "DELETE FROM rungs WHERE rung > 3; UPDATE rungs SET rung = 4 WHERE rung = 3;"
	    "UPDATE decisions SET rung = 4 WHERE rung = 3;"
	    "DROP TABLE old;" NO_SUMS "PRAGMA user_version = 3",
	    (long long)hash_short(&h), (long long)id);
	sql(text);
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(store_modules(s, id, &mem, &m, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(m->path, "/bin/a");
	ck_assert_int_eq(store_table(s, id, &b.id, &table, &e), 1);
	ck_assert_int_eq(store_builds(s, id, NULL, &mem, &build, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(store_events(s, id, -1, 10, &mem, &event, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(store_last_decision(s, id, &mem, &last, &e), 1);
	ck_assert_int_eq(last.rung, RUNG_COVERAGE);
	ck_assert_int_eq(last.step[RUNG_COVERAGE].outcome, OUTCOME_STOPPED);
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	ck_assert_uint_eq(q.func.n, 1);
	ck_assert_int_eq(store_modules(s, 0, &mem, &m, &n, &e), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(files("morph.db.bad-"), 0);
	buf_free(&table);
	profile_free(&p);
	profile_free(&q);
}
END_TEST

START_TEST(a_store_without_addresses_is_brought_up)
{
	struct hash128 k = hash_bytes("f", 1);
	struct address_range all = {0, INT64_MAX / 2};
	struct address_part part = {.file = {.path = "/x", .samples = 1}};
	struct address_file *f;
	struct profile p = {0};
	size_t n;

	save_one_function(module_id("/bin/a"), &k, &p);
	sql(NO_ADDRESSES "PRAGMA user_version = 8");
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(files("morph.db.bad-"), 0);
	ck_assert_int_eq(store_add_addresses(s, 1000, 1, &part, 1, &no_calls, &e), 0);
	ck_assert_int_eq(store_address_sums(s, &all, 0, &mem, &f, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	profile_free(&p);
}
END_TEST

START_TEST(a_store_without_calls_is_brought_up)
{
	struct address_range all = {0, INT64_MAX / 2};
	struct address_part part = {.file = {.path = "/x", .samples = 1}};
	struct hash128 k = hash_bytes("f", 1);
	struct address_file *f;
	struct profile p = {0};
	size_t n;

	ck_assert_int_eq(store_add_addresses(s, 1000, 1, &part, 1, &no_calls, &e), 0);
	save_one_function(module_id("/bin/a"), &k, &p);
	sql(NO_LIFTS
	    "ALTER TABLE addresses DROP COLUMN calls; ALTER TABLE address_batches DROP COLUMN "
	    "calls;"
	    "PRAGMA user_version = 9");
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(files("morph.db.bad-"), 0);
	ck_assert_int_eq(store_add_addresses(s, 1000, 1, &part, 1, &no_calls, &e), 0);
	ck_assert_int_eq(store_address_sums(s, &all, 0, &mem, &f, &n, &e), 0);
	ck_assert(n == 1 && f->samples == 2);
	profile_free(&p);
}
END_TEST

START_TEST(a_store_without_lists_is_brought_up)
{
	struct hash128 k = hash_bytes("f", 1);
	struct profile p = {0};
	struct store_module *m;
	size_t n;

	save_one_function(module_id("/bin/a"), &k, &p);
	sql(NO_LIFTS "PRAGMA user_version = 10");
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(store_modules(s, 0, &mem, &m, &n, &e), 0);
	ck_assert(n == 1 && !m->list && m->squares > 0);
	profile_free(&p);
}
END_TEST

START_TEST(gains_of_a_module_are_its_last)
{
	struct store_gain g = {.at_ms = 5,
			      .cpu = UINT64_MAX,
			      .edit = {module_id("/bin/a"), {1, 2, 3}, {4, 5, 6}, 0, 0.5}},
			  *have;
	uint64_t b = module_id("/bin/b");
	size_t n;
	int i;

	put("/bin/a");
	put("/bin/b");
	for (i = 0; i < 5; i++) {
		g.edit.gain = i;
		ck_assert_int_eq(store_put_gain(s, &g, 3, &e), 0);
		g.edit.program ^= module_id("/bin/a") ^ b;
	}
	reopen();
	ck_assert_int_eq(store_gains(s, &mem, &have, &n, &e), 0);
	ck_assert_uint_eq(n, 5); /* 0, 2, 4 and 1, 3 */
	g.edit.program = b;
	ck_assert_int_eq(store_put_gain(s, &g, 1, &e), 0);
	ck_assert_int_eq(store_gains(s, &mem, &have, &n, &e), 0);
	ck_assert_uint_eq(n, 4);
	ck_assert_mem_eq(&have[3], &g, sizeof g);
	ck_assert_double_eq(have[0].edit.gain, 0);
	ck_assert_int_eq(store_drop_module(s, b, &e), 0);
	ck_assert_int_eq(store_gains(s, &mem, &have, &n, &e), 0);
	ck_assert_uint_eq(n, 3);
}
END_TEST

START_TEST(a_store_without_gains_is_brought_up)
{
	struct hash128 k = hash_bytes("f", 1);
	struct store_gain *have;
	struct profile p = {0};
	size_t n;

	save_one_function(module_id("/bin/a"), &k, &p);
	sql(NO_GAINS "PRAGMA user_version = 11");
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(files("morph.db.bad-"), 0);
	ck_assert_int_eq(store_gains(s, &mem, &have, &n, &e), 0);
	ck_assert_uint_eq(n, 0);
	profile_free(&p);
}
END_TEST

/* What is not of its form does not come in. */
START_TEST(damaged_outcomes_are_left_out)
{
	struct hash128 k = hash_bytes("f", 1);
	uint64_t id = module_id("/bin/a");
	struct profile p = {0}, q;

	save_one_function(id, &k, &p);
	sql("UPDATE profile SET edges = x'03000000000000000000000000000840"
	    "0000000003000000000000000000084000000000010000000000000000000840ff',"
	    " calls = x'0900000000112233445566778899aabbccddeeff0000000000000840'");
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(store_load_profile(s, id, PROFILE_NOW, &q, &e), 0);
	ck_assert_uint_eq(q.func.v[0].edge.n, 1);
	ck_assert_double_eq(q.func.v[0].edge.v[0].n, 3);
	ck_assert_uint_eq(q.func.v[0].call.n, 0);
	profile_free(&p);
	profile_free(&q);
}
END_TEST

START_TEST(unchanged_decisions_are_one_row)
{
	uint64_t id = module_id("/bin/a");
	struct decision d = {.verdict = VERDICT_WAIT, .rung = RUNG_COVERAGE, .text = "1 sample"};
	struct store_decision *out, last;
	size_t n;

	put("/bin/a");
	ck_assert_int_eq(store_last_decision(s, id, &mem, &last, &e), 0);
	d.step[RUNG_COVERAGE] = (struct rung_step){OUTCOME_STOPPED, true, 1, 3000, "1 sample"};
	ck_assert_int_eq(store_put_decision(s, id, 100, &d, &e), 0);
	strcpy(d.text, "2 samples");
	ck_assert_int_eq(store_put_decision(s, id, 200, &d, &e), 0);
	d.rung = RUNG_NONE;
	d.verdict = VERDICT_EDIT;
	ck_assert_int_eq(store_put_decision(s, id, 300, &d, &e), 0);
	ck_assert_int_eq(store_put_decision(s, id, 400, &d, &e), 0); /* each edit is one */
	ck_assert_int_eq(store_decisions(s, 0, -1, 10, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_int_eq(out[0].verdict, VERDICT_EDIT);
	ck_assert_str_eq(out[2].text, "2 samples");
	ck_assert_uint_eq(out[2].times, 2);
	ck_assert_int_eq(out[2].first_ms, 100);
	ck_assert_int_eq(out[2].last_ms, 200);
	ck_assert_int_eq(store_decisions(s, 0, 1001, 10, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(store_decisions(s, id, 1000, 2, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(store_last_decision(s, id, &mem, &last, &e), 1);
	ck_assert_str_eq(last.path, "/bin/a");
	ck_assert_int_eq(last.step[RUNG_COVERAGE].outcome, OUTCOME_STOPPED);
	ck_assert_double_eq(last.step[RUNG_COVERAGE].limit, 3000);
	ck_assert_int_eq(last.step[RUNG_IDLE].outcome, OUTCOME_NOT_REACHED);
}
END_TEST

START_TEST(decisions_are_bounded)
{
	uint64_t id = module_id("/bin/a");
	struct decision d = {.verdict = VERDICT_EDIT};
	struct store_decision *out;
	size_t n;
	int i;

	put("/bin/a");
	for (i = 0; i < 300; i++)
		ck_assert_int_eq(store_put_decision(s, id, i, &d, &e), 0);
	ck_assert_int_eq(store_decisions(s, id, -1, 1000, &mem, &out, &n, &e), 0);
	ck_assert_uint_eq(n, 200);
	ck_assert_int_eq(out[0].last_ms, 299);
}
END_TEST

START_TEST(events)
{
	struct store_event ev = {.module = module_id("/bin/a"),
			       .at_ms = 10,
			       .kind = EVENT_SWAPPED,
			       .from = bid("01"),
			       .to = bid("02"),
			       .change = 12,
			       .text = "x",
			       .samples = 3,
			       .gain = NAN,
			       .seconds = 2.5,
			       .size_before = 7,
			       .size_after = 8},
			   *out;
	uint64_t n;
	size_t k;

	put("/bin/a");
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ev.kind = EVENT_ROLLED_BACK;
	ev.from = (struct build_id){0};
	ev.at_ms = 20;
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ck_assert_int_eq(store_events(s, 0, -1, 10, &mem, &out, &k, &e), 0);
	ck_assert_uint_eq(k, 2);
	ck_assert_int_eq(out[0].kind, EVENT_ROLLED_BACK);
	ck_assert_uint_eq(out[0].from.n, 0);
	ck_assert_uint_eq(out[1].change, 12);
	ck_assert(isnan(out[1].gain));
	ck_assert_double_eq(out[1].seconds, 2.5);
	ck_assert_uint_eq(out[1].size_after, 8);
	ck_assert_int_eq(store_count_events(s, 0, -1, EVENT_SWAPPED, 10, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(store_count_events(s, 0, -1, EVENT_SWAPPED, 11, &n, &e), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_str_eq(event_name(EVENT_ROLLED_BACK), "rolled-back");
}
END_TEST

START_TEST(events_of_an_owner_are_counted)
{
	struct store_module a = module("/bin/a"), b = module("/bin/b");
	struct store_event ev = {.module = a.id, .at_ms = 10, .kind = EVENT_FAILED};
	uint64_t n;

	a.uid = 1000;
	b.uid = 1001;
	ck_assert_int_eq(store_put_module(s, &a, &e), 0);
	ck_assert_int_eq(store_put_module(s, &b, &e), 0);
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ev.module = b.id;
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ck_assert_int_eq(store_count_events(s, 0, 1000, EVENT_FAILED, 10, &n, &e), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(store_count_events(s, 0, 1001, EVENT_FAILED, 10, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(store_count_events(s, 0, 0, EVENT_FAILED, 10, &n, &e), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(store_count_events(s, 0, -1, EVENT_FAILED, 10, &n, &e), 0);
	ck_assert_uint_eq(n, 3);
}
END_TEST

START_TEST(events_are_bounded)
{
	struct store_event ev = {.module = module_id("/bin/a"), .kind = EVENT_FAILED}, *out;
	uint64_t n;
	size_t k;

	put("/bin/a");
	put("/bin/b");
	ck_assert_int_eq(store_begin(s, &e), 0);
	for (ev.at_ms = 0; ev.at_ms < 5010; ev.at_ms++)
		ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ev.module = module_id("/bin/b");
	ck_assert_int_eq(store_put_event(s, &ev, &e), 0);
	ck_assert_int_eq(store_commit(s, &e), 0);
	ck_assert_int_eq(
	    store_count_events(s, module_id("/bin/a"), -1, EVENT_FAILED, 0, &n, &e), 0);
	ck_assert_uint_eq(n, 5000);
	ck_assert_int_eq(store_count_events(s, 0, -1, EVENT_FAILED, 0, &n, &e), 0);
	ck_assert_uint_eq(n, 5001);
	ck_assert_int_eq(store_events(s, module_id("/bin/a"), -1, 10000, &mem, &out, &k, &e), 0);
	ck_assert_int_eq(out[0].at_ms, 5009);
	ck_assert_int_eq(out[k - 1].at_ms, 10);
}
END_TEST

/* How many files there are whose name begins so. */
static void damage(off_t at, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, p, n, at), (ssize_t)n);
	close(fd);
}

static off_t log_size(void)
{
	struct stat st;

	ck_assert_int_eq(fstat(store_log(s), &st), 0);
	return st.st_size;
}

/* Commits a megabyte. */
static void commit_much(void)
{
	static char map[1 << 20];
	struct store_build b = {
	    .module = 9, .id = bid("0a"), .origin = bid("0a"), .map = map, .nmap = sizeof map};

	map[0]++;
	ck_assert_int_eq(store_begin(s, &e), 0);
	ck_assert_int_eq(store_put_build(s, &b, &e), 0);
	ck_assert_int_eq(store_commit(s, &e), 0);
}

START_TEST(a_checkpoint_begins_the_log_from_its_front)
{
	struct store_module m = module("/bin/a");
	unsigned i, due = 0;
	off_t size;

	m.id = 9;
	ck_assert_int_eq(store_put_module(s, &m, &e), 0);
	ck_assert(!store_checkpoint_due(s));
	for (i = 0; i < 10; i++) {
		commit_much();
		due += store_checkpoint_due(s);
	}
	ck_assert_uint_eq(due, 2);
	size = log_size();
	ck_assert_int_gt(size, 10 << 20);
	ck_assert_msg(!store_checkpoint(path, &e), "%s", e.text);
	for (i = 0; i < 8; i++) {
		commit_much();
		due += store_checkpoint_due(s);
	}
	ck_assert_uint_eq(due, 4);
	ck_assert_int_eq(log_size(), size);
	ck_assert(store_checkpoint("/nowhere/morph.db", &e));
	ck_assert_ptr_nonnull(strstr(e.text, "/nowhere/morph.db: checkpoint: "));
}
END_TEST

/* Whoever does not have it checkpointed has no log without end. */
START_TEST(the_log_is_bounded)
{
	struct store_module m = module("/bin/a");
	unsigned i;

	m.id = 9;
	ck_assert_int_eq(store_put_module(s, &m, &e), 0);
	for (i = 0; i < 100; i++)
		commit_much();
	ck_assert_int_lt(log_size(), 70 << 20);
}
END_TEST

START_TEST(damaged_store_is_moved_aside)
{
	static const char junk[8192] = "junk";
	struct accounting a;

	ck_assert_int_eq(account(7, 1, 100), 0);
	store_close(s);
	damage(_i ? 4096 : 0, junk, sizeof junk);
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_ge(files("morph.db.bad-"), 1);
	ck_assert_int_eq(store_accounting(s, &a, &e), 0);
	ck_assert_uint_eq(a.taken, 0);
	ck_assert_int_eq(account(7, 1, 100), 0);
}
END_TEST

START_TEST(other_version_is_moved_aside)
{
	store_close(s);
	damage(60, "\0\0\0\77", 4); /* user_version */
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_int_eq(files("morph.db.bad-"), 1);
}
END_TEST

START_TEST(unreadable_store_stays)
{
	store_close(s);
	unlink(path);
	ck_assert_int_eq(dir_make(path, 0700, &e), 0);
	s = store_open(path, &e);
	ck_assert_ptr_null(s);
	ck_assert_int_eq(files("morph.db.bad-"), 0);
	ck_assert_ptr_nonnull(strstr(e.text, path));
}
END_TEST

UNIT_MAIN("store", 60, setup, teardown, accounting_adds_up_and_stays,
    sums_that_do_not_add_up_are_refused, a_batch_counts_once, rollback_leaves_nothing,
    modules_as_they_were_put, builds_and_tables, past_builds_are_bounded,
    modules_go_with_all_there_is_of_them, profiles, outcomes_and_calls_stay,
    an_earlier_store_is_brought_up, ids_are_of_a_cryptographic_hash,
    modules_of_an_earlier_store_get_their_ids, a_store_without_addresses_is_brought_up,
    a_store_without_calls_is_brought_up, a_store_without_lists_is_brought_up,
    a_store_without_gains_is_brought_up, gains_of_a_module_are_its_last,
    damaged_outcomes_are_left_out, unchanged_decisions_are_one_row, decisions_are_bounded, events,
    events_of_an_owner_are_counted, events_are_bounded, a_checkpoint_begins_the_log_from_its_front,
    the_log_is_bounded, UNIT_LOOP(damaged_store_is_moved_aside, 2), other_version_is_moved_aside,
    unreadable_store_stays)
