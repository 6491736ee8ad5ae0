/*
 * The artifact of a build from a server: GET SERVER/buildid/ID/morph, as debuginfod has it, and
 * with a key its signature at …/morph.minisig (minisign(1)). Nothing here looks into the artifact.
 */
#ifndef MORPH_FETCH_H
#define MORPH_FETCH_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/mem.h"

enum { FETCH_MAX = 512 << 20 };

/* Appends it to out. key: the public key it has to be signed with, the second line of a .pub file;
 * NULL: the server has to be known by TLS instead. 1 = it is there and of that key or server, 0 =
 * this server has none, -1 = no answer, or one that may not be believed. */
int fetch_artifact(
    const char *server, const char *key, const struct build_id *id, struct buf *out, struct err *e);

#endif
