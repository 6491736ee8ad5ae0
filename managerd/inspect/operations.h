/*
 * The operations of inspect.h. Each takes over the descriptors it reads and
 * fills the answer, or returns -1 with the reason, which begins with what the
 * file was taken for ("module: …").
 */
#ifndef MORPH_MANAGERD_INSPECT_OPERATIONS_H
#define MORPH_MANAGERD_INSPECT_OPERATIONS_H

#include "managerd/inspect/answer.h"

int inspect_module(struct answer *a, struct err *e);
int inspect_artifact(struct answer *a, struct err *e);
int inspect_pair(struct answer *a, struct err *e);
int inspect_output(struct answer *a, struct err *e);
int inspect_table(struct answer *a, struct err *e);
int inspect_bytes(struct answer *a, struct err *e);
int inspect_list(struct answer *a, struct err *e);

#endif
