/*
 * Writers: recordings to files of other tools. The same recording gives the same bytes.
 */
#ifndef MORPH_REPORT_OUT_H
#define MORPH_REPORT_OUT_H

#include "common/err.h"
#include "common/mem.h"
#include "morphctl/report/recording/recording.h"

struct out_options {
	const char *title;    /* of the profile, where a format has one; NULL = none */
	const char *module;   /* the path of the one file that formats of one executable are about;
				 NULL: that with most samples */
	const char *artifact; /* of the program that blocks are of; NULL = none is known */
};

/* As in_format_name(). */
const char *out_format_name(unsigned i, const char **summary);
/* Whether a format needs functions and lines (symbols_resolve()), or addresses alone. */
bool out_needs_symbols(const char *format);

/* Adds locations that a format asks about beyond those that were recorded, by the functions of
 * these: after symbols_resolve(), which then resolves the new ones. */
void out_prepare(struct recording *r, const char *format, const struct out_options *o);

/* Appends the whole file to *out, which may be binary. r is resolved where the format needs it. */
int out_write(const struct recording *r, const char *format, const struct out_options *o,
    struct buf *out, struct err *e);

#endif
