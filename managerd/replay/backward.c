#include "managerd/replay/backward.h"
#include "managerd/replay/past.h"

#include <string.h>

/* SO_FAR: possible as far as instructions were undone. */
enum verdict { IMPOSSIBLE, POSSIBLE, SO_FAR };

struct candidate { /* a predecessor of the sample's block */
	uint32_t from;
	bool undone;    /* that block; then it holds: */
	enum verdict v; /* SO_FAR: p is what is known where it begins */
	uint32_t uops;  /* that this took */
	struct past p;
};

struct search {
	const struct uops *u;
	const struct uops_block *all;             /* of the function */
	uint32_t uops;                            /* undone so far */
	uint32_t depth;                           /* blocks back that are undone now, at most */
	uint32_t deepest;                         /* of past[], in use so far */
	struct past here;                         /* where the sample's block begins */
	struct past past[REPLAY_BACK_BLOCKS - 1]; /* by the number of blocks before it */
	struct candidate candidate[REPLAY_BACK_PREDECESSORS];
	uint8_t left[REPLAY_BACK_PREDECESSORS]; /* not excluded, nleft of them */
	uint32_t nleft;
};

/* From uop i back to where block b begins. */
static enum verdict undo_block(
    struct search *w, struct past *p, const struct uops_block *b, uint32_t i)
{
	uint32_t n = i - b->uop, left = REPLAY_BACK_UOPS - w->uops, most = n < left ? n : left;
	uint32_t done = past_undo(p, &w->u->uop.v[i], most);

	w->uops += done;
	if (p->never)
		return IMPOSSIBLE;
	w->uops += done < most;
	return done < n ? POSSIBLE : SO_FAR;
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

/* By any predecessor of a block; depth: how many blocks back that is. */
static enum verdict before(
    struct search *w, const struct past *after, uint32_t block, uint32_t depth)
{
	const struct uops_block *b = &w->all[block];
	enum verdict v = IMPOSSIBLE;
	struct past *p;
	uint32_t i, from;

	if (b->open || !b->nfrom)
		return POSSIBLE;
	if (depth == w->depth)
		return SO_FAR;
	p = &w->past[depth - 1];
	w->deepest = w->deepest < depth ? depth : w->deepest;
	for (i = 0; i < b->nfrom && v == IMPOSSIBLE; i++) {
		past_copy(p, after);
		from = w->u->from.v[b->from + i];
		v = undo_from(w, p, from, block);
		if (v == SO_FAR)
			v = before(w, p, from, depth + 1);
	}
	return v;
}

/* A predecessor is undone once and counts each time. */
static enum verdict undo_candidate(struct search *w, struct candidate *c, uint32_t block)
{
	uint32_t had = w->uops;

	if (!c->undone) {
		past_copy(&c->p, &w->here);
		c->v = undo_from(w, &c->p, c->from, block);
		c->uops = w->uops - had;
		c->undone = true;
		return c->v;
	}
	if (c->uops > REPLAY_BACK_UOPS - had) {
		w->uops = REPLAY_BACK_UOPS;
		return POSSIBLE;
	}
	w->uops += c->uops;
	return c->v;
}

/* Drops the predecessors that contradict within so many blocks; one of them was
 * taken, so the last stays. False where going further back would not resolve it. */
static bool exclude(struct search *w, uint32_t block, uint32_t depth)
{
	uint32_t i, stay = 0, sure = 0;
	enum verdict v;
	struct candidate *c;

	w->depth = depth;
	for (i = w->nleft; i-- > 0 && w->nleft > 1;) {
		c = &w->candidate[w->left[i]];
		v = undo_candidate(w, c, block);
		if (v == SO_FAR)
			v = before(w, &c->p, c->from, 1);
		if (v == IMPOSSIBLE) {
			w->left[i] = w->left[--w->nleft];
			continue;
		}
		sure += v == POSSIBLE;
		stay++;
		if (sure == 2 || (stay == 2 && depth == REPLAY_BACK_BLOCKS))
			return false;
	}
	return w->nleft > 1;
}

static void begin(struct search *w, const struct uops *u, const struct replay_sample *s,
    const struct uops_block *b)
{
	uint32_t i;

	w->u = u;
	w->all = u->block.v + u->func.v[s->func].block;
	w->uops = w->deepest = 0;
	past_begin(&w->here, s);
	w->nleft = b->nfrom;
	for (i = 0; i < b->nfrom; i++) {
		w->candidate[i].from = u->from.v[b->from + i];
		w->candidate[i].undone = false;
		w->left[i] = (uint8_t)i;
	}
}

static void wipe(struct search *w, uint32_t n)
{
	explicit_bzero(&w->here, sizeof w->here);
	explicit_bzero(w->past, w->deepest * sizeof *w->past);
	while (n--)
		if (w->candidate[n].undone)
			explicit_bzero(&w->candidate[n].p, sizeof w->candidate[n].p);
}

enum replay_entry replay_backward(
    const struct uops *u, const struct replay_sample *s, uint32_t *from)
{
	static const uint8_t depth[] = {1, 3, REPLAY_BACK_BLOCKS};
	const struct uops_block *b = &u->block.v[u->func.v[s->func].block + s->block];
	struct search w;
	size_t k;

	if (b->open || b->nfrom < 2 || b->nfrom > REPLAY_BACK_PREDECESSORS)
		return REPLAY_NO_JOIN;
	begin(&w, u, s, b);
	if (undo_block(&w, &w.here, b, s->uop) == SO_FAR)
		for (k = 0; k < sizeof depth && exclude(&w, s->block, depth[k]); k++)
			;
	wipe(&w, b->nfrom);
	*from = w.candidate[w.left[0]].from;
	return w.nleft == 1 ? REPLAY_RESOLVED : REPLAY_UNRESOLVED;
}
