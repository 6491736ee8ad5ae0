/*
 * The output check of exceptions: at every instruction of a block the printed exception table must
 * say what the original's said of it. Both tables are read as texts; nothing here depends on how
 * the printer makes its own.
 */
#include "editor/asm/lsda.h"
#include "editor/check/check.h"

#include <stdlib.h>

static uint32_t find_stmt(const void *arg, struct str name)
{
	const struct checker *c = arg;
	const uint64_t *at;

	name = unquote(name);
	at = htab_get(&c->where, name.p, name.n);
	return at ? (uint32_t)*at : NONE;
}

static void find_labels(struct checker *c)
{
	struct str name;
	uint64_t *at;
	bool fresh;
	uint32_t i;

	c->own = xcalloc(c->out.stmt.n, 1);
	for (i = 0; i < c->out.stmt.n; i++) {
		if (c->out.stmt.v[i].kind != ST_LABEL)
			continue;
		name = unquote(c->out.stmt.v[i].op);
		at = htab_put(&c->where, name.p, name.n, &fresh);
		*at = fresh ? i : NONE;
	}
}

void handlers_reset(struct checker *c, size_t i)
{
	lsda_free(&c->table);
	c->table = (struct lsda){.end = 0};
	c->personality = (struct str){"", 0};
	c->startproc = (uint32_t)i;
}

void handlers_free(struct checker *c)
{
	lsda_free(&c->table);
	htab_free(&c->where);
	free(c->own);
}

static bool same_tail(const struct checker *c, const struct lsda *t, const struct func *f)
{
	struct buf a = {0}, b = {0};
	bool same;

	lsda_tail(&c->out, t, &a);
	lsda_tail(c->u, &f->eh->lsda[0], &b);
	same = a.n == b.n && !memcmp(a.p, b.p, a.n);
	buf_free(&a);
	buf_free(&b);
	return same;
}

/* The table of the open procedure. */
static const char *read_table(struct checker *c, const struct func *f, struct str name)
{
	struct lsda *t = &c->table;
	const struct call_site *s;
	const char *why;
	uint32_t i;

	if (!c->own)
		find_labels(c);
	i = find_stmt(c, name);
	if (i != NONE && c->own[i])
		return "its exception table is another's, too";
	why = lsda_read(&c->out, find_stmt, c, name, t);
	if (why)
		return why;
	for (i = t->first; i < t->end; i++) {
		if (c->own[i]++ && c->out.stmt.v[i].kind != ST_BLANK)
			return "its exception table is another's, too";
	}
	if (!table_fits(section_of(c->u, &c->u->stmt.v[f->eh->lsda[0].label]),
		section_of(&c->out, &c->out.stmt.v[t->label]),
		t->far_pads ? c->u->section.v[f->section].group : NULL))
		return "its exception table is in another section";
	if (t->base != NONE &&
	    (c->out.stmt.v[t->base].section != c->out.stmt.v[c->startproc].section ||
		/* A block has a label of its own in the output. */
		lsda_code_between(&c->out, t->base, c->startproc, 2 * lsda_reach(f))))
		return "its exception table does not count from its beginning";
	if (t->far_pads && !lsda_far_allowed(f->eh->personality))
		return "its landing pads are out of reach";
	for (i = 0; i < t->site.n; i++) {
		s = &t->site.v[i];
		if (!t->far_pads && s->pad != NONE &&
		    (s->pad < t->base || !lsda_code_between(&c->out, t->base, s->pad, NONE)))
			return "a landing pad at its beginning";
	}
	return same_tail(c, t, f) ? NULL : "its exception types changed";
}

int handlers_apply(struct checker *c, const struct stmt *st, struct block_ref r)
{
	const struct func *f = &c->u->func.v[r.func];
	const char *why = NULL;

	if (!f->eh)
		return wrong_block(c, r, "it has a personality routine");
	if (str_is(st->op, ".cfi_personality"))
		c->personality = st->arg;
	else if (c->table.end || !f->eh->site ||
		 !str_equal(operand_at(st->arg, 0), f->eh->lsda_encoding))
		why = "it has an exception table of another kind";
	else
		why = read_table(c, f, operand_at(st->arg, 1));
	return why ? wrong_block(c, r, why) : 0;
}

/* The block that begins with a landing pad of the output. */
static uint32_t pad_block(const struct checker *c, uint32_t stmt, uint32_t func)
{
	const struct stmt *st = &c->out.stmt.v[stmt];
	struct block_ref r;
	struct label *l;

	if (is_ref(st, ".LMB", &r))
		return r.func == func && !r.copy ? r.id : NONE;
	l = label_find(c->u, st->op);
	return l && l->func == func ? l->block : NONE;
}

int handlers_check(
    struct checker *c, struct block_ref r, const struct stmt *st, const struct stmt *o)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct call_site *was, *is;
	uint32_t at = (uint32_t)(o - c->u->stmt.v);

	if (!f->eh)
		return 0;
	if (!str_equal(c->personality, f->eh->personality) || !c->table.end != !f->eh->site)
		return wrong_block(c, r, "its personality routine or exception table is gone");
	if (!c->table.end)
		return 0;
	was = lsda_at(&f->eh->lsda[f->blk[r.id].part], at);
	is = lsda_at(&c->table, (uint32_t)(st - c->out.stmt.v));
	if (!was != !is)
		return wrong_block(c, r,
		    was ? "an instruction left its call site" : "an instruction is in a call site");
	if (!was)
		return 0;
	if (was->action != is->action || (was->pad == NONE) != (is->pad == NONE))
		return wrong_block(c, r, "an instruction has another exception action");
	if (was->pad == NONE)
		return 0;
	return pad_block(c, is->pad, r.func) == label_find(c->u, c->u->stmt.v[was->pad].op)->block
		   ? 0
		   : wrong_block(c, r, "an instruction has another landing pad");
}
