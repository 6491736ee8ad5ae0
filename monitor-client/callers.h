/*
 * Sums who called code of no wanted build (common/wire/wire.h), until the batch is sent off: of a
 * sample's registers and stack only offsets of code of wanted builds are kept, and which words are
 * other code. What finds no room here is missing from no sum. Bounded, and the room is shared by
 * users (room.h).
 */
#ifndef MORPH_CALLERS_H
#define MORPH_CALLERS_H

#include "monitor-client/maps/maps.h"
#include "monitor-client/room.h"

enum { CALLERS_BYTES = 4 << 20 }; /* of the frame */

struct callers_sites {
	struct place at[WIRE_SITES]; /* live as long as a place does; id = NULL: other code */
	uint32_t word[WIRE_SITES];   /* of the stack, where they were found */
	uint32_t n, looked;          /* words of the stack */
	bool direct;
};

/* Where a sample with registers was called from, that fell in no wanted build. */
void callers_sites(struct callers_sites *to, struct maps *m, const struct event *sample,
    bool (*wanted)(const struct build_id *id, void *arg), void *arg);

/* Callees until the batch is sent: below CALLEE_ELSEWHERE a module, else CALLEE_ELSEWHERE + a place
 * elsewhere, CALLEE_KERNEL: the kernel, where its address is not known. */
enum { CALLEE_ELSEWHERE = 1 << 30, CALLEE_KERNEL = INT32_MAX };

struct callers {
	struct htab index;             /* hash of everything except the count -> index */
	VEC(struct wire_caller) entry; /* each once */
	struct arena mem;              /* their sites */
	struct room room;
};

/* A sample; c says where it fell, and from where it was called. Its sites are copied. */
void callers_add(struct callers *g, uint32_t uid, const struct wire_caller *c);
/* Sorts them; callees and modules of sites are what wire.h says. rename: the new index of each
 * module, of nmodule that there are now. */
void callers_fill(struct callers *g, const uint32_t *rename, uint32_t nmodule, uint32_t nelsewhere);
void callers_clear(struct callers *g);
void callers_free(struct callers *g);

#endif
