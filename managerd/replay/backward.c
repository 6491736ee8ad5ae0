#include "managerd/replay/backward.h"
#include "managerd/replay/past.h"

#include <string.h>

/* GOES_ON: possible as far as was looked. */
enum verdict { IMPOSSIBLE, POSSIBLE, GOES_ON };

struct way { /* into the sample's block */
	uint32_t from;
	bool undone;    /* that block; then it holds: */
	enum verdict v; /* GOES_ON: p is what is known where it begins */
	uint32_t uops;  /* that took so many */
	struct past p;
};

struct search {
	const struct uops *u;
	const struct uops_block *all;              /* of the function */
	uint32_t uops;                             /* undone so far */
	uint32_t depth;                            /* blocks back that are looked at now */
	uint32_t deepest;                          /* of past[], in use so far */
	struct past here;                          /* where the sample's block begins */
	struct past past[WITNESS_BACK_BLOCKS - 1]; /* by blocks behind it */
	struct way way[WITNESS_BACK_WAYS];
	uint8_t left[WITNESS_BACK_WAYS]; /* those that are not excluded, nleft */
	uint32_t nleft;
};

/* From uop i back to where block b begins. */
static enum verdict undo_block(
    struct search *w, struct past *p, const struct uops_block *b, uint32_t i)
{
	uint32_t n = i - b->uop, left = WITNESS_BACK_UOPS - w->uops, most = n < left ? n : left;
	uint32_t done = past_undo(p, &w->u->uop.v[i], most);

	w->uops += done;
	if (p->never)
		return IMPOSSIBLE;
	w->uops += done < most;
	return done < n ? POSSIBLE : GOES_ON;
}

/* Over the jump at the end of block `from` to block `to`. */
static bool undo_jump(struct past *p, const struct uops_block *from, uint32_t to)
{
	unsigned cond;

	if (from->term == UT_GO || (from->term == UT_COND && from->to == from->other))
		return true;
	cond = from->term == UT_COND && from->to == to ? from->cond : from->cond ^ 1u;
	if (condition(cond, p->flags) == 0)
		return false;
	if (p->cond == PAST_ANY)
		p->cond = (int)cond;
	return true;
}

/* All of block `from`, which led to block `to`. */
static enum verdict undo_from(struct search *w, struct past *p, uint32_t from, uint32_t to)
{
	const struct uops_block *b = &w->all[from];

	return undo_jump(p, b, to) ? undo_block(w, p, b, b->uop + b->nuop - 1) : IMPOSSIBLE;
}

/* By any of the ways into a block; depth: how many blocks back that is. */
static enum verdict before(
    struct search *w, const struct past *behind, uint32_t block, uint32_t depth)
{
	const struct uops_block *b = &w->all[block];
	enum verdict v = IMPOSSIBLE;
	struct past *p;
	uint32_t i, from;

	if (b->open || !b->nfrom)
		return POSSIBLE;
	if (depth == w->depth)
		return GOES_ON;
	p = &w->past[depth - 1];
	w->deepest = w->deepest < depth ? depth : w->deepest;
	for (i = 0; i < b->nfrom && v == IMPOSSIBLE; i++) {
		past_copy(p, behind);
		from = w->u->from.v[b->from + i];
		v = undo_from(w, p, from, block);
		if (v == GOES_ON)
			v = before(w, p, from, depth + 1);
	}
	return v;
}

/* The block that a way comes from is undone once and counts each time. */
static enum verdict undo_way(struct search *w, struct way *way, uint32_t block)
{
	uint32_t had = w->uops;

	if (!way->undone) {
		past_copy(&way->p, &w->here);
		way->v = undo_from(w, &way->p, way->from, block);
		way->uops = w->uops - had;
		way->undone = true;
		return way->v;
	}
	if (way->uops > WITNESS_BACK_UOPS - had) {
		w->uops = WITNESS_BACK_UOPS;
		return POSSIBLE;
	}
	w->uops += way->uops;
	return way->v;
}

/* Drops the ways into a block that contradict within so many blocks; that they all
 * do cannot be, and the last is believed. False where looking further back would
 * not leave one. */
static bool exclude(struct search *w, uint32_t block, uint32_t depth)
{
	uint32_t i, stay = 0, sure = 0;
	enum verdict v;
	struct way *way;

	w->depth = depth;
	for (i = w->nleft; i-- > 0 && w->nleft > 1;) {
		way = &w->way[w->left[i]];
		v = undo_way(w, way, block);
		if (v == GOES_ON)
			v = before(w, &way->p, way->from, 1);
		if (v == IMPOSSIBLE) {
			w->left[i] = w->left[--w->nleft];
			continue;
		}
		sure += v == POSSIBLE;
		stay++;
		if (sure == 2 || (stay == 2 && depth == WITNESS_BACK_BLOCKS))
			return false;
	}
	return w->nleft > 1;
}

static void begin(struct search *w, const struct uops *u, const struct witness_sample *s,
    const struct uops_block *b)
{
	uint32_t i;

	w->u = u;
	w->all = u->block.v + u->func.v[s->func].block;
	w->uops = w->deepest = 0;
	past_begin(&w->here, s);
	w->nleft = b->nfrom;
	for (i = 0; i < b->nfrom; i++) {
		w->way[i].from = u->from.v[b->from + i];
		w->way[i].undone = false;
		w->left[i] = (uint8_t)i;
	}
}

static void wipe(struct search *w, uint32_t nway)
{
	explicit_bzero(&w->here, sizeof w->here);
	explicit_bzero(w->past, w->deepest * sizeof *w->past);
	while (nway--)
		if (w->way[nway].undone)
			explicit_bzero(&w->way[nway].p, sizeof w->way[nway].p);
}

enum witness_entry witness_back(
    const struct uops *u, const struct witness_sample *s, uint32_t *from)
{
	static const uint8_t depth[] = {1, 3, WITNESS_BACK_BLOCKS};
	const struct uops_block *b = &u->block.v[u->func.v[s->func].block + s->block];
	struct search w;
	size_t k;

	if (b->open || b->nfrom < 2 || b->nfrom > WITNESS_BACK_WAYS)
		return WITNESS_NO_JOIN;
	begin(&w, u, s, b);
	if (undo_block(&w, &w.here, b, s->uop) == GOES_ON)
		for (k = 0; k < sizeof depth && exclude(&w, s->block, depth[k]); k++)
			;
	wipe(&w, b->nfrom);
	*from = w.way[w.left[0]].from;
	return w.nleft == 1 ? WITNESS_TOLD : WITNESS_UNTOLD;
}
