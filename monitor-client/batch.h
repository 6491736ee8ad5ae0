/*
 * Sums samples between two flushes: (path, build-id, uid, file offset) -> count,
 * and the counts that have no place. A copy elsewhere with the same build-id is
 * another module: its samples must not count for the first one's path. Every sample taken is in
 * exactly one of modules, kernel, outside and dropped, so that the batch adds up
 * (common/wire/wire.h). Bounded: what exceeds BATCH_ENTRIES distinct offsets or
 * BATCH_PATHS bytes of paths is dropped and counted, which also keeps the
 * frame below WIRE_MAX_PAYLOAD. These bytes are shared by users (room.h).
 */
#ifndef MORPH_BATCH_H
#define MORPH_BATCH_H

#include "common/hash.h"
#include "common/mem.h"
#include "common/wire/wire.h"
#include "monitor-client/callers.h"
#include "monitor-client/elsewhere.h"
#include "monitor-client/regs.h"

enum { BATCH_ENTRIES = 1 << 18, BATCH_PATHS = 4 << 20 };

struct batch_entry {
	uint32_t module; /* index into module[] */
	uint64_t offset, count, extra;
};

struct batch {
	uint64_t taken, kernel, outside, dropped;
	struct htab index;              /* uid, path and build-id -> index of the module */
	struct room paths;              /* bytes of them */
	VEC(struct wire_module) module; /* paths are owned */
	VEC(struct batch_entry) entry;  /* [0, sorted) ascending, once each */
	size_t sorted;
	struct build_id run_build[WIRE_RUN_BUILDS_MAX];
	uint32_t nrun_build;
	VEC(struct wire_run) run; /* at most WIRE_RUNS_MAX */
	uint64_t runs_unsent;
	struct wire_use use[WIRE_RUN_BUILDS_MAX]; /* filled before each flush */
	uint32_t nuse;
	uint64_t plain, extra;       /* in user mode, of whatever program: counted by the caller */
	struct regs regs;            /* their modules are indices into module[] */
	struct elsewheres elsewhere; /* of what is in kernel and outside */
	struct callers caller;       /* of samples that are counted where they fell */
	uint64_t start_ns;           /* CLOCK_REALTIME of the last flush */
};

/* Returns the index of the place's module, -1 when the sample was dropped. */
int64_t batch_place(struct batch *b, const struct place *at);
/* Of a boosted build: no part of what adds up. -1: there is no room for it. */
int64_t batch_extra(struct batch *b, const struct place *at);
/* A sample that was counted at an address of callee (callers.h) was called from one of these. */
void batch_caller(
    struct batch *b, uint32_t callee, uint64_t address, const struct callers_sites *from);
void batch_kernel(struct batch *b);
void batch_outside(struct batch *b);
/* n samples are known to be lost. */
void batch_dropped(struct batch *b, uint64_t n);
/* A run of a build; r->build is filled. It takes no part in what adds up. What exceeds the bounds
 * of wire.h is counted in runs_unsent. */
void batch_run(struct batch *b, const struct build_id *id, const struct wire_run *r);

/*
 * Appends the frame of what was summed to out, empties the batch and returns
 * how many samples it took. end_ns: CLOCK_REALTIME, the next one's start. Without
 * samples, runs and uses nothing is appended. Where there are registers, secret gets the
 * same frame with them (NULL: they are dropped), if it is not too long.
 */
uint64_t batch_flush(struct batch *b, uint64_t session, uint64_t seq, uint64_t end_ns,
    struct buf *out, struct buf *secret);
void batch_free(struct batch *b);

#endif
