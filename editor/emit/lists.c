/*
 * Entries of range and location lists, which compilers print one value a statement: a kind, two
 * bounds, and in location lists an expression with its length before it. An entry whose code was
 * laid out in another order becomes one for each piece of it. Before DWARF 5 an entry has no kind,
 * and its bounds are relative to the unit or, after a pair (-1, base), to that. Formats: DWARF 5
 * (2017), sections 2.17.3, 2.6.2, 7.25, 7.29; DWARF 4, sections 2.17.3, 2.6.2.
 */
#include "editor/emit/emit.h"

#include <stdlib.h>

enum { RLE_OFFSET_PAIR = 4, RLE_START_LENGTH = 7 };
enum { LLE_OFFSET_PAIR = 4, LLE_START_LENGTH = 8 };
/* An expression is repeated for each piece; values are lost beyond so many. */
enum { PIECES_MAX = 64 };

struct list_format {
	const char *section;
	bool location;
	uint8_t offset_pair, start_length; /* kinds of entries; 0 = they have none */
};
static const struct list_format format[] = {
    {".debug_rnglists", false, RLE_OFFSET_PAIR, RLE_START_LENGTH},
    {".debug_loclists", true, LLE_OFFSET_PAIR, LLE_START_LENGTH}, {".debug_ranges", false, 0, 0},
    {".debug_loc", true, 0, 0}};

struct entry {
	struct str from, to;
	struct str base;       /* n = 0: none, the bounds are addresses */
	uint32_t content, end; /* statements: of the expression, and after it */
};

static bool is_data(const struct stmt *st, const char *op)
{
	return st->kind == ST_DIR && st->dir == DIR_DATA && str_is(st->op, op);
}

static bool to_number(struct str s, uint64_t *v)
{
	char text[24] = "", *end;

	if (!s.n || s.n >= sizeof text)
		return false;
	memcpy(text, s.p, s.n);
	*v = strtoull(text, &end, 0);
	return !*end;
}

/* The left and right side of a difference; the left is empty if it is none. */
static struct str minuend(struct str s, struct str *right)
{
	const char *minus = memrchr(s.p, '-', s.n);
	uint32_t n = minus ? (uint32_t)(minus - s.p) : 0;

	*right = minus ? (struct str){minus + 1, s.n - n - 1} : (struct str){s.p, 0};
	return (struct str){s.p, n};
}

static uint32_t leb_bytes(const char *op, struct str arg)
{
	bool is_signed = op[1] == 's';
	uint32_t n = 1;
	uint64_t v;
	int64_t s;

	if (!to_number(arg, &v))
		return 0;
	for (s = (int64_t)v; is_signed ? s < -64 || s > 63 : v > 127; n++) {
		s >>= 7;
		v >>= 7;
	}
	return n;
}

/* Bytes that a data directive prints; 0 = not known. */
static uint32_t data_bytes(const struct stmt *st)
{
	static const struct {
		const char *op;
		uint32_t size; /* of an operand; 0 = LEB128 */
	} kind[] = {{".byte", 1}, {".value", 2}, {".short", 2}, {".long", 4}, {".quad", 8},
	    {".uleb128", 0}, {".sleb128", 0}};
	uint32_t i, n = 0;
	struct str arg;

	if (st->kind != ST_DIR || st->dir != DIR_DATA)
		return 0;
	for (i = 0; i < sizeof kind / sizeof *kind; i++)
		if (str_is(st->op, kind[i].op))
			break;
	if (i == sizeof kind / sizeof *kind)
		return 0;
	if (!kind[i].size)
		return leb_bytes(kind[i].op, st->arg);
	while ((arg = operand_at(st->arg, n)).n)
		n++;
	return n * kind[i].size;
}

/* The expression of a location: statements from i on. */
static bool read_content(
    const struct unit_impl *u, uint32_t i, const struct list_format *t, struct entry *e)
{
	const struct stmt *st = &u->stmt.v[i];
	uint64_t n;
	uint32_t bytes;

	e->content = i;
	/* clang prints short lengths as bytes. */
	if (i >= u->stmt.n || !to_number(st->arg, &n) ||
	    !(t->offset_pair ? is_data(st, ".uleb128") || (is_data(st, ".byte") && n < 128)
			     : is_data(st, ".value") || is_data(st, ".short")))
		return false;
	for (i++; n; i++, n -= bytes) {
		bytes = i < u->stmt.n ? data_bytes(&u->stmt.v[i]) : 0;
		if (!bytes || bytes > n)
			return false;
	}
	e->end = i;
	return true;
}

static bool read_bounds_5(const struct stmt *st, const struct list_format *t, struct entry *e)
{
	uint64_t kind;
	struct str base;

	if (!is_data(st, ".byte") || !to_number(st->arg, &kind) || !is_data(st + 2, ".uleb128"))
		return false;
	if (kind == t->offset_pair && is_data(st + 1, ".uleb128"))
		e->from = minuend(st[1].arg, &base);
	else if (kind == t->start_length && is_data(st + 1, ".quad"))
		e->from = st[1].arg;
	else
		return false;
	e->to = minuend(st[2].arg, &base);
	return true;
}

/* ".LVL4-1" is an address, and ".LVL4-.Ltext0" is not. */
static struct str address_4(struct str arg, struct str *base)
{
	struct str left = minuend(arg, base);

	if (str_starts(*base, ".L"))
		return left;
	base->n = 0;
	return arg;
}

static bool read_bounds_4(const struct stmt *st, struct entry *e)
{
	struct str base;

	if (!is_data(st, ".quad") || !is_data(st + 1, ".quad"))
		return false;
	e->from = address_4(st[0].arg, &e->base);
	e->to = address_4(st[1].arg, &base);
	return str_equal(base, e->base);
}

static bool read_entry(
    const struct unit_impl *u, uint32_t i, const struct list_format *t, struct entry *e)
{
	const struct stmt *st = &u->stmt.v[i];

	*e = (struct entry){.content = i + (t->offset_pair ? 3 : 2)};
	e->end = e->content;
	if (e->end > u->stmt.n ||
	    !(t->offset_pair ? read_bounds_5(st, t, e) : read_bounds_4(st, e)))
		return false;
	return !t->location || read_content(u, e->content, t, e);
}

/* Adds the pieces of the entry at statement i. */
static bool add_entry(struct debug *d, uint32_t i, const struct list_format *t, struct entry *e)
{
	return i < d->u->stmt.n && d->u->stmt.v[i].kind == ST_DIR && read_entry(d->u, i, t, e) &&
	       moved_names(d->moved, e->from, e->to) &&
	       moved_range(d->moved, e->from, e->to, &d->pieces);
}

static void print_bounds(
    struct debug *d, const struct piece *p, const struct list_format *t, struct buf *out)
{
	if (t->start_length)
		buf_printf(out, "\t.byte\t%d\n", t->start_length);
	buf_str(out, "\t.quad\t");
	moved_from(d->moved, p, out);
	buf_str(out, t->start_length ? "\n\t.uleb128 " : "\n\t.quad\t");
	moved_to(d->moved, p, out);
	if (t->start_length) {
		buf_str(out, "-(");
		moved_from(d->moved, p, out);
		buf_char(out, ')');
	}
	buf_char(out, '\n');
}

static void print_entries(
    struct debug *d, const struct entry *e, const struct list_format *t, struct buf *out)
{
	uint32_t k;
	size_t i;

	if (e->base.n)
		buf_str(out, "\t.quad\t-1, 0\n");
	for (i = 0; i < d->pieces.n; i++) {
		print_bounds(d, &d->pieces.v[i], t, out);
		for (k = e->content; k < e->end; k++) {
			buf_add(out, d->u->stmt.v[k].line.p, d->u->stmt.v[k].line.n);
			buf_char(out, '\n');
		}
	}
	if (e->base.n)
		buf_printf(out, "\t.quad\t-1, %.*s\n", (int)e->base.n, e->base.p);
}

/* ---- GCC's lists of DWARF 4 ---- */

/* They have no labels: DIEs name them by their offset from this one. */
static const char GCC_RANGES[] = ".Ldebug_ranges0";

/* The first statement of .debug_ranges, as GCC prints it; else NONE. */
static uint32_t gcc_ranges(const struct unit_impl *u)
{
	const struct label *l =
	    label_find(u, (struct str){GCC_RANGES, (uint32_t)sizeof GCC_RANGES - 1});

	return l && str_is(u->section.v[u->stmt.v[l->stmt].section].name, ".debug_ranges")
		   ? l->stmt + 1
		   : NONE;
}

static bool begins_list(const struct debug *d, uint32_t i)
{
	const struct stmt *st = &d->u->stmt.v[i];

	return i == d->gcc_ranges ||
	       (i >= d->gcc_ranges + 2 && is_data(st - 1, ".quad") && str_is(st[-1].arg, "0") &&
		   is_data(st - 2, ".quad") && str_is(st[-2].arg, "0"));
}

void lists_begin(struct debug *d)
{
	d->gcc_ranges = gcc_ranges(d->u);
}

bool lists_emit_offset(struct debug *d, const struct stmt *st, struct buf *out)
{
	const struct unit_impl *u = d->u;
	struct str rest = st->arg;
	uint64_t at = 0;

	if (d->gcc_ranges == NONE || !is_data(st, ".long") || !str_starts(st->arg, GCC_RANGES))
		return false;
	rest.p += sizeof GCC_RANGES - 1;
	rest.n -= (uint32_t)sizeof GCC_RANGES - 1;
	if (rest.n && (*rest.p != '+' || !to_number((struct str){rest.p + 1, rest.n - 1}, &at)))
		return false;
	at = d->gcc_ranges + at / 8;
	if (at >= u->stmt.n || !begins_list(d, (uint32_t)at))
		return false;
	buf_printf(out, "\t.long\t.LMG%u\n", (uint32_t)at);
	return true;
}

bool lists_emit(struct debug *d, const struct stmt *st, struct buf *out)
{
	const struct str name = d->u->section.v[st->section].name;
	const struct list_format *t = format;
	struct entry e, next;
	uint32_t i;

	while (t < format + sizeof format / sizeof *format && !str_is(name, t->section))
		t++;
	if (t == format + sizeof format / sizeof *format || !d->moved)
		return false;
	i = (uint32_t)(st - d->u->stmt.v);
	if (d->gcc_ranges != NONE && t->section == format[2].section && st->kind == ST_DIR &&
	    i >= d->gcc_ranges && begins_list(d, i))
		buf_printf(out, ".LMG%u:\n", i);
	d->pieces.n = 0;
	if (!add_entry(d, i, t, &e))
		return false;
	/* Entries of one range list are put together: GDB 13 writes beyond its memory where a
	 * called function has more than two. */
	while (!t->location && add_entry(d, e.end, t, &next))
		e = next;
	moved_join(d->moved, &d->pieces);
	if (!t->location || d->pieces.n <= PIECES_MAX)
		print_entries(d, &e, t, out);
	d->skip = e.end;
	return true;
}
