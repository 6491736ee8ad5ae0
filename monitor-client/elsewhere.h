/*
 * Sums samples that no module has, by where they fell (common/wire/wire.h), until the batch is sent
 * off. They are counted as the kernel's or as outside beside that, so what finds no room here is
 * missing from no sum. Bounded, and the room is shared by users (room.h): ELSEWHERE_SAMPLES
 * distinct addresses, ELSEWHERE_NAMES bytes of places.
 */
#ifndef MORPH_ELSEWHERE_H
#define MORPH_ELSEWHERE_H

#include "monitor-client/maps/maps.h"
#include "monitor-client/room.h"

enum { ELSEWHERE_SAMPLES = 1 << 16, ELSEWHERE_NAMES = 1 << 18 };

struct elsewhere_entry {
	uint64_t address, count;
	uint32_t place; /* index into place[] */
};

struct elsewheres {
	struct htab places, entries;       /* what and where -> index */
	VEC(struct wire_elsewhere) place;  /* names are owned */
	VEC(struct elsewhere_entry) entry; /* each once */
	struct room names, samples;
};

/* Returns the index of its place, or -1 when it found no room. */
int64_t elsewheres_add(struct elsewheres *g, const struct elsewhere *at);
/* Gives every place its samples, of memory that the caller frees. */
struct wire_sample *elsewheres_fill(struct elsewheres *g);
void elsewheres_clear(struct elsewheres *g);
void elsewheres_free(struct elsewheres *g);

#endif
