/* The functions of an artifact that is opened: rows of their own, or columns in packs. */
#ifndef MORPH_ARTIFACT_FUNCTIONS_H
#define MORPH_ARTIFACT_FUNCTIONS_H

#include "common/artifact/artifact.h"

/* Those of the current program, whose units are read, in order. */
int functions_load(struct artifact *a, struct err *e);

#endif
