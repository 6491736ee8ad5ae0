/*
 * Large answers and files, mapped instead of read: what nobody looked at, or
 * was released again, takes no memory.
 *
 * The mapped file must not shrink meanwhile: sealed or unlinked memory of the
 * parent's, or a file that the manager alone writes and only ever renames.
 */
#ifndef MORPH_MANAGERD_BLOB_H
#define MORPH_MANAGERD_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob {
	const uint8_t *p; /* the bytes, NULL = none */
	size_t n;
	/* of the mapping, owned */
	uint8_t *base;
	size_t size, released; /* bytes */
};

/* All of a file; no bytes when it is empty or cannot be mapped. fd stays the caller's. */
struct blob blob_of_fd(int fd);
/* Bytes [at, at + n) of it, which it need not have: then none. Owns nothing. */
struct blob blob_part(const struct blob *b, uint64_t at, uint64_t n);
/* Narrows it to a part; the mapping stays its own. */
void blob_narrow(struct blob *b, const struct blob *part);
/* The new owner; *b is empty. */
struct blob blob_take(struct blob *b);
/* Bytes before end will not be read soon. Cheap: it waits until there are many. */
void blob_release(struct blob *b, const void *end);
void blob_free(struct blob *b);

#endif
