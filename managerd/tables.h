/*
 * Witness tables (common/uops.h) in a folder of the manager's:
 * MODULE-ORIGIN.uops, both in hex. A module has one, of its present program; a
 * job of the editor made it, so it is checked whenever it is read.
 */
#ifndef MORPH_MANAGERD_TABLES_H
#define MORPH_MANAGERD_TABLES_H

#include "common/buildid.h"
#include "common/hash.h"
#include "common/uops.h"
#include "managerd/blob.h"

#include <stdbool.h>

/* Is there one? */
bool tables_have(const char *dir, uint64_t module, const struct build_id *origin);
/*
 * 1 read, 0 absent, -1 with why; one that is damaged is removed. Of a large one
 * (TABLES_LARGE bytes) only the functions whose keys `used` has, if it is not NULL; *part
 * (may be NULL) says so. May be called in the pool.
 */
enum { TABLES_LARGE = 2 << 20 };
int tables_load(const char *dir, uint64_t module, const struct build_id *origin,
    const struct htab *used, struct uops *u, bool *part, struct err *e);
/* Takes a table, if it is one; little of it is in memory at a time. May be called in the pool;
 * afterwards the module's earlier one is to be swept. */
int tables_take(const char *dir, uint64_t module, const struct build_id *origin,
    struct blob *table, struct err *e);
/* Removes the files that keep() does not say yes to. */
void tables_sweep(const char *dir,
    bool (*keep)(void *arg, uint64_t module, const struct build_id *origin), void *arg);

#endif
