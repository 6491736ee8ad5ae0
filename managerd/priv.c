#include "managerd/priv.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/frame.h"
#include "managerd/jobs.h"
#include "managerd/parent.h"
#include "managerd/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct priv {
	struct verbs v;
	int lock;  /* user mode */
	int sock;  /* system mode: to the parent; -1 in user mode */
	char *home;
	struct frame frame;
};

/* ---- starting ---- */

static int lock_state(const char *state, struct err *e)
{
	char *path = xasprintf("%s/lock", state), pid[16] = "";
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) {
		err_sys(e, "%s", path);
	} else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
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

static int make_state(struct priv *p, const struct priv_options *o, struct err *e)
{
	if (o->state[0] != '/')
		return err_set(e, "%s: the state folder must be an absolute path", o->state);
	if (dir_make(o->state, o->user ? 0700 : 0711, e) < 0 || check_state(o->state, e) < 0)
		return -1;
	p->v.state = realpath(o->state, NULL);
	if (!p->v.state)
		return err_sys(e, "%s", o->state);
	p->lock = lock_state(p->v.state, e);
	return p->lock < 0 ? -1 : jobs_sweep(p->v.state, e);
}

/* A folder of ours with just these rights, whatever it had. */
static int make_folder(const char *path, mode_t mode, uid_t uid, gid_t gid, struct err *e)
{
	int fd, r = dir_make(path, mode, e);

	if (r < 0)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchown(fd, uid, gid) < 0 || fchmod(fd, mode) < 0)
		r = err_sys(e, "%s", path);
	if (fd >= 0)
		close(fd);
	return r;
}

static int make_system_folders(struct priv *p, const struct priv_options *o, struct err *e)
{
	char *builds = xasprintf("%s/builds", p->v.state);
	int r;

	r = make_folder(p->v.state, 0711, 0, 0, e);
	if (!r)
		r = make_folder(builds, 0750, 0, o->gid, e);
	if (!r)
		r = make_folder(p->home, 0700, o->uid, o->gid, e);
	if (!r && o->run)
		r = make_folder(o->run, 0755, o->uid, o->gid, e);
	free(builds);
	return r;
}

static int become_child(const struct priv_options *o, pid_t parent, struct err *e)
{
	if (setgroups(0, NULL) < 0 || setresgid(o->gid, o->gid, o->gid) < 0 ||
	    setresuid(o->uid, o->uid, o->uid) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return err_sys(e, "becoming uid %u", (unsigned)o->uid);
	if (getppid() != parent)
		return err_set(e, "the privileged parent is gone");
	return 0;
}

static int split(struct priv *p, const struct priv_options *o, struct err *e)
{
	pid_t parent = getpid(), child;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socket pair");
	child = fork();
	if (child < 0) {
		err_sys(e, "fork");
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	if (child) {
		close(pair[1]);
		parent_serve(&p->v, pair[0], child);
	}
	close(pair[0]);
	close(p->lock);
	p->lock = -1;
	p->v.verify = NULL;
	p->sock = pair[1];
	return become_child(o, parent, e);
}

static int check_options(const struct priv_options *o, struct err *e)
{
	if (o->user)
		return 0;
	if (geteuid() != 0)
		return err_set(e, "without --user morphd must be started by root");
	if (o->uid == 0 || o->gid == 0)
		return err_set(e, "the manager's user must not be root");
	return 0;
}

struct priv *priv_start(const struct priv_options *o, struct err *e)
{
	struct priv *p;
	int r;

	if (check_options(o, e) < 0)
		return NULL;
	p = xcalloc(1, sizeof *p);
	p->lock = p->sock = -1;
	p->v = (struct verbs){.system = !o->user, .uid = o->uid, .gid = o->gid,
		.editor = o->editor, .verify = o->verify};
	r = make_state(p, o, e);
	if (!r && o->user) {
		p->v.verify = NULL;
		p->home = xstrdup(p->v.state);
	}
	if (!r && !o->user) {
		p->home = xasprintf("%s/manager", p->v.state);
		r = make_system_folders(p, o, e);
		if (!r)
			r = split(p, o, e);
	}
	if (!r)
		return p;
	priv_stop(p);
	return NULL;
}

const char *priv_home(const struct priv *p)
{
	return p->home;
}

void priv_stop(struct priv *p)
{
	if (p->sock >= 0)
		close(p->sock);
	else
		verbs_end(&p->v);
	if (p->lock >= 0)
		close(p->lock);
	free(p->v.state);
	free(p->home);
	free(p);
}

/* ---- asking the parent ---- */

struct answer {
	struct frame_in in; /* behind status and error */
	int32_t status;
	int fd;
};

/* Half a manager is none: what it could not do must not look like a failure
 * of the module. */
static _Noreturn void orphaned(void)
{
	die(EXIT_FAILURE, "the privileged parent is gone");
}

static int send_frame(struct priv *p, const struct buf *b, const int *fd, unsigned nfd,
    struct err *e)
{
	int r = frame_send(p->sock, b, fd, nfd, e);

	if (r < 0 && (errno == EPIPE || errno == ECONNRESET))
		orphaned();
	return r;
}

static int receive(struct priv *p, uint32_t *verb, struct frame_in *in, struct err *e)
{
	int r = frame_receive(p->sock, &p->frame, e);

	if (r == 0)
		orphaned();
	if (r < 0)
		return -1;
	*in = (struct frame_in){.p = p->frame.bytes, .end = p->frame.bytes + p->frame.n};
	*verb = frame_get_u32(in);
	return 0;
}

static int receive_answer(struct priv *p, uint32_t want, struct answer *a, struct err *e)
{
	const char *text;
	uint32_t verb;

	if (receive(p, &verb, &a->in, e) < 0)
		return -1;
	a->status = (int32_t)frame_get_u32(&a->in);
	text = frame_get_str(&a->in);
	a->fd = p->frame.nfd == 1 ? p->frame.fd[0] : -1;
	if (verb != want || a->in.bad || p->frame.nfd > 1) {
		frame_close_fds(&p->frame);
		arena_free(&a->in.mem);
		return err_set(e, "the privileged parent gave another answer than was asked for");
	}
	if (a->status)
		err_set(e, "%s", text);
	return 0;
}

/* Sends b (freed) and waits. 0 when an answer came: free a->in.mem. */
static int ask(struct priv *p, uint32_t verb, struct buf *b, const int *fd, unsigned nfd,
    struct answer *a, struct err *e)
{
	int r = send_frame(p, b, fd, nfd, e);

	buf_free(b);
	return r < 0 ? -1 : receive_answer(p, verb, a, e);
}

/* For verbs whose answer is a status alone. */
static int ask_status(struct priv *p, uint32_t verb, struct buf *b, int failed, struct err *e)
{
	struct answer a;

	if (ask(p, verb, b, NULL, 0, &a, e) < 0)
		return failed;
	arena_free(&a.in.mem);
	return a.status;
}

static void put_swap(struct buf *b, uint32_t verb, const struct priv_swap *s)
{
	frame_u32(b, verb);
	frame_str(b, s->module);
	frame_str(b, s->job);
	frame_id(b, &s->from);
	frame_id(b, &s->to);
	frame_id(b, &s->origin);
	frame_u32(b, s->keep);
}

static void put_text(struct buf *b, uint32_t verb, const char *text)
{
	frame_u32(b, verb);
	frame_str(b, text);
}

/* ---- the verbs ---- */

enum swap_status priv_swap(struct priv *p, const struct priv_swap *s, struct err *e)
{
	struct buf b = {0};

	if (p->sock < 0)
		return verbs_swap(&p->v, s, e);
	put_swap(&b, FRAME_SWAP, s);
	return (enum swap_status)ask_status(p, FRAME_SWAP, &b, SWAP_FAILED, e);
}

enum swap_status priv_rollback(struct priv *p, const struct priv_swap *s, struct err *e)
{
	struct buf b = {0};

	if (p->sock < 0)
		return verbs_rollback(&p->v, s, e);
	put_swap(&b, FRAME_ROLLBACK, s);
	return (enum swap_status)ask_status(p, FRAME_ROLLBACK, &b, SWAP_FAILED, e);
}

int priv_swap_done(struct priv *p, const char *module, struct err *e)
{
	struct buf b = {0};

	if (p->sock < 0)
		return verbs_done(&p->v, module, e);
	put_text(&b, FRAME_DONE, module);
	return ask_status(p, FRAME_DONE, &b, -1, e);
}

enum swap_status priv_swap_check(struct priv *p, const char *module, struct err *e)
{
	struct buf b = {0};

	if (p->sock < 0)
		return verbs_check(&p->v, module, e);
	put_text(&b, FRAME_CHECK, module);
	return (enum swap_status)ask_status(p, FRAME_CHECK, &b, SWAP_FAILED, e);
}

struct outcomes {
	struct arena mem;
	VEC(struct swap_outcome) v;
};

static void get_outcome(struct frame_in *in, struct outcomes *all)
{
	struct swap_outcome o;

	o.module = arena_strdup(&all->mem, frame_get_str(in));
	o.from = frame_get_id(in);
	o.to = frame_get_id(in);
	o.rollback = frame_get_u32(in) != 0;
	o.end = frame_get_u32(in);
	if (frame_whole(in))
		vec_push(&all->v, o);
	arena_free(&in->mem);
}

static void keep_outcome(const struct swap_outcome *o, void *arg)
{
	struct outcomes *all = arg;
	struct swap_outcome copy = *o;

	copy.module = arena_strdup(&all->mem, o->module);
	vec_push(&all->v, copy);
}

static int ask_recover(struct priv *p, struct outcomes *all, struct err *e)
{
	struct buf b = {0};
	struct frame_in in;
	uint32_t verb;
	int r, status;

	frame_u32(&b, FRAME_RECOVER);
	r = send_frame(p, &b, NULL, 0, e);
	buf_free(&b);
	while (!r && !(r = receive(p, &verb, &in, e)) && verb == FRAME_OUTCOME)
		get_outcome(&in, all);
	if (r < 0)
		return -1;
	status = (int32_t)frame_get_u32(&in);
	if (status)
		err_set(e, "%s", frame_get_str(&in));
	arena_free(&in.mem);
	return status ? -1 : 0;
}

/* All is settled before fn is called, which may use other verbs. */
int priv_recover(struct priv *p, void (*fn)(const struct swap_outcome *o, void *arg), void *arg,
    struct err *e)
{
	struct outcomes all = {.v = {0}};
	size_t i;
	int r;

	r = p->sock < 0 ? verbs_recover(&p->v, keep_outcome, &all, e) : ask_recover(p, &all, e);
	for (i = 0; i < all.v.n; i++)
		fn(&all.v.v[i], arg);
	vec_free(&all.v);
	arena_free(&all.mem);
	return r;
}

size_t priv_kept(struct priv *p, const char *module, struct arena *a, const struct swap_kept **out)
{
	return swap_kept(p->v.state, module, a, out);
}

int priv_unchanged(
    struct priv *p, const char *module, const struct build_id *id, struct err *e)
{
	return swap_unchanged(p->v.state, module, id, e);
}

static int ask_job_start(struct priv *p, const struct priv_job *j, struct priv_started *s,
    struct err *e)
{
	const int fd[FRAME_FDS] = {j->out, j->err, j->samples};
	struct buf b = {0};
	struct answer a;
	int r;

	frame_u32(&b, FRAME_JOB_START);
	frame_u32(&b, j->kind);
	frame_u32(&b, j->layout);
	frame_u32(&b, j->huge);
	frame_str(&b, j->module);
	frame_str(&b, j->artifact);
	frame_str(&b, j->job);
	frame_list(&b, j->command);
	frame_id(&b, &j->origin);
	frame_u64(&b, j->memory);
	if (ask(p, FRAME_JOB_START, &b, fd, j->kind == PRIV_VERIFY ? 2 : 3, &a, e) < 0)
		return -1;
	r = a.status;
	if (!r) {
		snprintf(s->name, sizeof s->name, "%s", frame_get_str(&a.in));
		s->pid = (pid_t)frame_get_u32(&a.in);
		s->pidfd = a.fd;
		if (!frame_whole(&a.in) || a.fd < 0)
			r = err_set(e, "the privileged parent started no job");
	}
	arena_free(&a.in.mem);
	return r;
}

int priv_job_start(struct priv *p, const struct priv_job *j, struct priv_started *s, struct err *e)
{
	return p->sock < 0 ? verbs_job_start(&p->v, j, s, e) : ask_job_start(p, j, s, e);
}

int priv_job_signal(struct priv *p, pid_t pid, int sig, struct err *e)
{
	struct buf b = {0};

	if (p->sock < 0)
		return verbs_job_signal(&p->v, pid, sig, e);
	frame_u32(&b, FRAME_JOB_SIGNAL);
	frame_u32(&b, (uint32_t)pid);
	frame_u32(&b, (uint32_t)sig);
	return ask_status(p, FRAME_JOB_SIGNAL, &b, -1, e);
}

int priv_job_reap(struct priv *p, pid_t pid, int *status, struct err *e)
{
	struct buf b = {0};
	struct answer a;

	if (p->sock < 0)
		return verbs_job_reap(&p->v, pid, status, e);
	frame_u32(&b, FRAME_JOB_REAP);
	frame_u32(&b, (uint32_t)pid);
	if (ask(p, FRAME_JOB_REAP, &b, NULL, 0, &a, e) < 0)
		return -1;
	*status = (int)frame_get_u32(&a.in);
	arena_free(&a.in.mem);
	return a.status;
}

int priv_job_drop(struct priv *p, const char *name, struct err *e)
{
	struct buf b = {0};

	if (p->sock < 0)
		return verbs_job_drop(&p->v, name, e);
	put_text(&b, FRAME_JOB_DROP, name);
	return ask_status(p, FRAME_JOB_DROP, &b, -1, e);
}

char *priv_job_out(const struct priv *p, const char *name)
{
	return jobs_path(p->v.state, name, "out");
}
