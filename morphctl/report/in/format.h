/*
 * What the formats of this room share. A format says whether a file begins as it does (sniff), and
 * adds what is in it to a recording (read).
 */
#ifndef MORPH_REPORT_IN_FORMAT_H
#define MORPH_REPORT_IN_FORMAT_H

#include "morphctl/report/in/in.h"

struct in_file {
	const char *name; /* for messages */
	const uint8_t *p;
	size_t n;
};

struct in_format {
	const char *name, *summary;
	bool (*sniff)(const struct in_file *f);
	int (*read)(struct recording *r, const struct in_file *f, const struct in_options *o,
	    struct err *e);
};

extern const struct in_format in_perf, in_pprof, in_morph, in_addresses, in_profile, in_autofdo,
    in_fdata, in_preaggregated, in_gcov, in_llvm, in_folded;

#endif
