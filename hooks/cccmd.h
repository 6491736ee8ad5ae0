/*
 * What a compiler driver is asked to do, read only as far as to decide how
 * the hooks get in. Pure.
 */
#ifndef MORPH_CCCMD_H
#define MORPH_CCCMD_H

#include "hooks/args.h"

#include <stdbool.h>

enum cccmd_how {
	CCCMD_ALONE,  /* nothing is assembled or linked, or another assembler was chosen */
	CCCMD_HOOK,   /* -B is enough */
	CCCMD_HOOK_AS /* -B and -fno-integrated-as: clang makes an object */
};

/* arg: expanded, without argv[0]. *why gets the option for which clang assembles by itself
 * though it makes objects, else NULL. */
enum cccmd_how cccmd_read(const struct args *arg, bool clang, const char **why);

/* Whether all that the command makes in that folder is for a configure script's question. */
bool cccmd_probes(const struct args *arg, const char *folder);

/* The linker that the driver is to run: the name of a program ("ld", "ld.lld-19"), or a path. To
 * free. *option: the argument that gives that path, NULL = none does. */
char *cccmd_linker(const struct args *arg, bool clang, const char **option);

/* Where the compiler's name stands in a command: 0, or after one or several launchers
 * ("ccache gcc", "env A=b nice -n 5 gcc"); -1: there is none that we know. */
int cccmd_compiler(int argc, char **argv);

/* Whether the value of this option is the next argument, which may look like a file. */
bool cccmd_takes_value(const char *option);
/* Whether this is the name of a source in C, C++ or Objective-C, "-" included. */
bool cccmd_is_source(const char *s);

/* Whether the program at path (links resolved) is clang by its name. */
bool cccmd_is_clang(const char *path);

#endif
