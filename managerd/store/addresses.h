/*
 * Where the time of the whole machine went: samples by file and address, of whatever program, in
 * periods. Raw counts, which do not age. What a batch brought is a row of its own in the batch's
 * transaction, and is added to its periods afterwards, a bit at a time (store_addresses_turn()), so
 * that a batch waits for none of this.
 *
 * Periods begin at multiples of their length, in UTC: ten minutes, which become hours when two
 * hours are over, which become days when two days are.
 *
 * Bounded: ADDRESSES_OF_PERIOD of a file in a period, and so many bytes and days as the policy
 * says. When there is no room the user who has most gives up: of the oldest period first the rarest
 * addresses, and in the end all. Whose address is given up stays in the sum of its file.
 *
 * Some samples say who called, too: an instruction of another file, or of the same. These calls are
 * kept and given up with the addresses of the file that was called, CALLS_OF_PERIOD of them.
 */
#ifndef MORPH_MANAGERD_ADDRESSES_H
#define MORPH_MANAGERD_ADDRESSES_H

#include "common/wire/wire.h"
#include "managerd/store/store.h"

enum { ADDRESSES_OF_PERIOD = 1 << 16, CALLS_OF_PERIOD = 1 << 16 };

enum address_kind {        /* as the API names them */
	ADDRESS_FILE,      /* offsets in a file; without a build-id, none is known */
	ADDRESS_KERNEL,    /* addresses; the build-id is its boot_id */
	ADDRESS_ANONYMOUS, /* addresses in a process */
	ADDRESS_VDSO,      /* offsets in the kernel's code for user mode */
	ADDRESS_FOREIGN,   /* offsets in a file that may be another one than that of its path */
	ADDRESS_UNKNOWN,   /* no addresses: samples in user mode of which nothing is known */
	ADDRESS_DROPPED,   /* likewise: that were lost on the way */
	ADDRESS_KINDS
};
const char *address_kind_name(enum address_kind k);
/* Whether its sums are of all users together, for all to see. */
bool address_kind_is_total(enum address_kind k);

struct address_file {
	uint64_t id;       /* of all that follows up to path; address_file_id() */
	int kind;          /* enum address_kind */
	uint32_t uid, pid; /* of the processes; pid: of ADDRESS_ANONYMOUS, else 0 */
	struct build_id build;
	const char *path; /* or name; a hint */
	uint64_t samples;
	/* When it is read: */
	uint64_t ns;            /* CPU time that the samples represent */
	uint64_t module;        /* that has this build, 0 = none … */
	uint32_t owner;         /* … and who owns it */
	struct build_id origin; /* of the build, n = 0: not known */
};
/* Nobody constructs one that is another user's. */
uint64_t address_file_id(const struct address_file *f);

/* What a batch says of one file. samples of the file: of all, those without address too. */
struct address_part {
	struct address_file file; /* its id is filled in */
	const struct wire_sample *sample;
	uint32_t nsample;
};
/* So many of its samples at an address were called from a site: a byte of the instruction that
 * called; or, waiting, the address is such a site of so many samples in what it called. */
struct address_call {
	uint32_t callee, caller; /* indices of the batch's parts */
	bool waiting;
	uint64_t address, site, count;
};
struct address_calls {
	VEC(struct address_call) v;
};
/* Adds a batch; within its transaction. A sample is period_ns of CPU time. calls: by callee. */
int store_add_addresses(struct store *s, int64_t at_ms, uint64_t period_ns,
    struct address_part *part, size_t n, const struct address_calls *calls, struct err *e);

struct address_policy {
	uint64_t days;  /* kept; 0 = nothing */
	uint64_t bytes; /* of all, about */
};
/* Whether there is something to do; cheap. */
bool store_addresses_due(struct store *s, const struct address_policy *p, int64_t now_ms);
/* Does a bit of it, some milliseconds; within a transaction. 1 there is more to do, 0, -1. */
int store_addresses_turn(
    struct store *s, const struct address_policy *p, int64_t now_ms, struct err *e);

/* Periods that have a part in [since, until), in seconds. */
struct address_range {
	int64_t since_s, until_s;
};
/* The range as periods there are, empty where there are none. */
int store_addresses_covered(
    struct store *s, const struct address_range *r, struct address_range *out, struct err *e);
/* Files with samples in the range, most CPU time first, of which id, samples and ns are filled in.
 * id: only this one, 0 = all. */
int store_address_sums(struct store *s, const struct address_range *r, uint64_t id, struct arena *a,
    struct address_file **out, size_t *n, struct err *e);
/* Fills in what it is. uid: for this user, who sees their own and sums of all; -1 = for any. 1, 0
 * it is not there or may not be seen, -1. */
int store_address_file(
    struct store *s, struct address_file *f, int64_t uid, struct arena *a, struct err *e);

/* The ids of what is known by a kind, build-id and path: one for each user whose processes it ran
 * in. */
int store_address_ids(struct store *s, enum address_kind kind, const struct build_id *build,
    const char *path, struct arena *a, uint64_t **id, size_t *n, struct err *e);

/* Counts by address of one file, ascending, as they are now. */
struct address_reader;
struct address_reader *store_addresses(
    struct store *s, const struct address_range *r, uint64_t file, struct err *e);
/* Sums of what it reads, as of store_address_sums(). */
void address_reader_sums(const struct address_reader *r, uint64_t *samples, uint64_t *ns);
bool address_reader_next(struct address_reader *r, uint64_t *address, uint64_t *count);
/* And who called it, ascending. */
struct address_caller {
	uint64_t file, site, address, count; /* the file that called; the address is in this one */
	bool waiting;
};
bool address_reader_caller(struct address_reader *r, struct address_caller *out);
void address_reader_free(struct address_reader *r);

#endif
