/*
 * Whether a module gets a new layout now: a numbered ladder, of which the first
 * rung that stops is the answer. Pure: numbers in, verdict, rung and words out.
 *
 * The seed's manager (SOSP'97, 3.3) leaves this open; the rungs are those of
 * docs/POLICY.md "The ladder".
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
	RUNG_SAMPLES = 3,
	RUNG_COVERAGE = 4,
	RUNG_CHANGE = 5,
	RUNG_GAIN = 6,
	RUNG_COOL_DOWN = 7,
	RUNG_BUDGET = 8,
	RUNG_IDLE = 9,
	RUNG_COUNT
};

enum verdict {
	VERDICT_WAIT,  /* the rung in decision.rung stopped it */
	VERDICT_SCORE, /* nothing stops it but that the gain is not known yet: measure it */
	VERDICT_EDIT
};

enum outcome { OUTCOME_NOT_REACHED, OUTCOME_PASSED, OUTCOME_SKIPPED, OUTCOME_STOPPED };

struct rung_step {
	enum outcome outcome;
	bool numbers; /* value and limit mean something */
	double value, limit;
	char text[256];
};

struct decide_in {
	const char *excluded; /* why the module may not be changed, NULL = it may */
	const char *held;     /* why it is held, NULL = it is not */
	double held_left_s;   /* < 0: until a person asks for a reoptimize */
	double samples;       /* aged, mapped */
	double understood;    /* of these: in functions that can be laid out */
	double outside;       /* aged, in this module but in no block */
	bool laid_out;        /* the present build is a laid-out one */
	const char *lost;     /* or it was, and was slower in use, or crashed: so; NULL = no */
	double change;        /* profile_distance() to the profile of that layout */
	bool have_gain;
	double gain;          /* share */
	double since_swap_s;  /* < 0: never swapped */
	const char *trial;    /* old and new build take turns: so far; NULL = no */
	uint32_t uid;         /* owner of the module … */
	unsigned edits_today; /* … and edits of their modules in the last 24 h */
	bool idle;
	const char *idle_text;
	bool asked;  /* a person asked: rungs 7, 8 (to 5000 edits), 9 are skipped */
	bool forced; /* and with force: rungs 5 and 6 as well */
};

struct decision {
	enum verdict verdict;
	enum rung rung;
	char text[256];
	struct rung_step step[RUNG_COUNT]; /* by rung; [0] unused */
};

/* "excluded", "held", "few-samples", "low-coverage", "same-usage", "low-gain",
 * "cool-down", "budget", "busy"; RUNG_NONE: "climbed". */
const char *rung_name(enum rung r);
const char *outcome_name(enum outcome o);

void decide(const struct conf *c, const struct decide_in *in, struct decision *d);

#endif
