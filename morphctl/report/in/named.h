/* Code of which names and lines are known, but not where it lies. */
#ifndef MORPH_REPORT_IN_NAMED_H
#define MORPH_REPORT_IN_NAMED_H

#include "morphctl/report/in/format.h"

/* Offsets in the file are numbers: those of named_count() from here on, the rest is the reader's.
 */
#define NAMED_LINES ((uint64_t)1 << 32)

struct named {
	struct recording *r;
	uint32_t file, event;
};

/* what: the file's name where the user names no executable. */
struct named named_begin(
    struct recording *r, const struct in_options *o, const char *what, const char *event);
/* A location of its own with these frames, innermost first; n > 0 counts there are samples. Returns
 * it. */
uint32_t named_count(
    const struct named *x, const struct recording_frame *frame, uint32_t nframe, uint64_t n);

#endif
