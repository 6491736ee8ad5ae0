/*
 * The socket of the monitors: accepts connections, checks who is there,
 * cuts the stream into frames and hands whole batches on. An ACK goes out
 * only after the batch's transaction is committed and on the disk. A batch of 2^48 samples or
 * more is no batch. A connection that sends
 * garbage, is silent within a frame for too long or sends more than a frame
 * may hold is closed with one line in the log, and nothing else changes.
 */
#ifndef MORPH_MANAGERD_INGEST_H
#define MORPH_MANAGERD_INGEST_H

#include "common/err.h"
#include "common/wire/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum { INGEST_MAX_CLIENTS = 16, INGEST_MAX_TAKEN_BITS = 48, INGEST_HOLD_MS = 1000 };

struct ingest;

struct ingest_ops {
	/*
	 * Merges one batch of a monitor that said hello h; both die after the
	 * call, and the registers of the batch are wiped. It need not be stored
	 * before commit(), which follows as soon as what has arrived is taken:
	 * several batches that wait are one transaction. Returns 0, or -1 when
	 * it failed, and with it all since the last commit: the connection is
	 * closed and the monitor sends them again later. 1: not yet; nothing was
	 * taken of it, it stays with the client, who is not read from, and is
	 * offered again by ingest_resume() and after INGEST_HOLD_MS, from when on
	 * over is true: nothing more is to be waited for.
	 */
	int (*batch)(void *arg, const struct wire_hello *h, const struct wire_batch *b, bool over,
	    struct err *e);
	int (*commit)(void *arg, struct err *e);
	/* A descriptor whose fdatasync() makes what was committed outlast a crash of the
	 * machine; NULL, or -1 = nothing does. Synced in the pool, before the ACK. */
	int (*log)(void *arg);
	void *arg;
};

struct ingest_status {
	bool connected;
	struct wire_hello hello; /* of the last monitor that said hello; session 0 = none yet */
	int64_t last_batch_ms;   /* 0 = none yet */
};

/*
 * fd: listening socket. Peers must run as root, as the manager's own user, or
 * as extra_uid (-1 = nobody else).
 */
struct ingest *ingest_start(
    uv_loop_t *loop, int fd, int64_t extra_uid, const struct ingest_ops *ops, struct err *e);
/* Closes all; memory goes when the loop has run the closing callbacks. */
void ingest_stop(struct ingest *in);
/* Offers the batches that were not taken yet again. Not from within batch(). */
void ingest_resume(struct ingest *in);
/* Tells all monitors, those that come later too, whose registers are wanted. */
void ingest_want(struct ingest *in, const struct wire_want *w);
/* … and the ends of whose processes they shall report. */
void ingest_watch(struct ingest *in, const struct wire_want *w);
/* … and while whose processes run they shall count cycles. */
void ingest_cycles(struct ingest *in, const struct wire_want *w);
/* … and of what they shall take more samples. */
void ingest_boost(struct ingest *in, const struct wire_boost *b);
const struct ingest_status *ingest_status(const struct ingest *in);
bool ingest_uid_allowed(uid_t peer, uid_t self, int64_t extra_uid);

#endif
