/*
 * The names of compiler drivers that take -B: those of GCC and clang, for this machine. Pure.
 *
 *	[TUPLE-]NAME[-VERSION]    x86_64-linux-gnu-gcc-12, g++-12, clang-19, c99
 *
 * TUPLE is x86_64-…linux…; not one of another word size or C library, whose as and ld are
 * others. NAME is one of the table's.
 */
#ifndef MORPH_DRIVER_H
#define MORPH_DRIVER_H

#include <stdbool.h>

/* name: without folders. */
bool driver_name(const char *name);
/* Is it a program that runs the GCC that lies beside it, whatever PATH says? It takes no -B, but
 * its GCC heeds COMPILER_PATH. */
bool driver_caller(const char *name);

#endif
