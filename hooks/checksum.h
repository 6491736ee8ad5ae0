/*
 * The checksum of an annotated object: proof that nobody changed the object after
 * it was assembled (strip, objcopy, ld -r), for then its intermediate form no
 * longer represents it. Section .morph.seal, excluded from the final link:
 * the hash of the whole object file with these 16 bytes zero.
 */
#ifndef MORPH_CHECKSUM_H
#define MORPH_CHECKSUM_H

#include "common/err.h"

#include <stddef.h>

#define CHECKSUM_SECTION ".morph.seal"

/* Fills the checksum of the object file at path. */
int checksum_file(const char *path, struct err *e);

/* 1 = whole, 0 = no checksum, or broken; -1 = not readable as ELF. The bytes are
 * the caller's to write and come back as they were. */
int checksum_check(void *object, size_t n, const char *name, struct err *e);

#endif
