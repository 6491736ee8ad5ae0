/*
 * The page's server: libmicrohttpd, a thread for each connection. Answers GET alone, and with each
 * answer forbids the browser everything except this page's own files.
 */
#ifndef MORPH_WEB_SERVE_H
#define MORPH_WEB_SERVE_H

#include "common/err.h"
#include "morphctl/web/files.h"
#include "morphctl/web/session.h"

#include <stdint.h>

struct server;

/* fd: a listening socket, taken over. files, session and manager (the path of its socket) are used
 * until server_stop(). */
struct server *server_start(int fd, const struct web_files *files, struct session *session,
    const char *manager, struct err *e);
/* Seconds since the last request that was served, or the start. */
int64_t server_idle_s(const struct server *s);
void server_stop(struct server *s);

#endif
