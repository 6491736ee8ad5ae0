/*
 * Talks to the manager (docs/API.md) by libcurl. Each call that fails has
 * told the person why, and returns the exit code.
 */
#ifndef MORPH_MORPHCTL_CLIENT_H
#define MORPH_MORPHCTL_CLIENT_H

#include "common/mem.h"
#include "morphctl/text/complain.h"

#include <jansson.h>
#include <stdbool.h>

struct client;

/* Does not connect yet. Never NULL. socket: where the manager listens, NULL = client_socket().
 * What it says comes from mem. */
struct client *client_open(const char *socket, struct arena *mem);
void client_close(struct client *c);

/* Likewise to the other manager (client_other()), which need not answer: errors are not printed. */
struct client *client_open_other(const char *socket, struct arena *mem);

/* GET; *result is a new reference to the envelope's result. */
int client_get(struct client *c, json_t **result, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* GET of a route that answers with text, appended to *text. */
int client_get_text(struct client *c, struct buf *text, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* POST of a JSON object (consumed; NULL = no body). */
int client_post(struct client *c, json_t **result, json_t *body, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * The module a person means: an id, a path, or the file name of exactly one
 * module. *module is a new reference to the API's MODULE.
 */
int client_module(struct client *c, const char *name, json_t **module);

/*
 * Where the manager listens: $MORPH_RUN, $MORPH_STATE, the person's own manager where its socket
 * is there, else the system's. From the arena.
 */
char *client_socket(struct arena *mem);
/* A value as part of a query. From the arena. */
const char *client_escape(struct client *c, const char *value);
/* Where the one of these two listens that is not at socket, or NULL: its socket is not there.
 * *system: it is the system's. */
char *client_other(const char *socket, struct arena *mem, bool *system);

#endif
