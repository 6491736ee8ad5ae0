/*
 * What the hooks would do with a build that is configured: reads the build's files, runs nothing.
 *
 *	CMakeCache.txt           compilers, launchers and flags of CMake
 *	build.ninja              commands and flags of Meson, and of other generators
 *	GNUmakefile, makefile, Makefile, config.mk    CC, CXX, FC, LD and flags
 *	libtool                  that `make install` links again
 *	objects and programs     below the folder: did they come through the hooks?
 */
#ifndef MORPH_MORPHCTL_DOCTOR_H
#define MORPH_MORPHCTL_DOCTOR_H

#include <stdbool.h>

/* Prints what it found, and what to change. 0: nothing stands in the way; 1: something does, or
 * there is no build in the folder. */
int doctor(const char *folder);

/* The compiler by which the build in the folder is configured so that the hooks do not reach it;
 * NULL: none. Prints nothing. To free. */
char *doctor_unhooked(const char *folder);
/* Do the hooks not reach this compiler, called by its path? */
bool doctor_passed_by(const char *path);

#endif
