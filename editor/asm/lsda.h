/*
 * Exception tables (LSDA; Itanium C++ ABI, level II, "Exception Handling Tables") as compilers and
 * the editor print them: a header, the call-site table, and behind it the actions and types, which
 * are kept as text.
 *
 * Code is in at most one call site. An exception in code that is in none ends the program
 * (noexcept); in a call site without a landing pad it passes on to the caller.
 */
#ifndef MORPH_EDITOR_LSDA_H
#define MORPH_EDITOR_LSDA_H

#include "editor/asm/text.h"

struct call_site {
	uint32_t begin, end; /* statements of its labels: it holds the code between */
	uint32_t pad;        /* statement of the landing pad's label, NONE = there is none */
	uint32_t action;     /* as in the table: offset of the action record + 1, 0 = cleanup */
};

struct lsda {
	uint32_t label;      /* statement of its label */
	uint32_t first, end; /* its statements, with labels and alignment before it; end = 0: none
			      */
	uint32_t base;       /* statement of the label that its code offsets are from */
	uint32_t tail;       /* first statement after the call sites: actions and types */
	struct str encoding; /* of types (DW_EH_PE_*), as it is printed */
	struct str types;    /* label of the types, n = 0: none */
	bool far_pads;       /* landing pads count from the table itself, so from any section */
	VEC(struct call_site) site; /* ascending, disjoint */
};

/* The statement of a label, or NONE. */
typedef uint32_t lsda_find(const void *arg, struct str name);

/* Reads the table at a label; NULL or why it cannot. Call lsda_free in both cases. */
const char *lsda_read(
    const struct unit_impl *u, lsda_find *find, const void *arg, struct str name, struct lsda *out);
void lsda_free(struct lsda *t);
/* The call site that holds a statement of code, or NULL. */
const struct call_site *lsda_at(const struct lsda *t, uint32_t stmt);
/* Does any code, or alignment, of the section of statement a lie between the statements a and b? So
 * it is said where they are more than `most` apart. */
bool lsda_code_between(const struct unit_impl *u, uint32_t a, uint32_t b, uint32_t most);
/* For a function's begin and a label before it: GCC's base of a cold part comes before the hot one.
 */
uint32_t lsda_reach(const struct func *f);
/* Alignment, types and actions, with labels numbered by appearance: equal texts mean equal tables
 * but for call sites. */
void lsda_tail(const struct unit_impl *u, const struct lsda *t, struct buf *out);

/* What becomes of an exception in a call site. */
struct catcher {
	uint32_t pad; /* label, or NONE */
	uint32_t action;
};

/* Of a function with a personality routine. */
struct func_eh {
	uint32_t parts;            /* bit k: part k has one */
	struct str personality;    /* operands of .cfi_personality */
	struct str lsda_encoding;  /* first operand of .cfi_lsda, … */
	struct str table[2];       /* … and label, of each part; n = 0: there is none */
	struct lsda lsda[2];       /* of each part */
	VEC(struct catcher) catch; /* each once */
	uint32_t *site;            /* per statement in code[]: 0 = in no call site, else index in
				      catch[] + 1; NULL: there is no table */
};

/* May the landing pads of a function with this personality be in another part than its calls? Its
 * runtime must heed the LPStart of a table: that of compiler-rt for C does not. */
bool lsda_far_allowed(struct str personality);
/* Reads the tables of f; marks their statements (stmt.aux) and the labels of landing pads. NULL or
 * why it cannot. */
const char *lsda_build(struct unit_impl *u, struct func *f);
void lsda_func_free(struct func *f);

#endif
