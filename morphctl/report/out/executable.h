/*
 * The one executable that a format is about, and its addresses: those of the ELF file as it was
 * linked, before anything is relocated.
 */
#ifndef MORPH_REPORT_OUT_EXECUTABLE_H
#define MORPH_REPORT_OUT_EXECUTABLE_H

#include "morphctl/report/image/image.h"
#include "morphctl/report/out/out.h"

struct executable {
	uint32_t file;    /* of the recording */
	const char *path; /* where it is read */
	bool read;        /* image is known */
	struct image image;
};

/*
 * Finds the recording's file that options name, by its build-id or else its path, or that with most
 * samples. executable_find() does without its file;
 * executable_open() demands the ELF file, of the build that was recorded.
 */
int executable_find(
    struct executable *m, const struct recording *r, const struct out_options *o, struct err *e);
int executable_open(
    struct executable *m, const struct recording *r, const struct out_options *o, struct err *e);
void executable_close(struct executable *m);

/* Whether a location, or RECORDING_NONE, is in the module. */
bool executable_has(const struct executable *m, const struct recording *r, uint32_t location);
/* Its address; false when it is in no executable segment of the module. */
bool executable_address(
    const struct executable *m, const struct recording *r, uint32_t location, uint64_t *address);

#endif
