/*
 * Artifacts that we keep, of programs that have none beside them: what a server sent, and what was
 * lifted. morph-inspect reads one as the module's owner, and only then it is put where artifacts
 * are looked for.
 */
#include "common/artifact/prune.h"
#include "common/publish.h"
#include "managerd/parent/stages.h"
#include "managerd/parent/swap/stage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *artifacts_folder(const char *state)
{
	return xasprintf("%s/artifacts", state);
}

char *lifted_folder(const char *state, uid_t owner)
{
	return xasprintf("%s/lifted/%u", state, (unsigned)owner);
}

static char *folder_of(const struct parent *p, const struct task *t)
{
	return t->kind == TASK_LIFT ? lifted_folder(p->state, t->mod.st.st_uid)
				    : artifacts_folder(p->state);
}

struct publishing {
	const struct parent *p;
	const struct task *t;
};

/* Of a program's code as many may read as of the program. */
static mode_t mode_of(const struct task *t)
{
	return t->kind != TASK_LIFT || t->mod.st.st_mode & S_IROTH ? 0644 : 0600;
}

static int copy_to(const struct publishing *a, struct publish *to, struct err *e)
{
	const struct task *t = a->t;
	struct stat st;

	if (fstat(t->art.fd, &st) ||
	    (t->kind == TASK_LIFT && !a->p->user && fchown(to->fd, t->mod.st.st_uid, (gid_t)-1)))
		return err_sys(e, "%s", to->path);
	return stage_copy(t->art.fd, to->fd, (uint64_t)st.st_size, NULL, e);
}

static int publish_artifact(const struct publishing *a, struct err *e)
{
	char *dir = path_dir(a->t->art.path);
	struct publish file;
	int r = dir_make(dir, a->t->kind == TASK_LIFT ? 0711 : 0755, e);

	free(dir);
	if (r || publish_open(&file, a->t->art.path, mode_of(a->t), e))
		return -1;
	if (!copy_to(a, &file, e))
		return publish_commit(&file, e);
	publish_abort(&file);
	return -1;
}

static void publish(void *arg, struct worked *w)
{
	const struct publishing *a = arg;
	char *folder = folder_of(a->p, a->t);

	w->status = publish_artifact(a, &w->why);
	artifacts_prune(folder, a->p->conf->fetch.disk);
	free(folder);
}

static void published(struct parent *p, struct task *t, int status)
{
	struct worked w;

	child_worked(&t->child, &w);
	task_ended(p, t, false, w.status ? w.why.text : "");
}

static void inspected(struct parent *p, struct task *t, int status)
{
	struct inspect_head h;
	struct err e;
	int r = task_answer(t, &h, &e);

	child_forget(&t->child);
	if (!r)
		task_work(p, t, publish, &(struct publishing){p, t}, published);
	else if (err_wrap(&e, t->kind == TASK_LIFT ? "what was lifted" : "what a server sent"))
		task_ended(p, t, false, e.text);
}

void task_keep_artifact(struct parent *p, struct task *t, int fd)
{
	char *folder = folder_of(p, t);

	t->art.path = build_id_path(folder, strlen(folder), &t->origin);
	t->art.fd = fd;
	free(folder);
	task_inspect(p, t, INSPECT_PAIR, fd, t->mod.fd, inspected);
}
