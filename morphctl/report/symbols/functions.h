/* Functions by the symbol tables of a program, in a child. */
#ifndef MORPH_REPORT_FUNCTIONS_H
#define MORPH_REPORT_FUNCTIONS_H

#include "morphctl/report/symbols/program.h"

struct function {
	uint64_t start, size; /* virtual address; bytes, at least up to where it was seen */
	const char *name;     /* linkage name */
};

/* Calls fn for each stub of the procedure linkage table: "name@plt", fn's to free; plt.c. */
enum { FUNCTIONS_STUB = 16 }; /* bytes */
void functions_each_stub(Elf *elf, void (*fn)(uint64_t vaddr, char *name, void *arg), void *arg);

/*
 * What is at each of n ascending addresses; name NULL = nothing. Of symbols with a size the one
 * that begins last and reaches there: functions before labels, global before weak before local
 * ones, with fewer underscores in front, longer ones. Elsewhere the nearest symbol below in the
 * same section, if that has no size.
 */
void functions_find(
    const struct program *p, const uint64_t *vaddr, size_t n, struct function *found);

#endif
