#include "morphctl/report/in/perf/perf.h"
#include "morphctl/report/in/perf/add.h"
#include "morphctl/report/in/perf/stacks.h"
#include "common/le.h"
#include "common/sort.h"

#include <linux/perf_event.h>
#include <string.h>

enum { TYPES = 64 }; /* records of the kernel have lower types */
enum { BPF_DROPPED = 1 << 15 /* misc of LOST_SAMPLES: a filter did */ };

/* What a record says of processes, until all are sorted. */
struct change {
	uint64_t time, seq;
	enum { MAP, FORK, COMM } what;
	uint32_t pid, tid, ppid, ptid;
	bool exec;        /* COMM: it executes a program; FORK: it has none of the mappings */
	const char *comm; /* or path */
	uint64_t start, end, pgoff;
	uint32_t id; /* in ids */
};

struct reader {
	VEC(struct change) change;
	VEC(struct build_id) id; /* the first is none */
	struct htab strings;
	struct tasks tasks;
	struct stacks stacks;
	struct add add;
	uint64_t lost;
};

bool perf_is(const uint8_t *p, size_t n)
{
	return n >= 8 && (!memcmp(p, "PERFILE2", 8) || !memcmp(p, "2ELIFREP", 8) ||
			     !memcmp(p, "PERFFILE", 8));
}

/* ---- what changes processes ---- */

/* The string in a record from an offset on, the same for equal ones; NULL: it does not end. */
static const char *string(
    struct perf *f, struct reader *r, const struct perf_record *rec, size_t at)
{
	size_t end = perf_record_end(f, rec);
	const char *s = (const char *)rec->p + at;
	uint64_t *kept;
	bool fresh;

	if (end <= at || !memchr(s, '\0', end - at))
		return NULL;
	kept = htab_put_str(&r->strings, s, &fresh);
	if (fresh)
		*kept = (uint64_t)(uintptr_t)arena_strdup(&f->mem, s);
	return (const char *)(uintptr_t)*kept;
}

/* Some kernels (6.18) set the flag where somebody else asked for build-ids, and have the device
 * there: then a number of bytes other than that of most build-ids is none. */
static struct build_id mapped_id(const struct perf *f, const struct perf_record *rec)
{
	enum { ID = 40, USUAL = 20 };
	struct build_id id = {.n = rec->p[ID]};

	if (!(rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) || id.n > USUAL ||
	    (!f->build_ids && id.n != USUAL))
		return (struct build_id){0};
	memcpy(id.b, rec->p + ID + 4, id.n);
	return id;
}

/* u32 pid, tid; u64 start, size, offset; of MMAP2: device and inode, or the build-id in their
 * place, u32 protection, flags; path. */
static int map_record(struct perf *f, struct reader *r, const struct perf_record *rec,
    struct change *c, struct err *e)
{
	enum { START = 16, PATH = 40, PATH2 = 72 };
	size_t path = rec->type == PERF_RECORD_MMAP2 ? PATH2 : PATH;
	struct build_id id = {0};
	uint64_t size;

	if (rec->n < path || !(c->comm = string(f, r, rec, path)))
		return perf_bad(f, rec->at, e, "a mapping is cut off");
	c->what = MAP;
	c->start = get_le64(rec->p + START);
	size = get_le64(rec->p + START + 8);
	c->pgoff = get_le64(rec->p + START + 16);
	c->end = size > UINT64_MAX - c->start ? UINT64_MAX : c->start + size;
	if ((rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		c->pid = TASKS_KERNEL;
	if (path == PATH2)
		id = mapped_id(f, rec);
	if (id.n) {
		c->id = (uint32_t)r->id.n;
		vec_push(&r->id, id);
	}
	if (c->end > c->start)
		vec_push(&r->change, *c);
	return 0;
}

/* u32 pid, ppid, tid, ptid; u64 time. */
static int fork_record(struct perf *f, struct reader *r, const struct perf_record *rec,
    struct change *c, struct err *e)
{
	if (rec->n < 32)
		return perf_bad(f, rec->at, e, "a fork is cut off");
	c->what = FORK;
	c->ppid = get_le32(rec->p + 12);
	c->tid = get_le32(rec->p + 16);
	c->ptid = get_le32(rec->p + 20);
	c->exec = rec->misc & PERF_RECORD_MISC_FORK_EXEC;
	vec_push(&r->change, *c);
	return 0;
}

static int comm_record(struct perf *f, struct reader *r, const struct perf_record *rec,
    struct change *c, struct err *e)
{
	if (rec->n < 16 || !(c->comm = string(f, r, rec, 16)))
		return perf_bad(f, rec->at, e, "a name is cut off");
	c->what = COMM;
	c->exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
	vec_push(&r->change, *c);
	return 0;
}

static int lost_record(
    struct perf *f, struct reader *r, const struct perf_record *rec, struct err *e)
{
	size_t at = rec->type == PERF_RECORD_LOST ? 16 : 8;

	if (rec->n < at + 8)
		return perf_bad(f, rec->at, e, "a number of lost samples is cut off");
	if (rec->type == PERF_RECORD_LOST || !(rec->misc & BPF_DROPPED))
		r->lost += get_le64(rec->p + at);
	return 0;
}

static int first_pass(struct perf *f, const struct perf_record *rec, void *arg, struct err *e)
{
	struct reader *r = arg;
	struct change c = {.seq = rec->seq};

	if (rec->type >= TYPES)
		return perf_header_record(f, rec, e);
	if (rec->type == PERF_RECORD_LOST || rec->type == PERF_RECORD_LOST_SAMPLES)
		return lost_record(f, r, rec, e);
	if (rec->type != PERF_RECORD_MMAP && rec->type != PERF_RECORD_MMAP2 &&
	    rec->type != PERF_RECORD_FORK && rec->type != PERF_RECORD_COMM)
		return 0;
	if (rec->n < 16)
		return perf_bad(f, rec->at, e, "a record is too short");
	c.time = perf_record_time(f, rec);
	c.pid = get_le32(rec->p + 8);
	c.tid = get_le32(rec->p + 12);
	if (rec->type == PERF_RECORD_FORK)
		return fork_record(f, r, rec, &c, e);
	if (rec->type == PERF_RECORD_COMM)
		return comm_record(f, r, rec, &c, e);
	return map_record(f, r, rec, &c, e);
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return ORDER(x->time, y->time) ?: ORDER(x->seq, y->seq);
}

static void apply_changes(struct reader *r)
{
	struct tasks *t = &r->tasks;
	struct change *c;
	size_t i;

	vec_sort(&r->change, by_time);
	for (i = 0; i < r->change.n; i++) {
		c = &r->change.v[i];
		if (c->what == FORK)
			tasks_fork(t, c->time, c->pid, c->ppid, c->tid, c->ptid, !c->exec);
		else if (c->what == COMM)
			tasks_comm(t, c->time, c->pid, c->tid, c->comm, c->exec);
		else
			tasks_map(t, c->pid,
			    &(struct mapping){.time = c->time,
				.start = c->start,
				.end = c->end,
				.pgoff = c->pgoff,
				.path = c->comm,
				.id = r->id.v[c->id],
				.file = RECORDING_NONE});
	}
	tasks_index(t);
	vec_free(&r->change);
	vec_free(&r->id);
}

/* ---- samples ---- */

static int second_pass(struct perf *f, const struct perf_record *rec, void *arg, struct err *e)
{
	struct reader *r = arg;
	struct perf_attr *attr;
	struct perf_sample s;

	if (rec->type != PERF_RECORD_SAMPLE)
		return 0;
	if (perf_get_sample(f, rec, &attr, &s, e))
		return -1;
	if (attr)
		add_sample(&r->add, attr, rec->misc, perf_sample_time(attr, rec, s.time), &s);
	else
		r->lost++;
	return 0;
}

static int read_records(
    struct recording *out, struct perf *f, struct reader *r, perf_child_fn *child, struct err *e)
{
	int result;

	vec_push(&r->id, (struct build_id){0});
	if (perf_each_record(f, first_pass, r, e))
		return -1;
	perf_name_events(f);
	apply_changes(r);
	stacks_read(&r->stacks, f, &r->tasks, child);
	add_begin(&r->add, out, f, &r->tasks, &r->stacks);
	result = perf_each_record(f, second_pass, r, e);
	add_end(&r->add);
	out->lost += r->lost;
	return result;
}

static int check_magic(struct perf *f, struct err *e)
{
	if (f->n < 16)
		return perf_bad(f, f->n, e, "the header is cut off");
	if (!memcmp(f->p, "PERFFILE", 8))
		return perf_bad(f, 0, e, "perf.data of version 1, of a Linux before 2.6.39");
	if (memcmp(f->p, "PERFILE2", 8))
		return perf_bad(f, 0, e, "perf.data of a machine with another byte order");
	return 0;
}

int perf_read(struct recording *out, const char *name, const uint8_t *p, size_t n,
    perf_child_fn *child, struct err *e)
{
	struct perf f = {.name = name, .p = p, .n = n};
	struct reader *r = xcalloc(1, sizeof *r);
	int result = -1;

	if (!check_magic(&f, e) && !perf_read_header(&f, e))
		result = read_records(out, &f, r, child, e);
	vec_free(&r->change);
	vec_free(&r->id);
	htab_free(&r->strings);
	tasks_free(&r->tasks);
	stacks_free(&r->stacks);
	free(r);
	vec_free(&f.attr);
	vec_free(&f.build_id);
	htab_free(&f.id);
	htab_free(&f.builds);
	arena_free(&f.mem);
	return result;
}
