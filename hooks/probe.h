/*
 * Which outputs are a configure script's questions to the compiler and not
 * products: their links get no artifact and no line in the log, so that a
 * probe is as quick and leaves as little as without the hooks. Pure.
 *
 *	conftest, conftest.*        autoconf
 *	…/cg…/dummy.o               config.guess
 *	…/CMakeFiles/CMakeTmp/…, …/CMakeFiles/CMakeScratch/…,
 *	…/CMakeFiles/VERSION/CompilerIdC/…, CompilerIdCXX     CMake
 *	…/meson-private/…           Meson
 */
#ifndef MORPH_PROBE_H
#define MORPH_PROBE_H

#include <stdbool.h>

/* path: of the output, absolute. */
bool probe_output(const char *path);

/* The same by the name of the source, with or without folders: of what is compiled and linked
 * in one go the output is a.out. conftest.*; CMakeCCompilerId.c and those of other languages. */
bool probe_source(const char *name);

/*
 * Is this output where a packaging tool counts the files that a build leaves? Then nothing
 * may lie beside it: PACKAGE-VERSION/_build/sub/… is automake's `make distcheck`.
 */
bool probe_counted(const char *path);

#endif
