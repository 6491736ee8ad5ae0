/*
 * What an operation finds out, and writing it down.
 */
#ifndef MORPH_MANAGERD_INSPECT_ANSWER_H
#define MORPH_MANAGERD_INSPECT_ANSWER_H

#include "common/err.h"
#include "common/mem.h"
#include "managerd/inspect/inspect.h"

struct answer {
	struct inspect_head head; /* magic and places are answer_write()'s */
	struct buf table, map;    /* n = 0: none */
};

/* Forgets what was found; why goes into text, cut at its end. */
void answer_refuse(struct answer *a, const struct err *why);
/* Writes it to an empty file, the head last. -1: no answer is there. */
int answer_write(struct answer *a, int fd, struct err *e);
void answer_free(struct answer *a);

#endif
