#include "morphctl/report/in/perf/add.h"
#include "common/le.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE = 1 << 14, RANGE_MAX = 1 << 20 /* bytes: longer ones are mistakes of the hardware */ };
enum { DEFERRED = -640 }; /* PERF_CONTEXT_USER_DEFERRED: a number follows, no address */
enum { MISPREDICTED = 1, WRONG_PATH = 1, SPECULATION_SHIFT = 24, SPECULATION = 3 };

/* Where an address leads to in an epoch, after the last mapping of it. */
struct place {
	uint64_t addr;
	uint32_t epoch, mode, location;
	bool in_kernel, used;
};

void add_begin(struct add *a, struct recording *r, const struct perf *f, const struct tasks *t,
    struct stacks *stacks)
{
	a->r = r;
	a->f = f;
	a->tasks = t;
	a->stacks = stacks;
	a->counted = (struct htab){0};
	a->cache = xcalloc(CACHE, sizeof *a->cache);
}

void add_end(struct add *a)
{
	free(a->cache);
	htab_free(&a->counted);
}

/* ---- addresses ---- */

static uint32_t anonymous(struct add *a, const char *path, uint64_t addr)
{
	uint32_t file = recording_file(a->r, RECORDING_ANON, path, NULL, a->pid);

	return recording_location(a->r, file, addr);
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Memory that no file can be read for; in a memfd only a build-id shows that there is one. */
static bool is_anonymous(const struct mapping *m)
{
	return !m->path[0] || begins(m->path, "//anon") || begins(m->path, "/dev/zero") ||
	       begins(m->path, "/anon_hugepage") || begins(m->path, "[heap]") ||
	       begins(m->path, "[stack") || begins(m->path, "/SYSV") ||
	       (begins(m->path, "/memfd:") && !m->id.n);
}

/* "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz" is "[ext4]". Names of modules have no '-'. */
static const char *module_name(const char *path, char *name, size_t n)
{
	const char *base = strrchr(path, '/');
	size_t i, length;

	if (!base)
		return begins(path, "[kernel.kallsyms]") ? "[kernel]" : path;
	length = strcspn(++base, ".");
	if (length > n - 3)
		length = n - 3;
	name[0] = '[';
	for (i = 0; i < length; i++)
		name[i + 1] = base[i] == '-' ? '_' : base[i];
	strcpy(name + 1 + length, "]");
	return name;
}

static uint32_t kernel_file(struct add *a, struct mapping *m)
{
	enum { NAME = 256 };
	const char *path = "[kernel]";
	const struct build_id *id = perf_build_id(a->f, "[kernel.kallsyms]");
	char name[NAME];

	if (m && strcmp(path = module_name(m->path, name, sizeof name), "[kernel]") != 0)
		id = perf_build_id(a->f, m->path);
	if (m && m->id.n)
		id = &m->id;
	return recording_file(a->r, RECORDING_KERNEL, path, id, 0);
}

static uint32_t kernel_location(struct add *a, uint64_t addr)
{
	struct mapping *m =
	    tasks_find(a->tasks, tasks_epoch(a->tasks, TASKS_KERNEL, a->time), a->time, addr, true);

	if (!m)
		return recording_location(a->r, kernel_file(a, NULL), addr);
	if (m->file == RECORDING_NONE)
		m->file = kernel_file(a, m);
	return recording_location(a->r, m->file, addr);
}

static uint32_t user_location(struct add *a, uint64_t addr)
{
	struct mapping *m = tasks_find(a->tasks, a->epoch, a->time, addr, a->in_kernel);

	if (!m)
		return anonymous(a, "[unknown]", addr);
	if (is_anonymous(m))
		return anonymous(a, m->path[0] ? m->path : "//anon", addr);
	if (m->file == RECORDING_NONE)
		m->file = recording_file(a->r, RECORDING_ELF, m->path,
		    m->id.n ? &m->id : perf_build_id(a->f, m->path), 0);
	return recording_location(a->r, m->file, addr - m->start + m->pgoff);
}

static uint32_t look_up(struct add *a, unsigned mode, uint64_t addr)
{
	uint32_t file;

	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		return kernel_location(a, addr);
	case PERF_RECORD_MISC_USER:
		return user_location(a, addr);
	case PERF_RECORD_MISC_GUEST_USER:
		return anonymous(a, "[guest]", addr);
	default:
		file = recording_file(a->r, RECORDING_KERNEL,
		    mode == PERF_RECORD_MISC_GUEST_KERNEL ? "[guest.kernel]" : "[hypervisor]", NULL,
		    0);
		return recording_location(a->r, file, addr);
	}
}

/* The upper half of the addresses is the kernel's. */
static unsigned mode_of(uint64_t addr)
{
	return addr >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static uint32_t locate(struct add *a, unsigned mode, uint64_t addr)
{
	uint32_t epoch = mode == PERF_RECORD_MISC_KERNEL
			     ? tasks_epoch(a->tasks, TASKS_KERNEL, a->time)
			     : a->epoch;
	struct place *p = &a->cache[(addr * 0x9e3779b97f4a7c15ULL >> 50) ^ (epoch & (CACHE - 1))];

	if (epoch == UINT32_MAX || a->time < a->tasks->epoch.v[epoch].last)
		return look_up(a, mode, addr);
	if (!p->used || p->addr != addr || p->epoch != epoch || p->mode != mode ||
	    p->in_kernel != a->in_kernel)
		*p = (struct place){addr, epoch, mode, look_up(a, mode, addr), a->in_kernel, true};
	return p->location;
}

/* ---- stacks ---- */

/* The mode that a marker in a call chain says, 0: an unknown one. */
static unsigned context(uint64_t marker)
{
	switch ((int64_t)marker) {
	case (int64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (int64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (int64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case (int64_t)PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case (int64_t)PERF_CONTEXT_GUEST:
	case (int64_t)PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default:
		return 0;
	}
}

/* Locations of a chain, innermost first. The first address after a marker is where it was
 * interrupted, the others are return addresses. None, where a marker is unknown: the chain is of a
 * stack without frame pointers, and rubbish. short_user: up to the first one of the user alone. */
static size_t get_chain(struct add *a, const struct perf_sample *s, unsigned mode, bool short_user)
{
	bool exact = true;
	size_t i, n = 0;
	uint64_t addr;

	for (i = 0; i < s->nchain && n < ADD_CHAIN_MAX; i++) {
		addr = get_le64(s->chain + 8 * i);
		if (addr >= (uint64_t)PERF_CONTEXT_MAX) {
			if (addr != (uint64_t)DEFERRED && !(mode = context(addr)))
				return 0;
			exact = true;
			i += addr == (uint64_t)DEFERRED;
			continue;
		}
		a->chain[n++] = locate(a, mode, exact || !addr ? addr : addr - 1);
		exact = false;
		if (short_user && mode == PERF_RECORD_MISC_USER)
			break;
	}
	return n;
}

static bool in_kernel(const struct add *a, uint32_t location)
{
	return a->r->file.v[a->r->location.v[location].file].kind == RECORDING_KERNEL;
}

/* After a chain that reaches the user, the callers that the processor kept (--call-graph lbr): the
 * calls themselves. */
static size_t get_callers(struct add *a, const struct perf_sample *s, size_t n)
{
	uint64_t from;
	size_t i;

	if (!n || in_kernel(a, a->chain[n - 1]))
		return n;
	for (i = 0; i < s->nbranch && n < ADD_CHAIN_MAX; i++) {
		from = get_le64(s->branch + 24 * i);
		if (from)
			a->chain[n++] = locate(a, PERF_RECORD_MISC_USER, from);
	}
	return n;
}

/* After the kernel's part of a chain, what was copied of the program's stack. */
static size_t get_copied(struct add *a, size_t n)
{
	const struct stacks_frame *f = stacks_next(a->stacks);

	if (n && !in_kernel(a, a->chain[n - 1]))
		return n;
	for (; f && n < ADD_CHAIN_MAX; f = stacks_caller(a->stacks, f))
		a->chain[n++] = locate(a, PERF_RECORD_MISC_USER, f->addr);
	return n;
}

static uint32_t get_stack(
    struct add *a, const struct perf_attr *attr, const struct perf_sample *s, uint16_t misc)
{
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK ?: mode_of(s->ip);
	bool callers = s->nbranch && attr->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	uint32_t stack = RECORDING_NONE;
	size_t n = get_chain(a, s, mode, callers);

	if (stacks_copied(s))
		n = get_copied(a, n);
	if (!n && s->has_ip)
		a->chain[n++] = locate(a, mode, s->ip);
	if (callers)
		n = get_callers(a, s, n);
	while (n--)
		stack = recording_stack(a->r, stack, a->chain[n]);
	return stack;
}

/* ---- branches ---- */

static uint32_t branch_end(struct add *a, uint64_t addr)
{
	return addr ? locate(a, mode_of(addr), addr) : RECORDING_NONE;
}

static void add_range(struct add *a, uint64_t from, uint64_t to)
{
	uint32_t x, y;

	if (!from || from > to || to - from > RANGE_MAX)
		return;
	x = branch_end(a, from);
	y = branch_end(a, to);
	if (a->r->location.v[x].file == a->r->location.v[y].file)
		recording_range(a->r, x, y, 1);
}

/* The newest is the first. Code between two of them ran straight where all branches are recorded:
 * not where only calls are, and not where they are the callers of the moment. */
static void add_branches(struct add *a, const struct perf_attr *attr, const struct perf_sample *s)
{
	bool all = attr->branch_type & PERF_SAMPLE_BRANCH_ANY;
	uint64_t from, to, flags, next = 0;
	size_t i;

	if (attr->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return;
	for (i = 0; i < s->nbranch; i++) {
		from = get_le64(s->branch + 24 * i);
		to = get_le64(s->branch + 24 * i + 8);
		flags = get_le64(s->branch + 24 * i + 16);
		if ((!from && !to) || (flags >> SPECULATION_SHIFT & SPECULATION) == WRONG_PATH)
			continue;
		recording_branch(
		    a->r, branch_end(a, from), branch_end(a, to), 1, flags & MISPREDICTED);
		if (all && next)
			add_range(a, to, next);
		next = from;
	}
}

/* ---- samples ---- */

static void add_one(
    struct add *a, struct perf_attr *attr, uint32_t stack, const struct perf_sample *s)
{
	struct recording_sample out = {.task = RECORDING_NONE,
	    .stack = stack,
	    .time_ns = s->time,
	    .n = 1,
	    .period = s->period};

	if (attr->event == RECORDING_NONE)
		attr->event = recording_event(a->r, attr->name, perf_unit(attr));
	out.event = attr->event;
	if (s->has_tid)
		out.task =
		    recording_task(a->r, s->pid, s->tid, tasks_name(a->tasks, s->tid, a->time));
	recording_sample(a->r, &out);
}

/* Samples of counters that are read, of a group's members with its leader: each has counted so much
 * since it was last read. */
static void add_values(
    struct add *a, struct perf_attr *attr, uint32_t stack, const struct perf_sample *s)
{
	struct perf_sample one = *s;
	struct perf_attr *of;
	const uint8_t *p;
	uint64_t *last, *index, key[2];
	size_t i;

	for (i = 0; i < s->nvalue; i++) {
		p = s->value + i * s->value_size;
		key[0] = s->value_id ? get_le64(p + s->value_id) : s->id;
		index = htab_get(&a->f->id, &(uint64_t){htole64(key[0])}, 8);
		of = index ? &a->f->attr.v[*index] : attr;
		key[1] = of->inherit ? s->tid : 0;
		last = htab_put(&a->counted, key, sizeof key, NULL);
		one.period = get_le64(p) - *last;
		*last = get_le64(p);
		if (one.period)
			add_one(a, of, stack, &one);
	}
}

void add_sample(struct add *a, struct perf_attr *attr, uint16_t misc, uint64_t time,
    const struct perf_sample *s)
{
	uint32_t stack;

	a->pid = s->pid;
	a->time = time;
	a->epoch = tasks_epoch(a->tasks, s->pid, time);
	a->in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	stack = get_stack(a, attr, s, misc);
	if (s->nvalue)
		add_values(a, attr, stack, s);
	else
		add_one(a, attr, stack, s);
	add_branches(a, attr, s);
}
