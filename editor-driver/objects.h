/*
 * Assembly text to object file, or the object made from the same text before.
 */
#ifndef MORPH_OBJECTS_H
#define MORPH_OBJECTS_H

#include "common/artifact.h"
#include "editor-driver/cache.h"

struct objects {
	struct cache *cache;
	char *as;             /* path of the assembler */
	struct hash128 tools; /* of this editor and the assembler */
};

int objects_open(struct objects *o, struct cache *cache, struct err *e);
void objects_close(struct objects *o);

/* The key of tu's object with every function in its place: known without
 * printing the text. */
struct hash128 objects_identity_key(const struct objects *o, const struct art_tu *tu);
/* The key of an object made from this text with tu's arguments. */
struct hash128 objects_text_key(
    const struct objects *o, const struct art_tu *tu, const void *text, size_t n);

/* Writes the object to path if it was made before. Thread safe. */
bool objects_cached(const struct objects *o, const struct hash128 *key, const char *path);
/* Assembles text to path and remembers the object. Leaves the text beside it
 * as PATH.s. Thread safe. */
int objects_assemble(const struct objects *o, const struct hash128 *key, const struct art_tu *tu,
    const void *text, size_t n, const char *path, struct err *e);

#endif
