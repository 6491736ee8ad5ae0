/*
 * The one executable that a format is about, and its addresses: those of the ELF file as it was
 * linked, before anything is relocated.
 */
#ifndef MORPH_REPORT_OUT_SUBJECT_H
#define MORPH_REPORT_OUT_SUBJECT_H

#include "morphctl/report/image/image.h"
#include "morphctl/report/out/out.h"

struct subject {
	uint32_t file;    /* of the recording */
	const char *path; /* where it is read */
	bool read;        /* image is known */
	struct image image;
};

/*
 * Finds the recording's file that options name, by its build-id or else its path, or that with most
 * samples. subject_find() does without its file;
 * subject_open() demands the ELF file, of the build that was recorded.
 */
int subject_find(
    struct subject *m, const struct recording *r, const struct out_options *o, struct err *e);
int subject_open(
    struct subject *m, const struct recording *r, const struct out_options *o, struct err *e);
void subject_close(struct subject *m);

/* Whether a location, or RECORDING_NONE, is in the module. */
bool subject_has(const struct subject *m, const struct recording *r, uint32_t location);
/* Its address; false when it is in no executable segment of the module. */
bool subject_address(
    const struct subject *m, const struct recording *r, uint32_t location, uint64_t *address);

#endif
