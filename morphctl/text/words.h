/*
 * Numbers, times and names as people read them. Strings come from the arena.
 * A number that is not known (NAN) is "-".
 */
#ifndef MORPH_MORPHCTL_WORDS_H
#define MORPH_MORPHCTL_WORDS_H

#include "common/mem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* 15210.4 -> "15,210"; below 10 with one decimal unless it is whole. */
char *words_number(struct arena *a, double v);
/* 290112 -> "283 KiB". */
char *words_bytes(struct arena *a, double v);
/* 0.051 -> "5.1 %". */
char *words_share(struct arena *a, double v);
/* 812, 330 -> "−59 %". */
char *words_change(struct arena *a, double before, double after);
/* 75 -> "75 s", 4000 -> "1 h 6 min", 200000 -> "2 d 7 h". */
char *words_duration(struct arena *a, double seconds);
/* "count noun", or "count nouns" unless it is 1. */
char *words_plural(struct arena *a, double n, const char *noun);
/*
 * What came from elsewhere, fit for a terminal: control bytes and invalid
 * UTF-8 become '?', so that no name can move the cursor. NULL: "".
 */
char *words_clean(struct arena *a, const char *s);
json_t *words_json(const char *s); /* words_clean() */

/* A user's name, or the number where there is none. */
char *words_user(struct arena *a, double uid);
/* Is any of a list, of objects with a uid, another user's than the one who runs this? */
bool words_others(const json_t *list);
/* What the manager says, words_clean(), in which each "uid 1000" is that user's name. */
char *words_said(struct arena *a, const char *s);

/* Seconds since 1970 of an RFC 3339 time in UTC, -1 when it is none. */
int64_t words_time(const char *rfc3339);
/* "2 min ago", "just now"; "never" for NULL. now: seconds since 1970. */
char *words_ago(struct arena *a, const char *rfc3339, int64_t now);
/* "2026-03-01 13:00:05" where the reader is; "-" for NULL. */
char *words_local(struct arena *a, const char *rfc3339);

/* "edit, for 12 s, about 5 s left" of a step that began then; eta: NAN = not known. */
char *words_step(struct arena *a, const char *step, const char *since, double eta, int64_t now);

/* The same of what the manager does: "edit of PROGRAM, for 12 s, about 5 s left". */
char *words_working(struct arena *a, const json_t *working, int64_t now);

/* A moment as people write it, as the API takes it: "7d", "90min", "30s" ago as seconds, a date and
 * time where the reader is ("2026-03-01", "2026-03-01 12:30", with seconds, with T) as RFC 3339,
 * which may be written, too. NULL: it is neither. */
const char *words_moment(struct arena *a, const char *s);

/* Why a module's artifact was not fetched, and when it is tried again; NULL: it was not tried. */
char *words_fetch(struct arena *a, const json_t *module);

/* What keeps a module without an artifact from being lifted, with its samples so far; NULL: it has
 * one. */
char *words_legacy(struct arena *a, const json_t *module);
/* As the API names it; "" = it has one. */
const char *words_lift_state(const json_t *module);

/* ---- members of objects that may be absent or null ---- */
double json_num(const json_t *o, const char *name);      /* NAN */
const char *json_str(const json_t *o, const char *name); /* NULL */

#endif
