#include "editor/text.h"

/* True when a difference of labels is no longer what it was: one of them lies
 * in an edited function, and they are not just the two ends of that one. */
static bool difference_lost(const struct unit_impl *u, const struct unit_place *place,
    struct str expr)
{
	const char *p = expr.p, *end = p + expr.n;
	bool edited = false, ends = true;
	uint32_t func = NONE;
	struct label *l;
	struct str t;

	while (token_next(&p, end, &t)) {
		l = str_starts(t, ".L") ? label_find(u, t) : NULL;
		if (!l || l->func == NONE) {
			ends &= !str_starts(t, ".L");
			continue;
		}
		edited |= place[l->func].edit;
		ends &= (l->flags & (LB_START | LB_END)) && (func == NONE || func == l->func);
		func = l->func;
	}
	return edited && !ends;
}

/* View numbers of .loc in edited functions are gone with their labels. */
static bool view_label(const struct unit_impl *u, struct str name)
{
	return str_starts(name, ".LVU") && !label_find(u, name);
}

void debug_emit(const struct unit_impl *u, const struct unit_place *place, const struct stmt *st,
    struct buf *out)
{
	const char *p = st->arg.p, *end = p + st->arg.n, *comma;
	bool first = true, difference, zero;
	struct str t, expr;
	const char *q;

	if (!place || st->kind != ST_DIR || st->dir != DIR_DATA || !memmem(p, st->arg.n, ".L", 2)) {
		buf_add(out, st->line.p, st->line.n);
		buf_char(out, '\n');
		return;
	}
	buf_printf(out, "\t%.*s\t", (int)st->op.n, st->op.p);
	for (; p < end; p = comma + 1) {
		comma = memchr(p, ',', (size_t)(end - p));
		if (!comma)
			comma = end;
		expr = (struct str){p, (uint32_t)(comma - p)};
		difference = memchr(p, '-', expr.n) != NULL;
		zero = false;
		for (q = p; token_next(&q, comma, &t);)
			zero |= view_label(u, t);
		zero |= difference && difference_lost(u, place, expr);
		buf_printf(out, "%s", first ? "" : ",");
		if (zero)
			buf_str(out, "0");
		else
			buf_add(out, expr.p, expr.n);
		first = false;
	}
	buf_char(out, '\n');
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

	for (i = 0; i < u->stmt.n; i++) {
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
		buf_printf(out, "\t.loc %.*s is_stmt %u\n",
		    (int)((view ? view : end) - st->arg.p), st->arg.p, st->aux);
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
