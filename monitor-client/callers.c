#include "monitor-client/callers.h"
#include "common/hash.h"
#include "common/sort.h"

#include <stddef.h>
#include <string.h>

enum { CODE_MAX = 512 }; /* mappings of a process */

/* The mapping that has an address, or NULL. */
static const struct maps_code *find_code(const struct maps_code *code, size_t n, uint64_t addr)
{
	size_t i;

	if (addr < code[0].start || addr >= code[n - 1].end)
		return NULL;
	i = partition_point(0, n, k, code[k].end <= addr);
	return addr >= code[i].start ? &code[i] : NULL;
}

static void add_site(
    struct callers_sites *to, uint32_t word, const struct maps_code *code, uint64_t addr)
{
	to->word[to->n] = word;
	to->at[to->n] = code->begin;
	to->at[to->n++].offset += addr - code->start;
}

void callers_sites(struct callers_sites *to, struct maps *m, const struct event *s,
    bool (*wanted)(const struct build_id *id, void *arg), void *arg)
{
	const struct event_regs *r = s->sample.regs;
	const struct maps_code *at;
	struct maps_code code[CODE_MAX];
	size_t n = maps_code(m, s, wanted, arg, code, CODE_MAX);
	uint32_t i;

	to->n = to->looked = 0;
	to->direct = false;
	if (!n)
		return;
	if (s->sample.mode == MODE_KERNEL && (at = find_code(code, n, r->ip)) && at->chosen) {
		add_site(to, 0, at, r->ip);
		to->direct = true;
		return;
	}
	for (i = 0; i < r->nword && to->n < WIRE_SITES; i++) {
		at = find_code(code, n, r->word[i]);
		if (at && at->chosen)
			add_site(to, i, at, r->word[i]);
		else if (at && to->n)
			add_site(to, i, at, at->start);
	}
	to->looked = i;
}

/* All but the count. */
static struct hash128 digest(const struct wire_caller *c)
{
	uint64_t key[4 + 3 * WIRE_SITES] = {c->callee, c->address, c->direct, c->looked},
			     *k = key + 4;
	uint32_t i;

	for (i = 0; i < c->nsite; i++) {
		*k++ = c->site[i].module;
		*k++ = c->site[i].offset;
		*k++ = c->site[i].word;
	}
	return hash_bytes(key, (size_t)(k - key) * sizeof *key);
}

void callers_add(struct callers *g, uint32_t uid, const struct wire_caller *c)
{
	struct hash128 key = digest(c);
	uint64_t *slot = htab_get(&g->index, &key, sizeof key);
	struct wire_caller one = *c;

	if (slot) {
		g->entry.v[*slot].count++;
		return;
	}
	if (!room_take(
		&g->room, CALLERS_BYTES, uid, WIRE_CALLER_MAX + c->nsite * (size_t)WIRE_SITE_MAX))
		return;
	*htab_put(&g->index, &key, sizeof key, NULL) = g->entry.n;
	one.count = 1;
	one.site = arena_copy(&g->mem, c->site, c->nsite, sizeof *c->site);
	vec_push(&g->entry, one);
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
	    ?: ORDER(a->direct, b->direct) ?: ORDER(a->looked, b->looked) ?: ORDER(a->nsite, b->nsite);
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
			if (c->site[i].module != WIRE_OTHER_CODE)
				c->site[i].module = rename[c->site[i].module];
	}
	vec_sort(&g->entry, caller_compare);
}

void callers_clear(struct callers *g)
{
	g->entry.n = 0;
	htab_free(&g->index);
	arena_free(&g->mem);
	room_free(&g->room);
}

void callers_free(struct callers *g)
{
	callers_clear(g);
	vec_free(&g->entry);
}
