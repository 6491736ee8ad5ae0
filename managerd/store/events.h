/*
 * The events of a module's history, each kind made here alone. Within a transaction; the
 * module's row is as it is after what happened.
 */
#ifndef MORPH_MANAGERD_EVENTS_H
#define MORPH_MANAGERD_EVENTS_H

#include "managerd/store/store.h"

int event_learned(struct store *s, const struct store_module *m, int64_t at_ms, size_t functions,
    uint32_t blocks, struct err *e);
/* By a file that Morph did not make; rebuilt: of another program. */
int event_replaced(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, bool rebuilt, struct err *e);

struct event_swap {              /* of a layout, that was put in place or was to be */
	double samples, seconds; /* it was made by, and in */
	uint32_t edited;         /* functions */
	uint64_t size_before, size_after;
	uint64_t change; /* who asked, 0 = nobody */
};
int event_swapped(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, const struct event_swap *swap, struct err *e);
int event_rolled_back(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, uint64_t change, const char *text, struct err *e);
/* to: the build that was to come of it, if there was one. */
int event_failed(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *to, const struct event_swap *swap, const char *why, struct err *e);
/* What a trial of one build against another has come to. */
int event_measured(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id build[TRIAL_ARMS], const char *text, struct err *e);
int event_recovered(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, const struct build_id *to, const char *text, struct err *e);

#endif
