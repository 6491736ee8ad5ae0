#include "monitor-client/callers.h"
#include "common/sort.h"

#include <stddef.h>
#include <string.h>

static bool take_site(struct callers_sites *to, const struct maps *m, const struct event *s,
    uint64_t addr, bool (*wanted)(const struct build_id *id, void *arg), void *arg)
{
	struct place *at = &to->at[to->n];
	uint32_t i;

	if (!maps_at(m, s, addr, at) || !wanted(at->id, arg))
		return false;
	for (i = 0; i < to->n; i++)
		if (to->at[i].offset == at->offset && to->at[i].base == at->base)
			return false;
	to->n++;
	return true;
}

void callers_sites(struct callers_sites *to, struct maps *m, const struct event *s,
    bool (*wanted)(const struct build_id *id, void *arg), void *arg)
{
	const struct event_regs *r = s->sample.regs;
	uint32_t i;

	to->n = 0;
	to->word[0] = 0;
	to->direct = s->sample.mode == MODE_KERNEL && take_site(to, m, s, r->ip, wanted, arg);
	for (i = 0; !to->direct && i < r->nword && i < WIRE_WORDS && to->n < WIRE_SITES; i++)
		if (take_site(to, m, s, r->word[i], wanted, arg))
			to->word[to->n - 1] = i;
}

void callers_add(struct callers *g, uint32_t uid, const struct wire_caller *c)
{
	uint64_t key[3 + 3 * WIRE_SITES] = {c->callee, c->address, c->direct}, *slot;
	uint32_t i;

	for (i = 0; i < c->nsite; i++) {
		key[3 + 3 * i] = c->site[i].module;
		key[4 + 3 * i] = c->site[i].offset;
		key[5 + 3 * i] = c->site[i].word;
	}
	if ((slot = htab_get(&g->index, key, (3 + 3 * c->nsite) * sizeof *key))) {
		g->entry.v[*slot].count++;
	} else if (room_take(&g->room, CALLERS_MAX, uid, 1)) {
		*htab_put(&g->index, key, (3 + 3 * c->nsite) * sizeof *key, NULL) = g->entry.n;
		vec_push(&g->entry, *c);
		g->entry.v[g->entry.n - 1].count = 1;
	}
}

static int site_compare(const struct wire_caller *a, const struct wire_caller *b, uint32_t i)
{
	return ORDER(a->site[i].module, b->site[i].module)
		   ?: ORDER(a->site[i].offset, b->site[i].offset)
		   ?: ORDER(a->site[i].word, b->site[i].word);
}

static int caller_compare(const void *pa, const void *pb)
{
	const struct wire_caller *a = pa, *b = pb;
	int order = ORDER(a->callee, b->callee) ?: ORDER(a->address, b->address)
	    ?: ORDER(a->direct, b->direct) ?: ORDER(a->nsite, b->nsite);
	uint32_t i;

	for (i = 0; !order && i < a->nsite; i++)
		order = site_compare(a, b, i);
	return order;
}

void callers_fill(struct callers *g, const uint32_t *rename, uint32_t nmodule, uint32_t nelsewhere)
{
	struct wire_caller *c;
	uint32_t i;

	htab_free(&g->index); /* their order changes */
	for (c = g->entry.v; c < g->entry.v + g->entry.n; c++) {
		if (c->callee == CALLEE_KERNEL)
			c->callee = nmodule + nelsewhere;
		else if (c->callee >= CALLEE_ELSEWHERE)
			c->callee += nmodule - CALLEE_ELSEWHERE;
		else
			c->callee = rename[c->callee];
		for (i = 0; i < c->nsite; i++)
			c->site[i].module = rename[c->site[i].module];
	}
	vec_sort(&g->entry, caller_compare);
}

void callers_clear(struct callers *g)
{
	g->entry.n = 0;
	htab_free(&g->index);
	room_free(&g->room);
}

void callers_free(struct callers *g)
{
	callers_clear(g);
	vec_free(&g->entry);
}
