#include "managerd/parent/procs.h"
#include "common/mem.h"
#include "common/publish.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { END_WAIT_MS = 2000, FILE_MAX = 256 * 1024 };

/* As much of a file in /proc as fits. */
static size_t read_file(int proc, const char *pid, const char *file, char *out, size_t max)
{
	char path[64];
	size_t n = 0;
	ssize_t r = 0;
	int fd;

	snprintf(path, sizeof path, "%s/%s", pid, file);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n < max - 1 && (r = read(fd, out + n, max - 1 - n)) > 0)
		n += (size_t)r;
	fd_close(&fd);
	out[n] = '\0';
	return n;
}

static void each_process(void (*fn)(int proc, const char *pid, void *arg), void *arg)
{
	DIR *d = opendir("/proc");
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (de->d_name[0] >= '1' && de->d_name[0] <= '9')
			fn(dirfd(d), de->d_name, arg);
	if (d)
		closedir(d);
}

/* Session and CPU seconds (own and waited-for children's) of the text of /proc/PID/stat. */
static int parse_stat(const char *text, double ticks_per_s, pid_t *session, double *cpu)
{
	/* The name in parentheses may hold anything, parentheses too. */
	const char *p = strrchr(text, ')');
	unsigned long utime, stime;
	long cutime, cstime;

	if (!p || sscanf(p + 1, " %*c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
		      session, &utime, &stime, &cutime, &cstime) != 5)
		return -1;
	*cpu = ((double)utime + (double)stime + (double)cutime + (double)cstime) / ticks_per_s;
	return 0;
}

struct sum {
	pid_t session;
	double cpu, ticks;
};

static void add_process(int proc, const char *pid, void *arg)
{
	struct sum *s = arg;
	char text[1024];
	pid_t session;
	double cpu;

	if (read_file(proc, pid, "stat", text, sizeof text) &&
	    !parse_stat(text, s->ticks, &session, &cpu) && session == s->session)
		s->cpu += cpu;
}

double procs_session_cpu(pid_t session)
{
	struct sum s = {.session = session, .ticks = (double)sysconf(_SC_CLK_TCK)};

	if (session > 0)
		each_process(add_process, &s);
	return s.cpu;
}

struct census {
	uid_t uid;
	unsigned n;
};

static void count_process(int proc, const char *pid, void *arg)
{
	struct census *c = arg;
	struct stat st;
	char path[64];

	snprintf(path, sizeof path, "%.32s/task", pid);
	if (!fstatat(proc, pid, &st, 0) && st.st_uid == c->uid)
		/* A link for each thread, and two as of any folder. */
		c->n +=
		    !fstatat(proc, path, &st, 0) && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 1;
}

unsigned procs_of_user(uid_t uid)
{
	struct census c = {.uid = uid};

	each_process(count_process, &c);
	return c.n;
}

struct hunt {
	const char *name, *prefix;
	char *env;
	VEC(int) pidfd;
};

static bool marked(const struct hunt *h, size_t n)
{
	size_t name = strlen(h->name), at;

	for (at = 0; at < n; at += strlen(h->env + at) + 1)
		if (!strncmp(h->env + at, h->name, name) && h->env[at + name] == '=' &&
		    !strncmp(h->env + at + name + 1, h->prefix, strlen(h->prefix)))
			return true;
	return false;
}

/* The descriptor comes first: what is killed is what was looked at. */
static void kill_process(int proc, const char *pid, void *arg)
{
	struct hunt *h = arg;
	int fd = pidfd_open(atoi(pid), 0);

	if (fd < 0)
		return;
	if (atoi(pid) != getpid() && marked(h, read_file(proc, pid, "environ", h->env, FILE_MAX)) &&
	    !pidfd_send_signal(fd, SIGKILL, NULL, 0))
		vec_push(&h->pidfd, fd);
	else
		close(fd);
}

unsigned procs_kill_marked(const char *name, const char *prefix)
{
	struct hunt h = {.name = name, .prefix = prefix, .env = xmalloc(FILE_MAX)};
	unsigned n;
	size_t i;

	each_process(kill_process, &h);
	n = (unsigned)h.pidfd.n;
	for (i = 0; i < h.pidfd.n; i++) {
		poll(&(struct pollfd){.fd = h.pidfd.v[i], .events = POLLIN}, 1, END_WAIT_MS);
		close(h.pidfd.v[i]);
	}
	vec_free(&h.pidfd);
	free(h.env);
	return n;
}
