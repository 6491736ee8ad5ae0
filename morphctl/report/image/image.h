/*
 * Where the code of an executable lies: in its file, and at which addresses it was linked. Formats
 * of one executable speak of addresses, recordings of offsets. The file is read by a child
 * (morphctl/report/confined/confined.h), since it may be anybody's.
 */
#ifndef MORPH_REPORT_IMAGE_H
#define MORPH_REPORT_IMAGE_H

#include "common/elf/elf.h"
#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>

enum { IMAGE_SEGMENTS = 16 };

struct image_symbol {
	const char *name, *source; /* source: of a local one, "" = not known */
	uint64_t value, size;      /* as linked */
	uint8_t type;              /* STT_… */
	bool local;
};

struct image {
	struct build_id id; /* n = 0: it has none */
	struct elf_segment segment[IMAGE_SEGMENTS];
	size_t nsegment; /* executable ones */
	VEC(struct image_symbol)
	symbol;           /* that are defined, of .symtab or else .dynsym; if asked for */
	struct arena mem; /* their names */
};

/* -1 where it is no ELF file, or the child failed. */
int image_read(struct image *m, const char *path, bool symbols, struct err *e);
void image_free(struct image *m);
/* False where no executable segment has it. */
bool image_offset(const struct image *m, uint64_t address, uint64_t *offset);
bool image_address(const struct image *m, uint64_t offset, uint64_t *address);

#endif
