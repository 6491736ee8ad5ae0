/*
 * What an artifact may make the tools do. Whoever wrote it chose the arguments
 * of as and ld and the names of files; so before any tool runs each of them is
 * shown to be of the tables (common/command/asopt.h, common/command/ldopt.h), and each name of
 * an input to be a plain one: it reaches ld as an argument of its own, ar
 * through a response file (tree.c), and the folders of shared libraries go
 * into -rpath-link, where ':' separates. One that was lifted has neither. What inputs contain is
 * looked at when they are written (tree.c, common/command/ldscript.h).
 */
#ifndef MORPH_VET_H
#define MORPH_VET_H

#include "common/artifact/artifact.h"

/* The error is one line that names the argument or input. Runs nothing. */
int vet_artifact(struct artifact *a, struct err *e);

#endif
