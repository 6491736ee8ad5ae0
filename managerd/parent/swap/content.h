/*
 * What a file holds, as a cryptographic hash: BLAKE2b-256 (RFC 7693) of
 * libsodium. Nobody can make two files that are the same by it. Hashing is all
 * that is done here with the bytes.
 */
#ifndef MORPH_PARENT_CONTENT_H
#define MORPH_PARENT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct content {
	uint8_t b[32];
};

enum { CONTENT_HEX = 65 };

struct content content_of_bytes(const void *p, size_t n);
/* Of the first n bytes of an open file, wherever its offset is. -1 and errno;
 * EIO when it is shorter. */
int content_of_file(int fd, uint64_t n, struct content *c);
bool content_equal(const struct content *a, const struct content *b);
/* 64 lower-case hex digits and a NUL into out. */
const char *content_hex(const struct content *c, char out[CONTENT_HEX]);
/* 0, or -1 unless s is exactly that. */
int content_parse(const char *s, struct content *c);

#endif
