/*
 * What the page may ask the manager: a list of routes of docs/API.md that only read, asked again,
 * in our own words. The manager answers what the person may see who runs this.
 */
#ifndef MORPH_WEB_PROXY_H
#define MORPH_WEB_PROXY_H

#include "common/mem.h"

#include <stdbool.h>

struct proxy_param {
	const char *name, *value;
};

struct proxy_answer {
	long status;
	struct buf body; /* JSON */
};

/*
 * The manager's path with query of a page's "/api/v1/…", to free; NULL: there is no such route, or
 * it knows no such parameter.
 */
char *proxy_path(const char *path, const struct proxy_param *param, size_t n);
/* Asks the manager at a socket; thread safe. What fails is an envelope too, status 502. */
void proxy_ask(const char *socket, const char *path, struct proxy_answer *a);
/* An envelope of an error, as the manager's. */
void proxy_error(struct proxy_answer *a, long status, const char *kind, const char *message);

#endif
