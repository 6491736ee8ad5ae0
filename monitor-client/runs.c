#include "monitor-client/runs.h"
#include "common/hash.h"
#include "common/le.h"
#include "monitor-client/kernel/cmdline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	struct run *next;      /* in its bucket */
	uint64_t touched;      /* when something last came */
	uint64_t end, elapsed; /* of the first thread; 0: not known */
	uint64_t begin;        /* by perf */
	uint64_t cpu, faults;  /* of the threads seen */
	uint64_t group;        /* CPU time as the kernel added it up */
	uint64_t args;
	char comm[sizeof((struct exit_record){0}).comm];
	uint32_t pid, uid, status;
	bool first;      /* the first thread's record came */
	bool over;       /* the last one's came */
	bool left, used; /* by perf: it has ended, and it is known what it used */
	bool complete;   /* as of the last round */
	size_t nbuild;
	struct build_id build[RUNS_BUILDS];
};

static struct run **place_of(struct runs *g, uint32_t pid)
{
	struct run **at = &g->bucket[pid % RUNS_BUCKETS];

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

static void drop(struct runs *g, struct run **at)
{
	struct run *r = *at;

	*at = r->next;
	g->n--;
	free(r);
}

/* Whether nothing further is expected of it that would end in a run. */
static bool is_stale(const struct run *r, uint64_t now)
{
	bool living = r->first && r->end && !r->over && r->nbuild;

	return !living && (r->over || r->end) && now > r->touched + RUNS_PATIENCE;
}

/* What is known of threads of processes that go on is the least to lose: the kernel adds up their
 * CPU time. */
static void make_room(struct runs *g, uint64_t now)
{
	struct run **at;
	size_t i;

	for (i = 0; i < RUNS_BUCKETS && !g->crowded; i++)
		for (at = &g->bucket[i]; *at;)
			if (!(*at)->over && !(*at)->end && now > (*at)->touched + RUNS_PATIENCE)
				drop(g, at);
			else
				at = &(*at)->next;
	g->crowded = g->n >= RUNS_MAX;
}

/* NULL: there is no room. */
static struct run *run_of(struct runs *g, uint32_t pid, uint64_t now)
{
	struct run **at = place_of(g, pid);

	if (!*at && g->n >= RUNS_MAX) {
		make_room(g, now);
		at = place_of(g, pid);
	}
	if (!*at) {
		if (g->n >= RUNS_MAX)
			return NULL;
		*at = xcalloc(1, sizeof **at);
		(*at)->pid = pid;
		g->n++;
	}
	(*at)->touched = now;
	return *at;
}

/* Names that differ in numbers only, as of workers, are one class. */
static uint64_t class_of(const char *comm, uint64_t args)
{
	struct hash128 h;
	struct buf b = {0};
	const char *c;
	bool digit, before = false;

	for (c = comm; *c; c++, before = digit) {
		digit = *c >= '0' && *c <= '9';
		if (!digit || !before)
			buf_char(&b, digit ? '0' : *c);
	}
	if (args)
		put_le64(buf_grow(&b, sizeof args), args);
	h = hash_bytes(b.p, b.n);
	buf_free(&b);
	return hash_short(&h);
}

void runs_record(struct runs *g, const struct exit_record *x, uint64_t now)
{
	struct run *r = run_of(g, x->tgid, now);

	if (!r)
		return;
	r->cpu += x->cpu_ns;
	r->faults += x->faults;
	if (x->pid == x->tgid) {
		r->first = true;
		r->elapsed = x->elapsed_ns;
		memcpy(r->comm, x->comm, sizeof r->comm);
	}
	if (!x->last)
		return;
	r->over = true;
	r->uid = x->uid;
	r->status = x->status;
	r->group = x->group_ns;
}

void runs_ended(struct runs *g, uint32_t pid, uint64_t end, uint64_t args,
    const struct build_id *build, size_t n, uint64_t now)
{
	struct run *r = run_of(g, pid, now);

	if (!r) {
		g->lost += n;
		return;
	}
	r->end = end;
	r->args = args;
	r->nbuild = n < RUNS_BUILDS ? n : RUNS_BUILDS;
	g->lost += n - r->nbuild;
	memcpy(r->build, build, r->nbuild * sizeof *build);
}

void runs_exec(struct runs *g, uint32_t pid)
{
	struct run *r = *place_of(g, pid);

	if (!r)
		return;
	r->end = 0;
	r->nbuild = 0;
}

void runs_begun(struct runs *g, uint32_t pid, uint32_t parent, uint64_t begin, uint64_t now)
{
	struct run **at = place_of(g, pid), *r, *p;

	if (*at)
		drop(g, at);
	r = run_of(g, pid, now);
	p = *place_of(g, parent);
	if (!r)
		return;
	r->begin = begin;
	if (p)
		memcpy(r->comm, p->comm, sizeof r->comm);
}

void runs_named(struct runs *g, uint32_t pid, const char *comm, uint64_t at, uint64_t now)
{
	struct run *r = run_of(g, pid, now);

	if (!r)
		return;
	if (!r->begin)
		r->begin = at;
	snprintf(r->comm, sizeof r->comm, "%s", comm);
}

void runs_used(struct runs *g, uint32_t pid, uint64_t cpu_ns, uint64_t now)
{
	struct run *r = *place_of(g, pid);

	g->used = true;
	if (!r)
		return;
	r->touched = now;
	r->cpu += cpu_ns;
	r->used = true;
}

void runs_left(struct runs *g, uint32_t pid, uint32_t uid, uint64_t end, uint64_t now)
{
	struct run *r = *place_of(g, pid);

	if (!r || !r->begin)
		return;
	r->touched = now;
	r->left = r->first = r->over = true;
	r->elapsed = end - r->begin;
	r->uid = uid;
}

/* Both halves are there. */
static bool is_whole(const struct run *r)
{
	return r->over && r->first && r->end && (!r->left || r->used);
}

static void hand_on(const struct run *r, uint64_t epoch, run_fn *fn, void *arg)
{
	struct wire_run w = {.uid = r->uid,
	    .start_ns = r->end - r->elapsed + epoch,
	    .cpu_ns = r->cpu > r->group ? r->cpu : r->group,
	    .faults = r->faults,
	    .status = r->status,
	    .class = r->args == CMDLINE_CUT ? 0 : class_of(r->comm, r->args)};
	size_t i;

	for (i = 0; i < r->nbuild; i++)
		fn(&r->build[i], r->pid, &w, r->args ? NULL : r->comm, arg);
}

uint64_t runs_round(struct runs *g, uint64_t now, uint64_t epoch, bool all, run_fn *fn, void *arg)
{
	struct run **at, *r;
	uint64_t lost;
	size_t i;

	for (i = 0; i < RUNS_BUCKETS; i++)
		for (at = &g->bucket[i]; (r = *at);) {
			if (is_whole(r) && (r->complete || all)) {
				hand_on(r, epoch, fn, arg);
				drop(g, at);
			} else if (is_stale(r, now)) {
				g->lost += r->nbuild;
				drop(g, at);
			} else {
				r->complete = is_whole(r);
				at = &r->next;
			}
		}
	g->crowded = false;
	lost = g->lost;
	g->lost = 0;
	return lost;
}

void runs_free(struct runs *g)
{
	size_t i;

	for (i = 0; i < RUNS_BUCKETS; i++)
		while (g->bucket[i])
			drop(g, &g->bucket[i]);
	*g = (struct runs){0};
}
