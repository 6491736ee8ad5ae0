/*
 * Exception tables (LSDA) in a linked file: a strict, bounded reader of what personality routines
 * of the Itanium C++ ABI read. Format: "Itanium C++ ABI: Exception Handling" and GCC's
 * unwind-pe.h (DW_EH_PE_*).
 */
#ifndef MORPH_EHTABLE_H
#define MORPH_EHTABLE_H

#include "common/mem.h"

#include <stdbool.h>

struct eh_site {
	uint64_t begin, end; /* addresses of the code that it holds */
	uint64_t pad;        /* address of the landing pad, 0 = none */
	uint64_t action;     /* offset of its first record + 1, 0 = cleanup */
};

struct eh_table {
	VEC(struct eh_site) site; /* ascending, disjoint, none is empty */
	const uint8_t *p, *end;   /* the table, up to the end of its section */
	uint64_t addr;            /* of p */
	uint64_t actions, types;  /* offsets of the first record, and of the end of the types; 0 =
				     there are none */
	uint8_t encoding;         /* of types */
	bool own_base;            /* landing pads do not count from the function's begin */
};

/*
 * Reads the table at p, address addr, of the function that begins at `func`. -1 when it is of
 * another form, or cut off. Free with eh_table_free in both cases; p must outlive it.
 */
int eh_table_read(
    const uint8_t *p, const uint8_t *end, uint64_t addr, uint64_t func, struct eh_table *out);
void eh_table_free(struct eh_table *t);
/* The call site that holds an address, or NULL; *until is where that ends to be so. */
const struct eh_site *eh_table_at(const struct eh_table *t, uint64_t addr, uint64_t *until);

/*
 * The action records of a call site: filters, from the first to the last. > 0: catches a type;
 * < 0: lets pass what is in a list; 0: cleanup.
 */
typedef VEC(int64_t) eh_filters;
int eh_table_filters(const struct eh_table *t, uint64_t action, eh_filters *out);
/* The type of a filter > 0: its address, 0 = all types; indirect: the address of its pointer. */
int eh_table_type(const struct eh_table *t, int64_t filter, uint64_t *type);
/* The types (> 0) in the list of a filter < 0. */
int eh_table_list(const struct eh_table *t, int64_t filter, eh_filters *out);

/*
 * Do the actions of two call sites mean the same: the same filters in the same order, of types for
 * which same() holds of their addresses, where both have one?
 */
struct eh_same_type {
	bool (*same)(const void *arg, uint64_t a, uint64_t b);
	const void *arg;
};
bool eh_table_same_actions(const struct eh_table *a, uint64_t action_a, const struct eh_table *b,
    uint64_t action_b, const struct eh_same_type *type);

/* Reads a value at *p that is encoded (DW_EH_PE_*) and lies at this address, and moves *p after it.
 * A relative 0 stays 0. Of an indirect value the address of its pointer. -1: an encoding that is
 * not known, or cut off. */
int eh_value_read(
    const uint8_t **p, const uint8_t *end, uint8_t encoding, uint64_t addr, uint64_t *v);

#endif
