/*
 * An ELF file and what belongs to it, in a child: the separate debug file and what dwz moved out
 * of that. Nothing is ever closed: the child ends soon.
 */
#ifndef MORPH_REPORT_PROGRAM_H
#define MORPH_REPORT_PROGRAM_H

#include "morphctl/report/symbols/readers.h"

#include <elfutils/libdw.h>
#include <gelf.h>

struct program_segment { /* executable */
	uint64_t offset, vaddr, size;
};

struct program {
	Elf *elf[3]; /* the file, its debug file, .gnu_debugdata; NULL = there is none. Without
			the first there is only another build of it, and all else is empty */
	VEC(struct program_segment) segment;
	Dwarf *dwarf; /* NULL = there is none, or nobody asked for lines */
	bool code;    /* CONFINED_FILE has the code, not names alone */
};

int program_open(struct program *p, const struct request *q, struct err *e);
/* The virtual address of an offset, UINT64_MAX = it is not code. */
uint64_t program_address(const struct program *p, uint64_t offset);
/* The other way round. */
uint64_t program_offset(const struct program *p, uint64_t vaddr);
/* A section by its name, NULL = there is none with bytes in the file. */
Elf_Scn *program_section(Elf *elf, const char *name);

/* ---- separate debug files (debugfile.c), NULL = there is none ---- */
Elf *debugfile_of_id(const struct build_id *id);
/* By .gnu_debuglink; id: of the file itself. */
Elf *debugfile_of_link(Elf *elf, const char *path, const struct build_id *id);
/* What dwz moved out; folder: the name of CONFINED_FOLDER. */
Elf *debugfile_of_alt(Dwarf *dwarf, const char *folder);
/* .gnu_debugdata. */
Elf *debugfile_within(Elf *elf);

#endif
