#include "editor/infer/flow.h"

#include <math.h>

enum {
	MAX_INSNS = 1 << 16,
	COUNTED = 1000, /* samples that an exact count is worth */
	COLD = BLK_COLD | BLK_NORETURN, /* rare according to the compiler or the code */
};

/* Breakpoints of the likelihood, as ratios to the estimate. */
static const double ratio[] = {0.125, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5};
enum { NRATIO = sizeof ratio / sizeof *ratio };
_Static_assert((int)NRATIO < (int)COST_SEGS, "one more segment follows the last ratio");

static double insns(const struct cfg_block *b)
{
	return b->insns < 1 ? 1 : b->insns < MAX_INSNS ? b->insns : MAX_INSNS;
}

double cost_estimate(const struct cfg_block *b, enum infer_input input, double clamp)
{
	double x = input == INFER_COUNTS ? (double)b->count
					 : (double)b->samples / SAMPLE_ONE * COUNT_ONE / insns(b);

	return x < clamp ? x : clamp;
}

/* How many Poisson samples a block's count is worth: its noise, the skid over its instructions, and
 * what remains however long one measures. */
static double evidence(const struct cfg_block *b, enum infer_input input)
{
	double s = (double)b->samples / SAMPLE_ONE;

	return input == INFER_COUNTS ? COUNTED : 1 / (1 / s + 0.3 / insns(b) + 0.05);
}

static void add(struct cost *c, int64_t end, double slope)
{
	if (end <= (c->n ? c->end[c->n - 1] : 0))
		return;
	c->end[c->n] = end;
	c->slope[c->n++] = slope;
}

/* Mean of d/dr (r - log r) between two ratios. */
static double secant(double from, double to)
{
	return 1 - log(to / from) / (to - from);
}

void cost_flat(struct cost *c, double slope, int64_t most)
{
	c->n = 0;
	add(c, most, slope);
}

/* The likelihood of x executions, known as well as from `evidence` samples. */
static void likelihood(struct cost *c, double x, double evidence, int64_t most)
{
	double from = ratio[0] / 4, unit = evidence / x;
	int i;

	c->n = 0;
	for (i = 0; i < NRATIO; i++) {
		add(c, llround(ratio[i] * x), unit * secant(from, ratio[i]));
		from = ratio[i];
	}
	add(c, most, unit * (1 - 1 / (2 * from)));
}

void cost_edge(struct cost *c, double x, int64_t most)
{
	if (x < 1)
		cost_flat(c, 1.0 / COUNT_ONE, most);
	else
		likelihood(c, x, COUNTED, most);
}

void cost_block(struct cost *c, const struct cfg_block *b, bool entry, enum infer_input input,
    double clamp, int64_t most)
{
	double x = cost_estimate(b, input, clamp);

	if (x < 1) {
		cost_flat(c, insns(b) / COUNT_ONE * (b->flags & COLD ? 4 : 1), most);
		return;
	}
	/* Samples at an entry include the latency of the call. */
	likelihood(c, x, evidence(b, input) / (entry ? 4 : 1), most);
}
