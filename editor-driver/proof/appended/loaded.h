/* An ELF file as the loader maps it, whole in memory. */
#ifndef MORPH_APPENDED_IMAGE_H
#define MORPH_APPENDED_IMAGE_H

#include "common/elf/elf.h"

#include <elf.h>

struct loaded_range {
	uint64_t begin, end;
};

struct loaded {
	struct buf file;
	struct elf *f; /* of the same bytes */
	Elf64_Ehdr eh;
	VEC(Elf64_Phdr) ph;
	VEC(struct loaded_range) code;   /* sections of code, ascending */
	VEC(struct elf_section) section; /* all, in their order */
	uint64_t begin, end;             /* all that is loaded; at most 4 GiB */
	const Elf64_Phdr *last;          /* the segment that was asked for last */
};

/* -1: not an executable or shared library, or headers that contradict one another. Close in both
 * cases. */
int loaded_open(struct loaded *im, const char *path, struct err *e);
void loaded_close(struct loaded *im);

/* The segment (PT_LOAD) that holds an address, or NULL. */
const Elf64_Phdr *loaded_segment(struct loaded *im, uint64_t addr);
/* The bytes of the file that are loaded at an address, and how many there are; NULL: none. */
const uint8_t *loaded_bytes(struct loaded *im, uint64_t addr, uint64_t *n);
/* The same where there are at least n. */
const uint8_t *loaded_at(struct loaded *im, uint64_t addr, uint64_t n);
/* Is it in a section of code? */
bool loaded_is_code(const struct loaded *im, uint64_t addr);
/* Is it loaded so that nobody can write there? */
bool loaded_is_constant(struct loaded *im, uint64_t addr);

/* Has it packed relocations (RELR), whose addends are in data? */
bool loaded_is_packed(const struct loaded *im);
/* May its data hold addresses that no relocation with an addend names? Elsewhere a number may look
 * like one. */
bool loaded_has_words(const struct loaded *im);

#endif
