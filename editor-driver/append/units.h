/*
 * The units of moved functions as objects: printed, encoded (lifter/encode.h), assembled; many in
 * one object, since to begin a program takes longer than to assemble a function.
 */
#ifndef MORPH_APPEND_UNITS_H
#define MORPH_APPEND_UNITS_H

#include "editor-driver/link/objects.h"
#include "editor-driver/plan/plan.h"

struct units {
	VEC(struct plan_tu *) moved;
	VEC(char *) object; /* paths */
};

/* Lists the units whose function moves; fails where the artifact is not as lifted ones are. Free
 * in any case. */
int units_list(struct plan *p, struct units *u, struct err *e);
/* Makes the objects in folder dir, and one of what they refer to: `image`, the entries of functions
 * that do not move; with the note that names the origin, and the end of unwind information. */
int units_make(struct plan *p, struct objects *o, const char *dir, struct units *u, struct err *e);
void units_free(struct units *u);

#endif
