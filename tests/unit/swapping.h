/*
 * A swap as the parent does it: the module opened and judged, the new build as a
 * descriptor. staged NULL: a rollback to the kept build o->to.
 */
#ifndef TEST_SWAPPING_H
#define TEST_SWAPPING_H

#include "managerd/parent/swap/swap.h"

#include <fcntl.h>
#include <unistd.h>

static inline enum swap_status swap_files(const char *state, const char *module, const char *staged,
    const struct swap_order *order, struct err *e)
{
	struct swap_order o = *order;
	enum swap_status status = SWAP_FAILED;
	struct trusted t;

	if (trust_open(module, (uid_t)-1, &t, e) < 0)
		return SWAP_REFUSED;
	o.module = &t;
	o.rollback = !staged;
	o.source = staged ? open(staged, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
			  : swap_open_kept(state, &t, &o.to, e);
	if (o.source >= 0) {
		status = swap_run(state, &o, e);
		close(o.source);
	} else if (staged) {
		err_sys(e, "%s", staged);
	}
	trust_close(&t);
	return status;
}

#endif
