/*
 * cov >= 1200
 * Lifting of executables as they come: every function, and what the editor makes of its text.
 */
#include "editor/unit.h"
#include "lifter/lift.h"

#include <stdlib.h>

enum { FUNCTIONS = 64 };

static void lift_one(const struct lifter *l, size_t i)
{
	struct arena mem = {0};
	struct lifted f;
	struct unit *u;
	struct err e;

	lift_function(l, i, &f);
	if (f.stays && (f.insn.n || f.table.n))
		abort();
	u = unit_parse_code(&mem, f.text.p, f.text.n, &e);
	if (f.stays && (!u || u->nfunc != 1 || !u->func->opaque || u->func->movable))
		abort();
	unit_free(u);
	arena_free(&mem);
	lifted_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct err e;
	struct lifter *l = lift_open(&(struct lift_file){p, n, "fuzz"}, NULL, &e);
	size_t i;

	for (i = 0; l && i < lift_count(l) && i < FUNCTIONS; i++)
		lift_one(l, i);
	lift_close(l);
	return 0;
}
