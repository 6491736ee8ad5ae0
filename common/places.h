/*
 * Where Morph's files lie: by its own variables, by the XDG Base Directory Specification
 * (0.8; only absolute paths count), and beside the program that runs. Strings are the
 * caller's to free.
 */
#ifndef MORPH_PLACES_H
#define MORPH_PLACES_H

#include <stdbool.h>

/* The value of a variable, NULL = it is not set, or empty. */
const char *env_value(const char *name);

enum user_place { PLACE_CONFIG, PLACE_STATE, PLACE_CACHE };
/* The user's own folder for Morph, such as ~/.local/state/morph; NULL: there is no home. */
char *places_user(enum user_place d);
/* The folder of a user's own manager, of its state $MORPH_STATE or as above, and of its
 * sockets: $MORPH_RUN, run in $MORPH_STATE, $XDG_RUNTIME_DIR/morph, run in the state's. */
char *places_state(void);
char *places_run(void);
/* The socket of that name of the user's own manager, or where there is none of the machine's. */
char *places_socket(const char *name);
/* The one of the machine's manager, whether it is there or not. */
char *places_machine_socket(const char *name);
/* Folders to search for artifacts by build-id, separated by ':': $MORPH_ARTIFACTS, else
 * below home (NULL or not absolute: none) and the machine's. */
char *places_artifacts(const char *home);

/* The file at a path relative to the folder of this program, links resolved; NULL with errno:
 * there is none. */
char *places_own(const char *relative);
/* The first executable of a name in PATH that usable() (NULL = any) takes; NULL = none. */
char *places_search(
    const char *name, bool (*usable)(const char *path, const void *arg), const void *arg);
/* The same of those whose names begin so; folders in the order of PATH. */
char *places_search_prefix(
    const char *prefix, bool (*usable)(const char *path, void *arg), void *arg);

#endif
