#include "managerd/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child reports when it cannot become the program. */
struct trouble {
	int errno_value;
	char doing[32];
};

enum { REPORT_FD = 3 };

static _Noreturn void give_up(int report, const char *doing)
{
	struct trouble t = {.errno_value = errno};

	strncpy(t.doing, doing, sizeof t.doing - 1);
	if (write(report, &t, sizeof t) < 0)
		_exit(126);
	_exit(127);
}

static void plain_signals(void)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Out of the way of everything else. What the kernel does not offer here is
 * done without: the job is then only less polite. */
static void be_idle(bool awaited)
{
	struct sched_param p = {0};

	if (awaited)
		setpriority(PRIO_PROCESS, 0, 10);
	else if (sched_setscheduler(0, SCHED_IDLE, &p) < 0)
		setpriority(PRIO_PROCESS, 0, 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
	    IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static int place_fds(const struct launch *l, int report)
{
	int null = open("/dev/null", O_RDONLY), out, err;

	/* Above 2 first, so that none is overwritten before it is used. */
	out = fcntl(l->out, F_DUPFD, REPORT_FD + 1);
	err = fcntl(l->err, F_DUPFD, REPORT_FD + 1);
	report = fcntl(report, F_DUPFD, REPORT_FD + 1);
	if (null < 0 || out < 0 || err < 0 || report < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(err, 2) < 0 || dup3(report, REPORT_FD, O_CLOEXEC) < 0)
		return -1;
	return (int)syscall(SYS_close_range, REPORT_FD + 1, ~0U, 0);
}

static const char *become(const struct launch *l)
{
	struct rlimit none = {0, 0}, memory = {l->memory, l->memory};

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return "turning off core files";
	if (l->memory && setrlimit(RLIMIT_AS, &memory) < 0)
		return "limiting its memory";
	if (l->drop && (setgroups(0, NULL) < 0 || setresgid(l->gid, l->gid, l->gid) < 0 ||
			   setresuid(l->uid, l->uid, l->uid) < 0))
		return "becoming the module's owner";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return "giving up new privileges";
	/* After the change of user, which would reset it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return "binding it to the manager";
	return NULL;
}

static _Noreturn void child(const struct launch *l, int report, pid_t parent)
{
	const char *failed;

	plain_signals();
	if (place_fds(l, report) < 0)
		give_up(report, "setting its descriptors");
	report = REPORT_FD;
	if (setsid() < 0)
		give_up(report, "starting a session");
	be_idle(l->awaited);
	umask(022);
	failed = become(l);
	if (failed)
		give_up(report, failed);
	if (getppid() != parent)
		_exit(127);
	if (chdir(l->dir) < 0)
		give_up(report, "entering its folder");
	environ = (char **)l->env;
	execvp(l->argv[0], (char *const *)l->argv);
	give_up(report, "running it");
}

pid_t launch(const struct launch *l, int *pidfd, struct err *e)
{
	struct trouble t;
	pid_t pid, parent = getpid();
	int pipe_fd[2];
	ssize_t n;

	*pidfd = -1;
	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return err_sys(e, "%s", l->argv[0]);
	pid = fork();
	if (!pid)
		child(l, pipe_fd[1], parent);
	close(pipe_fd[1]);
	do
		n = pid < 0 ? 0 : read(pipe_fd[0], &t, sizeof t);
	while (n < 0 && errno == EINTR);
	if (pid > 0 && !n)
		*pidfd = pidfd_open(pid, 0);
	if (pid < 0 || *pidfd < 0)
		err_sys(e, "%s", l->argv[0]);
	if (n == sizeof t) {
		errno = t.errno_value;
		err_sys(e, "%s: %.*s", l->argv[0], (int)sizeof t.doing, t.doing);
	}
	close(pipe_fd[0]);
	if (*pidfd >= 0)
		return pid;
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return -1;
}
