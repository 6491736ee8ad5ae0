/*
 * What the processes of the monitor may do, from the least on:
 *
 *   parser  the child that reads one ELF file of a user: no capability, and two
 *           descriptors, the file and a pipe that it may write to. It opens
 *           nothing, sends and receives nothing and handles no signal: taken over
 *           by the file, it can name a wrong build-id for that file.
 *   main    keeps CAP_PERFMON: perf_event_open() is called again for a CPU that
 *           comes online, when registers are switched on or off, and for programs whose
 *           cycles are counted. CAP_NET_ADMIN, with which it was given its socket of exit
 *           records (exits.h), is gone: that socket is read, and has its filter set, without;
 *           whatever else is asked through it the kernel refuses.
 *   reader  (lookup.h) keeps CAP_SYS_PTRACE, since /proc/PID/maps, map_files and
 *           ns of another user's process are behind ptrace_may_access(
 *           PTRACE_MODE_READ) (CAP_PERFMON alone opens maps since Linux 6.15, but
 *           neither of the others), CAP_CHECKPOINT_RESTORE, which map_files asks
 *           for in addition, and CAP_DAC_READ_SEARCH for paths through folders of
 *           mode 0700.
 *
 * CAP_SYS_PTRACE would also allow to trace root. No system call of the reader
 * can: its filter has neither ptrace, process_vm_*, pidfd_* nor exec, opens for
 * reading only, makes no socket and sends no signal but SIGKILL (to its children;
 * the kernel admits processes of its own user). What remains is reading /proc/PID/mem; a
 * filter sees no paths, and Landlock, which does, forbids every access to
 * processes outside its domain. Hence the reader does nothing but open names
 * made of numbers, and paths of mapped files, and parses no byte of a user: to take
 * it over there is only the frame of lookup.h, from main.
 *
 * All: no_new_privs, not dumpable (the memory may hold registers of programs),
 * no capability in the bounding set but theirs (where CAP_SETPCAP allows to drop
 * them; without exec the set is of no use), forbidden calls fail with EPERM.
 * Started as root for the whole machine, main and reader run as the owner of the
 * folder of the manager's socket where that is neither root nor morph but the
 * user of a morphd --user, who gets the samples anyway; else as the user morph-monitor where there
 * is one.
 */
#ifndef MORPH_RIGHTS_H
#define MORPH_RIGHTS_H

#include "common/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct rights_user {
	uid_t uid;
	gid_t gid;
	bool change; /* to them; else this process stays who it is */
};

/* Whom this process becomes, when it is root and whole_machine; socket: the
 * manager's. Call before any filter holds. */
struct rights_user rights_user(bool whole_machine, const char *socket);

/* Each drops what is not listed above, for good. -1: it may run with too much. */
int rights_main(const struct rights_user *u, struct err *e);
int rights_reader(const struct rights_user *u, struct err *e);
/* The two descriptors, both above 2, become 0 and 1; all others are closed. */
int rights_parser(int file, int answer, struct err *e);

#endif
