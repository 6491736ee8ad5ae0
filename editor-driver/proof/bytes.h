/*
 * Comparison of a new build with the original, byte by byte. What is loaded is
 * the same, or differs in what must follow from code having moved:
 *
 *	data	relocated words, whose old value and new value lead to the same
 *		place
 *	code	of units that are not edited, of foreign objects, start files and
 *		stubs: 4-byte operands, likewise; and blocks follow each other as
 *		they did
 *	code	of edited units: block by block the same, but for such operands, the
 *		jumps at its end, and calls through the GOT instead of the PLT
 *	handlers	(.gcc_except_table) at every instruction that was compared, and of every
 *		function that is not edited: the same landing pad, actions and types
 *	tables	of the linker (.eh_frame, .eh_frame_hdr, .rela.*, .relr.dyn, .dynsym,
 *		.dynamic, .plt*, .got*): entry by entry
 *
 * Which place a new address corresponds to is read off both block maps, and for code
 * outside of blocks off its order, which a link keeps. Neither map has to be
 * right: what is shown is that one build is the other under this renaming of
 * addresses.
 *
 * An operand is known by the bytes that differ: what should have changed and did
 * not is not seen. Not compared: the build-id, padding between functions (it must
 * be no-operations or int3 in both; of some linkers also zeros, and jumps over no-operations),
 *unwind information of edited units, hash tables and strings of dynamic symbols (names and versions
 *are).
 */
#ifndef MORPH_BYTES_H
#define MORPH_BYTES_H

#include "common/elf/blockmap.h"

struct bytes_build {
	struct elf *f;
	const struct blockmap *map;
	bool own_padding; /* gold and mold pad between sections in ways of their own */
};

/* Where a difference is. */
struct bytes_position {
	bool known; /* it is in a block */
	uint64_t tu;
	uint32_t func;
};

/*
 * edited[n]: hash_short of the TUs that were edited, ascending. -1, the first
 * difference in e, and the function it is in.
 */
int bytes_compare(const struct bytes_build *made, const struct bytes_build *original,
    const uint64_t *edited, size_t n, struct bytes_position *at, struct err *e);

#endif
