/*
 * Other names of a program (hard links), which stay the old build when it is swapped: those in its
 * own folder, as Debian's perl and perl5.36.0, and those that perf(1) gave it: perf record and perf
 * buildid-cache keep executables so where they can, HOME/.debug/PATH/BUILD-ID/elf (older ones
 * without the last part).
 *
 * Nothing is read but names and inodes, and no symbolic link is followed.
 */
#ifndef MORPH_PARENT_LINKS_H
#define MORPH_PARENT_LINKS_H

#include "managerd/parent/trust/trust.h"

/* Names of the open file in its folder, its own among them. */
unsigned links_beside(const struct trusted *t);

/* Those in perf's cache, in the home folders of its owner and of root. Who writes there may be
 * anybody: a folder with more than LINKS_PERF_MAX entries is not searched to its end. */
enum { LINKS_PERF_MAX = 1024 };
unsigned links_of_perf(const struct trusted *t);
/* The same in one home. */
unsigned links_of_perf_in(const char *home, const struct trusted *t);

#endif
