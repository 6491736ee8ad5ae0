/*
 * An argument list that owns its strings. One element after v[n-1] is always
 * NULL after args_end, as execv wants it.
 */
#ifndef MORPH_ARGS_H
#define MORPH_ARGS_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>

struct args {
	char **v;
	size_t n, cap;
};

void args_add(struct args *a, const char *s);
/* Takes over a string of malloc. */
void args_take(struct args *a, char *s);
/* Terminates with NULL; returns a->v. */
char **args_end(struct args *a);
void args_free(struct args *a);
/* Is s in a list that NULL ends? */
bool args_among(const char *const *list, const char *s);
/* All elements with sep between them; to free. */
char *args_join(const struct args *a, char sep);

/*
 * Splits the text of a response file as libiberty's buildargv does: white
 * space separates, '…' and "…" quote, a backslash takes the next character
 * as it is.
 */
void args_split(struct args *out, const char *text, size_t n);

/*
 * Copies argv[1…], with every @FILE that can be read replaced by the file's
 * arguments, recursively (an @FILE that is no file stays what it is, as in
 * binutils). Fails when files nest without end.
 */
int args_expand(struct args *out, int argc, char **argv, struct err *e);

#endif
