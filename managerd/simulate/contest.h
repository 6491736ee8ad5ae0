/*
 * What each strategy made of the same trace. Morph's own decisions come from the manager; the
 * others are simple enough to stand here, each with a profile of its own:
 *
 *	each hour, each day   an edit whenever there is a new profile and the machine is idle, a
 *	                      profile being what an hour, or a day, has brought (SOSP'97:
 *	                      "re-optimize when new profiles are available")
 *	by hand               at the trace's "hand" events alone (there, "when triggered manually")
 *	ART                   once a day, idle and not on battery, where a fifth more functions, and
 *	                      100 at least, have samples than when it was last laid out (Android's
 *	                      art/profman/profile_assistant.cc, where it is a fiftieth in other
 *	                      releases; what was built again starts afresh)
 *
 * Their edits take the same CPU time, and no other: the layout is there at once.
 */
#ifndef MORPH_MANAGERD_CONTEST_H
#define MORPH_MANAGERD_CONTEST_H

#include "managerd/simulate/subject.h"

#include <stdbool.h>

enum contender {
	CONTEST_MORPH,
	CONTEST_HOURLY,
	CONTEST_DAILY,
	CONTEST_HAND,
	CONTEST_ART,
	CONTENDERS
};
const char *contender_name(enum contender c);

/* All in seconds of CPU time but where it says otherwise. */
struct tally {
	double saved;  /* by its layouts, over the original */
	double lost;   /* what the best layout for the usage of each moment would save besides */
	double worked; /* by edits and scores */
	unsigned edits,
	    needless; /* needless: it saved less, over the layout before, than it took */
	unsigned changes, answered; /* of usage; to which there was an answer by a layout */
	VEC(double) reaction;       /* s of time, of those that were answered */
};

struct contest;

struct contest *contest_new(const struct trace *t, struct subject **subject);
void contest_free(struct contest *c);
/* A program took so much CPU time as it is. */
void contest_used(struct contest *c, size_t program, double cpu_s);
/* The usage of a program is another one now, or (rebuilt) the program. */
void contest_changed(struct contest *c, size_t program, int64_t now_ms, bool rebuilt);
/* Samples by slot, n[slot], in a batch. */
void contest_samples(struct contest *c, size_t program, const uint64_t *n, int64_t now_ms);
/* Those that decide for themselves do; hand: a person asks for this program (SIZE_MAX: none). */
int contest_decide(
    struct contest *c, int64_t now_ms, bool idle, bool battery, size_t hand, struct err *e);
/* A strategy's layout is there, and worked for it. */
void contest_swapped(
    struct contest *c, enum contender who, size_t program, struct layout *l, int64_t now_ms);
void contest_worked(struct contest *c, enum contender who, double cpu_s);
/* Of all programs. The trace is over. */
void contest_end(struct contest *c);
const struct tally *contest_tally(const struct contest *c, enum contender who);
/* CPU time that programs took, and what the best layouts would have saved of it. */
double contest_cpu(const struct contest *c, double *best);

#endif
