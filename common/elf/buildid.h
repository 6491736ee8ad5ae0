/*
 * Build-ids: the content of a NT_GNU_BUILD_ID note, which names one build of a
 * program. Pure; reading the note from a file is common/elf/elf.h.
 */
#ifndef MORPH_BUILDID_H
#define MORPH_BUILDID_H

#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct build_id {
	uint8_t n; /* bytes, 0 = none; at most 32 */
	uint8_t b[32];
};

enum { BUILD_ID_HEX = 65 };
/* Lower-case hex into out, which is returned. */
const char *build_id_hex(const struct build_id *id, char out[BUILD_ID_HEX]);
/* 0, or -1 when hex is not 1 to 32 bytes in lower-case hex. */
int build_id_parse(const char *hex, struct build_id *id);
/* In a stream: its length in one byte, and its bytes. Reading moves *p past it; -1 when it is cut
 * off or too long. */
void build_id_put(struct buf *out, const struct build_id *id);
int build_id_get(const uint8_t **p, const uint8_t *end, struct build_id *id);
/* FOLDER/xx/yyyy….morph, xx the first two of its hex digits: where an artifact lies in a folder
 * of artifacts, whose name has n bytes. To free; NULL when the build-id is too short. */
char *build_id_path(const char *folder, size_t n, const struct build_id *id);
bool build_id_equal(const struct build_id *a, const struct build_id *b);

#endif
