/*
 * Little-endian numbers in bytes of any alignment.
 */
#ifndef MORPH_LE_H
#define MORPH_LE_H

#include "common/mem.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_le16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return le16toh(v);
}

static inline uint32_t get_le32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return le32toh(v);
}

static inline uint64_t get_le64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return le64toh(v);
}

/* 1 << size bytes; size 0…3. */
static inline uint64_t get_le(const void *p, unsigned size)
{
	switch (size) {
	case 0:
		return *(const uint8_t *)p;
	case 1:
		return get_le16(p);
	case 2:
		return get_le32(p);
	default:
		return get_le64(p);
	}
}

static inline void put_le16(void *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof v);
}

static inline void put_le32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof v);
}

static inline void put_le64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof v);
}

static inline void buf_le32(struct buf *b, uint32_t v)
{
	put_le32(buf_grow(b, sizeof v), v);
}

static inline void buf_le64(struct buf *b, uint64_t v)
{
	put_le64(buf_grow(b, sizeof v), v);
}

#endif
