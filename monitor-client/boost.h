/*
 * Extra samples: of which builds, and how many. The manager says of which it wants more, since
 * their profiles are not sharp yet, and what that may cost (WIRE_BOOST). Whatever is on or off is
 * so for whole batches: of a build that is boosted in one all samples weigh the same
 * (docs/FORMATS.md, "Extra samples"). They are taken of all that runs, since a program may be over
 * before one could ask for its own, and those of other builds are dropped at once; so they are
 * taken only while a boosted build ran in the last minute. Pure.
 */
#ifndef MORPH_BOOST_H
#define MORPH_BOOST_H

#include "common/hash.h"
#include "common/wire/wire.h"

struct boost {
	struct htab build; /* build-ids, by their bytes */
	uint64_t period;   /* ns of a CPU's time for each; 0: there are none now */
	uint64_t cost;     /* ns of one; 0: not known yet */
	uint64_t seen,
	    before; /* samples of these builds in this batch; when there were some last */
};

/* Whether a build is boosted, apart from whether it runs. */
bool boost_has(const struct boost *b, const struct build_id *id);
/* Begins a batch at this time (ns), by what the manager wants now. */
void boost_batch(struct boost *b, const struct wire_boost *told, uint64_t now);
void boost_free(struct boost *b);

/* The period of samples that cost so much each, within a budget of so many millionths of a CPU's
 * time; a prime number of them a second, so as not to run in step with the programs' timers. 0: it
 * is not worth it. */
uint64_t boost_period(uint32_t budget, uint64_t cost);

#endif
