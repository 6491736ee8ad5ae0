/*
 * Modules that a person rolled back: not swapped until a person asks for it.
 * STATE/holds/KEY (KEY: swap_key), which holds the module's path. Kept here and not
 * in the manager's store alone, which may be lost.
 */
#ifndef MORPH_PARENT_HOLDS_H
#define MORPH_PARENT_HOLDS_H

#include "common/err.h"

#include <stdbool.h>

bool holds_have(const char *state, const char *module);
int holds_set(const char *state, const char *module, bool held, struct err *e);

#endif
