/*
 * Section .morph.if of an object: the intermediate form of its TU. Written by
 * the as hook, read by the ld hook; excluded from the final link. After ld -r
 * a section holds several, one after the other. Bytes: docs/FORMATS.md
 * ".morph.if".
 */
#ifndef MORPH_IFSEC_H
#define MORPH_IFSEC_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdint.h>

#define IFSEC_NAME ".morph.if"

struct ifsec {
	const char *as_args;  /* arguments of as besides files, '\n' between them; no NUL after */
	size_t as_args_n;     /* bytes of as_args, no NUL among them */
	uint64_t text_size;   /* bytes, not compressed; at most 1 GiB */
	struct hash128 hash;  /* of the text */
	const uint8_t *funcs; /* the functions of the text, hooks/functions.h */
	size_t funcs_size;
	const uint8_t *z; /* compressed text */
	size_t z_size;
};

/* Appends one record. as_args: NUL-terminated, "" = none. */
void ifsec_put(
    struct buf *out, const char *as_args, const struct buf *funcs, const void *text, size_t n);

/* Reads the record at *p and moves *p past it. Returns 1, 0 at the end, -1
 * on garbage. What out points to lies in the section's bytes. */
int ifsec_next(const uint8_t **p, const uint8_t *end, struct ifsec *out, struct err *e);

/* Appends the text; checks size and hash. On error out is as it was. */
int ifsec_text(const struct ifsec *s, struct buf *out, struct err *e);

#endif
