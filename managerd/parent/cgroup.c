#include "managerd/parent/cgroup.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { EMPTY_TRIES = 50, EMPTY_WAIT_US = 2000 };

/* The path in a line "0::/PATH" of the text of /proc/PID/cgroup, to free, or NULL. */
static char *parse(const char *text)
{
	const char *line = text;
	size_t n;

	while (*line && strncmp(line, "0::/", 4)) {
		line = strchrnul(line, '\n');
		line += *line == '\n';
	}
	if (!*line)
		return NULL;
	n = strcspn(line + 3, "\n");
	return xasprintf("%.*s", (int)n, line + 3);
}

static bool write_text(int dir, const char *file, const char *text)
{
	int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

static bool delegated(int dir)
{
	static const char *const name[] = {"user.delegate", "trusted.delegate"};
	char value[2];
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++)
		if (fgetxattr(dir, name[i], value, sizeof value) == 1 && *value == '1')
			return true;
	return false;
}

/* The group that we are in, where version 2 is mounted as usual. */
static int open_own(void)
{
	struct buf text = {0};
	char *own = NULL, *path;
	struct statfs fs;
	int fd = -1;

	if (!file_read("/proc/self/cgroup", 1 << 16, &text, NULL))
		own = parse(buf_cstr(&text));
	buf_free(&text);
	if (!own)
		return -1;
	path = xasprintf("/sys/fs/cgroup%s", own);
	if (!statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(path);
	free(own);
	return fd;
}

void cgroups_open(struct cgroups *c)
{
	int main_group;

	c->dir = open_own();
	if (c->dir < 0) {
		c->dir = 0;
		return;
	}
	if (delegated(c->dir) && (!mkdirat(c->dir, "main", 0755) || errno == EEXIST)) {
		main_group = openat(c->dir, "main", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (main_group >= 0 && cgroup_enter(main_group)) {
			write_text(c->dir, "cgroup.subtree_control", "+cpu");
			write_text(c->dir, "cgroup.subtree_control", "+memory");
			write_text(c->dir, "cgroup.subtree_control", "+pids");
			close(main_group);
			return;
		}
		fd_close(&main_group);
		log_warn("the control group of this service is delegated but cannot be used: %s",
		    strerror(errno));
	}
	close(c->dir);
	c->dir = 0;
}

static char *job_name(uint64_t task)
{
	return xasprintf("job-%" PRIu64, task);
}

int cgroup_make(
    const struct cgroups *c, uint64_t task, uint64_t memory, unsigned processes, bool idle)
{
	char *name = job_name(task), number[24];
	int fd = -1;

	if (c->dir > 0 && (!mkdirat(c->dir, name, 0755) || errno == EEXIST))
		fd = openat(c->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(name);
	if (fd < 0)
		return -1;
	snprintf(number, sizeof number, "%" PRIu64, memory);
	if (memory)
		write_text(fd, "memory.max", number);
	write_text(fd, "memory.oom.group", "1");
	snprintf(number, sizeof number, "%u", processes);
	write_text(fd, "pids.max", number);
	write_text(fd, idle ? "cpu.idle" : "cpu.weight", idle ? "1" : "10");
	return fd;
}

bool cgroup_enter(int group)
{
	return write_text(group, "cgroup.procs", "0");
}

bool cgroup_cpu(int group, uint64_t *us)
{
	int fd = openat(group, "cpu.stat", O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	fd_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "usage_usec %" SCNu64, us) == 1;
}

/* Kills what is in a group of ours and removes it. */
static void end(int dir, const char *name, int group)
{
	int i;

	write_text(group, "cgroup.kill", "1");
	for (i = 0; i < EMPTY_TRIES && unlinkat(dir, name, AT_REMOVEDIR) && errno == EBUSY; i++)
		usleep(EMPTY_WAIT_US);
}

void cgroup_end(const struct cgroups *c, uint64_t task, int group)
{
	char *name;

	if (group < 0)
		return;
	name = job_name(task);
	end(c->dir, name, group);
	close(group);
	free(name);
}

void cgroups_sweep(const struct cgroups *c)
{
	int copy = c->dir > 0 ? fcntl(c->dir, F_DUPFD_CLOEXEC, 0) : -1, group;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *de;

	while (d && (de = readdir(d))) {
		group = strncmp(de->d_name, "job-", 4)
			    ? -1
			    : openat(copy, de->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (group < 0)
			continue;
		end(copy, de->d_name, group);
		close(group);
	}
	if (d)
		closedir(d);
}
