/* What both proofs of a new build (verify.h, appended.h) ask of it. */
#ifndef MORPH_PROOF_MADE_H
#define MORPH_PROOF_MADE_H

#include "editor-driver/proof/verify.h"

/* A build-id of its own, and a note that names its origin, or the build that it counts. */
int made_ids_check(struct elf *made, const struct build_id *origin, bool counting, struct err *e);
/* Bytes that are loaded from the file. */
uint64_t made_size(struct elf *f);

/* The blocks of a map, ascending, and how often each is there (n). */
typedef VEC(struct verify_copies) made_blocks;
void made_blocks_list(const struct blockmap *m, made_blocks *out);
/* Is each of the original's blocks there as often as before, and its copies (w->copy) as often
 * again? */
int made_blocks_compare(
    const made_blocks *made, const made_blocks *orig, const struct verify_wanted *w, struct err *e);

#endif
