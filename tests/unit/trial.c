/* Switchbacks over made-up programs: planted gains and losses, none, crashes. */
#include "common/le.h"
#include "common/random.h"
#include "managerd/trial/outlook.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <signal.h>

static uint64_t seed;
static struct err e;

static double uniform(void)
{
	return (double)(random_next(&seed) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform() + 1e-18)) * cos(6.283185307179586 * uniform());
}

/* A machine: its speed drifts, neighbours come and go, now and then a process takes ten times
 * as long. */
struct machine {
	double now_s, drift;
};

struct program {
	double ratio; /* CPU time of the new build by the old one's */
	double noise; /* standard deviation of a run's logarithm */
	unsigned classes;
	bool calm;                /* its machine does not drift */
	double crash[TRIAL_ARMS]; /* share of the runs */
};

static void run_once(struct trial *t, struct machine *m, const struct program *p)
{
	uint64_t class = p->classes ? random_next(&seed) % p->classes : 0;
	double log_s = log(0.02) + (double)class + p->noise * normal() + m->drift;
	enum trial_arm arm = trial_arm(t);
	struct wire_run r = {.class = class + 1, .start_ns = (uint64_t)(m->now_s * 1e9)};

	m->drift = p->calm ? 0 : 0.98 * m->drift + 0.02 * normal();
	if (uniform() < 0.005)
		log_s += log(10);
	if (arm == TRIAL_NEW)
		log_s += log(p->ratio);
	if (uniform() < p->crash[arm])
		r.status = SIGSEGV;
	r.cpu_ns = (uint64_t)(exp(log_s) * 1e9);
	trial_add(t, arm, &r);
	m->now_s += 1;
}

/* Until there is a verdict, or so many runs of each. */
static enum trial_verdict try(
    struct trial *t, const struct program *p, double turn_s, uint64_t limit)
{
	struct machine m = {.now_s = 1000};
	struct trial_estimate est;
	enum trial_verdict v;

	trial_begin(t, TRIAL_IN_USE, random_next(&seed), (uint64_t)(m.now_s * 1e9));
	do {
		run_once(t, &m, p);
		if (trial_due(t, (uint64_t)(m.now_s * 1e9), turn_s))
			trial_turned(t, (uint64_t)(m.now_s * 1e9));
		est = trial_estimate(t);
		v = trial_verdict(t, &est, limit);
	} while (v == TRIAL_OPEN);
	return v;
}

/* How many of n trials come to each verdict. */
static void count(unsigned n, const struct program *p, uint64_t limit, unsigned *by)
{
	struct trial t;
	unsigned i;

	for (i = 0; i < n; i++) {
		by[try(&t, p, 4, limit)]++;
		ck_assert_uint_le(t.runs[TRIAL_OLD].n, limit + 100);
		trial_free(&t);
	}
}

START_TEST(planted_gains_and_losses_are_found)
{
	unsigned gain[TRIAL_VERDICTS] = {0}, loss[TRIAL_VERDICTS] = {0};

	seed = 1;
	count(100, &(struct program){.ratio = 0.97, .noise = 0.06}, 400, gain);
	count(100, &(struct program){.ratio = 1.03, .noise = 0.06}, 400, loss);
	ck_assert_msg(gain[TRIAL_FASTER] >= 95, "%u of 100 gains", gain[TRIAL_FASTER]);
	ck_assert_msg(loss[TRIAL_SLOWER] >= 95, "%u of 100 losses", loss[TRIAL_SLOWER]);
	ck_assert_uint_eq(gain[TRIAL_SLOWER] + loss[TRIAL_FASTER], 0);
}
END_TEST

/* However often somebody looks. */
START_TEST(equal_builds_are_seldom_told_apart)
{
	unsigned by[TRIAL_VERDICTS] = {0};

	seed = 2;
	count(300, &(struct program){.ratio = 1, .noise = 0.1, .classes = 5}, 400, by);
	/* 5 % of 300, and four standard errors. */
	ck_assert_msg(by[TRIAL_FASTER] + by[TRIAL_SLOWER] <= 30, "%u and %u of 300",
	    by[TRIAL_FASTER], by[TRIAL_SLOWER]);
}
END_TEST

START_TEST(a_build_that_crashes_is_found_at_once)
{
	struct program p = {.ratio = 0.9, .noise = 0.05, .crash = {0, 0.05}};
	struct trial t;
	unsigned i;

	seed = 3;
	for (i = 0; i < 50; i++) {
		ck_assert_int_eq(try(&t, &p, 4, 400), TRIAL_CRASHES);
		ck_assert_uint_eq(t.runs[TRIAL_NEW].crashes, 1);
		trial_free(&t);
	}
	/* One that crashed before, and does so as often, is compared by its time. */
	trial_begin(&t, TRIAL_IN_USE, 1, 0);
	trial_add(&t, TRIAL_OLD, &(struct wire_run){.status = SIGSEGV});
	trial_add(&t, TRIAL_OLD, &(struct wire_run){.status = 0});
	trial_add(&t, TRIAL_NEW, &(struct wire_run){.status = SIGSEGV});
	trial_add(&t, TRIAL_NEW, &(struct wire_run){.status = 0});
	ck_assert_int_eq(trial_verdict(&t, &(struct trial_estimate){0}, 400), TRIAL_OPEN);
	trial_free(&t);
	/* A user's signal is no crash. */
	trial_begin(&t, TRIAL_IN_USE, 1, 0);
	trial_add(&t, TRIAL_NEW, &(struct wire_run){.status = SIGTERM});
	trial_add(&t, TRIAL_NEW, &(struct wire_run){.status = SIGINT});
	ck_assert_int_eq(trial_verdict(&t, &(struct trial_estimate){0}, 400), TRIAL_OPEN);
	trial_free(&t);
}
END_TEST

/* Bounds hold the truth, and the gain is near it. */
START_TEST(bounds_hold_what_was_planted)
{
	struct program p = {.ratio = 0.92, .noise = 0.08, .classes = 4};
	struct trial_estimate est;
	unsigned i, in = 0;
	struct trial t;

	seed = 4;
	for (i = 0; i < 100; i++) {
		ck_assert_int_eq(try(&t, &p, 4, 1000), TRIAL_FASTER);
		est = trial_estimate(&t);
		ck_assert(est.known && est.low <= est.gain && est.gain <= est.high);
		in += est.low <= 0.08 && 0.08 <= est.high;
		trial_free(&t);
	}
	ck_assert_uint_ge(in, 95);
}
END_TEST

/* Longer than the window of recent runs, which then are all of one build. */
START_TEST(long_turns_take_nothing_off)
{
	struct program p = {.ratio = 0.7, .noise = 0.02, .calm = true};
	double sum = 0;
	struct trial t;
	unsigned i;

	seed = 4;
	for (i = 0; i < 20; i++) {
		ck_assert_int_eq(try(&t, &p, 30, 4000), TRIAL_FASTER);
		sum += trial_estimate(&t).gain;
		trial_free(&t);
	}
	ck_assert_msg(fabs(sum / 20 - 0.3) < 0.03, "%.3f of .3", sum / 20);
}
END_TEST

START_TEST(turns_wait_for_runs)
{
	struct wire_run r = {.class = 1, .cpu_ns = 20000000};
	struct trial t;
	unsigned i, k;

	trial_begin(&t, TRIAL_IN_USE, 7, 0);
	ck_assert_int_eq(trial_arm(&t), TRIAL_NEW);
	for (i = 0; i < TRIAL_TURN_RUNS; i++) {
		ck_assert(!trial_due(&t, 3600 * 1000000000ULL, 10));
		trial_add(&t, TRIAL_NEW, &r);
	}
	ck_assert(!trial_due(&t, 9 * 1000000000ULL, 10));
	ck_assert(trial_due(&t, 10 * 1000000000ULL, 10));
	/* Each pair has both, in an order that is drawn. */
	for (i = k = 0; i < 40; i++) {
		trial_turned(&t, (20 + i) * 1000000000ULL);
		ck_assert(i % 2 == 0 || t.turn.v[i].arm != t.turn.v[i - 1].arm);
		k += i % 2 == 0 && t.turn.v[i].arm == TRIAL_NEW;
	}
	ck_assert(k > 3 && k < 17);
	/* A turn with few runs ends some time, one without any does not. */
	ck_assert(!trial_due(&t, 100000 * 1000000000ULL, 10));
	r.start_ns = 60 * 1000000000ULL;
	trial_add(&t, trial_arm(&t), &r);
	ck_assert(!trial_due(&t, 600 * 1000000000ULL, 10));
	ck_assert(trial_due(&t, 700 * 1000000000ULL, 10));
	trial_free(&t);
}
END_TEST

/* A process counts for the turn in which it began, whenever it ends; one that began with the
 * build of another turn only where that may be the time a switch took. */
START_TEST(runs_belong_to_turns)
{
	struct wire_run r = {.class = 1, .cpu_ns = 20000000};
	enum trial_arm first, second;
	struct trial t;

	trial_begin(&t, TRIAL_IN_USE, 7, 0);
	trial_turned(&t, 100 * 1000000000ULL);
	first = trial_arm(&t);
	trial_turned(&t, 200 * 1000000000ULL);
	second = trial_arm(&t);
	ck_assert_int_ne(first, second);
	r.start_ns = 150 * 1000000000ULL;
	trial_add(&t, first, &r);
	ck_assert_uint_eq(t.turn.v[0].ended, 1);
	trial_add(&t, second, &r); /* long before the second turn */
	ck_assert_uint_eq(t.turn.v[1].ended, 0);
	r.start_ns = 199 * 1000000000ULL;
	trial_add(&t, second, &r);
	ck_assert_uint_eq(t.turn.v[1].ended, 1);
	r.start_ns = 50 * 1000000000ULL;
	trial_add(&t, first, &r); /* before all turns */
	ck_assert_uint_eq(t.turn.v[0].ended, 1);
	ck_assert_uint_eq(t.cell.n, 1);
	ck_assert_uint_eq(t.cell.v[0].n[first], 1);
	ck_assert_uint_eq(t.cell.v[0].n[second], 1);
	ck_assert_uint_eq(t.runs[first].n + t.runs[second].n, 4);
	trial_free(&t);
}
END_TEST

/* ---- services ---- */

#define SECOND 1000000000ULL

/* An hour of windows of a minute, in turns or blocks of ten, that cost so much a unit: log_ratio is
 * the new build's over the old one's, drift what is added with each turn. The first window in a new
 * build after a restart is not there. */
struct service {
	double log_ratio, noise, drift;
	unsigned turns;
	enum trial_kind kind;
};

static enum trial_verdict serve(struct trial *t, const struct service *s)
{
	struct trial_window w = {.arm = TRIAL_OLD, .work = 1000};
	struct trial_estimate est;
	enum trial_verdict v = TRIAL_OPEN;
	unsigned turn, i;
	double cost, load = 0;

	trial_begin(t, s->kind, random_next(&seed), 1);
	for (turn = 0; v == TRIAL_OPEN && turn < s->turns; turn++) {
		if (s->kind == TRIAL_BY_RESTARTS && turn) {
			ck_assert(trial_due(t, turn * 600 * SECOND, 590));
			trial_turned(t, turn * 600 * SECOND);
			w.arm = trial_arm(t);
		} else if (s->kind == TRIAL_BY_RESTART) {
			w.arm = turn < s->turns / 2 ? TRIAL_OLD : TRIAL_NEW;
			ck_assert(!trial_due(t, turn * 600 * SECOND, 590));
		}
		for (i = 0; i < 10; i++) {
			load = 0.9 * load + 0.2 * normal();
			w.start_ns = (turn * 600 + i * 60 + 1) * SECOND;
			w.work = 1000 * exp(load);
			cost = log(50000) + s->noise * normal() + s->drift * turn +
			       (w.arm == TRIAL_NEW ? s->log_ratio : 0);
			w.cpu_ns = (uint64_t)(w.work * exp(cost));
			trial_add_window(t, &w, 600);
		}
		est = trial_estimate(t);
		v = trial_verdict(t, &est, s->kind == TRIAL_BY_RESTARTS ? 30 : 0);
	}
	return v;
}

static void count_services(unsigned n, const struct service *s, unsigned *by)
{
	struct trial t;
	unsigned i;

	for (i = 0; i < n; i++) {
		by[serve(&t, s)]++;
		ck_assert_int_eq(t.trouble, TRIAL_FINE);
		trial_free(&t);
	}
}

START_TEST(services_are_compared_by_restarts)
{
	unsigned gain[TRIAL_VERDICTS] = {0}, loss[TRIAL_VERDICTS] = {0}, none[TRIAL_VERDICTS] = {0};
	struct service s = {-0.05, 0.05, 0.0002, 62, TRIAL_BY_RESTARTS};

	seed = 6;
	count_services(100, &s, gain);
	s.log_ratio = 0.05;
	count_services(100, &s, loss);
	s.log_ratio = 0;
	count_services(200, &s, none);
	ck_assert_msg(gain[TRIAL_FASTER] >= 95, "%u of 100 gains", gain[TRIAL_FASTER]);
	ck_assert_msg(loss[TRIAL_SLOWER] >= 95, "%u of 100 losses", loss[TRIAL_SLOWER]);
	ck_assert_msg(none[TRIAL_FASTER] + none[TRIAL_SLOWER] <= 20, "%u and %u of 200",
	    none[TRIAL_FASTER], none[TRIAL_SLOWER]);
}
END_TEST

/* A drift that stops nowhere is no gain of the build that came later. */
START_TEST(services_are_compared_across_a_restart)
{
	unsigned gain[TRIAL_VERDICTS] = {0}, loss[TRIAL_VERDICTS] = {0}, none[TRIAL_VERDICTS] = {0};
	struct service s = {-0.1, 0.05, 0, 40, TRIAL_BY_RESTART};
	unsigned i;

	seed = 7;
	count_services(100, &s, gain);
	s.log_ratio = 0.1;
	count_services(100, &s, loss);
	ck_assert_msg(gain[TRIAL_FASTER] >= 95, "%u of 100 gains", gain[TRIAL_FASTER]);
	ck_assert_msg(loss[TRIAL_SLOWER] >= 95, "%u of 100 losses", loss[TRIAL_SLOWER]);
	s.log_ratio = 0;
	for (i = 0; i < 4; i++) {
		s.drift = (double[]){0, 0.001, -0.01, 0.05}[i];
		s.turns = (unsigned[]){40, 22, 60, 100}[i];
		count_services(100, &s, none);
	}
	ck_assert_msg(none[TRIAL_FASTER] + none[TRIAL_SLOWER] <= 20, "%u and %u of 400",
	    none[TRIAL_FASTER], none[TRIAL_SLOWER]);
}
END_TEST

/* Nothing to compare with: it began again before there were blocks enough. */
START_TEST(a_service_that_restarts_too_soon)
{
	struct service s = {0, 0.05, 0, 10, TRIAL_BY_RESTART};
	struct trial t;

	seed = 8;
	ck_assert_int_eq(serve(&t, &s), TRIAL_OPEN);
	ck_assert_int_eq(t.trouble, TRIAL_TOO_SOON);
	trial_free(&t);
}
END_TEST

/* How long a service ran says nothing, how it ended does. */
START_TEST(of_a_services_ends_crashes_count)
{
	struct trial_estimate none = {0};
	struct trial t;

	trial_begin(&t, TRIAL_BY_RESTARTS, 1, 0);
	trial_add(&t, TRIAL_NEW, &(struct wire_run){.cpu_ns = 3600 * SECOND, .class = 1});
	ck_assert(!t.runs[TRIAL_NEW].n && t.runs[TRIAL_NEW].cpu_s == 0);
	trial_add(&t, TRIAL_OLD, &(struct wire_run){.status = SIGSEGV});
	trial_add(&t, TRIAL_NEW, &(struct wire_run){.status = SIGSEGV});
	ck_assert_int_eq(trial_verdict(&t, &none, 30), TRIAL_OPEN);
	t.runs[TRIAL_OLD].crashes = 0;
	ck_assert_int_eq(trial_verdict(&t, &none, 30), TRIAL_CRASHES);
	trial_free(&t);
}
END_TEST

/* Version 1 has neither kind nor trouble nor cycles nor work nor terms nor processor. In words:
 * version, kind, seed, begin, trouble, cycles; of each build three, work and three terms;
 * processor; lists. */
static void old_form(struct buf *b)
{
	static const size_t kept[][2] = {{2, 2}, {6, 3}, {13, 3}, {21, 0}};
	struct buf out = {0};
	size_t i, n;

	put_le64(buf_grow(&out, 8), 1);
	for (i = 0; i < sizeof kept / sizeof *kept; i++) {
		n = kept[i][1] ? kept[i][1] : b->n / 8 - kept[i][0];
		buf_add(&out, b->p + 8 * kept[i][0], 8 * n);
	}
	buf_free(b);
	*b = out;
}

START_TEST(the_store_gives_back_what_it_got)
{
	struct program p = {.ratio = 0.95, .noise = 0.1, .classes = 3};
	struct buf a = {0}, b = {0};
	struct trial t, u;
	size_t i;

	seed = 5;
	try(&t, &p, 4, 200);
	t.terms[TRIAL_NEW] = (struct posterior_terms){1, 0.1, 0.3};
	t.cpu = 7;
	trial_encode(&t, &a);
	ck_assert_msg(!trial_decode(a.p, a.n, &u, &e), "%s", e.text);
	ck_assert(u.cpu == 7 && u.terms[TRIAL_NEW].lines == 0.3);
	trial_encode(&u, &b);
	ck_assert(a.n == b.n && !memcmp(a.p, b.p, a.n));
	ck_assert(trial_estimate(&t).gain == trial_estimate(&u).gain);
	trial_free(&u);
	for (i = 0; i < a.n; i++)
		ck_assert_int_eq(trial_decode(a.p, i, &u, &e), -1);
	for (i = 0; i < a.n; i++) {
		((uint8_t *)a.p)[i] ^= 0xff;
		if (!trial_decode(a.p, a.n, &u, &e)) {
			trial_estimate(&u);
			trial_free(&u);
		}
		((uint8_t *)a.p)[i] ^= 0xff;
	}
	old_form(&a);
	ck_assert_msg(!trial_decode(a.p, a.n, &u, &e), "%s", e.text);
	ck_assert(u.kind == TRIAL_IN_USE && u.terms[TRIAL_NEW].insns == 0);
	ck_assert(trial_estimate(&u).gain == trial_estimate(&t).gain);
	trial_free(&u);
	buf_free(&a);
	buf_free(&b);
	trial_free(&t);
	serve(&t, &(struct service){0.01, 0.05, 0, 30, TRIAL_BY_RESTART});
	t.trouble = TRIAL_STILL;
	t.cycles = true;
	trial_encode(&t, &a);
	ck_assert_msg(!trial_decode(a.p, a.n, &u, &e), "%s", e.text);
	ck_assert(u.kind == TRIAL_BY_RESTART && u.trouble == TRIAL_STILL && u.cycles);
	ck_assert(u.runs[TRIAL_NEW].work == t.runs[TRIAL_NEW].work);
	ck_assert(trial_estimate(&u).known && trial_estimate(&u).low == trial_estimate(&t).low);
	trial_free(&u);
	buf_free(&a);
	trial_free(&t);
}
END_TEST

START_TEST(of_an_unknown_class_only_crashes_count)
{
	struct trial t;

	trial_begin(&t, TRIAL_IN_USE, 1, 0);
	trial_turned(&t, 1000000000);
	trial_add(
	    &t, trial_arm(&t), &(struct wire_run){.start_ns = 1500000000, .cpu_ns = 20000000});
	ck_assert_uint_eq(t.turn.v[0].ended + t.cell.n, 0);
	trial_add(&t, TRIAL_NEW, &(struct wire_run){.status = SIGSEGV});
	ck_assert_int_eq(trial_verdict(&t, &(struct trial_estimate){0}, 400), TRIAL_CRASHES);
	trial_free(&t);
}
END_TEST

/* What the outlook says is left at a share of the turns that a trial takes, by what is. */
static double outlook_by_truth(const struct program *p, double share)
{
	const uint64_t runs_max = 4000;
	struct machine m = {.now_s = 1000};
	struct trial_estimate est = {0};
	struct said {
		double at_s, left_s;
	};
	VEC(struct said) said = {0};
	struct trial t;
	double r;
	size_t at;

	trial_begin(&t, TRIAL_IN_USE, random_next(&seed), (uint64_t)(m.now_s * 1e9));
	do {
		run_once(&t, &m, p);
		if (!trial_due(&t, (uint64_t)(m.now_s * 1e9), 4))
			continue;
		trial_turned(&t, (uint64_t)(m.now_s * 1e9));
		est = trial_estimate(&t);
		r = outlook(&t, &est, runs_max, 4, (uint64_t)(m.now_s * 1e9)).left_s;
		vec_push(&said, (struct said){m.now_s, r});
	} while (trial_verdict(&t, &est, runs_max) == TRIAL_OPEN);
	at = (size_t)(share * (double)said.n);
	r = said.v[at].left_s / (m.now_s - said.v[at].at_s);
	trial_free(&t);
	vec_free(&said);
	return r;
}

/* How many of 50 trials have an outlook that is right within a factor of two. */
static unsigned about_right(double ratio, double share)
{
	unsigned i, n = 0;
	double r;

	for (i = 0; i < 50; i++) {
		r = outlook_by_truth(&(struct program){.ratio = ratio, .noise = 0.15}, share);
		n += r > 0.5 && r < 2;
	}
	return n;
}

START_TEST(what_is_left_is_about_right)
{
	seed = 9;
	ck_assert_uint_ge(about_right(0.95, 0.25), 35);
	ck_assert_uint_ge(about_right(0.95, 0.5), 35);
	/* It runs out. */
	ck_assert_uint_ge(about_right(1, 0.5), 45);
}
END_TEST

/* Before there are bounds: eight pairs of turns at least; nothing before the first of them. */
START_TEST(what_is_left_at_first)
{
	uint64_t s = 1000000000;
	struct trial t;
	struct outlook o;

	trial_begin(&t, TRIAL_IN_USE, 1, 5 * s);
	o = outlook(&t, &(struct trial_estimate){0}, 2000, 10, 9 * s);
	ck_assert_uint_eq(o.wanted, TRIAL_PAIRS_MIN);
	ck_assert(isnan(o.left_s));
	trial_turned(&t, 100 * s);
	o = outlook(&t, &(struct trial_estimate){0}, 2000, 10, 130 * s);
	ck_assert_double_eq_tol(o.left_s, 2 * 10 * TRIAL_PAIRS_MIN - 30, 1e-9);
	/* They take longer than they need. */
	o = outlook(&t, &(struct trial_estimate){.pairs = 2}, 2000, 10, 180 * s);
	ck_assert_double_eq_tol(o.left_s, 40 * (TRIAL_PAIRS_MIN - 2), 1e-9);
	/* A quarter of the width takes sixteen times the pairs, and no more than policy allows. */
	t.runs[TRIAL_NEW].n = 100;
	o = outlook(&t, &(struct trial_estimate){10, true, 0.02, -0.02, 0.06}, 2000, 10, 200 * s);
	ck_assert_uint_eq(o.wanted, 160);
	ck_assert_double_eq_tol(o.left_s, 10 * 150, 1e-9);
	o = outlook(&t, &(struct trial_estimate){10, true, 0.02, -0.02, 0.06}, 1000, 10, 200 * s);
	ck_assert_uint_eq(o.wanted, 100);
	/* A service has nothing to count by before somebody restarts it. */
	t.kind = TRIAL_BY_RESTART;
	t.turn.v[0].arm = TRIAL_OLD;
	ck_assert(isnan(outlook(&t, &(struct trial_estimate){0}, 30, 10, 200 * s).left_s));
	trial_free(&t);
}
END_TEST

UNIT_MAIN("trial", 60, NULL, NULL, planted_gains_and_losses_are_found,
    equal_builds_are_seldom_told_apart, a_build_that_crashes_is_found_at_once,
    bounds_hold_what_was_planted, long_turns_take_nothing_off, turns_wait_for_runs,
    runs_belong_to_turns, services_are_compared_by_restarts, services_are_compared_across_a_restart,
    a_service_that_restarts_too_soon, of_a_services_ends_crashes_count,
    the_store_gives_back_what_it_got, of_an_unknown_class_only_crashes_count,
    what_is_left_is_about_right, what_is_left_at_first)
