/*
 * Quantities that are each known up to an unknown factor, and sums of them that should be equal:
 * finds the factors. For functions whose counts are in units of their own: a callee's entries
 * against the counts of its callers.
 *
 * Least squares in logarithms: a factor costs (ln f / FACTOR_SD)², a balance weight * ln²(left sum
 * / right sum). By Newton's method on one factor after the other (Gauss-Seidel), which needs no
 * matrix and no order.
 */
#ifndef MORPH_BALANCE_H
#define MORPH_BALANCE_H

#include "common/mem.h"

#include <stdint.h>

struct balance_part {
	uint32_t unknown; /* index of the factor */
	double amount;    /* > 0, is multiplied by it */
};

struct balance { /* part[left] … part[right - 1] against part[right] … part[end - 1] */
	uint32_t left, right, end; /* none of the two sides is empty */
	double weight;
};

/* factor[] of n, 1 where nothing is known, within [1 / BALANCE_MOST, BALANCE_MOST]. One factor may
 * occur on both sides, and more than once on one. Deterministic. */
enum { BALANCE_MOST = 16 };
void balance_fit(const struct balance *b, uint32_t nb, const struct balance_part *part, uint32_t n,
    double *factor, struct arena *scratch);

#endif
