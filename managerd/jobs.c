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

static int copy_samples(int from, int to, struct err *e)
{
	char chunk[CHUNK];
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > EDIT_SAMPLES_MAX)
		return err_set(e, "samples: not a regular file of at most %d bytes",
		    EDIT_SAMPLES_MAX);
	while ((n = pread(from, chunk, sizeof chunk, at)) > 0) {
		at += n;
		if (at > EDIT_SAMPLES_MAX)
			return err_set(e, "samples: more than %d bytes", EDIT_SAMPLES_MAX);
		if (file_write_all(to, chunk, (size_t)n) < 0)
			return err_sys(e, "samples");
	}
	return n < 0 ? err_sys(e, "samples") : 0;
}

/* Nobody else can reach into the folder until it is given away, last. */
static int fill(const char *path, int samples, bool give, uid_t uid, gid_t gid, struct err *e)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd = -1, r = 0;

	if (dir >= 0)
		fd = openat(dir, "samples", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0)
		r = err_sys(e, "%s", path);
	if (!r)
		r = copy_samples(samples, fd, e);
	/* Setgid: what the job makes there the manager's group can read. */
	if (!r && give && (fchown(fd, uid, gid) < 0 || fchown(dir, uid, gid) < 0 ||
			      fchmod(dir, 02750) < 0))
		r = err_sys(e, "%s: giving it to uid %u", path, (unsigned)uid);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return r;
}

int jobs_make(const char *state, int samples, bool give, uid_t uid, gid_t gid,
    char name[PRIV_JOB_NAME], struct err *e)
{
	uint64_t salt;
	char *path;
	int r;

	if (getrandom(&salt, sizeof salt, 0) != sizeof salt)
		return err_sys(e, "random numbers");
	snprintf(name, PRIV_JOB_NAME, "%016jx", (uintmax_t)salt);
	path = jobs_path(state, name, NULL);
	r = mkdir(path, 0700) < 0 ? err_sys(e, "%s", path) : fill(path, samples, give, uid, gid, e);
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
