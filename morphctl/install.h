/*
 * Artifacts of installed programs, compact (compact.h), by build-id:
 * INTO/usr/lib/morph/xx/yyyy….morph (docs/FORMATS.md, "By build-id"). Programs of a build that have
 * units in common share a file.
 */
#ifndef MORPH_MORPHCTL_INSTALL_H
#define MORPH_MORPHCTL_INSTALL_H

#include "common/err.h"
#include "common/hash.h"

#include <jansson.h>

/*
 * Finds the artifact of every program and shared library below the folder (NULL: where a system
 * has them), by its build-id, and installs it. Links are not followed. What has none is no error.
 * *done: {"installed": [{"path", "build_id", "artifact", "bytes", "same_as"}], "without": [path]}.
 */
int store_install(const char *folder, const char *into, json_t **done, struct err *e);
/* After a build that ended with this status: the same into the folder itself, where it is 0, and
 * one line about it on standard error. Returns the exit status of all. */
int store_install_built(const char *folder, int status);

/* Adds an entry about the artifact that it has a member with the path of; "bytes" and, where an
 * entry before it is the same file by another name, "same_as", the path there. */
void store_list(json_t *list, json_t *entry, const char *member, struct htab *seen);
/* What stands under SIZE for it; adds its bytes, unless they were counted. */
char *store_size(struct arena *a, const json_t *entry, double *bytes);

#endif
