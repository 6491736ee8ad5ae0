/*
 * A file from a server, by a process without rights: it is nobody where we are root, reads the
 * files alone that name resolution and TLS take, connects to the port of the URL alone, starts
 * nothing, and its memory, time and what it may write are bounded.
 */
#ifndef MORPH_FETCH_DOWNLOAD_H
#define MORPH_FETCH_DOWNLOAD_H

#include "common/err.h"
#include "common/mem.h"

#include <stddef.h>

/* Appends the body. 1 = it is there, 0 = the server has none (404), -1 = another answer, or none.
 * Redirections are not followed; https is verified. */
int download(const char *url, size_t max, struct buf *out, struct err *e);

#endif
