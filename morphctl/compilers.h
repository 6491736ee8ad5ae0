/*
 * The folder of names that comes first in PATH while a build is hooked: a link to morph-cc for
 * every GCC and clang driver that PATH has (common/command/driver.h), and links to the hooks by the
 * names under which as and ld are called, since a GCC that was called by its path looks for them
 * in PATH. It is the user's own, in the state folder, and stays: build systems write down where
 * they found a compiler.
 */
#ifndef MORPH_MORPHCTL_COMPILERS_H
#define MORPH_MORPHCTL_COMPILERS_H

/* Brings the folder up to date; to free. Where there is no home to have one in, the installed
 * folder with the usual names. NULL: the hooks are not there; it is said. */
char *compilers_folder(void);

#endif
