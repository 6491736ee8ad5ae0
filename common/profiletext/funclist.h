/*
 * A list of functions in the order in which they shall lie, as linkers read them, a name a line:
 *
 *	NAME            lld --symbol-ordering-file, /ORDER
 *	PREFIX:NAME     of these, with the object or section before it
 *	.text.NAME      gold --section-ordering-file
 *
 * Names are as linkers have them. Blanks around a name, a carriage return after it, empty lines and
 * lines that begin with '#' say nothing.
 */
#ifndef MORPH_FUNCLIST_H
#define MORPH_FUNCLIST_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

enum { FUNCLIST_BYTES = 64 << 20, FUNCLIST_NAME = 64 << 10 };

struct funclist { /* zero-filled: empty */
	struct buf text;
	struct htab index;      /* name -> its position */
	VEC(const char *) name; /* by position */
};

/* Takes the bytes over. Refuses what is no name, is longer than FUNCLIST_NAME, or comes twice:
 * "name: line N: …". Free the list in any case. */
int funclist_parse(struct funclist *l, struct buf *text, const char *name, struct err *e);
int funclist_read(struct funclist *l, const char *path, struct err *e);
void funclist_free(struct funclist *l);

#endif
