/*
 * Artifacts by build-id, apart from builds and programs: FOLDER/xx/yyyy….morph
 * (docs/FORMATS.md, "By build-id").
 */
#ifndef MORPH_MORPHCTL_STORE_H
#define MORPH_MORPHCTL_STORE_H

#include "common/err.h"

#include <jansson.h>

/*
 * Finds the artifact of every program and shared library below the folder (NULL: where a system
 * has them), by its build-id, and puts it into INTO/usr/lib/morph, compact (compact.h). Links are
 * not followed. What has none is no error. *done: {"installed": [{"path", "build_id", "artifact",
 * "bytes"}], "without": [path]}.
 */
int store_install(const char *folder, const char *into, json_t **done, struct err *e);
/* After a build that ended with this status: the same into the folder itself, where it is 0, and
 * one line about it on standard error. Returns the exit status of all. */
int store_install_built(const char *folder, int status);

#endif
