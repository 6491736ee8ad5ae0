/* Traces as they are read, and the arithmetic of modelled programs. */
#include "common/random.h"
#include "managerd/simulate/contest.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#define HEAD "{\"trace\": 1, \"name\": \"t\"}\n"
#define PROGRAM "{\"program\": \"p\"}\n"
#define REAL \
	"{\"program\": \"r\", \"artifact\": \"/r\", \"functions\": [[\"f\", \"a.c\"," \
	" \"00112233445566778899aabbccddeeff\", 2]]}\n"
#define WORK "{\"workload\": \"w\", \"of\": \"p\"}\n"
#define END "{\"at\": 9, \"end\": true}\n"

static const struct {
	const char *text, *why; /* NULL = it is fine */
} traces[] = {
    {HEAD END, NULL},
    {HEAD PROGRAM WORK "{\"at\": 0.5, \"run\": \"p\", \"workload\": \"w\", \"cpu\": 2}\n" END,
	NULL},
    {HEAD REAL "{\"at\": 1, \"samples\": \"r\", \"blocks\": [[0, 1, 3]]}\n" END, NULL},
    {"", "t:1: the trace has no \"end\""},
    {"{\n", "t:1: "},
    {"[]\n", "t:1: expected an object"},
    {END, "t:1: this is no trace"},
    {"{\"trace\": 2, \"name\": \"t\"}\n", "t:1: trace: expected 1 to 1, found 2"},
    {HEAD "{\"name\": 1}\n", "t:2: expected \"program\", \"workload\" or \"at\""},
    {HEAD PROGRAM PROGRAM END, "t:3: program \"p\" was named before"},
    {HEAD "{\"program\": \"p\", \"colour\": 1}\n", "t:2: 1 object item(s) left unpacked: colour"},
    {HEAD "{\"program\": \"p\", \"size\": 0}\n", "t:2: size: expected 1 to 65536, found 0"},
    {HEAD "{\"program\": \"p\", \"artifact\": \"/x\"}\n", "t:2: a recorded program has both"},
    {HEAD WORK, "t:2: no program \"p\" was named before"},
    {HEAD REAL "{\"workload\": \"w\", \"of\": \"r\"}\n",
	"t:3: a recorded program has no workloads"},
    {HEAD REAL "{\"at\": 1, \"rebuild\": \"r\", \"changed\": 1}\n",
	"t:3: a recorded program is not"},
    {HEAD PROGRAM "{\"at\": 1, \"run\": \"p\", \"workload\": \"w\", \"cpu\": 1}\n",
	"t:3: no workload \"w\" of \"p\" was named before"},
    {HEAD REAL "{\"at\": 1, \"samples\": \"r\", \"blocks\": [[0, 2, 3]]}\n",
	"t:3: blocks: there is no block 2 of function 0"},
    {HEAD PROGRAM "{\"at\": 1, \"samples\": \"p\", \"blocks\": []}\n",
	"t:3: only a recorded program has samples"},
    {HEAD "{\"at\": 1, \"dance\": true}\n", "t:2: nothing that may happen"},
    {HEAD END "{\"at\": 3, \"end\": true}\n", "t:3: at: 3 is before the line above"},
    {HEAD END END, "t:3: there is something after the end"},
    {HEAD PROGRAM "{\"at\": 1, \"job\": \"p\"}\n", "t:3: expected \"edit\" or \"score\""},
};
enum { TRACES = sizeof traces / sizeof *traces };

START_TEST(traces_are_read_strictly)
{
	struct trace t;
	struct err e = {{0}};
	int rc = trace_parse("t", traces[_i].text, strlen(traces[_i].text), &t, &e);

	if (!traces[_i].why) {
		ck_assert_msg(!rc, "%s", e.text);
		trace_free(&t);
		return;
	}
	ck_assert_int_eq(rc, -1);
	ck_assert_msg(!strncmp(e.text, traces[_i].why, strlen(traces[_i].why)), "%s", e.text);
}
END_TEST

static struct model m;
static double *usage;
static uint8_t *falls, *best;
static double *samples;

static void setup(void)
{
	m = (struct model){.functions = 100, .branches = 3, .seed = 7, .frontend = 0.5, .insns = 4};
	usage = model_usage(&m, "a", 0.5, 0);
	falls = xcalloc(300, 1);
	best = xcalloc(300, 1);
	samples = xcalloc(600, sizeof *samples);
	model_lay_out(&m, usage, best);
}

static void teardown(void)
{
	free(usage);
	free(falls);
	free(best);
	free(samples);
}

static void draw(double n)
{
	uint64_t state = 3;
	uint32_t i;

	for (i = 0; i < 600; i++)
		samples[i] = (double)random_poisson(&state, usage[i] * n);
	model_lay_out(&m, samples, falls);
}

START_TEST(more_samples_make_better_layouts)
{
	double few, many, all = model_gain(&m, usage, best), sum = 0;
	uint32_t i;

	for (i = 0; i < 600; i++)
		sum += usage[i];
	ck_assert_double_eq_tol(sum, 1, 1e-9);
	draw(300);
	few = model_gain(&m, usage, falls);
	draw(30000);
	many = model_gain(&m, usage, falls);
	ck_assert_msg(0 < few && few < many && many < all && all < 0.2, "%g %g %g", few, many, all);
}
END_TEST

/* The truth, as the editor would have it, lies within the bounds; the profile promises more. */
START_TEST(an_estimate_holds_the_truth)
{
	struct editanswer_estimate est;
	double truth, promised;

	m.frontend = 1;
	draw(2000);
	est = model_estimate(&m, samples, NULL, falls);
	truth = model_gain(&m, usage, falls);
	promised = est.gain + est.optimism;
	ck_assert_msg(est.low < truth && truth < est.high, "%g %g %g", est.low, truth, est.high);
	ck_assert(est.optimism > 0 && promised > truth && est.missed >= 0);
}
END_TEST

START_TEST(workloads_differ_as_they_say)
{
	double *same = model_usage(&m, "b", 1, 0), *all = model_usage(&m, "c", 1, 0);
	double *other = model_usage(&m, "d", 1, 1);

	ck_assert_mem_eq(same, all, 600 * sizeof *same);
	model_lay_out(&m, other, falls);
	ck_assert_double_lt(model_gain(&m, all, falls), 0.5 * model_gain(&m, usage, best));
	free(same);
	free(all);
	free(other);
}
END_TEST

static const char steps[] = HEAD "{\"program\": \"p\", \"size\": 200, \"edit\": 20}\n"
				 "{\"workload\": \"w\", \"of\": \"p\"}\n" END;

/* An edit that does not earn what it took is needless; a change is answered by a layout. */
START_TEST(strategies_are_judged_by_the_truth)
{
	struct trace t;
	struct subject *s;
	struct contest *c;
	struct buf text = {0};
	struct profile p;
	struct err e;
	const struct tally *k;
	double all;

	ck_assert(!trace_parse("t", steps, sizeof steps - 1, &t, &e));
	s = subject_new(&t, t.program.v, "/nonexistent", "/nonexistent");
	c = contest_new(&t, &s);
	k = contest_tally(c, CONTEST_MORPH);
	subject_run(s, 0, 0.5);
	contest_changed(c, 0, t.start_ms + 1000, false);
	ck_assert_uint_eq(k->changes, 1);
	contest_used(c, 0, 1000);
	ck_assert_double_eq(k->saved, 0);
	ck_assert_double_eq_tol(k->lost, 1000 * subject_best(s), 1e-6);
	contest_swapped(c, CONTEST_MORPH, 0, s->layout.v[1], t.start_ms + 11000);
	ck_assert_uint_eq(k->answered, 1);
	ck_assert_double_eq(k->reaction.v[0], 10);
	contest_used(c, 0, 10000);
	ck_assert_double_eq_tol(k->saved, 10000 * subject_best(s), 1e-6);
	/* A layout of nothing is the original's. */
	subject_profile(s, &p);
	profile_print(&p, 1, (struct decay){t.start_ms, 1}, &text);
	contest_swapped(c, CONTEST_MORPH, 0, subject_lay_out(s, &text, &e), t.start_ms + 12000);
	contest_end(c);
	ck_assert_uint_eq(k->edits, 2);
	ck_assert_uint_eq(k->needless, 1);
	ck_assert_double_eq_tol(contest_cpu(c, &all), 11000, 1e-6);
	profile_free(&p);
	buf_free(&text);
	contest_free(c);
	subject_free(s);
	trace_free(&t);
}
END_TEST

UNIT_MAIN("simulate", 0, NULL, NULL, UNIT_LOOP(traces_are_read_strictly, TRACES),
    strategies_are_judged_by_the_truth, UNIT_CASE(0, setup, teardown),
    more_samples_make_better_layouts, an_estimate_holds_the_truth, workloads_differ_as_they_say)
