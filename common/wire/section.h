/*
 * A section of a batch (common/wire/wire.h): 1 byte type, 4 bytes length, that many bytes. For the
 * files of this room.
 */
#ifndef MORPH_WIRE_SECTION_H
#define MORPH_WIRE_SECTION_H

#include "common/le.h"
#include "common/wire/wire.h"

#include <string.h>

enum { SECTION_LENGTH_AT = 1, SECTION_HEAD = 5 };

/* Where it begins; its bytes are appended next. */
static inline size_t section_begin(struct buf *out)
{
	memset(buf_grow(out, SECTION_HEAD), 0, SECTION_HEAD);
	return out->n - SECTION_HEAD;
}

static inline void section_end(struct buf *out, size_t at, enum wire_section type)
{
	out->p[at] = (char)type;
	put_le32(out->p + at + SECTION_LENGTH_AT, (uint32_t)(out->n - at - SECTION_HEAD));
}

#endif
