/*
 * Samples are cheap: monitors take more of programs whose profiles are not sharp yet
 * (decide_wants_samples()), as far as the policy lets them.
 */
#ifndef MORPH_MANAGERD_BOOSTING_H
#define MORPH_MANAGERD_BOOSTING_H

#include "managerd/cycle/core.h"
#include "managerd/samples/ingest.h"

struct boosting {
	struct core *core;
	struct ingest *ingest;  /* NULL = monitors cannot be told yet, or any more */
	struct wire_boost told; /* what they were; its builds are owned */
};

/* Tells them when that is other than before. */
void boosting_tell(struct boosting *b);
void boosting_free(struct boosting *b);

#endif
