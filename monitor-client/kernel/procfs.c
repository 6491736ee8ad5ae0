/*
 * /proc/PID/maps, one mapping a line:
 *	START-END PERMS OFFSET MAJ:MIN INODE      PATH
 * hexadecimal but for INODE; PERMS is "r-xp"; PATH may be missing, has newlines
 * as \012 (and such four characters as they are) and ends in " (deleted)" when
 * the file has no name now, or is called so.
 */
#include "monitor-client/kernel/procfs.h"
#include "common/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* PROCMAP_QUERY of linux/fs.h, since Linux 6.11: what maps says about one
 * mapping, and the build-id of its file. */
struct procmap_query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define PROCMAP_QUERY_CALL _IOWR('f', 17, struct procmap_query)

int procfs_open(const char *proc, uint32_t pid, const char *name, int flags)
{
	char *path = xasprintf("%s/%" PRIu32 "/%s", proc, pid, name);
	int fd = open(path, flags | O_CLOEXEC);

	free(path);
	return fd;
}

size_t procfs_name_length(const char *path)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(path);

	if (n >= sizeof gone && !strcmp(path + n - (sizeof gone - 1), gone))
		n -= sizeof gone - 1;
	return n;
}

static uint64_t ns_inode(const char *proc, uint32_t pid, const char *name)
{
	char *path = xasprintf("%s/%" PRIu32 "/ns/%s", proc, pid, name), text[64];
	ssize_t n = readlink(path, text, sizeof text - 1);
	uint64_t ino = 0;

	free(path);
	if (n > 0) {
		text[n] = '\0';
		sscanf(text, "%*[a-z]:[%" SCNu64 "]", &ino);
	}
	return ino;
}

struct event_ns procfs_ns(const char *proc, uint32_t pid)
{
	return (struct event_ns){ns_inode(proc, pid, "mnt"), ns_inode(proc, pid, "user")};
}

static int parse_line(char *line, struct event_map *m, char perms[5])
{
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	*m = (struct event_map){0};
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
		&m->end, perms, &m->pgoff, &m->maj, &m->min, &m->ino, &at) < 7 ||
	    !at || strlen(perms) < 3 || m->end <= m->start)
		return -1;
	m->path = line + at;
	return 0;
}

int procfs_maps(int fd, void (*fn)(const struct event_map *, void *), void *arg)
{
	FILE *f = fdopen(fd, "r");
	struct event_map m;
	char *line = NULL, perms[5];
	size_t cap = 0;

	if (!f) {
		close(fd);
		return -1;
	}
	while (getline(&line, &cap, f) > 0)
		if (!parse_line(line, &m, perms) && perms[2] == 'x')
			fn(&m, arg);
	free(line);
	fclose(f);
	return 0;
}

int procfs_uid(const char *proc, uint32_t pid, uint32_t *uid)
{
	int fd = procfs_open(proc, pid, "status", O_RDONLY), r = -1;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	uint32_t real, effective, saved;
	char line[256];

	if (!f)
		return -1;
	while (r && fgets(line, sizeof line, f))
		if (sscanf(line, "Uid: %" SCNu32 " %" SCNu32 " %" SCNu32, &real, &effective,
			&saved) == 3) {
			*uid = real == effective ? saved : effective;
			r = 0;
		}
	fclose(f);
	return r;
}

/* The first line of a small file, without its newline; "" when there is none. */
static void first_line(int fd, char *line, size_t n)
{
	ssize_t got = fd < 0 ? -1 : read(fd, line, n - 1);

	line[got > 0 ? got : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

void procfs_comm(const char *proc, uint32_t pid, char *comm, size_t n)
{
	first_line(procfs_open(proc, pid, "comm", O_RDONLY), comm, n);
}

struct build_id procfs_boot(const char *proc)
{
	char *path = xasprintf("%s/sys/kernel/random/boot_id", proc), line[64], hex[64];
	struct build_id id = {0};
	size_t i, n = 0;

	first_line(open(path, O_RDONLY | O_CLOEXEC), line, sizeof line);
	for (i = 0; line[i]; i++)
		if (line[i] != '-')
			hex[n++] = line[i];
	hex[n] = '\0';
	build_id_parse(hex, &id);
	free(path);
	return id;
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

/* Fills in what the kernel says now; -1 when another file is mapped there. */
static int query(const char *proc, uint32_t pid, struct event_map *m)
{
	struct build_id id = {0};
	struct procmap_query q = {.size = sizeof q,
	    .addr = m->start,
	    .build_id_size = sizeof id.b,
	    .build_id_addr = (uint64_t)(uintptr_t)id.b};
	int fd = procfs_open(proc, pid, "maps", O_RDONLY);
	int r = fd < 0 ? -1 : ioctl(fd, PROCMAP_QUERY_CALL, &q);

	if (fd >= 0)
		close(fd);
	if (r)
		return 0;
	id.n = q.build_id_size <= sizeof id.b ? (uint8_t)q.build_id_size : 0;
	if ((m->ino && m->ino != q.inode) || (m->id.n && id.n && !build_id_equal(&m->id, &id)))
		return -1;
	m->start = q.start;
	m->end = q.end;
	if (id.n)
		m->id = id;
	return 0;
}

int procfs_reopen(int fd)
{
	char self[64];

	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* What maps says of our own mapping at an address. */
static int own_mapping(uint64_t at, struct event_map *m)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *line = NULL, perms[5];
	size_t cap = 0;
	int r = -1;

	while (f && r && getline(&line, &cap, f) > 0)
		if (!parse_line(line, m, perms) && m->start <= at && at < m->end)
			r = 0;
	free(line);
	if (f)
		fclose(f);
	return r;
}

static bool is_file_of(const struct event_map *m, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	struct event_map own;
	long gen = 0; /* of which four bytes are filled */
	bool same;

	if (at == MAP_FAILED)
		return false;
	same = !own_mapping((uint64_t)(uintptr_t)at, &own) && own.ino == m->ino &&
	       own.maj == m->maj && own.min == m->min;
	munmap(at, page);
	return same && (!m->gen || ioctl(fd, FS_IOC_GETVERSION, &gen) || (uint32_t)gen == m->gen);
}

int procfs_below(int dir, const struct event_map *m)
{
	int path_fd = -1, fd = -1;
	struct stat st;

	if (dir >= 0 && m->ino && m->path[0] == '/')
		path_fd = openat(dir, m->path + 1, O_PATH | O_CLOEXEC);
	if (path_fd >= 0 && !fstat(path_fd, &st) && S_ISREG(st.st_mode))
		fd = procfs_reopen(path_fd);
	if (fd >= 0 && !is_file_of(m, fd)) {
		close(fd);
		fd = -1;
	}
	if (path_fd >= 0)
		close(path_fd);
	if (dir >= 0)
		close(dir);
	return fd;
}

int procfs_mapped(const char *proc, uint32_t pid, struct event_map *m, bool strict, bool *gone)
{
	char name[64];
	int fd, dir;

	*gone = false;
	if (query(proc, pid, m)) {
		*gone = true;
		return -1;
	}
	snprintf(name, sizeof name, "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
	if ((fd = procfs_open(proc, pid, name, O_PATH)) >= 0)
		return fd;
	dir = procfs_open(proc, pid, "root", O_PATH | O_DIRECTORY);
	*gone = dir < 0;
	if (!strict)
		return procfs_below(dir, m);
	if (dir >= 0)
		close(dir);
	return -1;
}
