/*
 * The shape of a command line: which processes do the same kind of work. It is read from the stack
 * of a program that has not run yet, as the kernel lays it out for exec (System V ABI, AMD64
 * supplement, "Process Initialization"): argc, then argc pointers to the arguments.
 *
 * Command lines hold secrets. Of one there stays a number, keyed with random bytes of this process
 * so that nobody finds out by trying what it is of. It is equal for equal
 *   - name of the program, without folders and with 0 for each number
 *   - options in their order, without values: of -x... two characters, of --name=... the name
 *   - operands: for each run of the same kind, which kind (a number, a file name's extension of
 *     letters and digits, "-" or anything else) and their count to the next power of two
 * of the first CMDLINE_ARGS arguments, and whether there are more.
 */
#ifndef MORPH_CMDLINE_H
#define MORPH_CMDLINE_H

#include <stddef.h>
#include <stdint.h>

enum { CMDLINE_ARGS = 64, CMDLINE_TEXT = 2048 };

/* In place of a shape: this time the arguments did not come. The kernel does not copy them of up to
 * half of the execs, by where the stack happens to lie, not by what the program is; or it had no
 * room for the record. */
#define CMDLINE_CUT 1
/* n bytes of the stack from its pointer sp upwards. 0: not all arguments are in them. */
uint64_t cmdline_shape(const uint8_t *stack, size_t n, uint64_t sp);
/* What is hashed, for tests: "prog\n-o\n.c 2\n". Returns its length, 0 as above. The caller wipes
 * it. */
size_t cmdline_text(const uint8_t *stack, size_t n, uint64_t sp, char out[CMDLINE_TEXT]);

#endif
