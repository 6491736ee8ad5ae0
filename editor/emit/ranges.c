/*
 * Where a unit's code lies, for debuggers: functions that move leave the range that the compiler
 * gave for the unit (DW_AT_high_pc or DW_AT_ranges of its first DIE, and .debug_aranges), so
 * debuggers would not find their lines. In an edited unit that attribute becomes a list of all
 * fragments.
 *
 * The attribute is found by walking the DIE along its abbreviation, statement by statement:
 * compilers print one value each. Other forms are left unchanged.
 *
 * DIEs of functions, blocks and inlined calls have DW_AT_low_pc and the distance from there,
 * DW_AT_high_pc. All of a unit get DW_AT_ranges in its place, since they share abbreviations. The
 * distance is known by its text: no other value of .debug_info is one between two labels in code.
 *
 * Formats: DWARF 5 (2017), sections 2.17.3, 6.1.2, 7.5, 7.25, 7.28; DWARF 4, section 2.17.3.
 */
#include "editor/emit/emit.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	AT_LOW_PC = 0x11,
	AT_HIGH_PC = 0x12,
	AT_RANGES = 0x55,
	AT_LOCVIEWS = 0x2137,
	AT_FILLER = 0x3f6d, /* of the user's range; and one more */
	UT_COMPILE = 1
};
enum {
	FORM_ADDR = 1,
	FORM_BLOCK2 = 3,
	FORM_BLOCK4 = 4,
	FORM_DATA4 = 6,
	FORM_DATA8 = 7,
	FORM_BLOCK = 9,
	FORM_BLOCK1 = 10,
	FORM_SEC_OFFSET = 0x17,
	FORM_EXPRLOC = 0x18,
	FORM_FLAG_PRESENT = 0x19,
	FORM_IMPLICIT_CONST = 0x21,
	FORM_RNGLISTX = 0x23
};
enum { RLE_END_OF_LIST = 0, RLE_START_LENGTH = 7 };
static const char ABBREV[] = ".debug_abbrev";
enum { VALUES = 64, OTHER = UINT32_MAX - 1 }; /* OTHER: no single number */

/* The values of a section's beginning. */
struct values {
	uint32_t stmt[VALUES];
	uint32_t n;
};

static bool is_named(const struct section *s, const char *name)
{
	return !s->group && str_is(s->name, name);
}

static bool section_named(const struct unit_impl *u, const struct stmt *st, const char *name)
{
	return is_named(&u->section.v[st->section], name);
}

static bool any_named(const struct unit_impl *u, const char *name)
{
	size_t i;

	for (i = 0; i < u->section.n; i++)
		if (is_named(&u->section.v[i], name))
			return true;
	return false;
}

static uint32_t number(const struct stmt *st)
{
	char text[16] = "", *end;
	unsigned long v;

	if (!st->arg.n || st->arg.n >= sizeof text || *st->arg.p == '-')
		return OTHER;
	memcpy(text, st->arg.p, st->arg.n);
	v = strtoul(text, &end, 0);
	return *end || v >= OTHER ? OTHER : (uint32_t)v;
}

static void collect(const struct unit_impl *u, const char *section, size_t *from, struct values *v)
{
	const struct stmt *st;

	v->n = 0;
	if (!any_named(u, section))
		return;
	for (; *from < u->stmt.n && v->n < VALUES; ++*from) {
		st = &u->stmt.v[*from];
		if (st->kind == ST_DIR && st->dir == DIR_DATA && section_named(u, st, section))
			v->stmt[v->n++] = (uint32_t)*from;
	}
}

static uint32_t value(const struct unit_impl *u, const struct values *v, uint32_t k)
{
	return k < v->n ? number(&u->stmt.v[v->stmt[k]]) : OTHER;
}

static bool takes_no_value(uint32_t form)
{
	return form == FORM_FLAG_PRESENT || form == FORM_IMPLICIT_CONST;
}

static bool one_value(uint32_t form)
{
	switch (form) {
	case 0:
	case OTHER:
	case FORM_BLOCK:
	case FORM_BLOCK1:
	case FORM_BLOCK2:
	case FORM_BLOCK4:
	case FORM_EXPRLOC:
		return false;
	}
	return true;
}

/* The form of an offset in a section of ranges. */
static uint32_t offset_form(const struct cu_ranges *c)
{
	return c->version >= 4 ? FORM_SEC_OFFSET : FORM_DATA4;
}

static bool is_range(const struct cu_ranges *c, uint32_t attr, uint32_t form, const struct stmt *st)
{
	if (attr == AT_HIGH_PC)
		return (form == FORM_DATA4 && str_is(st->op, ".long")) ||
		       (form == FORM_DATA8 && str_is(st->op, ".quad")) ||
		       (form == FORM_ADDR && str_is(st->op, ".quad"));
	return attr == AT_RANGES &&
	       (form == FORM_RNGLISTX || (form == offset_form(c) && str_is(st->op, ".long")));
}

/* The next value of a section from statement *i on, which is moved after it; NONE at the end. */
static uint32_t next_value(const struct unit_impl *u, const char *section, uint32_t *i)
{
	const struct stmt *st;

	while (*i < u->stmt.n) {
		st = &u->stmt.v[(*i)++];
		if (st->kind == ST_DIR && st->dir == DIR_DATA && section_named(u, st, section))
			return *i - 1;
	}
	return NONE;
}

static uint32_t number_at(const struct unit_impl *u, uint32_t i)
{
	return i == NONE ? OTHER : number(&u->stmt.v[i]);
}

/* clang's way: the attribute is an index into offsets after the header of
 * .debug_rnglists. All functions must have been printed by then. */
static bool find_entry(const struct unit_impl *u, struct cu_ranges *c, uint32_t index)
{
	uint32_t i = 0, k, at = NONE, count, first;

	if (!any_named(u, ".debug_rnglists"))
		return false;
	first = next_value(u, ".debug_rnglists", &i);
	for (k = 1; k < 5; k++)
		at = next_value(u, ".debug_rnglists", &i);
	count = number_at(u, at);
	if (count == OTHER || index >= count || (u->func.n && u->func.v[u->func.n - 1].end > first))
		return false;
	for (k = 0; k < count && (at = next_value(u, ".debug_rnglists", &i)) != NONE; k++)
		if (k == index)
			c->value = at;
	if (k == count && memchr(u->stmt.v[c->value].arg.p, '-', u->stmt.v[c->value].arg.n))
		c->table_end = at;
	else
		c->value = NONE;
	return c->value != NONE;
}

/* The attributes of abbreviation k (of v) against the values of the DIE. */
static bool walk(const struct unit_impl *u, struct cu_ranges *c, const struct values *v, uint32_t k,
    const struct values *die, uint32_t d)
{
	uint32_t attr, form;

	for (; (attr = value(u, v, k)) != 0; k += form == FORM_IMPLICIT_CONST ? 3 : 2) {
		form = value(u, v, k + 1);
		if (k + 1 >= v->n || d >= die->n || !one_value(form))
			return false;
		if (takes_no_value(form))
			continue;
		if (is_range(c, attr, form, &u->stmt.v[die->stmt[d]])) {
			if (form == FORM_RNGLISTX)
				return find_entry(u, c, value(u, die, d));
			c->value = die->stmt[d];
			c->attr = v->stmt[k];
			c->form = v->stmt[k + 1];
			c->filled = form == FORM_DATA8 || form == FORM_ADDR;
			return true;
		}
		d++;
	}
	return false;
}

/* Statement of the abbreviation with this code: its first attribute. */
static bool find_abbreviation(const struct unit_impl *u, struct cu_ranges *c, uint32_t code,
    const struct values *die, uint32_t d)
{
	struct values v;
	uint32_t k = 0;
	size_t from = 0;

	collect(u, ABBREV, &from, &v);
	while (v.n) {
		if (value(u, &v, 0) == code)
			return walk(u, c, &v, 3, die, d);
		for (k = 3; k + 1 < v.n && value(u, &v, k);)
			k += value(u, &v, k + 1) == FORM_IMPLICIT_CONST ? 3 : 2;
		if (k + 2 >= v.n)
			return false;
		from = v.stmt[k + 2];
		collect(u, ABBREV, &from, &v);
	}
	return false;
}

void ranges_find(struct unit_impl *u)
{
	struct cu_ranges *c = &u->cu;
	struct values die, aranges;
	uint32_t d;
	size_t from = 0;

	*c = (struct cu_ranges){
	    .value = NONE, .attr = NONE, .form = NONE, .aranges = NONE, .table_end = NONE};
	collect(u, ".debug_info", &from, &die);
	c->version = value(u, &die, 1);
	if (c->version < 2 || c->version > 5 ||
	    (c->version == 5 && value(u, &die, 2) != UT_COMPILE))
		return;
	d = c->version == 5 ? 5 : 4;
	if (!find_abbreviation(u, c, value(u, &die, d), &die, d + 1))
		return;
	from = 0;
	collect(u, ".debug_aranges", &from, &aranges);
	if (aranges.n > 2)
		c->aranges = aranges.stmt[2];
}

/* ---- other DIEs ---- */

/* The attributes of one abbreviation. False: its ranges have a form that is not known here. */
static bool read_attributes(struct debug *d, uint32_t *i)
{
	const struct unit_impl *u = d->u;
	uint32_t attr, form, a, f, last = 0;

	for (;; last = a) {
		attr = next_value(u, ABBREV, i);
		form = next_value(u, ABBREV, i);
		a = number_at(u, attr);
		f = number_at(u, form);
		if (!a && !f)
			return true;
		if (form == NONE || (f == FORM_IMPLICIT_CONST && next_value(u, ABBREV, i) == NONE))
			return false;
		if (a == AT_LOCVIEWS)
			vec_push(&d->abbreviation, ((struct abbreviation){attr, NONE}));
		if (a != AT_HIGH_PC || attr == u->cu.attr)
			continue;
		if (last != AT_LOW_PC || (f != FORM_DATA8 && f != FORM_DATA4))
			return false;
		vec_push(&d->abbreviation, ((struct abbreviation){attr, form}));
	}
}

void ranges_begin(struct debug *d)
{
	const struct unit_impl *u = d->u;
	uint32_t i = 0, code;

	if (u->cu.value == NONE || u->cu.version < 4)
		return;
	do {
		code = number_at(u, next_value(u, ABBREV, &i));
		if (!code)
			d->dies = true;
		else if (next_value(u, ABBREV, &i) == NONE || next_value(u, ABBREV, &i) == NONE ||
			 !read_attributes(d, &i))
			code = 0;
	} while (code);
}

/* ---- printing ---- */

typedef void print_range(struct buf *out, const char *start, const char *end);

static void print_start_length(struct buf *out, const char *start, const char *end)
{
	buf_printf(out, "\t.byte\t%d\n\t.quad\t%s\n\t.uleb128 %s-%s\n", RLE_START_LENGTH, start,
	    end, start);
}

static void print_pair(struct buf *out, const char *start, const char *end)
{
	buf_printf(out, "\t.quad\t%s, %s\n", start, end);
}

static void print_length(struct buf *out, const char *start, const char *end)
{
	buf_printf(out, "\t.quad\t%s, %s-%s\n", start, end, start);
}

/* What did not move lies between GCC's labels; every fragment by itself. */
static void print_all(
    const struct unit_impl *u, const struct map_order *m, print_range *print, struct buf *out)
{
	static const char *const sections[][2] = {
	    {".Ltext0", ".Letext0"}, {".Ltext_cold0", ".Letext_cold0"}};
	const struct map_fragment *f;
	struct buf start = {0}, end = {0};
	size_t i;

	for (i = 0; i < sizeof sections / sizeof *sections; i++)
		if (label_find(u, (struct str){sections[i][0], (uint32_t)strlen(sections[i][0])}) &&
		    label_find(u, (struct str){sections[i][1], (uint32_t)strlen(sections[i][1])}))
			print(out, sections[i][0], sections[i][1]);
	for (i = 0; i < m->frag.n; i++) {
		f = &m->frag.v[i];
		start.n = end.n = 0;
		block_label(&start, f->func, &m->block.v[f->first]);
		block_end(&end, f->func, &m->block.v[f->first + f->n - 1]);
		print(out, buf_cstr(&start), buf_cstr(&end));
	}
	buf_free(&start);
	buf_free(&end);
}

static bool in_code(const struct unit_impl *u, struct str at)
{
	const char *p = at.p;
	const struct label *l;
	struct str name;

	l = token_next(&p, at.p + at.n, &name) && name.p == at.p ? label_find(u, name) : NULL;
	return l && u->section.v[u->stmt.v[l->stmt].section].code;
}

static void print_list(const struct unit_impl *u, const struct map_order *m, struct buf *out)
{
	buf_str(out, ".LMR0:\n");
	print_all(u, m, print_start_length, out);
	buf_printf(out, "\t.byte\t%d\n", RLE_END_OF_LIST);
}

/* clang's table of offsets: this one is of our list, which follows the table. */
static void print_entry(struct debug *d, const struct stmt *st, bool here, struct buf *out)
{
	const char *base = memchr(st->arg.p, '-', st->arg.n);

	if (here)
		buf_printf(out, "\t.long\t.LMR0%.*s\n", (int)(st->arg.p + st->arg.n - base), base);
	else
		buf_printf(out, "%.*s\n", (int)st->line.n, st->line.p);
	if (st == &d->u->stmt.v[d->u->cu.table_end])
		print_list(d->u, d->m, out);
}

static void print_form(const struct cu_ranges *c, bool filled, struct buf *out)
{
	buf_printf(out, "\t.byte\t%u\n", offset_form(c));
	if (filled)
		buf_printf(out, "\t.uleb128 %d\n\t.byte\t%d\n", AT_FILLER, FORM_DATA4);
}

/* Of other DIEs than the unit's. */
static bool print_abbreviation(struct debug *d, uint32_t i, struct buf *out)
{
	const struct abbreviation *a;

	if (d->next_abbreviation == d->abbreviation.n)
		return false;
	a = &d->abbreviation.v[d->next_abbreviation];
	if (i != a->attr && i != a->form)
		return false;
	if (a->form == NONE)
		buf_printf(out, "\t.uleb128 %d\n", AT_FILLER + 1);
	else if (i == a->attr)
		buf_printf(out, "\t.byte\t%d\n", AT_RANGES);
	else
		print_form(&d->u->cu, number(&d->u->stmt.v[i]) == FORM_DATA8, out);
	if (i == a->form || a->form == NONE)
		d->next_abbreviation++;
	return true;
}

/* a - b of ".quad a-b", both labels in code. */
static bool distance(const struct unit_impl *u, const struct stmt *st, struct str *a, struct str *b)
{
	const char *minus = memrchr(st->arg.p, '-', st->arg.n);

	if (!minus || st->kind != ST_DIR || st->dir != DIR_DATA)
		return false;
	*a = (struct str){st->arg.p, (uint32_t)(minus - st->arg.p)};
	*b = (struct str){minus + 1, (uint32_t)(st->arg.p + st->arg.n - minus - 1)};
	return in_code(u, *a) && in_code(u, *b);
}

static bool print_die(struct debug *d, const struct stmt *st, struct buf *out)
{
	struct str a, b;

	if (!section_named(d->u, st, ".debug_info") || !distance(d->u, st, &a, &b))
		return false;
	buf_printf(
	    out, "\t.long\t.LMD%zu\n%s", d->die.n, str_is(st->op, ".quad") ? "\t.long\t0\n" : "");
	vec_push(&d->die, (uint32_t)(st - d->u->stmt.v));
	return true;
}

bool ranges_emit_value(struct debug *d, const struct stmt *st, struct buf *out)
{
	const struct cu_ranges *c = &d->u->cu;
	uint32_t i = (uint32_t)(st - d->u->stmt.v);

	if (c->value == NONE)
		return false;
	if (c->table_end != NONE && (i == c->value || i == c->table_end))
		print_entry(d, st, i == c->value, out);
	else if (i == c->value)
		buf_printf(out, "\t.long\t.LMR0\n%s", c->filled ? "\t.long\t0\n" : "");
	else if (i == c->attr)
		buf_printf(out, "\t.byte\t%d\n", AT_RANGES);
	else if (i == c->form)
		print_form(c, c->filled, out);
	else if (d->dies && (print_abbreviation(d, i, out) || print_die(d, st, out)))
		return true;
	else
		return c->aranges != NONE && st->kind == ST_DIR && st->dir == DIR_DATA &&
		       section_named(d->u, st, ".debug_aranges");
	return true;
}

static void print_aranges(const struct unit_impl *u, const struct map_order *m, struct buf *out)
{
	const struct stmt *unit = &u->stmt.v[u->cu.aranges];

	buf_printf(out,
	    "\t.section\t.debug_aranges,\"\",@progbits\n\t.long\t.LMR4-.LMR3\n.LMR3:\n"
	    "\t.value\t2\n%.*s\n\t.byte\t8, 0\n\t.value\t0, 0\n",
	    (int)unit->line.n, unit->line.p);
	print_all(u, m, print_length, out);
	buf_str(out, "\t.quad\t0, 0\n.LMR4:\n");
}

/* The list of a DIE that had DW_AT_low_pc and DW_AT_high_pc. */
static void print_die_list(struct debug *d, size_t k, print_range *print, struct buf *out)
{
	const struct unit_impl *u = d->u;
	struct buf start = {0}, end = {0};
	struct str a, b;
	size_t i;

	distance(u, &u->stmt.v[d->die.v[k]], &b, &a);
	d->pieces.n = 0;
	if (d->moved && moved_range(d->moved, a, b, &d->pieces))
		moved_join(d->moved, &d->pieces);
	else if (!distance_lost(u, d->placement, a, b))
		vec_push(&d->pieces,
		    ((struct piece){NONE, NONE, {true, false, a, 0}, {true, false, b, 0}}));
	for (i = 0; i < d->pieces.n; i++) {
		start.n = end.n = 0;
		moved_from(d->moved, &d->pieces.v[i], &start);
		moved_to(d->moved, &d->pieces.v[i], &end);
		print(out, buf_cstr(&start), buf_cstr(&end));
	}
	buf_free(&start);
	buf_free(&end);
}

static void print_lists_5(struct debug *d, struct buf *out)
{
	size_t k;

	buf_str(out, "\t.section\t.debug_rnglists,\"\",@progbits\n\t.long\t.LMR2-.LMR1\n"
		     ".LMR1:\n\t.value\t5\n\t.byte\t8, 0\n\t.long\t0\n");
	if (d->u->cu.table_end == NONE)
		print_list(d->u, d->m, out);
	for (k = 0; k < d->die.n; k++) {
		buf_printf(out, ".LMD%zu:\n", k);
		print_die_list(d, k, print_start_length, out);
		buf_printf(out, "\t.byte\t%d\n", RLE_END_OF_LIST);
	}
	buf_str(out, ".LMR2:\n");
}

/* The first pair of each makes the addresses absolute. */
static void print_lists_4(struct debug *d, struct buf *out)
{
	size_t k;

	buf_str(out, "\t.section\t.debug_ranges,\"\",@progbits\n.LMR0:\n\t.quad\t-1, 0\n");
	print_all(d->u, d->m, print_pair, out);
	buf_str(out, "\t.quad\t0, 0\n");
	for (k = 0; k < d->die.n; k++) {
		buf_printf(out, ".LMD%zu:\n\t.quad\t-1, 0\n", k);
		print_die_list(d, k, print_pair, out);
		buf_str(out, "\t.quad\t0, 0\n");
	}
}

void ranges_emit(struct debug *d, struct buf *out)
{
	const struct cu_ranges *c = &d->u->cu;

	if (c->value == NONE)
		return;
	if (c->version < 5)
		print_lists_4(d, out);
	else if (c->table_end == NONE || d->die.n)
		print_lists_5(d, out);
	if (c->aranges != NONE)
		print_aranges(d->u, d->m, out);
}
