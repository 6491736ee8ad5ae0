/*
 * Objects of a link without an intermediate form, which are linked as they are: hand-written
 * assembly, members of the system's archives, units that were refused.
 */
#ifndef MORPH_FOREIGN_H
#define MORPH_FOREIGN_H

#include "common/artifact/artifact.h"

struct foreign_object {
	const char *archive,
	    *name;          /* NULL, or the archive that it is a member of; of the artifact */
	uint32_t functions; /* that it defines */
	uint64_t bytes;     /* of code */
};

struct foreign {
	VEC(struct foreign_object) object; /* those with code, in the order of the link */
	uint32_t functions;
	uint64_t bytes;
};

/* 0, or -1 and the error. Free with vec_free(&f->object) in both cases. */
int foreign_survey(struct artifact *a, struct foreign *f, struct err *e);

#endif
