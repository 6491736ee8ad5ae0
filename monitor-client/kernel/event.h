/*
 * What the kernel reported, in the monitor's own shape. Made by ring.c from
 * perf records, put in order by order.c, consumed by maps.c and batch.c.
 */
#ifndef MORPH_EVENT_H
#define MORPH_EVENT_H

#include "common/wire/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EV_SAMPLE,
	EV_MAP,  /* an executable mapping appeared (mmap, mprotect) */
	EV_FORK, /* a new process, not a thread */
	EV_EXIT, /* the last word of a process (its first thread ended) */
	EV_EXEC, /* all mappings are gone; new ones follow as EV_MAP */
	EV_ARGS, /* the arguments of the exec before */
	EV_USED, /* a thread that ends has used CPU time on one CPU; each such comes by itself */
	EV_NS,   /* the namespaces of a task: a new one, or after it changed them */
};

enum sample_mode {
	MODE_USER,   /* ip is the user's instruction */
	MODE_KERNEL, /* a system call, an interrupt's work or a kernel thread; ip is an address in
			the kernel, or else it is not known where */
	MODE_OTHER,  /* neither: a guest of this machine */
};

enum { EVENT_WORDS = WIRE_SITE_WORDS }; /* of a stack */

/* A program's registers and the top of its stack; whoever holds them wipes
 * them. Of a copy only event_regs_size() bytes need be there. */
struct event_regs {
	uint64_t gpr[WIRE_GPRS]; /* as in struct wire_regs */
	uint64_t ip; /* a byte of the program's instruction: in a system call the last one */
	uint32_t flags;
	uint32_t nword;
	uint64_t word[EVENT_WORDS]; /* from rsp upwards */
};

static inline size_t event_regs_size(const struct event_regs *r)
{
	return offsetof(struct event_regs, word) + r->nword * sizeof *r->word;
}

struct event_map {
	uint64_t start, end, pgoff; /* addresses; offset of start in the file */
	uint64_t ino, gen;          /* 0 when the record carried a build-id instead */
	uint32_t maj, min;
	struct build_id id; /* n = 0: not known */
	char *path;         /* as the task saw it; order.c owns and frees it */
};

/* Where a task sees its files: inodes of its mount and user namespaces. */
struct event_ns {
	uint64_t mnt, user;
};

struct event {
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	enum event_kind kind;
	uint32_t pid, tid;
	union {
		struct {
			uint64_t ip;
			enum sample_mode mode;
			struct event_regs *regs; /* the program's, in kernel mode too; NULL = none;
						    order.c owns and frees them */
			bool extra; /* of source_boost(), not of the time that all have */
		} sample;
		struct event_map map;
		struct event_ns ns;
		uint64_t args;   /* EV_ARGS: their shape (cmdline.h) */
		uint32_t parent; /* EV_FORK: pid whose mappings the new one has */
		char comm[16];   /* EV_EXEC: its new name */
		uint64_t cpu_ns; /* EV_USED */
	};
};

typedef void event_fn(const struct event *ev, void *arg);

#endif
