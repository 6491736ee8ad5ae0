/*
 * A translation unit as assembly text: read into functions and blocks, and
 * written out again in another order. Pure: text in, text out.
 *
 * The dialect is the AT&T syntax that GCC and clang print for x86-64. What is
 * not understood stays what it was: an odd function becomes opaque (it moves
 * as a whole), an odd unit is refused and stays a foreign object.
 */
#ifndef MORPH_UNIT_H
#define MORPH_UNIT_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "editor/cfg.h"
#include "editor/layout/layout.h"
#include "editor/probe/probes.h"

#include <stdbool.h>

struct unit_call { /* a call or direct tail call inside a block */
	uint32_t block;     /* ascending */
	uint32_t insn;      /* ordinal in the block */
	const char *callee; /* without @PLT; "" = through a pointer */
};

struct unit_func {
	const char *name;
	uint32_t ord;        /* ordinal in the unit: bm_fn_record.func */
	struct hash128 key;  /* name and normalised text: equal keys mean equal CFG */
	const char *opaque;  /* NULL, or why this function moves as a whole (one block) */
	bool one_part;       /* code label differences in tables: must not be split */
	bool movable;        /* lies in a section from which it may move (.text…) */
	bool global;         /* symbol binding is not local */
	struct cfg cfg;
	struct unit_call *call;
	uint32_t ncall;
	struct func *impl;   /* the editor's own view */
};

struct unit {
	const char *name; /* of .file, or "" */
	const char *producer; /* of .ident: "GCC: …", or "" */
	struct unit_func *func;
	uint32_t nfunc;
	struct unit_impl *impl;
};

/*
 * Parses n bytes of text (need not be NUL-terminated; must outlive the unit).
 * The unit is given back by unit_free and then its arena. Returns NULL and says why when this is not
 * compiler output or not understood: the caller treats it as foreign.
 */
struct unit *unit_parse(struct arena *a, const char *text, size_t n, struct err *e);
/* Before the arena goes: some of a unit lives outside of it. NULL is fine. */
void unit_free(struct unit *u);

/* Sets the look of the blocks of one function. Functions of a unit may be looked at
 * by several threads. */
void unit_signatures(const struct unit *u, uint32_t ord);

/* Sets BLK_TABLED in the graphs of all functions: of counting alone. */
void unit_tabled(const struct unit *u);

/* Where one function goes. */
struct unit_placement {
	bool edit;            /* false: stays where it was, as it was */
	uint32_t rank;        /* for edit: the N of .text.sorted.%08d */
	struct layout layout; /* for edit; nhot < n puts the rest into .text.unlikely */
	struct probes *probes; /* NULL: not counted */
	uint8_t align;        /* log2; of what the entry's lead is counted from, at least */
	uint8_t padding;      /* for edit: so many bytes are left where it was */
	/* Of each of the function's calls: through the GOT, not the PLT. The symbol
	 * is bound when the program starts then. NULL = none. */
	const bool *direct;
};

/*
 * Prints the unit with every function at its place (place[ord]; NULL = all
 * stay), a label at every block, and the sections .llvm_bb_addr_map and
 * .morph.fn. tu is hash_short of the original text. With all functions in
 * place the code and data assemble to the original's bytes.
 */
void unit_emit(
    const struct unit *u, const struct unit_placement *placement, uint64_t tu, struct buf *out);

/*
 * The output check: parses what unit_emit printed and proves that every block
 * of every function is there once, with the same instructions and the same
 * edges. 0, or -1 and the first difference.
 */
int unit_check(const struct unit *u, const char *text, size_t n, struct err *e);

/* How to count (editor/probe/probes.h). */
struct unit_counting {
	bool edges;
	enum counter_kind kind;
	const uint64_t *weight; /* per function: not 0 = the counts of its CFG are a profile */
};

/*
 * Sets the probes, and the original layout, of every function of the unit that
 * can be counted: place[ord]. A function that is opaque, or must stay where it
 * is, gets counters at the heads of its blocks only; what cannot even have
 * that keeps probes NULL. Memory from the unit's arena. Fails for a unit in
 * which threads cannot be told apart.
 */
int unit_count(struct unit *u, const struct unit_counting *how, struct unit_placement *placement,
    struct err *e);

/* unit_check for a unit that was printed with probes: proves that each counter
 * is there once, that what was added does nothing but count, and that without
 * it the text is what unit_check demands. */
int unit_check_counting(const struct unit *u, const struct unit_placement *placement, uint64_t tu,
    const char *text, size_t n, struct err *e);

#endif
