/*
 * Readers: files of other tools, and of Morph, to recordings. All that is read is foreign: sizes,
 * counts and offsets are checked where they enter; what is wrong is one error that names the file
 * and the offset (or line) in it.
 */
#ifndef MORPH_REPORT_IN_H
#define MORPH_REPORT_IN_H

#include "common/err.h"
#include "morphctl/report/recording/recording.h"

struct in_options {
	const char *format; /* a name of in_format_name(), or NULL: found out by the content */
	const char *module; /* the executable of formats that name only functions or addresses of
			       one (fdata, autofdo, …), or NULL */
};

/* The name of format i = 0, 1, …, as options have it, and what it is in a few words; NULL after
 * the last. */
const char *in_format_name(unsigned i, const char **summary);

/* Adds what the file has to r; part of it, when it fails. path "-" is standard input. gzip'd files
 * are unpacked, of whatever format. */
int in_read(struct recording *r, const char *path, const struct in_options *o, struct err *e);
/* Likewise of bytes in memory; name is for messages. */
int in_read_bytes(struct recording *r, const char *name, const uint8_t *p, size_t n,
    const struct in_options *o, struct err *e);

#endif
