/*
 * The file with new code in it: the original's bytes at their offsets, but for the ELF header, the
 * program headers, the build-id, jumps at the entries of functions and words of the relocation
 * tables and dynamic symbols that lead to new code; the new segment; what is not loaded; section
 * headers of all. Pure.
 *
 * New sections are .text.morph, .rodata.morph, .gcc_except_table.morph, .eh_frame.morph, and
 * .eh_frame_hdr, which indexes the old and the new records; a section of such a name that was there
 * is NAME.original from now on. As debuggers know one section .eh_frame, they find the frames of
 * new code in .debug_frame.
 */
#ifndef MORPH_APPEND_SPLICE_H
#define MORPH_APPEND_SPLICE_H

#include "editor-driver/append/place.h"

struct splice_section {
	const char *name;
	uint32_t type;
	uint64_t flags, align;
	uint64_t addr;    /* of what is loaded (SHF_ALLOC) */
	const uint8_t *p; /* of what is not */
	uint64_t n;       /* bytes */
};

struct splice_symbol {
	const char *name;
	uint64_t addr, size;
	size_t section; /* of section[] below */
};

/* A function whose entry becomes a jump. */
struct splice_jump {
	uint64_t from, to;
	uint64_t size; /* bytes of the old body from its entry on, in one piece */
};

/* A word of the original, mostly of its relocation tables, that leads to new code. */
struct splice_word {
	uint64_t at, to;
};

struct splice_code {
	struct buf code; /* what is loaded, from place.code on */
	VEC(struct splice_section) section;
	VEC(struct splice_symbol) symbol; /* for a .symtab, where there is one; ascending */
	VEC(struct splice_jump) jump;
	VEC(struct splice_word) word;
	struct eh_frames frames; /* in it */
};

/* Appends the file to out; figures out the sizes that w lacks. */
int splice_make(const struct original *o, struct place *w, const struct splice_code *c,
    struct buf *out, struct err *e);

#endif
