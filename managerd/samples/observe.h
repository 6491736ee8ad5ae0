/*
 * From a sample's registers to branch outcomes ahead of it, the predecessor by
 * which its block was entered, and the call site of its function; and whether a call ends at a
 * return address. Joins the map
 * of the build that ran (managerd/samples/map.h), the micro-operations of its
 * program (common/uops.h) and register replay (managerd/replay/). Pure; keeps no
 * register.
 */
#ifndef MORPH_MANAGERD_OBSERVE_H
#define MORPH_MANAGERD_OBSERVE_H

#include "common/uops.h"
#include "common/wire/wire.h"
#include "managerd/samples/map.h"
#include "managerd/samples/pairs.h"
#include "managerd/samples/weight.h"

struct observe_count {
	uint64_t samples;      /* that came with registers */
	uint64_t unsent;       /* that the monitor had to leave out */
	uint64_t placed;       /* of samples: at an instruction of the table */
	uint64_t own;          /* of placed: resolve the branch of their own block */
	uint64_t outcomes;     /* of branches, of all */
	uint64_t callers;      /* call sites, of all */
	uint64_t joins;        /* of placed: in a block with several predecessors … */
	uint64_t predecessors; /* … of which one is resolved */
	uint64_t charged;      /* samples of other code that a call site was found for … */
	uint64_t uncharged;    /* … and those of which no word is the return address of a call */
};

struct observed_call {
	bool waiting;     /* the address is such a site itself, of a sample in what it called */
	uint64_t address; /* of the sample */
	uint64_t site;    /* the last byte of the call that its function is to return to, or, where
			     other code called that, the one that this code is to return to */
};

struct observer {
	const struct map *map; /* of the build that ran */
	const struct map_table *table;
	const struct uops *uops;
	const uint32_t *uops_func; /* observe_link() */
	const uint32_t *closed;    /* observe_closed() */
	size_t nclosed;
	struct weights *weights;   /* NULL = all weigh the same */
	struct pairs edge;         /* slot of a block, slot of the one it went on to; in
				      units of 1 / WEIGHT_ONE */
	struct pairs predecessors; /* slot of a block, slot of the one before it, or
				      UINT32_MAX where several may have been */
	struct pairs call;         /* slot of the calling block, index of the called function */
	VEC(struct observed_call) site; /* offsets in the file, of samples */
	struct observe_count count;
};

/* For each function of the table its index in u, where both have as many blocks,
 * else UOPS_NONE; then, for each function of u, the reverse. An array to free. */
uint32_t *observe_link(const struct map_table *t, const struct uops *u);
/*
 * uops_callee() of names whose functions are all known and left by returning alone, ascending, each
 * once, to free. Code of other files is never reached through these: while such a function runs it,
 * a return address into this function comes first. link: as observe_link() gives it.
 */
uint32_t *observe_closed(
    const struct map_table *t, const struct uops *u, const uint32_t *link, size_t *n);
void observe(struct observer *o, const struct wire_regs *r);
/* Whether the instruction before an offset of the file may have called code of another file. Words
 * that an earlier call left on the stack are refused by this, unless they come from such a call. */
bool observe_calls_out(const struct observer *o, uint64_t offset);
bool observe_is_return(const struct observer *o, uint64_t offset);
/* Whether the instruction before an offset may have called, by others that are left by a jump
 * perhaps, the function that code of `of` before another offset is in. Of code that the table does
 * not know anything is believed. */
bool observe_may_call(
    const struct observer *o, uint64_t offset, const struct observer *of, uint64_t callee);
/* Which word of the stack is the return address of the function that the return address at a word
 * leads to; false: not known. */
bool observe_next_word(const struct observer *o, uint64_t offset, uint32_t word, uint32_t *next);

/* Of code that other code than its own has called, the return address that it goes back to: the
 * first one of a call that may have left the program, with its callers above it on the stack up to
 * other code, or to where nothing is known; what earlier calls left on the stack has none. NULL:
 * there is none. o: of each module of the batch. */
const struct wire_site *observe_site(const struct observer *o, const struct wire_caller *c);

#endif
