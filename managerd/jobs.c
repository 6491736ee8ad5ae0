#include "managerd/jobs.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/edit.h"
#include "managerd/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };
static const off_t ORIGINAL_MAX = (off_t)4 << 30;

bool jobs_name_valid(const char *name)
{
	return strlen(name) == PRIV_JOB_NAME - 1 && strspn(name, "0123456789abcdef") == strlen(name);
}

char *jobs_path(const char *state, const char *name, const char *file)
{
	return file ? xasprintf("%s/jobs/%s/%s", state, name, file)
		    : xasprintf("%s/jobs/%s", state, name);
}

char *jobs_mark(const char *state, const char *name)
{
	return xasprintf("MORPH_JOB=%s/jobs/%s", state, name);
}

struct giving {
	bool give;
	uid_t uid;
	gid_t gid;
};

static int copy(int from, int to, off_t max, const char *what, struct err *e)
{
	char chunk[CHUNK];
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > max)
		return err_set(e, "%s: not a regular file of at most %jd bytes", what, (intmax_t)max);
	while ((n = pread(from, chunk, sizeof chunk, at)) > 0) {
		at += n;
		if (at > max)
			return err_set(e, "%s: more than %jd bytes", what, (intmax_t)max);
		if (file_write_all(to, chunk, (size_t)n) < 0)
			return err_sys(e, "%s", what);
	}
	return n < 0 ? err_sys(e, "%s", what) : 0;
}

static int put_file(int dir, const char *name, int from, off_t max, const struct giving *to,
    struct err *e)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640), r;

	if (fd < 0)
		return err_sys(e, "%s", name);
	r = copy(from, fd, max, name, e);
	if (!r && to->give && fchown(fd, to->uid, to->gid) < 0)
		r = err_sys(e, "%s: giving it to uid %u", name, (unsigned)to->uid);
	close(fd);
	return r;
}

/* Nobody else can reach into the folder until it is given away, last. */
static int fill(const char *path, int samples, int original, const struct giving *to,
    struct err *e)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;

	if (dir < 0)
		return err_sys(e, "%s", path);
	r = put_file(dir, "samples", samples, EDIT_SAMPLES_MAX, to, e);
	if (!r && original >= 0)
		r = put_file(dir, "original", original, ORIGINAL_MAX, to, e);
	/* Setgid: what the job makes there the manager's group can read. */
	if (!r && to->give && (fchown(dir, to->uid, to->gid) < 0 || fchmod(dir, 02750) < 0))
		r = err_sys(e, "%s: giving it to uid %u", path, (unsigned)to->uid);
	close(dir);
	return r;
}

int jobs_make(const char *state, int samples, int original, bool give, uid_t uid, gid_t gid,
    char name[PRIV_JOB_NAME], struct err *e)
{
	const struct giving to = {give, uid, gid};
	uint64_t salt;
	char *path;
	int r;

	if (getrandom(&salt, sizeof salt, 0) != sizeof salt)
		return err_sys(e, "random numbers");
	snprintf(name, PRIV_JOB_NAME, "%016jx", (uintmax_t)salt);
	path = jobs_path(state, name, NULL);
	r = mkdir(path, 0700) < 0 ? err_sys(e, "%s", path) : fill(path, samples, original, &to, e);
	if (r < 0)
		dir_remove(path, NULL);
	free(path);
	return r;
}

int jobs_drop(const char *state, const char *name, struct err *e)
{
	char *path = jobs_path(state, name, NULL);
	int r = dir_remove(path, e);

	free(path);
	return r;
}

char *jobs_cache(const char *state, bool give, uid_t uid, gid_t gid, struct err *e)
{
	char *top = xasprintf("%s/cache", state), *path = xasprintf("%s/%u", top, (unsigned)uid);
	int fd = -1, r;

	/* Only one's own folder is reached through it. */
	r = dir_make(top, 0711, e) < 0 || dir_make(path, 0700, e) < 0 ? -1 : 0;
	if (!r)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!r && (fd < 0 || (give && fchown(fd, uid, gid) < 0) || fchmod(fd, 0700) < 0))
		r = err_sys(e, "%s", path);
	if (fd >= 0)
		close(fd);
	free(top);
	if (!r)
		return path;
	free(path);
	return NULL;
}

int jobs_sweep(const char *state, struct err *e)
{
	char *path = xasprintf("%s/jobs", state), *prefix = xasprintf("%s/", path);
	unsigned n = procs_kill_marked("MORPH_JOB", prefix);
	int r = dir_remove(path, e);

	if (n)
		log_info("killed %u processes that an earlier manager left running", n);
	/* Only its own folder is reached through it. */
	if (!r && mkdir(path, 0711) < 0)
		r = err_sys(e, "%s", path);
	free(prefix);
	free(path);
	return r;
}
