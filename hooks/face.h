/*
 * What a linker reads of a shared library (elf_thin_shared()), packed as an artifact holds it.
 * Those of libraries that have not changed for an hour are kept in the store, beside the artifacts:
 * hashing, cutting down and packing those of the C++ library again takes half as long as linking a
 * small program with it.
 */
#ifndef MORPH_FACE_H
#define MORPH_FACE_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct face {          /* zero-filled = empty */
	uint64_t size; /* not packed */
	struct hash128 hash;
	struct buf z;
	char *kept; /* where it is kept, or may be; NULL = nowhere */
};

/* The one that is kept of the library at path; named as in elf_thin_shared(). False: there is none
 * that can be used; face_make() makes and, where it may, keeps it. */
bool face_find(struct face *f, const char *path, const char *named);
int face_make(struct face *f, const void *library, size_t n, const char *named, struct err *e);
void face_free(struct face *f);

#endif
