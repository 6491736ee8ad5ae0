/*
 * Giving up rights before the first byte of an artifact is read: no new
 * privileges, no network and no other ways out (seccomp), writing only where
 * the job writes (Landlock, Linux 5.19 and later), no core files, a bound on
 * memory and file size. as and ld inherit all of it.
 */
#ifndef MORPH_SANDBOX_H
#define MORPH_SANDBOX_H

#include "common/err.h"

#include <stddef.h>

/*
 * writable: n folders that exist, NULL entries are left out; below scratch, or
 * NULL, empty folders may be removed. Everything else becomes read-only where
 * the kernel has Landlock, and stays what it was where it has not (a debug
 * line says so). seccomp is not optional: where it cannot be had this fails.
 */
int sandbox_enter(
    const char *const *writable, size_t n, const char *scratch, struct err *e);

/*
 * Whose work this may do: root only root's artifacts, so that no one else's
 * text is parsed with root's rights.
 */
int sandbox_may_edit(const char *artifact, struct err *e);

#endif
