#include "monitor-client/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void child(int go, int said, char *const argv[])
{
	char c;
	int error;

	if (read(go, &c, 1) != 1)
		_exit(125); /* cancelled */
	execvp(argv[0], argv);
	error = errno;
	if (write(said, &error, sizeof error) != sizeof error)
		_exit(125);
	_exit(127);
}

int follow_fork(struct follow *f, char *const argv[], struct err *e)
{
	int go[2], said[2];

	if (pipe2(go, O_CLOEXEC))
		return err_sys(e, "pipe");
	if (pipe2(said, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return err_sys(e, "pipe");
	}
	f->pid = fork();
	if (f->pid == 0) {
		close(go[1]);
		close(said[0]);
		child(go[0], said[1], argv);
	}
	close(go[0]);
	close(said[1]);
	f->go = go[1];
	f->said = said[0];
	if (f->pid > 0)
		return 0;
	f->pid = 0;
	close(f->go);
	close(f->said);
	return err_sys(e, "fork");
}

int follow_start(struct follow *f, const char *name, struct err *e)
{
	int error = 0;
	ssize_t n;

	if (write(f->go, "x", 1) != 1)
		error = errno;
	close(f->go);
	do
		n = read(f->said, &error, sizeof error);
	while (n < 0 && errno == EINTR);
	close(f->said);
	if (!error)
		return 0;
	waitpid(f->pid, NULL, 0);
	f->pid = 0;
	errno = error;
	err_sys(e, "%s", name);
	return error == ENOENT ? 127 : 126;
}

void follow_cancel(struct follow *f)
{
	if (!f->pid)
		return;
	close(f->go);
	close(f->said);
	waitpid(f->pid, NULL, 0);
	f->pid = 0;
}

bool follow_ended(struct follow *f, int *status)
{
	int st;

	if (!f->pid || waitpid(f->pid, &st, WNOHANG) != f->pid)
		return false;
	*status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
	f->pid = 0;
	return true;
}

int follow_running(struct follow *f, const pid_t *pid, size_t n, struct err *e)
{
	size_t i;
	int fd;

	for (i = 0; i < n; i++) {
		fd = (int)syscall(SYS_pidfd_open, pid[i], 0);
		if (fd < 0 && (errno == ESRCH || errno == EINVAL)) /* none, or a thread's id */
			return err_set(e, "there is no process %d", (int)pid[i]);
		if (fd < 0)
			return err_sys(e, "process %d", (int)pid[i]);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		vec_push(&f->running, fd);
	}
	return 0;
}

bool follow_gone(struct follow *f)
{
	struct pollfd p;
	size_t i, n = 0;

	for (i = 0; i < f->running.n; i++) {
		p = (struct pollfd){.fd = f->running.v[i], .events = POLLIN};
		n += poll(&p, 1, 0) > 0;
	}
	return n && n == f->running.n;
}

void follow_close(struct follow *f)
{
	size_t i;

	for (i = 0; i < f->running.n; i++)
		close(f->running.v[i]);
	vec_free(&f->running);
}
