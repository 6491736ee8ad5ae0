/*
 * HTTP/1.1 over a Unix socket: libmicrohttpd in libuv's loop. Knows requests
 * and replies, nothing of what they are about; managerd/api/api.c gives the
 * answers. One thread; every callback runs in the loop.
 */
#ifndef MORPH_MANAGERD_HTTP_H
#define MORPH_MANAGERD_HTTP_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum {
	HTTP_MAX_BODY = 64 * 1024,
	HTTP_MAX_QUERY = 16, /* parameters of one request */
	HTTP_CONNECTIONS = 64,
	HTTP_PER_USER = 32, /* of them, for each uid but root */
	HTTP_HELD =
	    64 << 20, /* bytes of answers that a user but root has not read yet, for another */
	HTTP_STREAM = 4 << 20, /* … of which an answer that is made as it is read counts so many */
	HTTP_SILENCE_S = 10    /* a connection without a byte for so long is closed */
};

struct http_param {
	const char *name, *value; /* decoded; value "" when there was none */
};

/* One request. Everything in it lives until the reply is under way. */
struct http_request {
	const char *method, *path; /* path: decoded, without the query */
	struct http_param query[HTTP_MAX_QUERY];
	unsigned nquery;
	bool query_overflow;      /* there were more */
	const char *content_type; /* NULL = none given */
	struct buf body;
	bool too_large;   /* the body went over HTTP_MAX_BODY; it was thrown away */
	uid_t uid;        /* of the peer, as the kernel says */
	struct arena mem; /* for whoever answers */
	/*
	 * Waiting: a handler that has no answer yet sets wait_s (once) and
	 * returns HTTP_WAIT; it is asked again at every http_wake() and when the
	 * time is over, then with expired set, and has to answer.
	 */
	double wait_s;
	bool expired;
};

struct http_reply {
	unsigned status;
	const char *type;  /* Content-Type, static */
	const char *allow; /* Allow header, or NULL; lives in the request's arena or is static */
	struct buf body;
	/* An answer that is made as it is read: each call appends the next piece of it to an empty
	 * body; nothing: that was all. -1: it ends unfinished. done: no more calls follow. */
	int (*more)(void *stream, struct buf *body);
	void (*done)(void *stream);
	void *stream;
};

enum http_verdict { HTTP_REPLY, HTTP_WAIT };
typedef enum http_verdict http_answer(struct http_request *rq, struct http_reply *rp, void *arg);

struct http;

/*
 * Serves what comes in at fd, a listening Unix socket (closed by http_close),
 * not blocking. busy_body is what one gets with 503 when there are too many
 * connections, or answers that are not read. On error fd stays the caller's.
 */
struct http *http_open(
    uv_loop_t *loop, int fd, const char *busy_body, http_answer *answer, void *arg, struct err *e);
/* Asks the handlers of all waiting requests again. */
void http_wake(struct http *h);
/* Answers what waits and closes all. The loop has to run
 * once more for the handle to be freed. */
void http_close(struct http *h);

#endif
