/*
 * What the parts of this room share: header.c (what the file says of itself), records.c (one record
 * after the other), sample.c (what is in one), stacks.c (copied stacks to chains), add.c (samples
 * to the recording).
 */
#ifndef MORPH_REPORT_PERF_FILE_H
#define MORPH_REPORT_PERF_FILE_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* Records that perf adds to the kernel's (tools/lib/perf/include/perf/event.h). */
enum {
	PERF_HEADER_ATTR = 64,
	PERF_HEADER_TRACING_DATA = 66,
	PERF_HEADER_BUILD_ID = 67,
	PERF_AUXTRACE = 71,
	PERF_EVENT_UPDATE = 78,
	PERF_HEADER_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83
};

struct perf_attr { /* one event that was recorded: struct perf_event_attr */
	uint32_t type;
	uint64_t config, period, sample_type, read_format, branch_type;
	uint64_t user_regs; /* those that come with a sample, by bits of asm/perf_regs.h */
	bool freq, id_all;  /* period is a frequency; all records carry sample ids */
	bool inherit;       /* tasks that were forked have counters of their own of the same id */
	const char *name;
	uint32_t event; /* of the recording, RECORDING_NONE before its first sample */
};

struct perf {
	const char *name;
	const uint8_t *p;
	size_t n;
	bool pipe;
	bool build_ids;          /* the kernel was asked for those of what is mapped */
	uint64_t data, data_end; /* where the records are */
	VEC(struct perf_attr) attr;
	struct htab id;     /* of an event on some CPU, u64 -> index of its attr */
	struct htab builds; /* path -> index of its build-id */
	VEC(struct build_id) build_id;
	struct arena mem; /* owns the strings */
};

struct perf_record {
	uint64_t at;  /* in the file, for messages; of compressed ones that of their frame */
	uint64_t seq; /* 1, 2, … */
	uint32_t type;
	uint16_t misc;
	const uint8_t *p; /* its bytes, with the header of 8 */
	size_t n;
};

/* header.c: each reads the like of a file's header, or a record of it. */
int perf_read_header(struct perf *f, struct err *e);
int perf_header_record(struct perf *f, const struct perf_record *rec, struct err *e);
/* After all of the header was seen: names for events without one. */
void perf_name_events(struct perf *f);
/* The build-id of what was mapped by that path, or NULL. */
const struct build_id *perf_build_id(const struct perf *f, const char *path);
/* What an event's periods count. */
const char *perf_unit(const struct perf_attr *a);

/* records.c: calls fn for each record in the order of the file until it does not return 0, and
 * returns that. */
int perf_each_record(struct perf *f,
    int (*fn)(struct perf *, const struct perf_record *, void *, struct err *), void *arg,
    struct err *e);
/* "NAME: offset N: what", for all that is wrong in a record; returns -1. */
int perf_bad(const struct perf *f, uint64_t at, struct err *e, const char *what);

struct perf_sample {
	uint64_t id, ip, time, period;
	bool has_ip, has_tid;
	uint32_t pid, tid;
	const uint8_t *chain;  /* nchain u64 */
	const uint8_t *branch; /* nbranch times u64 from, to, flags */
	const uint8_t *value; /* nvalue counters of value_size bytes each: u64 value, …, and their
				 id at value_id, where that is not 0 */
	size_t nchain, nbranch, nvalue, value_size, value_id;
	const uint8_t
	    *regs; /* u64 each, those of attr's user_regs, of a 64-bit program; else NULL */
	const uint8_t *stack; /* nstack bytes from its stack pointer upwards */
	size_t nstack;
};

/* sample.c. *attr = NULL: an event that the file does not describe. */
int perf_get_sample(const struct perf *f, const struct perf_record *rec, struct perf_attr **attr,
    struct perf_sample *s, struct err *e);
/* Of any other record: the place of its time in the order of all; 0 = from the beginning on. */
uint64_t perf_record_time(const struct perf *f, const struct perf_record *rec);
/* Where its own content ends and the sample ids begin; no less than 8. */
size_t perf_record_end(const struct perf *f, const struct perf_record *rec);
uint64_t perf_sample_time(const struct perf_attr *a, const struct perf_record *rec, uint64_t time);

#endif
