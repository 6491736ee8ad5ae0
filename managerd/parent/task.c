#include "common/log.h"
#include "common/publish.h"
#include "managerd/parent/procs.h"
#include "managerd/parent/stages.h"
#include "managerd/priv/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORK_WAIT_S = 600 };

/* Sweeps do not count: who fills their job's folder while it is emptied would keep all
 * others from being served. */
static size_t asked_for(const struct parent *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->task.n; i++)
		n += p->task.v[i]->kind != TASK_SWEEP;
	return n;
}

struct task *task_new(struct parent *p, enum task_kind kind, const char *path, struct err *e)
{
	struct task *t;

	if (path && !path_is_plain(path)) {
		err_set(e, "refused: not a plain absolute path");
		return NULL;
	}
	/* Ends that were not sent yet count: their descriptors are ours. */
	if (kind != TASK_SWEEP && asked_for(p) + p->queue.n >= TASKS_MAX) {
		err_set(e, "refused: %d tasks are under way already", TASKS_MAX);
		return NULL;
	}
	t = xcalloc(1, sizeof *t);
	*t = (struct task){.id = ++p->next,
	    .kind = kind,
	    .path = xstrdup(path ? path : ""),
	    .policy = p->policy.reads,
	    .mod = {.dir = -1, .fd = -1},
	    .art = {.dir = -1, .fd = -1},
	    .order = {.dir = -1, .fd = -1},
	    .child = {.pidfd = -1, .report = -1, .answer = -1},
	    .out = -1,
	    .err = -1,
	    .samples = -1,
	    .shapes = -1,
	    .blob = -1,
	    .dir = -1,
	    .group = -1,
	    .snapshot = -1};
	vec_push(&p->task, t);
	return t;
}

static void task_free(const struct parent *p, struct task *t)
{
	size_t i;

	/* Of a process that did not start; else it went with the process. */
	cgroup_end(&p->groups, t->id, t->group);
	trust_close(&t->mod);
	trust_close(&t->art);
	trust_close(&t->order);
	child_forget(&t->child);
	fd_close(&t->out);
	fd_close(&t->err);
	fd_close(&t->samples);
	fd_close(&t->shapes);
	fd_close(&t->blob);
	fd_close(&t->dir);
	fd_close(&t->snapshot);
	for (i = 0; i < t->place.n; i++)
		free(t->place.v[i]);
	vec_free(&t->place);
	free(t->path);
	free(t);
}

struct task *task_find(struct parent *p, uint64_t id)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->id == id && !p->task.v[i]->dropped &&
		    p->task.v[i]->kind != TASK_SWEEP)
			return p->task.v[i];
	return NULL;
}

/* ---- processes ---- */

/* Of a person's own what an editor asks for: no variable of a linker or compiler
 * goes into a new build. */
static bool for_editor(const char *variable)
{
	static const char *const asked[] = {"PATH=", "HOME=", "XDG_CACHE_HOME=", "LANG="};
	size_t i;

	for (i = 0; i < sizeof asked / sizeof *asked; i++)
		if (!strncmp(variable, asked[i], strlen(asked[i])))
			return true;
	return false;
}

char **task_env(const struct parent *p, const struct task *t, bool editor)
{
	VEC(char *) env = {0};
	char *folder =
	    *t->folder ? folder_path(p->state, t->folder, NULL) : xstrdup("/nonexistent");
	size_t i;

	/* With --user the person's own, else as little as will do. */
	for (i = 0; p->user && environ[i]; i++)
		if (editor ? for_editor(environ[i])
			   : strncmp(environ[i], "TMPDIR=", 7) &&
				 strncmp(environ[i], "MORPH_JOB=", 10))
			vec_push(&env, xstrdup(environ[i]));
	if (!p->user) {
		vec_push(&env, xstrdup("PATH=/usr/local/bin:/usr/bin:/bin"));
		vec_push(&env, xstrdup("LANG=C.UTF-8"));
		vec_push(&env, xasprintf("HOME=%s", folder));
	}
	vec_push(&env, xasprintf("TMPDIR=%s", folder));
	vec_push(&env, xasprintf("MORPH_JOB=%s", folder));
	vec_push(&env, NULL);
	free(folder);
	return env.v;
}

/* Once, from left to right: what a word became is not looked at again. */
static char *replace_words(const char *arg, const struct replacement *of)
{
	const struct replacement *h;
	struct buf out = {0};

	while (*arg) {
		for (h = of; h->word && strncmp(arg, h->word, strlen(h->word)); h++)
			;
		if (h->word) {
			buf_str(&out, h->is);
			arg += strlen(h->word);
		} else {
			buf_char(&out, *arg++);
		}
	}
	return buf_cstr(&out);
}

char **task_argv(char *const *command, const struct replacement *of)
{
	VEC(char *) argv = {0};

	for (; *command; command++)
		vec_push(&argv, replace_words(*command, of));
	vec_push(&argv, NULL);
	return argv.v;
}

void strings_free(char **v)
{
	size_t i;

	for (i = 0; v[i]; i++)
		free(v[i]);
	free(v);
}

void task_inspect(struct parent *p, struct task *t, const char *operation, int file, int second,
    task_stage_fn *then)
{
	const char *const argv[] = {p->inspector, operation, NULL};
	char *env[] = {"LANG=C", NULL};
	struct launch l = {.argv = argv,
	    .env = env,
	    .nfd = 5,
	    .drop = t->owner.give,
	    .uid = t->owner.uid,
	    .gid = t->owner.gid};
	struct err e;

	memcpy(l.fd, ((int[]){-1, -1, -1, file, second}), 5 * sizeof *l.fd);
	t->then = then;
	if (child_run(&t->child, &l, INSPECT_ANSWER, p->inspect_s, &e) < 0)
		task_failed(p, t, e.text);
}

static bool within(uint64_t at, uint64_t n, uint64_t size)
{
	return n <= size && at <= size - n;
}

int task_answer(struct task *t, struct inspect_head *h, struct err *e)
{
	static const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	off_t size;

	/* Its user may have got hold of the memory, but not mapped for writing then. */
	if (fcntl(t->child.answer, F_ADD_SEALS, seals) < 0)
		return err_set(e, "somebody interferes with its inspection");
	size = lseek(t->child.answer, 0, SEEK_END);
	if (size < (off_t)sizeof *h || pread(t->child.answer, h, sizeof *h, 0) != sizeof *h ||
	    memcmp(h->magic, INSPECT_MAGIC, sizeof h->magic) || size > INSPECT_MAX ||
	    h->id.n > sizeof h->id.b || h->origin.n > sizeof h->origin.b ||
	    h->artifact.n > sizeof h->artifact.b ||
	    !within(h->table_at, h->table_n, (uint64_t)size) ||
	    !within(h->map_at, h->map_n, (uint64_t)size))
		return err_set(e, "cannot be read within bounds: it is damaged, or made to harm");
	h->text[INSPECT_TEXT - 1] = '\0';
	return h->refused ? err_set(e, "%s", err_line(h->text)) : 0;
}

void task_keep_answer(struct task *t)
{
	t->blob = t->child.answer;
	t->child.answer = -1;
}

void task_work(struct parent *p, struct task *t, child_work_fn *fn, void *arg, task_stage_fn *then)
{
	struct err e;

	t->then = then;
	if (child_work(&t->child, fn, arg, WORK_WAIT_S, &e) < 0)
		task_failed(p, t, e.text);
}

/* ---- the ends ---- */

struct priv_stamp task_stamp(const struct stat *st)
{
	return (struct priv_stamp){.dev = st->st_dev,
	    .ino = st->st_ino,
	    .size = (uint64_t)st->st_size,
	    .mtime_ns = st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
	    .ctime_ns = st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec};
}

/* Where the inspector says that its tables lie. */
static void add_parts(struct message *m, int fd)
{
	struct inspect_head h;

	if (fd < 0 || pread(fd, &h, sizeof h, 0) != sizeof h)
		return;
	m->part[MESSAGE_TABLE] = (struct part){h.table_at, h.table_n};
	m->part[MESSAGE_MAP] = (struct part){h.map_at, h.map_n};
}

static void report(struct parent *p, struct task *t, enum frame_event event, struct message *m)
{
	struct buf b = {0};
	int fd = event == FRAME_SWAPPED ? -1 : t->blob;

	t->reported = true;
	if (fd >= 0)
		t->blob = -1;
	if (p->events < 0 || t->dropped) {
		fd_close(&fd);
		return;
	}
	add_parts(m, fd);
	frame_u32(&b, event);
	frame_u64(&b, t->id);
	message_put(&b, event_form(event), m);
	vec_push(&p->queue, (struct event){b, fd});
}

void task_inspected(struct parent *p, struct task *t, enum priv_inspect status, const char *why)
{
	struct message m = {.number = status,
	    .why = why,
	    .id = t->is,
	    .origin = t->origin,
	    .uid = t->mod.st.st_uid,
	    .amount = (uint64_t)t->mod.st.st_size,
	    .stamp = task_stamp(&t->mod.st),
	    .artifact = t->art.path,
	    .refused = t->refused.text,
	    .flag = t->observed,
	    .list = t->list};

	report(p, t, FRAME_INSPECTED, &m);
}

void task_ended(struct parent *p, struct task *t, bool later, const char *why)
{
	struct message m = {.flag = later,
	    .why = why,
	    .number = (uint32_t)t->status,
	    .amount = t->child.cpu_us,
	    .id = t->made,
	    .origin = t->made_origin};

	report(p, t, FRAME_ENDED, &m);
}

void task_swapped(struct parent *p, struct task *t, enum swap_status status, const char *why)
{
	struct message m = {.number = status, .why = why, .id = t->is, .origin = t->made};

	report(p, t, FRAME_SWAPPED, &m);
}

void task_failed(struct parent *p, struct task *t, const char *why)
{
	switch (t->kind) {
	case TASK_INSPECT:
		task_inspected(p, t, PRIV_LATER, why);
		break;
	case TASK_FETCH:
	case TASK_BUILD:
	case TASK_SCORE:
	case TASK_TABLE:
	case TASK_SHAPES:
	case TASK_CARRY:
	case TASK_LIFT:
	case TASK_COMMAND:
		task_ended(p, t, true, why);
		break;
	case TASK_SWAP:
	case TASK_ROLLBACK:
		task_swapped(p, t, SWAP_FAILED, why);
		break;
	case TASK_NOTIFY:
		log_warn("%s: the notify command: %s", t->path, why);
		t->reported = true;
		break;
	case TASK_SWEEP:
		log_info("%s: %s", *t->path ? t->path : t->folder, why);
		t->reported = true;
		break;
	}
}

/* ---- what the manager does with one ---- */

uint64_t task_cpu_us(const struct task *t)
{
	uint64_t us;

	if (t->group >= 0 && cgroup_cpu(t->group, &us))
		return us;
	return (uint64_t)(procs_session_cpu(t->child.pid) * 1e6);
}

int task_signal(struct task *t, int sig, struct err *e)
{
	if (sig != SIGSTOP && sig != SIGCONT && sig != SIGTERM && sig != SIGKILL)
		return err_set(e, "refused: signal %d", sig);
	if (sig == SIGSTOP || sig == SIGCONT)
		t->paused = sig == SIGSTOP;
	/* What has a deadline of ours is short, and would miss it. */
	if (sig == SIGSTOP && t->child.until_ms)
		return 0;
	if (t->kind <= TASK_COMMAND)
		child_signal(&t->child, sig);
	return 0;
}

void task_drop(struct parent *p, struct task *t)
{
	t->dropped = true;
	if (t->kind <= TASK_COMMAND)
		child_signal(&t->child, SIGKILL);
}

/* ---- the loop's ---- */

void task_step(struct parent *p, struct task *t)
{
	struct err e;
	int status = child_reap(&t->child, &e);

	cgroup_end(&p->groups, t->id, t->group);
	t->group = -1;
	if (task_is_swapping(t))
		t->then(p, t, status); /* settles it, whatever became of it */
	else if (t->ended)
		task_failed(p, t, t->ended);
	else if (status < 0 && t->kind == TASK_COMMAND)
		/* It cannot be run later either: the edit is not made again and again. */
		task_ended(p, t, false, e.text);
	else if (status < 0)
		task_failed(p, t, e.text);
	else if (!t->dropped || t->kind > TASK_COMMAND)
		t->then(p, t, status);
	t->ended = NULL;
}

static void put_end(struct task *t, const char *why)
{
	t->ended = why;
	child_signal(&t->child, SIGKILL);
}

void task_watch(struct parent *p, struct task *t)
{
	/* A replay table has an object for each function, of cc1 39,416. */
	enum { ENTRIES_MAX = 100000 };

	if (!t->child.pid || t->ended)
		return;
	if (t->child.until_ms && child_now_ms() > t->child.until_ms)
		put_end(t, "it took too long");
	else if ((!t->paused || t->child.until_ms) && child_stopped(&t->child))
		put_end(t, "somebody stopped its process");
	else if (t->dir >= 0 && folder_bytes(t->dir, ENTRIES_MAX) > p->conf->edit.disk)
		put_end(t,
		    "its files are too many, or take more room than the policy lets a job have "
		    "(edit.disk)");
}

bool task_needed(const struct parent *p, const struct task *t)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->edit == t)
			return true;
	return t->child.pid || (!t->dropped && (!t->reported || t->built));
}

void tasks_sweep(struct parent *p)
{
	struct task *t;
	size_t i;

	for (i = 0; i < p->task.n;) {
		t = p->task.v[i];
		if (task_needed(p, t)) {
			i++;
			continue;
		}
		p->task.v[i] = p->task.v[--p->task.n];
		if (*t->folder && t->kind != TASK_SWEEP && (t->kind != TASK_COMMAND || !t->edit))
			task_sweep(p, t->folder, t->mod.st.st_uid);
		task_free(p, t);
		i = 0; /* what it held may go now */
	}
	task_sweeps_begin(p);
}

static bool ended_by(const struct task *t, int64_t until_ms)
{
	struct pollfd one = {.fd = t->child.pidfd, .events = POLLIN};
	int64_t left = until_ms - child_now_ms();

	return poll(&one, 1, left > 0 ? (int)left : 0) > 0;
}

/* A process that waits in a file system of its owner's does not even die. */
static void end_by(struct parent *p, struct task *t, int64_t until_ms)
{
	enum { DEATH_MS = 2000 };

	if (!ended_by(t, until_ms)) {
		child_signal(&t->child, SIGKILL);
		if (!ended_by(t, child_now_ms() + DEATH_MS)) {
			log_warn(
			    "%s: process %d does not end, left behind", t->path, (int)t->child.pid);
			child_leave(&t->child);
			return;
		}
	}
	task_step(p, t);
}

/* Swaps come to their end, folders go but those that waited; the rest is killed. */
void tasks_end(struct parent *p)
{
	enum { END_MS = 10000 };
	int64_t until_ms = child_now_ms() + END_MS;
	size_t i;

	p->sweep.n = 0;
	for (i = 0; i < p->task.n; i++)
		task_drop(p, p->task.v[i]);
	while (tasks_sweep(p), p->task.n) {
		for (i = 0; i < p->task.n && !p->task.v[i]->child.pid; i++)
			;
		if (i == p->task.n)
			break;
		end_by(p, p->task.v[i], until_ms);
	}
	for (i = 0; i < p->task.n; i++)
		task_free(p, p->task.v[i]);
	vec_free(&p->task);
	vec_free(&p->sweep);
}
