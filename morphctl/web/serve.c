#include "morphctl/web/serve.h"
#include "morphctl/web/hookslog.h"
#include "morphctl/web/proxy.h"
#include "morphctl/web/reports.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONNECTIONS = 24, CONNECTION_MEMORY = 32 * 1024, SILENCE_S = 30, PARAMS_MAX = 8 };

struct server {
	struct MHD_Daemon *mhd;
	const struct web_files *files;
	const char *manager;
	struct reports *reports;
	pthread_mutex_t lock; /* of the session */
	struct session *session;
	_Atomic int64_t used_s;
};

static int64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* ---- answers ---- */

static const char *const headers[][2] = {
    {"Content-Security-Policy",
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

/* Takes the body over; more: a header of its own, or NULL. */
static enum MHD_Result reply(struct MHD_Connection *conn, unsigned status, const char *type,
    struct buf *body, const char *more, const char *value)
{
	struct MHD_Response *r =
	    MHD_create_response_from_buffer(body->n, body->p, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result ok;
	size_t i;

	if (!r) {
		buf_free(body);
		return MHD_NO;
	}
	for (i = 0; i < sizeof headers / sizeof *headers; i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	MHD_add_response_header(r, "Content-Type", type);
	if (more)
		MHD_add_response_header(r, more, value);
	ok = MHD_queue_response(conn, status, r);
	MHD_destroy_response(r);
	return ok;
}

static enum MHD_Result refuse(struct MHD_Connection *conn, unsigned status, const char *why)
{
	struct buf b = {0};

	buf_printf(&b, "%s\n", why);
	return reply(conn, status, "text/plain; charset=utf-8", &b,
	    status == MHD_HTTP_METHOD_NOT_ALLOWED ? "Allow" : NULL, "GET");
}

/*
 * A page that leads on to the session's, instead of a redirect: where the link was clicked in
 * another page, a terminal in the browser, a redirect would still count as its request, and the
 * cookie not be sent.
 */
static enum MHD_Result exchange(struct server *s, struct MHD_Connection *conn)
{
	const struct session *x = s->session;
	struct buf b = {0};
	char cookie[160];

	snprintf(cookie, sizeof cookie, "morph=%s; Path=%s/; HttpOnly; SameSite=Strict", x->cookie,
	    x->base);
	buf_printf(&b,
	    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Morph</title>"
	    "<link rel=\"icon\" href=\"data:,\"><meta http-equiv=\"refresh\" "
	    "content=\"0;url=%s/\"><a href=\"%s/\">Morph</a>\n",
	    x->base, x->base);
	return reply(conn, MHD_HTTP_OK, "text/html; charset=utf-8", &b, "Set-Cookie", cookie);
}

/* ---- routes ---- */

struct params {
	struct proxy_param v[PARAMS_MAX];
	size_t n;
	bool bad; /* too many, or one with a NUL in it */
};

static enum MHD_Result add_param(void *arg, enum MHD_ValueKind kind, const char *name,
    size_t name_n, const char *value, size_t value_n)
{
	struct params *p = arg;

	p->bad =
	    p->n == PARAMS_MAX || strlen(name) != name_n || (value && strlen(value) != value_n);
	if (p->bad)
		return MHD_NO;
	p->v[p->n++] = (struct proxy_param){name, value ? value : ""};
	return MHD_YES;
}

static void ask_manager(
    struct server *s, struct MHD_Connection *conn, const char *path, struct proxy_answer *a)
{
	struct params p = {0};
	char *to;

	MHD_get_connection_values_n(conn, MHD_GET_ARGUMENT_KIND, add_param, &p);
	to = p.bad ? NULL : proxy_path(path, p.v, p.n);
	*a = (struct proxy_answer){0};
	if (to)
		proxy_ask(s->manager, to, a);
	else
		proxy_error(a, 404, "not-found", "no such route, or not with these parameters");
	free(to);
}

static int socket_of(struct MHD_Connection *conn)
{
	return MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* Returns whether it is text. */
static bool ask_morphctl(
    struct server *s, struct MHD_Connection *conn, const char *path, struct proxy_answer *a)
{
	struct params p = {0};
	struct report r = {0};
	const char *why = "too many parameters, or a NUL in one";
	long status = 400;
	bool text;

	MHD_get_connection_values_n(conn, MHD_GET_ARGUMENT_KIND, add_param, &p);
	if (p.bad || report_command(&r, path, p.v, p.n, s->manager, &status, &why))
		proxy_error(a, status, status == 404 ? "not-found" : "bad-request", why);
	else
		reports_run(s->reports, &r, socket_of(conn), a);
	text = r.text && a->status == 200;
	report_free(&r);
	return text;
}

static enum MHD_Result serve(struct server *s, struct MHD_Connection *conn, const char *path)
{
	const struct web_file *f = files_get(s->files, path);
	struct proxy_answer a = {.status = 200};
	bool text = false;

	if (f) {
		buf_add(&a.body, f->bytes.p, f->bytes.n);
		return reply(conn, MHD_HTTP_OK, f->type, &a.body, NULL, NULL);
	}
	if (strncmp(path, "/api/", 5) == 0)
		ask_manager(s, conn, path, &a);
	else if (strncmp(path, "/report/", 8) == 0)
		text = ask_morphctl(s, conn, path, &a);
	else if (strcmp(path, "/hooks-log") == 0)
		hookslog_print(&a.body);
	else
		return refuse(conn, MHD_HTTP_NOT_FOUND, "there is no such page");
	return reply(conn, (unsigned)a.status,
	    text ? "text/plain; charset=utf-8" : "application/json", &a.body, NULL, NULL);
}

/* ---- requests ---- */

static const char *header(struct MHD_Connection *conn, const char *name)
{
	return MHD_lookup_connection_value(conn, MHD_HEADER_KIND, name);
}

static enum MHD_Result answer(struct server *s, struct MHD_Connection *conn, const char *path)
{
	struct session_request r = {.path = path,
	    .host = header(conn, "Host"),
	    .origin = header(conn, "Origin"),
	    .site = header(conn, "Sec-Fetch-Site"),
	    .mode = header(conn, "Sec-Fetch-Mode"),
	    .cookie = MHD_lookup_connection_value(conn, MHD_COOKIE_KIND, "morph"),
	    .token = MHD_lookup_connection_value(conn, MHD_GET_ARGUMENT_KIND, "token")};
	const char *rest = NULL, *why = NULL;
	enum session_answer a;

	pthread_mutex_lock(&s->lock);
	a = session_ask(s->session, &r, &rest, &why);
	pthread_mutex_unlock(&s->lock);
	if (a == SESSION_REFUSE)
		return refuse(conn, MHD_HTTP_FORBIDDEN, why);
	s->used_s = now_s();
	return a == SESSION_EXCHANGE ? exchange(s, conn) : serve(s, conn, rest);
}

/* What a request carries beyond its head is not read. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *conn, const char *url,
    const char *method, const char *version, const char *data, size_t *size, void **ctx)
{
	static int begun;

	if (strcmp(method, "GET") != 0)
		return refuse(conn, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET");
	if (*size || header(conn, "Transfer-Encoding") || header(conn, "Content-Length"))
		return refuse(conn, MHD_HTTP_BAD_REQUEST, "a request with a body");
	if (*ctx)
		return answer(arg, conn, url);
	*ctx = &begun;
	return MHD_YES;
}

/* ---- opening and closing ---- */

struct server *server_start(int fd, const struct web_files *files, struct session *session,
    const char *manager, struct err *e)
{
	struct reports *reports = reports_new(e);
	struct server *s;

	if (!reports)
		return NULL;
	s = xcalloc(1, sizeof *s);
	s->reports = reports;
	s->files = files;
	s->session = session;
	s->manager = manager;
	s->used_s = now_s();
	pthread_mutex_init(&s->lock, NULL);
	s->mhd = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION,
	    0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (s->mhd)
		return s;
	err_set(e, "libmicrohttpd does not start");
	reports_free(s->reports);
	free(s);
	return NULL;
}

int64_t server_idle_s(const struct server *s)
{
	return now_s() - s->used_s;
}

void server_stop(struct server *s)
{
	MHD_stop_daemon(s->mhd);
	reports_free(s->reports);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
