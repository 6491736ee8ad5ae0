/*
 * Parts of the compilation to micro-operations.
 */
#ifndef MORPH_REPLAY_UOPS_H
#define MORPH_REPLAY_UOPS_H

#include "common/uops.h"
#include "editor/asm/operand.h"
#include "editor/asm/text.h"

/* insn.c: what an instruction does; `at` stays 0. UOP_STOP for all that is not understood. */
struct uop uop_of_insn(const struct stmt *st);
/* The condition in the name of jCC, setCC or cmovCC, or -1. `name` is what
 * follows the prefix. */
int uop_condition(struct str name);

/* table.c: jump tables of a function. */
struct uop_tables {
	const struct unit_impl *u;
	const struct func *f;
	struct uops *out;    /* gets tables and their targets */
	VEC(uint32_t) label; /* per table of this function: its label, in u->label */
	VEC(bool) distance;  /* its entries are distances of 4 bytes, else addresses of 8 */
};
/* The number of the table that begins at a symbol, counted in the function, or
 * NONE when no read-only table of labels of this function begins there. */
uint32_t uop_table(struct uop_tables *t, struct str symbol);

/* join.c: where the paths from each branch join: its immediate postdominator (Cooper, Harvey &
 * Kennedy, "A simple, fast dominance algorithm", 2001, on the reversed graph), and what may be
 * written until then. Paths that never leave the function are ignored. Of the function's blocks,
 * out->block[first…], which are compiled: sets join, writes and stores. */
void uop_joins_find(const struct func *f, struct uops *out, uint32_t first, struct arena *a);

/* constants.c: the registers that it may change, by bit. */
uint16_t uop_written(const struct uop *u);
/* Registers that hold a table's address, at the entry of each
 * block: by UR_N registers, a table's number or NONE. Forward data flow over
 * the function; all NONE where it has no indirect jump. From the arena. */
struct uop_consts {
	uint32_t (*in)[UR_N];
};
void uop_consts_find(struct uop_consts *c, struct uop_tables *t, struct arena *a);
/* One instruction: how it changes what the registers hold. */
void uop_consts_step(uint32_t reg[UR_N], struct uop_tables *t, const struct stmt *st);

/* table.c: is it memory at table[index]? Then the table's number, else NONE. */
uint32_t uop_table_entry(
    struct uop_tables *t, const struct operand *o, const uint32_t reg[UR_N], bool distance);
/* What is known of an instruction by jump tables. */
void uop_use_tables(
    struct uop_tables *t, const struct stmt *st, const uint32_t reg[UR_N], struct uop *o);

#endif
