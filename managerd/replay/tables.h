/*
 * Replay tables (common/uops.h) and shapes (docs/FORMATS.md) in a folder of the manager's:
 * MODULE-OWNER-ORIGIN.uops or .shapes, all in hex, OWNER a uid. A module has one, of its present
 * program; a job of the editor made it, so it is checked whenever it is read, shapes by another
 * job of the editor. Another owner's program at the same path has its own, whatever build it calls
 * itself.
 */
#ifndef MORPH_MANAGERD_TABLES_H
#define MORPH_MANAGERD_TABLES_H

#include "common/elf/buildid.h"
#include "common/hash.h"
#include "common/uops.h"
#include "managerd/priv/blob.h"

#include <stdbool.h>

enum table_kind { TABLE_REPLAY, TABLE_SHAPES, TABLE_KINDS };

struct table_name {
	uint64_t module;
	uint32_t uid;
	struct build_id origin;
	enum table_kind kind;
};

bool table_name_equal(const struct table_name *a, const struct table_name *b);
/* Is there one? */
bool tables_have(const char *dir, const struct table_name *name);
/*
 * 1 read, 0 absent, -1 with why; one that is damaged is removed. Of a large one
 * (TABLES_LARGE bytes) only the functions whose keys `used` has, if it is not NULL; *part
 * (may be NULL) says so. May be called in the pool.
 */
enum { TABLES_LARGE = 2 << 20 };
int tables_load(const char *dir, const struct table_name *name, const struct htab *used,
    struct uops *u, bool *part, struct err *e);
/* Takes a table, if it is one; little of it is in memory at a time. May be called in the pool;
 * afterwards the module's earlier one is to be swept. */
int tables_take(const char *dir, const struct table_name *name, struct blob *table, struct err *e);
/* Shapes of another program of this module and owner: open, -1 = none. */
int tables_open_other(const char *dir, const struct table_name *name);
void tables_forget(const char *dir, const struct table_name *name);
/* Removes the files that keep() does not say yes to. */
void tables_sweep(
    const char *dir, bool (*keep)(void *arg, const struct table_name *name), void *arg);

#endif
