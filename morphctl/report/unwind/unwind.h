/*
 * Copied stacks to call chains: the registers of a sample and the memory above its stack pointer,
 * unwound by the call frame information of the files that are mapped there (.eh_frame, or
 * .debug_frame in the file itself), and by frame pointers where there is none. Of x86-64.
 *
 * By elfutils' libdwfl, which knows processes and their threads: here each sample is a thread of
 * its process. What libdwfl has read for a process is kept for its next samples, and read again
 * once something else is mapped in the place of a file.
 *
 * All that it reads may be hostile, and libdwfl is trusted with it in a confined child alone
 * (confined.h). It opens nothing.
 */
#ifndef MORPH_REPORT_UNWIND_H
#define MORPH_REPORT_UNWIND_H

#include "common/elf/buildid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	UNWIND_RBX = 3, /* registers have DWARF's numbers */
	UNWIND_RBP = 6,
	UNWIND_RSP = 7,
	UNWIND_RIP = 16,
	UNWIND_REGS,
	UNWIND_MAX = 4096 /* addresses of a chain */
};

/* A file, in memory that outlives the unwinder. One of another build than id is not used; id.n = 0:
 * any. */
struct unwind_image {
	const uint8_t *p;
	size_t n;
	struct build_id id;
};

struct unwind_stack {
	uint32_t space; /* whose: the same number, the same process */
	uint32_t known; /* a bit for each register */
	uint64_t reg[UNWIND_REGS];
	const uint8_t *p; /* n bytes of memory from rsp upwards */
	size_t n;
	/* The image that is mapped at an address, and the offset in it; false: nothing is mapped.
	 */
	bool (*find)(void *arg, uint64_t addr, uint32_t *image, uint64_t *offset);
	void *arg;
};

struct unwind;

struct unwind *unwind_open(const struct unwind_image *image, size_t n);
/* Addresses of instructions, innermost first, to be used before the next call: of callers, some
 * byte of the call. As many as are known, at least one where rip is; of callers only what is
 * mapped.
 */
size_t unwind_chain(struct unwind *u, const struct unwind_stack *s, const uint64_t **addr);
void unwind_close(struct unwind *u);

#endif
