#include "managerd/parent/child.h"
#include "common/publish.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t child_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int open_answer(struct err *e)
{
	int fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? err_sys(e, "memory for an answer") : fd;
}

static int started(struct child *c, int answer, unsigned wait_s)
{
	c->answer = answer;
	c->until_ms = wait_s ? child_now_ms() + 1000 * (int64_t)wait_s : 0;
	if (c->pid > 0)
		return 0;
	*c = (struct child){.pidfd = -1, .report = -1, .answer = -1};
	fd_close(&answer);
	return -1;
}

int child_run(struct child *c, struct launch *l, unsigned answer, unsigned wait_s, struct err *e)
{
	int fd = answer ? open_answer(e) : -1;

	if (answer && fd < 0)
		return -1;
	if (answer)
		l->fd[answer] = fd;
	c->pid = launch(l, &c->pidfd, &c->report, e);
	return started(c, fd, wait_s);
}

struct working {
	child_work_fn *fn;
	void *arg;
	int answer;
};

static int work(void *arg)
{
	struct working *k = arg;
	struct worked w = {0};

	k->fn(k->arg, &w);
	w.done = 1;
	return pwrite(k->answer, &w, sizeof w, 0) != sizeof w;
}

int child_work(struct child *c, child_work_fn *fn, void *arg, unsigned wait_s, struct err *e)
{
	struct working k = {fn, arg, open_answer(e)};

	if (k.answer < 0)
		return -1;
	c->report = -1;
	c->pid = launch_copy(work, &k, &c->pidfd, e);
	return started(c, k.answer, wait_s);
}

void child_signal(const struct child *c, int sig)
{
	/* Not reaped yet, so the number is still its own; a copy of ours may not lead its
	 * group yet. */
	if (c->pid > 0 && kill(-c->pid, sig) < 0)
		kill(c->pid, sig);
}

int child_stopped(const struct child *c)
{
	siginfo_t info = {0};

	return c->pid > 0 && !waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

int child_reap(struct child *c, struct err *e)
{
	struct rusage use = {0};
	int status = 0;

	kill(-c->pid, SIGKILL);
	while (wait4(c->pid, &status, 0, &use) < 0 && errno == EINTR)
		;
	c->cpu_us = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
		    (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
	if (c->report >= 0 && launch_became(c->report, e) < 0)
		status = -1;
	c->report = -1;
	child_leave(c);
	return status;
}

void child_leave(struct child *c)
{
	close(c->pidfd);
	fd_close(&c->report);
	c->pid = 0;
	c->pidfd = c->report = -1;
}

void child_worked(struct child *c, struct worked *w)
{
	*w = (struct worked){0};
	if (pread(c->answer, w, sizeof *w, 0) != sizeof *w || !w->done)
		*w = (struct worked){.status = -1, .why = {"it was killed"}};
	w->why.text[sizeof w->why.text - 1] = '\0';
	child_forget(c);
}

void child_forget(struct child *c)
{
	fd_close(&c->answer);
}
