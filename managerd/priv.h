/*
 * The short list of things the manager does to the machine, as verbs. With
 * --user they run in the manager itself. In system mode priv_start() forks:
 * the parent stays root and serves the verbs over a socket pair, the child
 * becomes the user `morph` and returns. The parent reads no artifact, no
 * assembly, no HTTP and no policy; it checks every argument before use, and
 * takes builds only from job folders it made itself. When either dies, so
 * does the other: a verb whose parent is gone ends the process.
 *
 * STATE belongs to whom serves the verbs:
 *
 *	lock              flock(2) of the one manager of this state
 *	jobs/NAME/        of one job; belongs to whom the job runs as
 *	cache/UID/        what the edits of a user keep (editor-driver/cache.h); theirs
 *	builds/ digests/ journal/  managerd/swap.h
 *	manager/          system mode: the child's own (store, spool)
 */
#ifndef MORPH_MANAGERD_PRIV_H
#define MORPH_MANAGERD_PRIV_H

#include "common/err.h"
#include "managerd/swap.h"

#include <stdbool.h>
#include <sys/types.h>

struct priv_options {
	const char *state;  /* absolute; made when absent */
	bool user;          /* --user: verbs run in this process */
	uid_t uid;          /* system mode: whom the child becomes ("morph"), not 0 */
	gid_t gid;
	const char *run;    /* system mode: folder for the child's sockets, made and given to
			       it, mode 0755; NULL = none */
	const char *editor; /* absolute path of morph-edit */
	char *const *const *verify; /* the policy's verify commands, each an argv, NULL-terminated,
				       or NULL: in system mode no other is run. Not used after
				       priv_start() returned */
};

struct priv;

/*
 * Takes the lock (or says which process has it), makes the folders, kills
 * what an earlier manager's jobs left running, removes their folders, and in
 * system mode forks and drops. Call it first, before threads, sockets, loop
 * and store. In the parent it never returns.
 */
struct priv *priv_start(const struct priv_options *o, struct err *e);
/* Where the manager keeps its own files: STATE, or STATE/manager in system
 * mode. Lives as long as p. */
const char *priv_home(const struct priv *p);
/* Gives up the lock; in system mode the parent exits. */
void priv_stop(struct priv *p);

/* ---- verbs, synchronous ---- */

struct priv_swap {
	const char *module; /* absolute path */
	const char *job;    /* whose build is to go in; NULL for rollback */
	struct build_id from, to, origin; /* as in struct swap_order */
	unsigned keep;
};
enum swap_status priv_swap(struct priv *p, const struct priv_swap *s, struct err *e);
enum swap_status priv_rollback(struct priv *p, const struct priv_swap *s, struct err *e);
int priv_swap_done(struct priv *p, const char *module, struct err *e);
enum swap_status priv_swap_check(struct priv *p, const char *module, struct err *e);
int priv_recover(struct priv *p,
    void (*fn)(const struct swap_outcome *o, void *arg), void *arg, struct err *e);
size_t priv_kept(struct priv *p, const char *module, struct arena *a,
    const struct swap_kept **out);
/* swap_unchanged(), read by the caller itself. */
int priv_unchanged(
    struct priv *p, const char *module, const struct build_id *id, struct err *e);

/* ---- jobs: for edit.c ---- */

enum priv_job_kind { PRIV_BUILD = 1, PRIV_SCORE, PRIV_VERIFY, PRIV_TABLE };

struct priv_job {
	uint32_t kind;
	bool layout;
	bool huge;            /* BUILD: --with huge */
	const char *module;   /* absolute path; the job runs as its owner */
	const char *artifact; /* all but VERIFY */
	const char *job;      /* VERIFY: of the build */
	char *const *command; /* VERIFY: argv with {new}, {old} */
	struct build_id origin; /* BUILD: the original build, which the editor compares its link
				   with: the module or, when it is another build by now, the
				   kept one; n = 0 or not kept: it compares with none */
	uint64_t memory;      /* bytes of address space, 0 = no limit */
	int samples;          /* all but VERIFY: descriptor of the text (TABLE: empty); -1 */
	int out, err;         /* descriptors for its 1 and 2 */
};
enum { PRIV_JOB_NAME = 17 };
struct priv_started {
	char name[PRIV_JOB_NAME]; /* a new folder; VERIFY: that of the build */
	pid_t pid;                /* leader of its session */
	int pidfd;                /* readable when it has ended; the caller closes it */
};
int priv_job_start(struct priv *p, const struct priv_job *j, struct priv_started *s, struct err *e);
/* SIGSTOP, SIGCONT, SIGTERM or SIGKILL to the session's process group. */
int priv_job_signal(struct priv *p, pid_t pid, int sig, struct err *e);
/* Collects an ended job: kills what is left of its group; status as of
 * waitpid(2). Fails while it still runs. */
int priv_job_reap(struct priv *p, pid_t pid, int *status, struct err *e);
int priv_job_drop(struct priv *p, const char *name, struct err *e);
/* Absolute path of the build in a job's folder; to free. */
char *priv_job_out(const struct priv *p, const char *name);

#endif
