/*
 * Every program its original again: what removing Morph asks for. It needs no
 * manager and reads no file of a user: a file is a layout when it holds what a swap
 * noted.
 */
#include "common/publish.h"
#include "managerd/parent/swap/builds.h"
#include "managerd/parent/swap/digest.h"
#include "managerd/parent/swap/swap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Layout `from` is in place, and its original goes there. */
static enum restored put_back(const char *state, const struct trusted *module,
    const struct build_id *from, const struct build_id *origin, struct err *e)
{
	struct swap_order o = {.module = module,
	    .rollback = true,
	    .from = *from,
	    .to = *origin,
	    .origin = *origin,
	    .keep = 1};
	enum restored end = RESTORE_FAILED;

	/* Of a swap that was interrupted, and is settled. */
	if (swap_done(state, module->path, e) < 0)
		return RESTORE_FAILED;
	o.source = swap_open_kept(state, module, origin, e);
	if (o.source >= 0 && swap_run(state, &o, e) == SWAP_OK)
		end = RESTORE_DONE;
	fd_close(&o.source);
	return end;
}

/* What is in place of a layout: its original, whose kept build goes when the next manager
 * was told, or something else. */
static enum restored no_layout(
    const char *state, const struct trusted *module, const struct build_id *origin, struct err *e)
{
	uint64_t size = (uint64_t)module->st.st_size;
	struct content is, kept;
	int fd = -1;
	bool same;

	if (!builds_have(state, module->path, origin))
		return RESTORE_NEEDLESS;
	fd = swap_open_kept(state, module, origin, NULL);
	same = fd >= 0 && lseek(fd, 0, SEEK_END) == module->st.st_size &&
	       !content_of_file(fd, size, &kept) && !content_of_file(module->fd, size, &is) &&
	       content_equal(&kept, &is);
	fd_close(&fd);
	if (same)
		return RESTORE_NEEDLESS;
	err_set(e, "%s: is no layout of Morph any more, but a file that somebody put there",
	    module->path);
	return RESTORE_LEFT;
}

/* Of a file that is not to be trusted: it is only compared. */
static bool is_layout(const char *state, const char *module)
{
	int dir = trust_folder(module), fd;
	struct build_id is;
	struct stat st;
	bool yes;

	fd = dir < 0 ? -1
		     : openat(dir, path_base(module),
			   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	yes = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	      digest_match(state, module, fd, (uint64_t)st.st_size, &is, NULL) != 0;
	fd_close(&fd);
	fd_close(&dir);
	return yes;
}

static enum restored restore(
    const char *state, const char *module, const struct build_id *origin, struct err *e)
{
	enum restored end = RESTORE_FAILED;
	struct build_id is;
	struct trusted t;
	int layout;

	if (trust_open(module, (uid_t)-1, &t, e) < 0)
		return is_layout(state, module) ? RESTORE_FAILED : RESTORE_LEFT;
	layout = digest_match(state, module, t.fd, (uint64_t)t.st.st_size, &is, e);
	if (layout >= 0)
		end =
		    layout ? put_back(state, &t, &is, origin, e) : no_layout(state, &t, origin, e);
	trust_close(&t);
	return end;
}

static void settled(const struct swap_outcome *o, void *arg)
{
}

static void restore_key(const char *state, const char *key, restore_fn *fn, void *arg)
{
	struct build_id origin;
	enum restored end = RESTORE_FAILED;
	struct err e = {""};
	char *module;

	if (!digest_whose(state, key, &module, &origin, &e))
		end = restore(state, module, &origin, &e);
	fn(module, end, e.text, arg);
	free(module);
}

int swap_restore(const char *state, restore_fn *fn, void *arg, struct err *e)
{
	char *path = xasprintf("%s/builds", state);
	int r = swap_recover(state, settled, NULL, e);
	DIR *d = opendir(path);
	struct dirent *de;

	if (!d && errno != ENOENT)
		r = err_sys(e, "%s", path);
	while (d && (de = readdir(d)))
		if (de->d_name[0] != '.')
			restore_key(state, de->d_name, fn, arg);
	if (d)
		closedir(d);
	free(path);
	return r;
}
