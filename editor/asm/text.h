/*
 * The editor's own view of a unit: statements, sections, labels, functions.
 * Filled, in this order (parse.c), by scan.c (lines to statements), sections.c,
 * functions.c, labels.c, cfi.c (unwind states) and blocks.c (basic blocks and
 * edges).
 */
#ifndef MORPH_EDITOR_TEXT_H
#define MORPH_EDITOR_TEXT_H

#include "common/hash.h"
#include "common/mem.h"
#include "editor/unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NONE = UINT32_MAX };

struct str { /* a run of the unit's text */
	const char *p;
	uint32_t n;
};

static inline bool str_is(struct str s, const char *lit)
{
	size_t n = strlen(lit);

	return s.n == n && !memcmp(s.p, lit, n);
}

static inline bool str_equal(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static inline bool str_starts(struct str s, const char *lit)
{
	size_t n = strlen(lit);

	return s.n >= n && !memcmp(s.p, lit, n);
}

/* Is it one of n strings; does it start with one? */
static inline bool str_is_any(struct str s, const char *const *lit, size_t n)
{
	while (n-- > 0)
		if (s.n && *s.p == *lit[n] && str_is(s, lit[n]))
			return true;
	return false;
}

static inline bool str_starts_any(struct str s, const char *const *lit, size_t n)
{
	while (n-- > 0)
		if (str_starts(s, lit[n]))
			return true;
	return false;
}

enum stmt_kind {
	ST_BLANK, /* empty, comment, line marker */
	ST_LABEL, /* NAME: */
	ST_DIR,   /* .directive operands */
	ST_INSN,  /* mnemonic operands */
	ST_ASM,   /* any line between #APP and #NO_APP, those two included */
};

enum dir_kind {
	DIR_NONE,
	DIR_SECTION, /* .section .text .data .bss */
	DIR_PUSH,    /* .pushsection */
	DIR_POP,     /* .popsection .previous */
	DIR_TYPE,
	DIR_SIZE,
	DIR_SYMBOL, /* .globl .weak .hidden …: position does not matter */
	DIR_SET,    /* .set .equ */
	DIR_ALIGN,  /* .p2align .balign .align */
	DIR_DATA,   /* .long .quad .byte .string … */
	DIR_CFI,
	DIR_LOC,
	DIR_FILE,
	DIR_IDENT,
	DIR_MISC,   /* known, harmless, stays in place */
	DIR_STAYS,  /* of lifted text: code that is not here, and why (docs/notes/legacy.md) */
	DIR_REFUSE, /* changes what follows: .macro .if .intel_syntax … */
	DIR_UNKNOWN,
	DIR_KINDS
};

struct stmt {
	struct str line; /* without the newline */
	struct str op;   /* label name, directive, mnemonic */
	struct str arg;  /* operands, trimmed, without a trailing comment */
	uint8_t kind, dir;
	bool app_begin, app_end; /* of ST_ASM */
	bool asm_switches;       /* of ST_ASM that leaves another section for what comes after */
	bool asm_aligns;         /* of ST_ASM whose size depends on where its code lies */
	uint16_t section;
	/* Of DIR_CFI in a function: state after it. Of .size NAME.cold: the function.
	 * Of DIR_LOC: is_stmt in force. Of the end of an absolute range in a debug
	 * section: statement of its start. In an exception table: the function. */
	uint32_t aux;
	/* Of ST_LABEL but "1:": its number; of a direct jump: that of its target; else NONE. */
	uint32_t label;
};

/* An instruction, inline assembly, or data? */
static inline bool is_code(const struct stmt *st)
{
	return st->kind == ST_INSN || st->kind == ST_ASM ||
	       (st->kind == ST_DIR && st->dir == DIR_DATA);
}

struct section {
	struct str name;
	const char *directive; /* switches to it, with all flags */
	const char *group;     /* COMDAT signature or NULL */
	bool plain;            /* first named without flags: the name implies them */
	bool linked;           /* kept or dropped with another one (SHF_LINK_ORDER) */
	bool code, debug, eh_table;
};

enum {
	LB_BRANCH = 1,  /* a direct jump goes there */
	LB_TABLE = 2,   /* in the jump table of one known indirect jump */
	LB_ADDRESS = 4, /* its address is taken otherwise */
	LB_START = 8,   /* marks the start of its function */
	LB_END = 16,    /* marks the end of its function's hot part */
	LB_OPEN = 32,   /* with LB_ADDRESS: by an instruction, not in data alone */
	LB_PAD = 64,    /* a landing pad */
	LB_TARGET = LB_BRANCH | LB_TABLE | LB_ADDRESS | LB_PAD,
};

struct label {
	struct str name;
	uint32_t stmt;
	uint32_t func;  /* NONE = data, or code outside functions */
	uint32_t block; /* NONE until blocks are built */
	uint32_t flags;
};

/* Unwind state: where the caller's frame and registers are (DWARF CFI). */
enum { CFI_REGS = 33, CFA_EXPRESSION = -1 };
enum cfi_rule {
	RULE_INIT,
	RULE_OFFSET,
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_EXPRESSION,
	RULE_VALUE,
	RULE_VALUE_OFFSET,
	RULE_REGISTER
};
struct cfi_state {
	int64_t cfa_off;
	/* Or a register; or an expression: its bytes, its length in the highest. */
	int64_t off[CFI_REGS];
	int32_t cfa_reg; /* or CFA_EXPRESSION: cfa_off is one */
	uint32_t args;   /* bytes of arguments on the stack (DW_CFA_GNU_args_size) */
	uint8_t rule[CFI_REGS];
	uint8_t pad[7]; /* always 0: states are compared as bytes */
};

enum term {
	TERM_FALL,     /* no jump; falls through to `fall` */
	TERM_JUMP,     /* jmp to `target` */
	TERM_COND,     /* jcc to `target`, else `fall` */
	TERM_INDIRECT, /* jmp * through a table */
	TERM_END,      /* control never comes after it */
};

struct blk {
	uint32_t lead;            /* first of its code[] entries (alignment, CFI before it) */
	uint32_t first, last;     /* code[first…last): from its label on */
	uint32_t jump;            /* index in code[] of the terminating jump, or NONE */
	uint32_t target, fall;    /* block ids or NONE */
	uint32_t cfi_in, cfi_out; /* state before the first instruction, after the last */
	uint32_t loc;             /* statement of the .loc in force at entry, or NONE */
	uint8_t term, part;
	bool tail_call, returns, landing;
};

struct func {
	struct unit_func *pub;
	struct str name;
	uint32_t begin, end;            /* statements [begin, end): from its label to after .size */
	uint16_t section, cold_section; /* of part 0 and part 1 (0 = none) */
	uint32_t cold_label;            /* statement of NAME.cold: or NONE */
	uint32_t end_size;              /* statement of .size NAME */
	uint32_t cold_size;             /* statement of .size NAME.cold or NONE */
	VEC(uint32_t) code;             /* statements of both parts in order */
	VEC(uint32_t) data;             /* statements of other sections inside it */
	uint32_t part1;                 /* index in code[] where the cold part begins */
	uint32_t tail[2];               /* index in code[] after the last block of each part */
	struct blk *blk;
	uint32_t nblk;
	uint32_t nhot_blk; /* blocks of part 0 come first in the original text */
	const char *why;   /* why it is opaque, or NULL */
	bool unsorted;     /* not even its parts are understood: it cannot move */
	bool pinned;       /* its surroundings must keep their position */
	bool one_part, has_cfi;
	struct func_eh *eh; /* with a personality routine: lsda.h; else NULL */
	uint32_t align;     /* log2 of the alignment of its entry */
};

/* Statements that say where the unit's code lies, in debug sections; NONE where
 * not found. See ranges.c. */
struct cu_ranges {
	uint32_t value;      /* of DW_AT_high_pc or DW_AT_ranges, or its entry in a table */
	uint32_t table_end;  /* last entry of that table */
	uint32_t attr, form; /* that attribute's, in .debug_abbrev */
	uint32_t aranges;    /* offset of the unit, in .debug_aranges */
	uint32_t version;    /* of DWARF */
	bool filled;         /* the value has 8 bytes, an offset only 4 */
};

/* All statements of a kind are among these; end = 0: there are none. */
struct stmt_range {
	uint32_t first, end;
};

struct unit_impl {
	struct arena *mem;
	struct unit *pub;
	VEC(struct stmt) stmt;
	struct stmt_range dir[DIR_KINDS], inline_asm; /* of ST_DIR; of ST_ASM */
	VEC(struct section) section;                  /* [0] is .text */
	VEC(struct label) label;
	struct htab label_by_name, section_by_name, section_by_text;
	struct htab alias; /* local names with one .set: its statement */
	VEC(struct func) func;
	VEC(struct cfi_state) cfi; /* [0] is the state at .cfi_startproc */
	uint32_t *stmt_func;       /* per statement: function it is code of, or NONE */
	struct cu_ranges cu;
};

/* Of ascending statements: the index of the first that is i or after it. */
static inline uint32_t stmt_search(const uint32_t *v, size_t n, uint32_t i)
{
	uint32_t lo = 0, hi = (uint32_t)n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v[mid] < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* scan.c: lines to statements; where those of a kind are. Without debug, lines of data in a
 * debug section are one blank statement. */
int unit_scan(struct unit_impl *u, const char *text, size_t n, bool debug, struct err *e);
/* By its name. */
enum dir_kind dir_kind(struct str op);
/* The next symbol-like token in [*p, end); moves *p after it. */
bool token_next(const char **p, const char *end, struct str *token);
/* Of DIR_ALIGN: ".p2align 4,,10" -> 4, ".align 16" -> 4. */
uint32_t align_log2(const struct stmt *st);

/* Without its quotes. */
struct str unquote(struct str s);
/* The k-th comma-separated operand, trimmed; n = 0 when there is none. */
struct str operand_at(struct str arg, unsigned k);
/* Does it refer to ".", the current position? */
bool refers_to_here(const struct stmt *st);

/* sections.c: fills section[] and stmt.section: that of a directive is the one it switches to. */
int unit_sections(struct unit_impl *u, struct err *e);

/* inline.c: fills stmt.asm_switches. Fails for inline assembly that decides about the text after
 * it in a way that is not followed. */
int asm_check(struct unit_impl *u, struct err *e);
/* The next statement in a line of inline assembly, without labels: its op and arg; moves *p after
 * it. */
bool asm_next(const char **p, const char *end, struct stmt *st);
/* 1: begins what may be left out or repeated (.if, .rept …), -1: ends it, 0: neither. */
int asm_nesting(struct str op);

/* functions.c: fills func[], but for what comes of its blocks, and stmt_func[]. Fails where
 * code between functions, or an unwind procedure, depends on where they lie. */
int unit_functions(struct unit_impl *u, struct err *e);
/* Is it .size NAME or .size NAME.cold? */
bool own_size(const struct func *f, const struct stmt *st);
/* Does its cold part come after the hot one in the same section (-fno-reorder-functions)? */
bool cold_follows(const struct func *f);
/* Is it ".-NAME", or ".L…-NAME" as clang prints? */
bool size_to_end(struct str size, struct str name);
/* Is it NAME.cold, quoted or not? */
bool is_cold_name(struct str cold, struct str name);

/* labels.c: fills label[] and stmt.label: who refers to each; and of functions what that demands:
 * one_part, pinned, why. Fails for labels that are there twice, or are the editor's own. */
int unit_labels(struct unit_impl *u, struct err *e);
/* NULL: no such label. */
struct label *label_find(const struct unit_impl *u, struct str name);
static inline struct label *label_of(const struct unit_impl *u, const struct stmt *st)
{
	return st->label == NONE ? NULL : &u->label.v[st->label];
}
/* What a local name is set to; n = 0: it is none of these. */
struct str alias_target(const struct unit_impl *u, struct str name);
/* Does the text set got.NAME (docs/notes/legacy.md)? */
bool has_word(const struct unit_impl *u, struct str name);
/* Flags the labels of both ends of a function with blocks: debug information may
 * keep distances between them. */
void labels_of_ends(struct unit_impl *u, struct func *f);

/* cfi.c: fills stmt.aux, the cfi[] of the unit, and of f->eh what directives say; NULL or why it
 * cannot. */
const char *cfi_simulate(struct unit_impl *u, struct func *f);
/* Prints the directives that turn state `from` into state `to`. */
void cfi_delta(const struct unit_impl *u, uint32_t from, uint32_t to, struct buf *out);
/* One directive applied to *s, with *stack for remember/restore. NULL or why not. */
struct cfi_stack {
	struct cfi_state state[16];
	unsigned n;
};
const char *cfi_apply(const struct stmt *st, struct cfi_state *s, struct cfi_stack *stack);
struct cfi_state cfi_initial(void);
/* Does it name a personality routine or an exception table? No part of the state. */
bool cfi_is_handler(const struct stmt *st);

/* blocks.c: blocks and edges of a function; NULL or why it is opaque. */
const char *blocks_build(struct unit_impl *u, struct func *f);
void blocks_opaque(struct unit_impl *u, struct func *f);

/* key.c: the length of a symbol without what the compiler numbers through a unit: 2 of ".L12", 5 of
 * "count.4". */
uint32_t name_stem(struct str t);
struct hash128 func_key(const struct unit_impl *u, const struct func *f);

#endif
