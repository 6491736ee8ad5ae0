/*
 * Objects linked to the place of the new segment: by GNU ld, at addresses of the original, without
 * anything of its own.
 */
#ifndef MORPH_APPEND_LINK_H
#define MORPH_APPEND_LINK_H

#include "common/elf/blockmap.h"
#include "editor-driver/append/splice.h"

struct linked {
	struct elf *f;           /* what ld wrote */
	struct splice_code code; /* of it; jumps are the caller's */
	struct blockmap map;     /* of the new bodies */
};

/*
 * Links objects in folder dir (absent, made). fixed: the file is always loaded at the addresses
 * that it was linked to; else nothing may depend on that. Free in any case.
 */
int link_code(char *const *object, size_t n, uint64_t addr, bool fixed, const char *dir,
    struct linked *l, struct err *e);
void linked_free(struct linked *l);

#endif
