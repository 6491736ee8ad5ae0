/*
 * Unwind information (.eh_frame) in a linked file: its records. A strict, bounded reader of what
 * compilers and linkers write. Format: Linux Standard Base 5, "Exception Frames", and DWARF 4, 6.4.
 */
#ifndef MORPH_EHFRAME_H
#define MORPH_EHFRAME_H

#include <stdbool.h>
#include <stdint.h>

/* What functions have in common. */
struct eh_cie {
	uint64_t at;              /* address of the record */
	uint64_t code_align;      /* of advances, in bytes */
	int64_t data_align;       /* of offsets */
	uint64_t return_register; /* DWARF's number */
	uint8_t code, lsda;       /* encodings (DW_EH_PE_*) of addresses in FDEs */
	uint8_t personality_encoding;
	bool augmented;       /* FDEs have a length of such data */
	bool signal;          /* the frame of a signal handler's caller */
	uint64_t personality; /* as eh_value_read() has it; 0 = none */
	const uint8_t *insn, *end;
};

/* One function. */
struct eh_fde {
	struct eh_cie cie;
	uint64_t at;                 /* address of the record */
	uint64_t pc, size;           /* of the code */
	uint64_t rest_at, rest;      /* of the record after that: address, bytes */
	uint64_t lsda_at, lsda_size; /* the field that names its exception table; size 0: none */
	uint64_t lsda;               /* address of that table; 0 = none */
	const uint8_t *insn, *end;   /* DW_CFA_* of its own */
};

/* A section .eh_frame. */
struct eh_frames {
	const uint8_t *p;
	uint64_t size, addr;
	uint64_t next; /* offset */
};
/* The next function's record, in their order; zero records (ends of crtend.o's) are passed over.
 * 1, 0 at the end, -1: not made of records of a form that is known. */
int eh_frames_next(struct eh_frames *s, struct eh_fde *f);

#endif
