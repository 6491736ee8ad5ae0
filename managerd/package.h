/*
 * Which Debian package a file belongs to, as dpkg says, asked beside the event
 * loop: dpkg reads all of its lists for it, and may wait for a slow disk.
 */
#ifndef MORPH_MANAGERD_PACKAGE_H
#define MORPH_MANAGERD_PACKAGE_H

#include <stdbool.h>
#include <uv.h>

/* Could a package have put the file there (/usr without /usr/local, /opt,
 * /bin, /sbin, /lib…), on a machine that has dpkg? Else there is none. */
bool package_possible(const char *path);

/* The package's name, or NULL when no package has the file. error: why dpkg
 * could not be asked, NULL = it was. Both live until the callback returns. */
typedef void package_fn(const char *package, const char *error, void *arg);

struct package_ask;
/* Asks; fn is called exactly once, from the loop, never from within, after
 * PACKAGE_WAIT_S for each of two places at the latest. */
enum { PACKAGE_WAIT_S = 10 };
struct package_ask *package_ask(uv_loop_t *loop, const char *path, package_fn *fn, void *arg);
/* fn follows soon. */
void package_cancel(struct package_ask *a);

/* The first package in the answer of `dpkg-query -S`: "a, b:amd64: /path". To
 * free; NULL when there is none. */
char *package_parse(const char *answer);

#endif
