/*
 * What elf.c (headers, segments and notes, read by hand in memory of fixed size)
 * and sections.c (sections and symbols, read by libelf) share.
 */
#ifndef MORPH_ELF_PARTS_H
#define MORPH_ELF_PARTS_H

#include "common/elf/elf.h"

#include <elf.h>
#include <libelf.h>

struct elf {
	int fd;             /* -1: mem */
	const uint8_t *mem; /* not owned */
	uint64_t size;      /* of the file, when it was opened */
	char *name;
	Elf64_Ehdr eh;
	uint32_t phnum, shnum, shstrndx; /* as the header means them; shnum is bounded */
	enum elf_kind kind;
	/* Of sections.c, once a section is asked for. */
	Elf *lib;
	bool *loaded;  /* by section: its bytes are in memory */
	uint64_t left; /* bytes that may still be loaded: all sections together fit the file */
};

/* Ends what sections.c began. */
void elf_sections_close(struct elf *f);

#endif
