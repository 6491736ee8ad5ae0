#include "common/artifact/functions.h"
#include "common/artifact/rows.h"
#include "common/pack.h"
#include "common/sort.h"

#include <string.h>

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

static int by_place(const void *x, const void *y)
{
	const struct art_func *a = x, *b = y;

	return ORDER(a->tu, b->tu) ?: ORDER(a->ord, b->ord);
}

static void read_func(struct reader *r)
{
	struct art_func f = {0};
	int64_t tu = col_id(r, 0);

	f.tu = tu > UINT32_MAX ? UINT32_MAX : (uint32_t)tu;
	f.ord = (uint32_t)col_int(r, 1, 0, UINT32_MAX);
	f.name = col_text(r, 2);
	f.key = col_hash(r, 3);
	f.nblock = (uint32_t)col_int(r, 4, 0, UINT32_MAX);
	f.insns = read_insns(r, 5, f.nblock);
	f.opaque = col_text(r, 6);
	if (f.tu >= r->a->tu.n)
		refuse(r, "number out of range");
	vec_push(&r->a->func, f);
}

/* ---- homes: of units that several programs have, the first of these has the functions ---- */

struct unit_home {
	int64_t home; /* the row of that unit … */
	uint32_t tu;  /* … which this one is the same as */
};

struct homes {
	VEC(struct unit_home) unit; /* of the current program, by home */
	struct htab row;            /* by hash of a unit -> 1 + row of the first, 0 = its own */
};

static int by_home(const void *a, const void *b)
{
	const struct unit_home *x = a, *y = b;

	return ORDER(x->home, y->home) ?: ORDER(x->tu, y->tu);
}

/* A unit of a program before. */
static void note_first(struct reader *r)
{
	struct homes *h = r->arg;
	int64_t row = col_int(r, 0, 0, INT64_MAX - 1);
	struct hash128 hash = col_hash(r, 1);
	uint64_t *first = htab_get(&h->row, hash.b, sizeof hash.b);

	if (first && !*first)
		*first = (uint64_t)row + 1;
}

static int find_homes(struct artifact *a, struct homes *h, struct err *e)
{
	const struct query before = {"tu", "SELECT id, original FROM tu WHERE id < ? ORDER BY id",
	    rows_begin(a), 0, note_first, h};
	uint64_t *first;
	uint32_t i;

	for (i = 0; i < a->tu.n; i++)
		htab_put(&h->row, a->tu.v[i].hash.b, sizeof a->tu.v[i].hash.b, NULL);
	if (a->current && read_rows(a, &before, e) < 0)
		return -1;
	for (i = 0; i < a->tu.n; i++) {
		first = htab_get(&h->row, a->tu.v[i].hash.b, sizeof a->tu.v[i].hash.b);
		vec_push(&h->unit,
		    (struct unit_home){*first ? (int64_t)*first - 1 : rows_begin(a) + i, i});
	}
	vec_sort(&h->unit, by_home);
	return 0;
}

/* ---- functions in columns ---- */

struct columns {
	struct reader *r;
	const uint8_t *at[FUNC_COLUMNS], *end[FUNC_COLUMNS];
};

static int64_t column_wide(struct columns *c, int i, int64_t max)
{
	uint64_t v = 0;

	if (uleb_read(&c->at[i], c->end[i], &v) < 0 || v > (uint64_t)max) {
		refuse(c->r, "number out of range");
		return 0;
	}
	return (int64_t)v;
}

static uint32_t column_number(struct columns *c, int i)
{
	return (uint32_t)column_wide(c, i, UINT32_MAX);
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

/* One of the unit of that row, for each unit that is the same. What is the same counts, or a small
 * file would be many functions. */
static void add_func(struct reader *r, struct art_func *f, int64_t row)
{
	const struct homes *h = r->arg;
	size_t i = partition_point(0, h->unit.n, k, h->unit.v[k].home < row);

	if (row >= rows_begin(r->a) + (int64_t)r->a->tu.n && row < rows_end(r->a))
		refuse(r, "number out of range");
	for (; i < h->unit.n && h->unit.v[i].home == row && spend(r, 1); i++) {
		f->tu = h->unit.v[i].tu;
		vec_push(&r->a->func, *f);
	}
}

static void parse_funcs(struct reader *r, const struct buf *column)
{
	struct columns c = {.r = r};
	struct art_func f = {0};
	int64_t row = 0;
	int i;

	for (i = 0; i < FUNC_COLUMNS; i++) {
		c.at[i] = (const uint8_t *)column[i].p;
		c.end[i] = column[i].n ? c.at[i] + column[i].n : c.at[i];
	}
	while (!r->bad && c.at[PLACES] < c.end[PLACES]) {
		row += column_wide(&c, PLACES, (int64_t)PROGRAMS_MAX << PROGRAM_SHIFT);
		f.ord = column_number(&c, PLACES);
		f.name = column_text(&c, NAMES);
		f.opaque = column_text(&c, OPAQUE);
		f.key = column_key(&c);
		f.nblock = column_number(&c, BLOCKS);
		f.insns = parse_insns(r, &c.at[INSNS], c.end[INSNS], f.nblock);
		add_func(r, &f, row);
	}
	for (i = 0; i < FUNC_COLUMNS; i++)
		if (c.at[i] != c.end[i])
			refuse(r, "more in it than its functions");
}

static void read_packed_funcs(struct reader *r)
{
	struct buf column[FUNC_COLUMNS] = {0};
	const void *z;
	size_t n;
	int i;

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

/* Of each program that is home of one of these units. */
static int read_packs(struct artifact *a, struct err *e)
{
	struct query q = {"pack", "SELECT z FROM pack WHERE form = 3 AND size = ?", 0, 0,
	    read_packed_funcs, NULL};
	struct homes h = {0};
	int r = find_homes(a, &h, e);
	size_t i;

	q.arg = &h;
	for (i = 0; i < h.unit.n && r >= 0; i++) {
		q.from = h.unit.v[i].home >> PROGRAM_SHIFT;
		if (!i || h.unit.v[i - 1].home >> PROGRAM_SHIFT != q.from)
			r = read_rows(a, &q, e);
	}
	vec_free(&h.unit);
	htab_free(&h.row);
	return r;
}

int functions_load(struct artifact *a, struct err *e)
{
	const struct query rows = {"func",
	    "SELECT tu, ord, name, key, nblock, insns, opaque FROM func WHERE tu >= ? AND tu < ? "
	    "ORDER BY tu, ord",
	    rows_begin(a), rows_end(a), read_func, NULL};
	size_t i;

	if (read_rows(a, &rows, e) < 0 || (a->format > UNPACKED_FORMAT && read_packs(a, e) < 0))
		return -1;
	vec_sort(&a->func, by_place);
	for (i = 1; i < a->func.n; i++)
		if (by_place(&a->func.v[i - 1], &a->func.v[i]) == 0)
			return err_set(e, "%s: damaged artifact: functions twice", a->path);
	return 0;
}
