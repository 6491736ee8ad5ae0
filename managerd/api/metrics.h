/*
 * The manager's numbers in the Prometheus text format 0.0.4, as docs/API.md
 * "Metrics" lists them.
 */
#ifndef MORPH_MANAGERD_METRICS_H
#define MORPH_MANAGERD_METRICS_H

#include "managerd/cycle/cycle.h"
#include "managerd/store/store.h"

/* Requests answered so far, by status code. */
struct metrics_code {
	unsigned code;
	uint64_t n;
};
struct metrics_http {
	VEC(struct metrics_code) by_code;
};
void metrics_count(struct metrics_http *h, unsigned code);

struct metrics_module {
	const struct store_module *m;
	double samples;            /* of the aged profile */
	double measured, promised; /* gain of the layout in use, and what was predicted; NAN */
};

/* Appends all of it. module: those the peer may see; state: of all modules,
 * by enum module_state. */
void metrics_print(struct buf *out, const struct manager_status *s, const size_t *state,
    size_t nstate, const struct metrics_http *h, const struct metrics_module *module, size_t n);

#endif
