/*
 * Registers of samples: whose are wanted, the replay tables that are made before any are,
 * and what the samples' registers come to.
 */
#ifndef MORPH_MANAGERD_REGISTERS_H
#define MORPH_MANAGERD_REGISTERS_H

#include "managerd/cycle/core.h"
#include "managerd/job/edit.h"
#include "managerd/samples/ingest.h"
#include "managerd/samples/observe.h"
#include "managerd/store/addresses.h"

struct registers {
	struct core *core;
	struct ingest *ingest; /* NULL = monitors cannot be told yet, or any more */
	struct turns turns;
	struct wire_want want;         /* what monitors were told; id is owned */
	struct observe_count observed; /* since the manager started */
	struct edit *job;              /* that makes a replay table, beside the work, or NULL */
	uint64_t module;               /* whose, … */
	struct build_id origin;        /* … of which program there, … */
	uint32_t uid;                  /* … and of which owner */
	void (*over)(void *arg);       /* after a job's end */
	void *arg;
};

struct place { /* where and when samples are merged */
	struct profile *now;
	struct origin *origin;
	const struct map_func *f;
	struct profile_func *pf; /* f's, NULL = the current program has it no more */
	struct decay at;
	double age;    /* weight of a sample of the batch's age … */
	double weight; /* … and of one of the module at hand: less where it was boosted */
};
void place_build(struct place *p, struct module *mod, const struct build *b);
/* Sets f and pf for a slot of the module; returns pf. */
struct profile_func *place_slot(struct place *p, uint32_t slot);

struct batch_module {       /* what a module of a batch was found to be */
	struct module *mod; /* NULL = not mapped */
	size_t build;       /* index in mod->builds.build */
	double weight;      /* of each of its samples, but for its age */
};

/* Adds the builds of a module's present program that have been seen to w, up to WIRE_WANT_MAX. */
void registers_add_builds(
    const struct store_module *row, const struct builds *builds, struct wire_want *w);
/* Tells the monitors when the builds that registers are wanted of are others
 * than before. */
void registers_want(struct registers *r);
/* Evaluates the registers of a batch whose modules were found as at[] says. Appends the calls that
 * they prove, and those that the batch's callers do: callees and callers are modules of the batch,
 * and callees after these as in struct wire_caller. */
void registers_take(struct registers *r, const struct wire_batch *b, const struct batch_module *at,
    struct place *p, struct address_calls *calls);
void registers_free(struct registers *r);

/* Starts the job for a replay table that is due, if none runs. It is short, and registers are
 * to be replayed while the machine is busy: it does not wait for idleness, and is not paused. */
void registers_table_turn(struct registers *r);

#endif
