/*
 * Block map: of one build, where every basic block of the intermediate form
 * lies. Source in the ELF file (docs/FORMATS.md): section .llvm_bb_addr_map
 * version 2, one entry per fragment, and section .morph.fn, which names the
 * function of each fragment. Independent of any layout: block ids are ordinals
 * of the original text.
 */
#ifndef MORPH_BLOCKMAP_H
#define MORPH_BLOCKMAP_H

#include "common/elf/elf.h"
#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* One record of .morph.fn, packed little-endian, 24 bytes. */
struct bm_fn_record {
	uint64_t addr;     /* relocated address of the fragment's first block */
	uint64_t tu;       /* hash_short of the TU's intermediate form */
	uint32_t func;     /* ordinal of the function in the TU */
	uint32_t fragment; /* 0 = the one that holds the entry */
};

struct bm_block {
	uint64_t addr; /* virtual address */
	uint32_t size; /* bytes; may be 0 (an empty block, or one that vanished) */
	uint32_t id;   /* ordinal in the function's original text; a copy has the same */
	uint32_t frag; /* index into frag[] */
};

struct bm_frag {
	uint64_t addr, tu;
	uint32_t size, func, fragment;
	uint32_t first, n; /* its blocks in block[] */
};

struct blockmap {
	struct build_id id, origin;  /* origin.n = 0: the original build itself */
	VEC(struct elf_segment) seg; /* executable, for file offset -> address */
	VEC(struct bm_frag) frag;    /* ascending addr */
	VEC(struct bm_block) block;  /* ascending addr; frag[i] owns a run */
};

/* Reads the map out of an executable or shared library. Fails when the file
 * has no map. Foreign entries (clang's own, without .morph.fn record) are
 * left out. */
int blockmap_from_elf(struct elf *f, struct blockmap *m, struct err *e);

/* The form in artifact and store: FORMATS.md "block map blob". Decode checks
 * everything: order, overlap, sizes. */
void blockmap_encode(const struct blockmap *m, struct buf *out);
int blockmap_decode(const void *p, size_t n, struct blockmap *m, struct err *e);
void blockmap_copy(const struct blockmap *m, struct blockmap *copy);
/* made: the map of a build with added code (docs/FORMATS.md), which has that code alone. Puts
 * before it what the original's map says, since that is where it was. */
void blockmap_put_original(struct blockmap *made, const struct blockmap *original);
void blockmap_free(struct blockmap *m);

/* The block at an address, or NULL. Binary search. */
const struct bm_block *blockmap_find(const struct blockmap *m, uint64_t addr);
/* The file offset of size bytes at an address; false where no executable segment holds them. */
bool blockmap_offset(const struct blockmap *m, uint64_t addr, uint64_t size, uint64_t *off);

#endif
