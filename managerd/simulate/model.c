#include "managerd/simulate/model.h"
#include "common/frontcosts.h"
#include "common/hash.h"
#include "common/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_INSNS = 16, DRAWS = 6 };
/* Student's t, two-sided 90 %, of DRAWS - 1 degrees of freedom. */
static const double T90 = 2.015;
static const double compiler_right = 0.67;

uint32_t model_blocks(const struct model *m)
{
	return m->functions * m->branches * 2;
}

/* How one function is used: its weight, and where its branches go. */
static void use_function(const struct model *m, uint64_t state, double *block)
{
	double weight, likelier;
	uint32_t i;
	bool first;

	/* A rank drawn evenly makes weights of Zipf's law. */
	weight = 1 / (1 + (double)m->functions * random_uniform(&state));
	for (i = 0; i < m->branches; i++) {
		likelier = 0.5 + 0.5 * random_uniform(&state);
		first = random_uniform(&state) < compiler_right;
		block[2 * i] = weight * (first ? likelier : 1 - likelier);
		block[2 * i + 1] = weight - block[2 * i];
	}
}

double *model_usage(const struct model *m, const char *workload, double uses, double differs)
{
	struct hash128 name = hash_bytes(workload, strlen(workload));
	uint32_t n = model_blocks(m), f, width = 2 * m->branches;
	double *share = xcalloc(n, sizeof *share), sum = 0;
	uint64_t own = m->seed ^ hash_short(&name), common = m->seed + 1, state;
	bool used, other;

	for (f = 0; f < m->functions; f++) {
		state = random_next(&common);
		used = random_uniform(&own) < uses;
		other = random_uniform(&own) < differs;
		if (other)
			state = random_next(&own);
		if (used)
			use_function(m, state, share + (size_t)f * width);
	}
	for (f = 0; f < n; f++)
		sum += share[f];
	for (f = 0; sum > 0 && f < n; f++)
		share[f] /= sum;
	return share;
}

void model_lay_out(const struct model *m, const double *samples, uint8_t *falls)
{
	uint32_t i, n = m->functions * m->branches;

	for (i = 0; i < n; i++)
		falls[i] = samples[2 * i + 1] > samples[2 * i];
}

struct editanswer_score model_score(
    const struct model *m, const double *samples, const uint8_t *falls)
{
	struct editanswer_score s = {0};
	uint32_t i, n = m->functions * m->branches;

	for (i = 0; i < n; i++) {
		s.taken += samples[2 * i + !(falls && falls[i])];
		s.total += samples[2 * i] + samples[2 * i + 1];
	}
	s.exttsp = s.total - s.taken;
	s.cost.insns = 1;
	s.cost.taken = s.total > 0 ? s.taken / s.total / m->insns : 0;
	s.cost.lines = 1.0 / LINE_INSNS + s.cost.taken;
	s.cost.cycles =
	    FRONTCOSTS.insn + FRONTCOSTS.taken * s.cost.taken + FRONTCOSTS.line * s.cost.lines;
	return s;
}

static double gain(
    const struct model *m, const double *samples, const uint8_t *over, const uint8_t *falls)
{
	return 1 - model_score(m, samples, falls).cost.cycles /
		       model_score(m, samples, over).cost.cycles;
}

/* As the editor does it (editor-driver/plan/estimate.h). */
struct editanswer_estimate model_estimate(
    const struct model *m, const double *samples, const uint8_t *present, const uint8_t *falls)
{
	uint32_t n = model_blocks(m), i, k;
	double *draw = xcalloc(n, sizeof *draw), error, sum = 0, squares = 0, other, spread;
	double promised = gain(m, samples, present, falls), best = promised, others = 0,
	       optimism = 0;
	uint8_t *drawn = xmalloc(n);
	uint64_t state = 1;

	for (k = 0; k < DRAWS; k++) {
		for (i = 0; i < n; i++)
			draw[i] = (double)random_poisson(&state, samples[i]);
		model_lay_out(m, draw, drawn);
		other = gain(m, samples, present, drawn);
		error = gain(m, draw, present, drawn) - other;
		sum += error;
		squares += error * error;
		optimism += gain(m, draw, NULL, drawn) - gain(m, samples, NULL, drawn);
		others += other;
		best = fmax(best, other);
	}
	free(draw);
	free(drawn);
	optimism /= DRAWS;
	spread = T90 * sqrt(fmax(0, squares - sum * sum / DRAWS) / (DRAWS - 1));
	return (struct editanswer_estimate){promised - optimism, promised - optimism - spread,
	    promised - optimism + spread, best - others / DRAWS, optimism};
}

static double true_cycles(const struct model *m, const double *usage, const uint8_t *falls)
{
	double believed = model_score(m, usage, falls).cost.cycles - FRONTCOSTS.insn;

	return FRONTCOSTS.insn + m->frontend * believed;
}

double model_gain(const struct model *m, const double *usage, const uint8_t *falls)
{
	return 1 - true_cycles(m, usage, falls) / true_cycles(m, usage, NULL);
}
