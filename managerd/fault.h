/*
 * Fault points: with MORPH_FAULT=WHERE:N in the environment the process dies
 * by SIGKILL when it reaches step N of WHERE. Built in always, so that what is
 * tested is what runs.
 */
#ifndef MORPH_MANAGERD_FAULT_H
#define MORPH_MANAGERD_FAULT_H

void fault_point(const char *where, int step);

#endif
