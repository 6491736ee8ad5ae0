/* Artifacts from servers: morph-fetch gets one as a user of its own. */
#include "managerd/fetch/fetch.h"
#include "common/fetch/fetch.h"
#include "managerd/parent/stages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 16, DAY_MS = 86400000 };

/* ---- what came ---- */

static void not_fetched(struct parent *p, struct task *t, int status)
{
	char text[512] = "";
	struct err e;

	if (!WIFEXITED(status) || WEXITSTATUS(status) != FETCH_FAILED ||
	    pread(t->child.answer, text, sizeof text - 1, 0) <= 0)
		snprintf(text, sizeof text, "morph-fetch was killed, or could not begin");
	child_forget(&t->child);
	err_set(&e, "%s", err_line(text));
	task_ended(p, t, false, e.text);
}

static void fetched(struct parent *p, struct task *t, int status)
{
	static const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	int fd;

	if (status) {
		not_fetched(p, t, status);
	} else if (fcntl(t->child.answer, F_ADD_SEALS, seals) ||
		   lseek(t->child.answer, 0, SEEK_END) > FETCH_MAX) {
		child_forget(&t->child);
		task_ended(p, t, false, "what was fetched is too large, or still being written");
	} else {
		fd = t->child.answer;
		t->child.answer = -1;
		task_keep_artifact(p, t, fd);
	}
}

/* ---- the start ---- */

static bool of_the_day(struct parent *p, struct err *e)
{
	int64_t now = child_now_ms();

	if (!p->fetched.n || now - p->fetched.since_ms >= DAY_MS) {
		p->fetched.since_ms = now;
		p->fetched.n = 0;
	}
	if (p->fetched.n < p->conf->fetch.per_day) {
		p->fetched.n++;
		return true;
	}
	err_set(e, "the tries of 24 hours are used up (fetch.per_day: %" PRIu64 ")",
	    p->conf->fetch.per_day);
	return false;
}

static int run(struct parent *p, struct task *t, struct err *e)
{
	const struct conf *c = p->conf;
	char hex[BUILD_ID_HEX], *env[] = {"LANG=C", NULL};
	VEC(const char *) argv = {0};
	struct launch l = {.env = env,
	    .nfd = 3,
	    .priority = LAUNCH_NICE,
	    .drop = p->for_fetch.give,
	    .uid = p->for_fetch.uid,
	    .gid = p->for_fetch.gid,
	    .memory = FETCH_MEMORY,
	    .file_bytes = FETCH_MAX,
	    .cpu_s = FETCH_S,
	    .processes = PROCESSES};
	size_t i;
	int r;

	vec_push(&argv, p->fetcher);
	vec_push(&argv, build_id_hex(&t->origin, hex));
	vec_push(&argv, c->fetch.key ? c->fetch.key : "");
	for (i = 0; i < c->fetch.servers.n; i++)
		vec_push(&argv, c->fetch.servers.v[i]);
	vec_push(&argv, NULL);
	l.argv = argv.v;
	memcpy(l.fd, ((int[]){-1, -1, -1}), 3 * sizeof *l.fd);
	t->then = fetched;
	r = child_run(&t->child, &l, FETCH_ANSWER, FETCH_S, e);
	vec_free(&argv);
	return r;
}

void task_fetch_start(struct parent *p, struct task *t)
{
	struct err e;

	/* Who owns a program decides about its artifact; root's decision is the policy. */
	if (!p->user && t->mod.st.st_uid)
		task_ended(p, t, false, "only programs of root get artifacts from servers");
	else if (!of_the_day(p, &e) || run(p, t, &e) < 0)
		task_ended(p, t, false, e.text);
}

uint64_t task_fetch(struct parent *p, const char *path, struct err *e)
{
	struct task *t;
	size_t i;

	if (!p->conf->fetch.servers.n) {
		err_set(e, "refused: the policy names no server (fetch.servers)");
		return 0;
	}
	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->kind == TASK_FETCH && task_needed(p, p->task.v[i])) {
			err_set(e, "refused: another artifact is being fetched");
			return 0;
		}
	t = task_new(p, TASK_FETCH, path, e);
	if (!t)
		return 0;
	task_find_begin(p, t);
	return t->id;
}
