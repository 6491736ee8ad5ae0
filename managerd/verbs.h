/*
 * The verbs of managerd/priv.h as they are carried out, in the manager itself
 * (--user) or in the privileged parent. Each checks its arguments first; what
 * is not of the expected shape is refused without a look at the disk.
 */
#ifndef MORPH_MANAGERD_VERBS_H
#define MORPH_MANAGERD_VERBS_H

#include "managerd/priv.h"

struct verbs {
	char *state; /* canonical */
	bool system;
	uid_t uid; /* system: the manager's */
	gid_t gid;
	const char *editor;
	char *const *const *verify;
	VEC(pid_t) job; /* started and not reaped */
};

enum swap_status verbs_swap(struct verbs *v, const struct priv_swap *s, struct err *e);
enum swap_status verbs_rollback(struct verbs *v, const struct priv_swap *s, struct err *e);
enum swap_status verbs_check(struct verbs *v, const char *module, struct err *e);
int verbs_done(struct verbs *v, const char *module, struct err *e);
int verbs_recover(struct verbs *v, void (*fn)(const struct swap_outcome *o, void *arg), void *arg,
    struct err *e);
int verbs_job_start(struct verbs *v, const struct priv_job *j, struct priv_started *s,
    struct err *e);
int verbs_job_signal(struct verbs *v, pid_t pid, int sig, struct err *e);
int verbs_job_reap(struct verbs *v, pid_t pid, int *status, struct err *e);
int verbs_job_drop(struct verbs *v, const char *name, struct err *e);
/* Kills and reaps all jobs. */
void verbs_end(struct verbs *v);

#endif
