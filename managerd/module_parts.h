/*
 * What the parts of the modules share; each uses those before it: modules.c
 * (rows and memory), module_maps.c (maps of builds, witness tables),
 * module_profile.c (profiles), module_learn.c (what a file has become),
 * module_find.c (which build samples name). Private to them.
 */
#ifndef MORPH_MANAGERD_MODULE_PARTS_H
#define MORPH_MANAGERD_MODULE_PARTS_H

#include "managerd/modules.h"

/* ---- modules.c ---- */

/* A module as the store has it; row is copied. */
struct module *module_add(struct modules *ms, const struct store_module *row);
/* It is in no list any more. */
void module_free(struct modules *ms, struct module *m);
/* Frees profiles, maps and tables; module_load() brings them back. */
void module_unload(struct modules *ms, struct module *m);
/* Keeps account of its memory; after all that loads or grows. */
void module_count_bytes(struct modules *ms, struct module *m);

/* ---- module_maps.c ---- */

/* The functions of an original build, from the store, loaded once. *o = NULL:
 * the store has none. */
int module_load_origin(struct modules *ms, struct module *m, const struct build_id *id,
    struct origin **o, struct err *e);
/* A build known to the store, with its map, loaded once. *b = NULL: it is not
 * known, or its map is gone. */
int module_load_build(struct modules *ms, struct module *m, const struct build_id *id,
    struct build **b, struct err *e);

#endif
