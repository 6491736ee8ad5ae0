#include "managerd/verbs.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/builds.h"
#include "managerd/jobs.h"
#include "managerd/launch.h"
#include "managerd/modfile.h"
#include "managerd/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEEP_MAX = 1000 };

/* ---- arguments ---- */

/* Absolute, and without "", "." and ".." as components. */
static int check_path(const char *path, const char *what, struct err *e)
{
	const char *p = path, *end;
	size_t n;

	if (!path || *path != '/' || strlen(path) >= PATH_MAX)
		return err_set(e, "refused: the %s is not an absolute path", what);
	while (*p) {
		end = strchrnul(++p, '/');
		n = (size_t)(end - p);
		if (!n || (n == 1 && *p == '.') || (n == 2 && !strncmp(p, "..", 2)))
			return err_set(e, "refused: %s: not a plain path of a %s", path, what);
		p = end;
	}
	return 0;
}

static int check_job(const char *name, struct err *e)
{
	return name && jobs_name_valid(name) ? 0 : err_set(e, "refused: not the name of a job");
}

static int check_swap(const struct priv_swap *s, struct err *e)
{
	if (check_path(s->module, "module", e) < 0)
		return -1;
	if (!s->from.n || s->from.n > sizeof s->from.b || !s->to.n || s->to.n > sizeof s->to.b ||
	    s->origin.n > sizeof s->origin.b)
		return err_set(e, "refused: not a build-id");
	if (build_id_equal(&s->from, &s->to))
		return err_set(e, "refused: the module is that build already");
	if (!s->keep || s->keep > KEEP_MAX)
		return err_set(e, "refused: keep builds: not 1 to %d", KEEP_MAX);
	return 0;
}

static bool same_command(char *const *a, char *const *b)
{
	for (; *a && *b && !strcmp(*a, *b); a++, b++)
		;
	return !*a && !*b;
}

static bool command_known(const struct verbs *v, char *const *command)
{
	size_t i;

	for (i = 0; v->verify && v->verify[i]; i++)
		if (same_command(v->verify[i], command))
			return true;
	return false;
}

/* Root runs nothing but what its own policy names. */
static int check_command(const struct verbs *v, char *const *command, struct err *e)
{
	if (!command || !*command || !**command)
		return err_set(e, "refused: no verify command");
	if (v->system && !command_known(v, command))
		return err_set(e, "refused: %s: not a verify command of the policy that morphd "
		    "was started with", *command);
	return 0;
}

static int check_job_request(const struct verbs *v, const struct priv_job *j, struct err *e)
{
	if (j->kind < PRIV_BUILD || j->kind > PRIV_TABLE)
		return err_set(e, "refused: no such kind of job");
	if (check_path(j->module, "module", e) < 0)
		return -1;
	if (j->origin.n > sizeof j->origin.b)
		return err_set(e, "refused: not a build-id");
	if (j->kind == PRIV_VERIFY)
		return check_job(j->job, e) < 0 || check_command(v, j->command, e) < 0 ? -1 : 0;
	return check_path(j->artifact, "artifact", e);
}

static int check_pid(const struct verbs *v, pid_t pid, size_t *at, struct err *e)
{
	for (*at = 0; *at < v->job.n; ++*at)
		if (v->job.v[*at] == pid)
			return 0;
	return err_set(e, "refused: %d is no job", (int)pid);
}

/* ---- swapping ---- */

static enum swap_status swap_build(struct verbs *v, const struct priv_swap *s, struct err *e)
{
	char *staged = jobs_path(v->state, s->job, "out");
	struct swap_order o = {.module = s->module, .staged = staged, .from = s->from, .to = s->to,
		.origin = s->origin, .keep = s->keep, .staged_by = (uid_t)-1};
	enum swap_status status;
	struct trusted t;

	if (trust_open(s->module, (uid_t)-1, &t, e) < 0) {
		status = SWAP_REFUSED;
	} else {
		/* The manager's user edits for root. */
		if (v->system && t.st.st_uid == 0)
			o.staged_by = v->uid;
		trust_close(&t);
		status = swap_commit(v->state, &o, e);
	}
	free(staged);
	return status;
}

enum swap_status verbs_swap(struct verbs *v, const struct priv_swap *s, struct err *e)
{
	if (check_swap(s, e) < 0 || check_job(s->job, e) < 0)
		return SWAP_FAILED;
	return swap_build(v, s, e);
}

enum swap_status verbs_rollback(struct verbs *v, const struct priv_swap *s, struct err *e)
{
	struct swap_order o = {.module = s->module, .from = s->from, .to = s->to,
		.origin = s->origin, .keep = s->keep, .staged_by = (uid_t)-1};

	return check_swap(s, e) < 0 ? SWAP_FAILED : swap_rollback(v->state, &o, e);
}

enum swap_status verbs_check(struct verbs *v, const char *module, struct err *e)
{
	return check_path(module, "module", e) < 0 ? SWAP_FAILED : swap_check(module, e);
}

int verbs_done(struct verbs *v, const char *module, struct err *e)
{
	return check_path(module, "module", e) < 0 ? -1 : swap_done(v->state, module, e);
}

int verbs_recover(struct verbs *v, void (*fn)(const struct swap_outcome *o, void *arg), void *arg,
    struct err *e)
{
	return swap_recover(v->state, fn, arg, e);
}

/* ---- jobs ---- */

struct job_user {
	bool drop;
	uid_t uid;
	gid_t gid;
	char *home;
};

static int user_of_owner(struct job_user *u, const char *module, struct err *e)
{
	struct passwd *pw;

	errno = 0;
	pw = getpwuid(u->uid);
	if (!pw)
		return err_set(e, "%s: its owner, uid %u, is no user of this machine", module,
		    (unsigned)u->uid);
	u->gid = pw->pw_gid;
	u->home = xstrdup(pw->pw_dir);
	return 0;
}

static int find_user(const struct verbs *v, const char *module, struct job_user *u, struct err *e)
{
	struct trusted t;

	*u = (struct job_user){.drop = v->system};
	if (trust_open(module, (uid_t)-1, &t, e) < 0)
		return -1;
	u->uid = t.st.st_uid;
	trust_close(&t);
	if (!v->system)
		return 0;
	if (u->uid != 0)
		return user_of_owner(u, module, e);
	u->uid = v->uid;
	u->gid = v->gid;
	u->home = xasprintf("%s/manager", v->state);
	return 0;
}

typedef VEC(char *) strings;

static void strings_free(strings *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->v[i]);
	vec_free(s);
}

/* With --user the person's own, else as little as will do. */
static void make_env(const struct verbs *v, const struct job_user *u, const char *name, strings *env)
{
	size_t i;

	for (i = 0; !v->system && environ[i]; i++)
		if (strncmp(environ[i], "TMPDIR=", 7) && strncmp(environ[i], "MORPH_JOB=", 10))
			vec_push(env, xstrdup(environ[i]));
	if (v->system) {
		vec_push(env, xstrdup("PATH=/usr/local/bin:/usr/bin:/bin"));
		vec_push(env, xstrdup("LANG=C.UTF-8"));
		vec_push(env, xasprintf("HOME=%s", u->home));
	}
	vec_push(env, xasprintf("TMPDIR=%s/jobs/%s", v->state, name));
	vec_push(env, jobs_mark(v->state, name));
	vec_push(env, NULL);
}

/* Where the original build is to be had: in the module itself, or kept. */
struct original {
	bool itself;
	int kept; /* descriptor, -1 = none */
};

static struct original find_original(const struct verbs *v, const struct priv_job *j)
{
	struct original o = {.kept = -1};
	struct build_id id;
	struct trusted t;
	char *path;

	if (j->kind != PRIV_BUILD || !j->origin.n || trust_open(j->module, (uid_t)-1, &t, NULL) < 0)
		return o;
	o.itself = !modfile_build_id(t.fd, t.path, &id, NULL) && build_id_equal(&id, &j->origin);
	trust_close(&t);
	if (o.itself)
		return o;
	path = builds_path(v->state, j->module, &j->origin);
	o.kept = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (o.kept < 0)
		log_info("%s: its original build is not kept: %s", j->module, strerror(errno));
	free(path);
	return o;
}

static void editor_argv(const struct verbs *v, const struct priv_job *j, const struct original *o,
    const char *cache, const char *name, strings *argv)
{
	vec_push(argv, xstrdup(v->editor));
	vec_push(argv, xstrdup("--json"));
	vec_push(argv, xstrdup("--artifact"));
	vec_push(argv, xstrdup(j->artifact));
	vec_push(argv, xstrdup("--samples"));
	vec_push(argv, jobs_path(v->state, name, "samples"));
	if (j->kind == PRIV_BUILD) {
		vec_push(argv, xstrdup("-o"));
		vec_push(argv, jobs_path(v->state, name, "out"));
		if (cache) {
			vec_push(argv, xstrdup("--cache"));
			vec_push(argv, xstrdup(cache));
		}
		if (j->huge) {
			vec_push(argv, xstrdup("--with"));
			vec_push(argv, xstrdup("huge"));
		}
		if (o->itself || o->kept >= 0) {
			vec_push(argv, xstrdup("--original"));
			vec_push(argv, o->itself ? xstrdup(j->module)
						 : jobs_path(v->state, name, "original"));
		}
	} else {
		vec_push(argv, xstrdup("--score"));
	}
	if (j->layout) {
		vec_push(argv, xstrdup("--layout"));
		vec_push(argv, xstrdup(j->module));
	}
	vec_push(argv, NULL);
}

static void table_argv(const struct verbs *v, const struct priv_job *j, const char *name,
    strings *argv)
{
	vec_push(argv, xstrdup(v->editor));
	vec_push(argv, xstrdup("--witness-table"));
	vec_push(argv, xstrdup("--artifact"));
	vec_push(argv, xstrdup(j->artifact));
	vec_push(argv, xstrdup("-o"));
	vec_push(argv, jobs_path(v->state, name, "out"));
	vec_push(argv, NULL);
}

/* Of the policy's argument, with {new} and {old} as paths. */
static char *verify_arg(const char *arg, const char *new_path, const char *old_path)
{
	struct buf out = {0};

	while (*arg) {
		if (!strncmp(arg, "{new}", 5) || !strncmp(arg, "{old}", 5)) {
			buf_str(&out, arg[1] == 'n' ? new_path : old_path);
			arg += 5;
		} else {
			buf_char(&out, *arg++);
		}
	}
	return buf_cstr(&out);
}

static void verify_argv(const struct verbs *v, const struct priv_job *j, strings *argv)
{
	char *new_path = jobs_path(v->state, j->job, "out");
	char *const *arg;

	for (arg = j->command; *arg; arg++)
		vec_push(argv, verify_arg(*arg, new_path, j->module));
	vec_push(argv, NULL);
	free(new_path);
}

/* The folder a verify command works in must be that of the module's editor. */
static int check_folder(const char *dir, const struct job_user *u, struct err *e)
{
	struct stat st;

	if (lstat(dir, &st) < 0)
		return err_sys(e, "%s", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != (u->drop ? u->uid : geteuid()))
		return err_set(e, "refused: %s: not a job of this module's owner", dir);
	return 0;
}

/* Without it the next edit costs as much as the first. */
static char *find_cache(const struct verbs *v, const struct priv_job *j, const struct job_user *u)
{
	struct err e;
	char *path = NULL;

	if (j->kind == PRIV_BUILD) {
		path = jobs_cache(v->state, u->drop, u->drop ? u->uid : geteuid(), u->gid, &e);
		if (!path)
			log_warn("%s", e.text);
	}
	return path;
}

static int start(struct verbs *v, const struct priv_job *j, const struct job_user *u,
    const struct original *o, struct priv_started *s, struct err *e)
{
	char *cache = find_cache(v, j, u);
	char *dir = jobs_path(v->state, s->name, NULL);
	strings argv = {0}, env = {0};
	struct launch l = {.dir = dir, .out = j->out, .err = j->err, .drop = u->drop,
		.uid = u->uid, .gid = u->gid, .memory = j->memory};

	l.awaited = j->kind == PRIV_TABLE; /* the samples it is for are taken meanwhile */
	if (j->kind == PRIV_VERIFY)
		verify_argv(v, j, &argv);
	else if (j->kind == PRIV_TABLE)
		table_argv(v, j, s->name, &argv);
	else
		editor_argv(v, j, o, cache, s->name, &argv);
	make_env(v, u, s->name, &env);
	l.argv = (const char *const *)argv.v;
	l.env = env.v;
	s->pid = check_folder(dir, u, e) < 0 ? -1 : launch(&l, &s->pidfd, e);
	if (s->pid > 0)
		vec_push(&v->job, s->pid);
	strings_free(&argv);
	strings_free(&env);
	free(cache);
	free(dir);
	return s->pid > 0 ? 0 : -1;
}

/* What the job makes belongs to the manager's group where it is to read it. */
static int make_folder(struct verbs *v, const struct priv_job *j, const struct job_user *u,
    const struct original *o, struct priv_started *s, struct err *e)
{
	if (j->kind != PRIV_VERIFY)
		return jobs_make(
		    v->state, j->samples, o->kept, v->system, u->uid, v->gid, s->name, e);
	memcpy(s->name, j->job, PRIV_JOB_NAME);
	return 0;
}

int verbs_job_start(struct verbs *v, const struct priv_job *j, struct priv_started *s,
    struct err *e)
{
	struct original o;
	struct job_user u;
	int r;

	*s = (struct priv_started){.pid = -1, .pidfd = -1};
	if (check_job_request(v, j, e) < 0 || find_user(v, j->module, &u, e) < 0)
		return -1;
	o = find_original(v, j);
	r = make_folder(v, j, &u, &o, s, e);
	if (!r) {
		r = start(v, j, &u, &o, s, e);
		if (r < 0 && j->kind != PRIV_VERIFY)
			jobs_drop(v->state, s->name, NULL);
	}
	if (o.kept >= 0)
		close(o.kept);
	free(u.home);
	return r;
}

int verbs_job_signal(struct verbs *v, pid_t pid, int sig, struct err *e)
{
	size_t at;

	if (sig != SIGSTOP && sig != SIGCONT && sig != SIGTERM && sig != SIGKILL)
		return err_set(e, "refused: signal %d", sig);
	if (check_pid(v, pid, &at, e) < 0)
		return -1;
	/* Not reaped yet, so the number is still its own. */
	if (kill(-pid, sig) < 0 && errno != ESRCH)
		return err_sys(e, "signal %d to job %d", sig, (int)pid);
	return 0;
}

int verbs_job_reap(struct verbs *v, pid_t pid, int *status, struct err *e)
{
	siginfo_t info = {0};
	size_t at;

	if (check_pid(v, pid, &at, e) < 0)
		return -1;
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return err_sys(e, "job %d", (int)pid);
	if (!info.si_pid)
		return err_set(e, "job %d still runs", (int)pid);
	kill(-pid, SIGKILL);
	if (waitpid(pid, status, 0) != pid)
		return err_sys(e, "job %d", (int)pid);
	v->job.v[at] = v->job.v[--v->job.n];
	return 0;
}

int verbs_job_drop(struct verbs *v, const char *name, struct err *e)
{
	return check_job(name, e) < 0 ? -1 : jobs_drop(v->state, name, e);
}

void verbs_end(struct verbs *v)
{
	size_t i;

	for (i = 0; i < v->job.n; i++) {
		kill(-v->job.v[i], SIGKILL);
		waitpid(v->job.v[i], NULL, 0);
	}
	vec_free(&v->job);
}
