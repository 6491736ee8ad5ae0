#include "common/log.h"
#include "common/publish.h"
#include "managerd/priv/frame.h"
#include "managerd/parent/task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WATCH_MS = 1000, END_WAIT_MS = 10000 };

struct serving {
	struct parent *p;
	pid_t manager;
	int signals;
	int64_t watched_ms;
	VEC(struct pollfd) poll;
};

/* ---- the manager ---- */

static void manager_gone(struct serving *s)
{
	close(s->p->verbs);
	close(s->p->events);
	s->p->verbs = s->p->events = -1;
}

static void serve_verb(struct serving *s)
{
	static struct frame f;
	struct buf reply = {0};
	struct err e;
	int r = frame_receive(s->p->verbs, &f, &e);

	if (r > 0) {
		parent_handle(s->p, &f, &reply);
		r = frame_send(s->p->verbs, &reply, NULL, 0, &e) < 0 ? -1 : 1;
	}
	buf_free(&reply);
	if (r < 0) {
		log_error("%s", e.text);
		kill(s->manager, SIGTERM);
	}
	if (r <= 0)
		manager_gone(s);
}

/* As much as it takes now. */
static void send_events(struct serving *s)
{
	struct parent *p = s->p;
	struct event *ev;
	size_t i, n = 0;

	while (n < p->queue.n && p->events >= 0) {
		ev = &p->queue.v[n];
		if (frame_send(p->events, &ev->frame, &ev->fd, ev->fd >= 0, NULL) < 0 &&
		    errno == EAGAIN)
			break;
		buf_free(&ev->frame);
		fd_close(&ev->fd);
		n++;
	}
	for (i = n; i < p->queue.n; i++)
		p->queue.v[i - n] = p->queue.v[i];
	p->queue.n -= n;
}

/* True when a process ended. */
static bool take_signals(struct serving *s)
{
	struct signalfd_siginfo si;
	bool ended = false;

	while (read(s->signals, &si, sizeof si) == sizeof si)
		if (si.ssi_signo == SIGCHLD)
			ended = true;
		else if (si.ssi_signo == SIGHUP && isatty(STDIN_FILENO))
			kill(s->manager, SIGTERM); /* the terminal is gone */
		else
			kill(s->manager, (int)si.ssi_signo);
	return ended;
}

/* ---- other processes ---- */

/* What a job left to init comes to us; nothing outlives its job. */
static void reap_strays(struct serving *s)
{
	const struct parent *p = s->p;
	siginfo_t info;
	size_t i;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
			return;
		for (i = 0; i < p->task.n && p->task.v[i]->child.pid != info.si_pid; i++)
			;
		/* Whoever else holds its end of the sockets; it is reaped at our end. */
		if (info.si_pid == s->manager && p->verbs >= 0)
			manager_gone(s);
		if (i < p->task.n || info.si_pid == s->manager)
			return; /* reaped elsewhere; others come up afterwards */
		waitpid(info.si_pid, NULL, 0);
	}
}

static bool is_ours(const struct serving *s, pid_t pid)
{
	const struct parent *p = s->p;
	pid_t session = getsid(pid);
	size_t i;

	if (pid == s->manager)
		return true;
	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->child.pid &&
		    (p->task.v[i]->child.pid == pid || p->task.v[i]->child.pid == session))
			return true;
	return false;
}

/* Processes that left the session of their job, or outlive it. */
static void kill_strays(const struct serving *s)
{
	char path[64], text[4096], *at = text, *end;
	ssize_t n;
	long pid;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	fd_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	for (pid = strtol(at, &end, 10); end != at; at = end, pid = strtol(at, &end, 10))
		if (*end && pid > 0 && !is_ours(s, (pid_t)pid))
			kill((pid_t)pid, SIGKILL);
}

static void step_tasks(struct serving *s)
{
	struct parent *p = s->p;
	struct pollfd one;
	size_t i;

	/* Steps may add tasks, but none goes before tasks_sweep(). */
	for (i = 0; i < p->task.n; i++) {
		one = (struct pollfd){.fd = p->task.v[i]->child.pidfd, .events = POLLIN};
		if (p->task.v[i]->child.pid && poll(&one, 1, 0) > 0)
			task_step(p, p->task.v[i]);
	}
	tasks_sweep(p);
}

static void watch_tasks(struct serving *s)
{
	int64_t now = child_now_ms();
	size_t i;

	if (now < s->watched_ms + WATCH_MS)
		return;
	s->watched_ms = now;
	kill_strays(s);
	for (i = 0; i < s->p->task.n; i++)
		task_watch(s->p, s->p->task.v[i]);
}

/* ---- the loop ---- */

static bool wait_for_work(struct serving *s)
{
	struct parent *p = s->p;
	bool running = false;
	size_t i;

	s->poll.n = 0;
	vec_push(&s->poll, (struct pollfd){.fd = p->verbs, .events = POLLIN});
	vec_push(&s->poll, (struct pollfd){.fd = s->signals, .events = POLLIN});
	vec_push(&s->poll, (struct pollfd){.fd = p->queue.n ? p->events : -1, .events = POLLOUT});
	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->child.pid) {
			running = true;
			vec_push(&s->poll,
			    (struct pollfd){.fd = p->task.v[i]->child.pidfd, .events = POLLIN});
		}
	poll(s->poll.v, s->poll.n, running ? WATCH_MS : 10 * WATCH_MS);
	return s->poll.v[0].revents != 0;
}

/* It is given time to save its store, but no more. */
static int manager_status(const struct serving *s)
{
	struct pollfd end = {.fd = pidfd_open(s->manager, 0), .events = POLLIN};
	int status = 0;

	if (end.fd < 0 || poll(&end, 1, END_WAIT_MS) <= 0)
		kill(s->manager, SIGKILL);
	fd_close(&end.fd);
	while (waitpid(s->manager, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int parent_serve(struct parent *p, pid_t manager)
{
	struct serving s = {.p = p, .manager = manager};
	sigset_t set;
	bool ended;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Who does not read cannot keep us from watching the jobs. */
	fcntl(p->verbs, F_SETFL, O_NONBLOCK);
	fcntl(p->events, F_SETFL, O_NONBLOCK);
	s.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	while (p->verbs >= 0) {
		if (wait_for_work(&s))
			serve_verb(&s);
		ended = take_signals(&s);
		step_tasks(&s);
		if (ended)
			kill_strays(&s);
		watch_tasks(&s);
		send_events(&s);
		reap_strays(&s);
	}
	tasks_end(p);
	close(s.signals);
	vec_free(&s.poll);
	return manager_status(&s);
}
