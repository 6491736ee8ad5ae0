/*
 * Function key: a hash of the name and of the normalised text, in which what
 * the compiler numbers through a whole unit (.L12, .LC3, a static's count.4) is
 * numbered by first appearance. So an unchanged function keeps its key when its
 * neighbours change.
 */
#include "editor/asm/lsda.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

uint32_t name_stem(struct str t)
{
	uint32_t n = t.n;

	if (str_starts(t, ".L"))
		return 2;
	while (n && digit(t.p[n - 1]))
		n--;
	return n < t.n && n > 1 && t.p[n - 1] == '.' ? n - 1 : t.n;
}

static bool numbered(struct str text)
{
	const char *p = text.p, *end = text.p + text.n;

	while ((p = memchr(p, '.', (size_t)(end - p))) && ++p < end)
		if (*p == 'L' || digit(*p))
			return true;
	return false;
}

static void put_text(struct buf *out, struct htab *seen, struct str text)
{
	const char *p = text.p, *end = text.p + text.n, *from = p;
	struct str t;
	uint64_t *at;
	uint32_t n;
	bool fresh;

	if (!numbered(text)) {
		buf_add(out, text.p, text.n);
		return;
	}
	while (token_next(&p, end, &t)) {
		n = name_stem(t);
		if (n == t.n)
			continue;
		buf_add(out, from, (size_t)(t.p + n - from));
		at = htab_put(seen, t.p, t.n, &fresh);
		if (fresh)
			*at = seen->n;
		buf_char(out, '#');
		buf_decimal(out, *at);
		from = p;
	}
	buf_add(out, from, (size_t)(end - from));
}

/* Where its call sites begin and end, and their landing pads decide blocks and edges. */
static void put_site(
    const struct unit_impl *u, const struct func *f, uint32_t site, struct buf *out)
{
	const struct catcher *c = site ? &f->eh->catch.v[site - 1] : NULL;

	buf_str(out, "site");
	if (c) {
		buf_char(out, ' ');
		buf_decimal(out, c->action);
	}
	if (c && c->pad != NONE) {
		buf_char(out, ' ');
		buf_decimal(out, u->label.v[c->pad].block);
	}
	buf_char(out, '\n');
}

struct hash128 func_key(const struct unit_impl *u, const struct func *f)
{
	struct htab seen = {0};
	struct buf b = {0};
	struct hash128 h;
	struct label *l;
	struct stmt *st;
	uint32_t site = 0;
	size_t i;

	buf_add(&b, f->name.p, f->name.n);
	buf_char(&b, '\n');
	for (i = 0; i < f->code.n; i++) {
		st = &u->stmt.v[f->code.v[i]];
		if (i == f->part1)
			buf_str(&b, "cold\n");
		if (f->blk && f->eh && f->eh->site && f->eh->site[i] != site) {
			site = f->eh->site[i];
			put_site(u, f, site, &b);
		}
		switch (st->kind) {
		case ST_LABEL:
			l = label_of(u, st);
			if (!l || !(l->flags & LB_TARGET))
				continue;
			put_text(&b, &seen, st->op);
			break;
		case ST_INSN:
			buf_add(&b, st->op.p, st->op.n);
			buf_char(&b, ' ');
			put_text(&b, &seen, st->arg);
			break;
		case ST_ASM:
			if (*st->line.p == '#')
				continue;
			put_text(&b, &seen, st->line);
			break;
		case ST_DIR:
			if (st->dir != DIR_DATA)
				continue;
			put_text(&b, &seen, st->line);
			break;
		default:
			continue;
		}
		buf_char(&b, '\n');
	}
	/* Jump tables decide edges too. */
	for (i = 0; i < f->data.n; i++) {
		st = &u->stmt.v[f->data.v[i]];
		if (st->kind != ST_DIR || st->dir != DIR_DATA)
			continue;
		put_text(&b, &seen, st->arg);
		buf_char(&b, '\n');
	}
	h = hash_bytes(b.p, b.n);
	buf_free(&b);
	htab_free(&seen);
	return h;
}
