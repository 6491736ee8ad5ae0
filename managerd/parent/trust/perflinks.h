/*
 * Names that perf(1) gave a program: perf record and perf buildid-cache keep executables by a hard
 * link where they can, HOME/.debug/PATH/BUILD-ID/elf (older ones without the last part).
 */
#ifndef MORPH_PARENT_PERFLINKS_H
#define MORPH_PARENT_PERFLINKS_H

#include "managerd/parent/trust/trust.h"

/*
 * How many names of the open file lie there, in the home folders of its owner and of root. Nothing
 * is read but names and inodes, no symbolic link is followed, and a folder with more than
 * PERFLINKS_MAX entries is not searched to its end.
 */
enum { PERFLINKS_MAX = 1024 };
unsigned perflinks_count(const struct trusted *t);
/* The same in one home. */
unsigned perflinks_in(const char *home, const struct trusted *t);

#endif
