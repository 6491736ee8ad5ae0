/*
 * What `morphctl hooks run` says at its end, one line on standard error: how many programs and
 * libraries got their second half and how many files were skipped; where nothing went through the
 * hooks, the likely cause.
 */
#ifndef MORPH_MORPHCTL_HOOKSUMMARY_H
#define MORPH_MORPHCTL_HOOKSUMMARY_H

struct hooksummary;

/* Reads the folder of a run that has ended (common/hooklog.h), which may be removed then. */
struct hooksummary *hooksummary_read(const char *run);
/* argv: the command that was run. Frees it. Silent after questions of a configure script alone. */
void hooksummary_say(struct hooksummary *s, char *const argv[]);

#endif
