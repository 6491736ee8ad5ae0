/*
 * Signatures as minisign(1) makes them: Ed25519 over the BLAKE2b of a file.
 */
#ifndef MORPH_FETCH_MINISIGN_H
#define MORPH_FETCH_MINISIGN_H

#include "common/err.h"

#include <stddef.h>

/* 0: the signature (the text of a .minisig file) of the n bytes at p was made with the public key
 * (the second line of a .pub file); else -1 and why not. */
int minisign_verify(const char *key, const char *signature, const void *p, size_t n, struct err *e);

#endif
