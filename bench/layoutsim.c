/*
 * Inference and layout on generated programs: what is lost against exact
 * counts, and time by size; with any argument time alone. Asserts nothing.
 */
#include "editor/infer/infer.h"
#include "editor/layout/layout.h"
#include "tests/cfggen.h"

#include <stdio.h>
#include <time.h>

static const struct layout_cpu ANY;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The worth of the layout made from `seen` under the counts of `exact`. */
static void add_score(struct layout_score *sum, const struct cfg *exact, const struct cfg *seen,
    int identity, struct arena *a)
{
	struct layout_options o = {.split = true, .cpu = &ANY};
	struct layout_score s;
	struct layout l;

	if (identity)
		layout_identity(seen, &l, a);
	else
		layout_blocks(seen, &o, &l, a);
	layout_score(exact, &l, &s);
	sum->exttsp += s.exttsp;
	sum->taken += s.taken;
	sum->total += s.total;
}

/* Counts without inference: samples by instructions, edges by the counts of
 * their targets. */
static void no_inference(struct cfg *g)
{
	uint32_t i, k;
	double sum;

	for (i = 0; i < g->nblock; i++)
		g->block[i].count = g->block[i].samples * (COUNT_ONE / SAMPLE_ONE) /
				    (g->block[i].insns ? g->block[i].insns : 1);
	for (i = 0; i < g->nedge; i++) {
		sum = 0;
		for (k = 0; k < g->nedge; k++)
			if (g->edge[k].src == g->edge[i].src)
				sum += (double)g->block[g->edge[k].dst].count;
		g->edge[i].count = sum > 0
				       ? (uint64_t)((double)g->block[g->edge[i].src].count *
						    (double)g->block[g->edge[i].dst].count / sum)
				       : 0;
	}
}

static void row(const char *name, const struct layout_score *s)
{
	printf("  %-22s %8.4f %8.4f\n", name, s->exttsp / s->total, s->taken / s->total);
}

enum { NFUNC = 300 };

static void quality(uint64_t seed, double samples)
{
	struct layout_score original = {0}, exact = {0}, raw = {0}, inferred = {0}, counts = {0};
	struct cfg g[NFUNC], c;
	struct rng r = {seed};
	double time = 0, t0, t = 0;
	struct arena a = {0};
	uint32_t i, b;

	for (i = 0; i < NFUNC; i++) {
		cfggen(&g[i], rng_next(&r), 5 + (uint32_t)exp(3.5 + 1.2 * rng_normal(&r)),
		    (uint64_t)exp(7 + 2.5 * rng_normal(&r)) + 1, &a);
		for (b = 0; b < g[i].nblock; b++)
			time += (double)g[i].block[b].count * g[i].block[b].insns;
	}
	for (i = 0; i < NFUNC; i++) {
		cfggen_sample(&g[i], &r, samples / time, 0.3, 1.0, &a);
		add_score(&original, &g[i], &g[i], 1, &a);
		add_score(&exact, &g[i], &g[i], 0, &a);
		cfggen_copy(&c, &g[i], &a);
		cfggen_strip(&c);
		no_inference(&c);
		add_score(&raw, &g[i], &c, 0, &a);
		cfggen_strip(&c);
		t0 = now();
		infer(&c, INFER_SAMPLES, &a);
		t += now() - t0;
		add_score(&inferred, &g[i], &c, 0, &a);
		for (b = 0; b < c.nblock; b++)
			c.block[b].count = g[i].block[b].count;
		infer(&c, INFER_COUNTS, &a);
		add_score(&counts, &g[i], &c, 0, &a);
	}
	printf("seed %lu, %.0f samples: score, taken share (inference took %.1f ms)\n",
	    (unsigned long)seed, samples, t * 1e3);
	row("original order", &original);
	row("samples, no inference", &raw);
	row("samples, inference", &inferred);
	row("exact blocks, inference", &counts);
	row("exact", &exact);
	arena_free(&a);
}

static void speed(uint32_t n)
{
	struct layout_options o = {.split = true, .cpu = &ANY},
			      all = {.split = true, .copies = true, .cpu = &ANY};
	struct rng r = {n};
	struct arena a = {0}, b = {0};
	struct layout l;
	struct cfg g;
	double time = 0, t0, t1, t2, t3;
	uint32_t i;

	cfggen(&g, n, n, 100000, &a);
	for (i = 0; i < g.nblock; i++)
		time += (double)g.block[i].count * g.block[i].insns;
	cfggen_sample(&g, &r, 5.0 * n / time, 0.3, 1.0, &a);
	cfggen_strip(&g);
	t0 = now();
	infer(&g, INFER_SAMPLES, &b);
	t1 = now();
	layout_blocks(&g, &o, &l, &b);
	t2 = now();
	for (i = n = 0; i < g.nblock; i++) {
		n += g.block[i].count > 0;
		if (g.block[i].count > all.hot)
			all.hot = g.block[i].count;
	}
	all.hot /= 100;
	layout_blocks(&g, &all, &l, &b);
	t3 = now();
	printf("| %u | %u | %u | %.1f | %.1f | %.1f | %.1f |\n", g.nblock, g.nedge, n,
	    (t1 - t0) * 1e3, (t2 - t1) * 1e3, (t3 - t2) * 1e3, (t3 - t2) * 1e6 / g.nblock);
	arena_free(&a);
	arena_free(&b);
}

int main(int argc, char **argv)
{
	static const uint32_t size[] = {100, 300, 1000, 2500, 5000, 10000, 20000};
	static const double samples[] = {3000, 15000, 100000};
	uint64_t seed;
	size_t i;

	printf("| blocks | edges | executed | inference, ms | layout, ms | with copies | µs a "
	       "block |\n|---:|---:|---:|---:|---:|---:|---:|\n");
	for (i = 0; i < sizeof size / sizeof *size; i++)
		speed(size[i]);
	if (argc > 1)
		return 0;
	printf("\n");
	for (i = 0; i < sizeof samples / sizeof *samples; i++)
		for (seed = 1; seed <= 3; seed++)
			quality(seed, samples[i]);
	return 0;
}
