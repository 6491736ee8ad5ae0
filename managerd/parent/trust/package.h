/*
 * Which Debian package a file belongs to, as dpkg says, and keeping out of the
 * way of a package manager at work. Where dpkg is not installed there are none.
 */
#ifndef MORPH_PARENT_PACKAGE_H
#define MORPH_PARENT_PACKAGE_H

#include "common/err.h"

#include <stdbool.h>

/* Could a package have put the file there (/usr without /usr/local, /opt,
 * /bin, /sbin, /lib…), on a machine that has dpkg? */
bool package_possible(const char *path);

enum { PACKAGE_WAIT_S = 20, PACKAGE_ANSWER_MAX = 64 * 1024 };

/* The command that asks for the owner of a path, NULL-terminated, argv[2] and
 * argv[3] to free; with a merged /usr dpkg may know the file by either place. */
struct package_query {
	const char *argv[5];
};
struct package_query package_query(const char *path);
void package_query_free(struct package_query *q);
/* The first package in its answer: "a, b:amd64: /path". To free; NULL when there
 * is none. */
char *package_parse(const char *answer);

/* dpkg's own lock, for a file that a package may own: PACKAGE_NONE where none is
 * needed, PACKAGE_BUSY and why when a package manager has it. None is needed below a dpkg
 * that has it: a script of a package's, for whose end dpkg waits. */
enum { PACKAGE_NONE = -1, PACKAGE_BUSY = -2 };
int package_lock(const char *path, struct err *e);
void package_unlock(int lock);

#endif
