/*
 * The proof of a build that was made by adding code to a file (docs/notes/legacy.md,
 * editor-driver/append/): machine code against machine code, decoded again, whatever the text said.
 *
 *	file	every byte of the original is where it was and what it was, but for the ELF header,
 *		the program headers, the build-id, and five bytes at the entry of each moved
 *		function: a jump to its new body
 *	code	each block of a new body has the original block's instructions (its jumps may
 *		differ as layouts make them), leads to the same blocks, refers to the same
 *addresses; calls and jumps out of it lead to the same function, at its old or new place tables
 *jump tables of new bodies lead to the corresponding blocks, entry by entry, for as many entries as
 *the old one may have
 *	unwind	at every instruction the same rules, personality routine, landing pad and actions;
 *the index (.eh_frame_hdr) has all records of both, ascending
 *	map	each block of a moved function once more, and its copies
 */
#ifndef MORPH_APPENDED_H
#define MORPH_APPENDED_H

#include "editor-driver/proof/verify.h"

/* As verify_build(); w->edited are the units of moved functions, of one function each. */
int appended_verify(const char *path, const char *original, const struct verify_wanted *w,
    struct verified *out, struct err *e);

#endif
