/*
 * Assembly text to object file, or the object made from the same text before.
 */
#ifndef MORPH_OBJECTS_H
#define MORPH_OBJECTS_H

#include "common/artifact/artifact.h"
#include "editor-driver/link/cache.h"

#include <stdatomic.h>

struct objects {
	struct cache *cache;
	char *as;                  /* path of the assembler */
	struct hash128 tools;      /* of this editor and the assembler */
	struct cache_key artifact; /* of all its bytes; for identity keys, by the caller */
	/* Bytes of all texts and objects, at most what one file may have: the size of
	 * an object is not bounded by that of its text (.skip, .rept). */
	uint64_t room;
	atomic_uint_least64_t used;
};

int objects_open(struct objects *o, struct cache *cache, struct err *e);
void objects_close(struct objects *o);

/* The key of an object made from this text with tu's arguments. */
struct cache_key objects_text_key(
    const struct objects *o, const struct art_tu *tu, const void *text, size_t n);

/*
 * The key of tu's object with every function in its place, if this very artifact
 * was edited before: known without printing the text. A hash of the text that the
 * artifact names would not do, since whoever writes one version of an artifact could
 * name there what another version's text hashes to.
 */
bool objects_identity_known(
    const struct objects *o, const struct art_tu *tu, struct cache_key *key);
void objects_identity_learn(
    const struct objects *o, const struct art_tu *tu, const struct cache_key *key);

/* Writes the object to path if it was made before. Thread safe. */
bool objects_cached(const struct objects *o, const struct cache_key *key, const char *path);
/* Assembles text to path and remembers the object by key, when not NULL. Leaves the
 * text beside it as PATH.s. Thread safe. */
int objects_assemble(struct objects *o, const struct cache_key *key, const struct art_tu *tu,
    const void *text, size_t n, const char *path, struct err *e);

#endif
