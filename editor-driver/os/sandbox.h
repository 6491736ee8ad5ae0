/*
 * Giving up rights before the first byte of an artifact is read, in two layers,
 * since an artifact decides what as, ar and ld are given to work on, and a parser
 * may be exploitable.
 *
 * This process. seccomp: a list of system calls that it and the tools need, with
 * their arguments where these matter: no network, no namespaces, no modes or times
 * of other files, no file that is set-user-id, no signals but to itself, no session
 * or group of its own, no descriptor that sends signals. All others fail with EPERM,
 * since C libraries and tools probe for what they can do without; clone3 fails
 * with ENOSYS, for its flags cannot be seen. What no program of this kind has ever
 * called (ptrace, bpf, mount, io_uring, …) ends the process: whoever tries it is
 * not one of ours any more, and must not go on to the next hole. The i386 and x32
 * numbers end it as well. Landlock (Linux 5.19 and later): nothing is read but the
 * files and folders that are named and the tools' libraries, nothing is executed
 * but the tools, and writing is for the folders that are named; from Linux 6.10 on
 * no ioctl of devices, from 6.12 on no signal and no abstract socket out of here.
 * Limits, never raised: no core file, sizes, memory, CPU time, processes.
 *
 * The tools (sandbox_narrow): of all that they keep the work folder and their
 * libraries; no process of their own, no signals, no descriptor but 0 to 2; they
 * die with us.
 *
 * A dynamic linker that may be executed, as it must, runs any file that can be
 * read: the list of tools stops accidents, the rest of the sandbox stops intent.
 */
#ifndef MORPH_SANDBOX_H
#define MORPH_SANDBOX_H

#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sandbox {
	/* Files and folders; NULL entries and what does not exist are left out. */
	const char *const *readable;
	size_t nreadable;
	const char *const *writable; /* folders that exist; NULL entries are left out */
	size_t nwritable;
	const char *const *tool; /* programs; NULL entries are left out */
	size_t ntool;
	const char *work;    /* of writable: the tools' as well. NULL: there are none */
	const char *scratch; /* below it empty folders may be removed, or NULL */
	uint64_t file_max;   /* bytes of one file, 0 = 16 GiB */
	bool needed;         /* fail where the kernel has no Landlock (else: a warning) */
};

/* seccomp is not optional: where it cannot be had this fails. */
int sandbox_enter(const struct sandbox *s, struct err *e);

/* The second layer, for struct spawn's before. Without a sandbox nothing happens. */
int sandbox_narrow(void);

/*
 * Whether the artifact's owner may be trusted: root only edits root's artifacts, so that no one
 * else's text is parsed with root's rights.
 */
int sandbox_may_edit(const char *artifact, struct err *e);

#endif
