/*
 * Inspections of modules' files, and what is learned from them. Large tables are decoded
 * in the pool; until then the module is as it was.
 */
#ifndef MORPH_MANAGERD_LEARNING_H
#define MORPH_MANAGERD_LEARNING_H

#include "managerd/cycle/changes.h"
#include "managerd/cycle/core.h"
#include "managerd/priv/inspections.h"

struct learning {
	struct core *core;
	struct changes *changes;
	struct inspections *inspections; /* NULL once the manager stops */
	VEC(struct learn *) learn;       /* whose tables the pool decodes */
	void (*settled)(void *arg);      /* batches need not wait for inspections any more */
	void *arg;
};

void learning_start(struct learning *l);
void learning_stop(struct learning *l);
void learning_free(struct learning *l);
/* A fresh inspection at a module's file. False: too many wait. */
bool learning_inspect(struct learning *l, const struct store_module *row);
/* … before it is decided about, for c or nobody. */
void learning_ask(struct learning *l, struct module *mod, struct change_entry *c);
/* Has a file inspected that samples name. True: it is to be waited for. */
bool learning_wanted(struct learning *l, const struct inspection *q);
/* Whether there is nothing that batches wait for. */
bool learning_settled(const struct learning *l);

#endif
