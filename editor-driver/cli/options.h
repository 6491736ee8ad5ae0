/*
 * The command line of morph-edit.
 */
#ifndef MORPH_EDITOR_OPTIONS_H
#define MORPH_EDITOR_OPTIONS_H

#include "editor-driver/job/job.h"

enum { EXIT_CANNOT = 1, EXIT_USAGE = 2, EXIT_LATER = 75 };

/* Sets all of o; its strings are those of argv. Exits with status 0 after --help and --version,
 * EXIT_USAGE on a usage error. */
void options_parse(struct options *o, int argc, char **argv);

#endif
