#include "editor-driver/proof/appended/comparison.h"

/* ---- what is in the new code ---- */

/* Bytes that nothing leads to: padding, or a jump after what does not come back. 0: anything else.
 */
static unsigned unused(struct comparison *c, uint64_t addr)
{
	struct insn i;

	decode(c, &c->made, addr, &i);
	if (i.kind == INSN_NOP || i.kind == INSN_JMP || *loaded_at(&c->made, addr, 1) == 0xcc)
		return i.len;
	return 0;
}

static int check_function(struct comparison *c, const struct frame *f)
{
	uint64_t at = f->fde.pc, end = at + f->fde.size;
	const struct spot *s;
	unsigned n;

	if (!in_text(c, at) || f->fde.size > c->text->p_filesz - (at - c->text->p_vaddr))
		return err_set(c->e, "unwind information at %#llx is not of the new code",
		    (unsigned long long)f->fde.at);
	for (; at < end; at += n) {
		s = spot_at(c, at);
		n = s ? s->len : unused(c, at);
		if (!n || n > end - at) {
			*c->where = at;
			return err_set(c->e,
			    "new code at %#llx: nothing of the original leads there",
			    (unsigned long long)at);
		}
	}
	return 0;
}

static int check_functions(struct comparison *c)
{
	const struct frame *f = c->made_frames.frame.v, *end = f + c->made_frames.frame.n;

	for (; f < end; f++)
		if (!loaded_segment(&c->orig, f->fde.at) && check_function(c, f))
			return -1;
	return 0;
}

/* ---- the new block map ---- */

/* All that is not the original's is in the new code. */
static int check_map(struct comparison *c)
{
	const struct blockmap *m = c->made_map;
	size_t i;

	for (i = c->orig_map->frag.n; i < m->frag.n; i++)
		if (!in_text(c, m->frag.v[i].addr))
			return err_set(c->e, "the block map has another function at %#llx",
			    (unsigned long long)m->frag.v[i].addr);
	return 0;
}

/* The block at an address, mostly the one of the address before. */
static const struct bm_block *find_block(
    const struct blockmap *m, uint64_t addr, const struct bm_block **before)
{
	if (!*before || addr - (*before)->addr >= (*before)->size)
		*before = blockmap_find(m, addr);
	return *before;
}

struct blocks {
	const struct bm_block *made, *orig;
};

static bool same_block(struct comparison *c, const struct spot *s, struct blocks *before)
{
	const struct bm_block *m = find_block(c->made_map, c->made.begin + s->made, &before->made);
	const struct bm_block *o = find_block(c->orig_map, c->orig.begin + s->orig, &before->orig);
	const struct bm_frag *x, *y;

	if (!m || !o) /* the cold part of a function without blocks is in neither map */
		return !m && !o;
	x = &c->made_map->frag.v[m->frag];
	y = &c->orig_map->frag.v[o->frag];
	return m->id == o->id && x->tu == y->tu && x->func == y->func;
}

static int check_spot(struct comparison *c, const struct spot *s, struct blocks *before)
{
	uint64_t made = c->made.begin + s->made;

	if (s->passed)
		return s->unwinds ? 0 : differ(c, made, 0, "unwind information differs at a jump");
	return same_block(c, s, before)
		   ? 0
		   : differ(c, made, c->orig.begin + s->orig, "the block map has another block");
}

/* By address, so that blocks come one after the other. */
static int check_spots(struct comparison *c)
{
	struct blocks before = {NULL, NULL};
	uint64_t i;

	for (i = 0; i < c->text->p_filesz; i++)
		if (c->index[i] && check_spot(c, &c->spot.v[c->index[i] - 1], &before))
			return -1;
	return 0;
}

int cover_check(struct comparison *c)
{
	return check_functions(c) || check_map(c) || check_spots(c) ? -1 : 0;
}
