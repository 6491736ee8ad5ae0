#include "editor-driver/profile/overlap.h"
#include "common/mem.h"
#include "common/sort.h"

static double sum_of(const double *w, size_t n)
{
	double sum = 0;

	while (n--)
		sum += w[n];
	return sum;
}

double overlap(const double *a, const double *b, size_t n)
{
	double sa = sum_of(a, n), sb = sum_of(b, n), sum = 0;
	size_t i;

	if (!(sa > 0) || !(sb > 0))
		return !(sa > 0) && !(sb > 0);
	for (i = 0; i < n; i++)
		sum += a[i] / sa < b[i] / sb ? a[i] / sa : b[i] / sb;
	return sum < 1 ? sum : 1;
}

struct ranked {
	double w;
	size_t i;
};

static int by_weight(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return ORDER(b->w, a->w) ?: ORDER(a->i, b->i);
}

size_t overlap_hot(const double *w, size_t n, double share, uint8_t *hot)
{
	struct ranked *r = xcalloc(n, sizeof *r);
	/* Rounding of the sum must not break a share of 1. */
	double want = share * sum_of(w, n) * (1 - 1e-12), sum = 0;
	size_t i, k;

	for (i = 0; i < n; i++) {
		r[i] = (struct ranked){w[i], i};
		hot[i] = 0;
	}
	if (n)
		qsort(r, n, sizeof *r, by_weight);
	for (k = 0; k < n && sum < want; k++) {
		sum += r[k].w;
		hot[r[k].i] = 1;
	}
	free(r);
	return k;
}
