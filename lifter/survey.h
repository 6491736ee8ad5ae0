/*
 * The functions of an image, and which jumps of the whole image come into them from outside.
 */
#ifndef MORPH_LIFT_SURVEY_H
#define MORPH_LIFT_SURVEY_H

#include "common/unwind/ehframe.h"
#include "lifter/decode.h"
#include "lifter/image.h"

/* A run of code with unwind information of its own. */
struct fragment {
	struct eh_fde fde; /* with its address and size */
	size_t code;       /* its first instruction */
	uint32_t ncode;    /* how many there are */
	uint32_t func;     /* whose it is */
	bool called;       /* a direct call leads to its begin */
	bool unreadable;   /* something in it is no instruction */
};

struct function {
	uint32_t part[2]; /* fragments; NO_FRAGMENT = there is no cold part */
	const char *name; /* each once */
	bool wanted;      /* else it stays */
};
enum { NO_FRAGMENT = UINT32_MAX };

/* A direct jump or call that leads out of its fragment. */
struct crossing {
	uint64_t to;
	uint32_t from; /* fragment, or NO_FRAGMENT: code without unwind information */
	bool jcc, call;
};

/* Ascending, each once. */
struct survey_addresses {
	uint64_t *v;
	size_t n, cap;
};

struct survey {
	VEC(struct fragment) fragment;     /* by address, disjoint */
	VEC(struct function) func;         /* by address of the entry */
	VEC(struct crossing) crossing;     /* by to */
	VEC(struct code) code;             /* instructions of each fragment, all in a row */
	struct survey_addresses address;   /* that lea makes in functions */
	struct survey_addresses taken;     /* that lea makes anywhere, of code */
	struct survey_addresses reference; /* those, and tables of addresses */
	struct survey_addresses entry;     /* where words from such an address on lead, were they
					      jump tables */
	struct htab named;                 /* names of functions */
	struct arena mem;                  /* owns some of them */
};

/* Free in both cases. */
int survey_make(struct survey *s, const struct image *m, struct err *e);
void survey_free(struct survey *s);

/* The fragment that holds an address, or NO_FRAGMENT. */
uint32_t survey_fragment(const struct survey *s, uint64_t addr);
/* The function whose entry is at an address, or NULL. */
const struct function *survey_entry(const struct survey *s, uint64_t addr);
/* Does a jump of another fragment, or what may be a jump table, lead to [from, to)? */
bool survey_entered(const struct survey *s, uint64_t from, uint64_t to);

/* Does some code make the address of this place in the code? */
bool survey_taken(const struct survey *s, uint64_t addr);

/* Is it a function's name? */
bool survey_named(const struct survey *s, const char *name);
/* The first address behind this one that an instruction refers to: there another object begins. */
uint64_t survey_next_object(const struct survey *s, uint64_t addr);

#endif
