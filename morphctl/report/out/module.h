/*
 * The one executable that a format is about, and its addresses: those of the ELF file as it was
 * linked, before anything is relocated.
 */
#ifndef MORPH_REPORT_OUT_MODULE_H
#define MORPH_REPORT_OUT_MODULE_H

#include "common/elf/elf.h"
#include "morphctl/report/out/out.h"

enum { MODULE_SEGMENTS = 16 };

struct module {
	uint32_t file;    /* of the recording */
	const char *path; /* where it is read */
	struct elf *elf;  /* NULL until module_open() */
	struct elf_segment segment[MODULE_SEGMENTS];
	size_t nsegment;
};

/*
 * Finds the recording's file that options name, by its build-id or else its path, or that with most
 * samples. module_find() reads no more than headers and notes, if there is anything to read;
 * module_open() demands the ELF file, of the build that was recorded.
 */
int module_find(
    struct module *m, const struct recording *r, const struct out_options *o, struct err *e);
int module_open(
    struct module *m, const struct recording *r, const struct out_options *o, struct err *e);
void module_close(struct module *m);

/* Whether a location, or RECORDING_NONE, is in the module. */
bool module_has(const struct module *m, const struct recording *r, uint32_t location);
/* Its address; false when it is in no executable segment of the module. */
bool module_address(
    const struct module *m, const struct recording *r, uint32_t location, uint64_t *address);

#endif
