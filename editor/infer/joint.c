#include "editor/infer/joint.h"
#include "editor/infer/sparse.h"

#include <math.h>
#include <string.h>

enum {
	ROUNDS = 80,         /* of Newton's method; 10 to 15 on average, few need 40 */
	FULL_ROUNDS = 10,    /* then steps are damped: some oscillate */
	SETTLED = 16,        /* rounds after which weights stay fixed */
	WIDE = 64,           /* successors above which their coupling is left out */
	WORK = 20 * 1000000, /* multiplications of a round: beyond, no answer */
	INSNS_MAX = 1 << 16,
	COLD = BLK_COLD | BLK_NORETURN,
	COLD_FACTOR = 4,
	ENTRY_FACTOR = 4,
};
static const uint32_t NONE = UINT32_MAX;

/* Cost of a misprediction in instructions, accepted if it leaves at most this share of the previous
 * misfit, or SURELY_LESS less. */
static const struct {
	double time, left;
} SKEW[] = {{10, 0.75}, {30, 0.9}};
static const double SURELY_LESS = 5; /* ln of the odds, 150 to 1 */
static const double EXPECTED_MISFIT = 0.5; /* misfit of a block on average (Wilks 1938) */
/* Inverse of the most that samples of a block are worth, constant and per instruction. */
static const double BLOCK_BIAS = 0.3, BLOCK_BIAS_INSN = 0.3;
static const double HIDDEN = 0.25; /* weight of too few samples, by the square of instructions */
static const double ABSENCE = 0.1; /* weight of no samples, likewise */
static const double UNSEEN_SHARE = 0.5; /* in outcomes: the prior of all outgoing edges of a block
					   */
static const double RARE_SHARE = 0.001; /* of that, edges that almost never execute */
static const double DISCOUNT = 0.01;    /* per outcome: n of them are worth at most 100 */
static const double FEW = 1;            /* further discount, by the square of samples per outcome */
static const double CONTRARY = 4; /* most that outcomes are worth against all other evidence */
static const double FREE = 0.02;  /* weight in samples of the flow that enters a function */
static const double PACE = 0.7, DONE = 0.01, NEARLY_DONE = 0.1; /* steps, as share of a flow */
static const double EVENNESS = 1e-4; /* weight of even shares by that of counts */
static const double UNCOUNTED = 0.1; /* executions of a block that has none */
static const double LEAST = 1e-3, ROUNDS_TO_0 = 0.3;            /* flows */

double joint_ln(double v)
{
	static const double part[] = {1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1};
	double m, t, t2, sum = 0;
	size_t k;
	int e;

	m = frexp(v, &e);
	if (m < 0.70710678118654752) {
		m *= 2;
		e--;
	}
	t = (m - 1) / (m + 1);
	t2 = t * t;
	for (k = 0; k < sizeof part / sizeof *part; k++)
		sum = sum * t2 + part[k];
	return e * 0.69314718055994531 + 2 * t * sum;
}

/* ---- which blocks take part ---- */

static bool sampled(const struct joint *j, uint32_t b)
{
	return j->counts ? j->g->block[b].count : j->g->block[b].samples;
}

/* Not sampled is not unused; not counted is. */
static bool usable(const struct joint *j, uint32_t b)
{
	return sampled(j, b) || !(j->counts || j->g->block[b].flags & COLD);
}

/* Marks with `bit` what is connected to the roots. */
static void spread(struct joint *j, const uint8_t *root, bool back, uint8_t bit, uint32_t *stack)
{
	const struct cfg *g = j->g;
	const uint32_t *first = back ? g->pred : g->succ;
	uint32_t n = 0, b, i, to;

	for (b = 0; b < g->nblock; b++)
		if (root[b] && usable(j, b)) {
			j->used[b] |= bit;
			stack[n++] = b;
		}
	while (n) {
		b = stack[--n];
		for (i = first[b]; i < first[b + 1]; i++) {
			to = back ? g->edge[g->in[i]].src : g->edge[i].dst;
			if (j->used[to] & bit || !usable(j, to))
				continue;
			j->used[to] |= bit;
			stack[n++] = to;
		}
	}
}

/* Unsampled cold blocks, and what is only reachable through them, take no part, unless samples
 * cannot be explained otherwise. */
static void choose(struct joint *j, struct arena *a)
{
	uint32_t *stack = arena_array(a, j->g->nblock, sizeof *stack), b;
	bool all = false;

	j->used = arena_array(a, j->g->nblock, 1);
	spread(j, j->r->entry, false, 1, stack);
	spread(j, j->r->exit, true, 2, stack);
	for (b = 0; b < j->g->nblock; b++) {
		j->used[b] = j->used[b] == 3;
		all = all || (!j->used[b] && sampled(j, b));
	}
	for (b = 0; b < j->g->nblock && all; b++)
		j->used[b] = 1;
}

/* ---- evidence ---- */

double joint_insns(const struct cfg_block *k)
{
	return k->insns < 1 ? 1 : k->insns < INSNS_MAX ? k->insns : INSNS_MAX;
}

double infer_weight(const struct cfg_block *k, double s)
{
	return 1 / (1 / s + BLOCK_BIAS_INSN / joint_insns(k) + BLOCK_BIAS);
}

double joint_estimate(const struct joint *j, uint32_t b)
{
	const struct cfg_block *k = &j->g->block[b];

	if (j->samples[b] > 0)
		return fmin(j->samples[b] * COUNT_ONE / (joint_insns(k) + j->skew[b]), j->most);
	return UNSEEN_WEIGHT * COUNT_ONE / joint_insns(k) / (k->flags & COLD ? COLD_FACTOR : 1);
}

/* Sets the cost of a block where its flow is x. */
static void weigh_flow(struct joint *j, uint32_t b, double x)
{
	double best = joint_estimate(j, b), over = j->weight[b] * (x / best - 1);

	if (over > 0)
		j->cost[b] =
		    (j->weight[b] + over / (1 + over / j->bound[b])) / x;
	else
		j->cost[b] = j->weight[b] / best;
}

/* Samples of a short block may almost vanish: a compare and its jump retire together with what is
 * before them. */
static void weigh_samples(struct joint *j, uint32_t b)
{
	const struct cfg_block *k = &j->g->block[b];
	double s = fmin((double)k->samples / SAMPLE_ONE, JOINT_MANY), n = joint_insns(k);
	double entry = b ? 1 : ENTRY_FACTOR;

	j->samples[b] = s;
	j->weight[b] = s > 0 ? infer_weight(k, s) / entry : UNSEEN_WEIGHT;
	j->bound[b] = (s > 0 ? HIDDEN : ABSENCE) * n * n / entry;
}

/* Counts weigh as much as samples without bias. */
static void weigh_count(struct joint *j, uint32_t b)
{
	const struct cfg_block *k = &j->g->block[b];

	j->weight[b] = fmax((double)k->count, UNCOUNTED);
	j->samples[b] = j->weight[b] * joint_insns(k) / COUNT_ONE;
	j->bound[b] = HUGE_VAL;
}

static void weigh_block(struct joint *j, uint32_t b)
{
	if (j->counts)
		weigh_count(j, b);
	else
		weigh_samples(j, b);
	j->cost[b] = j->weight[b] / joint_estimate(j, b);
}

static double seen(const struct joint *j, uint32_t edge)
{
	double n = (double)j->g->edge[edge].outcomes;

	return fmin(j->counts ? n : n / SAMPLE_ONE, JOINT_MANY);
}

static void add_succ(struct joint *j, uint32_t b, uint32_t dst, uint32_t edge)
{
	j->succ[j->first[b + 1]++] = (struct succ){.dst = dst, .edge = edge};
}

static void find_succs(struct joint *j, uint32_t b)
{
	const struct cfg *g = j->g;
	uint32_t i;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		if (j->used[g->edge[i].dst])
			add_succ(j, b, g->edge[i].dst, i);
	if (j->r->exit[b])
		add_succ(j, b, NONE, NONE);
}

double joint_outcome_weight(double samples, double n, double sooner)
{
	samples = fmin(samples, JOINT_MANY) + 1;
	return n > 0 ? n / (1 + DISCOUNT * (n + sooner * FEW * samples * samples / n)) : 0;
}

static double similar(const struct joint *j, const struct succ *v)
{
	return v->edge == NONE ? 0 : j->g->edge[v->edge].similar;
}

/* Shares of the outgoing edges, their weight, and initial flows. */
static void weigh_succs(struct joint *j, uint32_t b)
{
	struct succ *v, *begin = j->succ + j->first[b], *end = j->succ + j->first[b + 1];
	double all = 0, expected = 0, unseen;

	j->prior[b] = UNSEEN_SHARE;
	for (v = begin; v < end; v++) {
		all += v->edge == NONE ? 0 : seen(j, v->edge);
		j->prior[b] += similar(j, v);
		expected += v->share = j->counts ? 1 : joint_prior(j, v);
	}
	if (j->counts) {
		j->outcomes[b] = j->weight[b] * (all > 0 ? 1 : EVENNESS);
	} else {
		j->seen[b] = joint_outcome_weight(j->samples[b], all, 1);
		j->outcomes[b] = j->prior[b] + j->seen[b];
	}
	if (end - begin > WIDE)
		j->weight[b] = j->outcomes[b] = fmax(j->weight[b], j->outcomes[b]);
	for (v = begin; v < end; v++) {
		unseen = v->share > 0 ? v->share / expected : RARE_SHARE;
		unseen = UNSEEN_SHARE * unseen + similar(j, v);
		v->share =
		    ((v->edge == NONE ? 0 : seen(j, v->edge)) + unseen) / (j->prior[b] + all);
		v->flow = j->weight[b] / j->cost[b] * v->share;
	}
}

static void build(struct joint *j, struct arena *a)
{
	uint32_t n = j->g->nblock, b;

	j->succ = arena_array(a, (size_t)j->g->nedge + n, sizeof *j->succ);
	j->first = arena_array(a, (size_t)n + 1, sizeof *j->first);
	j->samples = arena_array(a, n, sizeof *j->samples);
	j->bound = arena_array(a, n, sizeof *j->bound);
	j->cost = arena_array(a, n, sizeof *j->cost);
	j->weight = arena_array(a, n, sizeof *j->weight);
	j->outcomes = arena_array(a, n, sizeof *j->outcomes);
	j->prior = arena_array(a, n, sizeof *j->prior);
	j->seen = arena_array(a, n, sizeof *j->seen);
	j->in = arena_array(a, n, sizeof *j->in);
	j->pred_weight = arena_array(a, 3 * (size_t)n, sizeof *j->pred_weight);
	j->inflow = j->pred_weight + n;
	j->divergence = j->inflow + n;
	j->common = arena_array(a, 2 * (size_t)n, sizeof *j->common);
	j->own = j->common + n;
	j->price = arena_array(a, n, sizeof *j->price);
	j->skew = arena_array(a, 2 * (size_t)n, sizeof *j->skew);
	j->skew_in = j->skew + n;
	joint_prior_begin(j, a);
	for (b = 0; b < n; b++) {
		j->first[b + 1] = j->first[b];
		if (!j->used[b])
			continue;
		weigh_block(j, b);
		find_succs(j, b);
		weigh_succs(j, b);
		if (j->r->entry[b])
			j->in[b] = j->weight[b] / j->cost[b];
	}
	joint_pred_weigh(j, a);
}

/* ---- Newton's method ---- */

static void find_entries(struct joint *j, const struct sparse *s, struct arena *a)
{
	struct succ *v, *begin, *end;
	uint32_t b, i;

	for (b = 0; b < j->g->nblock; b++) {
		begin = j->succ + j->first[b];
		end = j->succ + j->first[b + 1];
		for (v = begin; v < end; v++) {
			if (v->dst == NONE)
				continue;
			v->entry = arena_array(
			    a, end - begin > WIDE ? 1 : 1 + (size_t)(v - begin), sizeof *v->entry);
			v->entry[0] = sparse_entry(s, b, v->dst);
			for (i = 0; end - begin <= WIDE && i < v - begin; i++)
				if (begin[i].dst != NONE)
					v->entry[1 + i] = sparse_entry(s, begin[i].dst, v->dst);
		}
	}
}

static bool analyse(struct joint *j, struct sparse *s, struct arena *a)
{
	VEC(uint32_t) pair = {0};
	uint32_t b, i, k;
	bool ok;

	for (b = 0; b < j->g->nblock; b++)
		for (i = j->first[b]; i < j->first[b + 1]; i++) {
			if (j->succ[i].dst == NONE)
				continue;
			vec_push(&pair, b);
			vec_push(&pair, j->succ[i].dst);
			for (k = j->first[b]; k < i && j->first[b + 1] - j->first[b] <= WIDE; k++)
				if (j->succ[k].dst != NONE) {
					vec_push(&pair, j->succ[k].dst);
					vec_push(&pair, j->succ[i].dst);
				}
		}
	ok = sparse_analyse(s, j->g->nblock, pair.v, pair.n / 2, WORK, a);
	vec_free(&pair);
	if (ok)
		find_entries(j, s, a);
	return ok;
}

double joint_block_flow(const struct joint *j, uint32_t b)
{
	double x = 0;
	uint32_t i;

	for (i = j->first[b]; i < j->first[b + 1]; i++)
		x += j->succ[i].flow;
	return x;
}

bool joint_branches(const struct joint *j, uint32_t b)
{
	return j->first[b + 1] - j->first[b] > 1;
}

double joint_divergence(struct joint *j, uint32_t b, double x)
{
	struct succ *v, *end = j->succ + j->first[b + 1];
	double divergence = 0;

	for (v = j->succ + j->first[b]; v < end; v++) {
		v->ln = joint_ln(v->flow / (v->share * x));
		divergence += v->flow / x * v->ln;
	}
	return divergence;
}

double joint_downweighted(double worth, double divergence)
{
	return worth / (1 + worth * divergence / CONTRARY);
}

double joint_believed(const struct joint *j, uint32_t b, double divergence)
{
	return joint_downweighted(j->seen[b], divergence);
}

static void set_gradient(struct joint *j, uint32_t b, double x, double divergence)
{
	struct succ *v, *end = j->succ + j->first[b + 1];
	double common = j->cost[b] - j->weight[b] / x;

	for (v = j->succ + j->first[b]; v < end; v++)
		v->gradient = common + v->slope +
			      (joint_branches(j, b) ? j->outcomes[b] / x * (v->ln - divergence) : 0);
}

/* Outcomes are wrong together or not at all (whatever waits for memory before a branch is sampled
 * more): from the present flows on, those that disagree weigh less, as with Student's
 * t-distribution. */
static void downweight_outcomes(struct joint *j, uint32_t b, double divergence)
{
	if (j->seen[b] > 0 && j->first[b + 1] - j->first[b] <= WIDE)
		j->outcomes[b] = j->prior[b] + joint_believed(j, b, fmax(divergence, 0));
}

/* The inverse of the Hessian of b's outgoing flows is diag(own) + common own own': of the cost of
 * their shares, their sum and predecessor counts (Sherman, Morrison). */
static void inverse(struct joint *j, uint32_t b, double x)
{
	struct succ *v, *begin = j->succ + j->first[b], *end = j->succ + j->first[b + 1];
	double both = end - begin > WIDE ? 0 : 1 / j->weight[b] - 1 / j->outcomes[b], k;

	j->own[b] = j->common[b] = 0;
	if (!joint_branches(j, b)) {
		for (v = begin; v < end; v++)
			j->own[b] = v->own = 1 / (j->weight[b] / (x * x) + v->bend);
		return;
	}
	for (v = begin; v < end; v++) {
		v->own = 1 / (j->outcomes[b] / (v->flow * x) + v->bend);
		j->own[b] += v->own;
	}
	k = j->outcomes[b] / x;
	k = both * k * k / (1 + both * j->outcomes[b]);
	j->common[b] = k / (1 - k * j->own[b]);
}

/* Multiplies the steps of b's outgoing flows by the inverse of the Hessian. */
static void invert(struct joint *j, uint32_t b)
{
	struct succ *v, *begin = j->succ + j->first[b], *end = j->succ + j->first[b + 1];
	double steps = 0;

	for (v = begin; v < end; v++)
		steps += v->own * v->step;
	for (v = begin; v < end; v++)
		v->step = v->own * (v->step + j->common[b] * steps);
}

/* Adds b's outgoing edges to the matrix: the inverse of the Hessian, multiplied from both sides by
 * the incidence matrix. */
static void couple(struct joint *j, struct sparse *s, uint32_t b)
{
	const struct succ *v, *u, *begin = j->succ + j->first[b], *end = j->succ + j->first[b + 1];
	double sum = j->own[b], common = j->common[b];

	*sparse_entry(s, b, b) += sum + common * sum * sum;
	for (v = begin; v < end; v++) {
		if (v->dst == NONE)
			continue;
		*sparse_entry(s, v->dst, v->dst) += v->own + common * v->own * v->own;
		*v->entry[0] -= (v->own + common * v->own * sum) * (v->dst == b ? 2 : 1);
		for (u = begin; u < v && common != 0; u++)
			if (u->dst != NONE)
				*v->entry[1 + (u - begin)] +=
				    common * u->own * v->own * (u->dst == v->dst ? 2 : 1);
	}
}

/* The terms of b alone: its cost at the present flows, first and second derivatives. */
static void set_up_block(struct joint *j, uint32_t b, bool downweight)
{
	double x = joint_block_flow(j, b);
	double divergence = joint_branches(j, b) ? joint_divergence(j, b, x) : 0;

	if (downweight && joint_branches(j, b))
		downweight_outcomes(j, b, divergence);
	weigh_flow(j, b, x);
	set_gradient(j, b, x, divergence);
	inverse(j, b, x);
}

/* The equations for the prices (multipliers) of blocks: with their solution the step balances what
 * enters and leaves each block. */
static void set_up(struct joint *j, struct sparse *s, bool downweight)
{
	struct succ *v;
	double d;
	uint32_t b;

	sparse_clear(s);
	joint_pred_update(j);
	for (b = 0; b < j->g->nblock; b++)
		j->price[b] = 0;
	for (b = 0; b < j->g->nblock; b++) {
		if (!j->used[b]) {
			*sparse_entry(s, b, b) = 1;
			continue;
		}
		set_up_block(j, b, downweight);
		for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++)
			v->step = v->gradient;
		invert(j, b);
		couple(j, s, b);
		for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++) {
			d = v->flow - v->step;
			j->price[b] -= d;
			if (v->dst != NONE)
				j->price[v->dst] += d;
		}
		if (j->in[b] > 0) {
			*sparse_entry(s, b, b) += j->in[b] * j->in[b] / FREE;
			j->price[b] += 2 * j->in[b];
		}
	}
}

double joint_within(const struct joint *j, double flow)
{
	return !(flow > LEAST) ? LEAST : flow < j->most ? flow : j->most;
}

/* Changes a flow by a share of it, within bounds. Returns how much it moved, 0 for negligible
 * flows. */
static double change(const struct joint *j, double *flow, double by)
{
	double moved = *flow > ROUNDS_TO_0 ? fabs(by) : 0;

	*flow = joint_within(j, *flow * (by < -0.9 ? 0.1 : by < 7 ? 1 + by : 8));
	return moved;
}

static double step(struct joint *j, double pace)
{
	double moved = 0;
	struct succ *v;
	uint32_t b;

	for (b = 0; b < j->g->nblock; b++) {
		if (!j->used[b])
			continue;
		for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++)
			v->step =
			    v->gradient + ((v->dst == NONE ? 0 : j->price[v->dst]) - j->price[b]);
		invert(j, b);
		for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++)
			moved = fmax(moved, change(j, &v->flow, -v->step / v->flow * pace));
		if (j->in[b] > 0)
			moved = fmax(moved,
			    change(j, &j->in[b], (1 - j->in[b] / FREE * j->price[b]) * pace));
	}
	return moved;
}

static bool solve(struct joint *j, struct sparse *s, double skew)
{
	double moved = 1;
	int round;

	for (round = 0; round < ROUNDS && moved >= DONE; round++) {
		if (round < SETTLED && skew > 0)
			joint_skew(j, skew);
		set_up(j, s, round < SETTLED);
		sparse_factor(s);
		sparse_solve(s, j->price);
		moved = step(j, round < FULL_ROUNDS ? 1 : PACE);
	}
	return moved < NEARLY_DONE;
}

/* The misfit of the flows found, HUGE_VAL where there are none. */
static double unexplained(struct joint *j, struct sparse *s, double skew)
{
	return solve(j, s, skew) ? joint_misfit(j) : HUGE_VAL;
}

static bool any_seen(const struct joint *j)
{
	uint32_t b;

	for (b = 0; b < j->g->nblock; b++)
		if (j->seen[b] > 0 || j->pred_weight[b] > 0)
			return true;
	return false;
}

struct flows_kept {
	struct succ *succ;
	double *in;
};

static struct flows_kept flows_kept(const struct joint *j, struct arena *a)
{
	size_t nsucc = j->first[j->g->nblock], nblock = j->g->nblock;
	struct flows_kept f = {
	    arena_array(a, nsucc, sizeof *f.succ), arena_array(a, nblock, sizeof *f.in)};

	memcpy(f.succ, j->succ, nsucc * sizeof *f.succ);
	memcpy(f.in, j->in, nblock * sizeof *f.in);
	return f;
}

static void flows_restore(struct joint *j, struct flows_kept f)
{
	j->succ = f.succ;
	j->in = f.in;
}

/* Restarts where there is a loop and the samples are explained worse than noise would leave them;
 * keeps the result if it explains them much better. */
static void solve_unseen(struct joint *j, struct sparse *s, struct arena *a)
{
	double least = unexplained(j, s, 0);
	struct flows_kept first;

	if (least < fmax(SURELY_LESS, EXPECTED_MISFIT * j->g->nblock) || j->loop_ends[0] == NONE)
		return;
	first = flows_kept(j, a);
	joint_restart(j, a);
	if (unexplained(j, s, 0) > least - SURELY_LESS)
		flows_restore(j, first);
}

/* Models misprediction skew where that explains the function's samples much better, and a larger
 * cost where that does once more; without outcomes it cannot be identified. */
static void solve_all(struct joint *j, struct sparse *s, struct arena *a)
{
	struct flows_kept best;
	double misfit, least;
	size_t i;

	if (j->counts) {
		solve(j, s, 0);
		return;
	}
	if (!any_seen(j)) {
		solve_unseen(j, s, a);
		return;
	}
	least = unexplained(j, s, 0);
	for (i = 0; i < sizeof SKEW / sizeof *SKEW; i++) {
		best = flows_kept(j, a);
		misfit = unexplained(j, s, SKEW[i].time);
		if (misfit > fmax(SKEW[i].left * least, least - SURELY_LESS)) {
			flows_restore(j, best);
			break;
		}
		least = misfit;
	}
}

static void set_flows(const struct joint *j, struct flows *f, struct arena *a)
{
	const struct succ *v;
	uint32_t b;

	*f = (struct flows){arena_array(a, j->g->nedge, sizeof *f->edge), j->in,
	    arena_array(a, j->g->nblock, sizeof *f->out)};
	for (b = 0; b < j->g->nblock; b++)
		for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++)
			*(v->edge == NONE ? &f->out[b] : &f->edge[v->edge]) = v->flow;
}

void infer_joint(const struct cfg *g, const struct reach *r, enum infer_input input,
    struct flows *f, double *estimate, struct arena *a)
{
	struct joint j = {.g = g, .r = r, .counts = input == INFER_COUNTS};
	struct sparse s;
	uint32_t b;

	j.most = 0x1p50 / ((double)g->nblock + g->nedge);
	choose(&j, a);
	build(&j, a);
	for (b = 0; b < g->nblock; b++)
		estimate[b] = sampled(&j, b) ? joint_estimate(&j, b) : 0;
	if (analyse(&j, &s, a))
		solve_all(&j, &s, a);
	set_flows(&j, f, a);
}
