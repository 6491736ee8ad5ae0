#include "common/artifact/columns.h"
#include "common/artifact/functions.h"
#include "common/artifact/rows.h"
#include "common/pack.h"
#include "common/publish.h"
#include "common/textpack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAP_MAX = 256 << 20 };

/* Of all streams of a text of that size. */
#define STREAMS_MAX(size) (4 * (size) + 64)

const struct art_table art_table[TABLES] = {
    [META] = {"meta",
	"CREATE TABLE meta(build_id BLOB NOT NULL, name TEXT NOT NULL, producer TEXT NOT NULL,"
	" ld TEXT NOT NULL, kind INTEGER NOT NULL) STRICT",
	"INSERT INTO meta VALUES(?, ?, ?, ?, ?)"},
    [TU] = {"tu",
	"CREATE TABLE tu(id INTEGER PRIMARY KEY, name TEXT NOT NULL, as_args TEXT NOT NULL,"
	" original BLOB NOT NULL, size INTEGER NOT NULL, hash BLOB NOT NULL, z BLOB NOT NULL) "
	"STRICT",
	"INSERT INTO tu VALUES(?, ?, ?, ?, ?, ?, ?)"},
    [FUNC] = {"func",
	"CREATE TABLE func(tu INTEGER NOT NULL, ord INTEGER NOT NULL, name TEXT NOT NULL,"
	" key BLOB NOT NULL, nblock INTEGER NOT NULL, insns BLOB NOT NULL,"
	" opaque TEXT NOT NULL, PRIMARY KEY(tu, ord)) STRICT, WITHOUT ROWID",
	"INSERT INTO func VALUES(?, ?, ?, ?, ?, ?, ?)"},
    [INPUT] = {"input",
	"CREATE TABLE input(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, path TEXT NOT NULL,"
	" archive INTEGER, tu INTEGER, size INTEGER NOT NULL, hash BLOB NOT NULL,"
	" z BLOB NOT NULL) STRICT",
	"INSERT INTO input VALUES(?, ?, ?, ?, ?, ?, ?, ?)"},
    [RECIPE] = {"recipe", "CREATE TABLE recipe(ord INTEGER PRIMARY KEY, arg TEXT NOT NULL) STRICT",
	"INSERT INTO recipe VALUES(?, ?)"},
    [BLOCKMAP] = {"blockmap",
	"CREATE TABLE blockmap(id INTEGER PRIMARY KEY, size INTEGER NOT NULL,"
	" hash BLOB NOT NULL, z BLOB NOT NULL) STRICT",
	"INSERT INTO blockmap VALUES(?, ?, ?, ?)"},
    [PACK] = {"pack",
	"CREATE TABLE pack(id INTEGER PRIMARY KEY, form INTEGER NOT NULL,"
	" size INTEGER NOT NULL, z BLOB NOT NULL) STRICT",
	"INSERT INTO pack VALUES(?, ?, ?, ?)"},
};

int artifact_db_error(struct artifact *a, struct err *e)
{
	return err_set(e, "%s: %s%s", a->path,
	    sqlite3_errcode(a->db) == SQLITE_CORRUPT ? "damaged artifact: " : "",
	    sqlite3_errcode(a->db) == SQLITE_INTERRUPT
		? "damaged artifact: its tables hold more than the file"
		: sqlite3_errmsg(a->db));
}

void artifact_release(struct artifact *a)
{
	int i;

	for (i = 0; i < TABLES; i++)
		sqlite3_finalize(a->insert[i]);
	sqlite3_close(a->db);
	arena_free(&a->mem);
	vec_free(&a->tu);
	vec_free(&a->func);
	vec_free(&a->input);
	vec_free(&a->recipe);
	for (i = 0; i < FUNC_COLUMNS; i++)
		buf_free(&a->func_column[i]);
	buf_free(&a->texts.b);
	buf_free(&a->others.b);
	for (i = 0; i < (int)a->unpacked.n; i++)
		buf_free(&a->unpacked.v[i].content);
	vec_free(&a->unpacked);
	vec_free(&a->elsewhere);
	vec_free(&a->program);
	htab_free(&a->content);
	htab_free(&a->home);
	if (a->fd >= 0)
		close(a->fd);
	free(a->path);
	free(a);
}

/* ---- reading ---- */

static void read_meta(struct reader *r)
{
	struct art_meta m = {0};
	size_t n;
	const void *id = col_blob(r, 0, &n);

	if (r->a->program.n == (r->a->format <= SINGLE_FORMAT ? 1 : PROGRAMS_MAX))
		refuse(r, "more programs than there may be");
	if (n > sizeof m.id.b)
		refuse(r, "build-id too long");
	if (r->bad)
		return;
	m.id.n = (uint8_t)n;
	memcpy(m.id.b, id, n);
	m.name = col_text(r, 1);
	m.producer = col_text(r, 2);
	m.ld = col_text(r, 3);
	m.kind = (uint32_t)col_int(r, 4, 0, ELF_OTHER);
	vec_push(&r->a->program, m);
}

static void read_tu(struct reader *r)
{
	struct art_tu t = {.id = (uint32_t)r->a->tu.n};

	if (col_id(r, 0) != t.id)
		refuse(r, "ids are not 0, 1, 2…");
	t.name = col_text(r, 1);
	t.as_args = col_text(r, 2);
	t.text_size = (uint64_t)col_int(r, 3, 0, PACK_MAX);
	t.hash = col_hash(r, 4);
	vec_push(&r->a->tu, t);
}

/* Members come after their archive. */
static void check_links(struct reader *r, const struct art_input *in)
{
	if ((in->kind == ART_TU) != (in->tu >= 0))
		refuse(r, "a unit without its input, or an input without its unit");
	if (in->archive >= 0 && (r->a->input.v[in->archive].kind != ART_ARCHIVE ||
				    in->kind == ART_ARCHIVE || in->kind == ART_SHARED))
		refuse(r, "member of what is no archive");
}

static void read_input(struct reader *r)
{
	struct art_input in = {.id = (uint32_t)r->a->input.n};

	if (col_id(r, 0) != in.id)
		refuse(r, "ids are not 0, 1, 2…");
	in.kind = (uint32_t)col_int(r, 1, ART_OBJECT, ART_FILE);
	in.path = col_text(r, 2);
	in.archive = col_int_or_null(r, 3, (int64_t)in.id - 1);
	in.tu = col_int_or_null(r, 4, (int64_t)r->a->tu.n - 1);
	in.size = (uint64_t)col_int(r, 5, 0, PACK_MAX);
	if (!r->bad)
		check_links(r, &in);
	vec_push(&r->a->input, in);
}

/* "@N" at the front, or after the first '=' that a '@' follows. */
static bool names_an_input(const char *arg, size_t inputs)
{
	const char *at = *arg == '@' ? arg : strstr(arg, "=@");
	unsigned long n;
	char *end;

	if (!at)
		return true;
	at += 1 + (*at == '=');
	if (*at == '@')
		return true;
	n = strtoul(at, &end, 10);
	return *at >= '0' && *at <= '9' && !*end && n < inputs;
}

static void read_recipe(struct reader *r)
{
	const char *arg = col_text(r, 1);

	if (col_id(r, 0) != (int64_t)r->a->recipe.n)
		refuse(r, "arguments are not numbered 0, 1, 2…");
	if (!names_an_input(arg, r->a->input.n))
		refuse(r, "an argument names an input that is not there");
	vec_push(&r->a->recipe, arg);
}

/* Every table with its text, and nothing beside: no index, view or trigger.
 * SQLite has refused a name that is there twice. */
static void read_schema(struct reader *r)
{
	const char *type = col_text(r, 0), *name = col_text(r, 1), *of = col_text(r, 2);
	const char *sql = col_text(r, 4);
	int i;

	for (i = 0; i < TABLES; i++)
		if (!strcmp(type, "table") && !strcmp(name, of) &&
		    !strcmp(name, art_table[i].name) && !strcmp(sql, art_table[i].create)) {
			col_int(r, 3, 2, UINT32_MAX); /* its first page */
			return;
		}
	refuse(r, "not the schema of an artifact");
}

static int read_meta_table(struct artifact *a, struct err *e)
{
	const struct query schema = {.table = "sqlite_schema",
			       .sql =
				   "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema",
			       .row = read_schema},
			   meta = {.table = "meta",
			       .sql = "SELECT build_id, name, producer, ld, kind FROM meta "
				      "ORDER BY rowid",
			       .row = read_meta};
	int tables = read_rows(a, &schema, e);

	if (tables < 0)
		return -1;
	if (tables != (a->format > UNPACKED_FORMAT ? TABLES : PACK))
		return err_set(e, "%s: not a Morph artifact (a table is missing)", a->path);
	if (read_rows(a, &meta, e) < 0)
		return -1;
	if (!a->program.n)
		return err_set(e, "%s: damaged artifact: table meta is empty", a->path);
	return 0;
}

/* Is path FOLDER/xx/yyyy….morph of this build? */
static bool named_by(const char *path, const struct build_id *id)
{
	char *name = build_id_path("", 0, id);
	size_t n = name ? strlen(name) : 0, length = strlen(path);
	bool is = n && length >= n && !strcmp(path + length - n, name);

	free(name);
	return is;
}

/* Finds the program of that build among several. */
static int choose_program(struct artifact *a, const struct build_id *of, struct err *e)
{
	size_t i;

	for (i = 0; a->program.n > 1 && i < a->program.n; i++)
		if (of && of->n ? build_id_equal(of, &a->program.v[i].id)
				: named_by(a->path, &a->program.v[i].id))
			break;
	if (i == a->program.n)
		return err_set(e,
		    "%s: holds %zu programs; which of them, its name FOLDER/xx/yyyy….morph or "
		    "--program=BUILD-ID says",
		    a->path, a->program.n);
	a->current = (uint32_t)i;
	a->meta = a->program.v[i];
	return 0;
}

static int read_tables(struct artifact *a, struct err *e)
{
	const int64_t from = rows_begin(a), to = rows_end(a);
	const struct query
	    tu = {"tu",
		"SELECT id, name, as_args, size, original FROM tu WHERE id >= ? AND id < ? "
		"ORDER BY id",
		from, to, read_tu, NULL},
	    input = {"input",
		"SELECT id, kind, path, archive, tu, size FROM input WHERE id >= ? AND id < ? "
		"ORDER BY id",
		from, to, read_input, NULL},
	    recipe = {"recipe",
		"SELECT ord, arg FROM recipe WHERE ord >= ? AND ord < ? ORDER BY ord", from, to,
		read_recipe, NULL};

	if (read_rows(a, &tu, e) < 0 || functions_load(a, e) || read_rows(a, &input, e) < 0 ||
	    read_rows(a, &recipe, e) < 0)
		return -1;
	return 0;
}

static int64_t pragma(struct artifact *a, const char *name, struct err *e)
{
	char *sql = xasprintf("PRAGMA %s", name);
	sqlite3_stmt *st;
	int64_t v = -1;

	if (sqlite3_prepare_v2(a->db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_step(st) != SQLITE_ROW) {
		if (sqlite3_errcode(a->db) == SQLITE_NOTADB)
			err_set(e,
			    "%s: not a Morph artifact (morphctl artifact show "
			    "PROGRAM says where a program's is)",
			    a->path);
		else
			artifact_db_error(a, e);
	} else {
		v = (uint32_t)sqlite3_column_int64(st, 0); /* -1 is an error here */
	}
	sqlite3_finalize(st);
	free(sql);
	return v;
}

static int check_format(struct artifact *a, struct err *e)
{
	int64_t id = pragma(a, "application_id", e), version, pages;

	if (id < 0)
		return -1;
	if (id != ARTIFACT_APPLICATION)
		return err_set(e, "%s: not a Morph artifact", a->path);
	version = pragma(a, "user_version", e);
	if (version < 0)
		return -1;
	a->format = version;
	if (version < UNPACKED_FORMAT || version > ARTIFACT_FORMAT)
		return err_set(e, "%s: artifact format %lld, this Morph reads %d: build it again",
		    a->path, (long long)version, ARTIFACT_FORMAT);
	pages = pragma(a, "page_count", e);
	if (pages < 0)
		return -1;
	if (pages * pragma(a, "page_size", e) != a->file_size)
		return err_set(e, "%s: damaged artifact: cut off, or bytes after its end", a->path);
	return 0;
}

static struct artifact *take_fd(int fd, const char *name)
{
	struct artifact *a = xcalloc(1, sizeof *a);

	a->fd = fd;
	a->path = xstrdup(name);
	return a;
}

static int open_checked(struct artifact *a, const struct build_id *of, struct err *e)
{
	struct stat st;

	if (fstat(a->fd, &st) < 0)
		return err_sys(e, "%s", a->path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "%s: not a regular file", a->path);
	a->file_size = st.st_size;
	if (artifact_connect(a, e) < 0 || check_format(a, e) < 0)
		return -1;
	return read_meta_table(a, e) ?: choose_program(a, of, e);
}

struct artifact *artifact_open_fd(
    int fd, const char *name, const struct build_id *of, struct err *e)
{
	struct artifact *a = take_fd(fd, name);

	if (!open_checked(a, of, e) && !read_tables(a, e)) {
		/* What is read from here on is read by the row. */
		sqlite3_progress_handler(a->db, 0, NULL, NULL);
		return a;
	}
	artifact_release(a);
	return NULL;
}

struct artifact *artifact_open_of(const char *path, const struct build_id *of, struct err *e)
{
	int fd = file_open(path, e);

	return fd < 0 ? NULL : artifact_open_fd(fd, path, of, e);
}

struct artifact *artifact_open(const char *path, struct err *e)
{
	return artifact_open_of(path, NULL, e);
}

int artifact_peek(const char *path, struct build_id *id, char **name, struct err *e)
{
	int fd = file_open(path, e), r;
	struct artifact *a;

	if (fd < 0)
		return -1;
	a = take_fd(fd, path);
	r = open_checked(a, NULL, e);
	if (!r)
		*id = a->meta.id;
	if (!r && name)
		*name = xstrdup(a->meta.name);
	artifact_release(a);
	return r;
}

void artifact_close(struct artifact *a)
{
	if (a)
		artifact_release(a);
}

const struct art_meta *artifact_meta(struct artifact *a)
{
	return &a->meta;
}

size_t artifact_programs(struct artifact *a)
{
	return a->program.n;
}

bool artifact_lifted(struct artifact *a)
{
	return !strcmp(a->meta.ld, ART_LIFTED);
}

size_t artifact_tus(struct artifact *a, const struct art_tu **tu)
{
	*tu = a->tu.v;
	return a->tu.n;
}

size_t artifact_funcs(struct artifact *a, const struct art_func **func)
{
	*func = a->func.v;
	return a->func.n;
}

size_t artifact_inputs(struct artifact *a, const struct art_input **input)
{
	*input = a->input.v;
	return a->input.n;
}

size_t artifact_recipe(struct artifact *a, const char *const **arg)
{
	*arg = a->recipe.v;
	return a->recipe.n;
}

/* Adds the content that these strings are the form of. */
static int join(
    enum pack_form form, const struct buf *s, uint64_t size, struct buf *out, struct err *e)
{
	switch (form) {
	case FORM_TEXTS:
		return text_join(s, size, out, e);
	case FORM_MAP:
		return map_join(s, size, out, e);
	case FORM_LIBRARY:
		return library_join(s, out, e);
	default:
		buf_add(out, s->p, s->n);
		return 0;
	}
}

/* Unpacks the (form, size, z) of the row. */
static void unpack_pack(struct reader *r)
{
	static const size_t streams[] = {[FORM_BYTES] = 1,
	    [FORM_TEXTS] = TEXT_STREAMS,
	    [FORM_MAP] = MAP_STREAMS,
	    [FORM_LIBRARY] = LIBRARY_STREAMS};
	enum { MOST = TEXT_STREAMS };
	struct buf s[MOST] = {0}, *out = r->arg;
	enum pack_form form = (enum pack_form)col_int(r, 0, FORM_BYTES, FORM_LIBRARY);
	uint64_t size = (uint64_t)col_int(r, 1, 0, PACK_MAX);
	size_t n, i;
	const void *z = col_blob(r, 2, &n);

	if (form == FORM_FUNCTIONS)
		refuse(r, "a reference to functions");
	if (r->bad)
		return;
	if (unpack_small(z, n, STREAMS_MAX(size), 0, s, streams[form], r->e) ||
	    join(form, s, size, out, r->e) ||
	    (out->n != size && err_set(r->e, "compressed content is damaged (size)"))) {
		err_wrap(r->e, "%s: damaged artifact: table %s", r->a->path, r->table);
		r->bad = true;
	}
	for (i = 0; i < MOST; i++)
		buf_free(&s[i]);
}

/* The content of a pack, which is kept; the last ones that were asked for come first. */
static const struct buf *unpacked(struct artifact *a, int64_t id, struct err *e)
{
	struct unpacked *u = a->unpacked.v, this = {id, {0}};
	const struct query q = {"pack", "SELECT form, size, z FROM pack WHERE id = ?", id, 0,
	    unpack_pack, &this.content};
	size_t i, all = 0;

	for (i = 0; i < a->unpacked.n && u[i].id != id; i++)
		continue;
	if (i < a->unpacked.n) {
		this = u[i];
	} else if (read_row(a, &q, e) < 0) {
		buf_free(&this.content);
		return NULL;
	} else {
		vec_push(&a->unpacked, this);
		u = a->unpacked.v;
	}
	memmove(u + 1, u, i * sizeof *u);
	u[0] = this;
	for (i = 0; i < a->unpacked.n; i++) {
		all += u[i].content.n;
		if (i && all > UNPACKED * PACK_FULL)
			buf_free(&u[i].content);
	}
	for (; a->unpacked.n && !u[a->unpacked.n - 1].content.p; a->unpacked.n--)
		continue;
	return &u->content;
}

/* Of a row with content. */
struct content {
	int64_t id, max, pack; /* -1 = in no pack */
	uint64_t size, at;     /* in the pack */
	struct hash128 hash;
	struct buf *out;
};

/* Adds content that lies in a pack. */
static int add_from_pack(
    struct artifact *a, const struct content *c, struct buf *out, struct err *e)
{
	const struct buf *pack = unpacked(a, c->pack, e);
	struct hash128 h;

	if (!pack)
		return -1;
	if (c->at > pack->n || c->size > pack->n - c->at)
		return err_set(e, "%s: damaged artifact: table pack: outside of it", a->path);
	h = hash_bytes(pack->p + c->at, c->size);
	if (!hash_equal(&h, &c->hash))
		return err_set(e, "%s: damaged artifact: content does not match its hash", a->path);
	buf_add(out, pack->p + c->at, c->size);
	return 0;
}

static void read_reference(struct reader *r, const uint8_t *p, size_t n)
{
	struct content *c = r->arg;
	const uint8_t *end = p + n;
	uint64_t pack;

	p++;
	if (uleb_read(&p, end, &pack) < 0 || uleb_read(&p, end, &c->at) < 0 || p != end ||
	    pack > ROWS_MAX)
		refuse(r, "a reference to no pack");
	else
		c->pack = (int64_t)pack;
}

/* The (size, hash, z) of the row; a frame is unpacked at once. */
static void read_content_row(struct reader *r)
{
	struct content *c = r->arg;
	const uint8_t *z;
	size_t n;

	c->size = (uint64_t)col_int(r, 0, 0, c->max);
	c->hash = col_hash(r, 1);
	z = col_blob(r, 2, &n);
	if (r->bad)
		return;
	if (n && *z == REFERENCE)
		read_reference(r, z, n);
	else if (unpack_bytes(z, n, c->size, &c->hash, c->out, r->e) < 0) {
		err_wrap(r->e, "%s: damaged artifact: table %s, row %lld", r->a->path, r->table,
		    (long long)c->id);
		r->bad = true;
	}
}

static int read_content(struct artifact *a, const char *name, const char *sql, uint32_t id,
    int64_t max, struct buf *out, struct err *e)
{
	struct content c = {.id = id, .pack = -1, .max = max, .out = out};
	const struct query q = {name, sql, rows_begin(a) + id, 0, read_content_row, &c};

	if (read_row(a, &q, e) < 0)
		return -1;
	return c.pack < 0 ? 0 : add_from_pack(a, &c, out, e);
}

int artifact_text(struct artifact *a, uint32_t tu, struct buf *out, struct err *e)
{
	return read_content(
	    a, "tu", "SELECT size, hash, z FROM tu WHERE id = ?", tu, PACK_MAX, out, e);
}

int artifact_content(struct artifact *a, uint32_t input, struct buf *out, struct err *e)
{
	return read_content(
	    a, "input", "SELECT size, hash, z FROM input WHERE id = ?", input, PACK_MAX, out, e);
}

int artifact_blockmap(struct artifact *a, struct buf *out, struct err *e)
{
	return read_content(
	    a, "blockmap", "SELECT size, hash, z FROM blockmap WHERE id = ?", 0, MAP_MAX, out, e);
}
