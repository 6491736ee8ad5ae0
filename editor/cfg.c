#include "editor/cfg.h"

#include <stdlib.h>
#include <string.h>

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

enum { NEW, OPEN, DONE };

/* One walk; at[b]: the next of b's edges. */
static void walk(const struct cfg *g, uint32_t from, uint8_t *state, uint32_t *at, uint32_t *stack,
    uint8_t *head)
{
	uint32_t n = 1, b, dst;

	stack[0] = from;
	state[from] = OPEN;
	while (n) {
		b = stack[n - 1];
		if (at[b] == g->succ[b + 1]) {
			state[b] = DONE;
			n--;
			continue;
		}
		dst = g->edge[at[b]++].dst;
		head[dst] |= state[dst] == OPEN;
		if (state[dst] == NEW) {
			state[dst] = OPEN;
			stack[n++] = dst;
		}
	}
}

void cfg_loop_heads(const struct cfg *g, uint8_t *head)
{
	uint8_t *state = xcalloc(g->nblock, 1);
	uint32_t *at = xcalloc(g->nblock, sizeof *at), *stack = xcalloc(g->nblock, sizeof *stack),
		 b;

	memset(head, 0, g->nblock);
	memcpy(at, g->succ, g->nblock * sizeof *at);
	for (b = 0; b < g->nblock; b++)
		if (state[b] == NEW)
			walk(g, b, state, at, stack, head);
	free(state);
	free(at);
	free(stack);
}
