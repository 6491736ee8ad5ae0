/* The files that have names for a file of a recording, opened by who asks. */
#ifndef MORPH_REPORT_OPEN_H
#define MORPH_REPORT_OPEN_H

#include "morphctl/report/symbols/symbols.h"

/* For the child to read; -1: there is none, or none to be believed. */
int open_for(const struct recording_file *f, const struct symbols_options *o);
/* The folder of separate debug files. */
const char *open_debug_folder(const struct symbols_options *o);

#endif
