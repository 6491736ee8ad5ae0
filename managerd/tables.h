/*
 * Witness tables (common/uops.h) in a folder of the manager's:
 * MODULE-ORIGIN.uops, both in hex. A module has one, of its present program; a
 * job of the editor made it, so it is checked whenever it is read.
 */
#ifndef MORPH_MANAGERD_TABLES_H
#define MORPH_MANAGERD_TABLES_H

#include "common/elf.h"
#include "common/uops.h"

#include <stdbool.h>

/* Is there one? */
bool tables_have(const char *dir, uint64_t module, const struct build_id *origin);
/* 1 read, 0 absent, -1 with why; one that is damaged is removed. */
int tables_load(const char *dir, uint64_t module, const struct build_id *origin, struct uops *u,
    struct err *e);
/* Takes the table in the file at path, and forgets the module's earlier one. */
int tables_take(const char *dir, uint64_t module, const struct build_id *origin, const char *path,
    struct err *e);
/* Removes the files that keep() does not say yes to. */
void tables_sweep(const char *dir,
    bool (*keep)(void *arg, uint64_t module, const struct build_id *origin), void *arg);

#endif
