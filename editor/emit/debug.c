#include "editor/emit/emit.h"

/* Does the label keep its distance to others of its kind in its function? */
static bool keeps_distance(const struct unit_impl *u, const struct label *l)
{
	return !u->func.v[l->func].blk || (l->flags & (LB_START | LB_END));
}

/* What several labels have in common. */
struct span {
	uint32_t func, section;
	bool edited; /* one lies in an edited function */
	bool whole;  /* all keep their distances */
};

static void span_add(struct span *s, const struct unit_impl *u,
    const struct unit_placement *placement, struct str text)
{
	const char *p = text.p, *end = p + text.n;
	const struct label *l;
	struct str t;

	while (token_next(&p, end, &t)) {
		l = str_starts(t, ".L") ? label_find(u, t) : NULL;
		if (!l || l->func == NONE) {
			s->whole &= !str_starts(t, ".L");
			continue;
		}
		s->edited |= placement[l->func].edit;
		s->whole &= keeps_distance(u, l) && (s->func == NONE || s->func == l->func) &&
			    (s->section == NONE || s->section == u->stmt.v[l->stmt].section);
		s->func = l->func;
		s->section = u->stmt.v[l->stmt].section;
	}
}

/* True when the distance from a to b may have changed: one lies in an edited function, and they are
 * neither its two ends nor in one part of a function that moved as a whole. */
static bool distance_lost(
    const struct unit_impl *u, const struct unit_placement *placement, struct str a, struct str b)
{
	struct span s = {.func = NONE, .section = NONE, .whole = true};

	span_add(&s, u, placement, a);
	span_add(&s, u, placement, b);
	return s.edited && !s.whole;
}

/* View numbers of .loc in edited functions are gone with their labels. */
static bool view_label(const struct unit_impl *u, struct str name)
{
	return str_starts(name, ".LVU") && !label_find(u, name);
}

/* ".quad .LVL3", a label in code */
static bool is_address(const struct unit_impl *u, const struct stmt *st)
{
	const struct label *l;

	if (!str_is(st->op, ".quad") || !str_starts(st->arg, ".L"))
		return false;
	l = label_find(u, st->arg);
	return l && u->section.v[u->stmt.v[l->stmt].section].code;
}

/* Before DWARF 5, ranges and location lists are pairs of addresses; before
 * DWARF 4, DW_AT_high_pc after DW_AT_low_pc is one, too. */
void debug_find_pairs(struct unit_impl *u)
{
	uint32_t i, start = NONE;
	struct section *s;
	struct stmt *st;

	for (i = 0; i < u->section.n && !u->section.v[i].debug; i++)
		;
	if (i == u->section.n)
		return;
	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		s = &u->section.v[st->section];
		if (st->kind == ST_BLANK)
			continue;
		if (!s->debug || !is_address(u, st)) {
			start = NONE;
		} else if (start != NONE) {
			st->aux = start;
			start = NONE;
		} else if (str_is(s->name, ".debug_loc") || str_is(s->name, ".debug_ranges") ||
			   str_is(s->name, ".debug_info")) {
			start = i;
		}
	}
}

static void emit_operands(const struct unit_impl *u, const struct unit_placement *placement,
    const struct stmt *st, struct buf *out)
{
	const char *p = st->arg.p, *end = p + st->arg.n, *comma, *q;
	struct str t, expr, none = {"", 0};
	bool first = true, zero;

	buf_printf(out, "\t%.*s\t", (int)st->op.n, st->op.p);
	for (; p < end; p = comma + 1) {
		comma = memchr(p, ',', (size_t)(end - p));
		if (!comma)
			comma = end;
		expr = (struct str){p, (uint32_t)(comma - p)};
		zero = memchr(p, '-', expr.n) && distance_lost(u, placement, expr, none);
		for (q = p; token_next(&q, comma, &t);)
			zero |= view_label(u, t);
		buf_printf(out, "%s", first ? "" : ",");
		if (zero)
			buf_str(out, "0");
		else
			buf_add(out, expr.p, expr.n);
		first = false;
	}
	buf_char(out, '\n');
}

void debug_emit(const struct unit_impl *u, const struct unit_placement *placement,
    const struct map_order *m, const struct stmt *st, struct buf *out)
{
	bool data = st->kind == ST_DIR && st->dir == DIR_DATA;
	const struct stmt *start =
	    placement && data && st->aux != NONE ? &u->stmt.v[st->aux] : NULL;

	if (placement && ranges_emit_value(u, st, m, out))
		return;
	if (start && distance_lost(u, placement, start->arg, st->arg))
		st = start;
	if (!placement || !data || !memmem(st->arg.p, st->arg.n, ".L", 2)) {
		buf_add(out, st->line.p, st->line.n);
		buf_char(out, '\n');
	} else {
		emit_operands(u, placement, st, out);
	}
}

static const char *loc_option(const struct stmt *st, const char *name)
{
	return memmem(st->arg.p, st->arg.n, name, strlen(name));
}

void debug_follow_locs(struct unit_impl *u)
{
	bool is_stmt = true;
	const char *p;
	struct stmt *st;
	size_t i;

	for (i = u->dir[DIR_LOC].first; i < u->dir[DIR_LOC].end; i++) {
		st = &u->stmt.v[i];
		if (st->kind != ST_DIR || st->dir != DIR_LOC)
			continue;
		p = loc_option(st, " is_stmt ");
		if (p && p + 9 < st->arg.p + st->arg.n)
			is_stmt = p[9] != '0';
		st->aux = is_stmt;
	}
}

void debug_emit_loc(const struct stmt *st, bool moved, bool *is_stmt, struct buf *out)
{
	const char *end = st->arg.p + st->arg.n, *view = moved ? loc_option(st, " view ") : NULL;
	const char *p = end;

	if (!loc_option(st, " is_stmt ") && *is_stmt != st->aux)
		buf_printf(out, "\t.loc %.*s is_stmt %u\n", (int)((view ? view : end) - st->arg.p),
		    st->arg.p, st->aux);
	else if (!view)
		buf_printf(out, "%.*s\n", (int)st->line.n, st->line.p);
	else {
		for (p = view + 6; p < end && *p != ' '; p++)
			;
		buf_printf(out, "\t.loc %.*s%.*s\n", (int)(view - st->arg.p), st->arg.p,
		    (int)(end - p), p);
	}
	*is_stmt = st->aux;
}
