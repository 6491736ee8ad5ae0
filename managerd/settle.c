#include "managerd/settle.h"
#include "common/publish.h"
#include "managerd/builds.h"
#include "managerd/fault.h"
#include "managerd/modfile.h"

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
	enum which module, stage;
};

/* An inode number may have been used again since: the build-id decides. */
static bool has_id(int dir, const char *name, const struct build_id *want)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct build_id id;
	bool same;

	if (fd < 0)
		return false;
	same = !modfile_build_id(fd, name, &id, NULL) && build_id_equal(&id, want);
	close(fd);
	return same;
}

static int look(const struct place *p, const char *name, enum which *w, struct err *e)
{
	struct stat st;

	*w = NONE;
	if (fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "%s", p->j->module);
	*w = OTHER;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_ino == p->j->old_ino && has_id(p->dir, name, &p->j->from))
		*w = OLD;
	else if (st.st_ino == p->j->new_ino && has_id(p->dir, name, &p->j->to))
		*w = NEW;
	return 0;
}

static int give_back(struct place *p, struct err *e)
{
	if (p->module != NEW || p->stage != OTHER)
		return 0;
	if (renameat2(p->dir, p->j->stage, p->dir, p->name, RENAME_EXCHANGE) < 0)
		return err_sys(e, "%s: giving back the file that came in between", p->j->module);
	p->module = OTHER;
	p->stage = NEW;
	return fsync(p->dir) < 0 ? err_sys(e, "%s", p->j->module) : 0;
}

static int remove_stage(struct place *p, struct err *e)
{
	if (p->stage == NONE)
		return 0;
	if (unlinkat(p->dir, p->j->stage, 0) < 0 && errno != ENOENT)
		return err_sys(e, "%s: removing %s", p->j->module, p->j->stage);
	return fsync(p->dir) < 0 ? err_sys(e, "%s", p->j->module) : 0;
}

static int end_of(const struct place *p)
{
	return p->module == NEW ? SWAP_FINISHED : p->module == OLD ? SWAP_UNDONE : SWAP_REPLACED;
}

static int settle_place(const char *state, struct place *p, struct err *e)
{
	const struct journal *j = p->j;

	if (look(p, p->name, &p->module, e) < 0 || look(p, j->stage, &p->stage, e) < 0 ||
	    give_back(p, e) < 0)
		return -1;
	fault_point("recover", RECOVER_STEP_MODULE);
	if (remove_stage(p, e) < 0)
		return -1;
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
	char *dir = path_dir(j->module);
	int r;

	p.dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p.dir >= 0)
		r = settle_place(state, &p, e);
	else if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		/* The whole folder is gone, and the module with it. */
		r = builds_sweep(state, j->module, e) < 0 ||
			(j->fresh && builds_drop(state, j->module, &j->from, e) < 0)
		    ? -1
		    : SWAP_REPLACED;
	else
		r = err_sys(e, "%s", dir);
	if (p.dir >= 0)
		close(p.dir);
	free(dir);
	return r;
}
