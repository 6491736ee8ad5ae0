/*
 * What a child found out about the code of a file: functions, and the frames of each location that
 * it was asked about, as ULEB128 numbers:
 *
 *	strings    number; each: bytes, and as many of them
 *	functions  number; each: name, linkage (strings), source (a string + 1, 0 = none),
 *	           start + 1 (0 = not known), size, line
 *	locations  number; each: frames, and of each frame function, line, discriminator
 *
 * In struct recording on both sides: all of its locations in order, without files.
 */
#ifndef MORPH_REPORT_ANSWER_H
#define MORPH_REPORT_ANSWER_H

#include "common/err.h"
#include "morphctl/report/recording/recording.h"

enum { ANSWER_DEPTH = 512 }; /* frames of a location, at most */

void answer_encode(const struct recording *r, struct buf *out);
/* Adds to an empty recording; what was said is hostile. Fails unless it is of n locations and
 * nothing follows. What terminals would not print in names is escaped (log_escape()). */
int answer_decode(const void *p, size_t bytes, size_t n, struct recording *r, struct err *e);

/* ---- pieces of this and other answers ---- */

void answer_put(struct buf *out, const char *s);
/* The string at *p, escaped, in mem; NULL when it is cut off. */
const char *answer_get(const uint8_t **p, const uint8_t *end, struct arena *mem);

#endif
