/*
 * Restart from the prior shares of edges alone. Without outcomes the cost has several minima, and
 * samples lead to a wrong one where samples of the last blocks of a loop are attributed to the
 * blocks before them: the function then seems to be called once per iteration.
 */
#include "editor/infer/joint.h"

/* Expected executions per entry of the function, by sweeps: each propagates them by one block. */
static double *executions(const struct joint *j, struct arena *a)
{
	enum { SWEEPS = 100 };
	uint32_t n = j->g->nblock, b, round;
	double *x = arena_array(a, 2 * (size_t)n, sizeof *x), *next = x + n, *last;
	const struct succ *v;

	for (round = 0; round < SWEEPS; round++) {
		for (b = 0; b < n; b++)
			next[b] = j->in[b] > 0;
		for (b = 0; b < n; b++)
			for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++)
				if (v->dst != UINT32_MAX)
					next[v->dst] += x[b] * v->share;
		last = x;
		x = next;
		next = last;
	}
	return x;
}

void joint_restart(struct joint *j, struct arena *a)
{
	double *x = executions(j, a), time = 0, sampled = 0;
	struct succ *v;
	uint32_t b;

	for (b = 0; b < j->g->nblock; b++) {
		time += x[b] * joint_insns(&j->g->block[b]);
		sampled += (double)j->g->block[b].samples / SAMPLE_ONE * COUNT_ONE;
	}
	for (b = 0; b < j->g->nblock; b++) {
		if (j->in[b] > 0)
			j->in[b] = joint_within(j, sampled / time);
		for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++)
			v->flow = joint_within(j, sampled / time * x[b] * v->share);
	}
}
