/*
 * Who may ask. Every user of a machine can connect to a port on 127.0.0.1, and every page in the
 * person's browser can make it send requests there. So:
 *
 *	token    128 random bits in the printed link, good for one visit, which sets
 *	cookie   128 more, HttpOnly and SameSite=Strict. Cookies know no ports: a server of
 *	         another user on another port would be sent it, if it were not for
 *	base     the folder that all is below, 64 more bits, which is the cookie's path
 *	host     the Host header must be 127.0.0.1:PORT: a name that somebody has pointed to
 *	         127.0.0.1 meanwhile (DNS rebinding) is another one
 *	origin   requests that another page makes are refused by Origin and Sec-Fetch-Site
 *
 * Behind a Unix socket (the session is open) its mode says who may connect, so that there are no
 *token, cookie and base, and Host is the proxy's affair; Origin must be of that host. Pure, but for
 * session_new(). Not thread safe: the caller locks.
 */
#ifndef MORPH_WEB_SESSION_H
#define MORPH_WEB_SESSION_H

#include "common/err.h"

#include <stdbool.h>

enum { SESSION_HEX = 33 };

struct session {
	bool open;
	char token[SESSION_HEX]; /* "" = used */
	char cookie[SESSION_HEX];
	char base[SESSION_HEX + 1]; /* "/0123456789abcdef", or "" */
	char host[32];              /* "127.0.0.1:8080" */
};

/* What of a request counts here; NULL = it is not there. */
struct session_request {
	const char *path, *host, *origin, *site, *mode, *cookie, *token;
};

enum session_answer {
	SESSION_SERVE,    /* *rest is the path below base, "/…" */
	SESSION_EXCHANGE, /* the token was good, and is no more: set the cookie, go to base */
	SESSION_REFUSE    /* *why */
};

void session_new(struct session *s, unsigned port);
enum session_answer session_ask(
    struct session *s, const struct session_request *r, const char **rest, const char **why);

#endif
