/*
 * The command line of morph-edit, and the result of a job, as text and as JSON, on standard output.
 */
#ifndef MORPH_EDITOR_CLI_H
#define MORPH_EDITOR_CLI_H

#include "editor-driver/job/job.h"

#include <jansson.h>

enum { EXIT_CANNOT = 1, EXIT_USAGE = 2, EXIT_LATER = 75 };

/* Sets all of o; its strings are those of argv. Exits with status 0 after --help and --version,
 * EXIT_USAGE on a usage error. */
void options_parse(struct options *o, int argc, char **argv);

/* Of the job that j's options ask for. 0, or -1 when it could not be written. */
int report(const struct job *j);
/* {"ok":false,"error":…}; nothing unless json. */
int report_failure(const char *error, bool json);

/* report_compare.c: of a comparison; compare_json() is the caller's. */
json_t *compare_json(const struct job *j);
void compare_text(const struct job *j);
json_t *score_json_part(const struct score *s);

/* report_annotate.c: likewise of an annotated function. */
json_t *annotate_json(const struct job *j);
void annotate_text(const struct job *j);

/* report_lift.c: likewise of a lifted module. */
json_t *lift_json(const struct job *j);
void lift_text(const struct job *j);

#endif
