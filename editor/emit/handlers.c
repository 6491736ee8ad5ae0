#include "editor/emit/handlers.h"
#include "editor/asm/lsda.h"
#include "editor/map/blockmap.h"

/*
 * Labels: .LMXf.k boundaries of call sites; .LMLf.g the table of fragment g, .LMLf.g.s where its
 * landing pads count from, .LMLf.g.t and .LMLf.g.c, .LMLf.g.e: where the lengths of all before the
 * types and of the call sites begin, and the call sites end.
 */
#define BOUNDARY ".LMX%u.%u"
#define TABLE ".LML%u.%u"

static bool has_table(const struct handlers *h)
{
	return h->f->eh && h->f->eh->site;
}

static uint32_t boundary(struct handlers *h, struct buf *out)
{
	buf_printf(out, BOUNDARY ":\n", h->f->pub->ord, h->boundary);
	return h->boundary++;
}

void handlers_begin(struct handlers *h, const struct func *f, uint32_t fragment, struct buf *out)
{
	const struct func_eh *eh = f->eh;

	h->f = f;
	h->fragment = fragment;
	h->site = 0;
	h->range.n = 0;
	if (!eh)
		return;
	buf_printf(out, "\t.cfi_personality %.*s\n", (int)eh->personality.n, eh->personality.p);
	if (!has_table(h))
		return;
	buf_printf(out, "\t.cfi_lsda %.*s," TABLE "\n", (int)eh->lsda_encoding.n,
	    eh->lsda_encoding.p, f->pub->ord, fragment);
	h->first = boundary(h, out);
}

void handlers_at(struct handlers *h, uint32_t i, struct buf *out)
{
	uint32_t site = has_table(h) ? h->f->eh->site[i] : 0;
	struct handler_range r = {.site = site};

	if (site == h->site)
		return;
	h->site = site;
	r.boundary = boundary(h, out);
	vec_push(&h->range, r);
}

/* A field of the table: the distance from label `from` to label `to`. */
static void field(struct handlers *h, bool far, const char *to, const char *from, struct buf *out)
{
	buf_printf(out, "\t%s\t%s-%s\n", far ? ".long" : ".uleb128", to, from);
}

static void put_site(struct handlers *h, const struct unit_impl *u, bool far, size_t k)
{
	const struct handler_range *r = &h->range.v[k];
	const struct catcher *c = &h->f->eh->catch.v[r->site - 1];
	uint32_t f = h->f->pub->ord;
	struct buf *out = &h->table, name[3] = {{0}};

	buf_printf(&name[0], BOUNDARY, f, h->first);
	buf_printf(&name[1], BOUNDARY, f, r->boundary);
	buf_printf(&name[2], BOUNDARY, f, r->boundary + 1);
	field(h, far, buf_cstr(&name[1]), buf_cstr(&name[0]), out);
	field(h, far, buf_cstr(&name[2]), buf_cstr(&name[1]), out);
	if (c->pad == NONE) {
		buf_printf(out, "\t%s\t0\n", far ? ".long" : ".uleb128");
	} else {
		name[2].n = 0;
		block_label(&name[2], f, &(struct map_block){.id = u->label.v[c->pad].block});
		if (far) {
			name[0].n = 0;
			buf_printf(&name[0], TABLE ".s", f, h->fragment);
		}
		field(h, far, buf_cstr(&name[2]), buf_cstr(&name[0]), out);
	}
	buf_printf(out, "\t.uleb128\t%u\n", c->action);
	for (k = 0; k < 3; k++)
		buf_free(&name[k]);
}

/* Labels of the tail are the first fragment's; the second gets its own. */
static void put_name(struct handlers *h, struct str name)
{
	buf_add(&h->table, name.p, name.n);
	if (h->fragment)
		buf_str(&h->table, ".cold");
}

static bool in_tail(const struct unit_impl *u, const struct lsda *t, struct str name)
{
	const struct label *l = *name.p == '.' ? label_find(u, name) : NULL;

	return l && l->stmt >= t->tail && l->stmt < t->end;
}

static void put_tail(struct handlers *h, const struct unit_impl *u)
{
	const struct lsda *t = &h->f->eh->lsda[0];
	const struct stmt *st;
	const char *p, *from, *end;
	struct str name;
	uint32_t i;

	for (i = t->tail; i < t->end; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_BLANK)
			continue;
		if (st->kind == ST_LABEL) {
			put_name(h, st->op);
			buf_str(&h->table, ":\n");
			continue;
		}
		buf_printf(&h->table, "\t%.*s\t", (int)st->op.n, st->op.p);
		end = st->arg.p + st->arg.n;
		for (p = from = st->arg.p; token_next(&p, end, &name); from = p) {
			buf_add(&h->table, from, (size_t)(name.p - from));
			if (in_tail(u, t, name))
				put_name(h, name);
			else
				buf_add(&h->table, name.p, name.n);
		}
		buf_add(&h->table, from, (size_t)(end - from));
		buf_char(&h->table, '\n');
	}
}

/* A far table refers to code. GCC prints tables of COMDAT functions into the section of all others
 * once it has printed one there: outside of its group such a table would outlive the code, and lld
 * refuses that. */
static void put_section(
    struct handlers *h, const struct section *table, const char *group, bool far)
{
	if (far && group && !table->group)
		buf_printf(&h->table, "\t.section\t%.*s,\"aG\",@progbits,%s,comdat\n",
		    (int)table->name.n, table->name.p, group);
	else
		buf_str(&h->table, table->directive);
}

static void put_header(struct handlers *h, const struct unit_impl *u, bool far)
{
	const struct lsda *t = &h->f->eh->lsda[0];
	uint32_t f = h->f->pub->ord, g = h->fragment, i;
	struct buf *out = &h->table;
	const struct stmt *st;

	put_section(
	    h, &u->section.v[u->stmt.v[t->label].section], u->section.v[h->f->section].group, far);
	for (i = t->first; i < t->label; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR || (!g && st->kind == ST_LABEL))
			buf_printf(out, "%.*s\n", (int)st->line.n, st->line.p);
	}
	buf_printf(out, TABLE ":\n", f, g);
	if (far)
		buf_printf(
		    out, "\t.byte\t0x1b\n\t.long\t" TABLE ".s-.\n" TABLE ".s:\n", f, g, f, g);
	else
		buf_str(out, "\t.byte\t0xff\n");
	buf_printf(out, "\t.byte\t%.*s\n", (int)t->encoding.n, t->encoding.p);
	if (t->types.n) {
		buf_str(out, "\t.uleb128\t");
		put_name(h, t->types);
		buf_printf(out, "-" TABLE ".t\n" TABLE ".t:\n", f, g, f, g);
	}
	buf_printf(out, "\t.byte\t%s\n\t.uleb128\t" TABLE ".e-" TABLE ".c\n" TABLE ".c:\n",
	    far ? "0x0b" : "0x1", f, g, f, g, f, g);
}

/* Is a landing pad in the other fragment, or at the begin of this one? An offset of 0 means that
 * there is none. */
static bool any_far(const struct handlers *h, const struct unit_impl *u, const uint32_t *primary,
    uint32_t first, uint32_t end)
{
	uint32_t pad, slot;
	size_t k;

	for (k = 0; k < h->range.n; k++) {
		pad = h->range.v[k].site ? h->f->eh->catch.v[h->range.v[k].site - 1].pad : NONE;
		slot = pad == NONE ? NONE : primary[u->label.v[pad].block];
		if (pad != NONE && (slot <= first || slot >= end))
			return true;
	}
	return false;
}

void handlers_end(struct handlers *h, const struct unit_impl *u, const uint32_t *primary,
    uint32_t first, uint32_t end, struct buf *out)
{
	bool far = any_far(h, u, primary, first, end);
	size_t k;

	if (!has_table(h))
		return;
	boundary(h, out);
	put_header(h, u, far);
	for (k = 0; k < h->range.n; k++)
		if (h->range.v[k].site)
			put_site(h, u, far, k);
	buf_printf(&h->table, TABLE ".e:\n", h->f->pub->ord, h->fragment);
	put_tail(h, u);
}

void handlers_tables(struct handlers *h, struct buf *out)
{
	buf_add(out, h->table.p, h->table.n);
	vec_free(&h->range);
	buf_free(&h->table);
}
