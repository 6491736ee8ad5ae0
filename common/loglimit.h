/*
 * How many lines one call site may log: LOGLIMIT_LINES in LOGLIMIT_MS, counted
 * from the first of them. What exceeds that is counted and reported in one line when
 * the time is over. Pure: the caller brings the time, and a lock.
 */
#ifndef MORPH_LOGLIMIT_H
#define MORPH_LOGLIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { LOGLIMIT_LINES = 20, LOGLIMIT_MS = 10000, LOGLIMIT_SITES = 64 };

struct loglimit_site {
	const void *site; /* the caller's address; NULL = a free slot */
	uint64_t since;   /* ms */
	unsigned lines;   /* that were logged since */
	unsigned long more;
	char like[64]; /* the format of those, cut */
};

/* Zero-filled is an empty one. Beyond LOGLIMIT_SITES busy call sites further
 * ones are not limited. */
struct loglimit {
	struct loglimit_site site[LOGLIMIT_SITES];
};

/* Whether the line may go out; else it is counted. */
bool loglimit_allows(struct loglimit *l, const void *site, const char *fmt, uint64_t now_ms);
/* The next site of which lines were held back and whose time is over (all: of
 * which any were); its slot is copied to *out and freed. */
bool loglimit_next(struct loglimit *l, uint64_t now_ms, bool all, struct loglimit_site *out);

#endif
