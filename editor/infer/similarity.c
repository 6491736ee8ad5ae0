#include "common/hash.h"
#include "editor/infer/infer.h"

#include <math.h>

static const double OWN_MOST = 20;             /* outcomes of one branch count at most this much */
static const double SPREAD = 0.1, EVEN = 0.25; /* prior of the variance and mean for a
						  signature without outcomes */
static const double AT_MOST = 2;               /* bound on the weight of a signature, in
						  outcomes … */
static const double BELIEVED = 0.5;            /* … and the share of it by the variance that
						  is used */
static const double FEW = 2, LEAST = 1, UNSEEN = 0.5; /* outcomes */

/* Outcomes of branches of one signature, and how far their shares differ. */
struct evidence {
	double taken, other; /* each branch counts at most OWN_MOST */
	double square;       /* sum of taken² / all */
	double one;          /* sum over branches of the weight of one outcome */
};

/* The two outcomes of the branch of edge *i's block; advances *i to the next block. */
static bool is_jump(struct cfg *g, uint32_t *i, struct cfg_edge **taken, struct cfg_edge **other)
{
	uint32_t b = g->edge[*i].src;

	*taken = *other = NULL;
	for (; *i < g->nedge && g->edge[*i].src == b; ++*i) {
		if (g->edge[*i].kind == EDGE_TAKEN)
			*taken = &g->edge[*i];
		if (g->edge[*i].kind == EDGE_NOTTAKEN)
			*other = &g->edge[*i];
	}
	return g->block[b].signature && *taken && *other && (*taken)->dst != (*other)->dst;
}

static struct evidence evidence_of(const struct cfg_edge *taken, const struct cfg_edge *other)
{
	struct evidence k = {0};
	double n = ((double)taken->outcomes + (double)other->outcomes) / SAMPLE_ONE;

	if (n > 0) {
		k.one = 1 / (1 + n / OWN_MOST);
		k.taken = k.one * (double)taken->outcomes / SAMPLE_ONE;
		k.other = k.one * (double)other->outcomes / SAMPLE_ONE;
		k.square = k.taken * k.taken / (k.taken + k.other);
	}
	return k;
}

static void add(struct evidence *all, const struct evidence *one)
{
	all->taken += one->taken;
	all->other += one->other;
	all->square += one->square;
	all->one += one->one;
}

/* The number of outcomes of one branch that are worth as much as the shares of all others: by
 * their correlation, as of a beta distribution. */
static double weight(const struct evidence *k)
{
	double n = k->taken + k->other, even, spread;

	if (!(n > 0))
		return 0;
	even = k->taken * k->other / (n * n);
	spread = fmax(k->square - k->taken * k->taken / n - k->one * even, 0);
	return fmin(BELIEVED * ((n * even + EVEN) / (spread + SPREAD) - 1), AT_MOST);
}

static void set_similar(struct cfg_edge *taken, struct cfg_edge *other, const struct evidence *own,
    const struct evidence *all)
{
	double t = fmax(all->taken - own->taken, 0), o = fmax(all->other - own->other, 0), w;

	w = t + o < LEAST ? 0 : fmax(weight(all), 0) * (t + o) / (t + o + FEW);
	taken->similar = w * (t + UNSEEN) / (t + o + 2 * UNSEEN);
	other->similar = w * (o + UNSEEN) / (t + o + 2 * UNSEEN);
}

/* Signature to index in all. */
struct groups {
	struct htab at;
	VEC(struct evidence) all;
};

static void sum_up(struct groups *l, struct cfg *g)
{
	struct cfg_edge *taken, *other;
	struct evidence own;
	uint64_t *at;
	uint32_t i;
	bool fresh;

	for (i = 0; i < g->nedge;)
		if (is_jump(g, &i, &taken, &other)) {
			own = evidence_of(taken, other);
			at = htab_put(
			    &l->at, &g->block[taken->src].signature, sizeof(uint64_t), &fresh);
			if (fresh) {
				*at = l->all.n;
				vec_push(&l->all, own);
			} else {
				add(&l->all.v[*at], &own);
			}
		}
}

static void set_all(const struct groups *l, struct cfg *g)
{
	static const struct evidence unknown;
	struct cfg_edge *taken, *other;
	struct evidence own;
	uint64_t *at;
	uint32_t i;

	for (i = 0; i < g->nedge;)
		if (is_jump(g, &i, &taken, &other)) {
			own = evidence_of(taken, other);
			at = htab_get(&l->at, &g->block[taken->src].signature, sizeof(uint64_t));
			set_similar(taken, other, &own, at ? &l->all.v[*at] : &unknown);
		}
}

void infer_similarity(struct cfg *const g[], size_t n, size_t speak)
{
	struct groups l = {0};
	size_t i;

	for (i = 0; i < speak; i++)
		sum_up(&l, g[i]);
	for (i = 0; i < n; i++)
		set_all(&l, g[i]);
	vec_free(&l.all);
	htab_free(&l.at);
}
