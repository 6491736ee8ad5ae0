/*
 * Writing a file that is to take another's place: the bytes of one file with
 * the attributes of another.
 */
#ifndef MORPH_PARENT_STAGE_H
#define MORPH_PARENT_STAGE_H

#include "common/err.h"

#include <stdint.h>
#include <sys/stat.h>

/* Copies all bytes of `from` (its size: n) to the empty file `to`; half is
 * called in the middle (NULL = nothing is). Fails when from turns out shorter. */
int stage_copy(int from, int to, uint64_t n, void (*half)(void), struct err *e);
/* Owner, mode, extended attributes (access lists and labels among them) and
 * times of the file `like`, and no others. */
int stage_attributes(int like, const struct stat *st, int to, struct err *e);
/* Room for n more bytes and a new file, with some to spare, in the file
 * system of an open directory or file? what: for the message. */
int stage_space(int fd, uint64_t n, const char *what, struct err *e);

#endif
