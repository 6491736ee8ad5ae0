#include "morphctl/web/reports.h"
#include "common/places.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "common/utf8.h"
#include "morphctl/text/complain.h"
#include "morphctl/text/words.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NAMES = 2, MOMENT_MAX = 40, LIMIT = 1000 };

/* ---- the command ---- */

static const struct route {
	const char *path, *verb, *by;
	int least, most; /* of module and function */
} routes[] = {
    {"/report/modules", "report", "module", 0, 0},
    {"/report/functions", "report", "function", 0, 1},
    {"/report/lines", "report", "line", 2, 2},
    {"/report/annotate", "annotate", NULL, 2, 2},
    {"/report/stacks", "export", NULL, 0, 1},
};

struct request {
	const char *name[NAMES], *since, *until;
};

static bool is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	int n;

	for (; *p; p += n) {
		n = *p < 0x80 ? 1 : utf8_length(p);
		if (!n)
			return false;
	}
	return true;
}

static const char *check_moment(struct arena *a, const char *name, const char *value)
{
	if (!value || (strlen(value) <= MOMENT_MAX && words_moment(a, value)))
		return NULL;
	return arena_printf(a, "%s: expected a date, or how long ago: 90min, 2h, 7d", name);
}

/* NULL, or what is wrong. */
static const char *read_request(struct request *q, const struct route *r,
    const struct proxy_param *param, size_t n, struct arena *a)
{
	const char **to, *why;
	size_t i;

	for (i = 0; i < n; i++) {
		to = !strcmp(param[i].name, "module")     ? &q->name[0]
		     : !strcmp(param[i].name, "function") ? &q->name[1]
		     : !strcmp(param[i].name, "since")    ? &q->since
		     : !strcmp(param[i].name, "until")    ? &q->until
							  : NULL;
		if (!to || *to)
			return "a parameter that is not known, or twice";
		if (!*param[i].value || !is_utf8(param[i].value))
			return "a name that is empty, or no UTF-8";
		*to = param[i].value;
	}
	for (i = 0; i < NAMES; i++) {
		if (!q->name[i] && (int)i < r->least)
			return "module and function are needed";
		if (q->name[i] && (int)i >= r->most)
			return "no module or function is known here";
	}
	why = check_moment(a, "since", q->since);
	return why ? why : check_moment(a, "until", q->until);
}

static void put_arguments(
    struct report *r, const struct route *route, const struct request *q, const char *socket)
{
	struct arena *a = &r->mem;
	int n = 0;

	r->argv[n++] = "morphctl";
	r->argv[n++] = route->verb;
	if (!r->text)
		r->argv[n++] = "--json";
	if (route->by) {
		r->argv[n++] = arena_printf(a, "--by=%s", route->by);
		r->argv[n++] = arena_printf(a, "--limit=%d", LIMIT);
	}
	r->argv[n++] = arena_printf(a, "--socket=%s", socket);
	if (q->since)
		r->argv[n++] = arena_printf(a, "--since=%s", q->since);
	if (q->until)
		r->argv[n++] = arena_printf(a, "--until=%s", q->until);
	r->argv[n++] = "--";
	if (r->text)
		r->argv[n++] = "folded";
	if (q->name[0])
		r->argv[n++] = q->name[0];
	if (q->name[1])
		r->argv[n++] = q->name[1];
}

int report_command(struct report *r, const char *path, const struct proxy_param *param, size_t n,
    const char *socket, long *status, const char **why)
{
	const struct route *route = NULL;
	struct request q = {0};
	size_t i;

	*r = (struct report){0};
	for (i = 0; i < sizeof routes / sizeof *routes && !route; i++)
		if (strcmp(routes[i].path, path) == 0)
			route = &routes[i];
	*status = route ? 400 : 404;
	*why = route ? read_request(&q, route, param, n, &r->mem) : "there is no such report";
	if (*why)
		return -1;
	r->text = strcmp(route->verb, "export") == 0;
	put_arguments(r, route, &q, socket);
	return 0;
}

void report_free(struct report *r)
{
	arena_free(&r->mem);
}

/* ---- running ---- */

struct reports {
	char *program;
	int free; /* a semaphore (eventfd): places */
};

struct reports *reports_new(struct err *e)
{
	struct reports *all = xcalloc(1, sizeof *all);

	all->free = eventfd(REPORTS_AT_ONCE, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	all->program = places_own("../../bin/morphctl");
	if (all->free >= 0 && all->program)
		return all;
	err_sys(e, "morphctl");
	reports_free(all);
	return NULL;
}

void reports_free(struct reports *all)
{
	fd_close(&all->free);
	free(all->program);
	free(all);
}

/* Until one of the places is this one's: whether it is. */
static bool take_place(const struct reports *all, int client)
{
	uint64_t one;
	struct pollfd p[2] = {
	    {.fd = all->free, .events = POLLIN}, {.fd = client, .events = POLLRDHUP}};

	while (poll(p, 2, REPORT_S * 1000) > 0 && !p[1].revents)
		if (read(all->free, &one, sizeof one) == sizeof one)
			return true;
	return false;
}

static void leave_place(const struct reports *all)
{
	uint64_t one = 1;

	file_write_all(all->free, &one, sizeof one);
}

static int die_with_server(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* The last line, without the program's name. */
static const char *last_line(struct arena *a, struct buf *said)
{
	char *line;

	while (said->n && said->p[said->n - 1] == '\n')
		said->n--;
	line = strrchr(buf_cstr(said), '\n');
	line = line ? line + 1 : said->p;
	if (strncmp(line, "morphctl: ", 10) == 0)
		line += 10;
	return *line ? words_clean(a, line) : "morphctl failed";
}

static void put_failure(int code, const char *line, struct proxy_answer *a)
{
	switch (code) {
	case EXIT_USAGE:
		return proxy_error(a, 400, "bad-request", line);
	case EXIT_NOT_RUNNING:
		return proxy_error(a, 502, "not-running", line);
	case EXIT_NOT_FOUND:
		return proxy_error(a, 404, "not-found", line);
	default:
		return proxy_error(a, 500, "failed", line);
	}
}

/* JSON of morphctl becomes an envelope's result as it is. */
static void put_result(const struct report *r, struct buf *out, struct proxy_answer *a)
{
	a->status = 200;
	if (!r->text)
		buf_str(&a->body, "{\"type\":\"sync\",\"status-code\":200,\"result\":");
	buf_add(&a->body, out->p, out->n);
	if (!r->text)
		buf_char(&a->body, '}');
}

void reports_run(struct reports *all, const struct report *r, int client, struct proxy_answer *a)
{
	struct buf out = {0}, said = {0};
	struct arena mem = {0};
	const char *argv[sizeof r->argv / sizeof *r->argv];
	struct spawn s = {.argv = argv,
	    .in = -1,
	    .capture_out = &out,
	    .capture_err = &said,
	    .timeout_s = REPORT_S,
	    .client = client,
	    .whole = true,
	    .before = die_with_server};
	struct err e;
	int code;

	*a = (struct proxy_answer){0};
	if (!take_place(all, client)) {
		proxy_error(a, 503, "busy", "too many reports at once");
		return;
	}
	memcpy(argv, r->argv, sizeof argv);
	argv[0] = all->program;
	code = spawn_run(&s, &e);
	leave_place(all);
	if (code < 0)
		proxy_error(a, 504, "stopped", e.text);
	else if (code)
		put_failure(code, last_line(&mem, &said), a);
	else
		put_result(r, &out, a);
	buf_free(&out);
	buf_free(&said);
	arena_free(&mem);
}
