/*
 * The hooks' log: doubts and pass-throughs of as, ld and morph-cc, one JSON
 * object a line, {"time":…,"tool":…,"output":…,"reason":…}, shown by
 * `morphctl hooks log`. A line is one write to a file opened for appending.
 * Beyond 1 MiB the file is renamed to NAME.1 and a new one is begun. Nothing here ever
 * fails: a build must not notice that a log cannot be written.
 */
#ifndef MORPH_HOOKLOG_H
#define MORPH_HOOKLOG_H

#include <stdbool.h>

enum { HOOKLOG_MAX = 1 << 20 };

/* $MORPH_HOOKS_LOG, else ${XDG_STATE_HOME:-~/.local/state}/morph/hooks.log.
 * To free; NULL when there is neither a home nor a setting. */
char *hooklog_path(void);

/* output: what was being made, may be NULL. */
void hooklog(const char *tool, const char *output, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The run: while `morphctl hooks run` waits for a build, $MORPH_HOOKS_RUN is a folder of its own.
 *	events    the lines of this build's doubts, and one without a reason for each artifact;
 *	          then "library" says whether it is a shared library's
 *	objects   a byte for each object that was annotated
 *	KEY       is there when hooklog_first(KEY) was called
 * Without a run nothing is written.
 */
#define HOOKLOG_RUN "MORPH_HOOKS_RUN"
#define HOOKLOG_PROBE "probe" /* the key of a configure script's questions */

void hooklog_artifact(const char *output, bool library);
void hooklog_object(void);
/* Is this the first call for key in this run? Without a run always. */
bool hooklog_first(const char *key);

#endif
