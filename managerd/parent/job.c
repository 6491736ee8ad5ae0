/*
 * The editor at work, and the policy's commands over what it made: started as the module's
 * owner with descriptors of what was judged, watched to their end. What an edit
 * made is copied to a file of ours before anybody looks at it: what is inspected
 * is what will be swapped in.
 */
#include "common/publish.h"
#include "managerd/parent/swap/stage.h"
#include "managerd/parent/swap/swap.h"
#include "managerd/parent/stages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Places of the editor's descriptors. */
enum { FD_ARTIFACT = 3, FD_SAMPLES, FD_ORIGINAL, FD_MODULE, FD_SHAPES, FD_ORDER, FD_N };

/* Address space of processes that the editor starts is bounded one by one. */
enum { JOB_PROCESSES = 64 };
static const uint64_t TABLE_MAX = 256 << 20;

/* Of tables, shapes and profiles, which the manager takes in. */
static bool makes_data(const struct task *t)
{
	return t->kind == TASK_TABLE || t->kind == TASK_SHAPES || t->kind == TASK_CARRY;
}

/* Assembles. */
static bool needs_cache(const struct task *t)
{
	return t->kind == TASK_BUILD || t->kind == TASK_TABLE;
}

typedef VEC(char *) strings;

static void add_option(strings *argv, const char *option, char *value)
{
	vec_push(argv, xstrdup(option));
	if (value)
		vec_push(argv, value);
}

static char *fd_path(int fd)
{
	return xasprintf("/dev/fd/%d", fd);
}

/* Where the original build is to be had: the module itself, or kept; ours to
 * close; -1 = nowhere. */
static int open_original(const struct parent *p, const struct task *t)
{
	if (t->kind != TASK_BUILD && t->kind != TASK_LIFT)
		return -1;
	if (build_id_equal(&t->is, &t->origin))
		return fcntl(t->mod.fd, F_DUPFD_CLOEXEC, 0);
	return swap_open_kept(p->state, &t->mod, &t->origin, NULL);
}

static void editor_argv(
    const struct parent *p, const struct task *t, const char *cache, bool original, strings *argv)
{
	bool lifts = t->kind == TASK_LIFT;
	char hex[BUILD_ID_HEX];
	struct stat st;

	vec_push(argv, xstrdup(p->editor));
	if (!p->user && t->mod.st.st_uid == 0 && p->conf->edit.landlock)
		add_option(argv, "--need-sandbox", NULL);
	if (lifts)
		add_option(argv, "--lift", fd_path(FD_ORIGINAL));
	if (lifts && !fstat(t->samples, &st) && st.st_size)
		add_option(argv, "--addresses", fd_path(FD_SAMPLES));
	if (!lifts) {
		add_option(argv, "--artifact", fd_path(FD_ARTIFACT));
		add_option(argv, "--program", xstrdup(build_id_hex(&t->origin, hex)));
	}
	if (t->kind != TASK_SCORE)
		add_option(argv, "-o", folder_path(p->state, t->folder, "out"));
	if (needs_cache(t))
		add_option(argv, "--cache", xstrdup(cache));
	if (t->kind == TASK_TABLE || t->kind == TASK_SHAPES) {
		add_option(argv, t->kind == TASK_TABLE ? "--replay-table" : "--shapes", NULL);
		vec_push(argv, NULL);
		return;
	}
	add_option(argv, "--json", NULL);
	if (lifts) {
		vec_push(argv, NULL);
		return;
	}
	add_option(argv, "--samples", fd_path(FD_SAMPLES));
	if (t->kind == TASK_CARRY) {
		add_option(argv, "--carry", fd_path(FD_SHAPES));
		vec_push(argv, NULL);
		return;
	}
	if (t->kind == TASK_SCORE)
		add_option(argv, "--score", xstrdup("--interval"));
	if (original)
		add_option(argv, "--original", fd_path(FD_ORIGINAL));
	if (!build_id_equal(&t->is, &t->origin))
		add_option(argv, "--layout", fd_path(FD_MODULE));
	if (t->order.fd >= 0)
		add_option(argv, "--order", fd_path(FD_ORDER));
	vec_push(argv, NULL);
}

/* Somebody waits for it: the samples that a table is for, a window of time. */
static bool is_waited_for(const struct task *t)
{
	return makes_data(t) || (t->kind == TASK_COMMAND && !t->edit);
}

struct launch task_launch(const struct parent *p, struct task *t)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	t->group =
	    cgroup_make(&p->groups, t->id, p->conf->edit.memory, JOB_PROCESSES, !is_waited_for(t));
	return (struct launch){.group = t->group,
	    .priority = is_waited_for(t) ? LAUNCH_NICE : LAUNCH_IDLE,
	    .drop = t->owner.give,
	    .uid = t->owner.uid,
	    .gid = t->owner.gid,
	    .memory = p->conf->edit.memory,
	    .file_bytes = p->conf->edit.disk,
	    .cpu_s = 60 + (uint64_t)(p->conf->edit.deadline_s * (double)processors),
	    /* The group bounds them where there is one. */
	    .processes = t->group >= 0 ? 0 : JOB_PROCESSES};
}

/* ---- what it made ---- */

static void table_known(struct parent *p, struct task *t, int status)
{
	struct inspect_head h;
	struct err e;

	if (task_answer(t, &h, &e) < 0) {
		err_wrap(&e, "what it made");
		task_ended(p, t, false, e.text);
		return;
	}
	task_keep_answer(t);
	task_ended(p, t, false, "");
}

static void output_known(struct parent *p, struct task *t, int status)
{
	struct inspect_head h;
	struct err e;
	int r = task_answer(t, &h, &e);

	if (!r && !build_id_equal(&h.origin, &t->origin))
		r = err_set(&e, "the editor's build does not come from this program");
	if (!r && (!h.id.n || build_id_equal(&h.id, &t->origin)))
		r = err_set(&e, "the editor's build has no build-id of its own");
	if (r < 0) {
		task_ended(p, t, false, e.text);
		return;
	}
	t->made = h.id;
	t->made_origin = h.origin;
	t->built = true;
	task_keep_answer(t);
	task_ended(p, t, false, "");
}

struct at_work {
	const struct parent *p;
	struct task *t;
};

static int open_output(const struct task *t, uint64_t max, struct err *e)
{
	return folder_file(t->dir, "out", t->owner.give ? t->owner.uid : geteuid(), max, e);
}

static void copy_output(void *arg, struct worked *w)
{
	const struct at_work *a = arg;
	struct task *t = a->t;
	struct stat st;
	/* Its owner may go on writing: the job's own bound ended with the job. */
	int fd = open_output(t, a->p->conf->edit.disk, &w->why);

	w->status = -1;
	if (fd >= 0 && !fstat(fd, &st))
		w->status = stage_copy(fd, t->snapshot, (uint64_t)st.st_size, NULL, &w->why);
}

/* The inspector runs as the user whose build it is. */
static int make_read_only(int *fd, struct err *e)
{
	int writable = *fd;
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", writable);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	close(writable);
	return *fd < 0 ? err_sys(e, "the copy of the editor's build") : 0;
}

static void keep_lifted(struct parent *p, struct task *t)
{
	int fd = t->snapshot;

	t->snapshot = -1;
	task_keep_artifact(p, t, fd);
}

static void output_copied(struct parent *p, struct task *t, int status)
{
	struct worked w;
	struct err e;

	child_worked(&t->child, &w);
	if (w.status)
		task_ended(p, t, false, w.why.text);
	else if (make_read_only(&t->snapshot, &e) < 0)
		task_failed(p, t, e.text);
	else if (t->kind == TASK_LIFT)
		keep_lifted(p, t);
	else
		task_inspect(p, t, INSPECT_OUTPUT, t->art.fd, t->snapshot, output_known);
}

/* A file that has no name. */
static int open_snapshot(const struct parent *p, struct err *e)
{
	char *path = xasprintf("%s/output-XXXXXX", p->state);
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		err_sys(e, "%s", path);
	else
		unlink(path);
	free(path);
	return fd;
}

static void take_output(struct parent *p, struct task *t)
{
	struct err e;

	t->snapshot = open_snapshot(p, &e);
	if (t->snapshot < 0)
		task_failed(p, t, e.text);
	else
		task_work(p, t, copy_output, &(struct at_work){p, t}, output_copied);
}

static void take_table(struct parent *p, struct task *t)
{
	struct err e;

	t->snapshot = open_output(t, TABLE_MAX, &e);
	if (t->snapshot < 0)
		task_ended(p, t, false, e.text);
	else
		task_inspect(p, t, t->kind == TASK_TABLE ? INSPECT_TABLE : INSPECT_BYTES,
		    t->snapshot, -1, table_known);
}

static void editor_ended(struct parent *p, struct task *t, int status)
{
	t->status = status;
	if (status || t->kind == TASK_SCORE)
		task_ended(p, t, false, "");
	else if (makes_data(t))
		take_table(p, t);
	else
		take_output(p, t);
}

/* ---- the start ---- */

static int run(struct parent *p, struct task *t, int original, struct err *e)
{
	char *cache = NULL, **env;
	strings argv = {0};
	struct launch l;
	int r;

	/* Without it the editor would keep objects in the person's HOME. */
	if (needs_cache(t)) {
		cache = folder_cache(p->state, &t->owner, t->path, e);
		if (!cache)
			return -1;
	}
	l = task_launch(p, t);
	env = task_env(p, t, true);
	editor_argv(p, t, cache, original >= 0, &argv);
	l.argv = (const char *const *)argv.v;
	l.env = env;
	memcpy(l.fd,
	    ((int[]){-1, t->out, t->err, t->art.fd, t->samples, original, t->mod.fd, t->shapes,
		t->order.fd}),
	    FD_N * sizeof *l.fd);
	l.nfd = FD_N;
	t->then = editor_ended;
	r = child_run(&t->child, &l, 0, 0, e);
	if (!r && t->paused) /* meanwhile, before it ran */
		child_signal(&t->child, SIGSTOP);
	strings_free(argv.v);
	strings_free(env);
	free(cache);
	return r;
}

static void start(struct parent *p, struct task *t)
{
	struct err e;
	int original = open_original(p, t), r;

	if (t->kind == TASK_LIFT && original < 0) {
		task_ended(p, t, false, "it is laid out, and its original is not kept");
		return;
	}
	fd_close(&t->blob);
	t->dir = folder_make(p->state, &t->owner, t->folder, &e);
	r = t->dir < 0 ? -1 : run(p, t, original, &e);
	fd_close(&original);
	fd_close(&t->out);
	fd_close(&t->err);
	if (r < 0)
		task_failed(p, t, e.text);
}

static void make_room(void *arg, struct worked *w)
{
	const struct at_work *r = arg;

	w->status = quota_make_room(
	    r->p->state, r->t->mod.st.st_uid, &r->t->owner, r->p->conf->quota.disk, &w->why);
}

static void room_made(struct parent *p, struct task *t, int status)
{
	struct worked w;

	child_worked(&t->child, &w);
	if (w.status)
		task_failed(p, t, w.why.text);
	else
		start(p, t);
}

void task_job_start(struct parent *p, struct task *t)
{
	child_forget(&t->child);
	if (t->kind != TASK_SCORE)
		task_work(p, t, make_room, &(struct at_work){p, t}, room_made);
	else
		start(p, t);
}

/* ---- commands of the policy ---- */

static void verified(struct parent *p, struct task *t, int status)
{
	t->status = status;
	t->edit->verified = !status;
	task_ended(p, t, false, "");
}

static void measured(struct parent *p, struct task *t, int status)
{
	t->status = status;
	task_ended(p, t, false, "");
}

static int run_command(
    struct parent *p, struct task *t, enum priv_job_kind kind, char *const *command, struct err *e)
{
	char *new_path = folder_path(p->state, t->folder, "out"), **env = task_env(p, t, false);
	const struct replacement of_verify[] = {{"{new}", new_path}, {"{old}", t->path}, {NULL}},
				 of_measure[] = {
				     {"{build}", kind == PRIV_MEASURE_NEW ? new_path : t->path},
				     {NULL}};
	char **argv = task_argv(command, kind == PRIV_VERIFY ? of_verify : of_measure);
	struct launch l = task_launch(p, t);
	int r;

	l.argv = (const char *const *)argv;
	l.env = env;
	l.folder = t->dir;
	memcpy(l.fd, ((int[]){-1, t->out, t->err}), 3 * sizeof *l.fd);
	l.nfd = 3;
	t->then = kind == PRIV_VERIFY ? verified : measured;
	r = child_run(&t->child, &l, 0, 0, e);
	strings_free(argv);
	strings_free(env);
	free(new_path);
	return r;
}

static bool has_command_now(const struct parent *p, const struct task *edit)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->kind == TASK_COMMAND && p->task.v[i]->edit == edit &&
		    p->task.v[i]->child.pid)
			return true;
	return false;
}

static uint64_t begin_command(struct parent *p, const struct priv_job *j, struct err *e)
{
	const char *what = j->kind == PRIV_VERIFY ? "verify" : "measuring";
	struct task *edit = task_find(p, j->edit), *t;
	char *const *command;

	if (!edit || edit->kind != TASK_BUILD || !edit->built) {
		err_set(e, "refused: no edit that ended well");
		return 0;
	}
	command = j->kind == PRIV_VERIFY ? conf_verify_for(p->conf, edit->path)
					 : conf_measure_for(p->conf, edit->path);
	if (!command) {
		err_set(e, "refused: %s: the policy has no %s command for it", edit->path, what);
		return 0;
	}
	if (has_command_now(p, edit)) {
		err_set(e, "refused: %s: a command over this edit runs", edit->path);
		return 0;
	}
	t = task_new(p, TASK_COMMAND, edit->path, e);
	if (!t)
		return 0;
	t->edit = edit;
	t->owner = edit->owner;
	memcpy(t->folder, edit->folder, sizeof t->folder);
	t->dir = fcntl(edit->dir, F_DUPFD_CLOEXEC, 0);
	t->out = j->out;
	t->err = j->err;
	if (j->kind == PRIV_VERIFY)
		edit->verified = false;
	if (run_command(p, t, j->kind, command, e) < 0)
		task_failed(p, t, e->text);
	fd_close(&t->out);
	fd_close(&t->err);
	return t->id;
}

/* ---- what the manager asks for ---- */

/* Jobs of one user do not keep those of others from being done. An edit counts until it is
 * dropped: its folder and the copy of its output take room. So do commands over it, of
 * which it has one at a time. */
static int find_slot(const struct parent *p, const char *path, struct err *e)
{
	struct stat st;
	unsigned all = 0, own = 0, swept;
	size_t i;

	if (trust_stat(path, &st) < 0)
		return err_sys(e, "%s", path);
	for (i = 0; i < p->task.n; i++) {
		if (p->task.v[i]->kind < TASK_BUILD || p->task.v[i]->kind > TASK_LIFT ||
		    !task_needed(p, p->task.v[i]))
			continue;
		all++;
		own += p->task.v[i]->mod.st.st_uid == st.st_uid;
	}
	if (own >= TASKS_PER_UID)
		return err_set(
		    e, "%s: %u jobs of its owner's modules are under way or kept", path, own);
	if (all >= TASK_JOBS)
		return err_set(e, "%s: %u jobs of all users are under way or kept", path, all);
	swept = task_sweeps_of(p, st.st_uid);
	if (swept >= SWEEPS_PER_UID)
		return err_set(
		    e, "%s: %u folders of its owner's jobs are still being emptied", path, swept);
	return 0;
}

uint64_t task_job(struct parent *p, const struct priv_job *j, struct err *e)
{
	static const enum task_kind kind[] = {[PRIV_BUILD] = TASK_BUILD,
	    [PRIV_SCORE] = TASK_SCORE,
	    [PRIV_TABLE] = TASK_TABLE,
	    [PRIV_SHAPES] = TASK_SHAPES,
	    [PRIV_CARRY] = TASK_CARRY,
	    [PRIV_LIFT] = TASK_LIFT,
	    [PRIV_LIFT_AGAIN] = TASK_LIFT};
	struct task *t;

	if (j->kind >= PRIV_COUNT)
		return task_service(p, j, e);
	if (j->kind >= PRIV_VERIFY)
		return begin_command(p, j, e);
	if (!path_is_plain(j->module)) {
		err_set(e, "refused: not a plain absolute path");
		return 0;
	}
	if (find_slot(p, j->module, e) < 0 || !(t = task_new(p, kind[j->kind], j->module, e)))
		return 0;
	t->want = t->hint[0] = j->id;
	t->want_origin = t->hint[1] = j->origin;
	t->out = j->out;
	t->err = j->err;
	t->again = j->kind == PRIV_LIFT_AGAIN;
	t->samples = j->samples;
	t->shapes = j->shapes;
	task_find_begin(p, t);
	return t->id;
}
