/*
 * Which Debian package a file belongs to, from dpkg's own list.
 */
#ifndef MORPH_MANAGERD_PACKAGE_H
#define MORPH_MANAGERD_PACKAGE_H

#include "common/err.h"

/*
 * 0 and *package: its name, to free, or NULL when no package has it. -1 when
 * dpkg cannot be asked. Only looks where packages put files (/usr without
 * /usr/local, /opt, /bin, /sbin, /lib…).
 */
int package_of(const char *path, char **package, struct err *e);

/* The first package in the answer of `dpkg-query -S`: "a, b:amd64: /path". To
 * free; NULL when there is none. */
char *package_parse(const char *answer);

#endif
