/*
 * Fault points: with MORPH_FAULT=WHERE:N in the environment the process dies
 * by SIGKILL when it reaches step N of WHERE. Built in always, so that what is
 * tested is what runs.
 */
#ifndef MORPH_PARENT_FAULT_H
#define MORPH_PARENT_FAULT_H

#include <sys/types.h>

void fault_point(const char *where, int step);
/* Of a process that works for another, which is to die first. */
void fault_parent(pid_t parent);

#endif
