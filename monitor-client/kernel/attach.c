#include "monitor-client/kernel/attach.h"
#include "common/mem.h"
#include "monitor-client/kernel/procfs.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct listing {
	struct attach *a;
	attach_fn *first, *other;
	void *arg;
	struct err *e;
	size_t fresh; /* threads that were not known, of one listing */
	int fault;    /* errno, 0 = none */
};

static void take_thread(uint32_t tid, void *arg)
{
	struct listing *l = arg;
	bool fresh, begins = !l->a->first;
	int r;

	if (l->fault)
		return;
	htab_put(&l->a->known, &tid, sizeof tid, &fresh);
	if (!fresh)
		return;
	l->fresh++;
	if (begins)
		l->a->first = (pid_t)tid;
	r = (begins ? l->first : l->other)(l->arg, (pid_t)tid, l->e);
	if (r && begins)
		l->a->first = 0;
	if (r && errno != ESRCH)
		l->fault = errno ? errno : EIO;
}

static int take_process(struct listing *l, pid_t pid)
{
	char folder[64];
	size_t all = 0;

	snprintf(folder, sizeof folder, "/proc/%d/task", (int)pid);
	l->a->pid = pid;
	do {
		l->fresh = 0;
		if (procfs_pids(folder, take_thread, l) < 0)
			break;
		all += l->fresh;
	} while (l->fresh && !l->fault);
	if (!l->fault && (!all || !l->a->first)) {
		err_set(l->e, "there is no process %d any more", (int)pid);
		l->fault = ESRCH;
	}
	errno = l->fault;
	return l->fault ? -1 : 0;
}

int attach_threads(struct attach *a, const pid_t *pid, size_t n, attach_fn *first, attach_fn *other,
    void *arg, struct err *e)
{
	struct listing l = {.a = a, .first = first, .other = other, .arg = arg, .e = e};
	size_t i;

	for (i = 0; i < n; i++)
		if (take_process(&l, pid[i]))
			return -1;
	return 0;
}

void attach_refused(const struct attach *a, const char *self, struct err *e)
{
	char whose[64];
	struct passwd *p;
	uint32_t uid;

	if (procfs_uid("/proc", (uint32_t)a->pid, &uid) || uid == geteuid()) {
		err_set(e,
		    "process %d may not be watched: it keeps others from looking into it, as "
		    "programs with rights of their own do; root may watch it",
		    (int)a->pid);
		return;
	}
	p = getpwuid(uid);
	if (p)
		snprintf(whose, sizeof whose, "%s", p->pw_name);
	else
		snprintf(whose, sizeof whose, "user %u", (unsigned)uid);
	err_set(e,
	    "process %d belongs to %s: root may watch it, or once as root: setcap "
	    "cap_perfmon,cap_sys_ptrace=ep %s",
	    (int)a->pid, whose, self);
}

void attach_free(struct attach *a)
{
	htab_free(&a->known);
}
