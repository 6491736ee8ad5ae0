/*
 * What a profiler saw, of whatever tool, in one shape: readers (in/) make it, symbols/ names its
 * code, tables (show/) and writers (out/) read it. As in pprof's profile.proto, a sample leads to a
 * stack of locations, a location to a file and an offset in it and, once it is resolved, to the
 * functions inlined there. Pure.
 *
 * Things are named by their index in the arrays of struct recording, RECORDING_NONE where there is
 * none. Everything except samples is interned: equal things have one index. The recording owns
 * everything; strings are copied. Arrays move as they grow: keep indices, not pointers.
 */
#ifndef MORPH_REPORT_RECORDING_H
#define MORPH_REPORT_RECORDING_H

#include "common/elf/buildid.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORDING_NONE UINT32_MAX

enum recording_kind {
	RECORDING_ELF,    /* offsets are of the file */
	RECORDING_KERNEL, /* its modules too: offsets are addresses */
	RECORDING_ANON,   /* code in memory, of a JIT compiler: offsets are addresses in pid */
	RECORDING_NAMED   /* no code is known, only names (folded stacks): offsets are numbers
			     that the reader gives */
};

struct recording_file {
	enum recording_kind kind;
	const char *path;   /* as it was mapped: absolute, or "[kernel]", "[ext4]", "[vdso]" */
	struct build_id id; /* n = 0: not known */
	uint32_t pid;       /* of RECORDING_ANON, else 0 */
};

struct recording_function {
	const char *name;    /* as people read it, demangled */
	const char *linkage; /* as linkers do; the same where nothing is mangled */
	const char *source;  /* path of its source file; NULL = not known */
	uint32_t file;       /* that has its code, or RECORDING_NONE */
	uint64_t start;      /* offset of its first instruction in that file, as of locations;
				UINT64_MAX = not known. The same for all that is inlined */
	uint64_t size;       /* bytes, 0 = not known */
	uint32_t line;       /* of its definition, 0 = not known */
};

/* A level of source code at a location. */
struct recording_frame {
	uint32_t function;
	uint32_t line;          /* being executed there, 0 = not known */
	uint32_t discriminator; /* DWARF's, 0 = none */
};

struct recording_location {
	uint32_t file;
	uint64_t offset; /* of the instruction. Of a caller some byte of its call instruction:
			    readers of return addresses take 1 off */
	bool resolved;   /* the frames are what there is to know */
	uint32_t frame, nframe; /* in frame[]: what was inlined first, the function itself last */
};

struct recording_stack {
	uint32_t caller;   /* another stack, or RECORDING_NONE */
	uint32_t location; /* where it is in this one */
};

struct recording_task {
	uint32_t pid, tid; /* tid 0: of all threads of it */
	const char *comm;  /* "" = not known */
};

struct recording_event {
	const char *name; /* "cpu-clock", "cycles", … */
	const char *unit; /* of periods: "ns", "cycles", "count" */
};

struct recording_sample {
	uint32_t event, task, stack; /* task and stack may be RECORDING_NONE */
	uint64_t time_ns;            /* of the recording's clock; 0 = not known */
	uint64_t n;                  /* samples, > 0 */
	uint64_t period;             /* of all n together, in the event's unit */
};

/* Branches taken, from branch records, calls and returns among them. */
struct recording_branch {
	uint32_t from; /* location of the branch instruction, or RECORDING_NONE */
	uint32_t to;   /* … of its target, or RECORDING_NONE */
	uint64_t n, mispredicted;
};

/* Straight-line code that was executed: from its first to its last instruction. */
struct recording_range {
	uint32_t from, to; /* locations, of one file */
	uint64_t n;
};

/* Of partial chains: that the function at a location, whose call had not returned, was itself
 * called from another one, in samples of so much in the event's unit. */
struct recording_waiting {
	uint32_t caller, callee; /* locations of calls */
	double period;
};

/* Code that has a name where its file gives it none, or is gone; in any order, some twice. */
struct recording_piece {
	uint32_t file;
	uint64_t start, size; /* offset in it, and bytes */
	const char *linkage;  /* the function's name as linkers write it */
};

struct recording {
	VEC(struct recording_file) file;
	VEC(struct recording_function) function;
	VEC(struct recording_frame) frame;
	VEC(struct recording_location) location;
	VEC(struct recording_stack) stack;
	VEC(struct recording_task) task;
	VEC(struct recording_event) event;
	VEC(struct recording_sample) sample;
	VEC(struct recording_branch) branch;
	VEC(struct recording_range) range;
	VEC(struct recording_waiting) waiting;
	VEC(struct recording_piece) piece;
	uint64_t lost;     /* samples that the tool knows it missed */
	bool partial;      /* a stack has the nearest caller that is known, not all of them */
	struct htab index; /* recording.c's */
	struct arena mem;  /* owns the strings */
};

/* A zero-filled struct is an empty recording. */
void recording_free(struct recording *r);

/* Each returns the index of that thing, added where it is new. */
uint32_t recording_file(struct recording *r, enum recording_kind kind, const char *path,
    const struct build_id *id, uint32_t pid);
uint32_t recording_location(struct recording *r, uint32_t file, uint64_t offset);
uint32_t recording_stack(struct recording *r, uint32_t caller, uint32_t location);
uint32_t recording_task(struct recording *r, uint32_t pid, uint32_t tid, const char *comm);
uint32_t recording_event(struct recording *r, const char *name, const char *unit);
/* Strings are copied; f->name is not NULL. */
uint32_t recording_function(struct recording *r, const struct recording_function *f);

void recording_sample(struct recording *r, const struct recording_sample *s);
/* Add up with those there are of the same locations. */
void recording_branch(
    struct recording *r, uint32_t from, uint32_t to, uint64_t n, uint64_t mispredicted);
void recording_range(struct recording *r, uint32_t from, uint32_t to, uint64_t n);

/* The name is copied. */
void recording_piece(
    struct recording *r, uint32_t file, uint64_t start, uint64_t size, const char *linkage);

/* Says what is at a location, n levels from the innermost inlined one; n = 0: nothing is known. */
void recording_resolve(
    struct recording *r, uint32_t location, const struct recording_frame *frame, uint32_t n);

/* A new build-id of a file becomes known; indices stay. */
void recording_identify(struct recording *r, uint32_t file, const struct build_id *id);

/* Samples of one (event, task, stack) become one each, without a time. */
void recording_sum(struct recording *r);

#endif
