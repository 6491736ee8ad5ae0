/*
 * What the comparison of two builds (bytes.h) shares: which address corresponds to
 * which, code, and the linker's tables.
 */
#ifndef MORPH_PROOF_IMAGE_H
#define MORPH_PROOF_IMAGE_H

#include "editor-driver/proof/bytes.h"
#include "common/unwind/ehtable.h"

/* A run of code of the new build that was at orig; ascending by made. */
struct bytes_piece {
	uint64_t made, orig;
	uint32_t size, was; /* bytes of both; they differ in blocks of edited units */
	uint32_t frag;      /* of the new build's map, or BYTES_FOREIGN */
	bool edited;        /* of a unit that was edited */
};
enum { BYTES_FOREIGN = UINT32_MAX };

/* A word that the dynamic loader sets. */
struct bytes_slot {
	uint64_t addr;
	int64_t addend;
	uint32_t sym, type; /* of symbol[], + 1, 0 = none; R_X86_64_* */
};

struct bytes_symbol {
	const char *name, *version; /* "" = none */
	uint32_t index;             /* in .dynsym */
};

/* One FDE; addresses. */
struct bytes_fde {
	uint64_t at, pc, cie; /* of the record, of the code, of its CIE */
	uint64_t size, rest;  /* of the code, and bytes of the record after that */
	uint64_t rest_at;
	uint64_t lsda_at, lsda_size; /* the field that names its exception table; size 0: none */
	uint64_t personality;        /* as it is in the CIE: perhaps of a pointer to it; 0 = none */
	bool has_table, odd;         /* odd: it is not understood */
	bool derived;                /* of stubs, or of a unit that was edited */
	struct eh_table table;
};

struct bytes_side {
	const struct blockmap *map;
	struct elf *f;
	bool own_padding;                /* as in struct bytes_build */
	VEC(struct elf_section) section; /* loaded ones, as in the file */
	VEC(struct bytes_slot) slot;     /* of .rela.dyn and .rela.plt, by address */
	VEC(struct bytes_symbol) symbol; /* of .dynsym, by name and version */
	VEC(struct bytes_fde) fde;       /* of .eh_frame, by address of the code */
};

struct bytes {
	struct bytes_side made, orig;
	const uint64_t *edited;
	size_t nedited;
	bool absolute;       /* addresses are known to the linker: no PIE, no library */
	uint64_t tls;        /* how far thread-local memory moved */
	VEC(uint64_t) shift; /* how far the sections of data moved, each once */
	VEC(struct bytes_piece) piece;
	struct bytes_position *at;
	struct err *e;
};

enum bytes_kind { BYTES_DATA, BYTES_CODE, BYTES_PLT, BYTES_GOT };
enum bytes_kind bytes_kind(const struct elf_section *s);

/* Thread-local memory that is not in the file has no address of its own. */
bool bytes_has_address(const struct elf_section *s);
/* The section that holds an address, or NULL. */
const struct elf_section *bytes_section(const struct bytes_side *s, uint64_t addr);
const struct elf_section *bytes_named(const struct bytes_side *s, const char *name);
/* The bytes at an address, at least n, or NULL. */
const uint8_t *bytes_at(const struct bytes_side *s, uint64_t addr, uint64_t n);

/* correspond.c: fills piece[], for which the frames must be known; -1 when code outside of blocks
 * is ambiguous, or the order of blocks that are not edited changed. */
int bytes_map(struct bytes *b);
/* Reads symbol[] and slot[] of both sides: the same symbols have the same place
 * in symbol[]. -1 when there are others. */
int bytes_bindings(struct bytes *b);
/* Does the new build's address correspond to the original's? */
bool bytes_same_code(const struct bytes *b, uint64_t orig, uint64_t made);
bool bytes_correspond(const struct bytes *b, uint64_t orig, uint64_t made);
/* Where the new build's address was in the original; false: nowhere. */
bool bytes_was(const struct bytes *b, uint64_t made, uint64_t *orig);
/* The piece that holds an address of the new build, or NULL. */
const struct bytes_piece *bytes_piece(const struct bytes *b, uint64_t made);
bool bytes_is_edited(const struct bytes *b, uint64_t tu);
/* The slot at an address, or NULL. */
const struct bytes_slot *bytes_slot(const struct bytes_side *s, uint64_t addr);
/* The address of the slot through which the PLT entry at addr goes, or 0. */
uint64_t bytes_plt_slot(const struct bytes_side *s, uint64_t addr);

/* How many of the n bytes at p are padding. */
uint64_t bytes_padding(const struct bytes_side *side, const uint8_t *p, uint64_t n);

/* code.c. */
int bytes_code(struct bytes *b);
/* A run of the same length in both; data: relative words count from themselves. */
bool bytes_same_run(
    const struct bytes *b, uint64_t orig, uint64_t made, uint64_t n, bool data, uint64_t *where);
int bytes_plt(struct bytes *b, const struct elf_section *s);
/* The length of the no-operation or int3 at p, 0 = none. */
unsigned bytes_nop(const uint8_t *p, uint64_t n);

/* data.c. */
int bytes_data(struct bytes *b, const struct elf_section *o, const struct elf_section *m);

/* tables.c. Each returns -1 and the difference. */
int bytes_dynsym(struct bytes *b, const struct elf_section *o, const struct elf_section *m);
/* A list of addresses in the order of the code that they are of (SHF_LINK_ORDER). */
int bytes_list(struct bytes *b, const struct elf_section *o, const struct elf_section *m);
int bytes_dynamic(struct bytes *b, const struct elf_section *o, const struct elf_section *m);
int bytes_rela(struct bytes *b);
int bytes_relr(struct bytes *b, const struct elf_section *o, const struct elf_section *m);
int bytes_got(struct bytes *b, const struct elf_section *o, const struct elf_section *m);
/* unwind.c. Fills fde[] of both sides. */
int bytes_frames(struct bytes *b);
void bytes_frames_free(struct bytes_side *s);
/* The FDE of the code at an address, or NULL. */
const struct bytes_fde *bytes_frame(const struct bytes_side *s, uint64_t addr);
int bytes_eh_frame(struct bytes *b);
/* exceptions.c: what becomes of exceptions. Of all of a function that is not edited; ... */
bool bytes_same_handlers(
    const struct bytes *b, const struct bytes_fde *orig, const struct bytes_fde *made);
/* ... of n bytes of one block of code, of which *where is the first that differs. */
bool bytes_same_catches(
    const struct bytes *b, uint64_t orig, uint64_t made, uint64_t n, uint64_t *where);

/* Sets the error: section, address and function. Returns -1. */
int bytes_differ(struct bytes *b, uint64_t made, const char *what);

#endif
