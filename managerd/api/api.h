/*
 * The API of docs/API.md on RUN/api.sock: routes and JSON over the manager's
 * store and cycle. A request sees what its peer may see; every error answers
 * once and changes nothing.
 */
#ifndef MORPH_MANAGERD_API_H
#define MORPH_MANAGERD_API_H

#include "common/err.h"

#include <uv.h>

struct api;
struct manager;

/* fd: listening socket, taken over (mode 0666 for the system's manager, which
 * tells peers apart; 0600 for a user's own). */
struct api *api_open(uv_loop_t *loop, struct manager *m, int fd, struct err *e);
/* The loop has to run once more before it can be closed. */
void api_close(struct api *a);

#endif
