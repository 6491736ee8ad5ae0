/* The executable that a format's addresses or names are of (struct in_options). */
#ifndef MORPH_REPORT_IN_MODULE_H
#define MORPH_REPORT_IN_MODULE_H

#include "morphctl/report/in/lines.h"
#include "morphctl/report/image/image.h"

struct module {
	uint32_t file;      /* of the recording */
	struct image image; /* symbols by name, then by address */
};

/* Reads o->module, which f needs. */
int module_open(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, struct err *e);
/* … its functions too, for module_find(). */
int module_open_symbols(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, struct err *e);
/* The location of an address as the ELF file has it, or of an offset in it; RECORDING_NONE: not in
 * its code. */
uint32_t module_location(const struct module *m, struct recording *r, uint64_t addr);
uint32_t module_offset(const struct module *m, struct recording *r, uint64_t offset);
/*
 * A function by the name that BOLT gives it: as it is called, or, of local ones, "NAME/N" or
 * "NAME/SOURCE/N", the N-th of that name (and source) by address.
 */
const struct image_symbol *module_find(const struct module *m, struct word name);
void module_free(struct module *m);

#endif
