/*
 * The result of a job, as text and as JSON.
 */
#ifndef MORPH_REPORT_H
#define MORPH_REPORT_H

#include "editor-driver/job/job.h"

#include <jansson.h>

/* Each prints to standard output; 0, or -1 when that could not be written. */
int report_edit(const struct job *j, bool json);
int report_replay(const struct job *j, bool json);
int report_score(const struct job *j, bool json);
int report_artifact(const struct job *j, bool json);
int report_read(const struct job *j, bool json);
/* {"ok":false,"error":…}; nothing unless json. */
int report_failure(const char *error, bool json);

/* What the reports share. Prints and gives back o; 0, or -1. */
int report_json(json_t *o);
int report_text_done(void);
json_t *report_score_json(const struct score *s);

#endif
