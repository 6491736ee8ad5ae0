#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CAPTURE_MAX = 16 << 20, SLICE_MS = 20 };

extern char **environ;

/* One pipe from the child, read end here. */
struct capture {
	struct buf *to;
	int rd, wr;
	bool over; /* there was more than fits */
};

struct child {
	struct capture out, err;
	int fd[3]; /* what becomes 0, 1, 2; -1 = inherit; owned */
	char **env;
	pid_t pid;
	int pidfd;
	int64_t deadline_ms; /* 0 = none */
	int client;          /* -1 = none */
	bool whole;
	volatile int failed; /* errno of the child before it was the program */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int capture_open(struct capture *c, struct buf *to)
{
	int fd[2];

	if (!to)
		return 0;
	if (pipe2(fd, O_CLOEXEC) < 0)
		return -1;
	*c = (struct capture){to, fd[0], fd[1], false};
	return fcntl(c->rd, F_SETFL, O_NONBLOCK);
}

/* Reads what is there. Beyond the limit it reads on, so that the child does
 * not block, and forgets. */
static void capture_read(struct capture *c)
{
	char chunk[64 * 1024];
	ssize_t n = 0;
	size_t room;

	while (c->rd >= 0 && (n = read(c->rd, chunk, sizeof chunk)) > 0) {
		room = c->to->n < CAPTURE_MAX ? CAPTURE_MAX - c->to->n : 0;
		buf_add(c->to, chunk, (size_t)n < room ? (size_t)n : room);
		c->over |= (size_t)n > room;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_fd(&c->rd);
}

/* A copy above 2, so that putting 0, 1, 2 in place overwrites none of them. */
static int place_fd(int *slot, int want, int captured)
{
	int null = -1, fd = captured >= 0 ? captured : want;

	if (captured < 0 && want == 0)
		return 0;
	if (fd < 0 && (fd = null = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0)
		return -1;
	*slot = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close_fd(&null);
	return *slot;
}

static char **environment(const char *const *extra, bool only)
{
	size_t n = 0, m = 0, i, k, len;
	char **env;

	while (!only && environ[n])
		n++;
	while (extra && extra[m])
		m++;
	env = xcalloc(n + m + 1, sizeof *env);
	for (k = 0; k < m; k++)
		env[k] = (char *)extra[k];
	for (i = 0; i < n; i++) {
		bool replaced = false;

		len = strcspn(environ[i], "=");
		for (size_t j = 0; j < m && !replaced; j++)
			replaced = !strncmp(extra[j], environ[i], len) && extra[j][len] == '=';
		if (!replaced)
			env[k++] = environ[i];
	}
	return env;
}

/* What a handler would do in a child that shares our memory, it would do to us. */
static void drop_handlers(void)
{
	struct sigaction old, none = {.sa_handler = SIG_DFL};
	int n;

	for (n = 1; n < NSIG; n++)
		if (!sigaction(n, NULL, &old) && old.sa_handler != SIG_IGN &&
		    old.sa_handler != SIG_DFL)
			sigaction(n, &none, NULL);
}

/* The child's side of vfork(): tells why it failed through c, or becomes argv. */
static _Noreturn void become(const struct spawn *s, struct child *c, const sigset_t *mask)
{
	int i;

	drop_handlers();
	for (i = 0; i < 3; i++)
		if (c->fd[i] >= 0 && dup2(c->fd[i], i) < 0)
			goto failed;
	/* Only then: in a group of its own a child hears no Ctrl-C. */
	if ((s->dir && chdir(s->dir)) || (s->timeout_s && setpgid(0, 0)) ||
	    (s->before && s->before()))
		goto failed;
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvpe(s->argv[0], (char *const *)s->argv, c->env);
failed:
	c->failed = errno;
	_exit(127);
}

static int start(const struct spawn *s, struct child *c)
{
	sigset_t all, mask;

	c->env = environment(s->env, s->only_env);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	c->pid = vfork();
	if (!c->pid)
		become(s, c, &mask);
	if (c->pid < 0)
		c->failed = errno;
	else if (c->failed)
		waitpid(c->pid, NULL, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	free(c->env);
	errno = c->failed;
	return c->failed ? -1 : 0;
}

static int reap(struct child *c, int options, int *status)
{
	pid_t r;

	do
		r = waitpid(c->pid, status, options);
	while (r < 0 && errno == EINTR);
	return r == c->pid ? 1 : r < 0 ? -1 : 0;
}

/* Collects output until the child has ended. 0, or -1 when it is to be stopped. */
static int attend(struct child *c, int *status)
{
	struct pollfd pfd[4] = {{0}};
	int64_t left = -1;
	int r;

	while (!(r = reap(c, WNOHANG, status))) {
		if (pfd[3].revents || (c->whole && (c->out.over || c->err.over)))
			return -1;
		if (c->deadline_ms) {
			left = c->deadline_ms - now_ms();
			if (left <= 0)
				return -1;
		}
		/* Where there are no pidfds, look again and again. */
		if (c->pidfd < 0 && (left < 0 || left > SLICE_MS))
			left = SLICE_MS;
		pfd[0] = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
		pfd[1] = (struct pollfd){.fd = c->out.rd, .events = POLLIN};
		pfd[2] = (struct pollfd){.fd = c->err.rd, .events = POLLIN};
		pfd[3] = (struct pollfd){.fd = c->client, .events = POLLRDHUP};
		poll(pfd, 4, left > 1 << 30 ? 1 << 30 : (int)left);
		capture_read(&c->out);
		capture_read(&c->err);
	}
	return r < 0 ? -1 : 0;
}

static int finish(const struct spawn *s, struct child *c, struct err *e)
{
	int status = 0;

	if (s->timeout_s)
		c->deadline_ms = now_ms() + (int64_t)s->timeout_s * 1000;
	c->whole = s->whole;
	c->client = s->client ? s->client : -1;
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (attend(c, &status) < 0) {
		if (!c->deadline_ms)
			return err_sys(e, "%s: wait", s->argv[0]);
		kill(-c->pid, SIGKILL);
		reap(c, 0, &status);
		if (c->whole && (c->out.over || c->err.over))
			return err_set(e, "%s: stopped, it prints more than %d MiB", s->argv[0],
			    CAPTURE_MAX >> 20);
		if (now_ms() < c->deadline_ms)
			return err_set(e, "%s: stopped, nobody waits for it", s->argv[0]);
		return err_set(e, "%s: stopped after %u s", s->argv[0], s->timeout_s);
	}
	/* What a grandchild still holds open is not waited for. */
	capture_read(&c->out);
	capture_read(&c->err);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int spawn_run(const struct spawn *s, struct err *e)
{
	struct child c = {.out = {.rd = -1, .wr = -1},
	    .err = {.rd = -1, .wr = -1},
	    .fd = {-1, -1, -1},
	    .pidfd = -1,
	    .client = -1};
	int r = -1, i;

	if (capture_open(&c.out, s->capture_out) < 0 || capture_open(&c.err, s->capture_err) < 0 ||
	    place_fd(&c.fd[0], s->in, -1) < 0 || place_fd(&c.fd[1], s->out, c.out.wr) < 0 ||
	    place_fd(&c.fd[2], s->err, c.err.wr) < 0 || start(s, &c) < 0)
		err_sys(e, "%s", s->argv[0]);
	else
		r = 0;
	close_fd(&c.out.wr);
	close_fd(&c.err.wr);
	for (i = 0; i < 3; i++)
		close_fd(&c.fd[i]);
	if (!r)
		r = finish(s, &c, e);
	close_fd(&c.pidfd);
	close_fd(&c.out.rd);
	close_fd(&c.err.rd);
	return r;
}
