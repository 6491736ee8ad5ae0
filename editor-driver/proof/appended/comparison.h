/*
 * A build that was made by adding code to a file, beside the file: what the steps of the comparison
 * share.
 *
 *	headers.c	the bytes of the file, and its headers
 *	words.c		words of relocations and dynamic symbols that lead to new code
 *	entries.c	the jumps at old entries, and that nothing leads into what they replaced
 *	walk.c		new code and old code at once
 *	insns.c		one instruction of both
 *	unwinding.c	what unwinding finds at both
 *	tables.c	jump tables that were made again
 *	address.c	where the address of such a table goes
 *	bound.c		how many entries of a table can be used
 *	cover.c		that nothing else is in the new code, and what its block map says
 *
 * The walk begins with pairs of an address in the new code and one in the original: entries, blocks
 * of both maps, landing pads, entries of tables. From each it follows both codes at once. Jumps and
 * no-operations of either are passed over; the instructions where these lead to must be equal, and
 * where they go on are pairs again. So it shows that whoever comes to the one address goes on as if
 * he had come to the other. An address of the old code always corresponds to itself, since that
 * code is all there.
 */
#ifndef MORPH_APPENDED_COMPARISON_H
#define MORPH_APPENDED_COMPARISON_H

#include "common/elf/blockmap.h"
#include "editor-driver/proof/appended/frames.h"
#include "editor-driver/proof/appended/loaded.h"
#include "editor-driver/proof/appended/insn.h"

/* An instruction of the new code. */
struct spot {
	uint32_t made, orig; /* addresses, less `begin` of the images */
	uint32_t pred;       /* in pred[], + 1: the first that leads here, 0 = none */
	uint8_t len;
	bool passed;  /* a jump or no-operation; orig is not known */
	bool unwinds; /* as the original does */
};

struct pred {
	uint32_t from; /* spot + 1, or SPOT_UNKNOWN: from elsewhere */
	uint32_t next; /* in pred[], + 1 */
};
enum { SPOT_UNKNOWN = UINT32_MAX };

/* The jump at the old entry of a function that has a new body. */
struct entry {
	uint64_t at;   /* of the function */
	uint64_t jump; /* of the jump: the same, or after endbr64 */
	uint64_t to;
};
enum { ENTRY_JUMP = 5 };

/* A word of a relocation or dynamic symbol that leads to new code. */
struct word {
	uint64_t at;         /* offset in the file */
	uint64_t made, orig; /* where it leads */
	bool symbol;         /* it is of a symbol, whose section and size may differ, too */
};
enum { WORD = 8 };

/* A pair to be looked at. */
struct pair {
	uint64_t made, orig;
	uint32_t from; /* spot that leads there, + 1; SPOT_UNKNOWN; 0: none that is known */
	uint64_t jcc;  /* the address in the original of the conditional jump that that is, or 0 */
};

/* An instruction whose operand is the address of a table that was made again. */
struct table_base {
	uint64_t at, made, orig; /* of the instruction; of both tables */
	bool loads;              /* an entry, which is an address; else it makes the table's */
};

/* A jump through such a table. */
struct table_use {
	uint64_t load, jump; /* addresses in the new code; equal: jmp *T(,%reg,8) */
	uint64_t made, orig; /* of both tables */
	unsigned size;       /* of an entry: 4, counted from the table, or 8 */
	uint64_t entries;    /* that were compared */
};

struct comparison {
	struct loaded made, orig;
	const struct blockmap *made_map, *orig_map;
	struct insn_decoder decoder;
	const Elf64_Phdr *text; /* the new segment of code */
	struct htab row_names;
	struct frames made_frames, orig_frames;
	VEC(struct entry) entry; /* ascending */
	VEC(struct word) word;
	VEC(uint64_t)
	pointer; /* functions that pointers led to, which lead to new bodies; ascending
		  */

	uint32_t *index; /* per byte of the new segment: spot + 1 that begins there, or 0 */
	VEC(struct spot) spot;
	VEC(struct pred) pred;
	VEC(struct pair) todo;
	VEC(uint64_t) taken; /* addresses of constants that the original's code takes, ascending */
	VEC(struct table_base) base;
	VEC(struct table_use) use;
	struct htab use_numbers;
	uint64_t work; /* what may still be spent on tables, in entries and instructions */

	/* Of unwinding.c: the frames, call sites and rows that were found equal last. */
	struct frame *made_frame, *orig_frame;
	const struct eh_site *made_site, *orig_site;

	uint64_t *where; /* address of the new code that an error is about */
	struct err *e;
};

/* Sets the error: "new code at MADE (ORIG in the original): what". Returns -1. */
int differ(struct comparison *c, uint64_t made, uint64_t orig, const char *what);

/* headers.c: sets c->text. Bytes once entries and words are known. */
int headers_compare(struct comparison *c);
int headers_compare_bytes(struct comparison *c);

/* words.c: fills c->word and c->pointer, and adds pairs. */
int words_read(struct comparison *c);
/* Do pointers to the function at an address lead to its new body? */
bool words_lead(const struct comparison *c, uint64_t addr);

/* entries.c. Those of the units edited[n], ascending: fills c->entry, and adds pairs. */
int entries_read(struct comparison *c, const uint64_t *edited, size_t n);
/* Does an address lie in what an entry's jump replaced, after its first byte? */
bool entries_replaced(const struct comparison *c, uint64_t addr);
int entries_check(struct comparison *c);

/* walk.c. Adds a pair; walks from all that were added. */
void walk_add(struct comparison *c, uint64_t made, uint64_t orig, uint32_t from);
int walk(struct comparison *c);
/* Is it an address of the new segment of code? */
bool in_text(const struct comparison *c, uint64_t addr);
/* The spot that begins at an address, or NULL; its number + 1. */
struct spot *spot_at(const struct comparison *c, uint64_t addr);
uint32_t spot_number(const struct comparison *c, const struct spot *s);
void decode(struct comparison *c, struct loaded *im, uint64_t addr, struct insn *out);

/* insns.c. Is the instruction at an address of the new code that of the original (o) but for what
 * it refers to? Then m is it; else it has to be decoded. */
bool insns_repeat(
    struct comparison *c, uint64_t made, uint64_t orig, const struct insn *o, struct insn *m);
/* The instructions of a pair; then *p is the pair that comes after them. 1: none does. */
int insns_compare(struct comparison *c, struct pair *p, const struct insn *m, const struct insn *o);
/* The word that the PLT's stub at an address of the original jumps through, or 0. */
uint64_t stub_slot(struct comparison *c, uint64_t addr);

/* unwinding.c. The indexes of both; reads the frames. */
int frames_compare_index(struct comparison *c);
/* At an instruction of both, of so many bytes. Adds pairs of landing pads. */
int unwinding_compare(
    struct comparison *c, uint64_t made, unsigned made_len, uint64_t orig, unsigned orig_len);
/* Is the row of a jump or no-operation the one of this address of the original, or where a function
 * ends there, its last? */
bool unwinding_agrees(struct comparison *c, const struct spot *s, uint64_t orig);
/* Does a function of the original end after n bytes from an address on? */
bool unwinding_ends(struct comparison *c, uint64_t orig, unsigned n);

/* tables.c. Walks from the entries of all tables, until no more are known. */
int tables_compare(struct comparison *c);
/* Where entry k of the table of an image leads; the table must have it. */
uint64_t table_target(struct loaded *im, uint64_t table, unsigned size, uint64_t k);
/* Adds a use, unless it is known. */
struct table_use *table_add_use(struct comparison *c, const struct table_use *u);
/* Some work on tables: files that want more than real ones do are refused. */
int table_spend(struct comparison *c, uint64_t n);

/* address.c. Finds the uses of a table's address, and that there are no others. */
int address_follow(struct comparison *c, const struct table_base *b);

/* bound.c. How many values the index of a table can have where it is used, or UINT64_MAX;
 * *compared: by comparisons, else by the number of its bits. */
uint64_t bound_of(struct comparison *c, uint64_t load, bool *compared);

/* cover.c. */
int cover_check(struct comparison *c);

#endif
