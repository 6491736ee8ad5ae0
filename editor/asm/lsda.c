#include "editor/asm/lsda.h"

#include <stdlib.h>

static const char odd[] = "exception table (LSDA) not understood";

/* DW_EH_PE_*: how the compilers print LPStart and call sites, and how the editor does. */
enum { OMIT = 0xff, ULEB128 = 1, PCREL_SDATA4 = 0x1b, SDATA4 = 0x0b };

struct reader {
	const struct unit_impl *u;
	lsda_find *find;
	const void *arg;
	uint32_t at; /* the next statement */
	uint16_t section;
};

/* The next statement of the table that is not blank; NULL: it is over. */
static const struct stmt *peek(struct reader *r)
{
	const struct stmt *st;

	for (; r->at < r->u->stmt.n; r->at++) {
		st = &r->u->stmt.v[r->at];
		if (st->section != r->section || (st->kind == ST_DIR && st->dir == DIR_SECTION))
			return NULL;
		if (st->kind != ST_BLANK)
			return st;
	}
	return NULL;
}

/* The operand of the next statement, which must be data of one. */
static bool operand(struct reader *r, struct str *arg)
{
	static const char *const names[] = {".byte", ".uleb128", ".long"};
	const struct stmt *st = peek(r);

	if (!st || st->kind != ST_DIR || !str_is_any(st->op, names, sizeof names / sizeof *names) ||
	    !st->arg.n || memchr(st->arg.p, ',', st->arg.n))
		return false;
	*arg = st->arg;
	r->at++;
	return true;
}

static bool number(struct str s, uint32_t *v)
{
	char digits[12] = "", *end;
	unsigned long x;

	if (!s.n || s.n >= sizeof digits || *s.p < '0' || *s.p > '9')
		return false;
	memcpy(digits, s.p, s.n);
	x = strtoul(digits, &end, 0);
	*v = (uint32_t)x;
	return !*end && x < NONE;
}

static bool read_number(struct reader *r, uint32_t *v)
{
	struct str s;

	return operand(r, &s) && number(s, v);
}

/* "A-B" -> statements of both. */
static bool distance(const struct reader *r, struct str s, uint32_t *a, uint32_t *b)
{
	const char *minus = memchr(s.p, '-', s.n);

	if (!minus)
		return false;
	*a = r->find(r->arg, (struct str){s.p, (uint32_t)(minus - s.p)});
	*b = r->find(r->arg, (struct str){minus + 1, (uint32_t)(s.p + s.n - minus - 1)});
	return *a != NONE && *b != NONE;
}

/* The distance to a label further on, from a label that must come next; *to is its statement. */
static bool read_extent(struct reader *r, uint32_t *to, struct str *name)
{
	uint32_t from;
	struct str s;

	if (!operand(r, &s) || !distance(r, s, to, &from) || !peek(r) || from != r->at++)
		return false;
	*name = r->u->stmt.v[*to].op;
	return *to > from && r->u->stmt.v[*to].section == r->section;
}

static bool read_lpstart(struct reader *r, struct lsda *t, uint32_t *start)
{
	struct str s;
	uint32_t v;

	if (!read_number(r, &v) || (v != OMIT && v != PCREL_SDATA4))
		return false;
	t->far_pads = v != OMIT;
	if (!t->far_pads)
		return true;
	if (!operand(r, &s) || s.n < 3 || memcmp(s.p + s.n - 2, "-.", 2) || !peek(r))
		return false;
	s.n -= 2;
	*start = r->find(r->arg, s);
	return *start == r->at++;
}

static bool code_label(const struct reader *r, uint32_t stmt, uint16_t section)
{
	return r->u->stmt.v[stmt].section == section && r->u->section.v[section].code;
}

/* One entry of the call-site table: begin, length, landing pad, action. */
static bool read_site(struct reader *r, struct lsda *t, uint32_t start)
{
	struct call_site s = {.pad = NONE};
	uint32_t base, from, none;
	struct str arg;

	if (!operand(r, &arg) || !distance(r, arg, &s.begin, &base) || !operand(r, &arg) ||
	    !distance(r, arg, &s.end, &from) || from != s.begin || !operand(r, &arg))
		return false;
	if (t->base == NONE)
		t->base = base;
	if (distance(r, arg, &s.pad, &from)) {
		if (from != (t->far_pads ? start : base) ||
		    !r->u->section.v[r->u->stmt.v[s.pad].section].code ||
		    (!t->far_pads && r->u->stmt.v[s.pad].section != r->u->stmt.v[base].section))
			return false;
	} else if (!number(arg, &none) || none) {
		return false;
	}
	if (!read_number(r, &s.action) || base != t->base ||
	    !code_label(r, s.begin, r->u->stmt.v[base].section) ||
	    !code_label(r, s.end, r->u->stmt.v[base].section) || s.begin > s.end ||
	    s.begin < base || (t->site.n && s.begin < t->site.v[t->site.n - 1].end))
		return false;
	vec_push(&t->site, s);
	return true;
}

/* What may be in the tail: numbers, references to types, labels for these. */
static bool tail_stmt(const struct stmt *st)
{
	return st->kind == ST_LABEL ||
	       (st->kind == ST_DIR && (st->dir == DIR_DATA || st->dir == DIR_ALIGN));
}

static void find_first(const struct unit_impl *u, struct lsda *t)
{
	const struct stmt *st;
	uint32_t i;

	for (t->first = i = t->label; i-- > 0;) {
		st = &u->stmt.v[i];
		if (st->section != u->stmt.v[t->label].section ||
		    !(st->kind == ST_LABEL || (st->kind == ST_DIR && st->dir == DIR_ALIGN)))
			break;
		t->first = i;
	}
}

const char *lsda_read(
    const struct unit_impl *u, lsda_find *find, const void *arg, struct str name, struct lsda *t)
{
	struct reader r = {.u = u, .find = find, .arg = arg};
	uint32_t start = NONE, v, types = NONE, end;
	const struct stmt *st;
	struct str unused;

	*t = (struct lsda){.label = find(arg, name), .base = NONE};
	if (t->label == NONE)
		return odd;
	r.at = t->label + 1;
	r.section = u->stmt.v[t->label].section;
	if (!u->section.v[r.section].eh_table || !read_lpstart(&r, t, &start) ||
	    !operand(&r, &t->encoding) || !number(t->encoding, &v) ||
	    (v != OMIT && !read_extent(&r, &types, &t->types)) || !read_number(&r, &v) ||
	    v != (t->far_pads ? SDATA4 : ULEB128) || !read_extent(&r, &end, &unused))
		return odd;
	while (peek(&r) && r.at < end)
		if (!read_site(&r, t, start))
			return odd;
	if (r.at++ != end)
		return odd;
	for (t->tail = r.at; (st = peek(&r)) && tail_stmt(st); r.at++)
		;
	if ((st && (st->kind != ST_DIR || st->dir == DIR_UNKNOWN)) ||
	    (types != NONE && (types < t->tail || types >= r.at)))
		return odd;
	t->end = r.at;
	find_first(u, t);
	return NULL;
}

void lsda_free(struct lsda *t)
{
	vec_free(&t->site);
}

const struct call_site *lsda_at(const struct lsda *t, uint32_t stmt)
{
	size_t lo = 0, hi = t->site.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->site.v[mid].begin <= stmt)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && stmt < t->site.v[lo - 1].end ? &t->site.v[lo - 1] : NULL;
}

uint32_t lsda_reach(const struct func *f)
{
	enum { BEFORE = 64 };

	return f->end - f->begin + BEFORE;
}

bool lsda_code_between(const struct unit_impl *u, uint32_t a, uint32_t b, uint32_t most)
{
	uint32_t first = a < b ? a : b, end = a < b ? b : a, i;
	uint16_t section = u->stmt.v[a].section;
	const struct stmt *st;

	if (end - first > most)
		return true;
	for (i = first; i < end; i++) {
		st = &u->stmt.v[i];
		if (st->section == section &&
		    (st->kind == ST_INSN || st->kind == ST_ASM ||
			(st->kind == ST_DIR && (st->dir == DIR_DATA || st->dir == DIR_ALIGN))))
			return true;
	}
	return false;
}

/* A statement of the tail, with the labels of the tail by their number. */
static void put_tail(
    const struct lsda *t, const struct stmt *st, const struct htab *number, struct buf *out)
{
	const char *p = st->arg.p, *from = p, *end = p + st->arg.n;
	const uint64_t *at;
	struct str name;

	if (st->kind == ST_LABEL) {
		buf_printf(out, "%s:\n", str_equal(t->types, st->op) ? "types" : "label");
		return;
	}
	buf_printf(out, "%.*s ", (int)st->op.n, st->op.p);
	for (; token_next(&p, end, &name); from = p) {
		buf_add(out, from, (size_t)(name.p - from));
		at = htab_get(number, name.p, name.n);
		if (at)
			buf_printf(out, "#%llu", (unsigned long long)*at);
		else
			buf_add(out, name.p, name.n);
	}
	buf_add(out, from, (size_t)(end - from));
	buf_char(out, '\n');
}

void lsda_tail(const struct unit_impl *u, const struct lsda *t, struct buf *out)
{
	const struct stmt *head, *st = u->stmt.v + t->tail, *end = u->stmt.v + t->end;
	struct htab number = {0};
	uint64_t *at;
	bool fresh;

	for (head = u->stmt.v + t->first; head < u->stmt.v + t->label; head++)
		if (head->kind == ST_DIR)
			put_tail(t, head, &number, out);
	buf_printf(out, "%.*s\n", (int)t->encoding.n, t->encoding.p);
	for (; st < end; st++)
		if (st->kind == ST_LABEL) {
			at = htab_put(&number, st->op.p, st->op.n, &fresh);
			*at = number.n;
		}
	for (st = u->stmt.v + t->tail; st < end; st++)
		if (st->kind != ST_BLANK)
			put_tail(t, st, &number, out);
	htab_free(&number);
}

/* ---- the tables of a function ---- */

bool lsda_far_allowed(struct str personality)
{
	struct str name = operand_at(personality, 1);

	return str_is(name, "DW.ref.__gxx_personality_v0") || str_is(name, "__gxx_personality_v0");
}

static uint32_t find_stmt(const void *arg, struct str name)
{
	const struct label *l = label_find(arg, name);

	return l ? l->stmt : NONE;
}

/* The statement of the procedure's beginning in one part of f. */
static uint32_t procedure(const struct unit_impl *u, const struct func *f, int part)
{
	uint32_t i = part ? f->part1 : 0, end = part ? (uint32_t)f->code.n : f->part1;

	while (i < end && !str_is(u->stmt.v[f->code.v[i]].op, ".cfi_startproc"))
		i++;
	return i < end ? f->code.v[i] : NONE;
}

/* Does the table count from where the part's procedure begins? */
static bool based_at(
    const struct unit_impl *u, const struct func *f, const struct lsda *t, uint32_t start)
{
	return t->base == NONE || (u->stmt.v[t->base].section == u->stmt.v[start].section &&
				      !lsda_code_between(u, start, t->base, lsda_reach(f)));
}

/* Marks the landing pads; false when one, or a call site, is not of f. */
static bool mark_pads(
    struct unit_impl *u, const struct func *f, const struct lsda *t, uint32_t start)
{
	uint32_t self = (uint32_t)(f - u->func.v);
	const struct call_site *s;
	struct label *l;
	size_t i;

	for (i = 0; i < t->site.n; i++) {
		s = &t->site.v[i];
		l = s->pad == NONE ? NULL : label_find(u, u->stmt.v[s->pad].op);
		if ((s->begin < start && s->begin != t->base) || s->end > f->end ||
		    (l && l->func != self))
			return false;
		if (l)
			l->flags |= LB_PAD;
	}
	return true;
}

/* The statements of a table become its function's; false when they are another's. */
static bool own_table(struct unit_impl *u, const struct func *f, const struct lsda *t)
{
	struct stmt *st;
	uint32_t i;

	for (i = t->first; i < t->end; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_BLANK)
			continue;
		if (st->aux != NONE)
			return false;
		st->aux = (uint32_t)(f - u->func.v);
	}
	return true;
}

static const char *read_part(struct unit_impl *u, struct func *f, int part)
{
	static const char shared[] = "exception table of two functions";
	struct str name = f->eh->table[part];
	struct lsda *t = &f->eh->lsda[part];
	uint32_t start = procedure(u, f, part), at = find_stmt(u, name);
	const char *why;

	if (at != NONE && u->stmt.v[at].aux != NONE)
		return shared;
	why = lsda_read(u, find_stmt, u, name, t);
	if (why)
		return why;
	if (t->far_pads || start == NONE || u->section.v[u->stmt.v[t->label].section].linked ||
	    !based_at(u, f, t, start) || !mark_pads(u, f, t, start))
		return odd;
	return own_table(u, f, t) ? NULL : shared;
}

/* Its parts must have the same actions and types: both get those of the first. */
static bool same_tails(const struct unit_impl *u, const struct func_eh *eh)
{
	struct buf a = {0}, b = {0};
	bool same;

	lsda_tail(u, &eh->lsda[0], &a);
	lsda_tail(u, &eh->lsda[1], &b);
	same = a.n == b.n && !memcmp(a.p, b.p, a.n);
	buf_free(&a);
	buf_free(&b);
	return same;
}

static uint32_t intern(struct func_eh *eh, struct catcher c)
{
	size_t i;

	for (i = eh->catch.n; i-- > 0;)
		if (eh->catch.v[i].pad == c.pad && eh->catch.v[i].action == c.action)
			return (uint32_t)i + 1;
	vec_push(&eh->catch, c);
	return (uint32_t)eh->catch.n;
}

static const char *fill_sites(struct unit_impl *u, struct func *f)
{
	enum { CATCHERS_MAX = 1 << 15 }; /* bounds time for unusual texts */
	struct func_eh *eh = f->eh;
	const struct call_site *s, *last = NULL;
	uint32_t i, is = 0;

	eh->site = arena_array(u->mem, f->code.n, sizeof *eh->site);
	for (i = 0; i < f->code.n; i++) {
		s = lsda_at(&eh->lsda[i >= f->part1], f->code.v[i]);
		if (s && s != last)
			is = intern(eh,
			    (struct catcher){
				s->pad == NONE
				    ? NONE
				    : (uint32_t)(label_find(u, u->stmt.v[s->pad].op) - u->label.v),
				s->action});
		last = s;
		eh->site[i] = s ? is : 0;
		if (is > CATCHERS_MAX)
			return "too many landing pads";
	}
	return NULL;
}

const char *lsda_build(struct unit_impl *u, struct func *f)
{
	struct func_eh *eh = f->eh;
	int parts = f->part1 < f->code.n ? 2 : 1, i;
	const char *why;

	if (!eh)
		return NULL;
	if (!lsda_far_allowed(eh->personality))
		f->one_part = true;
	if (parts == 2 && (eh->parts != 3 || !eh->table[0].n != !eh->table[1].n))
		return "exception table of one part alone";
	if (!eh->table[0].n)
		return NULL;
	for (i = 0; i < parts; i++) {
		why = read_part(u, f, i);
		if (why)
			return why;
	}
	if (parts == 2 && !same_tails(u, eh))
		return "exception tables of two kinds";
	return fill_sites(u, f);
}

void lsda_func_free(struct func *f)
{
	if (!f->eh)
		return;
	lsda_free(&f->eh->lsda[0]);
	lsda_free(&f->eh->lsda[1]);
	vec_free(&f->eh->catch);
}
