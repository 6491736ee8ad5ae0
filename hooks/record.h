/*
 * Writing the artifact of a finished link.
 */
#ifndef MORPH_RECORD_H
#define MORPH_RECORD_H

#include "common/elf/blockmap.h"
#include "hooks/args.h"
#include "hooks/collect.h"

struct record {
	const char *module;  /* the output, absolute */
	const char *ld;      /* name of the linker: "ld", "ld.gold" */
	const char *sysroot; /* absolute, "" = the root */
	enum elf_kind kind;
	const struct blockmap *map; /* of the output */
	struct collection *inputs;
	const struct args *recipe;
};

/*
 * Writes the artifact into a new file at path. Objects whose intermediate
 * form can be trusted become TUs, others are kept as they are, with a line in
 * the hooks' log. Fails when no TU is left.
 */
int record_write(const struct record *r, const char *path, struct err *e);

#endif
