/*
 * What DWARF says of addresses, in a child: the line, and the functions that were inlined there.
 */
#ifndef MORPH_REPORT_SCOPES_H
#define MORPH_REPORT_SCOPES_H

#include "common/hash.h"
#include "common/mem.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* A function, or one that is inlined there, with code at one of the addresses. */
struct scope {
	Dwarf_Die die;
	uint32_t parent; /* the scope that this one is inlined into, SCOPE_NONE = none */
};
#define SCOPE_NONE UINT32_MAX

struct scope_line {
	const char *source; /* NULL = not known */
	uint32_t line, discriminator;
};

struct scopes {
	VEC(struct scope) v;
	uint32_t *innermost;     /* of each address, SCOPE_NONE = none */
	struct scope_line *line; /* likewise */
	struct htab qualifier;   /* address of a DIE -> "ns::class" around it (const char *) */
	struct htab path;        /* address of a path -> const char *: absolute */
	struct arena mem;
};

/* n addresses, ascending. */
void scopes_find(struct scopes *s, Dwarf *dwarf, const uint64_t *vaddr, size_t n);

/* Where the caller calls what is inlined. */
struct scope_line scopes_call(struct scopes *s, uint32_t scope);
/* The function's linkage name, or NULL where it has none and *name is what the source calls it,
 * with its namespaces and classes as far as they are known; both NULL: nothing is known. */
const char *scopes_name(struct scopes *s, uint32_t scope, const char **name);
/* Where it is defined. */
struct scope_line scopes_definition(struct scopes *s, uint32_t scope);
/* Does the function without those inlined begin there, in one piece? -1 = no. */
int scopes_extent(const struct scopes *s, uint32_t scope, uint64_t *start, uint64_t *size);

#endif
