/*
 * The manager's sockets, made by us: it needs no right to its run folder.
 */
#ifndef MORPH_PARENT_SOCKETS_H
#define MORPH_PARENT_SOCKETS_H

#include "common/err.h"

#include <sys/types.h>

/* Listens on a Unix socket at path with this mode and group ((gid_t)-1 = ours),
 * replacing a dead one. A live one (something answers) is an error. */
int socket_listen(const char *path, mode_t mode, gid_t gid, struct err *e);

#endif
