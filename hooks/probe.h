/*
 * Which outputs are a configure script's questions to the compiler and not
 * products: their links get no artifact and no line in the log, so that a
 * probe is as quick and leaves as little as without the hooks. Pure.
 *
 *	conftest, conftest.*        autoconf (its a.out is known by its source, see as.c)
 *	…/CMakeFiles/CMakeTmp/…, …/CMakeFiles/CMakeScratch/…,
 *	…/CMakeFiles/VERSION/CompilerIdC/…, CompilerIdCXX     CMake
 *	…/meson-private/…           Meson
 */
#ifndef MORPH_PROBE_H
#define MORPH_PROBE_H

#include <stdbool.h>

/* path: of the output, absolute. */
bool probe_output(const char *path);

#endif
