/*
 * The run path (DT_RPATH, DT_RUNPATH) of a file, which installers change after the link: CMake,
 * Meson and chrpath write another one over its string in .dynstr, no longer than it was, or take
 * its entry out of .dynamic and close the gap. These bytes are left out when the file is compared
 * with its link repeated, and are carried over to a new build.
 */
#ifndef MORPH_RUNPATH_H
#define MORPH_RUNPATH_H

#include "common/err.h"
#include "common/mem.h"

#include <stdint.h>

struct runpath {
	uint64_t dynamic, dynamic_n; /* offset in the file, bytes */
	uint64_t strings, strings_n; /* of .dynstr */
	uint64_t entry;              /* offset of its entry in .dynamic */
	uint64_t at, n;              /* of its string in .dynstr; n = 0: there is none */
};

/* As the linker wrote it. */
int runpath_find(const struct buf *linked, struct runpath *r, struct err *e);

/* Takes it out of the file it was found in, or of what an installer made of that: afterwards
 * both are the same there. */
void runpath_remove(struct buf *file, const struct runpath *r);

/*
 * Makes the run path of `made`, found as m there, what an installer made of `file`, where the
 * linker had put it at r. 1, 0 = it is the same already, -1 where made keeps other strings, so that
 * it is not known what else would change.
 */
int runpath_carry(const struct buf *file, const struct runpath *r, struct buf *made,
    const struct runpath *m, struct err *e);

#endif
