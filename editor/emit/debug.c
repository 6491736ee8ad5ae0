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

bool distance_lost(
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

void debug_begin(struct debug *d, const struct unit_impl *u, const struct unit_placement *placement,
    const struct map_order *m)
{
	size_t i;

	*d = (struct debug){.u = u, .placement = placement, .m = m};
	for (i = 0; i < u->section.n && !d->any; i++)
		d->any = u->section.v[i].debug;
	if (!placement || !d->any)
		return;
	ranges_begin(d);
	lists_begin(d);
}

/* Where a call returns to (DW_AT_call_return_pc): ".quad .LVL3", of clang ".quad .Ltmp3" in its
 * table of addresses. */
static bool emit_return(struct debug *d, const struct stmt *st, struct buf *out)
{
	const struct str name = d->u->section.v[st->section].name;
	struct buf label = {0};
	bool is;

	is = d->moved && str_is(st->op, ".quad") &&
	     ((str_starts(st->arg, ".LVL") && str_is(name, ".debug_info")) ||
		 (str_starts(st->arg, ".Ltmp") && str_is(name, ".debug_addr"))) &&
	     moved_return(d->moved, st->arg, &label);
	if (is)
		buf_printf(out, "\t.quad\t%s\n", buf_cstr(&label));
	buf_free(&label);
	return is;
}

static void emit_value(struct debug *d, const struct stmt *st, struct buf *out)
{
	const struct unit_impl *u = d->u;
	bool data = st->kind == ST_DIR && st->dir == DIR_DATA;
	const struct stmt *start = data && st->aux != NONE ? &u->stmt.v[st->aux] : NULL;

	if (start && distance_lost(u, d->placement, start->arg, st->arg))
		st = start;
	if (data && memmem(st->arg.p, st->arg.n, ".L", 2)) {
		emit_operands(u, d->placement, st, out);
		return;
	}
	buf_add(out, st->line.p, st->line.n);
	buf_char(out, '\n');
}

void debug_emit(struct debug *d, const struct stmt *st, struct buf *out)
{
	const struct unit_impl *u = d->u;
	uint32_t i = (uint32_t)(st - u->stmt.v);

	if (i < d->skip)
		return;
	if (!d->placement) {
		buf_add(out, st->line.p, st->line.n);
		buf_char(out, '\n');
		return;
	}
	if (!d->moved && u->func.n && i >= u->func.v[u->func.n - 1].end)
		d->moved = moved_new(u, d->placement, d->m);
	if (!ranges_emit_value(d, st, out) && !lists_emit(d, st, out) &&
	    !lists_emit_offset(d, st, out) && !emit_return(d, st, out))
		emit_value(d, st, out);
}

void debug_end(struct debug *d, struct buf *out)
{
	if (d->placement)
		ranges_emit(d, out);
	vec_free(&d->abbreviation);
	vec_free(&d->die);
	vec_free(&d->pieces);
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
