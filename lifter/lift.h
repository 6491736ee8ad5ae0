/*
 * Machine code to the intermediate form (docs/notes/legacy.md): the functions of an executable or
 * shared library, each as a unit of assembly text that the editor reads. Functions are what unwind
 * information (.eh_frame) says; the files are foreign input, and nothing in them but what is
 * checked here is believed. Pure: bytes in, text out.
 */
#ifndef MORPH_LIFT_H
#define MORPH_LIFT_H

#include "common/elf/elf.h"
#include "common/err.h"
#include "common/mem.h"

/* An instruction, by part and address. Those that only align what follows are none of the text. */
struct lifted_insn {
	uint64_t addr;
	uint32_t part; /* 0, or 1 of the cold part */
	uint32_t len;  /* bytes */
};

/* A jump table of the original that has a copy in the text: how many entries it can have. */
struct lifted_table {
	uint64_t addr;
	uint32_t n;
	bool wide; /* 8 bytes, addresses; else 4, distances from addr */
};

struct lifted {
	const char *name;
	uint64_t addr;                /* of its entry */
	uint64_t size[2], cold;       /* bytes of both parts, the address of the second */
	const char *stays;            /* why it is not lifted, or NULL */
	struct buf text;              /* its unit */
	VEC(struct lifted_insn) insn; /* empty where it stays */
	VEC(struct lifted_table) table;
	uint32_t indirect, known; /* indirect jumps, and how many of these have a known table */
};

struct lifter;

/* Bytes of a file. */
struct lift_file {
	const void *p;
	size_t n;
	const char *name; /* for messages */
};

/* Reads a module. Names of its functions are those of its symbols, of what it has of them in
 * .gnu_debugdata, and of `debug`, the file of its separate debug information (NULL: none), which
 * counts where it has the same build-id. Both must outlive the lifter. NULL: not an executable or
 * shared library for x86-64, no build-id, laid out by Morph already, no unwind information,
 * damaged. */
struct lifter *lift_open(
    const struct lift_file *module, const struct lift_file *debug, struct err *e);
void lift_close(struct lifter *l);

struct build_id lift_build_id(const struct lifter *l);
enum elf_kind lift_kind(const struct lifter *l);
/* How many functions there are; they are numbered by address. */
size_t lift_count(const struct lifter *l);
/* The number of the function that holds an address; false: none does. */
bool lift_find(const struct lifter *l, uint64_t addr, size_t *i);
/* The address of a file offset in an executable segment; false: none. */
bool lift_address(const struct lifter *l, uint64_t offset, uint64_t *addr);
/* Only these functions are wanted, n numbers: others stay, as ART_UNSAMPLED. What is lifted of
 * those does not depend on it. */
void lift_only(struct lifter *l, const size_t *i, size_t n);
/* Function i. Thread safe. Free with lifted_free. */
void lift_function(const struct lifter *l, size_t i, struct lifted *out);
/* Makes it a function that stays, for another reason, which must live as long as it. */
void lifted_stay(struct lifted *f, const char *why);
void lifted_free(struct lifted *f);

#endif
