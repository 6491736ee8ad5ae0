/*
 * From an executable to an artifact of lifted text (lifter/lift.h, docs/notes/legacy.md).
 */
#ifndef MORPH_EDITOR_DRIVER_LIFT_H
#define MORPH_EDITOR_DRIVER_LIFT_H

#include "common/err.h"
#include "common/mem.h"

struct lift_reason {
	const char *text; /* a constant, or the answer's */
	uint32_t functions;
	uint64_t bytes;
};

struct lift_result {
	uint32_t functions, stay;       /* in the artifact; of these, not lifted */
	uint64_t bytes, stay_bytes;     /* of their code */
	uint32_t indirect, known;       /* indirect jumps; those whose table is known */
	VEC(struct lift_reason) reason; /* of those that stay; the most bytes first */
	struct arena mem;
};

/*
 * Writes a new file at `out`, for the caller to publish: of all functions of the module at `path`.
 * Where `addresses` is the path of a list (file offsets in hexadecimal, a line each, what follows a
 * blank is passed over), those stay that hold none of these (ART_UNSAMPLED). Free r in both cases.
 */
int lift_module(const char *path, const char *addresses, unsigned jobs, const char *out,
    struct lift_result *r, struct err *e);
void lift_result_free(struct lift_result *r);

#endif
