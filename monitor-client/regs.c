#include "monitor-client/regs.h"

#include <stdlib.h>
#include <string.h>

void regs_of_sample(
    struct wire_regs *r, struct maps *m, const struct event *s, const struct place *at)
{
	const struct event_regs *from = s->sample.regs;
	uint64_t offset;
	uint32_t i;

	*r = (struct wire_regs){.flags = from->flags, .offset = at->offset, .base = at->base};
	memcpy(r->gpr, from->gpr, sizeof r->gpr);
	for (i = 0; i < from->nword && i < WIRE_WORDS && r->ncode < WIRE_CODES; i++)
		if (maps_same_code(m, s, at, from->word[i], &offset))
			r->code[r->ncode++] = (struct wire_code){i, offset};
	r->nstack = from->nword < WIRE_STACK ? from->nword : WIRE_STACK;
	memcpy(r->stack, from->word, r->nstack * sizeof *r->stack);
}

/* Reservoir sampling (Vitter, algorithm R): each of all seen is kept with the
 * same probability. */
void regs_add(struct regs *g, const struct wire_regs *r)
{
	uint64_t at = g->seen++;

	if (!g->v)
		g->v = xcalloc(REGS_MAX, sizeof *g->v);
	if (at >= REGS_MAX)
		at = arc4random_uniform(at < UINT32_MAX ? (uint32_t)at + 1 : UINT32_MAX);
	else
		g->n++;
	if (at < REGS_MAX)
		g->v[at] = *r;
}

void regs_rename(struct regs *g, const uint32_t *rename)
{
	uint32_t i, n = 0;

	for (i = 0; i < g->n; i++) {
		g->v[i].module = rename[g->v[i].module];
		if (g->v[i].module != REGS_NOWHERE)
			g->v[n++] = g->v[i];
	}
	if (n < g->n)
		explicit_bzero(&g->v[n], (g->n - n) * sizeof *g->v);
	g->n = n;
}

uint64_t regs_unsent(const struct regs *g)
{
	return g->lost + g->seen - g->n;
}

void regs_clear(struct regs *g, bool sent)
{
	g->lost = sent ? 0 : g->lost + g->seen;
	if (g->n)
		explicit_bzero(g->v, g->n * sizeof *g->v);
	g->n = 0;
	g->seen = 0;
}

void regs_free(struct regs *g)
{
	regs_clear(g, false);
	free(g->v);
	*g = (struct regs){0};
}
