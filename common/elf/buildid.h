/*
 * Build-ids: the content of a NT_GNU_BUILD_ID note, which names one build of a
 * program. Pure; reading the note from a file is common/elf/elf.h.
 */
#ifndef MORPH_BUILDID_H
#define MORPH_BUILDID_H

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
bool build_id_equal(const struct build_id *a, const struct build_id *b);

#endif
