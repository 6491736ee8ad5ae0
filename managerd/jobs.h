/*
 * Job folders: STATE/jobs/NAME, NAME = 16 hex digits. Made by whom serves the
 * verbs, then given to the user the job runs as; in system mode its group is
 * the manager's, which reads the build there.
 */
#ifndef MORPH_MANAGERD_JOBS_H
#define MORPH_MANAGERD_JOBS_H

#include "common/err.h"
#include "managerd/priv.h"

#include <stdbool.h>
#include <sys/types.h>

/* Is this a name as jobs_make() gives them? */
bool jobs_name_valid(const char *name);
/* STATE/jobs/NAME[/FILE]; to free. */
char *jobs_path(const char *state, const char *name, const char *file);
/* Makes a new folder with the file "samples" and, unless original is -1, the
 * file "original" (copied from descriptors of regular files, from their begin),
 * and gives all to uid:gid when give is set. */
int jobs_make(const char *state, int samples, int original, bool give, uid_t uid, gid_t gid,
    char name[PRIV_JOB_NAME], struct err *e);
int jobs_drop(const char *state, const char *name, struct err *e);
/* STATE/cache/UID, where the edits of a user keep what they made; made when
 * absent, given to uid:gid when give is set, and no one else's to write. To
 * free; NULL and why. */
char *jobs_cache(const char *state, bool give, uid_t uid, gid_t gid, struct err *e);
/* At start: kills what earlier jobs of this state left running and removes
 * their folders. */
int jobs_sweep(const char *state, struct err *e);
/* "MORPH_JOB=STATE/jobs/NAME", by which jobs_sweep() knows its own; to free. */
char *jobs_mark(const char *state, const char *name);

#endif
