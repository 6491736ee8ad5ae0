/*
 * What a job found out, for people and as JSON.
 */
#ifndef MORPH_REPORT_H
#define MORPH_REPORT_H

#include "editor-driver/job.h"

/* Each prints to standard output; 0, or -1 when that could not be written. */
int report_edit(const struct job *j, bool json);
int report_witness(const struct job *j, bool json);
int report_score(const struct job *j, bool json);
int report_artifact(const struct job *j, bool json);
int report_read(const struct job *j, bool json);
/* {"ok":false,"error":…}; nothing unless json. */
int report_failure(const char *error, bool json);

#endif
