#include "morphctl/report/confined/confined.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, CHUNK = 64 << 10 };
/* The first byte of what comes through the pipe. */
enum { ANSWERED = 'A', REFUSED = 'R' };

/* Devices are not opened at all: for some that alone is a request. */
int confined_open(const char *path, int flags)
{
	int at = open(path, O_PATH | O_CLOEXEC | flags), fd = -1;
	char again[32];
	struct stat st;

	if (at < 0)
		return -1;
	if (!fstat(at, &st) && S_ISREG(st.st_mode)) {
		snprintf(again, sizeof again, "/proc/self/fd/%d", at);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	} else {
		errno = EINVAL;
	}
	close(at);
	return fd;
}

/* ---- the child ---- */

static unsigned cpu_s(const struct confined *c)
{
	return c->cpu_s ? c->cpu_s : CONFINED_CPU_S;
}

/* 0, 1 and 3 as in confined.h, nothing else but an empty 2. */
static int set_descriptors(const struct confined *c, int file, int answer, struct err *e)
{
	int folder = c->folder ? open(c->folder, O_PATH | O_CLOEXEC | O_DIRECTORY) : -1;
	int none = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* Out of the way of one another. */
	int from[4] = {fcntl(file, F_DUPFD, 10), fcntl(answer, F_DUPFD, 10),
	    fcntl(none, F_DUPFD, 10), folder < 0 ? -1 : fcntl(folder, F_DUPFD, 10)};
	int i;

	for (i = 0; i < 3; i++) {
#ifdef __SANITIZE_ADDRESS__
		if (i == STDERR_FILENO)
			continue;
#endif
		if (dup2(from[i], i) < 0)
			return err_sys(e, "descriptors");
	}
	if (from[3] >= 0 && dup2(from[3], CONFINED_FOLDER) < 0)
		return err_sys(e, "descriptors");
	return close_range(from[3] < 0 ? CONFINED_FOLDER : CONFINED_FOLDER + 1, ~0u, 0)
		   ? err_sys(e, "descriptors")
		   : 0;
}

struct user {
	uid_t uid;
	gid_t gid;
};

/* Root's files are opened by root, and then read by nobody. */
static int open_as(const struct confined *c, const struct user *u, struct err *e)
{
	int fd;

	if (c->file >= 0)
		return c->file;
	if (c->owner && confined_become(u->uid, u->gid, e))
		return -1;
	fd = c->path ? confined_open(c->path, 0) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "opening it") : fd;
}

static void be_child(const struct confined *c, int answer, const struct user *u)
{
	struct buf b = {0};
	struct err e;
	int file = open_as(c, u, &e), rc;

	buf_char(&b, ANSWERED);
	rc = file < 0 || set_descriptors(c, file, answer, &e);
	if (!rc)
		answer = CONFINED_ANSWER;
	if (rc || confined_enter(u->uid, u->gid, c->folder, cpu_s(c), &e) ||
	    c->run(c->arg, &b, &e)) {
		b.n = 0;
		buf_char(&b, REFUSED);
		buf_str(&b, e.text);
	}
	_exit(file_write_all(answer, b.p, b.n) ? 1 : 0);
}

/* ---- the parent ---- */

/* The group is the user's own, not the file's: that may be one that the user is not in. */
static int owner_of(const struct confined *c, struct user *u, struct err *e)
{
	struct stat st = {.st_uid = c->owner};
	struct passwd *p;

	if (c->file >= 0 && fstat(c->file, &st))
		return err_sys(e, "owner");
	p = st.st_uid ? getpwuid(st.st_uid) : NULL;
	u->uid = st.st_uid ? st.st_uid : NOBODY;
	u->gid = p && p->pw_gid ? p->pw_gid : NOBODY;
	return 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* All until the end of it; -1 when that is too much or takes too long. */
static int receive(int fd, unsigned wait_s, struct buf *out, struct err *e)
{
	uint64_t until = now_ms() + wait_s * UINT64_C(1000), now;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t begin = out->n;
	ssize_t n = 1;

	while (n) {
		now = now_ms();
		if (now >= until)
			return err_set(e, "reading it took longer than %u s", wait_s);
		if (poll(&p, 1, (int)(until - now)) <= 0)
			continue;
		n = read(fd, buf_grow(out, CHUNK), CHUNK);
		out->n -= CHUNK - (size_t)(n > 0 ? n : 0);
		if (n < 0 && errno != EINTR)
			return err_sys(e, "the answer");
		if (out->n - begin > CONFINED_ANSWER_MAX)
			return err_set(e, "more than %d bytes of answer", CONFINED_ANSWER_MAX);
	}
	return 0;
}

/* What a child that ended by itself left. */
static int judge(const struct confined *c, int status, const struct buf *b, struct err *e)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return err_set(e,
		    "the process that read it was killed, perhaps after %u s of CPU time",
		    cpu_s(c));
	if (WIFSIGNALED(status))
		return err_set(
		    e, "the process that read it crashed (%s)", strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == 70)
		return err_set(e, "reading it took too much memory");
	if (WEXITSTATUS(status) || !b->n || (b->p[0] != ANSWERED && b->p[0] != REFUSED))
		return err_set(e, "the process that read it failed");
	if (b->p[0] == REFUSED)
		return err_set(e, "%.*s", (int)(b->n - 1), b->p + 1);
	return 0;
}

static int talk(const struct confined *c, int fd, pid_t pid, struct buf *answer, struct err *e)
{
	struct buf b = {0};
	int status, rc = receive(fd, c->wait_s ? c->wait_s : CONFINED_WAIT_S, &b, e);

	if (rc)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!rc)
		rc = judge(c, status, &b, e);
	if (!rc)
		buf_add(answer, b.p + 1, b.n - 1);
	buf_free(&b);
	return rc;
}

int confined_run(const struct confined *c, struct buf *answer, struct err *e)
{
	int p[2], rc;
	struct user u;
	pid_t pid;

	if (owner_of(c, &u, e))
		return -1;
	if (pipe2(p, O_CLOEXEC))
		return err_sys(e, "pipe");
	pid = fork();
	if (!pid)
		be_child(c, p[1], &u);
	close(p[1]);
	rc = pid < 0 ? err_sys(e, "fork") : talk(c, p[0], pid, answer, e);
	close(p[0]);
	return rc;
}
