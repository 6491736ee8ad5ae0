#include "monitor-client/maps/lookup.h"
#include "common/elf/elf.h"
#include "common/log.h"
#include "common/mem.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/kernel/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum ask { ASK_MAPS = 1, ASK_FILE, ASK_PLAIN };
enum { PATH_SIZE = 4096, WAIT_MS = 4 * LOOKUP_MS };

struct question {
	uint32_t seq, ask, pid;
	enum lookup_how how;
	struct build_id id; /* n = 0: wanted */
	uint64_t start, end, ino, gen;
	uint32_t maj, min;
	char path[PATH_SIZE]; /* sent up to its 0 */
};

struct answer {
	uint32_t seq, result; /* enum lookup_result */
	struct event_ns ns;
	struct build_id id;
	uint8_t whole; /* 0 or 1 */
};

/* ---- the reader ---- */

static const char *tree; /* "/proc" */
static int peer;

static void answer(const struct answer *a, int pass)
{
	char control[CMSG_SPACE(sizeof pass)] = {0};
	struct iovec v = {(void *)a, sizeof *a};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (pass < 0) {
		send(peer, a, sizeof *a, MSG_NOSIGNAL);
		return;
	}
	m.msg_control = control;
	m.msg_controllen = sizeof control;
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof pass);
	memcpy(CMSG_DATA(c), &pass, sizeof pass);
	sendmsg(peer, &m, MSG_NOSIGNAL);
}

/* ---- its child: writes an answer to the pipe, then the build-id that this lacks ---- */

static void answer_maps(const struct question *q, struct answer *a, int pipe)
{
	int fd = procfs_open(tree, q->pid, "maps", O_RDONLY);

	a->ns = procfs_ns(tree, q->pid);
	a->result = fd < 0 ? LOOKUP_NONE : LOOKUP_FOUND;
	answer(a, fd);
	if (write(pipe, a, sizeof *a) < 0)
		_exit(1);
}

/* Whether the mapped file counts for its path; see the header. */
static bool is_named(const struct stat *mapped, const struct question *q, bool *whole)
{
	char *name = xstrdup(q->path);
	size_t n = procfs_name_length(name);
	struct stat st;
	bool same;

	*whole = !stat(name, &st) && st.st_dev == mapped->st_dev && st.st_ino == mapped->st_ino;
	if (!*whole && !mapped->st_nlink) {
		name[n] = '\0';
		same = !stat(name, &st) && S_ISREG(st.st_mode) && st.st_dev == mapped->st_dev &&
		       st.st_uid == mapped->st_uid && !(mapped->st_mode & 022);
	} else {
		same = *whole;
	}
	free(name);
	return same;
}

/* Reads the build-id of a file, without any right. */
static void parse(int fd, int pipe)
{
	struct build_id id;
	struct elf *f;

	if (rights_parser(fd, pipe, NULL) || !(f = elf_file_open("", STDIN_FILENO, NULL)))
		_exit(1);
	id = elf_file_build_id(f);
	if (write(STDOUT_FILENO, &id, sizeof id) < 0)
		_exit(1);
}

static void answer_file(const struct question *q, struct answer *a, int pipe)
{
	struct event_map m = {.start = q->start,
	    .end = q->end,
	    .maj = q->maj,
	    .min = q->min,
	    .ino = q->ino,
	    .gen = q->gen,
	    .id = q->id,
	    .path = (char *)q->path};
	struct stat st;
	bool gone, named, check = q->how == LOOKUP_NAMED, whole = false;
	int fd = procfs_mapped(tree, q->pid, &m, check, &gone), readable = -1;

	if (fd < 0 && gone && q->how == LOOKUP_PATH)
		fd = procfs_below(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), &m);
	named = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		(!check || is_named(&st, q, &whole));
	a->whole = whole;
	a->id = m.id;
	if (named && !m.id.n)
		readable = procfs_reopen(fd);
	if (readable >= 0 || ((named || !check) && m.id.n))
		a->result = LOOKUP_FOUND;
	else
		a->result = gone ? LOOKUP_LATER : LOOKUP_NONE;
	if (write(pipe, a, sizeof *a) == sizeof *a && readable >= 0)
		parse(readable, pipe);
}

static void answer_plain(const struct question *q, struct answer *a, int pipe)
{
	struct stat st;

	a->result =
	    !stat(q->path, &st) && S_ISREG(st.st_mode) && !(st.st_mode & (S_ISUID | S_ISGID))
		? LOOKUP_FOUND
		: LOOKUP_NONE;
	if (write(pipe, a, sizeof *a) < 0)
		_exit(1);
}

static _Noreturn void reader_child(const struct question *q, int pipe)
{
	struct answer a = {.seq = q->seq};

	if (q->ask == ASK_MAPS)
		answer_maps(q, &a, pipe);
	else if (q->ask == ASK_FILE)
		answer_file(q, &a, pipe);
	else if (q->ask == ASK_PLAIN)
		answer_plain(q, &a, pipe);
	_exit(0);
}

/* ---- the reader again ---- */

/* LOOKUP_FOUND: all n bytes. LOOKUP_NONE: fewer, the writer is gone. */
static enum lookup_result take(int pipe, uint64_t deadline, void *p, size_t n)
{
	struct pollfd poller = {.fd = pipe, .events = POLLIN};
	uint64_t now = clock_now();

	/* Rounded up: at 0 ms the deadline is over. */
	if (now >= deadline || poll(&poller, 1, (int)((deadline - now) / 1000000 + 1)) <= 0)
		return LOOKUP_SLOW;
	return read(pipe, p, n) == (ssize_t)n ? LOOKUP_FOUND : LOOKUP_NONE;
}

/* What the child writes; of what comes after the answer only the build-id counts. */
static enum lookup_result take_answer(const struct question *q, int pipe, struct answer *a)
{
	uint64_t deadline = clock_now() + LOOKUP_MS * (SECOND / 1000);
	enum lookup_result r = take(pipe, deadline, a, sizeof *a);
	struct build_id id;

	if (r != LOOKUP_FOUND || q->ask != ASK_FILE || a->result != LOOKUP_FOUND || a->id.n)
		return r;
	r = take(pipe, deadline, &id, sizeof id);
	if (r != LOOKUP_FOUND)
		return r;
	if (!id.n || id.n > sizeof id.b)
		return LOOKUP_NONE;
	a->id.n = id.n;
	memcpy(a->id.b, id.b, id.n);
	return LOOKUP_FOUND;
}

/* Is there no such process any more? That needs no child: no file system but /proc is asked. After
 * a loss of records it is so of hundreds, and those that live must not end before it is their turn;
 * of their files that may be found without them each is asked for a few times at most (maps.c).
 */
static bool is_gone(uint32_t pid)
{
	char *path = xasprintf("%s/%u", tree, pid);
	struct stat st;
	bool gone = stat(path, &st) && errno == ENOENT;

	free(path);
	return gone;
}

/* A child that looks, and where it writes what it found; -1 where there is none, said once. */
static pid_t start_child(const struct question *q, int *from)
{
	static bool said;
	int fd[2];
	pid_t pid;

	if (!pipe2(fd, O_CLOEXEC)) {
		pid = fork();
		if (!pid)
			reader_child(q, fd[1]);
		close(fd[1]);
		*from = fd[0];
		if (pid > 0)
			return pid;
		close(fd[0]);
	}
	if (!said)
		log_warn("reader of /proc: no process for a lookup: %s; samples of files that "
			 "could not be looked at have no build-id",
		    strerror(errno));
	said = true;
	return -1;
}

static void look(const struct question *q)
{
	enum lookup_result r = LOOKUP_NONE;
	struct answer a;
	int from;
	pid_t pid;

	if (q->ask != ASK_PLAIN && q->how != LOOKUP_PATH && is_gone(q->pid)) {
		r = q->ask == ASK_FILE ? LOOKUP_LATER : LOOKUP_NONE;
	} else if ((pid = start_child(q, &from)) > 0) {
		r = take_answer(q, from, &a);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(from);
	}
	if (r != LOOKUP_FOUND)
		a = (struct answer){.seq = q->seq, .result = r};
	if (r != LOOKUP_FOUND || q->ask != ASK_MAPS) /* its child has answered */
		answer(&a, -1);
}

static _Noreturn void reader(void)
{
	static struct question q;
	ssize_t n;

	while ((n = recv(peer, &q, sizeof q, 0)) > 0) {
		if ((size_t)n <= offsetof(struct question, path))
			continue;
		((char *)&q)[n - 1] = '\0';
		look(&q);
	}
	_exit(0);
}

/* The child of lookup_start(): keeps its socket and standard error. It ends
 * with the main process, not by a terminal's signal. */
static _Noreturn void become_reader(int fd, const char *proc, const struct rights_user *u)
{
	struct err e;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	peer = dup2(fd, STDIN_FILENO);
	tree = proc;
	if (peer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || close_range(3, ~0u, 0)) {
		log_error("reader of /proc: %s", strerror(errno));
		_exit(1);
	}
	if (rights_reader(u, &e)) {
		log_error("reader of /proc: %s", e.text);
		_exit(1);
	}
	reader();
}

/* ---- the main process ---- */

int lookup_start(struct lookup *l, const char *proc, const struct rights_user *u, struct err *e)
{
	int fd[2];

	*l = (struct lookup){.fd = -1};
	l->home[0] = procfs_ns(proc, (uint32_t)getpid());
	l->home[1] = procfs_ns(proc, 1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
		return err_sys(e, "socketpair");
	l->pid = fork();
	if (!l->pid)
		become_reader(fd[1], proc, u);
	close(fd[1]);
	if (l->pid < 0) {
		close(fd[0]);
		return err_sys(e, "fork");
	}
	l->fd = fd[0];
	return 0;
}

void lookup_end(struct lookup *l)
{
	if (l->fd < 0)
		return;
	close(l->fd);
	waitpid(l->pid, NULL, 0);
	l->fd = -1;
}

uint64_t lookup_view(const struct lookup *l, const struct event_ns *ns)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (l->home[i].mnt == ns->mnt && l->home[i].user == ns->user)
			return 0;
	return ns->mnt << 32 ^ ns->user;
}

static bool receive(struct lookup *l, struct answer *a, int *fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof *fd)];
	} control;
	struct iovec v = {a, sizeof *a};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    /* Without the padding, which has room for a second one. */
	    .msg_controllen = CMSG_LEN(sizeof *fd)};
	struct cmsghdr *c;
	ssize_t n = recvmsg(l->fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*fd = -1;
	if (n < 0)
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof *fd))
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return (size_t)n == sizeof *a;
}

static void close_passed(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* False: no answer, and no descriptor. Answers to earlier questions are passed over. */
static bool ask(struct lookup *l, struct question *q, struct answer *a, int *fd)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};
	size_t n = offsetof(struct question, path) + strlen(q->path) + 1;

	q->seq = ++l->seq;
	if (send(l->fd, q, n, MSG_NOSIGNAL) != (ssize_t)n) {
		log_error("the reader of /proc is gone: samples of programs that are not known "
			  "yet count as outside until the monitor is started again");
		return false;
	}
	while (poll(&p, 1, WAIT_MS) > 0) {
		bool whole = receive(l, a, fd);

		if (whole && a->seq == q->seq)
			return true;
		close_passed(fd);
		if (!whole)
			return false;
	}
	a->result = LOOKUP_SLOW;
	return false;
}

int lookup_maps(struct lookup *l, uint32_t pid, uint64_t *view)
{
	struct question q = {.ask = ASK_MAPS, .pid = pid};
	struct answer a = {0};
	int fd;

	if (!ask(l, &q, &a, &fd))
		return -1;
	if (a.result != LOOKUP_FOUND)
		close_passed(&fd);
	*view = lookup_view(l, &a.ns);
	return fd;
}

enum lookup_result lookup_file(struct lookup *l, uint32_t pid, const struct event_map *m,
    enum lookup_how how, struct build_id *id, bool *whole)
{
	struct question q = {.ask = ASK_FILE,
	    .pid = pid,
	    .how = how,
	    .id = m->id,
	    .start = m->start,
	    .end = m->end,
	    .ino = m->ino,
	    .gen = m->gen,
	    .maj = m->maj,
	    .min = m->min};
	struct answer a = {.result = LOOKUP_LATER};
	int fd;

	if (strlen(m->path) >= sizeof q.path)
		return LOOKUP_NONE;
	strcpy(q.path, m->path);
	if (!ask(l, &q, &a, &fd))
		return a.result == LOOKUP_SLOW ? LOOKUP_SLOW : LOOKUP_LATER;
	close_passed(&fd);
	if (a.result != LOOKUP_FOUND)
		return a.result <= LOOKUP_SLOW ? (enum lookup_result)a.result : LOOKUP_NONE;
	*id = a.id;
	if (id->n > sizeof id->b)
		id->n = 0;
	*whole = a.whole;
	return id->n ? LOOKUP_FOUND : LOOKUP_NONE;
}

enum lookup_result lookup_plain(struct lookup *l, const char *path)
{
	struct question q = {.ask = ASK_PLAIN};
	struct answer a = {.result = LOOKUP_NONE};
	int fd;

	if (strlen(path) >= sizeof q.path)
		return LOOKUP_NONE;
	strcpy(q.path, path);
	if (ask(l, &q, &a, &fd))
		close_passed(&fd);
	return a.result <= LOOKUP_SLOW ? (enum lookup_result)a.result : LOOKUP_NONE;
}
