#include "managerd/package.h"
#include "common/err.h"
#include "common/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MAX = 64 * 1024, DRAIN_MS = 500 };

struct package_ask {
	uv_loop_t *loop;
	uv_process_t process;
	uv_pipe_t out;
	uv_timer_t timer; /* the deadline; once it has ended, for what is in the pipe */
	int handles;      /* still open */
	bool ended;
	const char *trouble; /* that it was not asked, or stopped; NULL = none */
	int64_t status;
	int signal;
	char *path;
	const char *next; /* to be asked for when nobody has the path, or NULL */
	struct buf answer;
	char chunk[4096];
	package_fn *fn;
	void *arg;
};

static const char dpkg_query[] = "/usr/bin/dpkg-query";

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool packages_go_there(const char *path)
{
	static const char *const where[] = {"/usr/", "/opt/", "/bin/", "/sbin/", "/lib"};
	size_t i;

	if (starts(path, "/usr/local/"))
		return false;
	for (i = 0; i < sizeof where / sizeof *where; i++)
		if (starts(path, where[i]))
			return true;
	return false;
}

char *package_parse(const char *answer)
{
	const char *line, *end;
	size_t n;

	for (line = answer; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		n = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789+-.");
		if (n && (line[n] == ':' || line[n] == ','))
			return xasprintf("%.*s", (int)n, line);
	}
	return NULL;
}

/* dpkg-query takes patterns. */
static char *literal(const char *path)
{
	struct buf b = {0};

	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			buf_char(&b, '\\');
		buf_char(&b, *path);
	}
	return buf_cstr(&b);
}

bool package_possible(const char *path)
{
	return packages_go_there(path) && !access(dpkg_query, X_OK);
}

static void start(struct package_ask *a, const char *path);

static void conclude(struct package_ask *a)
{
	char *package = a->status ? NULL : package_parse(buf_cstr(&a->answer));
	const char *next = a->next;
	struct err e = {""};

	if (a->trouble)
		err_set(&e, "%s: %s", dpkg_query, a->trouble);
	else if (a->signal)
		err_set(&e, "%s: killed by signal %d", dpkg_query, a->signal);
	else if (a->status > 1)
		err_set(&e, "%s: exit status %d", dpkg_query, (int)a->status);
	a->next = NULL;
	if (!*e.text && !package && next) {
		start(a, next);
	} else {
		a->fn(package, *e.text ? e.text : NULL, a->arg);
		buf_free(&a->answer);
		free(a->path);
		free(a);
	}
	free(package);
}

static void closed(uv_handle_t *h)
{
	struct package_ask *a = h->data;

	if (!--a->handles)
		conclude(a);
}

/* Once the process is gone and the pipe is empty, or late. */
static void finish(struct package_ask *a)
{
	if (!a->ended || uv_is_closing((uv_handle_t *)&a->timer))
		return;
	uv_close((uv_handle_t *)&a->process, closed);
	uv_close((uv_handle_t *)&a->out, closed);
	uv_close((uv_handle_t *)&a->timer, closed);
}

static void stop(struct package_ask *a, const char *why)
{
	if (a->ended || a->trouble)
		return;
	a->trouble = why;
	uv_process_kill(&a->process, SIGKILL);
}

static void on_time(uv_timer_t *t)
{
	stop(t->data, "no answer in time");
	finish(t->data);
}

static void on_ended(uv_process_t *p, int64_t status, int signal)
{
	struct package_ask *a = p->data;

	a->ended = true;
	a->status = status;
	a->signal = signal;
	uv_timer_start(&a->timer, on_time, uv_is_active((uv_handle_t *)&a->out) ? DRAIN_MS : 0, 0);
}

static void give_chunk(uv_handle_t *h, size_t n, uv_buf_t *b)
{
	struct package_ask *a = h->data;

	*b = uv_buf_init(a->chunk, sizeof a->chunk);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct package_ask *a = s->data;

	if (n > 0 && a->answer.n < ANSWER_MAX)
		buf_add(&a->answer, b->base, (size_t)n);
	if (n < 0) {
		uv_read_stop(s);
		finish(a);
	}
}

static int spawn(struct package_ask *a, char *pattern)
{
	char *argv[] = {(char *)dpkg_query, "-S", pattern, NULL}, *env[] = {"LC_ALL=C", NULL};
	uv_stdio_container_t io[] = {{.flags = UV_IGNORE},
	    {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&a->out},
	    {.flags = UV_IGNORE}};
	uv_process_options_t o = {.exit_cb = on_ended,
	    .file = dpkg_query,
	    .args = argv,
	    .env = env,
	    .stdio_count = 3,
	    .stdio = io};

	return uv_spawn(a->loop, &a->process, &o);
}

static void start(struct package_ask *a, const char *path)
{
	char *pattern = literal(path);
	int r;

	a->answer.n = 0;
	a->ended = false;
	uv_timer_init(a->loop, &a->timer);
	uv_pipe_init(a->loop, &a->out, 0);
	a->timer.data = a->out.data = a->process.data = a;
	a->handles = 3;
	r = spawn(a, pattern);
	if (r) {
		a->trouble = uv_strerror(r);
		a->ended = true;
	} else {
		uv_read_start((uv_stream_t *)&a->out, give_chunk, on_read);
	}
	uv_timer_start(&a->timer, on_time, r ? 0 : 1000 * PACKAGE_WAIT_S, 0);
	free(pattern);
}

struct package_ask *package_ask(uv_loop_t *loop, const char *path, package_fn *fn, void *arg)
{
	struct package_ask *a = xcalloc(1, sizeof *a);

	*a = (struct package_ask){.loop = loop, .path = xstrdup(path), .fn = fn, .arg = arg};
	/* With a merged /usr dpkg may know the file by its old place. */
	if (starts(path, "/usr/bin/") || starts(path, "/usr/sbin/") || starts(path, "/usr/lib"))
		a->next = a->path + strlen("/usr");
	start(a, path);
	return a;
}

void package_cancel(struct package_ask *a)
{
	stop(a, "cancelled");
	a->trouble = "cancelled";
}
