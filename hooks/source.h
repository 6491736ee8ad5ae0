/*
 * The sources of objects, for the hooks' log: what a driver compiles and links in one go lies in
 * objects that it names itself (/tmp/cc….o), which are gone when somebody reads of them.
 */
#ifndef MORPH_SOURCE_NAME_H
#define MORPH_SOURCE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Is this an object that the driver itself names, between two steps? */
bool source_is_temporary(const char *path);

/* The name of the source in the first .file of a compiler's text; NULL = there is none. To free. */
char *source_in_text(const char *text, size_t n);
/* The same of an object of n bytes, by its symbol of type FILE. */
char *source_in_object(const void *p, size_t n);

/* Where a source of that name is, which compilers give without folders: here, or as the driver
 * that runs this program was told. Else the name. To free. */
char *source_path(const char *name);

/* What the log calls the object at path, of n bytes; to free. name: of its source, where that is
 * known, else NULL. */
char *source_or_object(const char *path, const char *name, const void *p, size_t n);

#endif
