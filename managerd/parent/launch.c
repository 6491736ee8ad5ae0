#include "managerd/parent/launch.h"
#include "common/limit.h"
#include "managerd/parent/cgroup.h"
#include "managerd/parent/trust/fault.h"
#include "managerd/parent/procs.h"

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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORT_FD = LAUNCH_FDS };

/* Of the child, which cannot become the program. */
static _Noreturn void give_up(int report, const struct launch *l, const char *doing)
{
	struct err e;

	err_sys(&e, "%s: %s", l->argv[0], doing);
	if (write(report, e.text, strlen(e.text)) < 0)
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

/* At the lowest priority. What the kernel does not offer here is
 * done without: the job is then only less polite. */
static void lower_priority(const struct launch *l)
{
	struct sched_param p = {0};

	if (l->priority == LAUNCH_NICE)
		setpriority(PRIO_PROCESS, 0, 10);
	else if (sched_setscheduler(0, SCHED_IDLE, &p) < 0)
		setpriority(PRIO_PROCESS, 0, 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static int place_fds(const struct launch *l, int report)
{
	int null = open("/dev/null", O_RDWR), above[LAUNCH_FDS];
	size_t i;

	/* Above all places first, so that none is overwritten before it is used. */
	null = fcntl(null, F_DUPFD, REPORT_FD + 1);
	report = fcntl(report, F_DUPFD, REPORT_FD + 1);
	if (null < 0 || report < 0)
		return -1;
	for (i = 0; i < l->nfd; i++) {
		above[i] = l->fd[i] < 0 ? null : fcntl(l->fd[i], F_DUPFD, REPORT_FD + 1);
		if (above[i] < 0)
			return -1;
	}
	for (i = 0; i < l->nfd; i++)
		if (dup2(above[i], (int)i) < 0)
			return -1;
	for (; i < REPORT_FD; i++)
		close((int)i);
	if (dup3(report, REPORT_FD, O_CLOEXEC) < 0)
		return -1;
	return (int)syscall(SYS_close_range, REPORT_FD + 1, ~0U, 0);
}

/* 0 = none. */
static int limit(int what, uint64_t max)
{
	return max ? limit_lower(what, max) : 0;
}

int launch_become(uid_t uid, gid_t gid)
{
	return setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ? -1
								      : setresuid(uid, uid, uid);
}

static const char *become(const struct launch *l)
{
	if (limit_lower(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_AS, l->memory) < 0 ||
	    limit(RLIMIT_FSIZE, l->file_bytes) < 0 || limit(RLIMIT_CPU, l->cpu_s) < 0)
		return "setting its bounds";
	if (l->drop && launch_become(l->uid, l->gid) < 0)
		return "becoming its user";
	/* In the service nobody else sees the processes of a user. */
	if (l->processes && limit(RLIMIT_NPROC, procs_of_user(geteuid()) + l->processes) < 0)
		return "setting its bounds";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return "giving up new privileges";
	/* After the change of user, which would reset it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return "binding it to morphd";
	return NULL;
}

static _Noreturn void child(const struct launch *l, int report, pid_t parent)
{
	const char *failed;

	plain_signals();
	if (l->group > 0 && !cgroup_enter(l->group))
		give_up(report, l, "entering its control group");
	/* By no path: its user, who may mount over it, would keep us waiting. */
	if ((l->folder > 0 ? fchdir(l->folder) : chdir("/")) < 0)
		give_up(report, l, "entering its folder");
	if (place_fds(l, report) < 0)
		give_up(report, l, "setting its descriptors");
	report = REPORT_FD;
	if (setsid() < 0)
		give_up(report, l, "starting a session");
	umask(022);
	failed = become(l);
	if (failed)
		give_up(report, l, failed);
	if (getppid() != parent)
		_exit(127);
	environ = (char **)l->env;
	if (l->priority != LAUNCH_PLAIN)
		lower_priority(l);
	execvp(l->argv[0], (char *const *)l->argv);
	give_up(report, l, "running it");
}

/* Where it has no pidfd it is not left to run. */
static pid_t follow(pid_t pid, int *pidfd, const char *what, struct err *e)
{
	*pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (*pidfd >= 0)
		return pid;
	err_sys(e, "%s", what);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return -1;
}

pid_t launch(const struct launch *l, int *pidfd, int *report, struct err *e)
{
	pid_t pid, parent = getpid();
	int pipe_fd[2];

	*pidfd = *report = -1;
	if (pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "%s", l->argv[0]);
	pid = fork();
	if (!pid)
		child(l, pipe_fd[1], parent);
	close(pipe_fd[1]);
	pid = follow(pid, pidfd, l->argv[0], e);
	if (pid > 0)
		*report = pipe_fd[0];
	else
		close(pipe_fd[0]);
	return pid;
}

int launch_became(int report, struct err *e)
{
	ssize_t n = read(report, e->text, sizeof e->text - 1);

	close(report);
	if (n <= 0)
		return 0;
	e->text[n] = '\0';
	return -1;
}

pid_t launch_copy(int (*fn)(void *arg), void *arg, int *pidfd, struct err *e)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return follow(pid, pidfd, "fork", e);
	plain_signals();
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fault_parent(parent);
	_exit(getppid() == parent ? fn(arg) : 127);
}
