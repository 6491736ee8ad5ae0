/*
 * The conversation with the manager over its Unix socket: HELLO, then one
 * envelope at a time, each kept until its ACK. While the manager is away envelopes
 * wait in the spool, in order, and connecting is tried again after 0.25 s and
 * ever longer up to 15 s. A connection serves one session: envelopes of an
 * earlier run get one of their own.
 *
 * Registers go with an envelope that can be sent at once, once; an envelope that has
 * to wait loses them. What the manager wants of them, and the builds it
 * watches, hold while the connection does.
 *
 * An envelope on which the manager hangs up UPLINK_TRIES times is given up and
 * counted as lost. Times are CLOCK_MONOTONIC in ns.
 */
#ifndef MORPH_UPLINK_H
#define MORPH_UPLINK_H

#include "common/hash.h"
#include "monitor-client/uplink/envelope.h"
#include "monitor-client/uplink/spool.h"

#include <poll.h>
#include <stdbool.h>

enum { UPLINK_TRIES = 8 };

struct uplink {
	const char *path;
	struct wire_hello hello; /* of this run */
	struct spool *spool;     /* NULL: an envelope that cannot wait in `now` is lost */
	int fd;                  /* -1: not connected */
	bool greeted;            /* a HELLO of `session` was queued on this connection */
	uint64_t session;
	struct envelope now; /* being delivered */
	bool busy, spooled;  /* there is one; it is the spool's first */
	struct buf out, in;
	size_t sent;                    /* of out */
	uint64_t deadline, retry, wait; /* for the ACK; next attempt; its back-off */
	struct {
		uint64_t session, seq;
		unsigned n;
	} refused;
	uint64_t lost, delivered; /* samples lost until taken; envelopes */
	uint64_t runs_lost;       /* runs in lost envelopes, until taken */
	uint64_t regs_lost;       /* samples whose registers were not sent, until taken */
	struct htab want;         /* build-ids the manager wants registers of, by its bytes */
	struct wire_boost boost;  /* of which builds it wants more samples; owned */
	struct htab watch;        /* build-ids of whose processes it wants the ends, likewise */
	struct htab cycles;       /* … and the cycles */
	bool secret;              /* out holds registers */
	bool complained;          /* that the manager is away */
};

void uplink_init(
    struct uplink *u, const char *path, const struct wire_hello *hello, struct spool *spool);
/* Parks what is not delivered in the spool. */
void uplink_close(struct uplink *u);

/* Takes the envelope over. Without a spool: only while uplink_idle(). */
void uplink_offer(struct uplink *u, struct envelope *l);
/* Gives up the envelope at hand without counting it. */
void uplink_forget(struct uplink *u);
/* Nothing is under way or waits. */
bool uplink_idle(const struct uplink *u);
/* Goes on as far as it can without waiting. */
void uplink_step(struct uplink *u, uint64_t now);
/* What to poll for (fd -1: nothing), and when to step at the latest. */
struct pollfd uplink_poll(const struct uplink *u);
uint64_t uplink_wake(const struct uplink *u);
/* Delivers what there is, as long as the manager takes it and until `patience`
 * passes without progress. Connects once more at once. */
void uplink_finish(struct uplink *u, uint64_t patience);
/* Samples, and runs, lost here and in the spool since the last call. */
uint64_t uplink_take_lost(struct uplink *u);
uint64_t uplink_take_runs_lost(struct uplink *u);
uint64_t uplink_take_regs_lost(struct uplink *u);
/* Whether registers of a build are wanted, or of any (NULL). */
bool uplink_wants(const struct uplink *u, const struct build_id *id);
/* Likewise the ends of a build's processes. */
bool uplink_watches(const struct uplink *u, const struct build_id *id);
/* Likewise what the CPU's counters say of them. */
bool uplink_counts(const struct uplink *u, const struct build_id *id);
/* Of which builds more samples are wanted; until the next step. */
const struct wire_boost *uplink_boost(const struct uplink *u);

#endif
