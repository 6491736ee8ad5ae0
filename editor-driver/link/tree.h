/*
 * The inputs of a link laid out under one folder, at their absolute paths.
 */
#ifndef MORPH_TREE_H
#define MORPH_TREE_H

#include "common/artifact/artifact.h"

struct tree {
	char *root;
	const char *sysroot; /* below it, "" = the root itself */
	size_t n;
	char **path; /* of each input, below root; NULL for members of archives */
};

/*
 * Lays all inputs of a out under root, which must not exist. object[tu] is the object file of the
 * TU. Archives are rebuilt from their members with the ar at path ar. A path that leads out of root
 * is refused, and so is content that is a linker script which might (common/command/ldscript.h).
 * Free the tree in both cases; the files stay.
 */
int tree_make(struct artifact *a, const char *root, const char *sysroot, char *const *object,
    const char *ar, struct tree *t, struct err *e);
/* Makes the folders along an absolute path below root, those that ".." leaves
 * again included, so that a tool may walk it. Returns the plain path, to free. */
char *tree_folder(const char *root, const char *path, struct err *e);
void tree_free(struct tree *t);

#endif
