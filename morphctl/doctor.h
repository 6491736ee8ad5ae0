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

/* Prints what it found, and what to change. 0: nothing stands in the way; 1: something does, or
 * there is no build in the folder. */
int doctor(const char *folder);

#endif
