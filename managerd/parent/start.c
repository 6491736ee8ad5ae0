#include "managerd/parent/start.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/parent/launch.h"
#include "managerd/parent/sockets.h"
#include "managerd/parent/swap/swap.h"
#include "managerd/parent/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the state folder ---- */

/* Processes of one that was just killed hold its lock until they have ended too. */
static int lock_soon(int fd)
{
	enum { TRIES = 40, WAIT_US = 50000 };
	int i, r = flock(fd, LOCK_EX | LOCK_NB);

	for (i = 0; r < 0 && errno == EWOULDBLOCK && i < TRIES; i++) {
		usleep(WAIT_US);
		r = flock(fd, LOCK_EX | LOCK_NB);
	}
	return r;
}

static int lock_state(const char *state, struct err *e)
{
	char *path = xasprintf("%s/lock", state), pid[16] = "";
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) {
		err_sys(e, "%s", path);
	} else if (lock_soon(fd) < 0) {
		if (errno != EWOULDBLOCK)
			err_sys(e, "%s", path);
		else if (pread(fd, pid, sizeof pid - 1, 0) > 0)
			err_set(e, "%s: another morphd (process %d) works with this state folder",
			    state, atoi(pid));
		else
			err_set(e, "%s: another morphd works with this state folder", state);
		close(fd);
		fd = -1;
	} else {
		snprintf(pid, sizeof pid, "%d\n", (int)getpid());
		if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, strlen(pid), 0) < 0)
			log_warn("%s: %s", path, strerror(errno));
	}
	free(path);
	return fd;
}

static int check_state(const char *state, struct err *e)
{
	struct stat st;

	if (stat(state, &st) < 0)
		return err_sys(e, "%s", state);
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, "%s: must belong to uid %u and not be writable by others", state,
		    (unsigned)geteuid());
	return 0;
}

/* A folder with just these rights, whatever it had. */
static int make_folder(
    const char *state, const char *name, mode_t mode, uid_t uid, gid_t gid, struct err *e)
{
	char *path = *name ? xasprintf("%s/%s", state, name) : xstrdup(state);
	int fd = -1, r = dir_make(path, mode, e);

	if (!r)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!r && (fd < 0 || fchown(fd, uid, gid) < 0 || fchmod(fd, mode) < 0))
		r = err_sys(e, "%s", path);
	fd_close(&fd);
	free(path);
	return r;
}

static int make_folders(struct parent *p, const struct start *s, struct err *e)
{
	uid_t self = geteuid();
	gid_t group = getegid();

	/* Only one's own folder is reached through jobs. */
	if (make_folder(p->state, "", s->user ? 0700 : 0711, self, group, e) ||
	    make_folder(p->state, "jobs", 0711, self, group, e) ||
	    make_folder(p->state, "artifacts", 0755, self, group, e) ||
	    make_folder(p->state, "lifted", 0711, self, group, e) ||
	    make_folder(p->state, "builds", 0700, self, group, e) ||
	    make_folder(
		p->state, "manager", 0700, s->user ? self : s->uid, s->user ? group : s->gid, e))
		return -1;
	return make_folder(s->run, "", s->user ? 0700 : 0755, self, group, e);
}

static void note_outcome(const struct swap_outcome *o, void *arg)
{
	struct parent *p = arg;

	vec_push(&p->recovered, *o);
	p->recovered.v[p->recovered.n - 1].module = xstrdup(o->module);
}

static void sweep_folder(const char *name, void *arg)
{
	task_sweep_left(arg, name);
}

int state_open(const char *path, char **state, int *lock, struct err *e)
{
	if (check_state(path, e) < 0)
		return -1;
	*state = realpath(path, NULL);
	if (!*state)
		return err_sys(e, "%s", path);
	*lock = lock_state(*state, e);
	return *lock < 0 ? -1 : 0;
}

int start_state(struct parent *p, const struct start *s, int *lock, struct err *e)
{
	struct err why;

	*lock = -1;
	if (s->state[0] != '/')
		return err_set(e, "%s: the state folder must be an absolute path", s->state);
	if (dir_make(s->state, s->user ? 0700 : 0711, e) < 0 ||
	    state_open(s->state, &p->state, lock, e) < 0 || make_folders(p, s, e) < 0)
		return -1;
	/* What cannot be settled or removed is said, and is no reason not to start. */
	cgroups_sweep(&p->groups);
	if (swap_recover(p->state, note_outcome, p, &why) < 0)
		log_error("%s", why.text);
	folder_each(p->state, sweep_folder, p);
	tasks_sweep(p);
	return 0;
}

/* ---- the manager ---- */

struct pipes { /* the manager's ends, in the order of its descriptors */
	int fd[5];
};
enum { VERBS, EVENTS, POLICY, API, MONITOR, PIPES };

static int open_sockets(const struct start *s, struct pipes *m, struct err *e)
{
	char *api = xasprintf("%s/api.sock", s->run),
	     *monitor = xasprintf("%s/monitor.sock", s->run);
	gid_t nobody = (gid_t)-1;

	/* Who asks is known by its uid; the monitors' is for them alone. */
	m->fd[API] = socket_listen(api, s->user ? 0600 : 0666, nobody, e);
	if (m->fd[API] >= 0)
		m->fd[MONITOR] = socket_listen(
		    monitor, s->user ? 0600 : 0660, s->user ? nobody : s->monitor_gid, e);
	free(api);
	free(monitor);
	return m->fd[API] < 0 || m->fd[MONITOR] < 0 ? -1 : 0;
}

static int open_pipes(struct parent *p, const struct start *s, struct pipes *m, struct err *e)
{
	int verbs[2], events[2];

	*m = (struct pipes){{-1, -1, -1, -1, -1}};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, verbs) < 0)
		return err_sys(e, "socket pair");
	p->verbs = verbs[0];
	m->fd[VERBS] = verbs[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events) < 0)
		return err_sys(e, "socket pair");
	p->events = events[0];
	m->fd[EVENTS] = events[1];
	m->fd[POLICY] = fcntl(p->policy.text, F_DUPFD_CLOEXEC, 0);
	if (m->fd[POLICY] < 0)
		return err_sys(e, "the policy");
	return open_sockets(s, m, e);
}

static int become(const struct start *s)
{
	if (!s->user && launch_become(s->uid, s->gid) < 0)
		return -1;
	/* After the change of user, which would reset it. */
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0
		   ? -1
		   : 0;
}

static int place_pipes(const struct pipes *m)
{
	int above[PIPES], i;

	for (i = 0; i < PIPES; i++)
		if ((above[i] = fcntl(m->fd[i], F_DUPFD, PRIV_FD_VERBS + PIPES)) < 0)
			return -1;
	for (i = 0; i < PIPES; i++)
		if (dup2(above[i], PRIV_FD_VERBS + i) < 0)
			return -1;
	return (int)syscall(SYS_close_range, PRIV_FD_VERBS + PIPES, ~0U, 0);
}

/* Nothing of whom started us but how to log and what tests ask for. */
static char **manager_env(void)
{
	static const char *const kept[] = {"JOURNAL_STREAM=", "LANG=", "TZ=", "MORPH_FAULT="};
	VEC(char *) env = {0};
	size_t i, k;

	for (i = 0; environ[i]; i++)
		for (k = 0; k < sizeof kept / sizeof *kept; k++)
			if (!strncmp(environ[i], kept[k], strlen(kept[k])))
				vec_push(&env, environ[i]);
	vec_push(&env, NULL);
	return env.v;
}

static _Noreturn void run_manager(
    const struct parent *p, const struct start *s, const struct pipes *m, pid_t parent)
{
	char *home = xasprintf("%s/manager", p->state);
	const char *argv[] = {s->manager, "--policy", p->conf->path ? p->conf->path : "", "--state",
	    p->state, "--home", home, "--run", s->run,
	    s->user      ? "--user"
	    : s->verbose ? "-v"
			 : NULL,
	    s->user && s->verbose ? "-v" : NULL, NULL};

	if (place_pipes(m) < 0 || become(s) < 0 || getppid() != parent)
		die(EXIT_FAILURE, "becoming the manager: %s", strerror(errno));
	execve(s->manager, (char *const *)argv, manager_env());
	die(EXIT_FAILURE, "%s: %s", s->manager, strerror(errno));
}

pid_t start_manager(struct parent *p, const struct start *s, struct err *e)
{
	pid_t parent = getpid(), pid;
	struct pipes m;
	size_t i;

	if (open_pipes(p, s, &m, e) < 0)
		return -1;
	pid = fork();
	if (!pid)
		run_manager(p, s, &m, parent);
	for (i = 0; i < PIPES; i++)
		close(m.fd[i]);
	return pid < 0 ? err_sys(e, "fork") : pid;
}
