/*
 * Where an artifact goes: beside its module, and by build-id into the store, the first folder
 * of $MORPH_ARTIFACTS, else ~/.local/share/morph. Into the store alone where a file beside the
 * module would disturb the build: with $MORPH_STORE_ONLY, while a Debian or RPM package is
 * built, and where probe_counted() says so.
 */
#ifndef MORPH_STORE_H
#define MORPH_STORE_H

#include "common/elf/buildid.h"
#include "common/err.h"

#include <stdbool.h>

/* The store; to free. It may not be there yet. NULL: it has no place. */
char *store_folder(struct err *e);

/* Where to publish the artifact of a module; to free. *passing: it must not stay there
 * once it is in the store. NULL: there is no store. */
char *store_path(const char *module, bool *passing, struct err *e);

/* Makes STORE/xx/yyyy.morph: another name of the same file, or on another file
 * system a copy, so that it outlives the build tree. */
int store_put(const struct build_id *id, const char *artifact, struct err *e);

#endif
