/*
 * Liveness of general registers, by masks of enum uop_reg. An instruction that is not understood
 * reads and changes all; where control leaves to unknown code, all are live.
 *
 * A register that is not live may still be a caller's: within a unit GCC uses what a function it
 * calls by name really changes (-fipa-ra), and keeps values of its own in the rest. So calls inside
 * the unit change nothing here, and regs_spare() excludes what callers need after their calls, and
 * theirs.
 */
#ifndef MORPH_EDITOR_REGS_H
#define MORPH_EDITOR_REGS_H

#include "common/uops.h"
#include "editor/asm/text.h"

enum { REGS_ALL = (1 << UR_N) - 1, REGS_CALLEE_SAVED = REGS_ALL & ~UR_CALLER_SAVED };

struct reg_effect {
	uint16_t reads;   /* before it changes any */
	uint16_t kills;   /* changed whole, whatever they held */
	uint16_t touches; /* named or used in any way: these, and those changed in part */
};

/* Facts about a unit as a whole. */
struct regs {
	const struct unit_impl *u;
	struct htab alias;  /* aliases */
	uint8_t *named;     /* per function: it may have callers that know it and are not visible */
	uint16_t *changes;  /* per function: what it changes */
	uint16_t *kept;     /* per function: what callers in the unit may need after its calls */
	bool calls_by_name; /* there is a call by name */
	struct reg_effect *plain; /* per statement: of instructions that are no jumps, once found */
	uint16_t *entry;          /* per function: those that a call by its name hands over */
};
void regs_open(struct regs *r, const struct unit_impl *u);
void regs_close(struct regs *r);

/* The effect of one statement of a function's code: all that it reads until control reaches the
 * next statement or, for jumps inside of the function, their target. */
struct reg_effect regs_of_stmt(const struct regs *r, const struct stmt *st);

/* Per block: the registers live at its head. */
uint16_t *regs_live(const struct regs *r, const struct func *f, struct arena *a);

/* The registers that a function may change as far as its callers are concerned: none when it may
 * not follow the ABI. Includes callee-saved registers, which may be changed where unwinding does
 * not need them (regs_unwound). */
uint16_t regs_spare(const struct regs *r, const struct func *f);

/* The registers that may be changed in an unwind state: callee-saved registers that it finds in
 * memory, and others; not those by which it addresses the frame. */
uint16_t regs_unwound(const struct cfi_state *s);

#endif
