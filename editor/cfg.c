#include "editor/cfg.h"

void cfg_index(struct cfg *g, struct arena *a)
{
	uint32_t i, b;

	g->succ = arena_array(a, (size_t)g->nblock + 1, sizeof *g->succ);
	g->pred = arena_array(a, (size_t)g->nblock + 1, sizeof *g->pred);
	g->in = arena_array(a, g->nedge, sizeof *g->in);
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
