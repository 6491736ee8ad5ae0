/*
 * The folder in which one edit works, and cleaning up after dead edits.
 */
#ifndef MORPH_JOBDIR_H
#define MORPH_JOBDIR_H

#include "common/err.h"

#include <stdbool.h>

struct jobdir {
	char *parent, *path; /* absolute */
	int lock;            /* descriptor of path, locked while the edit lives */
	bool keep;
};

/*
 * keep = NULL: a new folder morph-edit-PID-… below $TMPDIR (or /tmp), after
 * folders of dead edits there were removed. Otherwise this folder, which must
 * be empty or absent and stays.
 */
int jobdir_open(struct jobdir *j, const char *keep, struct err *e);
/* Removes the folder unless it is kept. */
void jobdir_close(struct jobdir *j);

/* Removes unfinished files that dead edits left beside path (common/publish.h). */
void jobdir_sweep_output(const char *path);

#endif
