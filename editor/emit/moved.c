#include "editor/emit/moved.h"

#include <stdlib.h>

struct moved {
	const struct unit_impl *u;
	const struct unit_placement *placement;
	const struct map_order *m;
	uint32_t **slot;    /* per function and block: its first printed copy, or NONE */
	uint32_t *next;     /* per printed block: the next copy of the same, or NONE */
	uint32_t *fragment; /* per printed block */
};

struct moved *moved_new(
    const struct unit_impl *u, const struct unit_placement *placement, const struct map_order *m)
{
	struct moved *w = arena_alloc(u->mem, sizeof *w);
	const struct map_fragment *g;
	uint32_t i, k, *s;

	*w = (struct moved){.u = u, .placement = placement, .m = m};
	w->slot = arena_array(u->mem, u->func.n, sizeof *w->slot);
	w->next = arena_array(u->mem, m->block.n, sizeof *w->next);
	w->fragment = arena_array(u->mem, m->block.n, sizeof *w->fragment);
	for (i = 0; i < u->func.n; i++) {
		w->slot[i] = arena_array(u->mem, u->func.v[i].nblk, sizeof **w->slot);
		memset(w->slot[i], 0xff, u->func.v[i].nblk * sizeof **w->slot);
	}
	for (i = (uint32_t)m->frag.n; i-- > 0;) {
		g = &m->frag.v[i];
		for (k = g->first + g->n; u->func.v[g->func].nblk && k-- > g->first;) {
			s = &w->slot[g->func][m->block.v[k].id];
			w->fragment[k] = i;
			w->next[k] = *s;
			*s = k;
		}
	}
	return w;
}

/* ---- a bound ---- */

struct bound {
	const struct func *f;
	struct inside in;
};

/* The nearest code before or after statement i in its section; NONE = there is none. GCC's labels
 * around the parts of a function (.LCOLDB1, .LHOTE1) are outside of it. */
static uint32_t nearest_code(const struct unit_impl *u, uint32_t i, bool before)
{
	uint16_t section = u->stmt.v[i].section;

	while (before ? i-- > 0 : ++i < u->stmt.n)
		if (u->stmt.v[i].section == section && is_code(&u->stmt.v[i]))
			return i;
	return NONE;
}

/* A bound that is the end of a range, or its begin. */
static bool read_bound(const struct unit_impl *u, struct str text, bool end, struct bound *b)
{
	const char *p = text.p, *stop = text.p + text.n;
	const struct label *l;
	uint32_t i, func;
	struct str name;

	if (!token_next(&p, stop, &name) || name.p != text.p || !(l = label_find(u, name)))
		return false;
	i = l->stmt;
	func = l->func;
	if (func == NONE && u->section.v[u->stmt.v[i].section].code) {
		i = nearest_code(u, i, end);
		func = i == NONE ? NONE : u->stmt_func[i];
		i += end;
	}
	if (func == NONE)
		return false;
	*b = (struct bound){.f = &u->func.v[func], .in = {.is = true, .label = name}};
	b->in.before = str_is((struct str){p, (uint32_t)(stop - p)}, "-1");
	b->in.at = stmt_search(b->f->code.v, b->f->code.n, i);
	return p == stop || b->in.before;
}

bool moved_names(const struct moved *w, struct str from, struct str to)
{
	const struct func *f;
	struct bound b;

	if (!read_bound(w->u, from, false, &b) && !read_bound(w->u, to, true, &b))
		return false;
	f = b.f;
	return f->pub->movable && w->placement[f->pub->ord].edit;
}

static bool code_between(const struct unit_impl *u, const struct func *f, uint32_t a, uint32_t b)
{
	for (; a < b; a++)
		if (is_code(&u->stmt.v[f->code.v[a]]))
			return true;
	return false;
}

/* The block that a bound is in; one between two is before the latter, which is nblk at the end. */
static uint32_t block_of(const struct func *f, uint32_t at)
{
	uint32_t lo = 0, hi = f->nblk, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->blk[mid].last <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ---- a range ---- */

static void add_slots(const struct moved *w, const struct func *f, uint32_t id, struct inside from,
    struct inside to, struct pieces *out)
{
	uint32_t k = w->slot[f->pub->ord][id];

	for (; k != NONE; k = w->next[k])
		vec_push(out, ((struct piece){k, k, from, to}));
}

static int by_address(const void *a, const void *b)
{
	uint32_t x = ((const struct piece *)a)->first, y = ((const struct piece *)b)->first;

	return (x > y) - (x < y);
}

void moved_join(const struct moved *w, struct pieces *list)
{
	struct piece *last = NULL, *p;
	size_t i, n = 0;

	if (list->n)
		qsort(list->v, list->n, sizeof *list->v, by_address);
	for (i = 0; i < list->n; i++) {
		p = &list->v[i];
		if (last && last->last != NONE && p->first == last->last + 1 && !last->to.is &&
		    !p->from.is && w->fragment[p->first] == w->fragment[last->last]) {
			last->last = p->last;
			last->to = p->to;
		} else {
			list->v[n] = *p;
			last = &list->v[n++];
		}
	}
	list->n = n;
}

/* Is it the byte before block id? That is in a call at the end of the block before. */
static bool before_block(const struct unit_impl *u, const struct bound *b, uint32_t id)
{
	const struct func *f = b->f;

	return b->in.before && id &&
	       (id == f->nblk || !code_between(u, f, f->blk[id].first, b->in.at));
}

bool moved_range(const struct moved *w, struct str from, struct str to, struct pieces *out)
{
	static const struct inside none, last_byte = {.is = true, .before = true, .at = NONE};
	const struct unit_impl *u = w->u;
	struct inside begin, stop;
	const struct func *f;
	struct bound a, b;
	uint32_t id, end;

	if (!read_bound(u, from, false, &a) || !read_bound(u, to, true, &b) || a.f != b.f)
		return false;
	f = a.f;
	if (!f->blk || !w->placement[f->pub->ord].edit) {
		vec_push(out, ((struct piece){NONE, NONE, a.in, b.in}));
		return true;
	}
	id = block_of(f, a.in.at);
	begin = id < f->nblk && code_between(u, f, f->blk[id].first, a.in.at) ? a.in : none;
	if (before_block(u, &a, id)) {
		begin = last_byte;
		id--;
	}
	end = block_of(f, b.in.at);
	stop = none;
	if (before_block(u, &b, end)) {
		stop = last_byte;
	} else if (end < f->nblk && code_between(u, f, f->blk[end].first, b.in.at)) {
		if (b.in.before || code_between(u, f, b.in.at, f->blk[end].last))
			stop = b.in;
		end++;
	}
	for (; id < end; id++, begin = none)
		add_slots(w, f, id, begin, id + 1 == end ? stop : none, out);
	return true;
}

void moved_label(uint32_t func, const struct map_block *k, uint32_t at, struct buf *out)
{
	if (at == NONE)
		buf_printf(out, ".LMF%u.%u.%u", func, k->id, k->copy);
	else
		buf_printf(out, ".LMC%u.%u.%u.%u", func, k->id, k->copy, at);
}

static bool ends_in_call(const struct unit_impl *u, const struct func *f, const struct blk *b)
{
	uint32_t i = b->last;

	while (i > b->first && !is_code(&u->stmt.v[f->code.v[i - 1]]))
		i--;
	return b->jump == NONE && i > b->first && u->stmt.v[f->code.v[i - 1]].kind == ST_INSN &&
	       str_starts(u->stmt.v[f->code.v[i - 1]].op, "call");
}

bool moved_return(const struct moved *w, struct str at, struct buf *out)
{
	struct bound b;
	uint32_t id;

	if (!moved_names(w, at, at) || !read_bound(w->u, at, true, &b) || !b.f->blk)
		return false;
	id = block_of(b.f, b.in.at);
	b.in.before = true;
	if (!before_block(w->u, &b, id) || !ends_in_call(w->u, b.f, &b.f->blk[id - 1]))
		return false;
	moved_label(b.f->pub->ord, &(struct map_block){.id = id - 1}, NONE, out);
	return true;
}

static void print_inside(const struct moved *w, uint32_t slot, struct inside s, struct buf *out)
{
	if (slot == NONE || (s.at != NONE && !w->m->block.v[slot].copy))
		buf_add(out, s.label.p, s.label.n);
	else
		moved_label(w->m->frag.v[w->fragment[slot]].func, &w->m->block.v[slot], s.at, out);
	if (s.before)
		buf_str(out, "-1");
}

void moved_from(const struct moved *w, const struct piece *p, struct buf *out)
{
	if (p->from.is)
		print_inside(w, p->first, p->from, out);
	else
		block_label(
		    out, w->m->frag.v[w->fragment[p->first]].func, &w->m->block.v[p->first]);
}

void moved_to(const struct moved *w, const struct piece *p, struct buf *out)
{
	uint32_t func;

	if (p->to.is) {
		print_inside(w, p->last, p->to, out);
		return;
	}
	func = w->m->frag.v[w->fragment[p->last]].func;
	if (w->m->block.v[p->last].ended)
		block_end(out, func, &w->m->block.v[p->last]);
	else
		block_label(out, func, &w->m->block.v[p->last + 1]);
}
