/* Text as lines of words, and numbers in them. */
#ifndef MORPH_REPORT_IN_LINES_H
#define MORPH_REPORT_IN_LINES_H

#include "morphctl/report/in/format.h"

/* Some bytes of the file. */
struct word {
	const char *s;
	size_t n;
};

struct lines { /* {.f = file} is before the first line */
	const struct in_file *f;
	size_t next;        /* offset of the next line */
	unsigned long line; /* 1, 2, … */
	struct word rest;   /* of the line, to be read; without its end */
};

/* The next line, blank ones and comments too; false: there is none. */
bool lines_next(struct lines *l);
/* The next line that is not blank. */
bool lines_next_full(struct lines *l);
/* Takes the next word between blanks; false: there is none. */
bool lines_word(struct lines *l, struct word *w);
/* Nothing is left but blanks? */
bool lines_end(struct lines *l);
/* "NAME: line N: what"; returns -1. */
int lines_bad(const struct lines *l, struct err *e, const char *what);

/* The whole word is such a number. */
bool word_decimal(struct word w, uint64_t *v);
bool word_hex(struct word w, uint64_t *v);
bool word_is(struct word w, const char *s);
/* What is before the first `at` goes to *head, what is after it stays in *w; false: there is none.
 */
bool word_split(struct word *w, const char *at, struct word *head);

#endif
