/*
 * The answer of an edit or a score: the JSON object that `morph-edit --json`
 * prints, its writer and its reader. With "ok" false it has "error", a reason;
 * with "ok" true the members of the struct, of which the table in editanswer.c
 * says what they are called, which answers have them, and which are read.
 *
 * The editor ran as another user over an artifact that nobody vouches for: to
 * the reader every member that is read has its type and range, or the whole
 * answer is none.
 */
#ifndef MORPH_EDITANSWER_H
#define MORPH_EDITANSWER_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/mem.h"

#include <jansson.h>

/* What an answer has beyond that which all have; bits. */
enum editanswer_parts {
	EDITANSWER_LAYOUT = 1, /* of an edit and of a score */
	EDITANSWER_SCORES = 2,
	EDITANSWER_BUILD = 4,    /* of an edit */
	EDITANSWER_COUNTING = 8, /* of a counting build */
	EDITANSWER_ESTIMATE = 16 /* of a score that was asked how sure it is */
};

struct editanswer_cost { /* struct fe_cost, editor/cost/frontend.h */
	double insns, taken, lines, cycles;
};

struct editanswer_score {
	double exttsp, taken, total;
	uint64_t lines95; /* 64-byte lines that hold 95 % of the execution */
	struct editanswer_cost cost;
};

/* How much better the best layout is than the present one, as far as the samples tell. */
struct editanswer_estimate {
	double gain;      /* share of time that it saves, expected */
	double low, high; /* and with 90 % confidence, as far as the number of samples decides */
	double missed;    /* what ever more samples might add */
	double optimism;  /* what the profile promises besides, by its accidents */
};

/* The list of functions that come first, and what of it the program has not; of no list zeros. */
enum { EDITANSWER_NAME = 200 };
struct editanswer_list {
	uint32_t names, missed;        /* missed: of no function that can move … */
	char example[EDITANSWER_NAME]; /* … such as this one; cut where it is longer */
};

/* One reason for functions that move as a whole. */
struct editanswer_reason {
	const char *text;
	uint32_t functions;
	double share; /* of the samples */
};

struct editanswer {
	struct build_id origin;
	uint32_t functions, blocks, tus, opaque;
	double opaque_share;                  /* of the samples, 0…1 */
	VEC(struct editanswer_reason) reason; /* written, not read */
	double samples, samples_used;
	struct {
		uint64_t unknown_function, ambiguous_function, unknown_block, unknown_edge;
	} lines_lost; /* of the profile */
	/* BUILD, but edited, list and seconds: LAYOUT */
	const char *out; /* written, not read */
	struct build_id build_id;
	uint32_t edited;
	struct editanswer_list list;
	uint32_t counted, counters; /* COUNTING: functions that are counted, counters */
	uint32_t tus_assembled, tus_cached;
	struct {
		double parse, infer, layout, emit, check, as, ld, verify;
	} seconds;
	struct {
		struct editanswer_score before, after;
	} score;
	struct editanswer_estimate estimate;
	struct {
		uint64_t before, after; /* bytes of code and data loaded from the file */
	} size;
};

/* A new object, to which the caller may add. Text that is no UTF-8 becomes "?". */
json_t *editanswer_json(const struct editanswer *a, unsigned parts);
json_t *editanswer_score_json(const struct editanswer_score *s);
json_t *editanswer_refusal_json(const char *why);
json_t *editanswer_text_json(const char *s);

/* Reads an answer that has to have these parts; only members that are read are set. 0; or 1, it
 * refuses, and why; or -1 and what is wrong with it. Reasons are one line. */
int editanswer_read(
    const char *json, size_t n, unsigned parts, struct editanswer *out, struct err *why);

#endif
