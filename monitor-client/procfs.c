/*
 * /proc/PID/maps, one mapping a line:
 *	START-END PERMS OFFSET MAJ:MIN INODE      PATH
 * hexadecimal but for INODE; PERMS is "r-xp"; PATH may be missing, escapes
 * newlines as \012 and ends in " (deleted)" when the file has no name now.
 */
#include "monitor-client/procfs.h"
#include "common/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static FILE *open_file(const char *proc, uint32_t pid, const char *name)
{
	char *path = xasprintf("%s/%" PRIu32 "/%s", proc, pid, name);
	FILE *f = fopen(path, "re");

	free(path);
	return f;
}

static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (!strncmp(s, "\\012", 4)) {
			*to++ = '\n';
			s += 3;
		} else {
			*to++ = *s;
		}
	*to = '\0';
}

static int parse_line(char *line, struct event_map *m)
{
	char perms[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	*m = (struct event_map){0};
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
		&m->end, perms, &m->pgoff, &m->maj, &m->min, &m->ino, &at) < 7 ||
	    !at || strlen(perms) < 3 || perms[2] != 'x' || m->end <= m->start)
		return -1;
	m->path = line + at;
	unescape(m->path);
	return 0;
}

int procfs_maps(
    const char *proc, uint32_t pid, void (*fn)(const struct event_map *, void *), void *arg)
{
	FILE *f = open_file(proc, pid, "maps");
	struct event_map m;
	char *line = NULL;
	size_t cap = 0;

	if (!f)
		return -1;
	while (getline(&line, &cap, f) > 0)
		if (!parse_line(line, &m))
			fn(&m, arg);
	free(line);
	fclose(f);
	return 0;
}

int procfs_uid(const char *proc, uint32_t pid, uint32_t *uid)
{
	FILE *f = open_file(proc, pid, "status");
	char line[256];
	int r = -1;

	if (!f)
		return -1;
	while (r && fgets(line, sizeof line, f))
		if (sscanf(line, "Uid: %" SCNu32, uid) == 1)
			r = 0;
	fclose(f);
	return r;
}

int procfs_pids(const char *proc, void (*fn)(uint32_t pid, void *), void *arg)
{
	DIR *d = opendir(proc);
	struct dirent *de;
	unsigned long v;
	char *end;

	if (!d)
		return -1;
	while ((de = readdir(d))) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9')
			continue;
		v = strtoul(de->d_name, &end, 10);
		if (!*end && v <= INT32_MAX)
			fn((uint32_t)v, arg);
	}
	closedir(d);
	return 0;
}

/* Opens what an O_PATH descriptor names, after a look at what it is: opening
 * a device or a FIFO for reading would do something. Takes over fd. */
static int reopen(int fd, uint64_t ino)
{
	char self[64];
	struct stat st;
	int out = -1;

	if (fd < 0)
		return -1;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (!ino || st.st_ino == ino))
		out = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	close(fd);
	return out;
}

static int open_map_file(const char *proc, uint32_t pid, const struct event_map *m)
{
	char *path =
	    xasprintf("%s/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, proc, pid, m->start, m->end);
	int fd = open(path, O_PATH | O_CLOEXEC);

	free(path);
	return reopen(fd, 0);
}

static int open_in_root(int root, const char *path, uint64_t ino)
{
	struct open_how how = {
	    .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};

	return reopen((int)syscall(SYS_openat2, root, path, &how, sizeof how), ino);
}

int procfs_open(const char *proc, uint32_t pid, const struct event_map *m)
{
	char *root;
	int fd, dir, gone;

	if ((fd = open_map_file(proc, pid, m)) >= 0)
		return fd;
	root = xasprintf("%s/%" PRIu32 "/root", proc, pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(root);
	gone = dir < 0;
	if (gone)
		dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (m->ino && dir >= 0)
		fd = open_in_root(dir, m->path, m->ino);
	if (dir >= 0)
		close(dir);
	errno = gone ? EAGAIN : ENOENT;
	return fd;
}
