/*
 * What the files of this room share; each uses those before it: modules.c (rows
 * and memory), maps.c (maps of builds, replay tables), profile.c (profiles),
 * carry.c (… of programs that change), sampled.c (samples by address, what to lift for them),
 * recall.c (profiles from them), room.c (how many), learn.c (what a file has become), find.c (which
 * build samples name).
 */
#ifndef MORPH_MANAGERD_MODULE_PARTS_H
#define MORPH_MANAGERD_MODULE_PARTS_H

#include "managerd/modules/modules.h"
#include "managerd/replay/tables.h"

/* ---- modules.c ---- */

/* A module as the store has it; row is copied. */
struct module *module_add(struct modules *ms, const struct store_module *row);
/* Frees the modules whose row.id is 0, and makes the lists agree. */
void modules_pack(struct modules *ms);
/* Frees profiles, maps and tables; module_load() brings them back. */
void module_unload(struct modules *ms, struct module *m);
/* Keeps account of its memory; after all that loads or grows. */
void module_count_bytes(struct modules *ms, struct module *m);

/* ---- maps.c ---- */

/* The functions of an original build, from the store, loaded once. *o = NULL:
 * the store has none. */
int module_load_origin(struct modules *ms, struct module *m, const struct build_id *id,
    struct origin **o, struct err *e);
/* A build known to the store, with its map, loaded once. *b = NULL: it is not
 * known, or its map is gone. 1: it takes long, and is being loaded or waits for it. */
int module_load_build(struct modules *ms, struct module *m, const struct build_id *id,
    struct build **b, struct err *e);
/* The module has this table and map now, where it has none of their builds; j is
 * emptied. The build, or NULL where it is one that was there. */
struct build *module_add_joined(struct modules *ms, struct module *m, const struct build_id *id,
    const struct build_id *origin, struct joined *j);

/* The name of what there is of the present program, in the folder of tables. */
struct table_name module_table_name(const struct module *m, enum table_kind kind);

/* ---- carry.c ---- */

/* The profile of the program of `origin` becomes that of another one's functions, t: equal ones
 * keep theirs, and what others had is to be carried over, or as module_carry() says. */
int module_take_over(struct modules *ms, struct module *m, const struct build_id *origin,
    const struct map_table *t, int64_t now_ms, struct err *e);

/* The profile becomes that of more functions of the same program, t, and what was made of it before
 * is forgotten. *lost: samples of functions that are others now, which have none. */
int module_lifted_again(struct modules *ms, struct module *m, const struct map_table *t,
    int64_t now_ms, double *lost, struct err *e);

/* ---- profile.c ---- */

/* The row's sum of samples, of the profile as it is now. */
void module_sum(struct modules *ms, struct module *m);

/* ---- sampled.c ---- */

/* Calls each() for every address that the store has samples of, n of them, in a build of the
 * module's, since it is known. */
typedef void module_address_fn(void *arg, uint64_t address, uint64_t n);
int module_addresses(struct modules *ms, const struct module *m, const struct build_id *build,
    int64_t now_ms, module_address_fn *each, void *arg, struct err *e);

/* ---- recall.c ---- */

/* A module that had no artifact until now, b: its present build, which had none ever. Its samples,
 * of which the store has raw counts by address, count as if they had been mapped. */
int module_recall(
    struct modules *ms, struct module *m, const struct build *b, int64_t now_ms, struct err *e);
/* A module that was lifted again, b: its present build. Functions that have no samples get those
 * that were there, which count as `lost` samples of now. */
int module_recall_lost(struct modules *ms, struct module *m, const struct build *b, double lost,
    int64_t now_ms, struct err *e);

/* ---- room.c ---- */

/* Makes room for one more module of a user. 1 there is, 0 there is none, -1. */
int modules_room(struct modules *ms, uint32_t uid, struct err *e);

/* ---- find.c ---- */

/* An inspection has said that the file at a path is not this build, or has no artifact. */
void modules_note_unfit(
    struct modules *ms, const char *path, const struct build_id *id, int64_t now_ms);

#endif
