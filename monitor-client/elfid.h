/*
 * The build-id of the file behind a mapping, where the kernel's record did
 * not bring it (a cold page, an older kernel, the snapshot at the start).
 * What was read is kept by (device, inode, time of change), at most
 * ELFID_CACHE files, so that each file is read once and a replaced one again.
 */
#ifndef MORPH_ELFID_H
#define MORPH_ELFID_H

#include "common/hash.h"
#include "monitor-client/event.h"

enum { ELFID_CACHE = 4096 };

struct elfid {
	struct htab seen; /* key -> index + 1 into ids */
	struct build_id *ids;
};

enum elfid_result {
	ELFID_FOUND,
	ELFID_NONE,  /* no ELF file, one without build-id, or not to be had */
	ELFID_LATER, /* the process was gone; another one of the file may help */
};

/* proc: "/proc". */
enum elfid_result elfid_get(struct elfid *c, const char *proc, uint32_t pid,
    const struct event_map *m, struct build_id *id);
void elfid_free(struct elfid *c);

#endif
