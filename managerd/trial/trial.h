/*
 * Whether a new build takes less CPU time in use than the one before it: a randomised
 * switchback. The two take turns at the program's path, in pairs of turns whose order is
 * drawn; each process counts for the build that it began with. Pure: time and runs in,
 * numbers out.
 *
 * A service has no processes that end. There a window of time takes a process's place, and CPU time
 * per unit of work (windows.h) its CPU time; or cycles per instruction in user mode, where nothing
 * but the CPU counts. Where the service may be restarted, turns are as above. Else it has one
 * restart, whenever that comes: blocks of time before and after it are paired from there outwards,
 * the last one before with the first one after. That is no experiment: what else changed with the
 * restart counts as the layout's. What drifts makes pairs differ, the further out the more, and
 * whatever outlasts a block makes neighbouring pairs alike; the bounds are widened by both
 * (conclude()).
 *
 * What is compared is the logarithm of the CPU time of processes of one class of command
 * lines within one pair: mean of the new build minus mean of the old one. Classes weigh by
 * their CPU time and by how many runs there are on both sides. The variance is that between pairs,
 * so that noise which outlasts a process (a neighbour that wakes up, a CPU that slows down) counts
 * in full. The bounds are time-uniform: they hold at all looks together, however often somebody
 * looks (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas: "Time-uniform central limit theory and
 * asymptotic confidence sequences", theorem 2.2), with the spread widened for few pairs as
 * Student's t widens it.
 */
#ifndef MORPH_MANAGERD_TRIAL_H
#define MORPH_MANAGERD_TRIAL_H

#include "common/err.h"
#include "common/mem.h"
#include "common/wire/wire.h"
#include "managerd/trial/posterior.h"

#include <stdbool.h>
#include <stdint.h>

enum trial_kind {
	TRIAL_IN_USE,      /* by processes as they come */
	TRIAL_BY_COMMAND,  /* by a command that runs once in each turn */
	TRIAL_BY_RESTARTS, /* of a service, by its work: it is restarted with each turn */
	TRIAL_BY_RESTART,  /* … before and after the restart that comes by itself */
	TRIAL_KINDS
};

enum trial_arm { TRIAL_OLD, TRIAL_NEW, TRIAL_ARMS };

enum {
	TRIAL_TURN_RUNS = 4,  /* processes in a turn, and before the first pair, at least */
	TRIAL_RUNS_MIN = 100, /* of the new build in use, before it is called no worse: it may crash
				 now and then */
	TRIAL_PAIRS_MIN = 8,  /* before anything is said of CPU time */
	TRIAL_CLASSES_MAX = 256, /* further ones are one class */
	TRIAL_BLOCKS_MAX = 48    /* before the restart of a service; the last ones stay */
};

/* A gain is known well enough when its bounds are so near, or nearer than a third of it. */
#define TRIAL_NEAR 0.01
/* Less than this, either way, is worth nothing. */
#define TRIAL_WORTHLESS 0.005

struct trial_runs {          /* of services windows, but for crashes */
	uint64_t n, crashes; /* crashes: ended by a signal that says so (SIGSEGV, SIGABRT, …) */
	double cpu_s, work;  /* work: of services; by the CPU's counters 10^9 cycles, and
				instructions */
};

enum trial_trouble { /* why a service cannot be measured */
	TRIAL_FINE,
	TRIAL_STILL,     /* its counter does not move while it uses CPU time */
	TRIAL_BACK,      /* … goes back again and again */
	TRIAL_NO_NUMBER, /* … is no number */
	TRIAL_UNCOUNTED, /* its counter's command fails */
	TRIAL_UNSTARTED, /* what restarts it fails */
	TRIAL_TOO_SOON,  /* it was restarted before there were TRIAL_PAIRS_MIN blocks */
	TRIAL_NO_CYCLES, /* the CPU's counters cannot be read */
	TRIAL_TROUBLES
};

struct trial_turn {
	uint64_t start_ns; /* CLOCK_REALTIME, as in struct wire_run */
	enum trial_arm arm;
	uint32_t ended; /* processes that began in it and are over */
};

struct trial_cell { /* of one class in one pair */
	uint64_t class;
	uint32_t pair, n[TRIAL_ARMS];
	double log_sum[TRIAL_ARMS]; /* of the logarithms of ns */
};

enum { TRIAL_RECENT = 32 };

struct trial_class {
	uint64_t class, n;
	double cpu_s;
	struct trial_recent {
		double log[TRIAL_RECENT]; /* of the last runs */
		unsigned n;               /* of all times */
	} recent[TRIAL_ARMS];             /* not stored */
};

struct trial { /* zero-filled, then trial_begin() */
	enum trial_kind kind;
	uint64_t seed, began_ns;
	bool cycles; /* of a service, set after trial_begin(): by the CPU's counters */
	/* For posterior(), likewise: what the model counts of either build,
	 * and a number of the kind of processor it ran on. */
	struct posterior_terms terms[TRIAL_ARMS];
	uint64_t cpu;
	struct trial_runs runs[TRIAL_ARMS];
	enum trial_trouble trouble;
	VEC(struct trial_turn)
	turn; /* two a pair, or blocks of a service; empty: the new build is in place, and it is not
		 known yet whether it runs often enough */
	VEC(struct trial_cell) cell;
	VEC(struct trial_class) class;
};

/* The new build is in place. seed: random, draws the order in each pair. */
void trial_begin(struct trial *t, enum trial_kind kind, uint64_t seed, uint64_t now_ns);
void trial_free(struct trial *t);
/* The build that is in place. */
enum trial_arm trial_arm(const struct trial *t);
/* Whether it is a service's. */
bool trial_of_service(const struct trial *t);
/* Turns of the old build before the first of the new one. */
size_t trial_old_blocks(const struct trial *t);
/* A process of a build that has ended. Of a service only whether it crashed counts. */
void trial_add(struct trial *t, enum trial_arm arm, const struct wire_run *r);

struct trial_window { /* of time, in which one build of a service did all the work */
	enum trial_arm arm;
	uint64_t start_ns; /* CLOCK_REALTIME */
	double work;       /* > 0, by the service's counter, or instructions */
	uint64_t cpu_ns;   /* or cycles */
};
/* turn_s: of a block of time. */
void trial_add_window(struct trial *t, const struct trial_window *w, double turn_s);
/* Whether another turn is due: the present one has lasted turn_s and seen enough runs, or
 * 60 times as long and some. */
bool trial_due(const struct trial *t, uint64_t now_ns, double turn_s);
/* Which build the next turn is of. */
enum trial_arm trial_next(const struct trial *t);
/* The next turn has begun: its build is in place. */
void trial_turned(struct trial *t, uint64_t now_ns);

struct trial_estimate {
	unsigned pairs;         /* that are over and have runs of both */
	bool known;             /* the next three hold */
	double gain, low, high; /* share of CPU time that the new build saves; 95 % bounds */
};
struct trial_estimate trial_estimate(const struct trial *t);

enum trial_verdict {
	TRIAL_OPEN,    /* goes on */
	TRIAL_FASTER,  /* a gain, with confidence */
	TRIAL_EVEN,    /* none and no loss that is worth anything, or none found in so many runs */
	TRIAL_SLOWER,  /* a loss, with confidence */
	TRIAL_CRASHES, /* the new build crashes where the old one does not */
	TRIAL_VERDICTS
};
/* "open", "faster", "even", "slower", "crashes". */
const char *trial_verdict_name(enum trial_verdict v);
/* runs_max: of one of the builds, of a service turns of each, after which it ends in any case. */
enum trial_verdict trial_verdict(
    const struct trial *t, const struct trial_estimate *e, uint64_t runs_max);

/* For the store. Decoding checks everything; on -1 *t is empty. */
void trial_encode(const struct trial *t, struct buf *out);
int trial_decode(const void *p, size_t n, struct trial *t, struct err *e);

#endif
