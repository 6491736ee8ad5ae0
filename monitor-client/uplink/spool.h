/*
 * Envelopes that wait for the manager, one file each, in a folder of mode 0700.
 * Names sort by time: "START-SESSION-SEQ.batch", 16 hex digits each. Bounded
 * in bytes: the oldest go first, and their samples are counted as lost. Files
 * of earlier runs are found at open and delivered first. A file that cannot be
 * read is removed with a warning.
 */
#ifndef MORPH_SPOOL_H
#define MORPH_SPOOL_H

#include "common/err.h"
#include "common/mem.h"
#include "monitor-client/uplink/envelope.h"

#include <stdbool.h>
#include <stdint.h>

struct spool_file {
	char *name;
	uint64_t size;
};

struct spool {
	char *dir;
	uint64_t max, bytes;         /* on disk */
	VEC(struct spool_file) file; /* [first, n) by name */
	size_t first;
	uint64_t lost, runs_lost; /* samples and runs in envelopes dropped for room, until taken */
};

/* Makes the folder and reads what is there. */
int spool_open(struct spool *s, const char *dir, uint64_t max_bytes, struct err *e);
/* Keeps an envelope; room is made by dropping the oldest. On error it is kept
 * nowhere. */
int spool_add(struct spool *s, const struct envelope *l, struct err *e);
bool spool_empty(const struct spool *s);
/* The oldest. Returns 0, or -1 when there is none. */
int spool_first(struct spool *s, struct envelope *l);
/* It was delivered. */
void spool_remove_first(struct spool *s);
/* Samples lost since the last call. */
uint64_t spool_take_lost(struct spool *s);
uint64_t spool_take_runs_lost(struct spool *s);
void spool_close(struct spool *s);

#endif
