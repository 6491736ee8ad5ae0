/*
 * From a path to a module with its artifact: opened and judged by us, read by
 * the inspector; and whether policy lets it be swapped.
 */
#include "managerd/parent/swap/digest.h"
#include "common/places.h"
#include "managerd/parent/trust/package.h"
#include "managerd/parent/swap/swap.h"
#include "managerd/parent/stages.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- where artifacts lie ---- */

static void add_place(struct task *t, char *path)
{
	size_t i;

	for (i = 0; path && i < t->place.n && strcmp(t->place.v[i], path); i++)
		;
	if (path && i == t->place.n)
		vec_push(&t->place, path);
	else
		free(path);
}

/* In a folder of ours, which is freed; NULL: there cannot be one. */
static char *kept_path(char *folder, const struct build_id *id)
{
	char *path = build_id_path(folder, strlen(folder), id);

	free(folder);
	return path;
}

static char *lifted_path(const struct parent *p, const struct task *t, const struct build_id *id)
{
	return kept_path(lifted_folder(p->state, t->mod.st.st_uid), id);
}

static void add_places(const struct parent *p, struct task *t, const struct build_id *id)
{
	uid_t owner = t->mod.st.st_uid;
	const struct passwd *pw = p->user || !owner ? NULL : getpwuid(owner);
	/* Of whom the module belongs to, of all, and what was fetched. */
	char *folders = places_artifacts(p->user ? getenv("HOME") : pw ? pw->pw_dir : NULL);
	const char *at = folders;
	size_t n;

	for (; *at; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		add_place(t, n && *at == '/' ? build_id_path(at, n, id) : NULL);
	}
	free(folders);
	add_place(t, kept_path(artifacts_folder(p->state), id));
}

/* All of an inspected module's; what was lifted serves where there is nothing else. */
static void add_own_places(const struct parent *p, struct task *t)
{
	add_places(p, t, &t->is);
	add_places(p, t, &t->origin);
	t->lifted_from = t->place.n;
	add_place(t, lifted_path(p, t, &t->is));
	add_place(t, lifted_path(p, t, &t->origin));
}

static bool is_there(const char *path)
{
	struct stat st;

	return trust_stat(path, &st) == 0;
}

static bool is_lifted(const struct parent *p, const struct task *t, const struct build_id *id)
{
	char *path = lifted_path(p, t, id);
	bool there = path && is_there(path);

	free(path);
	return there;
}

/* Of those that are known without reading the module. */
static bool any_there(const struct parent *p, const struct task *t)
{
	size_t i;

	for (i = 0; i < t->place.n; i++)
		if (is_there(t->place.v[i]))
			return true;
	return is_lifted(p, t, &t->hint[0]) || is_lifted(p, t, &t->hint[1]);
}

/* ---- may it be swapped? ---- */

static void admitted(struct parent *p, struct task *t)
{
	if (t->kind == TASK_INSPECT)
		task_inspected(p, t, t->art.path ? PRIV_FOLLOWED : PRIV_NO_ARTIFACT,
		    t->art.path ? "" : t->why.text);
	else if (*t->refused.text) /* what was to be lifted is judged again before the next try */
		task_ended(p, t, t->kind == TASK_LIFT, t->refused.text);
	else if (t->kind == TASK_FETCH)
		task_fetch_start(p, t);
	else
		task_job_start(p, t);
}

static char *read_text(int fd)
{
	char *text = xcalloc(PACKAGE_ANSWER_MAX + 1, 1);

	if (pread(fd, text, PACKAGE_ANSWER_MAX, 0) < 0)
		*text = '\0';
	return text;
}

/* Only where nothing else stands against it: then what it says is all there is to do. */
static void refuse_observed(const struct parent *p, struct task *t, const char *package)
{
	const char *would = t->art.path ? "was lifted" : "would be lifted", *file = p->policy.path;

	t->observed = true;
	if (package)
		err_set(&t->refused,
		    "%s; policy says observe: put {name: %s, legacy: optimize} into the packages "
		    "of %s, "
		    "and run `morphctl reload`",
		    would, package, file);
	else
		err_set(&t->refused,
		    "%s; policy says observe: say legacy: optimize in %s, of all programs or in an "
		    "entry "
		    "of modules, and run `morphctl reload`",
		    would, file);
}

/* package: NULL = it is of none. */
static void judge_named(struct parent *p, struct task *t, const char *package)
{
	enum conf_legacy l =
	    t->legacy ? conf_legacy_for(p->conf, t->path, package) : LEGACY_OPTIMIZE;

	if (l == LEGACY_OFF)
		err_set(&t->refused,
		    "has no artifact of its own, and the policy leaves such programs alone "
		    "(legacy: off)");
	else if (l == LEGACY_OBSERVE)
		refuse_observed(p, t, package);
	else if (package && !conf_package_for(p->conf, package))
		err_set(&t->refused, "belongs to the package %s, which the policy does not name",
		    package);
	admitted(p, t);
}

/* dpkg-query: 0 found, 1 nobody has one of the paths, else trouble. */
static void package_known(struct parent *p, struct task *t, int status)
{
	char *text = read_text(t->child.answer), *package = package_parse(text);

	child_forget(&t->child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		err_set(&t->refused, "its package cannot be found out: dpkg-query failed");
		admitted(p, t);
	} else {
		judge_named(p, t, package);
	}
	free(package);
	free(text);
}

static void ask_package(struct parent *p, struct task *t)
{
	struct package_query q = package_query(t->path);
	char *env[] = {"LC_ALL=C", NULL};
	struct launch l = {.argv = q.argv,
	    .env = env,
	    .nfd = 3,
	    .drop = p->for_root.give,
	    .uid = p->for_root.uid,
	    .gid = p->for_root.gid};
	struct err e;

	memcpy(l.fd, ((int[]){-1, -1, -1}), 3 * sizeof *l.fd);
	t->then = package_known;
	if (child_run(&t->child, &l, STDOUT_FILENO, PACKAGE_WAIT_S, &e) < 0) {
		err_set(&t->refused, "its package cannot be found out: %s", e.text);
		admitted(p, t);
	}
	package_query_free(&q);
}

static void judge_package(struct parent *p, struct task *t)
{
	if (*t->refused.text)
		admitted(p, t);
	else if (package_possible(t->path))
		ask_package(p, t);
	else
		judge_named(p, t, NULL);
}

static void compare_content(void *arg, struct worked *w)
{
	struct task *t = arg;

	w->status = content_of_file(t->mod.fd, (uint64_t)t->mod.st.st_size, &w->content);
}

static void content_known(struct parent *p, struct task *t, int status)
{
	struct content noted;
	struct worked w;
	uint64_t size;

	child_worked(&t->child, &w);
	if (w.status)
		err_set(&t->refused, "%s: cannot be read whole", t->path);
	else if (digest_find(p->state, t->path, &t->is, &size, &noted) &&
		 !content_equal(&noted, &w.content))
		digest_changed(t->path, &t->refused);
	judge_package(p, t);
}

/* What its layout was when it was swapped in; the size alone may tell. */
static void judge_content(struct parent *p, struct task *t)
{
	struct content noted;
	uint64_t size;

	if (*t->refused.text || !digest_find(p->state, t->path, &t->is, &size, &noted)) {
		judge_package(p, t);
	} else if (size != (uint64_t)t->mod.st.st_size) {
		digest_changed(t->path, &t->refused);
		judge_package(p, t);
	} else {
		task_work(p, t, compare_content, t, content_known);
	}
}

static void judge_policy(struct parent *p, struct task *t)
{
	if (conf_lets_optimize(p->conf, t->path, &t->refused) &&
	    (uint64_t)t->mod.st.st_size > p->conf->edit.disk)
		err_set(
		    &t->refused, "%s: larger than the policy lets an edit be (edit.disk)", t->path);
	else if (!*t->refused.text)
		trust_may_replace(&t->mod, p->conf->perf_links, &t->refused);
	judge_content(p, t);
}

/* ---- the list of functions that come first ---- */

static void may_be_laid_out(struct parent *p, struct task *t)
{
	if (t->judge || t->kind == TASK_BUILD)
		judge_policy(p, t);
	else
		admitted(p, t);
}

/* Nothing is laid out without the list that it is to have. */
static void refuse_list(struct parent *p, struct task *t, const char *why)
{
	err_set(&t->refused, "order: %s; put it right and run `morphctl reload`", why);
	may_be_laid_out(p, t);
}

static void list_known(struct parent *p, struct task *t, int status)
{
	struct inspect_head h;
	struct err e;
	int r = task_answer(t, &h, &e);

	child_forget(&t->child);
	if (r < 0) {
		err_wrap(&e, "%s", t->order.path);
		refuse_list(p, t, e.text);
		return;
	}
	t->list = h.list;
	may_be_laid_out(p, t);
}

/* Judged as an artifact is: it has a say in where the code of its module lies. */
static void find_list(struct parent *p, struct task *t)
{
	const char *list = conf_order_for(p->conf, t->path);
	struct err e;

	if (!list || (!t->judge && t->kind != TASK_BUILD && t->kind != TASK_SCORE))
		may_be_laid_out(p, t);
	else if (trust_open(list, t->mod.st.st_uid, &t->order, &e) < 0)
		refuse_list(p, t, e.text);
	else
		task_inspect(p, t, INSPECT_LIST, t->order.fd, -1, list_known);
}

/* ---- finding ---- */

static void no_artifact(struct parent *p, struct task *t)
{
	char hex[BUILD_ID_HEX];

	if (!*t->why.text)
		err_set(&t->why,
		    "%s: no artifact for build-id %s (inspected beside it and in the "
		    "folders of artifacts)",
		    t->path, t->is.n ? build_id_hex(&t->is, hex) : "?");
	t->legacy = true;
	if (t->judge || t->kind == TASK_LIFT)
		judge_policy(p, t);
	else if (t->kind == TASK_INSPECT)
		task_inspected(p, t, PRIV_NO_ARTIFACT, t->why.text);
	else
		task_ended(p, t, false, t->why.text);
}

/* The first place is the one that people look at. */
static void note_why(struct task *t, const struct err *e)
{
	if (!*t->why.text)
		t->why = *e;
}

static void try_places(struct parent *p, struct task *t);

static void artifact_known(struct parent *p, struct task *t, int status)
{
	struct inspect_head h;
	struct err e, why;

	if (task_answer(t, &h, &e) < 0) {
		err_set(&why, "%s: %s", t->art.path, e.text);
		note_why(t, &why);
		child_forget(&t->child);
		trust_close(&t->art);
		t->at++;
		try_places(p, t);
		return;
	}
	task_keep_answer(t);
	t->legacy = t->at >= t->lifted_from;
	if (t->kind != TASK_LIFT) {
		find_list(p, t);
	} else if (t->again && t->legacy) {
		trust_close(&t->art);
		no_artifact(p, t);
	} else {
		task_ended(p, t, false, ""); /* another program of its owner is the same build */
	}
}

static void try_places(struct parent *p, struct task *t)
{
	const char *operation = t->kind == TASK_INSPECT ? INSPECT_ARTIFACT : INSPECT_PAIR;
	struct err why;

	for (; t->at < t->place.n; t->at++) {
		if (!is_there(t->place.v[t->at]))
			continue;
		if (trust_open_link(t->place.v[t->at], t->mod.st.st_uid, &t->art, &why) < 0) {
			note_why(t, &why);
			continue;
		}
		task_inspect(p, t, operation, t->art.fd, t->mod.fd, artifact_known);
		return;
	}
	no_artifact(p, t);
}

static void module_known(struct parent *p, struct task *t, int status)
{
	struct inspect_head h;
	struct err e;

	if (task_answer(t, &h, &e) < 0) {
		err_set(&t->why, "%s: %s", t->path, e.text);
		t->mod.st.st_mode = 0;
	} else {
		t->is = h.id;
		t->origin = h.origin;
	}
	child_forget(&t->child);
	if (!t->is.n && t->kind == TASK_INSPECT)
		task_inspected(p, t, PRIV_GONE, t->why.text);
	else if (!t->is.n)
		task_failed(p, t, t->why.text);
	else if (t->kind == TASK_ROLLBACK)
		task_rollback_start(p, t);
	else if (t->kind == TASK_FETCH)
		judge_policy(p, t);
	else if (t->kind != TASK_INSPECT && (!build_id_equal(&t->is, &t->want) ||
						!build_id_equal(&t->origin, &t->want_origin)))
		/* Between the manager's decision and this inspection. */
		task_failed(p, t, "it was replaced by a rebuild or an upgrade");
	else {
		add_own_places(p, t);
		try_places(p, t);
	}
}

/* Root's modules are worked on by a user who can do nothing else. */
int task_find_owner(const struct parent *p, struct task *t, struct err *e)
{
	uid_t uid = t->mod.st.st_uid;
	const struct passwd *pw;

	if (p->user || uid == 0) {
		t->owner = p->for_root;
		return 0;
	}
	/* Their processes are confined and must not get others, of the same user, that are not. */
	if (uid == p->for_root.uid || uid == p->service[0] || uid == p->service[1] ||
	    (p->for_fetch.give && uid == p->for_fetch.uid))
		return err_set(
		    e, "%s: belongs to a user of Morph's own, who has no programs", t->path);
	pw = getpwuid(uid);
	if (!pw)
		return err_set(
		    e, "%s: its owner, uid %u, is no user of this machine", t->path, (unsigned)uid);
	t->owner = (struct folder_user){true, pw->pw_uid, pw->pw_gid};
	return 0;
}

static void not_opened(struct parent *p, struct task *t, const char *why)
{
	if (t->kind == TASK_INSPECT)
		task_inspected(p, t, t->mod.st.st_mode ? PRIV_NO_ARTIFACT : PRIV_GONE, why);
	else if (t->kind == TASK_ROLLBACK)
		task_swapped(p, t, SWAP_REFUSED, why);
	else
		task_ended(p, t, false, why);
}

void task_find_begin(struct parent *p, struct task *t)
{
	struct err e;

	if (trust_open(t->path, (uid_t)-1, &t->mod, &e) < 0 || task_find_owner(p, t, &e) < 0) {
		not_opened(p, t, e.text);
		return;
	}
	add_place(t, xasprintf("%s.morph", t->path));
	add_places(p, t, &t->hint[0]);
	add_places(p, t, &t->hint[1]);
	if (t->shallow && !any_there(p, t))
		no_artifact(p, t);
	else
		task_inspect(p, t, INSPECT_MODULE, t->mod.fd, -1, module_known);
}

uint64_t task_inspect_path(
    struct parent *p, const char *path, const struct build_id hint[2], unsigned how, struct err *e)
{
	struct task *t = task_new(p, TASK_INSPECT, path, e);

	if (!t)
		return 0;
	memcpy(t->hint, hint, sizeof t->hint);
	t->shallow = (how & PRIV_SHALLOW) != 0;
	t->judge = (how & PRIV_JUDGE) != 0;
	task_find_begin(p, t);
	return t->id;
}
