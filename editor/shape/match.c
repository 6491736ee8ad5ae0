/* Which blocks of two builds of a function correspond. */
#include "common/sort.h"
#include "editor/shape/shape.h"

#include <stdlib.h>
#include <string.h>

/* Cells of a table of likenesses: what lies between two pairs is then compared as a whole. */
enum { NONE = SHAPE_NONE, CELLS_MAX = 1 << 20 };

struct side {
	const struct shape_func *f;
	uint32_t *to;           /* the block of the other side, or NONE */
	uint32_t *first, *pred; /* pred[first[b] … first[b + 1]): predecessors */
};

struct matcher {
	struct side old, now;
	VEC(uint32_t) fresh; /* of old: matched, and their edges not yet followed */
};

static void list_preds(struct side *s, struct arena *a)
{
	uint32_t n = s->f->nblock, b, i, all = 0;
	const struct shape_block *k;

	s->first = arena_array(a, (size_t)n + 2, sizeof *s->first);
	for (b = 0; b < n; b++)
		for (k = &s->f->block[b], i = 0; i < k->nsucc; i++, all++)
			s->first[k->succ[i] + 2]++;
	for (b = 2; b < n + 2; b++)
		s->first[b] += s->first[b - 1];
	s->pred = arena_array(a, all, sizeof *s->pred);
	for (b = 0; b < n; b++)
		for (k = &s->f->block[b], i = 0; i < k->nsucc; i++)
			s->pred[s->first[k->succ[i] + 1]++] = b;
}

static void side_begin(struct side *s, const struct shape_func *f, struct arena *a)
{
	uint32_t b;

	s->f = f;
	s->to = arena_array(a, f->nblock, sizeof *s->to);
	for (b = 0; b < f->nblock; b++)
		s->to[b] = NONE;
	list_preds(s, a);
}

static void join(struct matcher *m, uint32_t old, uint32_t now)
{
	m->old.to[old] = now;
	m->now.to[now] = old;
	vec_push(&m->fresh, old);
}

/* ---- by hashes ---- */

struct entry {
	uint64_t hash;
	uint32_t block;
};

static int by_hash(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return ORDER(a->hash, b->hash) ?: ORDER(a->block, b->block);
}

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 31) * 0x7fb5d329728ea185;
	v = (v ^ v >> 27) * 0x81dadef4bc2dd44d;
	return v ^ v >> 33;
}

static uint64_t hash_of(const struct side *s, uint32_t b, enum shape_level level, bool neighbours)
{
	const struct shape_block *k = s->f->block;
	uint64_t h = k[b].hash[level];
	uint32_t i;

	if (!neighbours)
		return h;
	h = mix(h + 1);
	for (i = 0; i < k[b].nsucc; i++)
		h += mix(k[k[b].succ[i]].hash[level] + (2ull << 32));
	for (i = s->first[b]; i < s->first[b + 1]; i++)
		h += mix(k[s->pred[i]].hash[level] + (3ull << 32));
	return h;
}

static struct entry *list_unmatched(
    const struct side *s, enum shape_level level, bool neighbours, uint32_t *n)
{
	struct entry *v = xcalloc(s->f->nblock, sizeof *v);
	uint32_t b;

	for (b = *n = 0; b < s->f->nblock; b++)
		if (s->to[b] == NONE)
			v[(*n)++] = (struct entry){hash_of(s, b, level, neighbours), b};
	qsort(v, *n, sizeof *v, by_hash);
	return v;
}

static uint32_t run_length(const struct entry *v, uint32_t i, uint32_t n)
{
	uint32_t end = i;

	while (end < n && v[end].hash == v[i].hash)
		end++;
	return end - i;
}

/* Blocks of a hash that one of both has, or, several: that as many of both have, in their order. */
static void match_hashes(struct matcher *m, enum shape_level level, bool neighbours, bool several)
{
	uint32_t no, nn, i = 0, k = 0, ro, rn, j;
	struct entry *o = list_unmatched(&m->old, level, neighbours, &no);
	struct entry *w = list_unmatched(&m->now, level, neighbours, &nn);

	while (i < no && k < nn) {
		ro = o[i].hash <= w[k].hash ? run_length(o, i, no) : 0;
		rn = w[k].hash <= o[i].hash ? run_length(w, k, nn) : 0;
		for (j = 0; ro == rn && (several || ro == 1) && j < ro; j++)
			join(m, o[i + j].block, w[k + j].block);
		i += ro;
		k += rn;
	}
	free(o);
	free(w);
}

/* ---- by edges ---- */

/* How alike two blocks are: 0, or more the stricter the level at which they are equal. */
static unsigned likeness(const struct matcher *m, uint32_t old, uint32_t now)
{
	const struct shape_block *a = &m->old.f->block[old], *b = &m->now.f->block[now];
	unsigned level;

	for (level = 0; level < SHAPE_LEVELS; level++)
		if (a->hash[level] == b->hash[level])
			return 2 + SHAPE_LEVELS - level;
	return a->nsucc == b->nsucc ? 1 : 0;
}

/* The one that is unmatched, or NONE where there are more or none. */
static uint32_t only_unmatched(const struct side *s, const uint32_t *v, uint32_t n)
{
	uint32_t found = NONE, i;

	for (i = 0; i < n; i++) {
		if (s->to[v[i]] != NONE)
			continue;
		if (found != NONE)
			return NONE;
		found = v[i];
	}
	return found;
}

static void match_ends(
    struct matcher *m, const uint32_t *vo, uint32_t no, const uint32_t *vn, uint32_t nn)
{
	uint32_t a = only_unmatched(&m->old, vo, no), b = only_unmatched(&m->now, vn, nn);

	if (a != NONE && b != NONE && no == nn && likeness(m, a, b))
		join(m, a, b);
}

/* Where the others of their neighbours correspond, so does the last. */
static void follow_edges(struct matcher *m)
{
	const struct side *o = &m->old, *w = &m->now;
	uint32_t a, b;

	while (m->fresh.n) {
		a = m->fresh.v[--m->fresh.n];
		b = o->to[a];
		match_ends(m, o->f->block[a].succ, o->f->block[a].nsucc, w->f->block[b].succ,
		    w->f->block[b].nsucc);
		match_ends(m, o->pred + o->first[a], o->first[a + 1] - o->first[a],
		    w->pred + w->first[b], w->first[b + 1] - w->first[b]);
	}
}

/* ---- by order ---- */

/* The pairs of most likeness in all that keep the order (Needleman and Wunsch 1970). */
static void align(struct matcher *m, uint32_t old, uint32_t no, uint32_t now, uint32_t nn)
{
	uint32_t i, k, width = nn + 1, *best = xcalloc((size_t)(no + 1) * width, sizeof *best), *at;
	unsigned like;

	for (i = no; i-- > 0;)
		for (k = nn; k-- > 0;) {
			at = best + (size_t)i * width + k;
			like = likeness(m, old + i, now + k);
			*at = at[1] > at[width] ? at[1] : at[width];
			if (like && at[width + 1] + like > *at)
				*at = at[width + 1] + like;
		}
	for (i = k = 0; i < no && k < nn;) {
		at = best + (size_t)i * width + k;
		like = likeness(m, old + i, now + k);
		if (like && *at == at[width + 1] + like)
			join(m, old + i++, now + k++);
		else if (*at == at[width])
			i++;
		else
			k++;
	}
	free(best);
}

static uint32_t unmatched_after(const struct side *s, uint32_t b)
{
	uint32_t end = b;

	while (end < s->f->nblock && s->to[end] == NONE)
		end++;
	return end - b;
}

/* What lies unmatched behind one of a pair, with what does behind the other. */
static void match_order(struct matcher *m)
{
	uint32_t b, no, nn, now;

	for (b = 0; b + 1 < m->old.f->nblock; b++) {
		now = m->old.to[b];
		if (now == NONE)
			continue;
		no = unmatched_after(&m->old, b + 1);
		nn = unmatched_after(&m->now, now + 1);
		if (no && nn && (uint64_t)no * nn <= CELLS_MAX)
			align(m, b + 1, no, now + 1, nn);
	}
}

static void match_levels(struct matcher *m, bool several)
{
	unsigned level;

	for (level = 0; level < SHAPE_LEVELS; level++) {
		match_hashes(m, level, true, several);
		follow_edges(m);
		match_hashes(m, level, false, several);
		follow_edges(m);
	}
}

uint32_t *shape_match(const struct shape_func *old, const struct shape_func *now, struct arena *a)
{
	struct matcher m = {.fresh = {0}};

	side_begin(&m.old, old, a);
	side_begin(&m.now, now, a);
	if (old->nblock && now->nblock)
		join(&m, 0, 0);
	match_levels(&m, false);
	match_levels(&m, true);
	match_order(&m);
	follow_edges(&m);
	vec_free(&m.fresh);
	return m.old.to;
}
