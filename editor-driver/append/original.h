/*
 * The file that code is added to: foreign input, of which all is checked here that the rest of this
 * room relies on.
 */
#ifndef MORPH_APPEND_ORIGINAL_H
#define MORPH_APPEND_ORIGINAL_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/unwind/ehframe.h"

#include <elf.h>
#include <stdbool.h>

enum { PAGE = 4096 };

struct original {
	const char *path; /* for messages; the caller's */
	struct buf file;
	Elf64_Ehdr eh;
	/* PT_LOADs are ascending and disjoint, and none wraps. */
	VEC(Elf64_Phdr) segment;
	VEC(Elf64_Shdr) section; /* each in the file; empty: section headers were stripped */
	uint64_t id_at;          /* offset in the file of the build-id's bytes */
	unsigned id_n;
	struct eh_frames frames; /* its .eh_frame */
	uint64_t end;            /* address after all that is loaded */
};

/* Reads the file of this build-id. Free it in any case. */
int original_read(const char *path, const struct build_id *id, struct original *o, struct err *e);
/* The same of bytes, which it takes over. */
int original_parse(struct buf *file, const char *path, const struct build_id *id,
    struct original *o, struct err *e);
void original_free(struct original *o);

/* "" where it has none. */
const char *original_section_name(const struct original *o, size_t i);
/* n bytes at an address that a segment with these flags (PF_*) has in the file, or NULL. */
const uint8_t *original_at(const struct original *o, uint64_t addr, uint64_t n, uint32_t flags);
/* What is in the file from the address on, to the end of its segment: *n bytes. */
const uint8_t *original_from(const struct original *o, uint64_t addr, uint32_t flags, uint64_t *n);

#endif
