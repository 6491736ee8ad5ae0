/* Samples by file and address in the store: periods, bounds, who gives way. */
#include "managerd/store/addresses.h"
#include "common/publish.h"
#include "managerd/store/calls.h"
#include "managerd/store/packed.h"
#include "tests/unit/unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T0 = 1767225600 }; /* 2026-01-01, s */

static char dir[64], path[80];
static struct store *s;
static struct err e;
static struct arena mem;
static struct address_policy policy;
static const struct address_calls no_calls;
static const struct address_range all = {0, INT64_MAX / 2};

static void setup(void)
{
	strcpy(dir, "/tmp/morph-addresses-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/morph.db", dir);
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	policy = (struct address_policy){14, 64 << 20};
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

static struct address_file file(const char *name, uint32_t uid)
{
	struct address_file f = {.uid = uid, .path = name, .build = {2, {1, 2}}};

	f.id = address_file_id(&f);
	return f;
}

/* n addresses from first on, 16 apart, of so many samples each. */
static void add(
    int64_t at_s, const char *name, uint32_t uid, uint64_t first, uint32_t n, uint64_t count)
{
	struct address_part p = {.file = file(name, uid), .nsample = n};
	struct wire_sample *w = xcalloc(n, sizeof *w);
	uint32_t i;

	for (i = 0; i < n; i++)
		w[i] = (struct wire_sample){first + 16 * i, count};
	p.sample = w;
	p.file.samples = n * count;
	ck_assert_msg(!store_begin(s, &e) &&
			  !store_add_addresses(s, at_s * 1000, 4000000, &p, 1, &no_calls, &e) &&
			  !store_commit(s, &e),
	    "%s", e.text);
	free(w);
}

/* All that is to be done at a time. */
static void settle(int64_t now_s)
{
	int more = 1, turns = 0;

	while (more > 0 && store_addresses_due(s, &policy, now_s * 1000)) {
		ck_assert_int_eq(store_begin(s, &e), 0);
		more = store_addresses_turn(s, &policy, now_s * 1000, &e);
		ck_assert_msg(more >= 0, "%s", e.text);
		ck_assert_int_eq(store_commit(s, &e), 0);
		ck_assert_int_lt(turns++, 20000);
	}
}

static struct address_file *files(int64_t since, int64_t until, int64_t uid, size_t *n)
{
	struct address_range r = {since, until};
	struct address_file *f;
	size_t i, all;
	int rc;

	ck_assert_msg(!store_address_sums(s, &r, 0, &mem, &f, &all, &e), "%s", e.text);
	for (i = *n = 0; i < all; i++) {
		rc = store_address_file(s, &f[i], uid, &mem, &e);
		ck_assert_int_ge(rc, 0);
		if (rc)
			f[(*n)++] = f[i];
	}
	return f;
}

static uint64_t samples_of(int64_t since, int64_t until, const char *name, uint32_t uid)
{
	struct address_file want = file(name, uid);
	size_t n, i;
	struct address_file *f = files(since, until, -1, &n);

	for (i = 0; i < n; i++)
		if (f[i].id == want.id)
			return f[i].samples;
	return 0;
}

/* Of an address; *n: how many there are. */
static uint64_t count_at(const char *name, uint32_t uid, uint64_t address, size_t *n)
{
	struct address_reader *r = store_addresses(s, &all, file(name, uid).id, &e);
	uint64_t at, count, found = 0, last = 0;

	ck_assert_msg(r != NULL, "%s", e.text);
	for (*n = 0; address_reader_next(r, &at, &count); ++*n) {
		ck_assert(!*n || at > last);
		last = at;
		if (at == address)
			found = count;
	}
	address_reader_free(r);
	return found;
}

static int64_t number(const char *query)
{
	sqlite3_stmt *st;
	sqlite3 *db;
	int64_t v;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, query, -1, &st, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

START_TEST(batches_are_there_at_once)
{
	struct address_file *f;
	size_t n;

	add(T0 + 5, "/a", 1, 0x1000, 3, 2);
	add(T0 + 6, "/a", 1, 0x1010, 1, 5);
	add(T0 + 6, "/b", 2, 0, 1, 1);
	f = files(T0, T0 + 60, -1, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(f[0].path, "/a");
	ck_assert_uint_eq(f[0].samples, 11);
	ck_assert_uint_eq(f[0].ns, 11 * 4000000);
	ck_assert_uint_eq(f[0].build.n, 2);
	ck_assert_uint_eq(count_at("/a", 1, 0x1010, &n), 7);
	ck_assert_uint_eq(n, 3);
	files(T0 + 600, T0 + 1200, -1, &n);
	ck_assert_uint_eq(n, 0);
	/* And they are the same afterwards, and after a start. */
	settle(T0 + 100);
	ck_assert_int_eq(number("SELECT count(*) FROM address_batches"), 0);
	ck_assert_uint_eq(samples_of(T0, T0 + 60, "/a", 1), 11);
	reopen();
	ck_assert_uint_eq(count_at("/a", 1, 0x1010, &n), 7);
	ck_assert_uint_eq(n, 3);
}
END_TEST

START_TEST(a_user_sees_their_own)
{
	struct address_part kernel = {
	    .file = {.kind = ADDRESS_KERNEL, .path = "[kernel]", .samples = 9}};
	struct address_file *f;
	size_t n;

	add(T0, "/a", 1, 0, 1, 1);
	add(T0, "/a", 2, 0, 1, 1);
	ck_assert_int_eq(store_add_addresses(s, T0 * 1000LL, 1000, &kernel, 1, &no_calls, &e), 0);
	f = files(T0, T0 + 60, 2, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(f[0].uid, 2);
	ck_assert_int_eq(f[1].kind, ADDRESS_KERNEL);
	ck_assert_uint_eq(f[1].samples, 9);
}
END_TEST

/* What the store knows of a build of a module. */
START_TEST(a_build_says_its_module_and_origin)
{
	struct store_module m = {
	    .id = module_id("/a"), .path = "/a", .uid = 7, .text = "", .current = {2, {1, 2}}};
	struct store_build b = {.module = m.id, .id = {2, {1, 2}}, .origin = {1, {9}}, .map = ""};
	struct address_file *f;
	size_t n;

	ck_assert_int_eq(store_put_module(s, &m, &e), 0);
	add(T0, "/a", 1, 0, 1, 1);
	f = files(T0, T0 + 60, -1, &n);
	ck_assert_uint_eq(f[0].module, 0);
	ck_assert_int_eq(store_put_build(s, &b, &e), 0);
	f = files(T0, T0 + 60, -1, &n);
	ck_assert_uint_eq(f[0].module, m.id);
	ck_assert_uint_eq(f[0].owner, 7);
	ck_assert_uint_eq(f[0].origin.b[0], 9);
}
END_TEST

static int64_t rows(int64_t span)
{
	char *query = xasprintf("SELECT count(*) FROM addresses WHERE span = %ld", (long)span);
	int64_t n = number(query);

	free(query);
	return n;
}

START_TEST(periods_become_longer)
{
	int64_t t;
	size_t n;

	for (t = T0; t < T0 + 86400; t += 600)
		add(t, "/a", 1, 0x100, 10, 1);
	settle(T0 + 86400);
	ck_assert_int_eq(rows(600), 12);
	ck_assert_int_eq(rows(3600), 22);
	ck_assert_uint_eq(samples_of(T0, T0 + 86400, "/a", 1), 144 * 10);
	ck_assert_uint_eq(samples_of(T0 + 86400 - 600, T0 + 86400, "/a", 1), 10);
	ck_assert_uint_eq(samples_of(T0 + 7200, T0 + 10800, "/a", 1), 60);
	settle(T0 + 2 * 86400);
	ck_assert_int_eq(rows(600), 0);
	ck_assert_int_eq(rows(3600), 24);
	settle(T0 + 3 * 86400);
	ck_assert_int_eq(rows(3600), 0);
	ck_assert_int_eq(rows(86400), 1);
	ck_assert_uint_eq(samples_of(T0 + 100, T0 + 200, "/a", 1), 1440);
	ck_assert_uint_eq(count_at("/a", 1, 0x110, &n), 144);
	ck_assert_uint_eq(n, 10);
	/* One that comes late is added to what is there. */
	add(T0 + 60, "/a", 1, 0x110, 1, 6);
	settle(T0 + 3 * 86400);
	ck_assert_int_eq(rows(86400), 1);
	ck_assert_uint_eq(count_at("/a", 1, 0x110, &n), 150);
}
END_TEST

START_TEST(what_is_too_old_goes)
{
	size_t n;

	add(T0, "/a", 1, 0, 10, 1);
	add(T0 + 5 * 86400, "/b", 1, 0, 10, 1);
	settle(T0 + 14 * 86400);
	files(0, T0 + 20 * 86400, -1, &n);
	ck_assert_uint_eq(n, 2);
	settle(T0 + 15 * 86400);
	ck_assert_uint_eq(samples_of(0, T0 + 20 * 86400, "/a", 1), 0);
	ck_assert_uint_eq(samples_of(0, T0 + 20 * 86400, "/b", 1), 10);
	ck_assert_int_eq(number("SELECT count(*) FROM address_files"), 1);
	/* It does not come back either. */
	add(T0, "/a", 1, 0, 10, 1);
	settle(T0 + 15 * 86400 + 100);
	ck_assert_uint_eq(samples_of(0, T0 + 20 * 86400, "/a", 1), 0);
	policy.days = 0;
	settle(T0 + 15 * 86400 + 200);
	ck_assert_int_eq(number("SELECT count(*) FROM addresses"), 0);
	ck_assert_int_eq(number("SELECT count(*) FROM address_files WHERE periods > 0"), 0);
}
END_TEST

static void put_many_files(uint32_t uid, unsigned n, int64_t at_s)
{
	char name[400];
	unsigned i;

	memset(name, 'x', sizeof name);
	for (i = 0; i < n; i++) {
		snprintf(name, 12, "/%010u", i);
		name[11] = 'x';
		name[sizeof name - 1] = '\0';
		add(at_s, name, uid, 0, 3, 1);
	}
}

static int64_t bytes(void)
{
	return number("SELECT sum(bytes) FROM addresses") +
	       number("SELECT sum(96 + length(path) + length(build)) FROM address_files");
}

START_TEST(who_has_most_gives_way)
{
	size_t n;

	policy.bytes = 1 << 20;
	add(T0, "/quiet", 2, 0x100, 1000, 3);
	put_many_files(1, 4000, T0 + 700);
	settle(T0 + 1400);
	ck_assert_int_le(bytes(), 1 << 20);
	ck_assert_int_ge(bytes(), 900000);
	ck_assert_uint_eq(samples_of(T0, T0 + 1400, "/quiet", 2), 3000);
	ck_assert_uint_eq(count_at("/quiet", 2, 0x110, &n), 3);
	ck_assert_uint_eq(n, 1000);
	/* Nor in the time after. */
	put_many_files(1, 1000, T0 + 1400);
	settle(T0 + 2100);
	ck_assert_int_le(bytes(), 1 << 20);
	count_at("/quiet", 2, 0x110, &n);
	ck_assert_uint_eq(n, 1000);
	/* What is accounted for is what is there. */
	reopen();
	settle(T0 + 2200);
	ck_assert_int_le(bytes(), 1 << 20);
	ck_assert_int_ge(bytes(), 900000);
}
END_TEST

START_TEST(the_oldest_and_rarest_go_first)
{
	size_t n;
	int64_t t;

	policy.bytes = 1 << 19;
	for (t = 0; t < 6; t++) {
		add(T0 + 600 * t, "/a", 1, 0x100000 * (uint64_t)t, 60000, 1);
		add(T0 + 600 * t, "/a", 1, 0x100000 * (uint64_t)t, 100, 50);
	}
	settle(T0 + 3700);
	ck_assert_int_le(bytes(), 1 << 19);
	/* Frequent ones of the first are there yet, of the last all. */
	ck_assert_uint_eq(count_at("/a", 1, 0x500000 + 16 * 59999, &n), 1);
	ck_assert_uint_eq(count_at("/a", 1, 0x500000, &n), 51);
	ck_assert_uint_eq(count_at("/a", 1, 16 * 59999, &n), 0);
	/* And no sum is less. */
	ck_assert_uint_eq(samples_of(T0, T0 + 4000, "/a", 1), 6 * 65000);
}
END_TEST

START_TEST(addresses_of_a_period_are_bounded)
{
	size_t n;

	add(T0, "/a", 1, 0, ADDRESSES_OF_PERIOD, 1);
	add(T0, "/a", 1, 16 * ADDRESSES_OF_PERIOD, 10, 2);
	settle(T0 + 100);
	ck_assert_uint_eq(count_at("/a", 1, 16 * ADDRESSES_OF_PERIOD, &n), 2);
	ck_assert_uint_eq(n, ADDRESSES_OF_PERIOD / 2);
	ck_assert_uint_eq(samples_of(T0, T0 + 60, "/a", 1), ADDRESSES_OF_PERIOD + 20);
}
END_TEST

START_TEST(a_rollback_forgets)
{
	struct address_part p = {.file = file("/a", 1)};
	size_t n;

	p.file.samples = 5;
	ck_assert_int_eq(store_begin(s, &e), 0);
	ck_assert_int_eq(store_add_addresses(s, T0 * 1000LL, 1000, &p, 1, &no_calls, &e), 0);
	store_rollback(s);
	add(T0, "/a", 1, 0, 1, 1);
	files(T0, T0 + 60, -1, &n);
	ck_assert_uint_eq(n, 1);
	settle(T0 + 100);
	ck_assert_uint_eq(samples_of(T0, T0 + 60, "/a", 1), 1);
}
END_TEST

START_TEST(the_range_is_said)
{
	struct address_range r = {T0 + 700, T0 + 1300}, c;

	ck_assert_int_eq(store_addresses_covered(s, &r, &c, &e), 0);
	ck_assert(c.since_s == c.until_s);
	add(T0 + 710, "/a", 1, 0, 1, 1);
	add(T0 + 1900, "/a", 1, 0, 1, 1);
	ck_assert_int_eq(store_addresses_covered(s, &r, &c, &e), 0);
	ck_assert(c.since_s == T0 + 600 && c.until_s == T0 + 1200);
	settle(T0 + 2000);
	r.until_s = T0 + 9000;
	ck_assert_int_eq(store_addresses_covered(s, &r, &c, &e), 0);
	ck_assert(c.since_s == T0 + 600 && c.until_s == T0 + 2400);
}
END_TEST

/* What is not of its form does not come in, and stops nothing. */
START_TEST(damaged_rows_are_left_out)
{
	sqlite3 *db;
	size_t n;

	add(T0, "/a", 1, 0x10, 2, 1);
	settle(T0 + 100);
	store_close(s);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(
	    sqlite3_exec(db,
		"UPDATE addresses SET data = data || x'ffffffffffffffffffffff';"
		"INSERT INTO address_batches VALUES (NULL, 1767225600000, 1, x'00', x'');"
		"INSERT INTO address_batches VALUES (NULL, 1767225600000, 1,"
		" x'0102030405060708ff01ff', x'00'), (NULL, 1767225600000, 1, '',"
		" x'0102030405060708ff'), (NULL, 1767225600000, 1, '',"
		" x'010203040506070801ff')",

		NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	s = store_open(path, &e);
	ck_assert_msg(s != NULL, "%s", e.text);
	ck_assert_uint_eq(count_at("/a", 1, 0x20, &n), 1);
	add(T0, "/a", 1, 0x20, 1, 4);
	settle(T0 + 200);
	ck_assert_uint_eq(count_at("/a", 1, 0x20, &n), 5);
	ck_assert_int_eq(number("SELECT count(*) FROM address_batches"), 0);
}
END_TEST

START_TEST(ids_differ_by_every_part)
{
	struct address_file f[] = {file("/a", 1), file("/a", 2), file("/b", 1), file("/a", 1),
	    file("/a", 1), file("/a", 1)};
	size_t i, k;

	f[3].pid = 1;
	f[4].kind = ADDRESS_FOREIGN;
	f[5].build.b[1] = 3;
	for (i = 0; i < 6; i++)
		f[i].id = address_file_id(&f[i]);
	for (i = 0; i < 6; i++)
		for (k = 0; k < i; k++)
			ck_assert_uint_ne(f[i].id, f[k].id);
}
END_TEST

/* n samples of /libc at 0x10, which /a has called from a site. */
static void add_called(int64_t at_s, uint64_t site, uint64_t n)
{
	struct wire_sample w = {0x10, n};
	struct address_part p[] = {
	    {.file = file("/a", 1)}, {.file = file("/libc", 1), .sample = &w, .nsample = 1}};
	struct address_calls calls = {0};

	p[1].file.samples = n;
	vec_push(&calls.v, (struct address_call){1, 0, false, 0x10, site, n});
	ck_assert_msg(!store_begin(s, &e) &&
			  !store_add_addresses(s, at_s * 1000, 4000000, p, 2, &calls, &e) &&
			  !store_commit(s, &e),
	    "%s", e.text);
	vec_free(&calls.v);
}

/* Of a site of /a; *n: of how many. */
static uint64_t called_from(uint64_t site, size_t *n)
{
	struct address_reader *r = store_addresses(s, &all, file("/libc", 1).id, &e);
	struct address_caller c;
	uint64_t found = 0;

	ck_assert_msg(r != NULL, "%s", e.text);
	for (*n = 0; address_reader_caller(r, &c); ++*n) {
		ck_assert(c.file == file("/a", 1).id && c.address == 0x10);
		if (c.site == site)
			found = c.count;
	}
	address_reader_free(r);
	return found;
}

START_TEST(calls_are_kept_with_addresses)
{
	size_t n;

	add_called(T0 + 5, 0x100, 3);
	add_called(T0 + 6, 0x200, 1);
	add_called(T0 + 7, 0x100, 2);
	ck_assert_uint_eq(called_from(0x100, &n), 5);
	ck_assert_uint_eq(n, 2);
	/* Who called is known, though nothing was sampled there. */
	files(T0, T0 + 60, -1, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(samples_of(T0, T0 + 60, "/libc", 1), 6);
	ck_assert_uint_eq(samples_of(T0, T0 + 60, "/a", 1), 0);
	settle(T0 + 100);
	ck_assert_int_eq(number("SELECT count(*) FROM address_batches"), 0);
	ck_assert_uint_eq(called_from(0x100, &n), 5);
	reopen();
	/* Hours, and days. */
	add_called(T0 + 1800, 0x200, 7);
	settle(T0 + 20000);
	ck_assert_int_eq(number("SELECT count(*) FROM addresses WHERE span = 600"), 0);
	ck_assert_uint_eq(called_from(0x200, &n), 8);
	settle(T0 + 4 * 86400);
	ck_assert_int_eq(number("SELECT count(*) FROM addresses WHERE span < 86400"), 0);
	ck_assert_uint_eq(called_from(0x200, &n), 8);
	ck_assert_uint_eq(called_from(0x100, &n), 5);
	settle(T0 + 40 * 86400);
	ck_assert_uint_eq(called_from(0x100, &n), 0);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(calls_come_back_from_bytes)
{
	static const struct address_caller in[] = {{7, 5, UINT64_MAX, 1}, {1, 5, 9, 2},
	    {1, 5, 3, 1}, {1, UINT64_MAX, 0, INT64_MAX}, {1, 5, 9, 4}, {7, 0, 1, 1}};
	struct calls c = {0}, back = {0};
	struct buf b = {0};
	size_t i;

	for (i = 0; i < sizeof in / sizeof *in; i++)
		vec_push(&c.v, in[i]);
	calls_sum(&c);
	ck_assert_uint_eq(c.v.n, 5);
	ck_assert_uint_eq(c.v.v[1].count, 6);
	calls_write(&c, &b);
	calls_read(&back, b.p, b.n);
	ck_assert_uint_eq(back.v.n, 5);
	ck_assert(!memcmp(back.v.v, c.v.v, 5 * sizeof *c.v.v));
	/* Cut anywhere: what is whole is there. */
	for (i = 0; i < b.n; i++) {
		char *copy = memcpy(xmalloc(i), b.p, i);

		back.v.n = 0;
		calls_read(&back, copy, i);
		ck_assert_uint_lt(back.v.n, 5);
		free(copy);
	}
	calls_thin(&c, 2);
	ck_assert_uint_eq(c.v.n, 2);
	ck_assert(c.v.v[0].count == 6 && c.v.v[1].count == INT64_MAX);
	calls_thin(&c, 0);
	ck_assert_uint_eq(c.v.n, 0);
	calls_free(&c);
	calls_free(&back);
	buf_free(&b);
}
END_TEST

/* Each period has the commonest ones at least. */
START_TEST(calls_of_a_period_are_bounded)
{
	size_t i, n;

	for (i = 0; i < 2; i++) {
		struct address_part p[] = {{.file = file("/a", 1)}, {.file = file("/libc", 1)}};
		struct address_calls calls = {0};
		uint64_t k;

		p[1].file.samples = 1u << 20;
		for (k = 0; k < CALLS_OF_PERIOD - 10; k++)
			vec_push(&calls.v, (struct address_call){
					       1, 0, false, 0x10, i * 1000 + 16 * k, 1 + (k == 7)});
		ck_assert_int_eq(store_begin(s, &e), 0);
		ck_assert_int_eq(
		    store_add_addresses(s, (T0 + (int64_t)i) * 1000, 1, p, 2, &calls, &e), 0);
		ck_assert_int_eq(store_commit(s, &e), 0);
		vec_free(&calls.v);
		settle(T0 + 100);
	}
	ck_assert_uint_ge(called_from(16 * 7, &n), 2);
	ck_assert_uint_eq(n, CALLS_OF_PERIOD / 2);
	ck_assert_uint_eq(samples_of(T0, T0 + 60, "/libc", 1), 2u << 20);
}
END_TEST

UNIT_MAIN("addresses", 60, setup, teardown, batches_are_there_at_once, a_user_sees_their_own,
    a_build_says_its_module_and_origin, periods_become_longer, what_is_too_old_goes,
    who_has_most_gives_way, the_oldest_and_rarest_go_first, addresses_of_a_period_are_bounded,
    a_rollback_forgets, the_range_is_said, damaged_rows_are_left_out, ids_differ_by_every_part,
    calls_are_kept_with_addresses, calls_come_back_from_bytes, calls_of_a_period_are_bounded)
