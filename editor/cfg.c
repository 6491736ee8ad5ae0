#include "editor/cfg.h"

#include <string.h>

void cfg_index(struct cfg *g, struct arena *a)
{
	g->succ = arena_array(a, (size_t)g->nblock + 1, sizeof *g->succ);
	g->pred = arena_array(a, (size_t)g->nblock + 1, sizeof *g->pred);
	g->in = arena_array(a, g->nedge, sizeof *g->in);
	cfg_reindex(g);
}

void cfg_reindex(struct cfg *g)
{
	uint32_t i, b;

	memset(g->succ, 0, ((size_t)g->nblock + 1) * sizeof *g->succ);
	memset(g->pred, 0, ((size_t)g->nblock + 1) * sizeof *g->pred);
	for (i = 0; i < g->nedge; i++) {
		g->succ[g->edge[i].src + 1]++;
		g->pred[g->edge[i].dst]++;
	}
	for (b = 0; b < g->nblock; b++) {
		g->succ[b + 1] += g->succ[b];
		g->pred[b + 1] += g->pred[b];
	}
	for (i = g->nedge; i-- > 0;)
		g->in[--g->pred[g->edge[i].dst]] = i;
}
