/*
 * The policy's notify command: run once when a layout was taken back, as the user of the manager,
 * with --user as the person. Its words come from the manager, and the path from who owns the
 * module: neither is more than an argument, and nobody runs it as root.
 */
#include "common/log.h"
#include "managerd/parent/stages.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTIFY_S = 60, AT_ONCE = 4, A_DAY = 100, DAY_MS = 86400000, TEXT = 256, PROCESSES = 64 };
static const uint64_t SAID_MAX = 1 << 20; /* bytes of a file of its */

static bool is_line(const char *text)
{
	size_t n = strlen(text);

	while (n < TEXT && *text && (unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	return n < TEXT && !*text;
}

/* Who speaks for the manager must not be able to fill anybody's mailbox. */
static int may_notify(struct parent *p, struct err *e)
{
	int64_t now = child_now_ms();
	unsigned running = 0;
	size_t i;

	for (i = 0; i < p->task.n; i++)
		running += p->task.v[i]->kind == TASK_NOTIFY;
	if (running >= AT_ONCE)
		return err_set(e, "refused: %u notify commands run", running);
	if (!p->notified.n || now - p->notified.since_ms >= DAY_MS) {
		p->notified.since_ms = now;
		p->notified.n = 0;
	}
	if (p->notified.n >= A_DAY)
		return err_set(e, "refused: %d notify commands ran within 24 hours", A_DAY);
	p->notified.n++;
	return 0;
}

static void notified(struct parent *p, struct task *t, int status)
{
	char said[512] = "";
	struct err e;

	if (pread(t->child.answer, said, sizeof said - 1, 0) < 0)
		*said = '\0';
	child_forget(&t->child);
	if (!status)
		return;
	err_set(&e,
	    WIFSIGNALED(status) ? "was killed by signal %d%s%s" : "ended with status %d%s%s",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), *said ? ": " : "",
	    err_line(said));
	task_failed(p, t, e.text);
}

static int run(
    struct parent *p, struct task *t, enum priv_event event, const char *text, struct err *e)
{
	static const char *const name[PRIV_EVENTS] = {
	    [PRIV_SLOWER] = "slower", [PRIV_CRASHES] = "crashes"};
	char *plain[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/", NULL};
	const struct replacement of[] = {
	    {"{module}", t->path}, {"{event}", name[event]}, {"{text}", text}, {NULL}};
	char **argv = task_argv(p->conf->notify, of);
	struct launch l = {.argv = (const char *const *)argv,
	    .env = p->user ? environ : plain,
	    .fd = {-1, -1, -1},
	    .nfd = 3,
	    .priority = LAUNCH_NICE,
	    .drop = p->for_notice.give,
	    .uid = p->for_notice.uid,
	    .gid = p->for_notice.gid,
	    .file_bytes = SAID_MAX,
	    .cpu_s = NOTIFY_S,
	    .processes = PROCESSES};
	int r;

	t->then = notified;
	r = child_run(&t->child, &l, STDERR_FILENO, NOTIFY_S, e);
	strings_free(argv);
	return r;
}

int task_notify(
    struct parent *p, const char *path, enum priv_event event, const char *text, struct err *e)
{
	struct task *t;

	if (!p->conf->notify)
		return err_set(e, "refused: the policy has no notify command");
	if (!is_line(text))
		return err_set(e, "refused: not one line of at most %d bytes", TEXT - 1);
	if (may_notify(p, e) || !(t = task_new(p, TASK_NOTIFY, path, e)))
		return -1;
	t->reported = true;
	if (run(p, t, event, text, e) < 0)
		task_failed(p, t, e->text);
	return 0;
}
