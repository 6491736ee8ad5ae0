/*
 * The manager, put together:
 *	core       what all parts work with; transactions
 *	batch      a batch of samples: ingest -> map -> merge -> store
 *	registers  samples' registers, and replay tables
 *	boosting   of which programs monitors take more samples
 *	coding     code maps for the API
 *	carrying   profiles of programs that change
 *	learning   inspections of files
 *	fetching   artifacts from servers
 *	lifting    artifacts of programs that have none, from their machine code
 *	changes    what people asked for
 *	trials     old and new builds that take turns
 *	services   … of services: the commands that count and restart
 *	judge      what the ladder needs to know
 *	steps      what is done for one module at a time
 *	record     what became of a file, into the store
 *	recording  what was seen, as a trace for a simulation
 * cycle.c has the round of a module, and whose turn it is; manager.c starts, stops, and
 * serves the API.
 */
#ifndef MORPH_MANAGERD_MANAGER_H
#define MORPH_MANAGERD_MANAGER_H

#include "managerd/cycle/batch.h"
#include "managerd/cycle/boosting.h"
#include "managerd/cycle/carrying.h"
#include "managerd/cycle/coding.h"
#include "managerd/cycle/fetching.h"
#include "managerd/cycle/lifting.h"
#include "managerd/cycle/looptime.h"
#include "managerd/cycle/services.h"
#include "managerd/cycle/steps.h"

struct manager {
	struct manager_options o;
	int64_t started_ms;
	struct core core;
	struct changes changes;
	struct learning learning;
	struct registers registers;
	struct boosting boosting;
	struct coding coding;
	struct carrying carrying;
	struct batches batches;
	struct fetching fetching;
	struct lifting lifting;
	struct trials trials;
	struct services services;
	struct recording recording;
	struct work work;
	struct turns turns; /* of modules that are due */
	struct looptime looptime;
	struct idlewatch *idle;
	uv_timer_t tick;
	uv_poll_t parent; /* ends of tasks */
	bool resting;     /* all handles are closed */
};

/* ---- cycle.c ---- */

/* Considers one module that is due; returns at once when one is worked on. */
void cycle_turn(struct manager *m);
void cycle_idle_changed(enum idle_state s, void *manager);

#endif
