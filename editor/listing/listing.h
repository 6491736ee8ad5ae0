/*
 * The text of a function by blocks, with the source lines that the compiler named (.loc). Pure.
 */
#ifndef MORPH_EDITOR_LISTING_H
#define MORPH_EDITOR_LISTING_H

#include "editor/unit.h"

#include <stdint.h>

struct listing_insn {
	const char *text; /* an instruction, data, or a line of inline assembly */
	const char *file; /* as .file names it; NULL: no line is known */
	uint32_t line;
};

struct listing_block {
	VEC(struct listing_insn) insn;
};

struct listing {
	struct listing_block *block; /* by id; of an opaque function all is in block 0 */
	uint32_t nblock;
	struct arena mem; /* owns the strings */
};

/* Of function ord of a unit that is no outline. Free the result. */
void listing_make(const struct unit *u, uint32_t ord, struct listing *out);
void listing_free(struct listing *l);

#endif
