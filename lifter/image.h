/*
 * What lifting reads of an ELF file: where its code, read-only data and names are. Checked once,
 * here. Addresses are those of the file, where it is linked to.
 */
#ifndef MORPH_LIFT_IMAGE_H
#define MORPH_LIFT_IMAGE_H

#include "common/elf/elf.h"
#include "lifter/lift.h"

struct image_segment {
	uint64_t vaddr, filesz, memsz, offset;
	uint32_t flags; /* PF_* */
};
/* A word that the dynamic loader sets. */
struct image_slot {
	uint64_t addr;
	int64_t addend;
	uint32_t type;    /* R_X86_64_* */
	const char *name; /* of its symbol, "" = none */
};
/* A word that says where a pointer of the data leads in the code: of a relocation
 * (R_X86_64_RELATIVE) where the file is loaded anywhere; the pointer itself where addresses are
 * fixed and relocations were kept (ld --emit-relocs); or of a dynamic symbol, a function's address.
 */
struct image_word {
	uint64_t to, addr; /* addr: of the word */
	bool symbol;
};
/* A stub in the PLT. */
struct image_stub {
	uint64_t addr, slot;
	const char *name; /* of the symbol that it leads to */
	bool bound;       /* when the program starts */
};
struct image_name {
	uint64_t addr, size;
	const char *name;
	bool global;
};

struct image {
	struct elf *f;
	struct elf *named[2]; /* for names alone: .gnu_debugdata, separate debug information */
	struct buf debugdata; /* the former, unpacked */
	const uint8_t *p;
	size_t n;
	struct arena mem;
	enum elf_kind kind;
	bool binds_now, relocated_text;
	bool odd_pointers;          /* data may point to code by what is no image_word, nor shown */
	struct elf_section frames;  /* .eh_frame */
	struct elf_section symbols; /* .dynsym */
	VEC(struct image_segment) segment; /* PT_LOAD, ascending */
	VEC(struct elf_section) code;      /* of compiled code: not the PLT, .init, .fini */
	VEC(struct elf_section) relocs, plt;
	VEC(struct elf_section) kept; /* relocations that nobody loads */
	VEC(const char *) symbol;     /* names of .dynsym, by index */
	VEC(struct image_slot) slot;  /* by address */
	VEC(struct image_word) word;  /* by where they lead */
	VEC(struct image_stub) stub;  /* by address */
	VEC(struct image_name) name;  /* of functions, by address; the best of each first */
	VEC(uint64_t) pointer;        /* into code, from data: ascending, each once */
	VEC(uint64_t) shown; /* where words lead that bytes elsewhere may mean, too: ascending */
};

/* Free in both cases. */
int image_open(
    struct image *m, const struct lift_file *module, const struct lift_file *debug, struct err *e);
void image_free(struct image *m);

/* n bytes at an address, from the file; NULL where no segment holds them. */
const uint8_t *image_at(const struct image *m, uint64_t addr, uint64_t n);
/* The same where nothing writes to them while the program runs. */
const uint8_t *image_constant(const struct image *m, uint64_t addr, uint64_t n);
/* Is it in an executable segment? */
bool image_executable(const struct image *m, uint64_t addr);
/* Is it in a section of compiled code? */
bool image_code(const struct image *m, uint64_t addr);
const struct image_slot *image_slot(const struct image *m, uint64_t addr);
const struct image_stub *image_stub(const struct image *m, uint64_t addr);
/* The name of a function that begins at an address, or NULL. */
const struct image_name *image_name(const struct image *m, uint64_t addr);

/* pointers.c: fills word, pointer and shown. -1: damaged symbols. */
int image_read_pointers(struct image *m);
/* Does data point to [from, to)? */
bool image_points(const struct image *m, uint64_t from, uint64_t to);
/* May all pointers to a function be led elsewhere, as far as data tells? */
bool image_leads(const struct image *m, uint64_t addr);

/* May a name stand in assembly text as it is? It is of no cold part. */
bool image_plain(const char *name);

#endif
