#include "common/artifact/columns.h"
#include "common/artifact/schema.h"
#include "common/sort.h"
#include "common/pack.h"
#include "common/publish.h"
#include "common/textpack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAME_MAX_BYTES = 1 << 16,
	ROWS_MAX = 1 << 24,
	ROW_BYTES = 6, /* what a row takes of its page at least: a cell of 4 and a pointer of 2 */
	MAP_MAX = 256 << 20
};

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
	buf_free(&a->content);
	if (a->fd >= 0)
		close(a->fd);
	free(a->path);
	free(a);
}

/* ---- reading: every column's type and range is checked here, once ---- */

/* Of a row with content. */
struct content {
	int64_t id, max, pack; /* -1 = in no pack */
	uint64_t size, at;     /* in the pack */
	struct hash128 hash;
	struct buf *out;
};

struct reader {
	struct artifact *a;
	sqlite3_stmt *st;
	const char *table;
	struct err *e;
	struct content content;
	bool bad;
};

static void refuse(struct reader *r, const char *what)
{
	if (!r->bad)
		err_set(r->e, "%s: damaged artifact: table %s: %s", r->a->path, r->table, what);
	r->bad = true;
}

static int64_t col_int(struct reader *r, int i, int64_t min, int64_t max)
{
	int64_t v = sqlite3_column_int64(r->st, i);

	if (sqlite3_column_type(r->st, i) == SQLITE_INTEGER && v >= min && v <= max)
		return v;
	refuse(r, "number out of range");
	return min;
}

static int64_t col_int_or_null(struct reader *r, int i, int64_t max)
{
	return sqlite3_column_type(r->st, i) == SQLITE_NULL ? -1 : col_int(r, i, 0, max);
}

/* Counts bytes that were read. Pages and cells that a damaged file names again
 * and again give more than the file holds. */
static bool spend(struct reader *r, size_t n)
{
	r->a->spent += n;
	if (r->a->spent > (uint64_t)r->a->file_size)
		refuse(r, "more in it than in the file");
	return !r->bad;
}

/* A text without NUL inside, copied. */
static const char *col_text(struct reader *r, int i)
{
	const char *s = NULL;
	int n;

	if (sqlite3_column_type(r->st, i) == SQLITE_TEXT)
		s = (const char *)sqlite3_column_text(r->st, i);
	n = sqlite3_column_bytes(r->st, i);
	if (n > NAME_MAX_BYTES)
		refuse(r, "a text of more than 64 KiB");
	else if (!s || strlen(s) != (size_t)n)
		refuse(r, "text out of range");
	return s && spend(r, (size_t)n) ? arena_strdup(&r->a->mem, s) : "";
}

static const void *col_blob(struct reader *r, int i, size_t *n)
{
	const void *p = sqlite3_column_blob(r->st, i);

	*n = (size_t)sqlite3_column_bytes(r->st, i);
	if (sqlite3_column_type(r->st, i) != SQLITE_BLOB)
		refuse(r, "not a blob");
	return spend(r, *n) && p ? p : "";
}

static struct hash128 col_hash(struct reader *r, int i)
{
	struct hash128 h = {0};
	size_t n;
	const void *p = col_blob(r, i, &n);

	if (n == sizeof h.b && !r->bad)
		memcpy(h.b, p, n);
	else
		refuse(r, "hash of the wrong length");
	return h;
}

static void read_meta(struct reader *r)
{
	struct art_meta *m = &r->a->meta;
	size_t n;
	const void *id = col_blob(r, 0, &n);

	if (m->name || n > sizeof m->id.b)
		refuse(r, m->name ? "more than one row" : "build-id too long");
	if (r->bad)
		return;
	m->id.n = (uint8_t)n;
	memcpy(m->id.b, id, n);
	m->name = col_text(r, 1);
	m->producer = col_text(r, 2);
	m->ld = col_text(r, 3);
	m->kind = (uint32_t)col_int(r, 4, 0, ELF_OTHER);
}

static void read_tu(struct reader *r)
{
	struct art_tu t = {.id = (uint32_t)r->a->tu.n};

	if (col_int(r, 0, 0, ROWS_MAX) != t.id)
		refuse(r, "ids are not 0, 1, 2…");
	t.name = col_text(r, 1);
	t.as_args = col_text(r, 2);
	t.text_size = (uint64_t)col_int(r, 3, 0, PACK_MAX);
	t.hash = col_hash(r, 4);
	vec_push(&r->a->tu, t);
}

static const uint32_t *parse_insns(
    struct reader *r, const uint8_t **p, const uint8_t *end, uint32_t nblock)
{
	uint32_t *insns, k;
	uint64_t v;

	if (nblock > (size_t)(end - *p)) {
		refuse(r, "fewer instruction counts than blocks");
		return NULL;
	}
	insns = arena_array(&r->a->mem, nblock, sizeof *insns);
	for (k = 0; k < nblock && !r->bad; k++) {
		if (uleb_read(p, end, &v) < 0 || v > UINT32_MAX)
			refuse(r, "instruction counts");
		insns[k] = (uint32_t)v;
	}
	return insns;
}

static const uint32_t *read_insns(struct reader *r, int i, uint32_t nblock)
{
	size_t n;
	const uint8_t *p = col_blob(r, i, &n), *end = p + n;
	const uint32_t *insns = parse_insns(r, &p, end, nblock);

	if (p != end)
		refuse(r, "more instruction counts than blocks");
	return insns;
}

static int by_place(const struct art_func *a, const struct art_func *b)
{
	return ORDER(a->tu, b->tu) ?: ORDER(a->ord, b->ord);
}

static void add_func(struct reader *r, const struct art_func *f)
{
	if (r->a->func.n && by_place(&r->a->func.v[r->a->func.n - 1], f) >= 0)
		refuse(r, "functions out of order");
	else if (f->tu >= r->a->tu.n)
		refuse(r, "number out of range");
	vec_push(&r->a->func, *f);
}

static void read_func(struct reader *r)
{
	struct art_func f = {0};

	f.tu = (uint32_t)col_int(r, 0, 0, (int64_t)r->a->tu.n - 1);
	f.ord = (uint32_t)col_int(r, 1, 0, UINT32_MAX);
	f.name = col_text(r, 2);
	f.key = col_hash(r, 3);
	f.nblock = (uint32_t)col_int(r, 4, 0, UINT32_MAX);
	f.insns = read_insns(r, 5, f.nblock);
	f.opaque = col_text(r, 6);
	add_func(r, &f);
}

/* ---- functions in columns ---- */

struct columns {
	struct reader *r;
	const uint8_t *at[FUNC_COLUMNS], *end[FUNC_COLUMNS];
};

static uint32_t column_number(struct columns *c, int i)
{
	uint64_t v = 0;

	if (uleb_read(&c->at[i], c->end[i], &v) < 0 || v > UINT32_MAX)
		refuse(c->r, "number out of range");
	return (uint32_t)v;
}

static const char *column_text(struct columns *c, int i)
{
	const uint8_t *s = c->at[i], *nul = NULL;

	if (s < c->end[i])
		nul = memchr(s, '\0', (size_t)(c->end[i] - s));
	if (!nul || nul - s > NAME_MAX_BYTES) {
		refuse(c->r, "text out of range");
		return "";
	}
	c->at[i] = nul + 1;
	return arena_strdup(&c->r->a->mem, (const char *)s);
}

static struct hash128 column_key(struct columns *c)
{
	struct hash128 h = {0};

	if ((size_t)(c->end[KEYS] - c->at[KEYS]) < sizeof h.b) {
		refuse(c->r, "hash of the wrong length");
		return h;
	}
	memcpy(h.b, c->at[KEYS], sizeof h.b);
	c->at[KEYS] += sizeof h.b;
	return h;
}

static void parse_funcs(struct reader *r, const struct buf *column)
{
	struct columns c = {.r = r};
	struct art_func f = {0};
	uint64_t tu = 0;
	int i;

	for (i = 0; i < FUNC_COLUMNS; i++) {
		c.at[i] = (const uint8_t *)column[i].p;
		c.end[i] = column[i].n ? c.at[i] + column[i].n : c.at[i];
	}
	while (!r->bad && c.at[PLACES] < c.end[PLACES]) {
		tu += column_number(&c, PLACES);
		f.tu = tu > UINT32_MAX ? UINT32_MAX : (uint32_t)tu;
		f.ord = column_number(&c, PLACES);
		f.name = column_text(&c, NAMES);
		f.opaque = column_text(&c, OPAQUE);
		f.key = column_key(&c);
		f.nblock = column_number(&c, BLOCKS);
		f.insns = parse_insns(r, &c.at[INSNS], c.end[INSNS], f.nblock);
		add_func(r, &f);
	}
	for (i = 0; i < FUNC_COLUMNS; i++)
		if (c.at[i] != c.end[i])
			refuse(r, "more in it than its functions");
}

/* The functions, where no rows say what they are. */
static void read_packed_funcs(struct reader *r)
{
	struct buf column[FUNC_COLUMNS] = {0};
	const void *z;
	size_t n;
	int i;

	if (r->a->func.n) {
		refuse(r, "functions twice");
		return;
	}
	z = col_blob(r, 0, &n);
	if (!r->bad && unpack_small(z, n, PACK_MAX, FUNC_RATIO, column, FUNC_COLUMNS, r->e)) {
		err_wrap(r->e, "%s: damaged artifact: table %s", r->a->path, r->table);
		r->bad = true;
	}
	if (!r->bad)
		parse_funcs(r, column);
	for (i = 0; i < FUNC_COLUMNS; i++)
		buf_free(&column[i]);
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

	if (col_int(r, 0, 0, ROWS_MAX) != in.id)
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

	if (col_int(r, 0, 0, ROWS_MAX) != (int64_t)r->a->recipe.n)
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

static int read_table(struct artifact *a, const char *name, const char *sql,
    void (*row)(struct reader *), int *rows, struct err *e)
{
	struct reader r = {.a = a, .table = name, .e = e};
	int s, n = 0;

	if (sqlite3_prepare_v2(a->db, sql, -1, &r.st, NULL) != SQLITE_OK)
		return artifact_db_error(a, e);
	while ((s = sqlite3_step(r.st)) == SQLITE_ROW && spend(&r, ROW_BYTES)) {
		row(&r);
		if (++n == ROWS_MAX)
			refuse(&r, "too many rows");
		if (r.bad)
			break;
	}
	if (s != SQLITE_ROW && s != SQLITE_DONE && !r.bad) {
		artifact_db_error(a, e);
		r.bad = true;
	}
	sqlite3_finalize(r.st);
	if (rows)
		*rows = n;
	return r.bad ? -1 : 0;
}

static int read_meta_table(struct artifact *a, struct err *e)
{
	int tables;

	if (read_table(a, "sqlite_schema",
		"SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema", read_schema,
		&tables, e) < 0)
		return -1;
	if (tables != TABLES - !a->packed)
		return err_set(e, "%s: not a Morph artifact (a table is missing)", a->path);
	if (read_table(a, "meta", "SELECT build_id, name, producer, ld, kind FROM meta", read_meta,
		NULL, e) < 0)
		return -1;
	if (!a->meta.name)
		return err_set(e, "%s: damaged artifact: table meta is empty", a->path);
	return 0;
}

static int read_tables(struct artifact *a, struct err *e)
{
	if (read_table(a, "tu", "SELECT id, name, as_args, size, original FROM tu ORDER BY id",
		read_tu, NULL, e) < 0 ||
	    read_table(a, "func",
		"SELECT tu, ord, name, key, nblock, insns, opaque FROM func ORDER BY tu, ord",
		read_func, NULL, e) < 0 ||
	    (a->packed && read_table(a, "pack", "SELECT z FROM pack WHERE form = 3",
			      read_packed_funcs, NULL, e) < 0) ||
	    read_table(a, "input",
		"SELECT id, kind, path, archive, tu, size FROM input ORDER BY id", read_input, NULL,
		e) < 0 ||
	    read_table(
		a, "recipe", "SELECT ord, arg FROM recipe ORDER BY ord", read_recipe, NULL, e) < 0)
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
	a->packed = version != UNPACKED_FORMAT;
	if (version != ARTIFACT_FORMAT && a->packed)
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
	a->unpacked = -1;
	a->path = xstrdup(name);
	return a;
}

static int open_checked(struct artifact *a, struct err *e)
{
	struct stat st;

	if (fstat(a->fd, &st) < 0)
		return err_sys(e, "%s", a->path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "%s: not a regular file", a->path);
	a->file_size = st.st_size;
	if (artifact_connect(a, e) < 0 || check_format(a, e) < 0)
		return -1;
	return read_meta_table(a, e);
}

struct artifact *artifact_open_fd(int fd, const char *name, struct err *e)
{
	struct artifact *a = take_fd(fd, name);

	if (!open_checked(a, e) && !read_tables(a, e)) {
		/* What is read from here on is read by the row. */
		sqlite3_progress_handler(a->db, 0, NULL, NULL);
		return a;
	}
	artifact_release(a);
	return NULL;
}

struct artifact *artifact_open(const char *path, struct err *e)
{
	int fd = file_open(path, e);

	return fd < 0 ? NULL : artifact_open_fd(fd, path, e);
}

int artifact_peek(const char *path, struct build_id *id, char **name, struct err *e)
{
	int fd = file_open(path, e), r;
	struct artifact *a;

	if (fd < 0)
		return -1;
	a = take_fd(fd, path);
	r = open_checked(a, e);
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
	struct buf s[MOST] = {0}, *out = &r->a->content;
	enum pack_form form = (enum pack_form)col_int(r, 0, FORM_BYTES, FORM_LIBRARY);
	uint64_t size = (uint64_t)col_int(r, 1, 0, PACK_MAX);
	size_t n, i;
	const void *z = col_blob(r, 2, &n);

	if (form == FORM_FUNCTIONS)
		refuse(r, "a reference to functions");
	if (r->bad)
		return;
	out->n = 0;
	if (unpack_small(z, n, STREAMS_MAX(size), 0, s, streams[form], r->e) ||
	    join(form, s, size, out, r->e) ||
	    (out->n != size && err_set(r->e, "compressed content is damaged (size)"))) {
		err_wrap(r->e, "%s: damaged artifact: table %s", r->a->path, r->table);
		r->bad = true;
	}
	for (i = 0; i < MOST; i++)
		buf_free(&s[i]);
}

/* Has fn read the row with this id. */
static int read_row(struct reader *r, const char *sql, int64_t id, void (*fn)(struct reader *))
{
	struct artifact *a = r->a;

	if (sqlite3_prepare_v2(a->db, sql, -1, &r->st, NULL) != SQLITE_OK)
		return artifact_db_error(a, r->e);
	sqlite3_bind_int64(r->st, 1, id);
	switch (sqlite3_step(r->st)) {
	case SQLITE_ROW:
		a->spent = 0;
		fn(r);
		break;
	case SQLITE_DONE:
		refuse(r, "no such row");
		break;
	default:
		artifact_db_error(a, r->e);
		r->bad = true;
	}
	sqlite3_finalize(r->st);
	return r->bad ? -1 : 0;
}

/* Adds content that lies in a pack. */
static int add_from_pack(
    struct artifact *a, const struct content *c, struct buf *out, struct err *e)
{
	struct reader r = {.a = a, .table = "pack", .e = e};
	struct hash128 h;

	if (a->unpacked != c->pack) {
		a->unpacked = -1;
		if (read_row(&r, "SELECT form, size, z FROM pack WHERE id = ?", c->pack,
			unpack_pack) < 0)
			return -1;
		a->unpacked = c->pack;
	}
	if (c->at > a->content.n || c->size > a->content.n - c->at)
		return err_set(e, "%s: damaged artifact: table pack: outside of it", a->path);
	h = hash_bytes(a->content.p + c->at, c->size);
	if (!hash_equal(&h, &c->hash))
		return err_set(e, "%s: damaged artifact: content does not match its hash", a->path);
	buf_add(out, a->content.p + c->at, c->size);
	return 0;
}

static void read_reference(struct reader *r, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	uint64_t pack;

	p++;
	if (uleb_read(&p, end, &pack) < 0 || uleb_read(&p, end, &r->content.at) < 0 || p != end ||
	    pack > ROWS_MAX)
		refuse(r, "a reference to no pack");
	else
		r->content.pack = (int64_t)pack;
}

/* The (size, hash, z) of the row; a frame is unpacked at once. */
static void read_content_row(struct reader *r)
{
	struct content *c = &r->content;
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

static int read_content(struct artifact *a, const char *name, const char *sql, int64_t id,
    int64_t max, struct buf *out, struct err *e)
{
	struct reader r = {.a = a,
	    .table = name,
	    .e = e,
	    .content = {.id = id, .pack = -1, .max = max, .out = out}};

	if (read_row(&r, sql, id, read_content_row) < 0)
		return -1;
	return r.content.pack < 0 ? 0 : add_from_pack(a, &r.content, out, e);
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
