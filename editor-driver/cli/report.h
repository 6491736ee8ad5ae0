/*
 * The result of a job, as text and as JSON, on standard output.
 */
#ifndef MORPH_REPORT_H
#define MORPH_REPORT_H

#include "editor-driver/job/job.h"

/* Of the job that j's options ask for. 0, or -1 when it could not be written. */
int report(const struct job *j);
/* {"ok":false,"error":…}; nothing unless json. */
int report_failure(const char *error, bool json);

#endif
