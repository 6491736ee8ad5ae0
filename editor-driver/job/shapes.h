/*
 * The shapes of an artifact (editor/shape/shape.h), and a profile carried over to it.
 */
#ifndef MORPH_EDITOR_DRIVER_SHAPES_H
#define MORPH_EDITOR_DRIVER_SHAPES_H

#include "editor-driver/plan/plan.h"
#include "editor-driver/profile/carry.h"

/* Appends the bytes of the file. The plan was begun; all of its units are read. */
int shapes_make(struct plan *p, struct buf *out, struct err *e);
/* Appends the profile at `samples`, of the build whose shapes are at `shapes`, as one of the plan's
 * artifact. The plan was begun. */
int shapes_carry(struct plan *p, const char *shapes, const char *samples,
    struct carried by[SHAPE_RENAMED + 1], struct buf *out, struct err *e);

#endif
