#include "managerd/trial/trial.h"
#include "common/le.h"
#include "common/hash.h"
#include "common/sort.h"

#include <math.h>
#include <signal.h>
#include <string.h>

enum { LONG_TURNS = 60, CELLS_MAX = 1 << 16, TURNS_MAX = 1 << 16, RECENT_MIN = 8 };
/* A switch is recorded after it was made: a run may seem to begin in the turn before its own. */
#define SETTLING_NS 5000000000ULL
/* Shorter ones are the kernel's time for exec and exit, and its clock. */
#define RUN_MIN_NS 100000.0
/* Runs are drawn within so many median deviations, 4 standard ones were they normal, of which
 * each is at least 2 %. */
#define REACH (4 * 1.4826)
#define LEAST_SPREAD 0.02
/* Added to the logarithm of ns per unit of work, of which there are up to 2^53: it stays positive.
 */
#define WORK_OFFSET 64
/* All windows of a service are one class. */
#define WINDOWS 1

const char *trial_verdict_name(enum trial_verdict v)
{
	static const char *const name[] = {"open", "faster", "even", "slower", "crashes"};

	return (unsigned)v < TRIAL_VERDICTS ? name[v] : "unknown";
}

void trial_begin(struct trial *t, enum trial_kind kind, uint64_t seed, uint64_t now_ns)
{
	*t = (struct trial){.kind = kind, .seed = seed, .began_ns = now_ns};
}

void trial_free(struct trial *t)
{
	vec_free(&t->turn);
	vec_free(&t->cell);
	vec_free(&t->class);
}

bool trial_of_service(const struct trial *t)
{
	return t->kind == TRIAL_BY_RESTARTS || t->kind == TRIAL_BY_RESTART;
}

/* ---- turns ---- */

enum trial_arm trial_arm(const struct trial *t)
{
	return t->turn.n ? t->turn.v[t->turn.n - 1].arm : TRIAL_NEW;
}

enum trial_arm trial_next(const struct trial *t)
{
	uint64_t draw[2] = {t->seed, t->turn.n / 2};
	struct hash128 h;

	if (t->turn.n % 2)
		return trial_arm(t) == TRIAL_OLD ? TRIAL_NEW : TRIAL_OLD;
	h = hash_bytes(draw, sizeof draw);
	return h.b[0] & 1 ? TRIAL_NEW : TRIAL_OLD;
}

void trial_turned(struct trial *t, uint64_t now_ns)
{
	enum trial_arm arm = trial_next(t);

	vec_push(&t->turn, (struct trial_turn){.start_ns = now_ns, .arm = arm});
}

bool trial_due(const struct trial *t, uint64_t now_ns, double turn_s)
{
	const struct trial_turn *last = t->turn.n ? &t->turn.v[t->turn.n - 1] : NULL;
	uint64_t since = last ? last->start_ns : t->began_ns;
	uint64_t before = t->runs[TRIAL_NEW].n + (trial_of_service(t) ? t->runs[TRIAL_OLD].n : 0);
	uint64_t ended = last ? last->ended : before;
	double took = now_ns > since ? (double)(now_ns - since) / 1e9 : 0;

	if (t->kind == TRIAL_BY_RESTART || t->turn.n >= TURNS_MAX || took < turn_s)
		return false;
	return ended >= TRIAL_TURN_RUNS || (last && ended && took >= LONG_TURNS * turn_s);
}

/* ---- runs ---- */

static bool is_crash(uint32_t status)
{
	switch (status & 0x7f) {
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
	case SIGSYS:
		return true;
	}
	return false;
}

/* The turn of its build in which a process began; NULL: before the first one, or it cannot be
 * said. */
static struct trial_turn *turn_of(struct trial *t, enum trial_arm arm, uint64_t start_ns)
{
	size_t i = t->turn.n;

	while (i > 0 && t->turn.v[i - 1].start_ns > start_ns)
		i--;
	if (i > 0 && t->turn.v[i - 1].arm == arm)
		return &t->turn.v[i - 1];
	if (i < t->turn.n && t->turn.v[i].arm == arm &&
	    t->turn.v[i].start_ns - start_ns < SETTLING_NS)
		return &t->turn.v[i];
	return NULL;
}

static struct trial_class *add_class(struct trial *t, uint64_t class, double cpu_s)
{
	size_t i;

	for (i = 0; i < t->class.n && t->class.v[i].class != class; i++)
		;
	if (i == t->class.n && i >= TRIAL_CLASSES_MAX)
		i = 0;
	if (i == t->class.n)
		vec_push(&t->class, (struct trial_class){.class = class});
	t->class.v[i].n++;
	t->class.v[i].cpu_s += cpu_s;
	return &t->class.v[i];
}

static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return ORDER(a, b);
}

static double median(double *v, unsigned n)
{
	qsort(v, n, sizeof *v, compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static unsigned kept(const struct trial_recent *r)
{
	return r->n < TRIAL_RECENT ? r->n : TRIAL_RECENT;
}

/* One process in a hundred takes ten times as long, for reasons of its own: it would outweigh
 * all others. Both builds have the same bounds, around the medians of both: turns may be longer
 * than the window of recent runs. */
static double winsorize(struct trial_class *k, enum trial_arm of, double x)
{
	struct trial_recent *r = &k->recent[of];
	double v[TRIAL_ARMS * TRIAL_RECENT], middle, low = INFINITY, high = -INFINITY, reach;
	unsigned n = 0, i;
	int arm;

	r->log[r->n++ % TRIAL_RECENT] = x;
	if (kept(r) < RECENT_MIN)
		return x;
	for (arm = 0; arm < TRIAL_ARMS; arm++) {
		r = &k->recent[arm];
		if (kept(r) < RECENT_MIN)
			continue;
		memcpy(v + n, r->log, kept(r) * sizeof *v);
		middle = median(v + n, kept(r));
		for (i = 0; i < kept(r); i++)
			v[n++] = fabs(r->log[i] - middle);
		low = fmin(low, middle);
		high = fmax(high, middle);
	}
	reach = REACH * fmax(median(v, n), LEAST_SPREAD);
	return fmin(fmax(x, low - reach), high + reach);
}

/* Runs come about in order: the cell is one of the last. */
static struct trial_cell *cell_of(struct trial *t, uint32_t pair, uint64_t class)
{
	size_t i = t->cell.n;

	while (i > 0 && t->cell.v[i - 1].pair + 2 > pair) {
		i--;
		if (t->cell.v[i].pair == pair && t->cell.v[i].class == class)
			return &t->cell.v[i];
	}
	if (t->cell.n >= CELLS_MAX)
		return NULL;
	vec_push(&t->cell, (struct trial_cell){.class = class, .pair = pair});
	return &t->cell.v[t->cell.n - 1];
}

void trial_add(struct trial *t, enum trial_arm arm, const struct wire_run *r)
{
	struct trial_turn *turn = turn_of(t, arm, r->start_ns);
	double cpu = fmax((double)r->cpu_ns, RUN_MIN_NS);
	struct trial_cell *c;
	struct trial_class *k;

	t->runs[arm].crashes += is_crash(r->status);
	if (trial_of_service(t))
		return;
	t->runs[arm].n++;
	t->runs[arm].cpu_s += (double)r->cpu_ns / 1e9;
	/* What a signal cut short says nothing of how long it takes. */
	if (!turn || !r->class || r->status & 0x7f)
		return;
	turn->ended++;
	k = add_class(t, r->class, cpu / 1e9);
	c = cell_of(t, (uint32_t)((size_t)(turn - t->turn.v) / 2), k->class);
	if (!c)
		return;
	c->n[arm]++;
	c->log_sum[arm] += winsorize(k, arm, log(cpu));
}

/* ---- windows ---- */

size_t trial_old_blocks(const struct trial *t)
{
	size_t n = 0;

	while (n < t->turn.n && t->turn.v[n].arm == TRIAL_OLD)
		n++;
	return n;
}

/* The new build runs: the last block of the old one is the first pair's. */
static void count_from_restart(struct trial *t)
{
	size_t nold = t->turn.n, i, n = 0;
	struct trial_cell c;

	for (i = 0; i < t->cell.n / 2; i++) {
		c = t->cell.v[i];
		t->cell.v[i] = t->cell.v[t->cell.n - 1 - i];
		t->cell.v[t->cell.n - 1 - i] = c;
	}
	for (i = 0; i < t->cell.n; i++) {
		c = t->cell.v[i];
		c.pair = (uint32_t)nold - 1 - c.pair;
		if (c.pair < TRIAL_BLOCKS_MAX)
			t->cell.v[n++] = c;
	}
	t->cell.n = n;
	if (nold < TRIAL_PAIRS_MIN)
		t->trouble = TRIAL_TOO_SOON;
}

/* Index of the pair of a window's block; -1: of none, as the first block of the new build, in which
 * the service is still filling its caches. */
static int64_t block_of(struct trial *t, const struct trial_window *w, double turn_s)
{
	struct trial_turn *last = t->turn.n ? &t->turn.v[t->turn.n - 1] : NULL;
	int64_t index;

	if (last && last->arm == TRIAL_NEW && w->arm == TRIAL_OLD)
		return -1;
	if (!last || last->arm != w->arm ||
	    (double)w->start_ns >= (double)last->start_ns + turn_s * 1e9) {
		if (t->turn.n >= TURNS_MAX)
			return -1;
		if (w->arm == TRIAL_NEW && (!last || last->arm == TRIAL_OLD))
			count_from_restart(t);
		vec_push(&t->turn, (struct trial_turn){.start_ns = w->start_ns, .arm = w->arm});
	}
	t->turn.v[t->turn.n - 1].ended++;
	if (w->arm == TRIAL_OLD)
		return (int64_t)t->turn.n - 1;
	index = (int64_t)(t->turn.n - trial_old_blocks(t)) - 2;
	return index < TRIAL_BLOCKS_MAX ? index : -1;
}

void trial_add_window(struct trial *t, const struct trial_window *w, double turn_s)
{
	double cost = log((double)w->cpu_ns / w->work) + WORK_OFFSET;
	bool turns = t->kind == TRIAL_BY_RESTARTS;
	struct trial_turn *turn = turns ? turn_of(t, w->arm, w->start_ns) : NULL;
	struct trial_class *k;
	struct trial_cell *c;
	int64_t pair;

	t->runs[w->arm].n++;
	t->runs[w->arm].cpu_s += (double)w->cpu_ns / 1e9;
	t->runs[w->arm].work += w->work;
	if (turn)
		turn->ended++;
	pair = turns ? (turn ? (turn - t->turn.v) / 2 : -1) : block_of(t, w, turn_s);
	if (pair < 0)
		return;
	k = add_class(t, WINDOWS, (double)w->cpu_ns / 1e9);
	c = cell_of(t, (uint32_t)pair, WINDOWS);
	if (!c)
		return;
	c->n[w->arm]++;
	/* Of one build alone, for long, the nearest are those of no other. */
	c->log_sum[w->arm] += turns ? winsorize(k, w->arm, cost) : cost;
}

/* ---- the estimate ---- */

/* Of one pair: the weighted sum of differences, and the weights'. */
struct difference {
	double sum, weight;
};

static double mean_cpu(const struct trial *t, uint64_t class)
{
	size_t i;

	for (i = 0; i < t->class.n; i++)
		if (t->class.v[i].class == class)
			return t->class.v[i].cpu_s / (double)t->class.v[i].n;
	return 0;
}

static void add_cell(struct difference *d, const struct trial *t, const struct trial_cell *c)
{
	double n[TRIAL_ARMS] = {c->n[TRIAL_OLD], c->n[TRIAL_NEW]}, w;

	if (!c->n[TRIAL_OLD] || !c->n[TRIAL_NEW])
		return;
	w = mean_cpu(t, c->class) * n[TRIAL_OLD] * n[TRIAL_NEW] / (n[TRIAL_OLD] + n[TRIAL_NEW]);
	d->sum += w * (c->log_sum[TRIAL_NEW] / n[TRIAL_NEW] - c->log_sum[TRIAL_OLD] / n[TRIAL_OLD]);
	d->weight += w;
}

/* The 97.5 % quantile of Student's t by that of the normal distribution (Abramowitz and Stegun,
 * 26.7.5; within .5 % from 7 degrees of freedom on). */
static double student(double freedom)
{
	double z = 1.959964, z2 = z * z;

	return 1 + (z2 + 1) / (4 * freedom) + ((5 * z2 + 16) * z2 + 3) / (96 * freedom * freedom);
}

/* Standard errors that the bounds lie apart from the estimate after n pairs, narrowest about 20. */
static double uniform(double n)
{
	double alpha = 0.05, best = 20, q = -2 * log(alpha);
	double rho2 = (q + log(q) + 1) / best, v = n * rho2 + 1;

	return sqrt(2 * v / (n * rho2) * log(sqrt(v) / alpha));
}

/* The variance of a mean by that which it would have, were pairs independent: their correlation
 * with the next one, as of an autoregressive process, with one standard error more for what is
 * unknown of it. */
static double dependence(double next, double square, double n)
{
	double r = fmin(fmax(next / square, 0) + 1 / sqrt(n), 0.9);

	return (1 + r) / (1 - r);
}

/* ordered: pairs are of neighbouring blocks, in their order. */
static struct trial_estimate conclude(const struct difference *d, size_t n, bool ordered)
{
	struct trial_estimate e = {0};
	double sum = 0, weight = 0, square = 0, next = 0, last = 0, rest, mean, radius;
	size_t i;

	for (i = 0; i < n; i++) {
		e.pairs += d[i].weight > 0;
		sum += d[i].sum;
		weight += d[i].weight;
	}
	if (e.pairs < TRIAL_PAIRS_MIN)
		return e;
	mean = sum / weight;
	for (i = 0; i < n; i++) {
		rest = d[i].sum - mean * d[i].weight;
		square += rest * rest;
		next += rest * last;
		last = rest;
	}
	radius = sqrt(square * e.pairs / (e.pairs - 1)) / weight * student(e.pairs - 1) *
		 uniform(e.pairs);
	if (ordered && square > 0)
		radius *= sqrt(dependence(next, square, e.pairs));
	e.known = true;
	e.gain = 1 - exp(mean);
	e.low = 1 - exp(mean + radius);
	e.high = 1 - exp(mean - radius);
	return e;
}

/* Pairs that are over. */
static size_t complete_pairs(const struct trial *t)
{
	size_t n = t->turn.n / 2, nold;
	bool begun = n > 0 && t->turn.n % 2 == 0; /* with its second turn */

	switch (t->kind) {
	case TRIAL_IN_USE:
		return n - begun;
	case TRIAL_BY_RESTARTS: /* what its windows say is not left out before the next restart */
		return n - (begun && t->turn.v[t->turn.n - 1].ended < TRIAL_TURN_RUNS);
	case TRIAL_BY_RESTART: /* neither the first block of the new build nor the present one */
		nold = trial_old_blocks(t);
		n = t->turn.n - nold;
		n = n > 2 ? n - 2 : 0;
		return n < nold ? n : nold;
	default:
		return n;
	}
}

struct trial_estimate trial_estimate(const struct trial *t)
{
	struct trial_estimate e;
	struct difference *d;
	size_t i, n = complete_pairs(t);

	d = xcalloc(n + 1, sizeof *d);
	for (i = 0; i < t->cell.n; i++)
		if (t->cell.v[i].pair < n)
			add_cell(&d[t->cell.v[i].pair], t, &t->cell.v[i]);
	e = conclude(d, n, t->kind == TRIAL_BY_RESTART);
	free(d);
	return e;
}

/* Whether the new build's share of crashes is larger than chance would have it; of services it is
 * not known what of. */
static bool crashes_more(const struct trial *t)
{
	const struct trial_runs *old = &t->runs[TRIAL_OLD], *new = &t->runs[TRIAL_NEW];
	double n = (double)new->n, m = (double)old->n, x = (double)new->crashes,
	       y = (double)old->crashes, p;

	if (!new->crashes || !old->crashes || trial_of_service(t))
		return new->crashes > 0 && !old->crashes;
	p = (x + y) / (n + m);
	return x / n - y / m > 2.58 * sqrt(p * (1 - p) * (1 / n + 1 / m));
}

static bool is_long_enough(const struct trial *t, const struct trial_estimate *e, uint64_t runs_max)
{
	size_t nold;

	switch (t->kind) {
	case TRIAL_BY_RESTARTS:
		return e->pairs >= runs_max;
	case TRIAL_BY_RESTART:
		nold = trial_old_blocks(t);
		return complete_pairs(t) >= (nold < TRIAL_BLOCKS_MAX ? nold : TRIAL_BLOCKS_MAX);
	default:
		return t->runs[TRIAL_OLD].n >= runs_max || t->runs[TRIAL_NEW].n >= runs_max;
	}
}

enum trial_verdict trial_verdict(
    const struct trial *t, const struct trial_estimate *e, uint64_t runs_max)
{
	bool long_enough = is_long_enough(t, e, runs_max);

	if (crashes_more(t))
		return TRIAL_CRASHES;
	if (!e->known)
		return t->turn.n >= TURNS_MAX ? TRIAL_EVEN : TRIAL_OPEN;
	if (e->high < 0)
		return TRIAL_SLOWER;
	if (t->kind == TRIAL_IN_USE && t->runs[TRIAL_NEW].n < TRIAL_RUNS_MIN)
		return TRIAL_OPEN;
	if (e->low > 0 && (long_enough || e->gain - e->low <= fmax(TRIAL_NEAR, e->gain / 3)))
		return TRIAL_FASTER;
	if ((e->low > -TRIAL_WORTHLESS && e->high < TRIAL_WORTHLESS) || long_enough ||
	    t->turn.n >= TURNS_MAX)
		return TRIAL_EVEN;
	return TRIAL_OPEN;
}

/* ---- for the store ---- */

/* Little-endian numbers of 64 bits, doubles by their bits: the version; what trial_begin() was
 * given, without the kind in version 1; from version 3 on the trouble; from version 4 on whether
 * cycles are compared; of both builds runs, crashes, CPU time, from version 3 on work, and, but in
 * version 1, terms; the processor, likewise; then each list with its length before it. */
enum { TURN = 3, CELL = 6, CLASS = 3 };                        /* numbers of one */
enum { FIRST = 1, WITHOUT_SERVICES, WITHOUT_CYCLES, VERSION }; /* versions */

static void add(struct buf *out, uint64_t v)
{
	put_le64(buf_grow(out, sizeof v), v);
}

static void add_double(struct buf *out, double x)
{
	uint64_t v;

	memcpy(&v, &x, sizeof v);
	add(out, v);
}

void trial_encode(const struct trial *t, struct buf *out)
{
	size_t i;
	int arm;

	add(out, VERSION);
	add(out, t->kind);
	add(out, t->seed);
	add(out, t->began_ns);
	add(out, t->trouble);
	add(out, t->cycles);
	for (arm = 0; arm < TRIAL_ARMS; arm++) {
		add(out, t->runs[arm].n);
		add(out, t->runs[arm].crashes);
		add_double(out, t->runs[arm].cpu_s);
		add_double(out, t->runs[arm].work);
		add_double(out, t->terms[arm].insns);
		add_double(out, t->terms[arm].taken);
		add_double(out, t->terms[arm].lines);
	}
	add(out, t->cpu);
	add(out, t->turn.n);
	for (i = 0; i < t->turn.n; i++) {
		add(out, t->turn.v[i].start_ns);
		add(out, t->turn.v[i].arm);
		add(out, t->turn.v[i].ended);
	}
	add(out, t->cell.n);
	for (i = 0; i < t->cell.n; i++) {
		add(out, t->cell.v[i].class);
		add(out, t->cell.v[i].pair);
		for (arm = 0; arm < TRIAL_ARMS; arm++) {
			add(out, t->cell.v[i].n[arm]);
			add_double(out, t->cell.v[i].log_sum[arm]);
		}
	}
	add(out, t->class.n);
	for (i = 0; i < t->class.n; i++) {
		add(out, t->class.v[i].class);
		add(out, t->class.v[i].n);
		add_double(out, t->class.v[i].cpu_s);
	}
}

struct reader {
	const uint8_t *p;
	size_t left; /* numbers */
	bool bad;
};

static uint64_t take(struct reader *r)
{
	uint64_t v;

	if (!r->left) {
		r->bad = true;
		return 0;
	}
	v = get_le64(r->p);
	r->p += sizeof v;
	r->left--;
	return v;
}

static uint64_t take_below(struct reader *r, uint64_t limit)
{
	uint64_t v = take(r);

	r->bad |= v >= limit;
	return r->bad ? 0 : v;
}

static double take_double(struct reader *r)
{
	uint64_t v = take(r);
	double x;

	memcpy(&x, &v, sizeof x);
	r->bad |= !isfinite(x) || x < 0;
	return r->bad ? 0 : x;
}

static size_t take_count(struct reader *r, size_t max, size_t size)
{
	return (size_t)take_below(r, (max < r->left / size ? max : r->left / size) + 1);
}

static void read_lists(struct reader *r, struct trial *t)
{
	size_t n;
	int arm;

	for (n = take_count(r, TURNS_MAX, TURN); n && !r->bad; n--) {
		struct trial_turn turn = {.start_ns = take(r)};

		turn.arm = (enum trial_arm)take_below(r, TRIAL_ARMS);
		turn.ended = (uint32_t)take_below(r, UINT32_MAX);
		vec_push(&t->turn, turn);
	}
	for (n = take_count(r, CELLS_MAX, CELL); n && !r->bad; n--) {
		struct trial_cell c = {.class = take(r)};

		c.pair = (uint32_t)take_below(r, t->turn.n + 1);
		for (arm = 0; arm < TRIAL_ARMS; arm++) {
			c.n[arm] = (uint32_t)take_below(r, UINT32_MAX);
			c.log_sum[arm] = take_double(r);
		}
		vec_push(&t->cell, c);
	}
	for (n = take_count(r, TRIAL_CLASSES_MAX, CLASS); n && !r->bad; n--) {
		struct trial_class k = {.class = take(r)};

		k.n = take(r);
		k.cpu_s = take_double(r);
		r->bad |= !k.n;
		vec_push(&t->class, k);
	}
}

int trial_decode(const void *p, size_t n, struct trial *t, struct err *e)
{
	struct reader r = {p, n / sizeof(uint64_t), n % sizeof(uint64_t) != 0};
	uint64_t version;
	int arm;

	*t = (struct trial){0};
	version = take(&r);
	r.bad |= version < FIRST || version > VERSION;
	if (version > FIRST)
		t->kind = (enum trial_kind)take_below(&r, TRIAL_KINDS);
	t->seed = take(&r);
	t->began_ns = take(&r);
	if (version > WITHOUT_SERVICES)
		t->trouble = (enum trial_trouble)take_below(&r, TRIAL_TROUBLES);
	if (version > WITHOUT_CYCLES)
		t->cycles = take_below(&r, 2) == 1;
	for (arm = 0; arm < TRIAL_ARMS; arm++) {
		t->runs[arm].n = take(&r);
		t->runs[arm].crashes = take(&r);
		t->runs[arm].cpu_s = take_double(&r);
		if (version > WITHOUT_SERVICES)
			t->runs[arm].work = take_double(&r);
		if (version == FIRST)
			continue;
		t->terms[arm].insns = take_double(&r);
		t->terms[arm].taken = take_double(&r);
		t->terms[arm].lines = take_double(&r);
	}
	if (version > FIRST)
		t->cpu = take(&r);
	if (!r.bad)
		read_lists(&r, t);
	if (!r.bad && !r.left)
		return 0;
	trial_free(t);
	*t = (struct trial){0};
	return err_set(e, "a damaged record of runs");
}
