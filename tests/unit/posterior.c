/* Costs of made-up machines, learned from measured edits of made-up programs. */
#include "managerd/trial/posterior.h"
#include "common/random.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>

enum { MACHINES = 40, EDITS = 10, PROGRAMS = 200, NOBODY = 1000 };

static uint64_t seed;

static double within(double least, double most)
{
	return least + (most - least) * (double)(random_next(&seed) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(within(1e-18, 1))) * cos(within(0, 6.283185307179586));
}

/* Before and after as editor/cost/frontend.h counts them, on programs of docs/bench/predict.md. */
static struct posterior_edit program(void)
{
	struct posterior_edit e = {0, {1, within(0.04, 0.16), within(0.12, 0.35)}, {0}, 0, 0};

	e.after = (struct posterior_terms){within(0.97, 1.005), e.before.taken * within(0.25, 0.8),
	    e.before.lines * within(0.7, 1.05)};
	return e;
}

static struct posterior_edit measured(const struct frontcosts *truth)
{
	struct posterior_edit e = program();

	e.sd = within(0.003, 0.01);
	e.gain = posterior_gain(truth, &e.before, &e.after) + e.sd * normal() + 0.01 * normal();
	return e;
}

/* Sum of squared errors of what is said of programs that were not measured. */
static double errors(const struct frontcosts *said, const struct frontcosts *truth)
{
	struct posterior_edit e;
	double sum = 0, off;
	int i;

	for (i = 0; i < PROGRAMS; i++) {
		e = program();
		off = posterior_gain(said, &e.before, &e.after) -
		      posterior_gain(truth, &e.before, &e.after);
		sum += off * off;
	}
	return sum;
}

START_TEST(nothing_measured_is_as_fitted)
{
	struct frontcosts c = posterior(NULL, 0, 0).costs;

	ck_assert_double_eq_tol(c.insn, FRONTCOSTS.insn, 1e-12);
	ck_assert_double_eq_tol(c.taken, FRONTCOSTS.taken, 1e-12);
	ck_assert_double_eq_tol(c.line, FRONTCOSTS.line, 1e-12);
}
END_TEST

START_TEST(machines_are_learned_from_ten_edits)
{
	struct posterior_edit e[EDITS];
	struct frontcosts truth, c;
	double after = 0, before = 0, n = MACHINES * PROGRAMS;
	int m, i;

	seed = 11;
	for (m = 0; m < MACHINES; m++) {
		truth = (struct frontcosts){FRONTCOSTS.insn * within(0.5, 2),
		    FRONTCOSTS.taken * within(0.2, 3), FRONTCOSTS.line * within(0.1, 3)};
		for (i = 0; i < EDITS; i++) {
			e[i] = measured(&truth);
			e[i].program = (uint64_t)i;
		}
		c = posterior(e, EDITS, NOBODY).costs;
		after += errors(&c, &truth);
		before += errors(&FRONTCOSTS, &truth);
	}
	ck_assert_msg(sqrt(before / n) > 0.02, "%.4f before", sqrt(before / n));
	ck_assert_msg(
	    sqrt(after / n) < 0.015, "%.4f, %.4f before", sqrt(after / n), sqrt(before / n));
	printf("root mean square error %.4f, %.4f before\n", sqrt(after / n), sqrt(before / n));
}
END_TEST

/* A program that gains more or less than the model says does so with its next layout, too. */
START_TEST(programs_are_like_themselves)
{
	struct posterior_edit e[EDITS], next;
	struct posterior p;
	double after = 0, before = 0, factor[EDITS], said, truth, n = MACHINES * EDITS;
	int m, i;

	seed = 3;
	for (m = 0; m < MACHINES; m++) {
		for (i = 0; i < EDITS; i++) {
			e[i] = program();
			e[i].program = (uint64_t)i;
			e[i].sd = 0.004;
			factor[i] = within(0, 2);
			e[i].gain =
			    factor[i] * posterior_gain(&FRONTCOSTS, &e[i].before, &e[i].after) +
			    e[i].sd * normal();
		}
		for (i = 0; i < EDITS; i++) {
			p = posterior(e, EDITS, (uint64_t)i);
			next = e[i];
			next.after.taken *= within(0.7, 1.3);
			truth = posterior_gain(&FRONTCOSTS, &next.before, &next.after);
			said = posterior_gain(&p.costs, &next.before, &next.after);
			after += pow(p.factor * said - factor[i] * truth, 2);
			before += pow(truth - factor[i] * truth, 2);
		}
	}
	ck_assert_msg(sqrt(before / n) > 0.03, "%.4f before", sqrt(before / n));
	ck_assert_msg(
	    sqrt(after / n) < 0.01, "%.4f, %.4f before", sqrt(after / n), sqrt(before / n));
	printf("of programs measured before %.4f, by the model %.4f\n", sqrt(after / n),
	    sqrt(before / n));
}
END_TEST

/* What is not better than chance changes little, whatever it says. */
START_TEST(weak_evidence_counts_little)
{
	struct posterior_edit e = {0, {1, 0.1, 0.25}, {1, 0.04, 0.2}, 0, 0};
	struct posterior p;
	double fitted = posterior_gain(&FRONTCOSTS, &e.before, &e.after);

	e.gain = fitted - 0.05;
	e.sd = 1;
	p = posterior(&e, 1, 0);
	ck_assert_double_eq_tol(
	    p.factor * posterior_gain(&p.costs, &e.before, &e.after), fitted, 0.001);
	e.sd = 0.001;
	p = posterior(&e, 1, 0);
	ck_assert(p.factor * posterior_gain(&p.costs, &e.before, &e.after) < fitted - 0.04);
	/* Another program is expected to be a little like it. */
	p = posterior(&e, 1, NOBODY);
	ck_assert_double_eq(p.factor, 1);
	ck_assert(posterior_gain(&p.costs, &e.before, &e.after) < fitted - 0.002);
}
END_TEST

/* An interpreter was seen to gain 19.5 % where 5 were expected: alone it says little of others. */
START_TEST(one_odd_program_changes_little)
{
	struct posterior_edit odd = {0, {1, 0.12, 0.3}, {1, 0.055, 0.27}, 0, 0.02}, e;
	struct frontcosts c;
	double off;
	int i;

	odd.gain = posterior_gain(&FRONTCOSTS, &odd.before, &odd.after) + 0.145;
	c = posterior(&odd, 1, NOBODY).costs;
	for (seed = 5, i = 0; i < PROGRAMS; i++) {
		e = program();
		off = posterior_gain(&c, &e.before, &e.after) -
		      posterior_gain(&FRONTCOSTS, &e.before, &e.after);
		ck_assert_msg(fabs(off) < 0.05, "%.3f", off);
	}
}
END_TEST

START_TEST(nonsense_keeps_costs_in_bounds)
{
	static const double gain[] = {-1000, 0.999, 5};
	struct posterior_edit e[EDITS];
	struct frontcosts c;
	double factor;
	int i, k;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < EDITS; i++) {
			e[i] = program();
			e[i].program = (uint64_t)i;
			e[i].gain = gain[k];
		}
		e[0].before = e[1].after = (struct posterior_terms){0};
		e[2].before.lines = INFINITY;
		e[3].after.insns = 1e308;
		e[4].before.taken = NAN;
		c = posterior(e, EDITS, NOBODY).costs;
		ck_assert(c.insn > 0.01 && c.taken > 0.01 && c.line > 0.01);
		ck_assert(c.insn < 2 && c.taken < 2 && c.line < 2);
		factor = posterior(e, EDITS, 5).factor;
		ck_assert_msg(factor >= 0 && factor <= 5, "%g", factor);
	}
	ck_assert(isnan(posterior_gain(&c, &e[0].before, &e[0].after)));
}
END_TEST

UNIT_MAIN("posterior", 0, NULL, NULL, nothing_measured_is_as_fitted,
    machines_are_learned_from_ten_edits, programs_are_like_themselves, weak_evidence_counts_little,
    one_odd_program_changes_little, nonsense_keeps_costs_in_bounds)
