/*
 * Debug sections of a printed unit, in which distances have changed.
 */
#ifndef MORPH_EDITOR_EMIT_H
#define MORPH_EDITOR_EMIT_H

#include "editor/map/blockmap.h"

/* ranges.c: where the code of an edited unit lies. */
void ranges_find(struct unit_impl *u);
/* Prints a statement of a debug section when it is one of these; else false. */
bool ranges_emit_value(const struct unit_impl *u, const struct stmt *st, const struct map_order *m,
    struct buf *out);
/* Prints the list of all fragments that the unit's first DIE names then. */
void ranges_emit(const struct unit_impl *u, const struct map_order *m, struct buf *out);

/* debug.c: prints a statement of a debug section. Distances between labels in edited functions
 * become 0, and ranges between them empty, since those labels may now lie in different sections or
 * in another order. `m` is what was printed so far. */
void debug_emit(const struct unit_impl *u, const struct unit_placement *placement,
    const struct map_order *m, const struct stmt *st, struct buf *out);
/* Fills stmt.aux of the ends of absolute ranges. */
void debug_find_pairs(struct unit_impl *u);
/* Fills stmt.aux of every .loc: is_stmt holds until the next that says otherwise. */
void debug_follow_locs(struct unit_impl *u);
/* A .loc directive; *is_stmt is what holds in the printed text. `moved`: after
 * other code than before, so without its view label. */
void debug_emit_loc(const struct stmt *st, bool moved, bool *is_stmt, struct buf *out);

#endif
