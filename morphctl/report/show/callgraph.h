/*
 * Who called it: functions and the time that each spent on behalf of each caller. Pure.
 *
 * Of sampled call chains the time of an arc is that of the samples that have it, each once, as long
 * as the caller was waiting for the callee. Where only numbers of calls are known, a function's
 * time is divided among its callers by these (Graham, Kessler and McKusick: gprof, SIGPLAN '82,
 * section 4): functions that call one another are a cycle, which has its time as one. Where chains
 * end at the nearest caller that is known (struct recording, partial), samples take the place of
 * these numbers (Appel, Duba and MacQueen: "Profiling in the presence of optimization and garbage
 * collection", 1988). Of a file whose own code is never a caller only what has one is divided:
 * other programs use it, too.
 */
#ifndef MORPH_REPORT_CALLGRAPH_H
#define MORPH_REPORT_CALLGRAPH_H

#include "morphctl/report/recording/recording.h"
#include "morphctl/report/show/builds.h"

struct callgraph_node {
	uint32_t file, function; /* of the recording; function may be RECORDING_NONE */
	double self, total;      /* in the event's unit; total with all that it called */
	double apart;            /* of self: that no caller is charged with */
	uint32_t cycle;          /* > 0: of the cycle of that number */
};

struct callgraph_arc {
	uint32_t caller, callee; /* nodes */
	double calls;            /* NAN = not known */
	double time;             /* of the callee, and what it called, for this caller */
};

struct callgraph {
	VEC(struct callgraph_node)
	node; /* with most in total first, once callgraph_end() was called */
	VEC(struct callgraph_arc) arc; /* by caller, then callee, each once */
	double sum;                    /* of all self */
	struct builds builds;          /* of the recording that it is made from */
	struct htab index;             /* callgraph.c's */
};

/* The node of a function, made where there is none. */
uint32_t callgraph_node(struct callgraph *g, uint32_t file, uint32_t function);
/* Adds calls and time to an arc. */
void callgraph_arc(
    struct callgraph *g, uint32_t caller, uint32_t callee, double calls, double time);
/* Each of these once, with an empty graph. From the call chains of an event's samples. */
void callgraph_of_chains(struct callgraph *g, const struct recording *r, uint32_t event);
/* From an event's samples and the branches that are calls: those from another function to the
 * begin of one. Divides time by them, too. */
void callgraph_of_calls(struct callgraph *g, const struct recording *r, uint32_t event);
/* From an event's samples and the nearest callers of some, and from the branches that are calls. */
void callgraph_of_callers(struct callgraph *g, const struct recording *r, uint32_t event);
/* From self and calls: time of arcs, and total. */
void callgraph_propagate(struct callgraph *g);
/* Sorts. Nodes have other numbers from here on. */
void callgraph_end(struct callgraph *g);
void callgraph_free(struct callgraph *g);

#endif
