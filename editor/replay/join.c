#include "editor/replay/uops.h"

enum { REGION_MAX = 256 }; /* most blocks between both */

struct change { /* what a block writes */
	uint16_t writes;
	bool stores, odd; /* odd: what it does is not known */
};

struct joiner {
	const struct cfg *g;
	struct uops_block *block;
	const struct uops *u;
	uint32_t *before, *pred; /* of block b: pred[before[b]…before[b + 1]); block nblock is
				    the exit */
	uint32_t *order, norder; /* blocks that the exit can be reached from, exit first */
	uint32_t *number;        /* index in order[], or NONE */
	uint32_t *join;
	struct change *change; /* of each block */
	uint32_t *mark, *queue;
};

static bool leaves(const struct joiner *j, uint32_t b)
{
	return j->g->block[b].flags & BLK_EXIT;
}

static void find_edges(struct joiner *j, struct arena *a)
{
	const struct cfg *g = j->g;
	uint32_t i, n = g->nblock;

	j->before = arena_array(a, n + 3, sizeof *j->before);
	j->pred = arena_array(a, g->nedge + n, sizeof *j->pred);
	for (i = 0; i < g->nedge; i++)
		j->before[g->edge[i].dst + 2]++;
	for (i = 0; i < n; i++)
		j->before[n + 2] += leaves(j, i);
	for (i = 0; i <= n; i++)
		j->before[i + 2] += j->before[i + 1];
	for (i = 0; i < g->nedge; i++)
		j->pred[j->before[g->edge[i].dst + 1]++] = g->edge[i].src;
	for (i = 0; i < n; i++)
		if (leaves(j, i))
			j->pred[j->before[n + 1]++] = i;
}

/* Reverse postorder of a walk against the edges, from the exit. */
static void find_order(struct joiner *j, struct arena *a)
{
	uint32_t n = j->g->nblock, depth = 1, i = n + 1, b, p;
	uint32_t *at = arena_array(a, n + 1, sizeof *at);
	uint32_t *stack = arena_array(a, n + 1, sizeof *stack);

	j->order = arena_array(a, n + 1, sizeof *j->order);
	j->number = arena_array(a, n + 1, sizeof *j->number);
	memset(j->number, 0xff, (n + 1) * sizeof *j->number);
	memcpy(at, j->before, (n + 1) * sizeof *at);
	stack[0] = n;
	j->number[n] = 0;
	while (depth) {
		b = stack[depth - 1];
		if (at[b] == j->before[b + 1]) {
			j->order[--i] = b;
			depth--;
			continue;
		}
		p = j->pred[at[b]++];
		if (j->number[p] == NONE) {
			j->number[p] = 0;
			stack[depth++] = p;
		}
	}
	j->order += i;
	j->norder = n + 1 - i;
	for (i = 0; i < j->norder; i++)
		j->number[j->order[i]] = i;
}

static uint32_t meet(const struct joiner *j, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (j->number[a] > j->number[b])
			a = j->join[a];
		while (j->number[b] > j->number[a])
			b = j->join[b];
	}
	return a;
}

static uint32_t meet_of(const struct joiner *j, uint32_t b)
{
	uint32_t e, d, m = leaves(j, b) ? j->g->nblock : NONE;

	for (e = j->g->succ[b]; e < j->g->succ[b + 1]; e++) {
		d = j->g->edge[e].dst;
		if (j->number[d] != NONE && j->join[d] != NONE)
			m = m == NONE ? d : meet(j, m, d);
	}
	return m;
}

static void find_joins(struct joiner *j, struct arena *a)
{
	uint32_t n = j->g->nblock, i, m;
	bool changed = true;

	j->join = arena_array(a, n + 1, sizeof *j->join);
	memset(j->join, 0xff, (n + 1) * sizeof *j->join);
	j->join[n] = n;
	while (changed) {
		changed = false;
		for (i = 1; i < j->norder; i++) {
			m = meet_of(j, j->order[i]);
			changed |= m != j->join[j->order[i]];
			j->join[j->order[i]] = m;
		}
	}
}

/* ---- between both ---- */

static bool stores(const struct uop *u)
{
	switch (u->kind) {
	case UOP_PUSH:
	case UOP_CALL:
	case UOP_WIPE:
		return true;
	case UOP_CMP:
	case UOP_TEST:
	case UOP_BT:
		return false;
	}
	return u->dst == UO_MEM;
}

static void find_changes(struct joiner *j, struct arena *a)
{
	uint32_t b, n = j->g->nblock;
	const struct uop *u, *end;
	struct change *c;

	j->change = arena_array(a, n, sizeof *j->change);
	for (b = 0; b < n; b++) {
		c = &j->change[b];
		u = j->u->uop.v + j->block[b].uop;
		for (end = u + j->block[b].nuop; u < end; u++) {
			c->writes |= uop_written(u);
			c->stores |= stores(u);
			c->odd |= u->kind == UOP_STOP;
		}
	}
}

/* All that may be executed between block b and its join; false where that is too much, or not
 * known. */
static bool look_through(struct joiner *j, uint32_t b, struct uops_block *k)
{
	uint32_t n = 0, i, e, d, to;

	j->mark[k->join] = b + 1;
	for (i = 0, d = b;; d = j->queue[i++]) {
		for (e = j->g->succ[d]; e < j->g->succ[d + 1]; e++) {
			to = j->g->edge[e].dst;
			if (j->mark[to] == b + 1 || j->number[to] == NONE)
				continue;
			if (n == REGION_MAX || j->change[to].odd)
				return false;
			k->writes |= j->change[to].writes;
			k->stores |= j->change[to].stores;
			j->mark[to] = b + 1;
			j->queue[n++] = to;
		}
		if (i == n)
			return true;
	}
}

/* The register that holds the frame's address at both ends is the same there. */
static void keep_frame(const struct joiner *j, struct uops_block *k)
{
	const struct uops_frame *from = uops_frame(j->u, k->uop + k->nuop - 1), *to;

	to = uops_frame(j->u, j->block[k->join].uop);
	if (from && to && from->reg == to->reg && from->offset == to->offset)
		k->writes &= (uint16_t) ~(1u << from->reg);
}

static bool branches(const struct joiner *j, uint32_t b)
{
	return j->g->succ[b + 1] - j->g->succ[b] > 1 &&
	       (j->block[b].term == UT_COND || j->g->block[b].flags & BLK_INDIRECT);
}

void uop_joins_find(const struct func *f, struct uops *out, uint32_t first, struct arena *a)
{
	struct joiner j = {.g = &f->pub->cfg, .block = out->block.v + first, .u = out};
	uint32_t n = j.g->nblock, b;
	struct uops_block *k;

	find_edges(&j, a);
	find_order(&j, a);
	find_joins(&j, a);
	find_changes(&j, a);
	j.mark = arena_array(a, n + 1, sizeof *j.mark);
	j.queue = arena_array(a, REGION_MAX, sizeof *j.queue);
	for (b = 0; b < n; b++) {
		k = &j.block[b];
		if (!branches(&j, b) || j.join[b] >= n)
			continue;
		k->join = j.join[b];
		if (look_through(&j, b, k))
			keep_frame(&j, k);
		else
			k->join = UOPS_NONE;
	}
}
