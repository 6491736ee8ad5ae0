/*
 * Looking at processes in /proc: the CPU time of a job's session, and what an
 * earlier manager's jobs left running.
 */
#ifndef MORPH_PARENT_PROCS_H
#define MORPH_PARENT_PROCS_H

#include <stdbool.h>
#include <sys/types.h>

/* CPU seconds of all processes of a session, with those of the children they
 * have waited for. */
double procs_session_cpu(pid_t session);

/* Threads of a user's processes, which are what RLIMIT_NPROC counts; of those that the
 * caller sees in /proc. */
unsigned procs_of_user(uid_t uid);

/* Kills (SIGKILL) every process whose environment has NAME=value where value
 * begins with prefix, and waits up to 2 s for the end of each. Returns how many there
 * were. Call it as their user, in a process of its own: nobody else may look without
 * CAP_SYS_PTRACE, and who reads an environment waits for whatever its user mapped there. */
unsigned procs_kill_marked(const char *name, const char *prefix);

#endif
