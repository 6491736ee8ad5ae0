#include "editor-driver/os/jobdir.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PREFIX[] = "morph-edit-";

static bool is_dead(const char *pid)
{
	char *end;
	long n = strtol(pid, &end, 10);

	return end != pid && n > 0 && n <= INT32_MAX && kill((pid_t)n, 0) && errno == ESRCH;
}

/* The lock decides; the pid covers the moment before a folder is locked. What is
 * judged is what was opened; a link is neither. */
static void sweep_folder(int at, const char *name, const char *pid)
{
	struct err e;
	struct stat st;
	int fd;

	if (!is_dead(pid))
		return;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
		log_debug("removing %s, left by an edit that died", name);
		if (dir_remove_at(at, name, &e))
			log_debug("%s", e.text);
	}
	close(fd);
}

static void sweep_file(int at, const char *name, const char *pid)
{
	if (is_dead(pid))
		unlinkat(at, name, 0);
}

/* Calls fn for every entry that begins with prefix, with what follows it. */
static void each_entry(
    const char *dir, const char *prefix, void (*fn)(int at, const char *name, const char *pid))
{
	struct dirent *d;
	DIR *dp = opendir(dir);

	while (dp && (d = readdir(dp)))
		if (!strncmp(d->d_name, prefix, strlen(prefix)))
			fn(dirfd(dp), d->d_name, d->d_name + strlen(prefix));
	if (dp)
		closedir(dp);
}

void jobdir_sweep_output(const char *path)
{
	char *dir = path_dir(path), *prefix = xasprintf(".%.200s.morph-new.", path_base(path));

	each_entry(dir, prefix, sweep_file);
	free(prefix);
	free(dir);
}

static int open_new(struct jobdir *j, struct err *e)
{
	const char *tmp = getenv("TMPDIR");

	j->parent = realpath(tmp && *tmp ? tmp : "/tmp", NULL);
	if (!j->parent)
		return err_sys(e, "%s", tmp && *tmp ? tmp : "/tmp");
	each_entry(j->parent, PREFIX, sweep_folder);
	j->path = xasprintf("%s/%s%d-XXXXXX", j->parent, PREFIX, (int)getpid());
	if (!mkdtemp(j->path)) {
		err_sys(e, "%s", j->path);
		free(j->path);
		j->path = NULL;
		return -1;
	}
	return 0;
}

static int open_kept(struct jobdir *j, const char *keep, struct err *e)
{
	struct dirent *d;
	bool empty = true;
	DIR *dp;

	j->keep = true;
	if (dir_make(keep, 0700, e))
		return -1;
	j->path = realpath(keep, NULL);
	dp = opendir(keep);
	if (!dp || !j->path)
		return err_sys(e, "%s", keep);
	while ((d = readdir(dp)))
		empty = empty && (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."));
	closedir(dp);
	return empty ? 0 : err_set(e, "%s: not empty", keep);
}

int jobdir_open(struct jobdir *j, const char *keep, struct err *e)
{
	*j = (struct jobdir){.lock = -1};
	if (keep ? open_kept(j, keep, e) : open_new(j, e))
		return -1;
	j->lock = open(j->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (j->lock < 0 || flock(j->lock, LOCK_EX | LOCK_NB))
		return err_sys(e, "%s", j->path);
	return 0;
}

void jobdir_close(struct jobdir *j)
{
	struct err e;

	if (j->path && !j->keep && dir_remove(j->path, &e))
		log_debug("%s", e.text);
	if (j->lock >= 0)
		close(j->lock);
	free(j->path);
	free(j->parent);
	*j = (struct jobdir){.lock = -1};
}
