/*
 * morphctl top: what runs now, descended into by keys. The state and what keys do to it are pure
 * (top.c); screen.c shows it by ncurses.
 */
#ifndef MORPH_REPORT_TOP_H
#define MORPH_REPORT_TOP_H

#include "common/err.h"
#include "morphctl/report/recording/recording.h"
#include "morphctl/report/show/breakdown.h"
#include "morphctl/report/symbols/symbols.h"

enum top_sort { TOP_SELF, TOP_TOTAL, TOP_NAME, TOP_SORTS };

/* What keys mean, however a terminal has them. */
enum top_key {
	TOP_UP,
	TOP_DOWN,
	TOP_PAGE_UP,
	TOP_PAGE_DOWN,
	TOP_FIRST,
	TOP_LAST,
	TOP_ENTER,     /* one level down, into the selected row */
	TOP_LEAVE,     /* one level up */
	TOP_SORT,      /* by the next of enum top_sort */
	TOP_PROCESSES, /* processes instead of modules, and back */
	TOP_WINDOW,    /* the next of top_window() */
	TOP_PAUSE,
	TOP_QUIT,
	TOP_OTHER
};

struct top {
	struct breakdown_query query; /* event is kept by top_update() */
	enum top_sort sort;
	unsigned window; /* index of top_window() */
	bool paused, quit;
	size_t selected, page; /* row; rows of a page */
	struct breakdown rows; /* of the query */
	const struct recording *r;
	char *module, *function; /* owned: of the query */
};

/* Seconds of samples that are shown, or TOP_LIVE for those since it was begun: the choices, 0 after
 * the last. */
enum { TOP_LIVE = 1 };
unsigned top_window(unsigned i);
/* The recording has other samples now: makes the rows again. It stays the caller's. */
void top_update(struct top *t, const struct recording *r);
/* Returns whether the samples have to be fetched again. */
bool top_key(struct top *t, enum top_key key);
/* The text of a row, as it is sorted by name. From the arena. */
const char *top_name(const struct top *t, const struct breakdown_row *row, struct arena *a);
void top_free(struct top *t);

/*
 * Shows it until a person has enough. fetch() adds the samples of the last so many seconds to a
 * recording without any, or fails.
 */
struct top_source {
	int (*fetch)(void *arg, unsigned window_s, struct recording *r, struct err *e);
	void *arg;
	const struct symbols_options *symbols;
	double every_s; /* a picture is shown */
};
int top_run(const struct top_source *source, struct err *e);

#endif
