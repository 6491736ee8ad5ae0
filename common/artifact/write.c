/* Creating an artifact: a new file, its rows, and the commit. */
#include "common/artifact/columns.h"
#include "common/artifact/schema.h"
#include "common/pack.h"
#include "common/textpack.h"

#include <string.h>

struct artifact *artifact_create(const char *path, bool small, struct err *e)
{
	struct artifact *a = xcalloc(1, sizeof *a);
	/* No journal: until it is published nobody knows the file. */
	struct buf sql = {0};
	int i, r;

	a->fd = -1;
	a->path = xstrdup(path);
	a->small = small;
	/* The last page of each content is half empty. */
	if (small)
		buf_str(&sql, "PRAGMA page_size=512;");
	buf_printf(&sql,
	    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
	    "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN;",
	    ARTIFACT_APPLICATION, ARTIFACT_FORMAT);
	for (i = 0; i < TABLES; i++)
		buf_printf(&sql, "%s;", art_table[i].create);
	r = sqlite3_open_v2(path, &a->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_exec(a->db, buf_cstr(&sql), NULL, NULL, NULL);
	buf_free(&sql);
	if (r == SQLITE_OK)
		return a;
	artifact_db_error(a, e);
	artifact_release(a);
	return NULL;
}

static sqlite3_stmt *insert(struct artifact *a, enum table t)
{
	if (!a->insert[t])
		sqlite3_prepare_v2(a->db, art_table[t].insert, -1, &a->insert[t], NULL);
	return a->insert[t];
}

static void bind_text(sqlite3_stmt *st, int i, const char *s)
{
	sqlite3_bind_text(st, i, s ? s : "", -1, SQLITE_TRANSIENT);
}

static void bind_blob(sqlite3_stmt *st, int i, const void *p, size_t n)
{
	sqlite3_bind_blob64(st, i, n ? p : "", n, SQLITE_TRANSIENT);
}

/* Binds size, hash and compressed content from column i on. */
static void bind_packed(
    sqlite3_stmt *st, int i, uint64_t size, const struct hash128 *hash, const void *z, size_t n)
{
	sqlite3_bind_int64(st, i, (int64_t)size);
	bind_blob(st, i + 1, hash->b, sizeof hash->b);
	bind_blob(st, i + 2, z, n);
}

static int64_t row_id(const struct artifact *a, uint32_t id)
{
	return (int64_t)a->current << PROGRAM_SHIFT | id;
}

static int put(struct artifact *a, sqlite3_stmt *st, struct err *e)
{
	int r = sqlite3_step(st);

	if (r != SQLITE_DONE)
		artifact_db_error(a, e);
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	return r == SQLITE_DONE ? 0 : -1;
}

/* ---- packs ---- */

static int put_pack(struct artifact *a, int64_t id, enum pack_form form, size_t size,
    const struct buf *z, struct err *e)
{
	sqlite3_stmt *st = insert(a, PACK);

	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_int64(st, 2, form);
	sqlite3_bind_int64(st, 3, (int64_t)size);
	bind_blob(st, 4, z->p, z->n);
	return put(a, st, e);
}

static int flush(struct artifact *a, struct packing *p, struct err *e)
{
	struct buf s[TEXT_STREAMS] = {0}, z = {0};
	bool text = p == &a->texts && p->b.n && text_split(p->b.p, p->b.n, s);
	size_t i;
	int r = 0;

	if (text)
		pack_small(s, TEXT_STREAMS, 0, &z);
	else if (p->b.n)
		pack_small(&p->b, 1, 0, &z);
	if (p->b.n)
		r = put_pack(a, p->id, text ? FORM_TEXTS : FORM_BYTES, p->b.n, &z, e);
	for (i = 0; i < TEXT_STREAMS; i++)
		buf_free(&s[i]);
	buf_free(&z);
	p->b.n = 0;
	return r;
}

struct place {
	uint32_t pack, at;
};

static void refer(sqlite3_stmt *st, int i, const struct hash128 *hash, size_t n, struct place to)
{
	struct buf z = {0};

	buf_char(&z, REFERENCE);
	buf_uleb(&z, to.pack);
	buf_uleb(&z, to.at);
	bind_packed(st, i, n, hash, z.p, z.n);
	buf_free(&z);
}

/* Content that is there already is not put a second time. */
static bool refer_again(
    struct artifact *a, sqlite3_stmt *st, int i, const struct hash128 *hash, size_t n)
{
	const uint64_t *there = htab_get(&a->content, hash->b, sizeof hash->b);

	if (there)
		refer(st, i, hash, n, (struct place){(uint32_t)(*there >> 32), (uint32_t)*there});
	return there;
}

static void refer_first(struct artifact *a, sqlite3_stmt *st, int i, const struct hash128 *hash,
    size_t n, struct place to)
{
	*htab_put(&a->content, hash->b, sizeof hash->b, NULL) = (uint64_t)to.pack << 32 | to.at;
	refer(st, i, hash, n, to);
}

/* Content in a pack of its own. */
static int add_alone(struct artifact *a, sqlite3_stmt *st, int i, const void *p, size_t n,
    enum pack_form form, const struct buf *s, size_t streams, struct err *e)
{
	struct hash128 hash = hash_bytes(p, n);
	struct buf z = {0};
	int r;

	if (refer_again(a, st, i, &hash, n))
		return 0;
	pack_small(s, streams, 0, &z);
	refer_first(a, st, i, &hash, n, (struct place){(uint32_t)a->packs, 0});
	r = put_pack(a, a->packs++, form, n, &z, e);
	buf_free(&z);
	return r;
}

static int add_packed(struct artifact *a, sqlite3_stmt *st, int i, const void *p, size_t n,
    const struct hash128 *hash, struct err *e)
{
	struct packing *to = text_plain(p, n) ? &a->texts : &a->others;

	if (refer_again(a, st, i, hash, n))
		return 0;
	if (to->b.n && to->b.n + n > PACK_FULL && flush(a, to, e))
		return -1;
	if (!to->b.n)
		to->id = a->packs++;
	refer_first(a, st, i, hash, n, (struct place){(uint32_t)to->id, (uint32_t)to->b.n});
	buf_add(&to->b, p, n);
	return 0;
}

static int bind_content(
    struct artifact *a, sqlite3_stmt *st, int i, const void *p, size_t n, struct err *e)
{
	struct hash128 hash = hash_bytes(p, n);
	struct buf z = {0};

	if (n > PACK_MAX)
		return err_set(
		    e, "%s: content of %zu bytes exceeds the limit of 1 GiB", a->path, n);
	if (a->small && n)
		return add_packed(a, st, i, p, n, &hash, e);
	pack_bytes(p, n, &z);
	bind_packed(st, i, n, &hash, z.p, z.n);
	buf_free(&z);
	return 0;
}

static void add_func(struct artifact *a, const struct art_func *f)
{
	uint64_t tu = (uint64_t)row_id(a, f->tu);
	struct buf *c = a->func_column;
	uint32_t i;

	buf_uleb(&c[PLACES], tu - a->func_tu);
	buf_uleb(&c[PLACES], f->ord);
	buf_add(&c[NAMES], f->name, strlen(f->name) + 1);
	buf_add(&c[OPAQUE], f->opaque, strlen(f->opaque) + 1);
	buf_add(&c[KEYS], f->key.b, sizeof f->key.b);
	buf_uleb(&c[BLOCKS], f->nblock);
	for (i = 0; i < f->nblock; i++)
		buf_uleb(&c[INSNS], f->insns[i]);
	a->func_tu = tu;
}

/* The functions of the current program. */
static int put_functions(struct artifact *a, struct err *e)
{
	struct buf z = {0};
	int i, r;

	if (!a->func_column[PLACES].n)
		return 0;
	pack_small(a->func_column, FUNC_COLUMNS, FUNC_RATIO, &z);
	r = put_pack(a, a->packs++, FORM_FUNCTIONS, a->current, &z, e);
	for (i = 0; i < FUNC_COLUMNS; i++)
		a->func_column[i].n = 0;
	a->func_tu = 0;
	buf_free(&z);
	return r;
}

/* ---- rows ---- */

int artifact_put_meta(struct artifact *a, const struct art_meta *m, struct err *e)
{
	sqlite3_stmt *st = insert(a, META);

	if (artifact_turn_to(a, a->programs, e))
		return -1;
	if (a->programs++ == PROGRAMS_MAX)
		return err_set(e, "%s: more than %d programs", a->path, PROGRAMS_MAX);
	a->elsewhere.n = 0;
	bind_blob(st, 1, m->id.b, m->id.n);
	bind_text(st, 2, m->name);
	bind_text(st, 3, m->producer);
	bind_text(st, 4, m->ld);
	sqlite3_bind_int64(st, 5, m->kind);
	return put(a, st, e);
}

int artifact_turn_to(struct artifact *a, uint32_t program, struct err *e)
{
	if (put_functions(a, e))
		return -1;
	a->current = program;
	return 0;
}

static void note_home(struct artifact *a, const struct hash128 *unit)
{
	bool fresh;
	uint64_t *first = htab_put(&a->home, unit->b, sizeof unit->b, &fresh);

	if (fresh)
		*first = a->current;
	vec_push(&a->elsewhere, *first != a->current);
}

/* Without its text. */
static sqlite3_stmt *insert_tu(struct artifact *a, const struct art_tu *tu)
{
	sqlite3_stmt *st = insert(a, TU);

	sqlite3_bind_int64(st, 1, row_id(a, tu->id));
	bind_text(st, 2, tu->name);
	bind_text(st, 3, tu->as_args);
	bind_blob(st, 4, tu->hash.b, sizeof tu->hash.b);
	return st;
}

int artifact_put_tu(
    struct artifact *a, const struct art_tu *tu, const void *text, size_t n, struct err *e)
{
	sqlite3_stmt *st = insert_tu(a, tu);

	if (bind_content(a, st, 5, text, n, e) < 0)
		return -1;
	if (a->small)
		note_home(a, &tu->hash);
	return put(a, st, e);
}

int artifact_put_tu_packed(
    struct artifact *a, const struct art_tu *tu, const void *z, size_t n, struct err *e)
{
	sqlite3_stmt *st = insert_tu(a, tu);

	bind_packed(st, 5, tu->text_size, &tu->hash, z, n);
	return put(a, st, e);
}

int artifact_put_func(struct artifact *a, const struct art_func *f, struct err *e)
{
	sqlite3_stmt *st;
	struct buf insns = {0};
	uint32_t i;

	if (a->small) {
		if (!a->elsewhere.v[f->tu])
			add_func(a, f);
		return 0;
	}
	st = insert(a, FUNC);
	for (i = 0; i < f->nblock; i++)
		buf_uleb(&insns, f->insns[i]);
	sqlite3_bind_int64(st, 1, row_id(a, f->tu));
	sqlite3_bind_int64(st, 2, f->ord);
	bind_text(st, 3, f->name);
	bind_blob(st, 4, f->key.b, sizeof f->key.b);
	sqlite3_bind_int64(st, 5, f->nblock);
	bind_blob(st, 6, insns.p, insns.n);
	bind_text(st, 7, f->opaque);
	buf_free(&insns);
	return put(a, st, e);
}

static sqlite3_stmt *insert_input(struct artifact *a, const struct art_input *in)
{
	sqlite3_stmt *st = insert(a, INPUT);

	sqlite3_bind_int64(st, 1, row_id(a, in->id));
	sqlite3_bind_int64(st, 2, in->kind);
	bind_text(st, 3, in->path);
	if (in->archive >= 0)
		sqlite3_bind_int64(st, 4, in->archive);
	if (in->tu >= 0)
		sqlite3_bind_int64(st, 5, in->tu);
	return st;
}

int artifact_put_input(
    struct artifact *a, const struct art_input *in, const void *p, size_t n, struct err *e)
{
	sqlite3_stmt *st = insert_input(a, in);
	struct buf s[LIBRARY_STREAMS] = {0};
	int i, r;

	r = a->small && in->kind == ART_SHARED && library_split(p, n, s)
		? add_alone(a, st, 6, p, n, FORM_LIBRARY, s, LIBRARY_STREAMS, e)
		: bind_content(a, st, 6, p, n, e);
	for (i = 0; i < LIBRARY_STREAMS; i++)
		buf_free(&s[i]);
	return r ? -1 : put(a, st, e);
}

int artifact_put_input_packed(struct artifact *a, const struct art_input *in,
    const struct hash128 *hash, const void *z, size_t n, struct err *e)
{
	sqlite3_stmt *st = insert_input(a, in);

	bind_packed(st, 6, in->size, hash, z, n);
	return put(a, st, e);
}

int artifact_put_recipe(struct artifact *a, uint32_t ord, const char *arg, struct err *e)
{
	sqlite3_stmt *st = insert(a, RECIPE);

	sqlite3_bind_int64(st, 1, row_id(a, ord));
	bind_text(st, 2, arg);
	return put(a, st, e);
}

int artifact_put_blockmap(struct artifact *a, const void *p, size_t n, struct err *e)
{
	sqlite3_stmt *st = insert(a, BLOCKMAP);
	struct buf s[MAP_STREAMS] = {0};
	int i, r;

	sqlite3_bind_int64(st, 1, row_id(a, 0));
	r = a->small && map_split(p, n, s) ? add_alone(a, st, 2, p, n, FORM_MAP, s, MAP_STREAMS, e)
					   : bind_content(a, st, 2, p, n, e);
	for (i = 0; i < MAP_STREAMS; i++)
		buf_free(&s[i]);
	return r ? -1 : put(a, st, e);
}

int artifact_commit(struct artifact *a, struct err *e)
{
	int r =
	    a->small && (put_functions(a, e) || flush(a, &a->texts, e) || flush(a, &a->others, e))
		? -1
		: 0;

	if (!r && sqlite3_exec(a->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		r = artifact_db_error(a, e);
	artifact_release(a);
	return r;
}
