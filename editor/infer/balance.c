#include "editor/infer/balance.h"

#include <math.h>

enum { ROUNDS = 60 };
static const double FACTOR_SD = 0.5; /* of ln factor */
static const double STEP = 0.5;      /* of ln factor, at most */
static const double DONE = 1e-3;

struct fit {
	const struct balance *b;
	const struct balance_part *part;
	double *factor;
	double *left, *right;  /* sums, per balance */
	uint32_t *first, *use; /* by factor: its parts are use[first[i]] … use[first[i + 1]] */
	uint32_t *of;          /* per part: its balance */
};

static void add_up(struct fit *t, uint32_t nb)
{
	const struct balance *b;
	uint32_t i, k;

	for (i = 0; i < nb; i++) {
		b = &t->b[i];
		t->left[i] = t->right[i] = 0;
		for (k = b->left; k < b->end; k++)
			*(k < b->right ? &t->left[i] : &t->right[i]) +=
			    t->part[k].amount * t->factor[t->part[k].unknown];
	}
}

static void index_parts(struct fit *t, uint32_t nb, uint32_t npart, uint32_t n, struct arena *a)
{
	uint32_t i, k;

	t->of = arena_array(a, npart, sizeof *t->of);
	t->use = arena_array(a, npart, sizeof *t->use);
	t->first = arena_array(a, (size_t)n + 2, sizeof *t->first);
	for (i = 0; i < nb; i++)
		for (k = t->b[i].left; k < t->b[i].end; k++) {
			t->of[k] = i;
			t->first[t->part[k].unknown + 2]++;
		}
	for (i = 2; i < n + 2; i++)
		t->first[i] += t->first[i - 1];
	for (k = 0; k < npart; k++)
		t->use[t->first[t->part[k].unknown + 1]++] = k;
}

/* How a balance changes with the logarithm of a part's factor, as far as that
 * part goes. */
static double slope(const struct fit *t, uint32_t k)
{
	double held = t->part[k].amount * t->factor[t->part[k].unknown];
	uint32_t b = t->of[k];

	return k < t->b[b].right ? held / t->left[b] : -held / t->right[b];
}

static double newton_step(const struct fit *t, uint32_t i)
{
	double curve = 1 / (FACTOR_SD * FACTOR_SD), pull = -curve * log(t->factor[i]), s = 0;
	uint32_t u, b;

	for (u = t->first[i]; u < t->first[i + 1]; u++) {
		b = t->of[t->use[u]];
		s += slope(t, t->use[u]);
		if (u + 1 < t->first[i + 1] && t->of[t->use[u + 1]] == b)
			continue;
		curve += t->b[b].weight * s * s;
		pull -= t->b[b].weight * s * log(t->left[b] / t->right[b]);
		s = 0;
	}
	return fmax(-STEP, fmin(STEP, pull / curve));
}

static void set_factor(struct fit *t, uint32_t i, double to)
{
	double by = to - t->factor[i], add;
	uint32_t u, k, b;

	t->factor[i] = to;
	for (u = t->first[i]; u < t->first[i + 1]; u++) {
		k = t->use[u];
		b = t->of[k];
		add = by * t->part[k].amount;
		*(k < t->b[b].right ? &t->left[b] : &t->right[b]) += add;
	}
}

void balance_fit(const struct balance *b, uint32_t nb, const struct balance_part *part, uint32_t n,
    double *factor, struct arena *scratch)
{
	struct fit t = {.b = b, .part = part, .factor = factor};
	double step, moved = 1;
	uint32_t i;
	int round;

	t.left = arena_array(scratch, nb, sizeof *t.left);
	t.right = arena_array(scratch, nb, sizeof *t.right);
	index_parts(&t, nb, nb ? b[nb - 1].end : 0, n, scratch);
	for (i = 0; i < n; i++)
		factor[i] = 1;
	for (round = 0; round < ROUNDS && moved > DONE; round++) {
		add_up(&t, nb); /* from scratch: differences accumulate rounding errors */
		for (i = 0, moved = 0; i < n; i++) {
			if (t.first[i] == t.first[i + 1])
				continue;
			step = factor[i] * exp(newton_step(&t, i));
			step = fmax(1. / BALANCE_MOST, fmin(BALANCE_MOST, step));
			moved = fmax(moved, fabs(step / factor[i] - 1));
			set_factor(&t, i, step);
		}
	}
}
