/*
 * What the files of addresses (addresses.h) share: addresses.c (files, batches), periods.c (rows of
 * a file in a period), rollup.c (what is done afterwards), usage.c (reading).
 */
#ifndef MORPH_MANAGERD_PERIODS_H
#define MORPH_MANAGERD_PERIODS_H

#include "managerd/store/addresses.h"
#include "managerd/store/packed.h"
#include "managerd/store/sql.h"

enum { PERIOD_SPANS = 3 };
struct period_span {
	int64_t span_s;
	int64_t keep_s; /* after the end of the period of the next span that it is in */
};
extern const struct period_span period_span[PERIOD_SPANS];

/* The period of such a length that a time is in. */
static inline int64_t period_begin(int64_t time_s, int64_t span_s)
{
	int64_t over = time_s % span_s;

	return time_s - (over < 0 ? over + span_s : over);
}

struct period {     /* of a file */
	int64_t id; /* 0 = it has no row yet */
	int64_t span_s, begin_s;
	uint64_t file, samples, ns, bytes;
	const uint8_t *data; /* counts as of packed.h */
	size_t n;
	const uint8_t *calls; /* as of calls.h */
	size_t ncalls;
};

/* ---- addresses.c ---- */

/* Reads what is known of the tables, unless it is there. */
int addresses_load(struct store *s, struct err *e);
/* Accounts for n bytes more, or less, of a user. */
void addresses_use(struct store *s, uint32_t uid, int64_t n);
/* Whose file it is: 1, 0 there is none, -1. */
int address_file_owner(struct store *s, uint64_t id, uint32_t *uid, struct err *e);
/* It has so many more periods, or fewer; without any it goes. */
int address_file_uses(struct store *s, uint64_t id, int64_t more, struct err *e);

struct batch_row {
	const uint8_t *data, *calls; /* what is left of them */
	size_t n, ncalls;
	uint64_t period_ns;
};
/* The next file of a batch, or calls of one: a file may come twice. False: there is none, or it is
 * damaged. */
bool batch_part(struct batch_row *b, struct period *out);
/* Of GET_ADDRESS_BATCHES. */
struct batch_row batch_row_of(sqlite3_stmt *st);
/* A bit of the batches becomes periods, unless they began before a time. Not called without any. */
int batches_settle(struct store *s, int64_t oldest_s, struct err *e);

/* ---- periods.c ---- */

/* The row of span, begin and file, its data in the arena. 1, 0 there is none, -1. */
int period_get(struct store *s, struct period *p, struct arena *a, struct err *e);
/* Adds what several others have, n > 0, to the row of to, which need not be there. */
int period_add(
    struct store *s, struct period *to, const struct period *from, size_t n, struct err *e);
/* Leaves out the rarest half of the addresses, or all of the row. */
int period_thin(struct store *s, struct period *p, struct err *e);
int period_drop(struct store *s, const struct period *p, struct err *e);

#endif
