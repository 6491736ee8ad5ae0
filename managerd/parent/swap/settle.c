/*
 * Settling an unfinished swap: whatever has happened so far, the module is
 * the old build or the new one, and nothing else is left. Serves both an
 * error in the middle of a swap and the start after a crash.
 *
 * M = file at the module's path, S = file at the staging name:
 *
 *	M      S      then
 *	old    any    not swapped: remove S, forget the kept build if it is fresh
 *	new    any    swapped: remove S
 *	other  any    replaced by somebody: remove S, forget the fresh kept build
 *
 * A file is known by inode, size and content: inode numbers are used again.
 */
#include "managerd/parent/swap/journal.h"
#include "common/publish.h"
#include "managerd/parent/swap/builds.h"
#include "managerd/parent/trust/fault.h"
#include "managerd/parent/trust/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum which { NONE, OLD, NEW, OTHER };

struct place {
	const struct journal *j;
	const char *name;
	int dir;
	enum which module;
	bool staged;
};

static bool holds(int dir, const char *name, uint64_t size, const struct content *want)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct content now;
	bool same;

	if (fd < 0)
		return false;
	same = !content_of_file(fd, size, &now) && content_equal(&now, want);
	close(fd);
	return same;
}

static int look(struct place *p, struct err *e)
{
	const struct journal *j = p->j;
	struct stat st;

	p->staged = !fstatat(p->dir, j->stage, &st, AT_SYMLINK_NOFOLLOW);
	p->module = NONE;
	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "%s", j->module);
	p->module = OTHER;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_ino == j->old_ino && (uint64_t)st.st_size == j->old_size &&
	    holds(p->dir, p->name, j->old_size, &j->old_content))
		p->module = OLD;
	else if (st.st_ino == j->new_ino && (uint64_t)st.st_size == j->new_size &&
		 holds(p->dir, p->name, j->new_size, &j->new_content))
		p->module = NEW;
	return 0;
}

static int end_of(const struct place *p)
{
	return p->module == NEW ? SWAP_FINISHED : p->module == OLD ? SWAP_UNDONE : SWAP_REPLACED;
}

static int settle_place(const char *state, struct place *p, struct err *e)
{
	const struct journal *j = p->j;

	if (look(p, e) < 0)
		return -1;
	fault_point("recover", RECOVER_STEP_MODULE);
	if (p->staged && unlinkat(p->dir, j->stage, 0) < 0 && errno != ENOENT)
		return err_sys(e, "%s: removing %s", j->module, j->stage);
	if (p->staged && fsync(p->dir) < 0)
		return err_sys(e, "%s", j->module);
	fault_point("recover", RECOVER_STEP_STAGE);
	if (builds_sweep(state, j->module, e) < 0)
		return -1;
	if (end_of(p) != SWAP_FINISHED && j->fresh &&
	    builds_drop(state, j->module, &j->from, e) < 0)
		return -1;
	fault_point("recover", RECOVER_STEP_KEPT);
	return end_of(p);
}

int settle(const char *state, const struct journal *j, struct err *e)
{
	struct place p = {.j = j, .name = path_base(j->module)};
	int at = trust_folder(j->module), r;

	p.dir = at < 0 ? -1 : openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p.dir >= 0)
		r = settle_place(state, &p, e);
	else if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		/* The whole folder is gone, and the module with it. */
		r = builds_sweep(state, j->module, e) < 0 ||
			    (j->fresh && builds_drop(state, j->module, &j->from, e) < 0)
			? -1
			: SWAP_REPLACED;
	else
		r = err_sys(e, "%s", j->module);
	fd_close(&p.dir);
	fd_close(&at);
	return r;
}
