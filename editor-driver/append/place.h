/*
 * Where the new segment goes, in memory and in the file, and the program headers with it.
 *
 * It comes after all others in memory, so what was loaded keeps its addresses. It needs a program
 * header: in the place of a PT_NOTE that says only what PT_GNU_PROPERTY says as well, or else the
 * table moves to the begin of the new segment. Then the segment's distance from its place in the
 * file is that of the first one: Linux before 5.18, and static programs, look for the table there.
 */
#ifndef MORPH_APPEND_PLACE_H
#define MORPH_APPEND_PLACE_H

#include "editor-driver/append/original.h"

struct place {
	uint64_t addr, offset;   /* of the new segment */
	uint64_t code;           /* address of what is added to it, aligned to lines */
	bool moved;              /* the program headers are at its begin */
	VEC(Elf64_Phdr) segment; /* all; the sizes of those that are new are not set */
	size_t load, index;      /* of segment[]: the new one, PT_GNU_EH_FRAME */
};

/* Free it in any case. */
int place_find(const struct original *o, struct place *w, struct err *e);
void place_free(struct place *w);

#endif
