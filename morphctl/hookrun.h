/*
 * A build under the hooks, from its environment to a summary of what it made.
 */
#ifndef MORPH_MORPHCTL_HOOKRUN_H
#define MORPH_MORPHCTL_HOOKRUN_H

#include <stdbool.h>

/*
 * Sets up this process's environment for a hooked build: PATH begins with the compilers' folder
 * (compilers.h); where artifacts and log go is absolute, also for builds that replace HOME; ccache
 * keeps hooked objects apart. Returns that folder, to free; NULL when the hooks are not there.
 */
char *hookrun_environment(void);

/*
 * Runs the command in that environment and says on standard error, in one to three lines, what
 * got an artifact and what not. store: artifacts go to the store alone. install (or NULL): when
 * it succeeded, those of the programs below that folder follow them (store.h). Within another such
 * run only that one speaks. Returns its exit status (126, 127 as a shell); dies of the signal that
 * it died of.
 */
int hookrun(char **argv, bool store, const char *install);

#endif
