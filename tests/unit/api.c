#include "common/publish.h"
#include "managerd/api/json.h"
#include "managerd/parent/sockets.h"
#include "tests/unit/fakemanager.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static char dir[64];
static char *sock;
static uv_loop_t loop;
static struct manager manager;
static struct api *api;
static uid_t peer; /* owns all modules but one, and asks unless as_root */

/* As root the test asks as nobody; else as whoever runs it. */
static void setup(void)
{
	struct err e;
	int fd;

	strcpy(dir, "/tmp/morph-api-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0755), 0);
	sock = xasprintf("%s/api.sock", dir);
	peer = geteuid() == 0 ? 65534 : geteuid();
	fake_start(&manager, dir, peer, peer - 1);
	uv_loop_init(&loop);
	fd = socket_listen(sock, 0666, (gid_t)-1, &e);
	ck_assert_int_ge(fd, 0);
	api = api_open(&loop, &manager, fd, &e);
	ck_assert_msg(api, "%s", e.text);
}

static void teardown(void)
{
	if (api)
		api_close(api);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	fake_stop(&manager);
	ck_assert_int_eq(dir_remove(dir, NULL), 0);
	free(sock);
}

static int connect_as(uid_t uid)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), r;
	bool root = geteuid() == 0;

	strcpy(a.sun_path, sock);
	if (root)
		ck_assert_int_eq(seteuid(uid), 0);
	r = connect(fd, (struct sockaddr *)&a, sizeof a);
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_msg(r == 0, "connect: %m");
	return fd;
}

/* Turns the loop until the server has closed or ms went by without a byte. */
static void collect(int fd, struct buf *out, int ms)
{
	char piece[4096];
	int quiet = 0;
	ssize_t n;

	while (quiet < ms) {
		uv_run(&loop, UV_RUN_NOWAIT);
		n = read(fd, piece, sizeof piece);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		if (n > 0) {
			buf_add(out, piece, (size_t)n);
			quiet = 0;
		} else {
			usleep(1000);
			quiet++;
		}
	}
	buf_cstr(out);
}

static void put(int fd, const char *p, size_t n)
{
	ssize_t w;

	while (n > 0) {
		w = send(fd, p, n, MSG_NOSIGNAL);
		if (w < 0 && errno != EAGAIN)
			return;
		if (w > 0)
			p += w, n -= (size_t)w;
		uv_run(&loop, UV_RUN_NOWAIT);
	}
}

/* One exchange of raw bytes; the answer with its head, to free. */
static char *raw_as(uid_t uid, const char *bytes)
{
	struct buf out = {0};
	int fd = connect_as(uid);

	put(fd, bytes, strlen(bytes));
	collect(fd, &out, 2000);
	close(fd);
	uv_run(&loop, UV_RUN_NOWAIT);
	return out.p;
}

static int status_of(const char *answer)
{
	int status = 0;

	sscanf(answer, "HTTP/1.1 %d", &status);
	return status;
}

/* The envelope of "METHOD PATH" with a JSON body; its type and code must be
 * those of the status line. */
static json_t *ask_as(uid_t uid, int want, const char *request, const char *body)
{
	char *text, *answer;
	json_t *j;

	text = xasprintf("%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    request, strlen(body), body);
	answer = raw_as(uid, text);
	ck_assert_msg(status_of(answer) == want, "%s: %s", request, answer);
	ck_assert_ptr_nonnull(strstr(answer, "\r\n\r\n"));
	j = json_loads(strstr(answer, "\r\n\r\n"), 0, NULL);
	ck_assert_msg(j, "%s: %s", request, answer);
	ck_assert_int_eq(json_integer_value(json_object_get(j, "status-code")), want);
	ck_assert_str_eq(json_string_value(json_object_get(j, "type")), want == 202  ? "async"
									: want < 300 ? "sync"
										     : "error");
	free(text);
	free(answer);
	return j;
}

static json_t *result_of(json_t *envelope)
{
	json_t *r = json_incref(json_object_get(envelope, "result"));

	json_decref(envelope);
	return r;
}

static json_t *get(const char *path)
{
	char *request = xasprintf("GET %s", path);
	json_t *r = result_of(ask_as(peer, 200, request, ""));

	free(request);
	return r;
}

static void expect_error(const char *request, const char *body, int status, const char *kind)
{
	json_t *r = result_of(ask_as(peer, status, request, body));
	const char *message = json_string_value(json_object_get(r, "message"));

	ck_assert_str_eq(json_string_value(json_object_get(r, "kind")), kind);
	ck_assert(message && *message && !strchr(message, '\n'));
	json_decref(r);
}

static const char *str(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	ck_assert_msg(s, "no text %s", name);
	return s;
}

static double num(const json_t *o, const char *name)
{
	ck_assert_msg(json_is_number(json_object_get(o, name)), "no number %s", name);
	return json_number_value(json_object_get(o, name));
}

static const char *lua(const char *tail)
{
	static char path[128];

	snprintf(path, sizeof path, "/v1/modules/%016lx%s",
	    (unsigned long)module_id("/home/ann/bin/lua"), tail);
	return path;
}

START_TEST(status_adds_up)
{
	json_t *s = get("/v1/status"), *n = json_object_get(s, "samples");

	ck_assert_str_eq(str(s, "version"), MORPH_VERSION);
	ck_assert_str_eq(str(s, "started"), "2026-01-01T00:00:00Z");
	ck_assert(json_is_null(json_object_get(s, "policy")));
	ck_assert_double_eq(num(n, "taken"), 1000);
	ck_assert_double_eq(num(n, "taken"),
	    num(n, "mapped") + num(n, "outside") + num(n, "stale") + num(n, "dropped"));
	n = json_object_get(s, "registers");
	ck_assert_double_eq(num(n, "wanted"), 2);
	ck_assert_double_eq(num(n, "samples"), 900);
	ck_assert_double_eq(num(n, "unsent"), 50);
	ck_assert_double_eq(num(n, "evaluated"), 890);
	ck_assert_double_eq(num(n, "outcomes"), 1201);
	ck_assert_double_eq(num(n, "callers"), 600);
	ck_assert_str_eq(str(json_object_get(s, "working"), "path"), "/home/ann/bin/lua");
	ck_assert_double_eq(num(json_object_get(s, "working"), "eta_s"), 75);
	ck_assert_str_eq(str(json_object_get(s, "monitor"), "source"), "tick");
	ck_assert_double_eq_tol(num(json_object_get(s, "monitor"), "period_s"), 0.004, 1e-9);
	json_decref(s);
}
END_TEST

START_TEST(modules_are_shown_to_their_owner)
{
	json_t *list = get("/v1/modules"), *m, *one;

	ck_assert_int_eq(json_array_size(list), 2);
	json_decref(list);
	list = get("/v1/modules?path=/home/ann/bin/lua");
	ck_assert_int_eq(json_array_size(list), 1);
	m = json_array_get(list, 0);
	ck_assert_str_eq(str(m, "state"), "laid-out");
	ck_assert_str_eq(str(m, "build_id"), "01020304");
	ck_assert_double_eq(num(m, "mapped_share"), 0.98);
	ck_assert_double_eq(num(json_object_get(m, "predicted"), "gain"), 0.051);
	ck_assert_double_eq(num(json_object_get(m, "predicted"), "low"), 0.044);
	ck_assert_double_eq(num(json_object_get(m, "predicted"), "missed"), 0.011);
	ck_assert_str_eq(str(json_object_get(m, "measured"), "verdict"), "faster");
	ck_assert_double_eq(num(json_object_get(m, "measured"), "low"), 0.029);
	ck_assert_str_eq(str(json_object_get(m, "decision"), "reason"), "low-gain");
	one = get(lua(""));
	ck_assert(json_equal(one, m));
	json_decref(one);
	one = get("/v1/modules/-?path=/home/ann/bin/lua");
	ck_assert(json_equal(one, m));
	json_decref(one);
	json_decref(list);
	expect_error("GET /v1/modules/-?path=/home/bob/bin/secret", "", 404, "not-found");
	expect_error("POST /v1/modules/-/rollback?path=/home/bob/bin/secret", "", 404, "not-found");
	ck_assert_uint_eq(manager.last_module, 0);
}
END_TEST

START_TEST(another_users_module_is_nowhere)
{
	static const char *const path[] = {
	    "/v1/status", "/v1/modules", "/v1/decisions", "/v1/history", "/metrics"};
	char *request, *answer;
	size_t i;

	for (i = 0; i < sizeof path / sizeof *path; i++) {
		request =
		    xasprintf("GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path[i]);
		answer = raw_as(peer, request);
		ck_assert_int_eq(status_of(answer), 200);
		ck_assert_msg(!strstr(answer, "bob"), "%s: %s", path[i], answer);
		free(answer);
		if (geteuid() == 0 && i > 0) {
			answer = raw_as(0, request);
			ck_assert_msg(strstr(answer, "bob"), "%s: %s", path[i], answer);
			free(answer);
		}
		free(request);
	}
}
END_TEST

START_TEST(profile_is_sorted_and_bounded)
{
	json_t *p = get(lua("/profile?blocks=1")), *f, *way;

	ck_assert_double_eq_tol(num(p, "samples"), 500, 1);
	ck_assert_int_eq(json_array_size(json_object_get(p, "functions")), 2);
	f = json_array_get(json_object_get(p, "functions"), 0);
	ck_assert_str_eq(str(f, "name"), "luaV_execute");
	ck_assert_double_eq_tol(num(f, "share"), 0.8, 0.001);
	ck_assert_double_eq(num(f, "blocks_sampled"), 2);
	ck_assert_int_eq(json_array_size(json_object_get(f, "hot")), 1);
	ck_assert_double_eq(num(json_array_get(json_object_get(f, "hot"), 0), "block"), 2);
	ck_assert_double_eq_tol(
	    num(json_array_get(json_object_get(f, "hot"), 0), "outcomes"), 40, 0.1);
	way = json_object_get(json_array_get(json_object_get(f, "hot"), 0), "successors");
	ck_assert_int_eq(json_array_size(way), 2);
	ck_assert_double_eq(num(json_array_get(way, 0), "block"), 3);
	ck_assert_double_eq_tol(num(json_array_get(way, 0), "share"), 0.75, 0.001);
	ck_assert_int_eq(json_array_size(json_object_get(f, "callers")), 0);
	f = json_array_get(json_object_get(p, "functions"), 1);
	ck_assert_str_eq(str(f, "tu"), "l?.c");
	ck_assert_str_eq(str(f, "opaque"), "jump table not understood");
	ck_assert_int_eq(json_array_size(json_object_get(f, "callers")), 1);
	f = json_array_get(json_object_get(f, "callers"), 0);
	ck_assert_str_eq(str(f, "name"), "luaV_execute");
	ck_assert_double_eq(num(f, "block"), 1);
	ck_assert_double_eq(num(f, "share"), 1);
	json_decref(p);
	p = get(lua("/profile?functions=1"));
	ck_assert_int_eq(json_array_size(json_object_get(p, "functions")), 1);
	ck_assert_ptr_null(
	    json_object_get(json_array_get(json_object_get(p, "functions"), 0), "hot"));
	json_decref(p);
}
END_TEST

/* Whoever wrote a program chose its names, and how much there is of it. */
START_TEST(profiles_of_giants_are_bounded)
{
	struct store_module row = {.id = 1, .path = "/p"};
	struct profile p = {0};
	struct profile_func *f;
	uint32_t i, b;
	char *name = xmalloc(100001);
	size_t hot = 0;
	json_t *j, *list;
	char *text;

	memset(name, 'x', 100000);
	name[100000] = '\0';
	for (i = 0; i < 40; i++) {
		struct hash128 k = hash_bytes(&i, sizeof i);

		f = profile_put(&p, &k, name, name, name, 1000);
		for (b = 0; b < 1000; b++)
			profile_add(f, b, 100 - i, (struct decay){1000, 1e9});
		profile_add_edge(f, 5, 6, 2, (struct decay){1000, 1e9});
		for (b = 0; b < 10; b++)
			profile_add_call(f, b, &k, 1, (struct decay){1000, 1e9});
	}
	j = json_profile(&row, &p, 40, (struct decay){1000, 1e9}, 1000, 1000);
	list = json_object_get(j, "functions");
	ck_assert_uint_eq(json_array_size(list), 40);
	for (i = 0; i < 40; i++)
		hot += json_array_size(json_object_get(json_array_get(list, i), "hot"));
	ck_assert_uint_eq(hot, 10000);
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(list, 9), "callers")), 4);
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(list, 9), "hot")), 1000);
	text = json_dumps(j, JSON_COMPACT);
	ck_assert_uint_lt(strlen(text), 4 << 20);
	free(text);
	json_decref(j);
	profile_free(&p);
	free(name);
}
END_TEST

START_TEST(code_is_cells_and_blocks)
{
	json_t *j, *list;

	manager.code = 1;
	j = get(lua("/code?from=4096&to=4224&lines=2&function=0102000000000000000000000000000f"));
	ck_assert_uint_eq(manager.ordered.module, module_id("/home/ann/bin/lua"));
	ck_assert_uint_eq(manager.ordered.query.from, 4096);
	ck_assert_uint_eq(manager.ordered.query.to, 4224);
	ck_assert_uint_eq(manager.ordered.query.cells, 2);
	ck_assert(manager.ordered.query.find);
	ck_assert_uint_eq(manager.ordered.query.key.b[1], 2);
	ck_assert_uint_eq(manager.ordered.query.key.b[15], 15);
	ck_assert_str_eq(str(j, "build_id"), "abcd");
	ck_assert_double_eq(num(j, "within"), 12.5);
	list = json_object_get(json_object_get(j, "cells"), "function");
	ck_assert_int_eq(json_integer_value(json_array_get(list, 0)), 0);
	ck_assert(json_is_null(json_array_get(list, 1)));
	list = json_object_get(j, "functions");
	ck_assert_str_eq(str(json_array_get(list, 0), "tu"), "l?.c");
	ck_assert_double_eq(num(json_array_get(json_object_get(j, "blocks"), 0), "offset"), 0x1010);
	ck_assert_double_eq(num(json_array_get(json_object_get(j, "edges"), 0), "to"), 9);
	json_decref(j);
	json_decref(get(lua("/code")));
	ck_assert_uint_eq(manager.ordered.query.to, 0);
	ck_assert(!manager.ordered.query.find);
	json_decref(get(lua("/code?build=now&from=5")));
	ck_assert_uint_eq(manager.ordered.query.to, UINT32_MAX);
}
END_TEST

static const char *const bad_code[] = {"build=", "build=old", "from=-1", "to=0", "to=4294967296",
    "from=10&to=10", "lines=0", "lines=4097", "function=1", "from=1&from=2",
    "function=0102000000000000000000000000000G"};

START_TEST(code_is_asked_for_rightly)
{
	char *request = xasprintf("GET %s?%s", lua("/code"), bad_code[_i]);

	expect_error(request, "", 400, "bad-request");
	free(request);
}
END_TEST

START_TEST(code_waits_until_it_is_made)
{
	char *ask = xasprintf("GET %s HTTP/1.1\r\nHost: x\r\n\r\n", lua("/code"));
	struct buf out = {0};
	int fd = connect_as(peer);

	put(fd, ask, strlen(ask));
	collect(fd, &out, 100);
	ck_assert_uint_eq(out.n, 0);
	manager.fn(manager.arg, 0);
	collect(fd, &out, 100);
	ck_assert_uint_eq(out.n, 0);
	manager.code = 1;
	manager.fn(manager.arg, 0);
	collect(fd, &out, 300);
	ck_assert_int_eq(status_of(out.p), 200);
	buf_free(&out);
	free(ask);
	close(fd);
}
END_TEST

START_TEST(code_that_is_not_there)
{
	char *request = xasprintf("GET %s", lua("/code?build=original"));

	manager.code = 1;
	expect_error(request, "", 404, "not-found");
	manager.code = -1;
	expect_error(request, "", 500, "internal");
	free(request);
	request = xasprintf("GET /v1/modules/-/code?path=/home/bob/bin/secret");
	expect_error(request, "", 404, "not-found");
	free(request);
}
END_TEST

START_TEST(explain_has_every_rung)
{
	json_t *x = get(lua("/explain")), *ladder = json_object_get(x, "ladder");

	ck_assert_int_eq(json_array_size(ladder), RUNG_COUNT - 1);
	ck_assert_str_eq(str(json_array_get(ladder, 0), "outcome"), "passed");
	ck_assert_str_eq(str(json_array_get(ladder, 4), "name"), "low-gain");
	ck_assert_str_eq(str(json_array_get(ladder, 4), "outcome"), "stopped");
	ck_assert_double_eq(num(json_array_get(ladder, 4), "value"), 1200);
	ck_assert_str_eq(str(json_array_get(ladder, 5), "outcome"), "not reached");
	ck_assert_str_eq(str(json_object_get(x, "order"), "path"), "/etc/lua.order");
	ck_assert_double_eq(num(json_object_get(x, "order"), "missed"), 2);
	json_decref(x);
}
END_TEST

START_TEST(lists_filter_and_bound)
{
	json_t *l = get("/v1/history"), *one;
	char *path;

	ck_assert_int_eq(json_array_size(l), 1);
	ck_assert_str_eq(str(json_array_get(l, 0), "event"), "swapped");
	ck_assert_str_eq(str(json_array_get(l, 0), "change"), "3");
	path = xasprintf(
	    "/v1/history?module=%016lx&limit=1", (unsigned long)module_id("/home/ann/bin/lua"));
	one = get(path);
	ck_assert(json_equal(one, l));
	free(path);
	json_decref(one);
	json_decref(l);
	l = get("/v1/decisions?limit=1000");
	ck_assert_int_eq(json_array_size(l), 1);
	json_decref(l);
	path = xasprintf(
	    "GET /v1/decisions?module=%016lx", (unsigned long)module_id("/home/bob/bin/secret"));
	expect_error(path, "", 404, "not-found");
	free(path);
}
END_TEST

START_TEST(changes_begin_and_conflict)
{
	char *request = xasprintf("POST %s", lua("/reoptimize"));
	json_t *j = ask_as(peer, 202, request, "{\"force\":true}");

	ck_assert_str_eq(str(j, "change"), "1");
	ck_assert(json_is_false(json_object_get(json_object_get(j, "result"), "ready")));
	ck_assert(manager.last_force);
	ck_assert_uint_eq(manager.last_module, module_id("/home/ann/bin/lua"));
	json_decref(j);
	manager.answer = MANAGER_CONFLICT;
	j = ask_as(peer, 409, request, "");
	ck_assert(!manager.last_force);
	ck_assert_str_eq(str(json_object_get(j, "result"), "change"), "1");
	json_decref(j);
	manager.answer = MANAGER_REFUSED;
	expect_error(request, "", 409, "refused");
	manager.answer = MANAGER_INTERNAL;
	expect_error(request, "", 500, "internal");
	manager.answer = MANAGER_OK;
	json_decref(ask_as(peer, 202, "POST /v1/reoptimize", "{}"));
	ck_assert_uint_eq(manager.last_module, 0);
	free(request);
}
END_TEST

START_TEST(a_change_that_waits_says_for_what)
{
	char *request = xasprintf("POST %s", lua("/reoptimize"));
	json_t *j = ask_as(peer, 202, request, ""), *w;

	free(request);
	w = json_object_get(j, "result");
	ck_assert(json_is_null(json_object_get(w, "ahead")));
	ck_assert(json_is_null(json_object_get(w, "working")));
	json_decref(j);
	manager.change[0].status = CHANGE_WAITING;
	j = get("/v1/changes/1");
	ck_assert_double_eq(num(j, "ahead"), 0);
	w = json_object_get(j, "working");
	ck_assert_str_eq(str(w, "step"), "edit");
	ck_assert_double_eq(num(w, "eta_s"), 75);
	json_decref(j);
}
END_TEST

START_TEST(policy_is_read_again_for_its_owner)
{
	json_t *j = ask_as(geteuid(), 200, "POST /v1/reload", "");

	ck_assert(json_is_null(json_object_get(json_object_get(j, "result"), "policy")));
	json_decref(j);
	manager.answer = MANAGER_REFUSED;
	j = ask_as(geteuid(), 409, "POST /v1/reload", "");
	ck_assert_str_eq(str(json_object_get(j, "result"), "message"),
	    "policy.yaml:1:1: the reason is given; the policy stays as it was");
	json_decref(j);
	if (peer != geteuid())
		expect_error("POST /v1/reload", "", 403, "forbidden");
}
END_TEST

START_TEST(waiting_ends_with_the_change)
{
	static const char ask[] = "GET /v1/changes/1?wait=30 HTTP/1.1\r\nHost: x\r\n\r\n";
	struct buf out = {0};
	int fd;

	json_decref(ask_as(peer, 202, "POST /v1/reoptimize", ""));
	fd = connect_as(peer);
	put(fd, ask, strlen(ask));
	collect(fd, &out, 150);
	ck_assert_uint_eq(out.n, 0);
	fake_end_change(&manager, 1, CHANGE_DONE);
	collect(fd, &out, 300);
	ck_assert_int_eq(status_of(out.p), 200);
	ck_assert_ptr_nonnull(strstr(out.p, "\"status\":\"done\""));
	/* The connection goes on. */
	out.n = 0;
	put(fd, ask, strlen(ask));
	collect(fd, &out, 300);
	ck_assert_int_eq(status_of(out.p), 200);
	buf_free(&out);
	close(fd);
}
END_TEST

START_TEST(waiting_ends_with_the_time)
{
	json_t *j;

	json_decref(ask_as(peer, 202, "POST /v1/reoptimize", ""));
	j = get("/v1/changes/1?wait=1");
	ck_assert_str_eq(str(j, "status"), "doing");
	ck_assert(json_is_null(json_object_get(j, "ended")));
	json_decref(j);
}
END_TEST

START_TEST(closing_answers_those_who_wait)
{
	static const char ask[] = "GET /v1/changes/1?wait=60 HTTP/1.1\r\nHost: x\r\n\r\n";
	struct buf out = {0};
	int fd;

	json_decref(ask_as(peer, 202, "POST /v1/reoptimize", ""));
	fd = connect_as(peer);
	put(fd, ask, strlen(ask));
	collect(fd, &out, 50);
	api_close(api);
	api = NULL;
	collect(fd, &out, 200);
	ck_assert_int_eq(status_of(out.p), 200);
	buf_free(&out);
	close(fd);
}
END_TEST

START_TEST(another_users_change_is_hidden)
{
	manager.nchange = 1;
	manager.change[0] =
	    (struct change){.id = 1, .uid = peer - 1, .path = "", .step = "", .text = ""};
	expect_error("GET /v1/changes/1", "", 404, "not-found");
}
END_TEST

static const struct {
	const char *request, *body;
	int status;
	const char *kind;
} bad[] = {
    {"GET /", "", 404, "not-found"},
    {"GET /v1", "", 404, "not-found"},
    {"GET /v1/status/", "", 404, "not-found"},
    {"GET /v1/modules/", "", 404, "not-found"},
    {"GET /v1/modules//profile", "", 404, "not-found"},
    {"GET /v1/modules/../../etc/passwd", "", 404, "not-found"},
    {"GET /v1/modules/0000000000000000", "", 404, "not-found"},
    {"GET /v1/modules/xyz", "", 404, "not-found"},
    {"GET /v1/modules/%00", "", 404, "not-found"},
    {"GET /v1/modules/-", "", 400, "bad-request"},
    {"GET /v1/modules/-?path=relative", "", 400, "bad-request"},
    {"GET /v1/modules/-?path=/nowhere", "", 404, "not-found"},
    {"GET /v1/modules/-/profile?path=/home/ann/bin/lua&blocks=1001", "", 400, "bad-request"},
    {"GET /v1/modules/-/profile?path=/home/ann/bin/lua&functions=0", "", 400, "bad-request"},
    {"GET /v1/modules?limit=0", "", 400, "bad-request"},
    {"GET /v1/modules?limit=1001", "", 400, "bad-request"},
    {"GET /v1/modules?limit=-1", "", 400, "bad-request"},
    {"GET /v1/modules?limit=1x", "", 400, "bad-request"},
    {"GET /v1/modules?limit=99999999999999999999", "", 400, "bad-request"},
    {"GET /v1/modules?limit", "", 400, "bad-request"},
    {"GET /v1/modules?limit=1&limit=2", "", 400, "bad-request"},
    {"GET /v1/status?x=1", "", 400, "bad-request"},
    {"GET /v1/status?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q&r", "", 400, "bad-request"},
    {"GET /v1/files?since=x", "", 400, "bad-request"},
    {"GET /v1/files?since=-1", "", 400, "bad-request"},
    {"GET /v1/files?since=4294967296", "", 400, "bad-request"},
    {"GET /v1/files?since=2026-01-01", "", 400, "bad-request"},
    {"GET /v1/files?since=2026-01-01T00:00:00", "", 400, "bad-request"},
    {"GET /v1/files?since=2026-13-01T00:00:00Z", "", 400, "bad-request"},
    {"GET /v1/files?since=2026-01-01T00:00:00Zx", "", 400, "bad-request"},
    {"GET /v1/files?since=2026-01-01T00:00:00%2B1:00", "", 400, "bad-request"},
    {"GET /v1/files?since=2026-01-01T00:00:00%2B25:00", "", 400, "bad-request"},
    {"GET /v1/files?since=60&until=60", "", 400, "bad-request"},
    {"GET /v1/files?since=60&until=120", "", 400, "bad-request"},
    {"GET /v1/files?file=0000000000000001", "", 400, "bad-request"},
    {"GET /v1/files?limit=10001", "", 400, "bad-request"},
    {"GET /v1/addresses?limit=1", "", 400, "bad-request"},
    {"GET /v1/addresses?file=x", "", 400, "bad-request"},
    {"GET /v1/addresses?file=0000000000000000", "", 400, "bad-request"},
    {"GET /v1/addresses?file=0000000000000001", "", 404, "not-found"},
    {"GET /v1/changes/0", "", 404, "not-found"},
    {"GET /v1/changes/9", "", 404, "not-found"},
    {"GET /v1/changes/-1", "", 404, "not-found"},
    {"GET /v1/changes/1?wait=61", "", 400, "bad-request"},
    {"GET /v1/status", "{}", 400, "bad-request"},
    {"POST /v1/status", "", 405, "bad-method"},
    {"DELETE /v1/modules", "", 405, "bad-method"},
    {"BREW /v1/reoptimize", "", 405, "bad-method"},
    {"GET /v1/reoptimize", "", 405, "bad-method"},
    {"GET /v1/reload", "", 405, "bad-method"},
    {"POST /v1/reload", "{\"force\":true}", 400, "bad-request"},
    {"POST /v1/reoptimize", "{", 400, "bad-request"},
    {"POST /v1/reoptimize", "[]", 400, "bad-request"},
    {"POST /v1/reoptimize", "null", 400, "bad-request"},
    {"POST /v1/reoptimize", "{\"force\":1}", 400, "bad-request"},
    {"POST /v1/reoptimize", "{\"farce\":true}", 400, "bad-request"},
    {"POST /v1/reoptimize", "{\"force\":true,\"force\":false}", 400, "bad-request"},
    {"POST /v1/reoptimize", "{} {}", 400, "bad-request"},
    {"POST /v1/reoptimize", "{\"a\\\n\":1}", 400, "bad-request"},
    {"POST /v1/reoptimize", "{\"force\":\"\xff\"}", 400, "bad-request"},
};

START_TEST(errors_are_one_each_and_change_nothing)
{
	expect_error(bad[_i].request, bad[_i].body, bad[_i].status, bad[_i].kind);
	ck_assert_uint_eq(manager.nchange, 0);
}
END_TEST

START_TEST(a_failing_manager_is_told)
{
	manager.fail = true;
	expect_error("GET /v1/status", "", 500, "internal");
}
END_TEST

START_TEST(a_method_names_those_allowed)
{
	char *answer =
	    raw_as(peer, "DELETE /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

	ck_assert_ptr_nonnull(strstr(answer, "Allow: GET, HEAD\r\n"));
	free(answer);
	answer = raw_as(peer, "HEAD /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	ck_assert_int_eq(status_of(answer), 200);
	ck_assert_ptr_null(strchr(answer, '{'));
	free(answer);
}
END_TEST

START_TEST(bodies_are_bounded)
{
	char *body = xmalloc(70001), *request, *answer;

	memset(body, ' ', 70000);
	body[70000] = '\0';
	expect_error("POST /v1/reoptimize", body, 413, "too-large");
	body[64 * 1024] = '\0';
	memcpy(body, "{}", 2);
	json_decref(ask_as(peer, 202, "POST /v1/reoptimize", body));
	/* Without a length: in one chunk. */
	memset(body, ' ', 70000);
	request = xasprintf("POST /v1/reoptimize HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			    "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
	    70000, body);
	answer = raw_as(peer, request);
	ck_assert_int_eq(status_of(answer), 413);
	free(answer);
	free(request);
	free(body);
	ck_assert_uint_eq(manager.nchange, 1);
	answer = raw_as(peer, "POST /v1/reoptimize HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			      "Content-Type: application/jsonl\r\nContent-Length: 2\r\n\r\n{}");
	ck_assert_int_eq(status_of(answer), 415);
	free(answer);
}
END_TEST

START_TEST(garbage_is_survived)
{
	static const char *const piece[] = {"", "\r\n\r\n", "GET", "GET / HTTP/1.1\r\n",
	    "\x16\x03\x01", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
	    "POST /v1/reoptimize HTTP/1.1\r\nHost: x\r\n"
	    "Content-Length: 100\r\n\r\n{\"force\":",
	    "POST /v1/reoptimize HTTP/1.1\r\nHost: x\r\n"
	    "Content-Length: 18446744073709551617\r\n\r\n",
	    "POST /v1/reoptimize HTTP/1.1\r\nHost: x\r\n"
	    "Content-Length: -5\r\n\r\n",
	    "POST /v1/reoptimize HTTP/1.1\r\nHost: x\r\n"
	    "Transfer-Encoding: chunked\r\n\r\nzz\r\n"};
	size_t i;
	int fd;

	for (i = 0; i < sizeof piece / sizeof *piece; i++) {
		struct buf out = {0};

		fd = connect_as(peer);
		put(fd, piece[i], strlen(piece[i]));
		collect(fd, &out, 20);
		close(fd);
		buf_free(&out);
		json_decref(get("/v1/status"));
	}
	ck_assert_uint_eq(manager.nchange, 0);
}
END_TEST

START_TEST(huge_headers_are_refused)
{
	char *filler = xmalloc(100001), *request, *answer;

	memset(filler, 'a', 100000);
	filler[100000] = '\0';
	request = xasprintf("GET /v1/status HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", filler);
	answer = raw_as(peer, request);
	ck_assert_int_eq(status_of(answer), 431);
	free(answer);
	free(request);
	request = xasprintf("GET /v1/%s HTTP/1.1\r\nHost: x\r\n\r\n", filler);
	answer = raw_as(peer, request);
	ck_assert_int_ge(status_of(answer), 400);
	free(answer);
	free(request);
	free(filler);
	json_decref(get("/v1/status"));
}
END_TEST

/* One user's idle connections leave room for others, and for that user again
 * when they are gone. */
START_TEST(one_user_cannot_take_all_places)
{
	int fd[40], i, busy = 0;
	char *answer;

	for (i = 0; i < 40; i++) {
		struct buf out = {0};

		fd[i] = connect_as(peer);
		uv_run(&loop, UV_RUN_NOWAIT);
		collect(fd[i], &out, 2);
		if (out.n > 0) {
			ck_assert_int_eq(status_of(out.p), 503);
			ck_assert_ptr_nonnull(strstr(out.p, "\"kind\":\"busy\""));
			busy++;
		}
		buf_free(&out);
	}
	if (peer == 65534) {
		ck_assert_int_eq(busy, 40 - 32);
		answer = raw_as(
		    peer - 1, "GET /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
		ck_assert_int_eq(status_of(answer), 200);
		free(answer);
	}
	for (i = 0; i < 40; i++)
		close(fd[i]);
	for (i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	json_decref(get("/v1/status"));
}
END_TEST

/* Who asks for much and reads nothing of it gets no more. */
START_TEST(answers_that_are_not_read_are_bounded)
{
	static const char ask[] = "GET /v1/modules/-/samples?path=/home/ann/bin/lua HTTP/1.1\r\n"
				  "Host: x\r\nConnection: close\r\n\r\n";
	int fd[2], i, k;

	if (peer != 65534)
		return; /* root alone is another user, too */
	manager.giant = 40 << 20;
	for (i = 0; i < 2; i++) {
		fd[i] = connect_as(peer);
		put(fd[i], ask, strlen(ask));
		for (k = 0; k < 10; k++)
			uv_run(&loop, UV_RUN_NOWAIT);
	}
	expect_error("GET /v1/status", "", 503, "busy");
	json_decref(ask_as(peer - 1, 200, "GET /v1/status", ""));
	for (i = 0; i < 2; i++)
		close(fd[i]);
	for (i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	json_decref(get("/v1/status"));
}
END_TEST

START_TEST(a_thousand_connections)
{
	struct rlimit files;
	int fd[1000], i;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	if (files.rlim_cur < 2000 && files.rlim_max >= 2000)
		files.rlim_cur = 2000;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	for (i = 0; i < 1000; i++) {
		fd[i] = connect_as(peer);
		if (i % 2)
			put(fd[i], "GET /v1/st", 10);
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	for (i = 0; i < 1000; i++)
		close(fd[i]);
	for (i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	json_decref(get("/v1/status"));
}
END_TEST

START_TEST(metrics_are_prometheus_text)
{
	char *answer =
		 raw_as(peer, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
	     *line, *save, *body;
	unsigned samples = 0;

	ck_assert_ptr_nonnull(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
	ck_assert_ptr_nonnull(
	    strstr(answer, "morph_build_info{version=\"" MORPH_VERSION "\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(answer, "morph_samples_taken_total 1000\n"));
	ck_assert_ptr_nonnull(strstr(answer, "morph_samples_total{where=\"outside\"} 200\n"));
	ck_assert_ptr_nonnull(strstr(answer, "path=\"/home/ann/bin/lua\"} 0.051\n"));
	ck_assert_ptr_nonnull(strstr(answer, "morph_registers_wanted_builds 2\n"));
	ck_assert_ptr_nonnull(strstr(answer, "morph_register_samples_unsent_total 50\n"));
	ck_assert_ptr_nonnull(strstr(answer, "morph_branch_outcomes_total 1201\n"));
	body = strstr(answer, "\r\n\r\n") + 4;
	for (line = strtok_r(body, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		ck_assert_msg(
		    strncmp(line, "# ", 2) == 0 || strncmp(line, "morph_", 6) == 0, "%s", line);
		samples += line[0] != '#';
	}
	ck_assert_uint_gt(samples, 15);
	free(answer);
}
END_TEST

#define DAY "since=2026-01-01T00:00:00Z&until=2026-01-01T01:00:00%2B00:30"

START_TEST(files_are_shown_to_their_user)
{
	json_t *list = get("/v1/files?" DAY), *f = json_array_get(list, 0);

	ck_assert_uint_eq(json_array_size(list), 3);
	ck_assert_str_eq(str(f, "path"), "/home/ann/bin/lua");
	ck_assert_str_eq(str(f, "kind"), "file");
	ck_assert_str_eq(str(f, "build_id"), "01020304");
	ck_assert_str_eq(str(f, "origin"), "05060708");
	ck_assert_uint_eq(strtoull(str(f, "module"), NULL, 16), module_id("/home/ann/bin/lua"));
	ck_assert_double_eq(num(f, "uid"), peer);
	ck_assert_double_eq(num(f, "samples"), 7);
	ck_assert_double_eq_tol(num(f, "cpu_s"), 0.028, 1e-9);
	ck_assert(json_is_null(json_object_get(f, "pid")));
	f = json_array_get(list, 1);
	ck_assert_str_eq(str(f, "kind"), "kernel");
	ck_assert_double_eq(num(f, "samples"), 5);
	ck_assert(json_is_null(json_object_get(f, "uid")));
	f = json_array_get(list, 2);
	ck_assert_str_eq(str(f, "comm"), "no\033de");
	ck_assert_double_eq(num(f, "pid"), 77);
	ck_assert(json_is_null(json_object_get(f, "path")));
	ck_assert(json_is_null(json_object_get(f, "module")));
	json_decref(list);
	list = get("/v1/files");
	ck_assert_uint_eq(json_array_size(list), 0);
	json_decref(list);
}
END_TEST

/* The body of an answer in chunks, in place of these. */
static void join_chunks(char *answer)
{
	char *from = strstr(answer, "\r\n\r\n") + 4, *to = from;
	size_t n;

	ck_assert_ptr_nonnull(strstr(answer, "Transfer-Encoding: chunked"));
	while ((n = strtoul(from, &from, 16))) {
		memmove(to, from + 2, n);
		to += n;
		from += n + 4;
	}
	*to = '\0';
}

static char *addresses_as(uid_t uid, const char *query)
{
	char *request = xasprintf("GET /v1/addresses?%s%s HTTP/1.1\r\nHost: x\r\n"
				  "Connection: close\r\n\r\n",
	    DAY, query);
	char *answer = raw_as(uid, request);

	ck_assert_int_eq(status_of(answer), 200);
	join_chunks(answer);
	ck_assert_ptr_nonnull(strstr(answer, "range 1767225600 1767226200\n"));
	free(request);
	return answer;
}

START_TEST(addresses_are_shown_to_their_user)
{
	char *answer = addresses_as(peer, "");

	ck_assert_ptr_nonnull(strstr(answer, " file 01020304 05060708 "));
	ck_assert_ptr_nonnull(strstr(answer,
	    " 7 28000000 /home/ann/bin/lua\n= 0x8 20 luaV_execute\n0x10 3\n= 0x1c 20 "
	    "ev?il\n0x20 4\n"));
	/* Who called: not another user's, nor where in the kernel. */
	ck_assert_ptr_nonnull(strstr(answer, "0x20 4\n< "));
	ck_assert_ptr_nonnull(strstr(answer, " 0x15 0x20 2\n^ "));
	ck_assert_ptr_nonnull(strstr(answer, " 0x19 0x15 9\nfile "));
	ck_assert_ptr_null(strstr(answer, " 0x31 "));
	ck_assert_ptr_nonnull(strstr(answer, " 0x17 - 2\n"));
	ck_assert_ptr_nonnull(strstr(answer, " anonymous - - "));
	ck_assert_ptr_nonnull(strstr(answer, " 77 1 4000000 no?de\n0x7f0000001000 1\n"));
	ck_assert_ptr_nonnull(strstr(answer, " kernel - - 0 0 5 20000000 [kernel]\n"));
	ck_assert_ptr_null(strstr(answer, "0xffffffff"));
	ck_assert_ptr_null(strstr(answer, "secret"));
	free(answer);
	if (geteuid())
		return;
	answer = addresses_as(0, "");
	ck_assert_ptr_nonnull(strstr(answer, "[kernel]\n0xffffffff81000000 2\n"));
	ck_assert_ptr_nonnull(strstr(answer, " 0x17 0xffffffff81000000 2\n"));
	ck_assert_ptr_nonnull(strstr(answer, " 0x31 0x20 1\n"));
	ck_assert_ptr_nonnull(strstr(answer, "secret\n0x30 9\n"));
	free(answer);
}
END_TEST

START_TEST(addresses_of_one_file)
{
	json_t *list = get("/v1/files?" DAY);
	char *query = xasprintf("&file=%s", str(json_array_get(list, 2), "id"));
	char *answer = addresses_as(peer, query);

	ck_assert_ptr_nonnull(strstr(answer, "0x7f0000001000 1\n"));
	ck_assert_ptr_null(strstr(answer, "lua"));
	free(answer);
	free(query);
	json_decref(list);
}
END_TEST

/* A process of the peer's ran another user's program. */
START_TEST(code_is_named_to_whose_it_is)
{
	static const struct wire_sample sample[] = {{0x12, 2}, {0x31, 1}};
	struct address_part part = {
	    {.uid = peer, .build = {1, {9}}, .path = "/home/bob/bin/secret", .samples = 3}, sample,
	    2};
	struct store_build b = {.module = module_id("/home/bob/bin/secret"),
	    .id = {1, {9}},
	    .origin = {1, {9}},
	    .map = ""};
	static const struct address_calls none;
	char *answer;
	struct err e;

	ck_assert_int_eq(store_put_build(manager.store, &b, &e), 0);
	ck_assert_int_eq(
	    store_add_addresses(manager.store, FAKE_MS + 30000, 4000000, &part, 1, &none, &e), 0);
	answer = addresses_as(peer, "");
	ck_assert_ptr_nonnull(strstr(answer, "/home/bob/bin/secret\n0x12 2\n0x31 1\n"));
	free(answer);
	if (geteuid())
		return;
	answer = addresses_as(0, "");
	ck_assert_ptr_nonnull(
	    strstr(answer, "/home/bob/bin/secret\n= 0x8 20 luaV_execute\n0x12 2\n0x31 1\n"));
	free(answer);
}
END_TEST

/* More than fits anywhere at once, in several periods, read to the end and given up midway. */
START_TEST(many_addresses_are_a_stream)
{
	enum { MANY = 200000 };
	static struct wire_sample w[MANY];
	struct address_part part = {
	    {.uid = peer, .path = "/home/ann/big", .samples = MANY}, w, MANY};
	char ask[] = "GET /v1/addresses?" DAY " HTTP/1.1\r\nHost: x\r\n\r\n", *answer, *p;
	unsigned lines = 0;
	static const struct address_calls no_calls;
	struct err e;
	int i, fd;

	for (i = 0; i < MANY; i++)
		w[i] = (struct wire_sample){(uint64_t)i * 1000, 1};
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(
		    store_add_addresses(manager.store, FAKE_MS + i, 1, &part, 1, &no_calls, &e), 0);
	answer = addresses_as(peer, "");
	for (p = answer; *p; p++) /* strstr() is slow here */
		lines += p[0] == ' ' && p[1] == '3' && p[2] == '\n';
	ck_assert_uint_eq(lines, MANY + 1);
	ck_assert_ptr_nonnull(strstr(answer, "0xbebbe18 3\n"));
	free(answer);
	fd = connect_as(peer);
	put(fd, ask, strlen(ask));
	for (i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	close(fd);
	for (i = 0; i < 10; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	json_decref(get("/v1/status"));
}
END_TEST

/* Each file's counts are within its sum, whenever a batch comes. */
START_TEST(a_batch_comes_while_addresses_are_read)
{
	enum { MANY = 50000 };
	static struct wire_sample w[MANY];
	const struct wire_sample more = {0x10, 5};
	struct address_part part[] = {
	    {{.uid = peer, .path = "/home/ann/big", .samples = MANY}, w, MANY},
	    {{.uid = peer, .build = {4, {1, 2, 3, 4}}, .path = "/home/ann/bin/lua", .samples = 5},
		&more, 1}};
	char ask[] = "GET /v1/addresses?" DAY " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	static const struct address_calls no_calls;
	struct buf answer = {0};
	struct err e;
	int i, fd;

	for (i = 0; i < MANY; i++)
		w[i] = (struct wire_sample){(uint64_t)i * 1000, 1};
	ck_assert_int_eq(
	    store_add_addresses(manager.store, FAKE_MS, 4000000, part, 1, &no_calls, &e), 0);
	fd = connect_as(peer);
	put(fd, ask, strlen(ask));
	while (read(fd, buf_grow(&answer, 1), 1) != 1) {
		answer.n = 0;
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	ck_assert_int_eq(
	    store_add_addresses(manager.store, FAKE_MS, 4000000, &part[1], 1, &no_calls, &e), 0);
	collect(fd, &answer, 2000);
	close(fd);
	join_chunks(answer.p);
	ck_assert_ptr_nonnull(strstr(answer.p, " 50000 200000000000 /home/ann/big\n"));
	ck_assert_ptr_nonnull(
	    strstr(answer.p, " 12 48000000 /home/ann/bin/lua\n= 0x8 20 luaV_execute\n0x10 8\n"));
	buf_free(&answer);
}
END_TEST

UNIT_MAIN("api", 60, setup, teardown, status_adds_up, modules_are_shown_to_their_owner,
    another_users_module_is_nowhere, profile_is_sorted_and_bounded, profiles_of_giants_are_bounded,
    code_is_cells_and_blocks,
    UNIT_LOOP(code_is_asked_for_rightly, sizeof bad_code / sizeof *bad_code),
    code_waits_until_it_is_made, code_that_is_not_there, explain_has_every_rung,
    lists_filter_and_bound, changes_begin_and_conflict, a_change_that_waits_says_for_what,
    policy_is_read_again_for_its_owner, waiting_ends_with_the_change, waiting_ends_with_the_time,
    closing_answers_those_who_wait, another_users_change_is_hidden,
    UNIT_LOOP(errors_are_one_each_and_change_nothing, sizeof bad / sizeof *bad),
    a_failing_manager_is_told, a_method_names_those_allowed, bodies_are_bounded,
    garbage_is_survived, huge_headers_are_refused, one_user_cannot_take_all_places,
    answers_that_are_not_read_are_bounded, a_thousand_connections, metrics_are_prometheus_text,
    files_are_shown_to_their_user, addresses_are_shown_to_their_user, addresses_of_one_file,
    code_is_named_to_whose_it_is, many_addresses_are_a_stream,
    a_batch_comes_while_addresses_are_read)
