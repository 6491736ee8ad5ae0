/*
 * Folders of jobs that are over: each is emptied by a process that becomes its
 * user. Only so many run at once, of one user and of all; the others wait.
 */
#include "common/log.h"
#include "managerd/parent/procs.h"
#include "managerd/parent/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void empty_folder(void *arg, struct worked *w)
{
	struct task *t = arg;
	char *folder;

	/* path: the state folder, of a sweep. */
	w->status = t->owner.give ? folder_become(t->path, t->folder, &w->why) : 0;
	if (!w->status && t->left) {
		/* Where there were groups they went with those (cgroups_sweep()), and with a
		 * service they went with it. Its user may hide from this, and is no worse off
		 * then than with any process of theirs. */
		folder = folder_path(t->path, t->folder, NULL);
		w->size = procs_kill_marked("MORPH_JOB", folder);
		free(folder);
	}
	if (!w->status)
		w->status = folder_empty(t->path, t->folder, &w->why);
}

static void emptied(struct parent *p, struct task *t, int status)
{
	struct worked w;
	struct err e;

	child_worked(&t->child, &w);
	t->reported = true;
	if (w.size)
		log_info("killed %ju processes that a job of an earlier morphd left running",
		    (uintmax_t)w.size);
	if (w.status)
		log_warn("%s/jobs/%s: left behind until the next start: %s", p->state, t->folder,
		    w.why.text);
	else if (folder_remove(p->state, t->folder, &e) < 0)
		log_warn("%s", e.text);
}

static void begin(struct parent *p, const struct sweep *s)
{
	struct task *t = task_new(p, TASK_SWEEP, p->state, NULL);

	if (!t)
		return;
	memcpy(t->folder, s->folder, sizeof t->folder);
	t->mod.st.st_uid = s->owner;
	t->left = s->left;
	t->owner.give = !p->user;
	task_work(p, t, empty_folder, t, emptied);
}

static bool may_begin(const struct parent *p, uid_t owner)
{
	unsigned all = 0, own = 0;
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->kind == TASK_SWEEP) {
			all++;
			own += p->task.v[i]->mod.st.st_uid == owner;
		}
	return all < TASKS_MAX && own < SWEEPS_PER_UID;
}

void task_sweeps_begin(struct parent *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->sweep.n; i++)
		if (may_begin(p, p->sweep.v[i].owner))
			begin(p, &p->sweep.v[i]);
		else
			p->sweep.v[n++] = p->sweep.v[i];
	p->sweep.n = n;
}

unsigned task_sweeps_of(const struct parent *p, uid_t owner)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < p->sweep.n; i++)
		n += p->sweep.v[i].owner == owner;
	for (i = 0; i < p->task.n; i++)
		n += p->task.v[i]->kind == TASK_SWEEP && p->task.v[i]->mod.st.st_uid == owner;
	return n;
}

static void add(struct parent *p, const char *folder, uid_t owner, bool left)
{
	struct sweep s = {.owner = owner, .left = left};

	snprintf(s.folder, sizeof s.folder, "%s", folder);
	vec_push(&p->sweep, s);
}

void task_sweep(struct parent *p, const char *folder, uid_t owner)
{
	add(p, folder, owner, false);
}

void task_sweep_left(struct parent *p, const char *folder)
{
	char *path = folder_path(p->state, folder, NULL);
	struct stat st = {.st_uid = (uid_t)-1};

	lstat(path, &st);
	free(path);
	/* It belongs to whom the job ran as. */
	add(p, folder, !p->user && st.st_uid == p->for_root.uid ? 0 : st.st_uid, true);
}
