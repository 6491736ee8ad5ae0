/*
 * Whether a module gets a new layout now: a numbered ladder, of which the first
 * rung that stops is the answer. Pure: numbers in, verdict, rung and words out.
 *
 * The seed's manager (SOSP'97, 3.3) leaves this open; the rungs are those of
 * docs/POLICY.md "The ladder". What decides is information: by how much is the layout that
 * the profile of today would make better than the present one, and how sure is that?
 */
#ifndef MORPH_MANAGERD_DECIDE_H
#define MORPH_MANAGERD_DECIDE_H

#include "managerd/conf/conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rung {
	RUNG_NONE = 0, /* the ladder was climbed */
	RUNG_EXCLUDED = 1,
	RUNG_HELD = 2,
	RUNG_COVERAGE = 3,
	RUNG_TAKEN_BACK = 4,
	RUNG_GAIN = 5,
	RUNG_COOL_DOWN = 6,
	RUNG_BUDGET = 7,
	RUNG_IDLE = 8,
	RUNG_COUNT
};

enum verdict {
	VERDICT_WAIT,  /* the rung in decision.rung stopped it */
	VERDICT_SCORE, /* nothing stops it but that the gain is not known yet: estimate it */
	VERDICT_EDIT
};

enum outcome { OUTCOME_NOT_REACHED, OUTCOME_PASSED, OUTCOME_SKIPPED, OUTCOME_STOPPED };

struct rung_step {
	enum outcome outcome;
	bool numbers; /* value and limit mean something */
	double value, limit;
	char text[256];
};

/* Of the layout that a profile makes, over the present one. */
struct decide_estimate {
	double gain;      /* share of time that it saves, expected */
	double low, high; /* and with 90 % confidence; NAN: not known */
	double missed;    /* what ever more samples of this usage might add */
	double samples;   /* aged, that it was estimated from */
};

struct decide_in {
	const char *excluded; /* why the module may not be changed, NULL = it may */
	const char *held;     /* why it is held, NULL = it is not */
	double held_left_s;   /* < 0: until a person asks for a reoptimize */
	double samples;       /* aged, mapped */
	double understood;    /* of these: in functions that can be laid out */
	double outside;       /* aged, in this module but in no block */
	double rate;          /* mapped samples a second, of late; 0 = not known */
	bool laid_out;        /* the present build is a laid-out one */
	const char *lost;     /* or it was, and was slower in use, or crashed: so; NULL = no */
	double change;        /* since then: profile_distance() to the profile of that layout */
	const struct decide_estimate *estimate; /* NULL = not known of today's profile */
	double corrected; /* of its gain, what was added because of gains that were measured */
	bool reordered;   /* the last layout had another list of functions that come first */
	bool made; /* the present layout was made from a profile that is not outdated yet … */
	double missing;       /* … until so many more samples have come */
	double since_swap_s;  /* < 0: never swapped */
	const char *trial;    /* old and new build take turns: so far; NULL = no */
	uint32_t uid;         /* owner of the module … */
	unsigned edits_today; /* … and edits of their modules in the last 24 h */
	bool idle;
	const char *idle_text;
	bool asked;  /* a person asked: rungs 2, 6, 7 (to 5000 edits), 8 are skipped */
	bool forced; /* and with force: rungs 4 and 5 as well, with the least of samples */
};

struct decision {
	enum verdict verdict;
	enum rung rung;
	char text[256];
	struct rung_step step[RUNG_COUNT]; /* by rung; [0] unused */
};

/* "excluded", "held", "low-coverage", "taken-back", "low-gain", "cool-down", "budget",
 * "busy"; RUNG_NONE: "climbed". */
const char *rung_name(enum rung r);
const char *outcome_name(enum outcome o);

/* What a gain must be at least, of a first layout or another one. */
double decide_limit(const struct conf *c, bool laid_out);
/* How many samples more would do, if the usage stays as it is, for the lower bound to reach the
 * limit: a bound comes nearer by the root of their number, and what is missed shrinks with it.
 * INFINITY: no number would. */
double decide_more(const struct decide_estimate *s, double limit);

/* Whether more samples of a program are of use, of which there are so many: below min_samples, or
 * while the estimate (NULL = none) says that they might add min_regain to the gain, or a bound that
 * stops it is as far off; but not where no number of them would bring a layout. */
bool decide_wants_samples(
    const struct conf *c, const struct decide_estimate *s, double samples, bool laid_out);

void decide(const struct conf *c, const struct decide_in *in, struct decision *d);

#endif
