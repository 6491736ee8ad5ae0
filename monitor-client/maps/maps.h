/*
 * Which file is mapped at an address of a process: pid -> executable ranges ->
 * (build-id, file offset). Fed by EV_MAP, EV_FORK, EV_EXEC, EV_EXIT in time
 * order and by /proc: once at the start, for a process that was never
 * announced, and again for every process after side-band records were lost.
 *
 * munmap(2) and mremap(2) are not announced, so a new range overrides what it
 * overlaps. Anonymous memory, memfd, the vdso and files without a build-id
 * have no place, nor have files with a newline in their path; maps_elsewhere() says what is
 * known of these.
 *
 * Whole machine: a path counts only for the file that has it in the monitor's
 * view of the file system. Of processes in the mount and user namespaces of the
 * monitor or of process 1 the kernel's word is taken, since only root changes
 * what is where in these. Of others, and of a path that ends in " (deleted)",
 * the mapped file must be the file of that name (lookup.h), or have been it until
 * it was replaced: a program that was swapped while it runs. All else is outside,
 * and so are samples from before that was seen, when another file may have been
 * mapped there. What is found holds for that one mapping, and its forks: whoever
 * owns a namespace changes it at will.
 * Namespaces come with the side-band, else from /proc; a process in which any
 * thread has left those of the monitor counts as being elsewhere from then on.
 *
 * A user on whose files LOOKUP_MS were not enough MAPS_SLOW times within MAPS_PENALTY
 * has no new ones looked at for as long: a file system that hangs would stop the
 * monitor for all. Once may be a busy machine's doing.
 *
 * Whose a process is /proc says; of one that was gone too soon to be asked its parent, unless what
 * it executed may have changed that: then it is nobody's (MAPS_NOBODY).
 *
 * Build-ids that no record brought (kernel/buildidleak.h: those of most kernels) are read when the
 * first sample needs them; of a process that has ended, from the file that is at the path if it
 * still is the one that was mapped (LOOKUP_PATH), unless its path is to be compared, or it is
 * nobody's. They hold for the inode while it is mapped, and MAPS_GRACE longer: of a file that is
 * written over in that time, instead of replaced, they are the old ones.
 * Memory is bounded: processes by MAPS_PROCS and gone MAPS_GRACE after their end,
 * ranges of one by MAPS_RANGES, all ranges and names of files by MAPS_BYTES. When
 * either room is full the user who has most of it gives way (share.h), with the
 * dead processes first, then those unused for longest: a process is forgotten, or
 * what it has mapped, which then has no place until it calls exec.
 */
#ifndef MORPH_MAPS_H
#define MORPH_MAPS_H

#include "monitor-client/kernel/event.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAPS_PROCS = 65536, MAPS_RANGES = 8192, MAPS_BYTES = 128 << 20 };
#define MAPS_GRACE 30000000000ULL   /* ns */
#define MAPS_PENALTY 60000000000ULL /* ns */
#define MAPS_SLOW 3
#define MAPS_NOBODY UINT32_MAX /* uid of a process that was gone too soon */

struct maps;

struct lookup;

/* proc: "/proc", or a tree like it. lookup: asked for what needs rights; stays
 * the caller's. uid: of processes that cannot be asked. */
struct maps *maps_new(const char *proc, struct lookup *lookup, uint32_t uid, bool whole_machine);
void maps_free(struct maps *m);

/* Reads all processes of /proc. Records older than what was read are ignored
 * afterwards. */
void maps_snapshot(struct maps *m);
/* Reads one process. */
void maps_read(struct maps *m, uint32_t pid);
/* Any event but a sample. */
void maps_event(struct maps *m, const struct event *ev);
/* Side-band was lost until now: every process of which something may be missing is read again
 * before it is next used. */
void maps_suspect(struct maps *m);
/* Of programs that began in this time EV_ARGS were lost: without one, its command line is
 * CMDLINE_CUT. */
void maps_args_lost(struct maps *m, uint64_t from, uint64_t to);
/* Forgets the long dead; now as events' time. */
void maps_sweep(struct maps *m, uint64_t now);

struct place {
	const struct build_id *id;
	const char *path; /* a replaced file's: without " (deleted)" */
	uint64_t offset;  /* in the file */
	uint64_t base; /* address of the file's offset 0, were it mapped like this part, mod 2^64 */
	uint32_t uid;
};

/* Where a user-mode sample fell; false: no file with a build-id. The place's
 * pointers live until the next call of any function above. */
bool maps_find(struct maps *m, const struct event *sample, struct place *out);
/* A sample that fell in no module, for the batch (common/wire/wire.h). */
struct elsewhere {
	enum wire_elsewhere_kind kind;
	uint32_t uid, pid;
	const struct build_id *id; /* NULL or n = 0: none */
	const char *name;
	uint64_t address; /* or offset in the file */
};

/* Where a user-mode sample fell of which maps_find() has just said that it has no place, or not
 * yet; false: nothing is known of its process. What out points to lives as long as a place does. */
bool maps_elsewhere(struct maps *m, const struct event *sample, struct elsewhere *out);
/* Whether an address of the sample's process lies in code of the same build as
 * the place that maps_find() has just found for it; *offset: in the file. */
bool maps_same_code(struct maps *m, const struct event *sample, const struct place *at,
    uint64_t addr, uint64_t *offset);

/* Code that the sample's process has mapped. */
struct maps_code {
	uint64_t start, end;
	bool chosen;
	struct place begin; /* where it lies, of the chosen */
};

/* All of it, ascending, as far as is known without asking anybody; chosen is that of builds that
 * `of` says yes to. At most max into out: 0 where there are more, or none is chosen. */
size_t maps_code(const struct maps *m, const struct event *sample,
    bool (*of)(const struct build_id *id, void *arg), void *arg, struct maps_code *out, size_t max);
/* Looks up the builds of what a process has mapped as code, or had when it ended, though no sample
 * fell there: of *left files at most, which it counts down, half a millisecond each. Not of files
 * whose path is to be compared, nor of nobody's processes. */
void maps_identify(struct maps *m, uint32_t pid, unsigned *left);
/* Which builds, of those that `of` says yes to, a process has mapped as code, or had when it ended:
 * each once, at most max of them into out. Asks nobody: a build-id counts that a record brought,
 * or that was looked up before. */
size_t maps_builds(const struct maps *m, uint32_t pid,
    bool (*of)(const struct build_id *id, void *arg), void *arg, struct build_id *out, size_t max);

/* Calls fn for each process whose end was not seen yet. */
void maps_living(const struct maps *m, void (*fn)(uint32_t pid, void *arg), void *arg);

/* The shape of a process's command line, or CMDLINE_CUT (kernel/cmdline.h); 0: not known. */
uint64_t maps_args(const struct maps *m, uint32_t pid);

struct maps_count {
	size_t procs, ranges, files;
	size_t bytes; /* of ranges and files */
};
struct maps_count maps_count(const struct maps *m);

#endif
