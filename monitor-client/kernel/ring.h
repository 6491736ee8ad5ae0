/*
 * One perf ring buffer (perf_event_open(2), "MMAP layout") and the records in
 * it. Reading: data_head with acquire, data_tail with release; records are
 * copied out whole. They come from the kernel and are still checked: a length
 * that makes no sense empties the ring and is reported.
 */
#ifndef MORPH_RING_H
#define MORPH_RING_H

#include "common/err.h"
#include "monitor-client/kernel/callchain.h"
#include "monitor-client/kernel/event.h"

#include <stdbool.h>
#include <stddef.h>

struct perf_event_mmap_page;

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t size;            /* of data, a power of two */
	size_t mapped;          /* bytes to unmap, 0 = not ours */
	uint64_t tail;          /* what has been read */
	uint8_t *copy;          /* the record at hand, 64 KiB */
	bool full;              /* samples have all of RING_REGS_FULL and RING_STACK */
	struct event_regs regs; /* of the sample at hand */
	/* Its event asked for build-ids. Mappings of one that did not have none, though the kernel
	 * may say so (buildidleak.h). */
	bool build_ids;
	/* Ticks have a call chain, too, by which their kernel addresses are found; NULL: they have
	 * none, and no such address. */
	struct callchain *chain;
};

/* Maps the ring of fd: one control page and `pages` (a power of two) of data.
 * errno stays set on failure. */
int ring_open(struct ring *r, int fd, unsigned pages, struct err *e);
/* Over memory laid out like a ring: a page, then size bytes of data. */
void ring_attach(struct ring *r, void *base, size_t size);
void ring_close(struct ring *r);

/* What the samples of a ring look like. */
enum sample_shape {
	SHAPE_NONE,  /* no samples: side-band only */
	SHAPE_TICK,  /* TID | TIME | CALLCHAIN where the ring has them | REGS_USER; misc says
			nothing */
	SHAPE_CLOCK, /* IP and the same; misc says user or kernel mode */
	SHAPE_EXTRA, /* of a clock, in the form of SHAPE_TICK */
	SHAPE_EXEC,  /* TID | TIME | REGS_USER of RING_REGS_EXEC | STACK_USER of RING_STACK_EXEC */
};
/* sample_regs_user: the four that tell kernel from user mode, or all, which
 * come with STACK_USER of RING_STACK bytes. */
extern const uint64_t RING_REGS, RING_REGS_FULL, RING_REGS_EXEC;
/* Of a new program's stack the kernel leaves up to 8 KiB empty above the pointers. */
enum { RING_STACK = 8 * EVENT_WORDS, RING_STACK_EXEC = 16384 };

enum record_kind {
	REC_EVENT,    /* *ev is filled; its path and registers live until the next ring_next() */
	REC_THREAD,   /* a new thread of ev->pid, ev->tid */
	REC_LOST,     /* *lost records did not fit */
	REC_THROTTLE, /* the kernel paused the event */
	REC_BROKEN,   /* not a record: the ring was emptied */
	REC_SKIP,     /* nothing for us */
	REC_END,      /* the ring is empty */
};

/* The next record. The space of all that was read is given back to the kernel
 * by ring_release(). Of a full sample, and of an exec's, nothing stays but what the kernel's pages,
 * which only it may write, hold until it comes round to them. */
enum record_kind ring_next(
    struct ring *r, enum sample_shape shape, struct event *ev, uint64_t *lost);
void ring_release(struct ring *r);

#endif
