/*
 * The page's files, read once at the start: what is served is what is in this list, under its own
 * name, so that no request becomes a path.
 */
#ifndef MORPH_WEB_FILES_H
#define MORPH_WEB_FILES_H

#include "common/err.h"
#include "common/mem.h"

struct web_file {
	char *name; /* "page.css" */
	const char *type;
	struct buf bytes;
};

struct web_files {
	VEC(struct web_file) file;
};

/* Regular files with a known suffix right in a folder; index.html must be there. */
int files_load(struct web_files *f, const char *folder, struct err *e);
/* "/" is index.html; NULL = there is none of this name. */
const struct web_file *files_get(const struct web_files *f, const char *path);
void files_free(struct web_files *f);

#endif
