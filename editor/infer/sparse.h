/*
 * Sparse symmetric positive definite systems whose graph falls apart easily,
 * like control flow graphs: LDL' by columns (George, Liu 1981), in an order of
 * minimum degree. Strictly ordered double arithmetic: the same numbers on
 * every machine.
 */
#ifndef MORPH_SPARSE_H
#define MORPH_SPARSE_H

#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct sparse {
	uint32_t n;
	uint32_t *at;    /* by unknown: its place in the order */
	uint32_t *first; /* by place: its column is row[first[i]] … row[first[i + 1]] */
	uint32_t *row;   /* ascending places, all > i */
	double *val;     /* the matrix below the diagonal, then L */
	double *diag;    /* the matrix's diagonal, then D; by place */
	uint32_t *next, *head, *pos; /* of the factorisation */
	double *work;
};

/* Places where a matrix of n unknowns may be non-zero: pair[2 * i], pair[2 * i
 * + 1] for i < npair; in any order, repeated or on the diagonal as may be.
 * False when a factorisation would be more than `limit` multiplications. */
bool sparse_analyse(struct sparse *s, uint32_t n, const uint32_t *pair, size_t npair,
    uint64_t limit, struct arena *a);
/* Where entry (i, j) is kept: one of the pairs. */
double *sparse_entry(const struct sparse *s, uint32_t i, uint32_t j);
void sparse_clear(struct sparse *s);
/* Turns the matrix into its factors. */
void sparse_factor(struct sparse *s);
/* x by unknown: the right side, then the solution. */
void sparse_solve(const struct sparse *s, double *x);

#endif
