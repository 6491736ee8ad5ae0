/*
 * The privileged parent: the part of morphd that keeps root's rights (with
 * --user: that is a process of its own all the same). It opens and judges the
 * files of users, decides by the policy what may be written, starts all other
 * processes, and swaps. It understands no byte of any file but its own journal,
 * digests and policy: morph-inspect reads the others, as their owners.
 *
 *	main.c    options, policy, start          verbs.c   what the manager may ask for
 *	serve.c   the loop                        task.c    what takes its time
 *	trust.c   opening and judging             child.c   processes (launch.c)
 *	swap.c    and settle, journal, builds, digest, stage: changing a module
 *	folder.c  job folders and caches          package.c Debian packages
 *	fetch.c   artifacts from servers         policy.c  the policy, again
 *	artifacts.c  those that we keep
 *	notify.c  the operator's command    service.c  a service's commands
 *	restore.c all originals back, without a manager
 */
#ifndef MORPH_PARENT_PARENT_H
#define MORPH_PARENT_PARENT_H

#include "managerd/conf/conf.h"
#include "managerd/parent/cgroup.h"
#include "managerd/parent/folder.h"
#include "managerd/parent/policy.h"
#include "managerd/priv/priv.h"

struct task;

struct event { /* what the manager was not sent yet */
	struct buf frame;
	int fd; /* goes with it, -1 = none; ours */
};

struct restarted {  /* a service */
	char *path; /* of its module; owned */
	int64_t at_ms;
};

struct sweep { /* a job's folder that waits to be emptied */
	char folder[FOLDER_NAME];
	uid_t owner; /* of the module it was made for */
	bool left;   /* by an earlier morphd */
};

struct parent {
	char *state; /* canonical */
	bool user;
	struct conf *conf; /* in force; of who started us */
	struct policy policy;
	struct folder_user for_root;   /* whom jobs of root's modules run as */
	uid_t service[2];              /* of the manager and the monitor; not with --user */
	struct folder_user for_fetch;  /* whom morph-fetch runs as; where there are servers */
	struct folder_user for_notice; /* whom the notify command runs as; give: not with --user */
	const char *editor, *inspector;
	char *fetcher;      /* where the policy names servers; ours */
	unsigned inspect_s; /* what an inspector may take */
	struct {
		int64_t since_ms;
		uint64_t n; /* tries since, within a day */
	} fetched, notified;
	VEC(struct restarted) restarted; /* lately */
	struct cgroups groups;
	int verbs, events; /* sockets to the manager; -1 = it is gone */
	VEC(struct task *) task;
	VEC(struct sweep) sweep;
	uint64_t next; /* number of the last task */
	VEC(struct event) queue;
	VEC(struct swap_outcome) recovered; /* module: owned */
};

/* ---- verbs.c ---- */

struct frame;
/* One frame in, its reply out. Works on any bytes. */
void parent_handle(struct parent *p, struct frame *f, struct buf *reply);

/* ---- serve.c ---- */

/* Serves until the manager (a child of ours) is gone, ends all tasks, and returns
 * the status to exit with. */
int parent_serve(struct parent *p, pid_t manager);

#endif
