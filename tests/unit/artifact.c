#include "common/artifact/artifact.h"
#include "common/artifact/columns.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static void enter(void)
{
	strcpy(dir, "/tmp/morph-artifact-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	setenv("MORPH_ARTIFACTS", "one:two", 1);
}

static void leave(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	dir_remove(dir, NULL);
}

static const char text0[] = "\t.file\t\"a.c\"\nf:\tret\n";
static const uint32_t insns[3] = {1, 0, 300};

static struct build_id id_of(const char *hex)
{
	struct build_id id;

	ck_assert_int_eq(build_id_parse(hex, &id), 0);
	return id;
}

static bool small; /* as they are installed */

static void write_artifact(const char *path, const char *id)
{
	struct err e;
	struct artifact *a = artifact_create(path, small, &e);
	struct art_meta meta = {id_of(id), "prog", "morph 0.1", "ld.bfd", ELF_PIE};
	struct art_tu tu[2] = {{0, {{7}}, "a.c", "--64\n-W", 0}, {1, {{0}}, "b.c", "", 0}};
	struct art_func f = {0, 0, "f", hash_bytes("k", 1), 3, insns, ""};
	struct art_func g = {1, 4, "g", hash_bytes("l", 1), 0, NULL, "has a landing pad"};
	struct art_input in[] = {
	    {0, ART_OBJECT, "/usr/lib/crt1.o", -1, -1, 0},
	    {1, ART_TU, "/src/a.o", -1, 0, 0},
	    {2, ART_ARCHIVE, "/src/lib.a", -1, -1, 0},
	    {3, ART_TU, "b.o", 2, 1, 0},
	    {4, ART_SHARED, "/usr/lib/libc.so.6", -1, -1, 0},
	};

	ck_assert_msg(a != NULL, "%s", e.text);
	ck_assert_int_eq(artifact_put_meta(a, &meta, &e), 0);
	ck_assert_int_eq(artifact_put_tu(a, &tu[0], text0, sizeof text0 - 1, &e), 0);
	ck_assert_int_eq(artifact_put_tu(a, &tu[1], "", 0, &e), 0);
	ck_assert_int_eq(artifact_put_func(a, small ? &f : &g, &e), 0);
	ck_assert_int_eq(artifact_put_func(a, small ? &g : &f, &e), 0);
	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(
		    artifact_put_input(a, &in[i], i == 4 ? "\177ELF" : "", i == 4 ? 4 : 0, &e), 0);
	ck_assert_int_eq(artifact_put_recipe(a, 0, "@0", &e), 0);
	ck_assert_int_eq(artifact_put_recipe(a, 1, "--dynamic-list=@4", &e), 0);
	ck_assert_int_eq(artifact_put_recipe(a, 2, "--x=@@y", &e), 0);
	ck_assert_int_eq(artifact_put_recipe(a, 3, "a@b", &e), 0);
	ck_assert_int_eq(artifact_put_blockmap(a, "map", 3, &e), 0);
	ck_assert_msg(!artifact_commit(a, &e), "%s", e.text);
}

static void assert_refused(const char *path, const char *why)
{
	struct err e = {0};
	struct artifact *a = artifact_open(path, &e);

	ck_assert_ptr_null(a);
	ck_assert_msg(strstr(e.text, path) != NULL, "%s", e.text);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s (wanted: %s)", e.text, why);
	ck_assert_ptr_null(strchr(e.text, '\n'));
}

START_TEST(what_was_put_comes_back)
{
	const struct art_func *func;
	const struct art_input *in;
	const struct art_tu *tu;
	const char *const *arg;
	struct buf b = {0};
	struct hash128 h = {{7}};
	struct build_id id;
	struct artifact *a;
	struct err e;

	small = _i;
	write_artifact("a#b?c%.morph", "0102");
	a = artifact_open("a#b?c%.morph", &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	id = id_of("0102");
	ck_assert(build_id_equal(&artifact_meta(a)->id, &id));
	ck_assert_str_eq(artifact_meta(a)->name, "prog");
	ck_assert_str_eq(artifact_meta(a)->ld, "ld.bfd");
	ck_assert_uint_eq(artifact_meta(a)->kind, ELF_PIE);
	ck_assert_uint_eq(artifact_tus(a, &tu), 2);
	ck_assert_str_eq(tu[0].as_args, "--64\n-W");
	ck_assert_uint_eq(tu[0].text_size, sizeof text0 - 1);
	ck_assert(hash_equal(&tu[0].hash, &h));
	ck_assert_str_eq(tu[1].name, "b.c");
	ck_assert_uint_eq(artifact_funcs(a, &func), 2);
	ck_assert_str_eq(func[0].name, "f");
	ck_assert_uint_eq(func[0].nblock, 3);
	ck_assert(!memcmp(func[0].insns, insns, sizeof insns));
	ck_assert_uint_eq(func[1].ord, 4);
	ck_assert_str_eq(func[1].opaque, "has a landing pad");
	ck_assert_uint_eq(artifact_inputs(a, &in), 5);
	ck_assert_int_eq(in[1].tu, 0);
	ck_assert_int_eq(in[1].archive, -1);
	ck_assert_int_eq(in[3].archive, 2);
	ck_assert_uint_eq(in[4].size, 4);
	ck_assert_uint_eq(artifact_recipe(a, &arg), 4);
	ck_assert_str_eq(arg[1], "--dynamic-list=@4");
	ck_assert_int_eq(artifact_text(a, 0, &b, &e), 0);
	ck_assert(b.n == sizeof text0 - 1 && !memcmp(b.p, text0, b.n));
	ck_assert_int_eq(artifact_text(a, 1, &b, &e), 0);
	ck_assert_uint_eq(b.n, sizeof text0 - 1);
	b.n = 0;
	ck_assert_int_eq(artifact_content(a, 4, &b, &e), 0);
	ck_assert_str_eq(buf_cstr(&b), "\177ELF");
	b.n = 0;
	ck_assert_int_eq(artifact_blockmap(a, &b, &e), 0);
	ck_assert_str_eq(buf_cstr(&b), "map");
	ck_assert_int_eq(artifact_text(a, 2, &b, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "table tu: no such row"));
	artifact_close(a);
	buf_free(&b);
}
END_TEST

START_TEST(the_same_content_gives_the_same_bytes)
{
	struct buf x = {0}, y = {0};

	small = _i;
	write_artifact("x", "0102");
	write_artifact("y", "0102");
	ck_assert_int_eq(file_read("x", 0, &x, NULL), 0);
	ck_assert_int_eq(file_read("y", 0, &y, NULL), 0);
	ck_assert(x.n == y.n && !memcmp(x.p, y.p, x.n));
	buf_free(&x);
	buf_free(&y);
}
END_TEST

/* A folder that may not be written and a file that may not be changed. */
START_TEST(reading_leaves_no_trace)
{
	struct stat before, after;
	struct artifact *a;
	struct err e;

	ck_assert_int_eq(mkdir("ro", 0755), 0);
	write_artifact("ro/a", "0102");
	ck_assert_int_eq(chmod("ro/a", 0444), 0);
	ck_assert_int_eq(stat("ro", &before), 0);
	a = artifact_open("ro/a", &e);
	ck_assert_ptr_nonnull(a);
	artifact_close(a);
	ck_assert_int_eq(stat("ro", &after), 0);
	ck_assert(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
		  before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}
END_TEST

/* What was opened is what is read, whatever its name names by now. */
START_TEST(a_descriptor_is_read_and_no_name)
{
	struct build_id one = id_of("0102");
	struct artifact *a;
	struct buf b = {0};
	struct err e;
	char path[32];
	int fd;

	write_artifact("t", "0102");
	fd = open("t", O_RDONLY);
	write_artifact("u", "0304");
	ck_assert_int_eq(rename("u", "t"), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	a = artifact_open(path, &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	ck_assert(build_id_equal(&artifact_meta(a)->id, &one));
	artifact_close(a);
	ck_assert_int_eq(fcntl(fd, F_GETFD), 0);
	a = artifact_open_fd(fd, "a name", NULL, &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	ck_assert(build_id_equal(&artifact_meta(a)->id, &one));
	ck_assert_int_eq(artifact_text(a, 0, &b, &e), 0);
	artifact_close(a);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	fd = open("/dev/null", O_RDONLY);
	ck_assert_ptr_null(artifact_open_fd(fd, "a name", NULL, &e));
	ck_assert_str_eq(e.text, "a name: not a regular file");
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	buf_free(&b);
}
END_TEST

/* A journal beside it would be rolled back, one that is hot at that. */
START_TEST(nothing_beside_it_is_looked_at)
{
	struct artifact *a;
	struct err e;

	write_artifact("t", "0102");
	ck_assert_int_eq(mkfifo("t-journal", 0644), 0);
	ck_assert_int_eq(mkfifo("t-wal", 0644), 0);
	a = artifact_open("t", &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	artifact_close(a);
}
END_TEST

START_TEST(foreign_files_are_refused)
{
	struct err e;

	ck_assert_int_eq(mkfifo("fifo", 0644), 0);
	assert_refused("fifo", "not a regular file");
	ck_assert_int_eq(artifact_peek("fifo", &(struct build_id){0}, NULL, &e), -1);
	assert_refused("absent", "No such file");
	ck_assert_int_eq(mkdir("d", 0755), 0);
	assert_refused("d", "not a regular file");
	ck_assert_int_eq(publish_bytes("empty", "", 0, 0644, &e), 0);
	assert_refused("empty", "not a Morph artifact");
	ck_assert_int_eq(publish_bytes("text", "hello, world\n", 13, 0644, &e), 0);
	assert_refused("text", "not a Morph artifact");
	assert_refused("/bin/sh", "not a Morph artifact");
}
END_TEST

/* Runs SQL on a fresh artifact and expects the reason why it is refused then. */
static void after_sql(const char *sql, const char *why)
{
	char *msg = NULL;
	sqlite3 *db;

	unlink("t");
	write_artifact("t", "0102");
	ck_assert_int_eq(sqlite3_open("t", &db), SQLITE_OK);
	sqlite3_exec(db, "PRAGMA writable_schema=1", NULL, NULL, NULL);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &msg) == SQLITE_OK, "%s: %s", sql, msg);
	sqlite3_close(db);
	assert_refused("t", why);
}

START_TEST(every_row_is_checked)
{
	after_sql("PRAGMA application_id=1", "not a Morph artifact");
	after_sql("PRAGMA user_version=5", "artifact format 5, this Morph reads 4");
	after_sql("DROP TABLE recipe", "a table is missing");
	after_sql("CREATE VIEW v AS SELECT 1", "not the schema");
	after_sql("CREATE TRIGGER g INSERT ON tu BEGIN DELETE FROM tu; END", "not the schema");
	after_sql("CREATE INDEX i ON tu(name)", "not the schema");
	after_sql("CREATE TABLE more(x)", "not the schema");

	after_sql("ALTER TABLE tu ADD COLUMN more TEXT", "not the schema");
	after_sql("UPDATE sqlite_schema SET sql = 'CREATE VIEW meta AS SELECT 1', type = 'view' "
		  "WHERE name = 'meta'",
	    "malformed database schema");
	after_sql("DELETE FROM meta", "table meta is empty");
	after_sql("INSERT INTO meta SELECT * FROM meta", "holds 2 programs; which of them");
	after_sql("INSERT INTO meta SELECT * FROM meta; PRAGMA user_version=3",
	    "table meta: more programs");
	after_sql("UPDATE meta SET build_id = zeroblob(33)", "table meta: build-id too long");
	after_sql("UPDATE meta SET kind = 99", "table meta: number out of range");
	after_sql("UPDATE tu SET id = 7 WHERE id = 1", "table tu: ids are not 0, 1, 2");
	after_sql("UPDATE tu SET original = x'00'", "table tu: hash of the wrong length");
	after_sql("UPDATE tu SET size = -1", "table tu: number out of range");
	after_sql("UPDATE tu SET size = 1 << 31", "table tu: number out of range");
	after_sql("UPDATE tu SET name = 'a' || char(0) || 'b'", "table tu: text out of range");
	after_sql("UPDATE func SET name = hex(zeroblob(32769))",
	    "table func: a text of more than 64 KiB");
	after_sql("UPDATE func SET tu = 2 WHERE tu = 1", "table func: number out of range");
	after_sql("UPDATE func SET nblock = 2 WHERE tu = 0", "table func: more instruction counts");
	after_sql("UPDATE func SET nblock = 4 WHERE tu = 0", "table func: instruction counts");
	after_sql("UPDATE func SET nblock = 1 << 31", "table func: fewer instruction counts");
	after_sql("UPDATE input SET kind = 6 WHERE id = 0", "table input: number out of range");
	after_sql("UPDATE input SET archive = 1 WHERE id = 3", "member of what is no archive");
	after_sql("UPDATE input SET archive = 4 WHERE id = 3", "table input: number out of range");
	after_sql("UPDATE input SET tu = 2 WHERE id = 3", "table input: number out of range");
	after_sql("UPDATE input SET tu = NULL WHERE id = 3", "a unit without its input");
	after_sql("UPDATE input SET tu = 0 WHERE id = 0", "a unit without its input");
	after_sql("UPDATE recipe SET ord = 5 WHERE ord = 1", "table recipe: arguments are not");
	after_sql("UPDATE recipe SET arg = '@5' WHERE ord = 0", "names an input that is not there");
	after_sql("UPDATE recipe SET arg = '-T=@x' WHERE ord = 0", "names an input");
	small = true;
	after_sql("UPDATE pack SET z = x'00' WHERE form = 3", "table pack: compressed content is");
	after_sql("INSERT INTO pack SELECT 9, form, size, z FROM pack WHERE form = 3",
	    "damaged artifact: functions twice");
	after_sql("DELETE FROM tu WHERE id = 1; DELETE FROM input WHERE id > 0; DELETE FROM recipe",
	    "table pack: number out of range");
}
END_TEST

/* What was written before there were packs, and before there were several programs. */
START_TEST(the_formats_before_are_read)
{
	struct artifact *a;
	struct buf b = {0};
	sqlite3 *db;
	struct err e;

	small = _i;
	write_artifact("t", "0102");
	ck_assert_int_eq(sqlite3_open("t", &db), SQLITE_OK);
	ck_assert_int_eq(
	    sqlite3_exec(db,
		small ? "PRAGMA user_version=3" : "DROP TABLE pack; PRAGMA user_version=2", NULL,
		NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	a = artifact_open("t", &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	ck_assert_int_eq(artifact_text(a, 0, &b, &e), 0);
	artifact_close(a);
	buf_free(&b);
	after_sql("PRAGMA user_version=2", "a table is missing");
	after_sql("DROP TABLE pack", "a table is missing");
}
END_TEST

/* ---- several programs ---- */

enum { PROGRAMS = 3, UNITS_EACH = 3 };
static const char *const builds[PROGRAMS] = {"0a01", "0a02", "0a03"};

/* Unit u of program p: all begin with the same one, the second has two others of the first, in
 * turn, and the third the first's last, twice, the third's own last. */
static char unit_name(int p, int u)
{
	return "abc"
	       "acb"
	       "acc"[p * UNITS_EACH + u];
}

static void put_several(const char *path, bool less_room)
{
	struct artifact *a = artifact_create(path, less_room, NULL);
	char text[200], name[8];
	int p, u, f;
	struct err e;

	for (p = 0; p < PROGRAMS; p++) {
		struct art_meta meta = {id_of(builds[p]), "prog", "morph 0.1", "ld", ELF_PIE};

		ck_assert_int_eq(artifact_put_meta(a, &meta, &e), 0);
		for (u = 0; u < UNITS_EACH; u++) {
			char c = unit_name(p, u);
			struct art_tu tu = {(uint32_t)u, hash_bytes(&c, 1), "u", "", 0};

			memset(text, c, sizeof text);
			text[0] = (char)('0' + (u == 2 ? 0 : p)); /* reduced otherwise */
			ck_assert_int_eq(artifact_put_tu(a, &tu, text, sizeof text, &e), 0);
		}
		for (u = 0; u < UNITS_EACH; u++)
			for (f = 0; f < 2; f++) {
				struct art_func func = {(uint32_t)u, (uint32_t)f, name,
				    hash_bytes(name, 1), (uint32_t)f + 1, insns, ""};

				snprintf(name, sizeof name, "%c%d", unit_name(p, u), f);
				ck_assert_int_eq(artifact_put_func(a, &func, &e), 0);
			}
	}
	for (p = 0; p < PROGRAMS; p++) {
		struct art_input in[] = {{0, ART_FILE, "/list", -1, -1, 0},
		    {1, ART_TU, "/a.o", -1, 0, 0}, {2, ART_TU, "/b.o", -1, 1, 0},
		    {3, ART_TU, "/c.o", -1, 2, 0}};

		ck_assert_int_eq(artifact_turn_to(a, (uint32_t)p, &e), 0);
		for (u = 0; u < 4; u++)
			ck_assert_int_eq(artifact_put_input(a, &in[u], "list", u ? 0 : 4, &e), 0);
		ck_assert_int_eq(artifact_put_recipe(a, 0, builds[p], &e), 0);
		ck_assert_int_eq(artifact_put_blockmap(a, builds[p], 4, &e), 0);
	}
	ck_assert_msg(!artifact_commit(a, &e), "%s", e.text);
}

static void check_program(struct artifact *a, int p)
{
	struct build_id id = id_of(builds[p]);
	const struct art_input *in;
	const struct art_func *f;
	const char *const *arg;
	const struct art_tu *tu;
	struct buf b = {0};
	char name[8];
	size_t i;

	ck_assert(build_id_equal(&artifact_meta(a)->id, &id));
	ck_assert_uint_eq(artifact_programs(a), PROGRAMS);
	ck_assert_uint_eq(artifact_tus(a, &tu), UNITS_EACH);
	ck_assert_uint_eq(artifact_funcs(a, &f), UNITS_EACH * 2);
	for (i = 0; i < UNITS_EACH * 2; i++) {
		snprintf(name, sizeof name, "%c%zu", unit_name(p, (int)i / 2), i % 2);
		ck_assert_str_eq(f[i].name, name);
		ck_assert(f[i].tu == i / 2 && f[i].ord == i % 2 && f[i].nblock == i % 2 + 1);
	}
	for (i = 0; i < UNITS_EACH; i++) {
		ck_assert_int_eq(artifact_text(a, (uint32_t)i, &b, NULL), 0);
		ck_assert(b.p[0] == '0' + (i == 2 ? 0 : p) && b.p[1] == unit_name(p, (int)i));
		b.n = 0;
	}
	ck_assert_uint_eq(artifact_inputs(a, &in), 4);
	ck_assert_int_eq(artifact_content(a, 0, &b, NULL), 0);
	ck_assert_str_eq(buf_cstr(&b), "list");
	b.n = 0;
	ck_assert_uint_eq(artifact_recipe(a, &arg), 1);
	ck_assert_str_eq(arg[0], builds[p]);
	ck_assert_int_eq(artifact_blockmap(a, &b, NULL), 0);
	ck_assert_str_eq(buf_cstr(&b), builds[p]);
	buf_free(&b);
}

START_TEST(several_programs_share_what_is_the_same)
{
	struct build_id id;
	struct artifact *a;
	char name[32];
	struct err e;
	int p;

	put_several("t", _i);
	assert_refused("t", "holds 3 programs; which of them");
	ck_assert_int_eq(dir_make("0a", 0755, &e), 0);
	for (p = 0; p < PROGRAMS; p++) {
		id = id_of(builds[p]);
		a = artifact_open_of("t", &id, &e);
		ck_assert_msg(a != NULL, "%s", e.text);
		check_program(a, p);
		artifact_close(a);
		snprintf(name, sizeof name, "./0a/%s.morph", builds[p] + 2);
		ck_assert_int_eq(link("t", name), 0);
		a = artifact_open(name, &e);
		ck_assert_msg(a != NULL, "%s", e.text);
		check_program(a, p);
		artifact_close(a);
	}
	id = id_of("0b01");
	ck_assert_ptr_null(artifact_open_of("t", &id, &e));
	/* Seven texts, the list and three maps; the functions of the first. */
	if (_i) {
		sqlite3 *db;
		sqlite3_stmt *st;

		ck_assert_int_eq(sqlite3_open("t", &db), SQLITE_OK);
		ck_assert_int_eq(sqlite3_prepare_v2(db,
				     "SELECT (SELECT sum(size) FROM pack WHERE form < 3), "
				     "(SELECT count(*) FROM pack WHERE form = 3)",
				     -1, &st, NULL),
		    SQLITE_OK);
		ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
		ck_assert_int_eq(sqlite3_column_int(st, 0), 7 * 200 + 4 + 3 * 4);
		ck_assert_int_eq(sqlite3_column_int(st, 1), 1);
		sqlite3_finalize(st);
		sqlite3_close(db);
	}
}
END_TEST

/* A thousand units that are the same as one with a thousand functions. */
START_TEST(sharing_makes_no_large_program_of_a_small_file)
{
	enum { MANY = 1000 };
	struct artifact *a = artifact_create("t", true, NULL);
	struct art_meta meta = {id_of(builds[0]), "prog", "morph 0.1", "ld", ELF_PIE};
	struct art_tu tu = {0, {{7}}, "u", "", 0};
	struct art_func f = {0, 0, "f", {{1}}, 0, NULL, ""};
	struct build_id id = id_of(builds[1]);
	struct err e;

	ck_assert_int_eq(artifact_put_meta(a, &meta, &e), 0);
	ck_assert_int_eq(artifact_put_tu(a, &tu, "", 0, &e), 0);
	for (f.ord = 0; f.ord < MANY; f.ord++)
		ck_assert_int_eq(artifact_put_func(a, &f, &e), 0);
	meta.id = id;
	ck_assert_int_eq(artifact_put_meta(a, &meta, &e), 0);
	for (tu.id = 0; tu.id < MANY; tu.id++)
		ck_assert_int_eq(artifact_put_tu(a, &tu, "", 0, &e), 0);
	ck_assert_int_eq(artifact_commit(a, &e), 0);
	ck_assert_ptr_null(artifact_open_of("t", &id, &e));
	ck_assert_msg(strstr(e.text, "table pack: more in it than in the file"), "%s", e.text);
	id = id_of(builds[0]);
	a = artifact_open_of("t", &id, &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	artifact_close(a);
}
END_TEST

/* ---- packs ---- */

START_TEST(damaged_packs_are_noticed_when_read)
{
	static const struct {
		const char *sql, *why;
	} t[] = {
	    {"UPDATE pack SET z = x'00' WHERE form = 2",
		"table pack: compressed content is damaged"},
	    {"UPDATE pack SET size = 9 WHERE form = 2", "table pack: the streams of a text"},
	    {"UPDATE pack SET size = 1 << 31 WHERE form = 2", "table pack: number out of range"},
	    {"UPDATE pack SET form = 1 WHERE form = 2",
		"table pack: compressed content is damaged"},
	    {"UPDATE pack SET form = 3 - form WHERE form < 3", "table pack: compressed content is"},
	    {"UPDATE tu SET z = x'000200' WHERE id = 0", "table pack: a reference to functions"},
	    {"UPDATE tu SET z = x'00' WHERE id = 0", "table tu: a reference to no pack"},
	    {"UPDATE tu SET z = x'000000ff' WHERE id = 0", "table tu: a reference to no pack"},
	    {"UPDATE tu SET z = x'000800' WHERE id = 0", "table pack: no such row"},
	    {"UPDATE tu SET z = x'000001' WHERE id = 0", "table pack: outside of it"},
	    {"UPDATE tu SET hash = zeroblob(16) WHERE id = 0", "does not match its hash"},
	};
	struct artifact *a;
	struct buf b = {0};
	sqlite3 *db;
	struct err e;

	small = true;
	write_artifact("t", "0102");
	ck_assert_int_eq(sqlite3_open("t", &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, t[_i].sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	a = artifact_open("t", &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	ck_assert_int_eq(artifact_text(a, 0, &b, &e), -1);
	ck_assert_msg(strstr(e.text, t[_i].why), "%s", e.text);
	ck_assert_uint_eq(b.n, 0);
	artifact_close(a);
	buf_free(&b);
}
END_TEST

static const char map_blob[] =
    "MorphBM1\x02id\0"       /* build-id, no origin */
    "\x01\0\x80\x01\xff\x01" /* one segment */
    "\x01unithash"           /* one unit */
    "\x02"                   /* two fragments: gap, unit, ordinal, number; blocks: id, gap, size */
    "\x80\x10\0\0\0\x03\0\0\x05\x02\x03\x81\x01\x01\0\0"
    "\x07\0\x85\x01\x01\0";

static void free_all(struct buf *s, size_t n)
{
	while (n--)
		buf_free(&s[n]);
}

/* Whole, cut anywhere, and with any byte changed. */
START_TEST(block_maps_come_back_from_columns)
{
	size_t n = sizeof map_blob - 1, i, whole = 0;
	struct buf s[MAP_STREAMS] = {0}, out = {0};
	char copy[sizeof map_blob];
	struct err e;

	for (i = 0; i <= 2 * n; i++) {
		size_t used = i < n ? i : n;

		memcpy(copy, map_blob, used);
		if (i > n)
			copy[i - n - 1] ^= 0x41;
		if (!map_split(copy, used, s)) {
			ck_assert_ptr_null(s[0].p);
			continue;
		}
		whole++;
		out.n = 0;
		ck_assert_int_eq(map_join(s, used, &out, &e), 0);
		ck_assert(out.n == used && !memcmp(out.p, copy, used));
		if (i == n) {
			ck_assert_int_eq(map_join(s, n - 1, &out, &e), -1);
			s[i % MAP_STREAMS].n--;
			ck_assert_int_eq(map_join(s, n, &out, &e), -1);
		}
		free_all(s, MAP_STREAMS);
	}
	ck_assert_uint_gt(whole, 1);
	ck_assert_uint_lt(whole, n);
	buf_free(&out);
}
END_TEST

START_TEST(libraries_come_back_from_differences)
{
	struct buf in = {0}, thin = {0}, s[LIBRARY_STREAMS] = {0}, out = {0};
	struct err e;

	ck_assert_int_eq(file_read("/lib/x86_64-linux-gnu/libc.so.6", 0, &in, &e), 0);
	ck_assert_int_eq(elf_thin_shared(in.p, in.n, NULL, &thin, &e), 0);
	ck_assert(library_split(thin.p, thin.n, s));
	ck_assert(memcmp(s[1].p, thin.p, thin.n));
	ck_assert_int_eq(library_join(s, &out, &e), 0);
	ck_assert(out.n == thin.n && !memcmp(out.p, thin.p, thin.n));
	out.n = 0;
	s[1].n = 4000;
	ck_assert_int_eq(library_join(s, &out, &e), -1);
	s[1].n = thin.n;
	s[0].n--;
	ck_assert_int_eq(library_join(s, &out, &e), -1);
	ck_assert_uint_eq(out.n, 0);
	free_all(s, LIBRARY_STREAMS);
	ck_assert(!library_split("no library", 10, s));
	buf_free(&in);
	buf_free(&thin);
	buf_free(&out);
}
END_TEST

/* More texts than one pack holds, in another order than that in which they were put. */
START_TEST(packs_are_read_in_any_order)
{
	enum { UNITS = 9, BYTES = 1000000 };
	struct artifact *a = artifact_create("t", true, NULL);
	struct art_meta meta = {id_of("0102"), "prog", "morph 0.1", "ld", ELF_PIE};
	char *text = xmalloc(BYTES);
	struct buf b = {0};
	struct err e;
	size_t i;

	ck_assert_int_eq(artifact_put_meta(a, &meta, &e), 0);
	for (i = 0; i < UNITS; i++) {
		struct art_tu tu = {(uint32_t)i, {{0}}, "a.c", "", 0};

		memset(text, 'a' + (int)i, BYTES - 1);
		text[BYTES - 1] = '\n';
		ck_assert_int_eq(artifact_put_tu(a, &tu, text, BYTES, &e), 0);
	}
	ck_assert_int_eq(artifact_put_blockmap(a, "map", 3, &e), 0);
	ck_assert_int_eq(artifact_commit(a, &e), 0);
	a = artifact_open("t", &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	for (i = 0; i < UNITS; i++) {
		b.n = 0;
		ck_assert_int_eq(artifact_text(a, (uint32_t)(i * 5 % UNITS), &b, &e), 0);
		ck_assert(b.n == BYTES && b.p[0] == 'a' + (int)(i * 5 % UNITS) &&
			  !memcmp(b.p, b.p + 1, BYTES - 2));
	}
	artifact_close(a);
	free(text);
	buf_free(&b);
}
END_TEST

static void write_hostile(const char *path, size_t n)
{
	struct buf b = {0};
	struct err e;

	ck_assert_int_eq(file_read("good", 0, &b, &e), 0);
	ck_assert_int_eq(publish_bytes(path, b.p, n < b.n ? n : b.n, 0644, &e), 0);
	buf_free(&b);
}

/* Opens and reads everything there is; what is read must be what was put. */
static void read_all(const char *path)
{
	struct buf b = {0};
	const struct art_input *in;
	const struct art_tu *tu;
	struct artifact *a;
	struct err e = {0};
	size_t i, n;

	a = artifact_open(path, &e);
	if (!a) {
		ck_assert_msg(strstr(e.text, path) != NULL, "%s", e.text);
		return;
	}
	n = artifact_tus(a, &tu);
	for (i = 0; i < n; i++)
		artifact_text(a, (uint32_t)i, &b, &e);
	n = artifact_inputs(a, &in);
	for (i = 0; i < n; i++)
		artifact_content(a, (uint32_t)i, &b, &e);
	artifact_blockmap(a, &b, &e);
	artifact_close(a);
	buf_free(&b);
}

START_TEST(truncation_is_noticed)
{
	struct stat st;
	off_t n;

	small = _i;
	write_artifact("good", "0102");
	ck_assert_int_eq(stat("good", &st), 0);
	for (n = 0; n < st.st_size; n += n < 200 ? 1 : 509) {
		write_hostile("cut", (size_t)n);
		assert_refused("cut", "");
	}
}
END_TEST

START_TEST(garbled_files_do_no_harm)
{
	struct buf b = {0};
	unsigned seed = 1, i, k;
	struct err e;

	small = _i;
	write_artifact("good", "0102");
	ck_assert_int_eq(file_read("good", 0, &b, &e), 0);
	for (i = 0; i < 300; i++) {
		char *copy = memcpy(xmalloc(b.n), b.p, b.n);

		for (k = 0; k < 1 + i % 20; k++)
			copy[(size_t)rand_r(&seed) % b.n] = (char)rand_r(&seed);
		ck_assert_int_eq(publish_bytes("bad", copy, b.n, 0644, &e), 0);
		read_all("bad");
		free(copy);
	}
	buf_free(&b);
}
END_TEST

START_TEST(damaged_content_is_noticed_when_read)
{
	struct buf b = {0};
	struct artifact *a;
	sqlite3 *db;
	struct err e;

	write_artifact("t", "0102");
	ck_assert_int_eq(sqlite3_open("t", &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db,
			     "UPDATE tu SET hash = zeroblob(16) WHERE id = 0;"
			     "UPDATE input SET size = 1000000000 WHERE id = 4;"
			     "UPDATE blockmap SET z = x'00'",
			     NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	a = artifact_open("t", &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	ck_assert_int_eq(artifact_text(a, 0, &b, &e), -1);
	ck_assert_str_eq(
	    e.text, "t: damaged artifact: table tu, row 0: content does not match its hash");
	ck_assert_int_eq(artifact_content(a, 4, &b, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "table input, row 4: compressed content is damaged"));
	ck_assert_int_eq(artifact_blockmap(a, &b, &e), -1);
	ck_assert_uint_eq(b.n, 0);
	artifact_close(a);
	buf_free(&b);
}
END_TEST

START_TEST(a_row_twice_is_an_error)
{
	struct art_tu tu = {0, {{0}}, "a.c", "", 0};
	struct artifact *a;
	struct err e;

	a = artifact_create("t", false, &e);
	ck_assert_int_eq(artifact_put_tu(a, &tu, "x", 1, &e), 0);
	ck_assert_int_eq(artifact_put_tu(a, &tu, "x", 1, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "t: UNIQUE constraint failed"));
	artifact_close(a);
	ck_assert_ptr_null(artifact_create("absent/t", false, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "absent/t"));
}
END_TEST

/* ---- finding ---- */

static void assert_found(const char *module, const char *id, const char *want)
{
	struct build_id b = id_of(id);
	struct err e = {0};
	char *path = artifact_find(module, &b, &e);

	if (want) {
		ck_assert_msg(path != NULL, "%s", e.text);
		ck_assert_str_eq(path, want);
	} else {
		ck_assert_ptr_null(path);
		ck_assert_ptr_nonnull(strstr(e.text, module));
	}
	free(path);
}

START_TEST(an_artifact_is_found_by_name_and_build_id)
{
	struct err e;

	write_artifact("prog.morph", "0102");
	assert_found("prog", "0102", "prog.morph");
	assert_found("prog", "0103", NULL);
	ck_assert_int_eq(dir_make("two/ab", 0755, &e), 0);
	ck_assert_int_eq(symlink("../../other", "two/ab/cdef.morph"), 0);
	write_artifact("other", "abcdef");
	assert_found("prog", "abcdef", "two/ab/cdef.morph");
	assert_found("moved/elsewhere", "abcdef", "two/ab/cdef.morph");
	/* A link to another build's artifact is not taken. */
	ck_assert_int_eq(symlink("../../other", "two/ab/cd00.morph"), 0);
	assert_found("prog", "abcd00", NULL);
}
END_TEST

START_TEST(a_damaged_artifact_is_named)
{
	struct build_id id = id_of("0102");
	struct err e;

	ck_assert_int_eq(publish_bytes("prog.morph", "junk", 4, 0644, &e), 0);
	ck_assert_ptr_null(artifact_find("prog", &id, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "prog.morph: not a Morph artifact (morphctl "));
}
END_TEST

START_TEST(a_laid_out_build_has_its_origins)
{
	static const char note[] = "\t.section .note.morph,\"\",@note\n"
				   "\t.long 6, 4, 1\n\t.ascii \"Morph\\0\\0\\0\"\n"
				   "\t.byte 0xde, 0xad, 0xbe, 0xef\n"
				   "\t.section .note.GNU-stack,\"\",@progbits\n";
	struct spawn s = {.argv = (const char *const[]){"sh", "-ec",
			      "echo 'int main(void){return 0;}' >p.c; gcc p.c n.s -o prog "
			      "-Wl,--build-id=0x0a0b0c0d",
			      NULL}};
	struct err e;

	ck_assert_int_eq(publish_bytes("n.s", note, sizeof note - 1, 0644, &e), 0);
	ck_assert_int_eq(spawn_run(&s, &e), 0);
	write_artifact("prog.morph", "deadbeef");
	assert_found("prog", "0a0b0c0d", "prog.morph");
	/* Of another build the note says nothing. */
	assert_found("prog", "0a0b0c0e", NULL);
}
END_TEST

UNIT_MAIN("artifact", 120, enter, leave, UNIT_LOOP(what_was_put_comes_back, 2),
    UNIT_LOOP(the_same_content_gives_the_same_bytes, 2), reading_leaves_no_trace,
    a_descriptor_is_read_and_no_name, nothing_beside_it_is_looked_at, foreign_files_are_refused,
    every_row_is_checked, UNIT_LOOP(the_formats_before_are_read, 2),
    UNIT_LOOP(several_programs_share_what_is_the_same, 2),
    sharing_makes_no_large_program_of_a_small_file,
    UNIT_LOOP(damaged_packs_are_noticed_when_read, 11), block_maps_come_back_from_columns,
    libraries_come_back_from_differences, packs_are_read_in_any_order,
    UNIT_LOOP(truncation_is_noticed, 2), UNIT_LOOP(garbled_files_do_no_harm, 2),
    damaged_content_is_noticed_when_read, a_row_twice_is_an_error,
    an_artifact_is_found_by_name_and_build_id, a_damaged_artifact_is_named,
    a_laid_out_build_has_its_origins)
