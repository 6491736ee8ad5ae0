#include "managerd/parent/trust/package.h"
#include "common/mem.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char dpkg_query[] = "/usr/bin/dpkg-query", dpkg_lock[] = "/var/lib/dpkg/lock";

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

bool package_possible(const char *path)
{
	static const char *const where[] = {"/usr/", "/opt/", "/bin/", "/sbin/", "/lib"};
	size_t i;

	if (starts(path, "/usr/local/") || access(dpkg_query, X_OK))
		return false;
	for (i = 0; i < sizeof where / sizeof *where; i++)
		if (starts(path, where[i]))
			return true;
	return false;
}

/* dpkg-query takes patterns. */
static char *literal(const char *path)
{
	struct buf b = {0};

	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			buf_char(&b, '\\');
		buf_char(&b, *path);
	}
	return buf_cstr(&b);
}

struct package_query package_query(const char *path)
{
	struct package_query q = {{dpkg_query, "-S", literal(path)}};

	if (starts(path, "/usr/bin/") || starts(path, "/usr/sbin/") || starts(path, "/usr/lib"))
		q.argv[3] = literal(path + strlen("/usr"));
	return q;
}

void package_query_free(struct package_query *q)
{
	free((char *)q->argv[2]);
	free((char *)q->argv[3]);
}

char *package_parse(const char *answer)
{
	const char *line, *end;
	size_t n;

	for (line = answer; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		n = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789+-.");
		if (n && (line[n] == ':' || line[n] == ','))
			return xasprintf("%.*s", (int)n, line);
	}
	return NULL;
}

static pid_t parent_of(pid_t pid)
{
	char *path = xasprintf("/proc/%d/stat", (int)pid), *name_end = NULL;
	struct buf text = {0};
	int parent = 0;

	if (!file_read(path, 0, &text, NULL))
		name_end = strrchr(buf_cstr(&text), ')');
	if (!name_end || sscanf(name_end, ") %*c %d", &parent) != 1)
		parent = 0;
	buf_free(&text);
	free(path);
	return parent;
}

/* It runs one of its scripts, which waits for us: nothing else does it do meanwhile. */
static bool waits_for_us(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	pid_t pid = getpid();

	if (fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK)
		return false;
	while (pid > 1 && pid != l.l_pid)
		pid = parent_of(pid);
	return pid > 1;
}

int package_lock(const char *path, struct err *e)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd;

	if (!package_possible(path) || geteuid() != 0)
		return PACKAGE_NONE;
	fd = open(dpkg_lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return PACKAGE_NONE;
	if (fcntl(fd, F_SETLK, &all) == 0)
		return fd;
	if (waits_for_us(fd)) {
		close(fd);
		return PACKAGE_NONE;
	}
	err_set(e, "%s: the package manager is at work", path);
	close(fd);
	return PACKAGE_BUSY;
}

void package_unlock(int lock)
{
	fd_close(&lock);
}
