/*
 * Commands of the policy about a service: its counter, and what restarts it. They run as the
 * module's owner within a job's bounds and in a folder of theirs, but with deadlines of their own
 * and at a priority by which they are not late on a busy machine. What they leave running is
 * killed: who restarts a service asks the one who runs it.
 */
#include "common/publish.h"
#include "managerd/parent/stages.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT_S = 10, RESTART_S = 120, TURN_PARTS = 8 };

/* What asks for restarts in the manager's place must not keep a service from working. */
static int may_restart(struct parent *p, const char *path, struct err *e)
{
	int64_t now = child_now_ms();
	int64_t least = (int64_t)(p->conf->measure.service_turn_s * 1000 / TURN_PARTS);
	struct restarted *r = p->restarted.v;
	size_t i, n = 0;

	for (i = 0; i < p->restarted.n; i++)
		if (now - r[i].at_ms < least)
			r[n++] = r[i];
		else
			free(r[i].path);
	p->restarted.n = n;
	for (i = 0; i < n; i++)
		if (!strcmp(r[i].path, path))
			return err_set(e, "refused: %s: it was restarted %lld s ago", path,
			    (long long)(now - r[i].at_ms) / 1000);
	vec_push(&p->restarted, (struct restarted){xstrdup(path), now});
	return 0;
}

static bool has_one_now(const struct parent *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->kind == TASK_COMMAND && !p->task.v[i]->edit &&
		    p->task.v[i]->child.pid && !strcmp(p->task.v[i]->path, path))
			return true;
	return false;
}

static void command_ended(struct parent *p, struct task *t, int status)
{
	t->status = status;
	task_ended(p, t, false, "");
}

static int run(struct parent *p, struct task *t, bool count, struct err *e)
{
	const struct replacement of[] = {{"{module}", t->path}, {NULL}};
	char **argv = task_argv(
	    count ? conf_counter_for(p->conf, t->path) : conf_restart_for(p->conf, t->path), of);
	struct launch l = task_launch(p, t);
	char **env;
	int r;

	t->dir = folder_make(p->state, &t->owner, t->folder, e);
	env = task_env(p, t, false);
	l.argv = (const char *const *)argv;
	l.env = env;
	l.folder = t->dir;
	memcpy(l.fd, ((int[]){-1, t->out, t->err}), 3 * sizeof *l.fd);
	l.nfd = 3;
	t->then = command_ended;
	r = t->dir < 0 ? -1 : child_run(&t->child, &l, 0, count ? COUNT_S : RESTART_S, e);
	strings_free(argv);
	strings_free(env);
	return r;
}

uint64_t task_service(struct parent *p, const struct priv_job *j, struct err *e)
{
	bool count = j->kind == PRIV_COUNT;
	struct task *t;

	if (!path_is_plain(j->module))
		err_set(e, "refused: not a plain absolute path");
	else if (!(count ? conf_counter_for(p->conf, j->module)
			 : conf_restart_for(p->conf, j->module)))
		err_set(e, "refused: %s: the policy has no %s command for it", j->module,
		    count ? "counter" : "restart");
	else if (has_one_now(p, j->module))
		err_set(e, "refused: %s: a command about its service runs", j->module);
	else if ((count || !may_restart(p, j->module, e)) &&
		 (t = task_new(p, TASK_COMMAND, j->module, e))) {
		t->out = j->out;
		t->err = j->err;
		if (trust_open(t->path, (uid_t)-1, &t->mod, e) < 0 ||
		    task_find_owner(p, t, e) < 0 || run(p, t, count, e) < 0)
			task_failed(p, t, e->text);
		fd_close(&t->out);
		fd_close(&t->err);
		return t->id;
	}
	return 0;
}
