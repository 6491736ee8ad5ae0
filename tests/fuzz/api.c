/*
 * cov >= 570
 * What the API does with a request that HTTP has parsed, behind a real store:
 * one field a line (method, path, content type, who and how: struct asked, then
 * NAME=VALUE of the query up to an empty line) and the body. An answer is what
 * docs/API.md says, and a module of somebody else's is in none.
 */
#include "common/log.h"
#include "common/publish.h"
#include "managerd/api/http.h"
#include "tests/unit/fakemanager.h"

#include <jansson.h>
#include <sys/stat.h>

enum { ANN = 1001, BOB, CAROL };

static struct manager manager;
static char dir[] = "/tmp/morph-fuzz-api-XXXXXX";

/* ---- in place of HTTP ---- */

static http_answer *answer;
static void *answer_arg;

struct http *http_open(
    uv_loop_t *loop, int fd, const char *busy_body, http_answer *fn, void *arg, struct err *e)
{
	answer = fn;
	answer_arg = arg;
	return (struct http *)&answer;
}

void http_wake(struct http *h)
{
}

void http_close(struct http *h)
{
}

/* ---- checks ---- */

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool one_line(const char *s)
{
	return s && *s && !strchr(s, '\n');
}

static void check(const struct http_request *rq, const struct http_reply *rp)
{
	json_t *j = json_loadb(rp->body.p, rp->body.n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *result = json_object_get(j, "result");
	const char *type = json_string_value(json_object_get(j, "type"));

	must(rp->body.n && rp->status >= 200 && rp->status < 600 && rp->status != 500);
	must(rp->status >= 300 || rq->uid == BOB || !rq->uid ||
	     !memmem(rp->body.p, rp->body.n, "secret", 6));
	if (!rp->type) {
		must(json_integer_value(json_object_get(j, "status-code")) == rp->status && type);
		must(!strcmp(type, rp->status == 202  ? "async"
				   : rp->status < 300 ? "sync"
						      : "error"));
		must(rp->status < 300 ||
		     (json_is_string(json_object_get(result, "kind")) &&
			 one_line(json_string_value(json_object_get(result, "message")))));
	}
	must(rp->status >= 300 || !rq->uid || !memmem(rp->body.p, rp->body.n, "0xffffffff81", 12));
	must(rp->status != 405 || one_line(rp->allow));
	must(rp->status != 202 || rq->uid != CAROL || !manager.last_module);
	json_decref(j);
}

/* An answer that is made as it is read, as a whole. */
static void read_all(struct http_reply *rp)
{
	struct buf piece = {0};

	do {
		piece.n = 0;
		must(!rp->more(rp->stream, &piece));
		buf_add(&rp->body, piece.p, piece.n);
	} while (piece.n);
	rp->done(rp->stream);
	buf_free(&piece);
}

/* ---- requests ---- */

static void clean_up(void)
{
	fake_stop(&manager);
	dir_remove(dir, NULL);
}

static void start(void)
{
	log_init("fuzz", LOG_LVL_ERROR - 1);
	must(mkdtemp(dir));
	atexit(clean_up);
	fake_start(&manager, dir, ANN, BOB);
	must(api_open(NULL, &manager, -1, NULL));
}

static void make(struct http_request *rq, char **line, char *end)
{
	static const uid_t uid[] = {0, ANN, BOB, CAROL};
	const char *how;
	char *s;

	rq->method = strsep(line, "\n");
	rq->path = *line ? strsep(line, "\n") : "/v1/status";
	rq->content_type = *line && **line != '\n' ? strsep(line, "\n") : NULL;
	how = *line ? strsep(line, "\n") : "0";
	rq->uid = uid[*how & 3];
	rq->too_large = strchr(how, 'L') != NULL;
	manager.answer = strchr(how, 'C')   ? MANAGER_CONFLICT
			 : strchr(how, 'R') ? MANAGER_REFUSED
					    : MANAGER_OK;
	while (*line && (s = strsep(line, "\n")) && *s) {
		if (rq->nquery == HTTP_MAX_QUERY) {
			rq->query_overflow = true;
			continue;
		}
		rq->query[rq->nquery].name = strsep(&s, "=");
		rq->query[rq->nquery++].value = s ? s : "";
	}
	if (*line)
		buf_add(&rq->body, *line, (size_t)(end - *line));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char *text = memcpy(xcalloc(1, n + 1), p, n), *line = text;
	struct http_request rq = {0};
	struct http_reply rp = {0};

	if (!answer)
		start();
	manager.nchange = manager.last_module = 0;
	fake_change(
	    &manager, CHANGE_REOPTIMIZE, module_id("/home/ann/bin/lua"), ANN, &(uint64_t){0}, NULL);
	make(&rq, &line, text + n);
	if (answer(&rq, &rp, answer_arg) == HTTP_WAIT) {
		must(rq.wait_s > 0 && rq.wait_s <= 60);
		rq.expired = true;
		must(answer(&rq, &rp, answer_arg) == HTTP_REPLY);
	}
	if (rp.more)
		read_all(&rp);
	check(&rq, &rp);
	buf_free(&rp.body);
	buf_free(&rq.body);
	arena_free(&rq.mem);
	free(text);
	return 0;
}
