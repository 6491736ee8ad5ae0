/*
 * What came since it was begun, of sums that are fetched again and again. Pure.
 *
 * The manager's sums are of whole periods: the oldest of them goes while the newest grows. What has
 * fewer samples than the last time counts as nothing new.
 */
#ifndef MORPH_REPORT_LIVE_H
#define MORPH_REPORT_LIVE_H

#include "morphctl/report/recording/recording.h"

struct live_entry {
	struct recording_sample last; /* as it was fetched */
	uint64_t n, period;           /* since the begin */
};

struct live { /* zero-filled: not begun */
	bool begun;
	struct htab index; /* event, task and stack -> index in entry */
	VEC(struct live_entry) entry;
};

/* Replaces the samples of the recording, always the same one, by what is new. */
void live_take(struct live *l, struct recording *r);
void live_free(struct live *l);

#endif
