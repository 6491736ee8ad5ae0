#include "managerd/parent.h"
#include "common/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
	struct verbs *v;
	int sock;
	struct frame_in in;
	struct frame *f;
	struct buf result; /* behind status and error in the reply */
	int fd;            /* goes with the reply; -1 = none */
	struct err e;
};

static struct priv_swap get_swap(struct call *c)
{
	struct priv_swap s = {0};

	s.module = frame_get_str(&c->in);
	s.job = frame_get_str(&c->in);
	s.from = frame_get_id(&c->in);
	s.to = frame_get_id(&c->in);
	s.origin = frame_get_id(&c->in);
	s.keep = frame_get_u32(&c->in);
	return s;
}

static int malformed(struct call *c)
{
	return err_set(&c->e, "refused: a request that is not of its verb's form");
}

static int do_swap(struct call *c)
{
	struct priv_swap s = get_swap(c);

	if (frame_whole(&c->in))
		return (int)verbs_swap(c->v, &s, &c->e);
	malformed(c);
	return SWAP_FAILED;
}

static int do_rollback(struct call *c)
{
	struct priv_swap s = get_swap(c);

	if (frame_whole(&c->in))
		return (int)verbs_rollback(c->v, &s, &c->e);
	malformed(c);
	return SWAP_FAILED;
}

static int do_done(struct call *c)
{
	const char *module = frame_get_str(&c->in);

	return frame_whole(&c->in) ? verbs_done(c->v, module, &c->e) : malformed(c);
}

static int do_check(struct call *c)
{
	const char *module = frame_get_str(&c->in);

	if (frame_whole(&c->in))
		return (int)verbs_check(c->v, module, &c->e);
	malformed(c);
	return SWAP_FAILED;
}

static void tell_outcome(const struct swap_outcome *o, void *arg)
{
	struct call *c = arg;
	struct buf b = {0};

	frame_u32(&b, FRAME_OUTCOME);
	frame_str(&b, o->module);
	frame_id(&b, &o->from);
	frame_id(&b, &o->to);
	frame_u32(&b, o->rollback);
	frame_u32(&b, o->end);
	if (frame_send(c->sock, &b, NULL, 0, &c->e) < 0)
		log_error("%s", c->e.text);
	buf_free(&b);
}

static int do_recover(struct call *c)
{
	return frame_whole(&c->in) ? verbs_recover(c->v, tell_outcome, c, &c->e) : malformed(c);
}

static int do_job_start(struct call *c)
{
	struct priv_job j = {.samples = -1};
	struct priv_started s;

	j.kind = frame_get_u32(&c->in);
	j.layout = frame_get_u32(&c->in) != 0;
	j.huge = frame_get_u32(&c->in) != 0;
	j.module = frame_get_str(&c->in);
	j.artifact = frame_get_str(&c->in);
	j.job = frame_get_str(&c->in);
	j.command = frame_get_list(&c->in);
	j.origin = frame_get_id(&c->in);
	j.memory = frame_get_u64(&c->in);
	if (!frame_whole(&c->in) || c->f->nfd != (j.kind == PRIV_VERIFY ? 2 : 3))
		return malformed(c);
	j.out = c->f->fd[0];
	j.err = c->f->fd[1];
	if (j.kind != PRIV_VERIFY)
		j.samples = c->f->fd[2];
	if (verbs_job_start(c->v, &j, &s, &c->e) < 0)
		return -1;
	frame_str(&c->result, s.name);
	frame_u32(&c->result, (uint32_t)s.pid);
	c->fd = s.pidfd;
	return 0;
}

static int do_job_signal(struct call *c)
{
	pid_t pid = (pid_t)frame_get_u32(&c->in);
	int sig = (int)frame_get_u32(&c->in);

	return frame_whole(&c->in) ? verbs_job_signal(c->v, pid, sig, &c->e) : malformed(c);
}

static int do_job_reap(struct call *c)
{
	pid_t pid = (pid_t)frame_get_u32(&c->in);
	int status = 0, r;

	r = frame_whole(&c->in) ? verbs_job_reap(c->v, pid, &status, &c->e) : malformed(c);
	frame_u32(&c->result, (uint32_t)status);
	return r;
}

static int do_job_drop(struct call *c)
{
	const char *name = frame_get_str(&c->in);

	return frame_whole(&c->in) ? verbs_job_drop(c->v, name, &c->e) : malformed(c);
}

static const struct {
	int (*fn)(struct call *c);
	unsigned fds; /* at most */
} VERB[FRAME_VERBS] = {
	[FRAME_SWAP] = {do_swap, 0},
	[FRAME_ROLLBACK] = {do_rollback, 0},
	[FRAME_DONE] = {do_done, 0},
	[FRAME_CHECK] = {do_check, 0},
	[FRAME_RECOVER] = {do_recover, 0},
	[FRAME_JOB_START] = {do_job_start, FRAME_FDS},
	[FRAME_JOB_SIGNAL] = {do_job_signal, 0},
	[FRAME_JOB_REAP] = {do_job_reap, 0},
	[FRAME_JOB_DROP] = {do_job_drop, 0},
};

static int dispatch(struct call *c, uint32_t verb)
{
	if (c->in.bad || verb >= FRAME_VERBS || !VERB[verb].fn)
		return err_set(&c->e, "refused: no such verb");
	if (c->f->nfd > VERB[verb].fds)
		return malformed(c);
	return VERB[verb].fn(c);
}

void parent_handle(struct verbs *v, int sock, struct frame *f, struct buf *reply, int *fd,
    unsigned *nfd)
{
	struct call c = {.v = v, .sock = sock, .f = f, .fd = -1,
		.in = {.p = f->bytes, .end = f->bytes + f->n}};
	uint32_t verb = frame_get_u32(&c.in);
	int status = dispatch(&c, verb);

	frame_u32(reply, verb);
	frame_u32(reply, (uint32_t)status);
	frame_str(reply, c.e.text);
	buf_add(reply, c.result.p, c.result.n);
	*fd = c.fd;
	*nfd = c.fd >= 0;
	frame_close_fds(f);
	buf_free(&c.result);
	arena_free(&c.in.mem);
}

static pid_t the_child;

static void pass_on(int sig)
{
	int saved = errno;

	kill(the_child, sig);
	errno = saved;
}

static int end_status(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

_Noreturn void parent_serve(struct verbs *v, int sock, pid_t child)
{
	struct sigaction act = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
	static struct frame f;
	struct buf reply = {0};
	unsigned nfd;
	struct err e;
	int fd, r;

	the_child = child;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	prctl(PR_SET_NAME, "morphd-parent");
	while ((r = frame_receive(sock, &f, &e)) > 0) {
		reply.n = 0;
		parent_handle(v, sock, &f, &reply, &fd, &nfd);
		r = frame_send(sock, &reply, &fd, nfd, &e);
		if (fd >= 0)
			close(fd);
		if (r < 0)
			break;
	}
	if (r < 0) {
		log_error("%s", e.text);
		kill(child, SIGTERM);
	}
	close(sock);
	verbs_end(v);
	exit(end_status(child));
}
