/*
 * A translation unit as assembly text: read into functions and blocks, and printed in another
 * order. Pure: text in, text out.
 *
 * The dialect is the AT&T syntax that GCC and clang print for x86-64. What is not understood is
 * kept as it is: such a function becomes opaque (it moves as a whole), such a unit is refused and
 * stays a foreign object.
 */
#ifndef MORPH_UNIT_H
#define MORPH_UNIT_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "editor/cfg.h"
#include "editor/layout/layout.h"

#include <stdbool.h>

struct unit_call {          /* a call or direct tail call inside a block */
	uint32_t block;     /* ascending */
	uint32_t insn;      /* ordinal in the block */
	const char *callee; /* without @PLT; "" = through a pointer */
	bool bound;         /* lifted text names a word with its address (docs/notes/legacy.md) */
};

struct unit_func {
	const char *name;
	uint32_t ord;       /* ordinal in the unit: bm_fn_record.func */
	struct hash128 key; /* name and normalised text: equal keys mean equal CFG */
	const char *opaque; /* NULL, or why this function moves as a whole (one block) */
	bool one_part;      /* code label differences in tables: must not be split */
	bool movable;       /* lies in a section from which it may move (.text…) */
	bool global;        /* symbol binding is not local */
	struct cfg cfg;
	struct unit_call *call;
	uint32_t ncall;
	struct func *impl; /* the editor's own view */
};

struct unit {
	const char *name;     /* of .file, or "" */
	const char *producer; /* of .ident: "GCC: …", or "" */
	struct unit_func *func;
	uint32_t nfunc;
	struct unit_impl *impl;
};

/*
 * Parses n bytes of text, which need not be NUL-terminated and must outlive the unit. Free with
 * unit_free, then free the arena. Returns NULL and sets the error when this is not compiler output
 * or not understood: the caller treats it as foreign.
 */
struct unit *unit_parse(struct arena *a, const char *text, size_t n, struct err *e);
/* The same without reading debug sections: enough to print it where it is. */
struct unit *unit_parse_code(struct arena *a, const char *text, size_t n, struct err *e);
/* Call before the arena is freed: parts of a unit live outside of it. NULL is fine. */
void unit_free(struct unit *u);
/* A copy of what a unit says of its functions (names, CFGs, calls) without their text, which takes
 * a tenth of the memory: it can be laid out, and the layout be printed by the unit once it is
 * parsed again. Everything is the arena's; no unit_free(). */
struct unit *unit_outline(struct arena *a, const struct unit *u);

/* Where one function goes. */
struct unit_placement {
	bool edit;            /* false: printed in place, unchanged */
	uint32_t rank;        /* for edit: the N of .text.sorted.%08d */
	struct layout layout; /* for edit; slots from nhot on go to .text.unlikely */
	uint8_t padding;      /* for edit: bytes of padding left where the function was */
	/* For each of the function's calls: through the GOT, not the PLT, so that the symbol is
	 * bound when the program starts. NULL = none. */
	const bool *direct;
};

/*
 * Prints the unit with every function at its placement (placement[ord]; NULL = all stay), a label
 * at every block, and the sections .llvm_bb_addr_map and .morph.fn. tu is hash_short of the
 * original text. With all functions in place the code and data assemble to the original's bytes.
 */
void unit_emit(
    const struct unit *u, const struct unit_placement *placement, uint64_t tu, struct buf *out);

/*
 * The output check: parses what unit_emit printed and proves that every block of every function is
 * there, with the same instructions and the same edges. 0, or -1 and the first difference.
 */
int unit_check(const struct unit *u, const char *text, size_t n, struct err *e);

#endif
