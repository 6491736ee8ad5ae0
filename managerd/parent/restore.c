/*
 * morphd --restore: every program its original again, without a manager. It holds the
 * lock of the state folder meanwhile.
 */
#include "common/log.h"
#include "common/publish.h"
#include "managerd/parent/holds.h"
#include "managerd/parent/start.h"
#include "managerd/parent/swap/swap.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct restoring {
	const char *state;
	size_t done, failed;
};

static void restored(const char *module, enum restored end, const char *why, void *arg)
{
	struct restoring *r = arg;
	struct err e;

	switch (end) {
	case RESTORE_DONE:
		log_info("%s: its original is back", module);
		r->done++;
		/* As after any rollback that a person asks for. */
		if (holds_set(r->state, module, true, &e))
			log_warn("%s", e.text);
		break;
	case RESTORE_LEFT:
		log_info("%s; left as it is", why);
		break;
	case RESTORE_FAILED:
		log_error("%s", why);
		r->failed++;
		break;
	case RESTORE_NEEDLESS:
		break;
	}
}

int start_restore(const char *path, struct err *e)
{
	struct restoring r = {0};
	char *state = NULL;
	int lock = -1, rc;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	rc = state_open(path, &state, &lock, e);
	r.state = state;
	if (!rc && !(rc = swap_restore(state, restored, &r, e)) && r.failed)
		rc = err_set(
		    e, "%zu programs are laid out still, %zu are not any more", r.failed, r.done);
	fd_close(&lock);
	free(state);
	return rc;
}
