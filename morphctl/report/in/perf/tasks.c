#include "morphctl/report/in/perf/tasks.h"
#include "common/sort.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

static struct process *process(struct tasks *t, uint32_t pid)
{
	bool fresh;
	uint64_t *at = htab_put(&t->pid, &pid, sizeof pid, &fresh);

	if (fresh) {
		*at = t->process.n;
		vec_push(&t->process, (struct process){0});
	}
	return &t->process.v[*at];
}

static struct thread *thread(struct tasks *t, uint32_t tid)
{
	bool fresh;
	uint64_t *at = htab_put(&t->tid, &tid, sizeof tid, &fresh);

	if (fresh) {
		*at = t->thread.n;
		vec_push(&t->thread, (struct thread){0});
	}
	return &t->thread.v[*at];
}

static void begin(struct tasks *t, uint32_t pid, const struct epoch *e)
{
	struct process *p = process(t, pid);

	vec_push(&p->epoch, (uint32_t)t->epoch.n);
	vec_push(&t->epoch, *e);
}

void tasks_map(struct tasks *t, uint32_t pid, const struct mapping *m)
{
	struct process *p = process(t, pid);
	struct epoch *e;

	if (!p->epoch.n)
		begin(t, pid, &(struct epoch){.parent = NONE});
	p = process(t, pid);
	e = &t->epoch.v[p->epoch.v[p->epoch.n - 1]];
	vec_push(&e->map, *m);
	e->last = m->time;
}

/* The epoch that another begins with. Forks of forks that mapped nothing lead to the process that
 * did, so that chains are short. */
static struct epoch child_of(struct tasks *t, uint64_t time, uint32_t ppid, bool exec)
{
	struct epoch e = {.time = time,
	    .exec = exec,
	    .parent = tasks_epoch(t, ppid, time),
	    .parent_time = time,
	    .last = time};

	while (e.parent != NONE && !t->epoch.v[e.parent].map.n && !t->epoch.v[e.parent].exec) {
		e.parent_time = t->epoch.v[e.parent].parent_time;
		e.parent = t->epoch.v[e.parent].parent;
	}
	return e;
}

static const char *last_name(struct tasks *t, uint32_t tid)
{
	struct thread *of = thread(t, tid);

	return of->name.n ? of->name.v[of->name.n - 1].comm : NULL;
}

void tasks_fork(struct tasks *t, uint64_t time, uint32_t pid, uint32_t ppid, uint32_t tid,
    uint32_t ptid, bool inherits)
{
	const char *comm = last_name(t, ptid);
	struct epoch e = {.time = time, .parent = NONE, .last = time};
	struct thread *of = thread(t, tid);

	if (comm)
		vec_push(&of->name, (struct named){time, comm});
	if (pid == ppid)
		return;
	if (inherits)
		e = child_of(t, time, ppid, false);
	begin(t, pid, &e);
}

void tasks_comm(
    struct tasks *t, uint64_t time, uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
	struct thread *of = thread(t, tid);
	struct epoch e;

	vec_push(&of->name, (struct named){time, comm});
	if (!exec)
		return;
	e = child_of(t, time, pid, true);
	begin(t, pid, &e);
}

/* ---- asking ---- */

/* The leaf that has addr, or leaves. */
static size_t leaf(const struct epoch *e, uint64_t addr)
{
	size_t i = partition_point(0, e->leaves, k, e->border[k + 1] <= addr);

	return i < e->leaves && e->border[i] <= addr ? i : e->leaves;
}

static void index_borders(struct epoch *e)
{
	size_t n = 0, i;

	e->border = xmalloc(2 * e->map.n * sizeof *e->border);
	for (i = 0; i < e->map.n; i++) {
		e->border[n++] = e->map.v[i].start;
		e->border[n++] = e->map.v[i].end;
	}
	qsort(e->border, n, sizeof *e->border, order_u64);
	for (i = 0, e->leaves = 0; i < n; i++)
		if (!i || e->border[i] != e->border[e->leaves])
			e->border[i ? ++e->leaves : 0] = e->border[i];
}

/* Mapping i belongs to the few nodes that together span it. Counts at at[node], or puts it in where
 * at[node] points. */
static void spread(struct epoch *e, uint32_t i, uint32_t *at, bool count)
{
	size_t l = leaf(e, e->map.v[i].start) + e->leaves;
	size_t r = leaf(e, e->map.v[i].end - 1) + 1 + e->leaves;
	size_t node[2], n;

	for (; l < r; l /= 2, r /= 2) {
		n = 0;
		if (l & 1)
			node[n++] = l++;
		if (r & 1)
			node[n++] = --r;
		while (n--) {
			if (!count)
				e->item[at[node[n]]] = i;
			at[node[n]]++;
		}
	}
}

static void index_epoch(struct epoch *e)
{
	uint32_t *at, i, sum = 0, count;

	if (!e->map.n)
		return;
	index_borders(e);
	e->first = xcalloc(2 * (size_t)e->leaves + 1, sizeof *e->first);
	for (i = 0; i < e->map.n; i++)
		spread(e, i, e->first, true);
	for (i = 0; i <= 2 * e->leaves; i++) {
		count = e->first[i];
		e->first[i] = sum;
		sum += count;
	}
	e->item = xmalloc(sum * sizeof *e->item);
	at = xmalloc((2 * (size_t)e->leaves + 1) * sizeof *at);
	for (i = 0; i <= 2 * e->leaves; i++)
		at[i] = e->first[i];
	for (i = 0; i < e->map.n; i++)
		spread(e, i, at, false);
	free(at);
}

void tasks_index(struct tasks *t)
{
	size_t i;

	for (i = 0; i < t->epoch.n; i++)
		index_epoch(&t->epoch.v[i]);
}

/* Epochs of a process and names of a thread are in the order of their times. */
uint32_t tasks_epoch(const struct tasks *t, uint32_t pid, uint64_t time)
{
	uint64_t *at = htab_get(&t->pid, &pid, sizeof pid);
	const struct process *p = at ? &t->process.v[*at] : NULL;
	size_t n =
	    p ? partition_point(0, p->epoch.n, i, t->epoch.v[p->epoch.v[i]].time <= time) : 0;

	return n ? p->epoch.v[n - 1] : NONE;
}

const char *tasks_name(const struct tasks *t, uint32_t tid, uint64_t time)
{
	uint64_t *at = htab_get(&t->tid, &tid, sizeof tid);
	const struct thread *of = at ? &t->thread.v[*at] : NULL;
	size_t n = of ? partition_point(0, of->name.n, i, of->name.v[i].time <= time) : 0;

	return n ? of->name.v[n - 1].comm : tid ? "" : "swapper";
}

/* The newest of an epoch's own. */
static struct mapping *find_own(const struct epoch *e, uint64_t time, uint64_t addr)
{
	size_t at = leaf(e, addr), node, n;
	uint32_t newest = NONE, i;

	if (at == e->leaves)
		return NULL;
	for (node = at + e->leaves; node; node /= 2) {
		n = partition_point(
		    e->first[node], e->first[node + 1], k, e->map.v[e->item[k]].time <= time);
		if (n == e->first[node])
			continue;
		i = e->item[n - 1];
		if (newest == NONE || i > newest)
			newest = i;
	}
	return newest == NONE ? NULL : &e->map.v[newest];
}

struct mapping *tasks_find(
    const struct tasks *t, uint32_t epoch, uint64_t time, uint64_t addr, bool in_kernel)
{
	const struct epoch *e;
	struct mapping *m;

	for (; epoch != NONE; epoch = e->parent) {
		e = &t->epoch.v[epoch];
		m = e->map.n ? find_own(e, time, addr) : NULL;
		if (m)
			return m;
		if (e->exec && !in_kernel)
			break;
		time = e->parent_time;
	}
	return NULL;
}

void tasks_free(struct tasks *t)
{
	size_t i;

	for (i = 0; i < t->epoch.n; i++) {
		vec_free(&t->epoch.v[i].map);
		free(t->epoch.v[i].border);
		free(t->epoch.v[i].first);
		free(t->epoch.v[i].item);
	}
	for (i = 0; i < t->process.n; i++)
		vec_free(&t->process.v[i].epoch);
	for (i = 0; i < t->thread.n; i++)
		vec_free(&t->thread.v[i].name);
	vec_free(&t->epoch);
	vec_free(&t->process);
	vec_free(&t->thread);
	htab_free(&t->pid);
	htab_free(&t->tid);
}
