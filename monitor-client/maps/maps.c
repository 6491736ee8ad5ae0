#include "monitor-client/maps/maps.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/sort.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/kernel/cmdline.h"
#include "monitor-client/maps/lookup.h"
#include "monitor-client/kernel/procfs.h"
#include "monitor-client/maps/share.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, TRIES = 4, SLOW_USERS = 16 };

#define VIEW_UNKNOWN UINT64_MAX

/* One file as records name it, shared by all ranges of it, or of one mmap. */
struct file {
	struct file *next;   /* in its bucket */
	struct event_map as; /* path (owned), inode or build-id; the key */
	char *name;          /* the path without " (deleted)", unless that is the name */
	struct build_id id;  /* once it is known; n = 0: it has no place */
	uint32_t hash;
	size_t refs, bytes;
	int tries;  /* left to look it up; 0 = done */
	bool check; /* its path is to be compared: it is of one mmap, and its forks */
	enum { PLAIN_UNKNOWN, PLAIN, NOT_PLAIN } plain; /* as a program: lookup_plain() */
	uint64_t since; /* when it was; earlier samples may be of what was mapped before */
};

struct range {
	uint64_t start, end, pgoff;
	struct file *file;
};

struct proc {
	struct proc *next;       /* in its bucket */
	VEC(struct range) range; /* ascending, without overlap */
	uint64_t stamp;          /* records up to here are in what /proc said */
	uint64_t used, died;     /* times; died = 0: lives */
	uint64_t sure;           /* all records since then have been seen, as far as is known */
	uint64_t view;           /* of files mapped from now on */
	uint64_t args;           /* shape of the command line; 0 = not known */
	uint32_t pid, uid;
	bool uid_asked;
	bool fresh; /* nothing is mapped since its exec */
	struct file
	    *exe;      /* what it has called since uid was its own, or its parent's; NULL: none */
	char comm[16]; /* as of its exec, or later; "": not known */
};

struct slow_user {
	uint32_t uid;
	unsigned n; /* times that LOOKUP_MS were not enough */
	uint64_t until;
};

struct maps {
	char *proc;
	struct proc *procs[BUCKETS];
	struct file *files[BUCKETS];
	struct lookup *lookup;
	struct slow_user slow[SLOW_USERS];
	struct maps_count n;
	uint64_t lost, swept; /* when a loss of side-band was last noticed; as of the last sweep */
	struct {
		uint64_t from, to;
	} args_lost; /* the last time */
	uint32_t uid;
	bool whole_machine;
};

struct maps *maps_new(const char *proc, struct lookup *lookup, uint32_t uid, bool whole_machine)
{
	struct maps *m = xcalloc(1, sizeof *m);

	m->proc = xstrdup(proc);
	m->lookup = lookup;
	m->uid = uid;
	m->whole_machine = whole_machine;
	return m;
}

/* ---- files ---- */

static bool is_vdso(const char *path)
{
	return !strcmp(path, "[vdso]");
}

/* No file, or none that has a layout to change. */
static bool without_file(const char *path)
{
	static const char *const prefix[] = {
	    "//", "/memfd:", "/SYSV", "/dev/zero", "/anon_hugepage"};
	size_t i;

	if (path[0] != '/' || strchr(path, '\n') || strstr(path, "\\012"))
		return true;
	for (i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (!strncmp(path, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

static bool same_file(const struct event_map *a, const struct event_map *b)
{
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min && a->gen == b->gen &&
	       build_id_equal(&a->id, &b->id) && !strcmp(a->path, b->path);
}

static uint32_t file_hash(const struct event_map *as)
{
	uint32_t h = 2166136261u;
	const char *s;

	for (s = as->path; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return (h ^ (uint32_t)as->ino) * 16777619u;
}

static size_t file_bytes(const char *path)
{
	return sizeof(struct file) + 2 * (strlen(path) + 1);
}

static struct file *file_get(struct maps *m, const struct event_map *as, uint64_t view)
{
	size_t name = procfs_name_length(as->path);
	bool vdso = is_vdso(as->path);
	bool check = m->whole_machine && !vdso && (view || as->path[name]);
	uint32_t h = file_hash(as);
	struct file *f;

	for (f = check ? NULL : m->files[h % BUCKETS]; f; f = f->next)
		if (f->hash == h && !f->check && same_file(&f->as, as)) {
			f->refs++;
			return f;
		}
	f = xcalloc(1, sizeof *f);
	*f = (struct file){.next = m->files[h % BUCKETS],
	    .as = *as,
	    .hash = h,
	    .refs = 1,
	    .bytes = file_bytes(as->path),
	    .tries = vdso ? 0 : TRIES,
	    .check = check};
	f->as.path = xstrdup(as->path);
	f->name = xstrdup(as->path);
	f->name[name] = '\0';
	if (as->id.n && !check && !vdso) {
		f->id = as->id;
		f->tries = 0;
	}
	m->files[h % BUCKETS] = f;
	m->n.files++;
	m->n.bytes += f->bytes;
	return f;
}

static void file_put(struct maps *m, struct file *f)
{
	struct file **p;

	if (--f->refs)
		return;
	for (p = &m->files[f->hash % BUCKETS]; *p != f;)
		p = &(*p)->next;
	*p = f->next;
	m->n.files--;
	m->n.bytes -= f->bytes;
	free(f->as.path);
	free(f->name);
	free(f);
}

static struct slow_user *slow_user(struct maps *m, uint32_t uid, uint64_t now)
{
	size_t i;

	for (i = 0; i < SLOW_USERS; i++)
		if (m->slow[i].n && m->slow[i].uid == uid && now < m->slow[i].until)
			return &m->slow[i];
	return NULL;
}

static bool is_slow(struct maps *m, uint32_t uid, uint64_t now)
{
	const struct slow_user *s = slow_user(m, uid, now);

	return s && s->n >= MAPS_SLOW;
}

/* The one whose time is over first makes room. */
static void note_slow(struct maps *m, uint32_t uid, uint64_t now)
{
	struct slow_user *s = slow_user(m, uid, now);
	size_t i;

	if (!s) {
		for (s = m->slow, i = 1; i < SLOW_USERS; i++)
			if (m->slow[i].until < s->until)
				s = &m->slow[i];
		*s = (struct slow_user){.uid = uid, .until = now + MAPS_PENALTY};
	}
	if (++s->n < MAPS_SLOW)
		return;
	s->until = now + MAPS_PENALTY;
	log_warn("files that user %u runs cannot be looked at in %d ms: that user's further ones "
		 "count as outside for %d s",
	    uid, LOOKUP_MS, (int)(MAPS_PENALTY / SECOND));
}

/* What hangs must be somebody's: nobody's files are not opened for a process that is gone. */
static enum lookup_how how_to_look_up(const struct file *f, const struct proc *p)
{
	return f->check ? LOOKUP_NAMED : p->uid == MAPS_NOBODY ? LOOKUP_MAPPED : LOOKUP_PATH;
}

static void file_look_up(
    struct maps *m, struct file *f, const struct proc *p, const struct range *r)
{
	struct event_map at = f->as;
	bool whole = false;
	uint64_t now = clock_now();

	if (is_slow(m, p->uid, now))
		return;
	at.start = r->start;
	at.end = r->end;
	f->tries--;
	switch (lookup_file(m->lookup, p->pid, &at, how_to_look_up(f, p), &f->id, &whole)) {
	case LOOKUP_FOUND:
		f->tries = 0;
		f->since = f->check ? clock_now() : 0;
		if (f->check && whole) {
			free(f->name);
			f->name = xstrdup(f->as.path);
		}
		break;
	case LOOKUP_NONE:
		f->tries = 0;
		break;
	case LOOKUP_LATER:
		break;
	case LOOKUP_SLOW:
		note_slow(m, p->uid, now);
		break;
	}
}

/* Whether a sample of then has a place. */
static bool file_has_id(
    struct maps *m, struct file *f, const struct proc *p, const struct range *r, uint64_t then)
{
	if (f->tries)
		file_look_up(m, f, p, r);
	return f->id.n && then >= f->since;
}

/* ---- ranges ---- */

static size_t range_at(const struct proc *p, uint64_t addr)
{
	return partition_point(0, p->range.n, i, p->range.v[i].end <= addr);
}

static void count_ranges(struct maps *m, size_t before, size_t after)
{
	m->n.ranges += after - before;
	m->n.bytes += (after - before) * sizeof(struct range);
}

/* Replaces ranges [i, j) by n others. */
static void range_splice(
    struct maps *m, struct proc *p, size_t i, size_t j, const struct range *with, size_t n)
{
	size_t total = p->range.n - (j - i) + n;

	while (p->range.cap < total)
		p->range.v = xrealloc(p->range.v,
		    p->range.cap = p->range.cap ? 2 * p->range.cap : 8, sizeof *p->range.v);
	if (p->range.n > j)
		memmove(p->range.v + i + n, p->range.v + j, (p->range.n - j) * sizeof *p->range.v);
	if (n)
		memcpy(p->range.v + i, with, n * sizeof *with);
	count_ranges(m, p->range.n, total);
	p->range.n = total;
}

/* Takes the ranges between start and end away and puts `with` (or nothing)
 * there; what sticks out at either side stays, after them only while there is
 * room: each hole in a range makes it two. */
static void range_set(
    struct maps *m, struct proc *p, uint64_t start, uint64_t end, const struct range *with)
{
	size_t i = range_at(p, start), j = i, n = 0, k;
	struct range out[3], r;

	while (j < p->range.n && p->range.v[j].start < end)
		j++;
	if (j > i && p->range.v[i].start < start) {
		r = p->range.v[i];
		r.end = start;
		r.file->refs++;
		out[n++] = r;
	}
	if (with)
		out[n++] = *with;
	if (j > i && p->range.v[j - 1].end > end && p->range.n - (j - i) + n < MAPS_RANGES) {
		r = p->range.v[j - 1];
		r.pgoff += end - r.start;
		r.start = end;
		r.file->refs++;
		out[n++] = r;
	}
	for (k = i; k < j; k++)
		file_put(m, p->range.v[k].file);
	range_splice(m, p, i, j, out, n);
}

static void ranges_drop(struct maps *m, struct proc *p)
{
	size_t i;

	for (i = 0; i < p->range.n; i++)
		file_put(m, p->range.v[i].file);
	count_ranges(m, p->range.n, 0);
	vec_free(&p->range);
}

/* ---- processes ---- */

static struct proc *proc_get(const struct maps *m, uint32_t pid)
{
	struct proc *p;

	for (p = m->procs[pid % BUCKETS]; p && p->pid != pid;)
		p = p->next;
	return p;
}

static void exe_put(struct maps *m, struct proc *p)
{
	if (p->exe)
		file_put(m, p->exe);
	p->exe = NULL;
}

static bool is_plain(struct maps *m, const struct proc *p, struct file *f)
{
	uint64_t now = clock_now();
	enum lookup_result r;

	if (f->plain == PLAIN_UNKNOWN && !f->check && !is_slow(m, p->uid, now)) {
		r = lookup_plain(m->lookup, f->name);
		f->plain = r == LOOKUP_FOUND ? PLAIN : NOT_PLAIN;
		if (r == LOOKUP_SLOW)
			note_slow(m, p->uid, now);
	}
	return f->plain == PLAIN;
}

/* A program that nobody could be asked about any more ran as whoever called it, unless it was one
 * that changes that, or may have been. */
static void exe_settle(struct maps *m, struct proc *p)
{
	if (p->exe && m->whole_machine && !is_plain(m, p, p->exe))
		p->uid = MAPS_NOBODY;
	exe_put(m, p);
}

/* tid: any thread of it. */
static void proc_ask(struct maps *m, struct proc *p, uint32_t tid)
{
	if (!p->uid_asked && procfs_uid(m->proc, tid, &p->uid))
		exe_settle(m, p);
	exe_put(m, p);
	p->uid_asked = true;
}

static void proc_drop(struct maps *m, uint32_t pid)
{
	struct proc **at, *p;

	for (at = &m->procs[pid % BUCKETS]; *at && (*at)->pid != pid;)
		at = &(*at)->next;
	if (!(p = *at))
		return;
	*at = p->next;
	ranges_drop(m, p);
	exe_put(m, p);
	m->n.procs--;
	free(p);
}

/* ---- who gives way ---- */

static size_t cost_of_proc(const struct proc *p)
{
	(void)p;
	return 1;
}

static bool take_proc(const struct holding *h, void *arg)
{
	struct maps *m = arg;

	proc_drop(m, ((struct proc *)h->what)->pid);
	return m->n.procs > MAPS_PROCS / 4 * 3;
}

/* Its part of files that it has together with others. */
static size_t cost_of_ranges(const struct proc *p)
{
	size_t cost = p->range.n * sizeof *p->range.v, i;

	for (i = 0; i < p->range.n; i++)
		cost += p->range.v[i].file->bytes / p->range.v[i].file->refs;
	return cost;
}

/* The process stays: if it were read again with its next sample, it would take
 * the room, and the time that this needs, again and again. */
static bool take_ranges(const struct holding *h, void *arg)
{
	struct maps *m = arg;

	ranges_drop(m, h->what);
	return m->n.bytes > MAPS_BYTES / 8 * 7;
}

/* Of one user's processes the dead go first, then those unused for longest. Whose
 * they are is asked now: what no sample has hit has the uid of its parent. */
static void give_way(struct maps *m, size_t (*cost)(const struct proc *),
    bool (*take)(const struct holding *, void *))
{
	struct holding *h = xcalloc(m->n.procs, sizeof *h);
	struct proc *p;
	size_t n = 0, i, c;

	for (i = 0; i < BUCKETS; i++)
		for (p = m->procs[i]; p; p = p->next) {
			if (!(c = cost(p)))
				continue;
			if (!p->died)
				proc_ask(m, p, p->pid);
			h[n++] = (struct holding){p, p->uid, p->died ? 0 : p->used, c};
		}
	share_out(h, n, take, m);
	free(h);
}

static void make_room(struct maps *m, size_t bytes)
{
	if (m->n.bytes + bytes <= MAPS_BYTES)
		return;
	log_warn("more than %d MiB of mappings are known: the user who has most loses the oldest, "
		 "samples there count as outside",
	    MAPS_BYTES >> 20);
	give_way(m, cost_of_ranges, take_ranges);
}

static void range_add(struct maps *m, struct proc *p, const struct event_map *map)
{
	struct range r = {.start = map->start, .end = map->end, .pgoff = map->pgoff};

	if (map->end <= map->start)
		return;
	make_room(m, 2 * sizeof r + file_bytes(map->path));
	if ((without_file(map->path) && !is_vdso(map->path)) || p->range.n >= MAPS_RANGES) {
		range_set(m, p, map->start, map->end, NULL);
		return;
	}
	r.file = file_get(m, map, p->view);
	if (p->fresh) {
		p->exe = r.file;
		r.file->refs++;
	}
	p->fresh = false;
	range_set(m, p, map->start, map->end, &r);
}

static void ranges_copy(struct maps *m, struct proc *to, const struct proc *from)
{
	size_t i;

	ranges_drop(m, to);
	make_room(m, from->range.n * sizeof *from->range.v); /* perhaps of from */
	range_splice(m, to, 0, 0, from->range.v, from->range.n);
	for (i = 0; i < to->range.n; i++)
		to->range.v[i].file->refs++;
}

static struct proc *proc_new(struct maps *m, uint32_t pid, uint64_t time)
{
	struct proc *p;

	proc_drop(m, pid);
	if (m->n.procs >= MAPS_PROCS) {
		log_warn("more than %d processes are known: the user who has most loses the oldest",
		    MAPS_PROCS);
		give_way(m, cost_of_proc, take_proc);
	}
	p = xcalloc(1, sizeof *p);
	p->pid = pid;
	p->uid = m->uid;
	p->view = m->whole_machine ? VIEW_UNKNOWN : 0;
	p->used = time;
	p->sure = time;
	p->next = m->procs[pid % BUCKETS];
	m->procs[pid % BUCKETS] = p;
	m->n.procs++;
	return p;
}

struct reading {
	struct maps *m;
	struct proc *p;
	bool first;
};

static void read_map(const struct event_map *map, void *arg)
{
	struct reading *r = arg;

	if (r->first)
		ranges_drop(r->m, r->p);
	r->first = false;
	range_add(r->m, r->p, map);
}

/* What /proc says replaces what was known, unless it says nothing. tid: any
 * thread of it, for the first may have ended. */
static void proc_read(struct maps *m, struct proc *p, uint32_t tid)
{
	struct reading r = {.m = m, .p = p, .first = true};
	uint64_t stamp = clock_now(), view;
	int fd = lookup_maps(m->lookup, tid, &view);

	p->sure = stamp;
	if (fd < 0)
		return;
	if (m->whole_machine)
		p->view = view;
	if (procfs_maps(fd, read_map, &r) == 0 && !r.first)
		p->stamp = stamp;
}

static void snapshot_one(uint32_t pid, void *arg)
{
	struct maps *m = arg;
	struct proc *p = proc_new(m, pid, clock_now());

	proc_read(m, p, pid);
	p->uid_asked = procfs_uid(m->proc, pid, &p->uid) == 0;
	if (!p->range.n)
		proc_drop(m, pid); /* a kernel thread, or not ours to read */
}

void maps_read(struct maps *m, uint32_t pid)
{
	snapshot_one(pid, m);
}

void maps_snapshot(struct maps *m)
{
	if (procfs_pids(m->proc, snapshot_one, m))
		log_warn("cannot read %s: processes that run already stay unknown", m->proc);
}

/* ---- events ---- */

/* Records from before a loss was noticed may be without those that followed them: a process that
 * began then may have called exec. */
static bool is_suspect(const struct maps *m, const struct proc *p)
{
	return p->sure < m->lost;
}

static void proc_fork(struct maps *m, const struct event *ev)
{
	struct proc *parent = proc_get(m, ev->parent), *p = proc_get(m, ev->pid);

	if (p && ev->time <= p->stamp)
		return;
	p = proc_new(m, ev->pid, ev->time);
	/* p may have displaced the parent. */
	if (!parent || !(parent = proc_get(m, ev->parent)))
		return;
	ranges_copy(m, p, parent);
	p->view = parent->view;
	p->args = parent->args;
	memcpy(p->comm, parent->comm, sizeof p->comm);
	proc_ask(m, parent, parent->pid); /* the child may be gone before it can be asked */
	p->uid = parent->uid;
	if (is_suspect(m, parent))
		p->sure = parent->sure;
}

/* A thread may leave where the others stay, and map what they run. */
static void proc_view(const struct maps *m, struct proc *p, const struct event *ev)
{
	uint64_t view = lookup_view(m->lookup, &ev->ns);

	if (m->whole_machine && (view || p->view == VIEW_UNKNOWN))
		p->view = view;
}

static bool args_lost(const struct maps *m, uint64_t time)
{
	return m->args_lost.from <= time && time <= m->args_lost.to;
}

void maps_event(struct maps *m, const struct event *ev)
{
	struct proc *p;

	if (ev->kind == EV_FORK) {
		proc_fork(m, ev);
		return;
	}
	p = proc_get(m, ev->pid);
	if (!p && ev->kind != EV_EXIT)
		p = proc_new(m, ev->pid, ev->time);
	if (!p || ev->time <= p->stamp)
		return;
	p->used = ev->time;
	switch (ev->kind) {
	case EV_MAP:
		range_add(m, p, &ev->map);
		break;
	case EV_EXEC:
		ranges_drop(m, p);
		exe_settle(m, p);
		p->uid_asked = false;
		p->fresh = true;
		p->args = args_lost(m, ev->time) ? CMDLINE_CUT : 0;
		memcpy(p->comm, ev->comm, sizeof p->comm);
		p->sure = ev->time;
		p->died = 0; /* a thread's exec ends the first thread before */
		break;
	case EV_EXIT:
		p->died = ev->time;
		break;
	case EV_NS:
		proc_view(m, p, ev);
		break;
	case EV_ARGS:
		p->args = ev->args;
		break;
	default:
		break;
	}
}

void maps_suspect(struct maps *m)
{
	m->lost = clock_now();
}

void maps_args_lost(struct maps *m, uint64_t from, uint64_t to)
{
	if (from > m->args_lost.to)
		m->args_lost.from = from;
	m->args_lost.to = to;
}

void maps_sweep(struct maps *m, uint64_t now)
{
	bool ask = m->swept != m->lost; /* the end of some was perhaps lost */
	struct proc *p, *next;
	uint32_t uid;
	size_t i;

	m->swept = m->lost;
	for (i = 0; i < BUCKETS; i++)
		for (p = m->procs[i]; p; p = next) {
			next = p->next;
			if (ask && !p->died && procfs_uid(m->proc, p->pid, &uid))
				p->died = now;
			if (p->died && now > p->died + MAPS_GRACE)
				proc_drop(m, p->pid);
		}
}

/* ---- samples ---- */

static struct proc *proc_of_sample(struct maps *m, const struct event *s)
{
	struct proc *p = proc_get(m, s->pid);

	if (!s->pid || s->pid == UINT32_MAX)
		return NULL; /* not in our pid namespace, or past its end */
	if (!p) {
		p = proc_new(m, s->pid, s->time);
		proc_read(m, p, s->tid);
		if (!p->range.n)
			p->died = s->time; /* its end will not be announced again */
	} else if (is_suspect(m, p)) {
		proc_read(m, p, s->tid);
	}
	p->used = s->time;
	proc_ask(m, p, s->tid);
	return p;
}

static struct range *range_of(const struct proc *p, uint64_t addr)
{
	size_t i = range_at(p, addr);

	return i == p->range.n || addr < p->range.v[i].start ? NULL : &p->range.v[i];
}

static struct place place_of(const struct proc *p, const struct range *r, uint64_t addr)
{
	return (struct place){.id = &r->file->id,
	    .path = r->file->name,
	    .base = r->start - r->pgoff,
	    .offset = addr - r->start + r->pgoff,
	    .uid = p->uid};
}

bool maps_find(struct maps *m, const struct event *s, struct place *out)
{
	struct proc *p = proc_of_sample(m, s);
	struct range *r = p ? range_of(p, s->sample.ip) : NULL;

	if (!r || !file_has_id(m, r->file, p, r, s->time))
		return false;
	*out = place_of(p, r, s->sample.ip);
	return true;
}

size_t maps_code(const struct maps *m, const struct event *s,
    bool (*of)(const struct build_id *id, void *arg), void *arg, struct maps_code *out, size_t max)
{
	const struct proc *p = proc_get(m, s->pid);
	const struct range *r;
	bool any = false;
	size_t i;

	if (!p || is_suspect(m, p) || p->range.n > max)
		return 0;
	for (i = 0; i < p->range.n; i++) {
		r = &p->range.v[i];
		out[i] = (struct maps_code){.start = r->start, .end = r->end};
		if (!r->file->id.n || s->time < r->file->since || !of(&r->file->id, arg))
			continue;
		out[i].chosen = any = true;
		out[i].begin = place_of(p, r, r->start);
	}
	return any ? p->range.n : 0;
}

/* What is in no file is known by its process alone. */
static void in_memory(
    const struct maps *m, struct proc *p, const struct event *s, struct elsewhere *out)
{
	if (!p->comm[0])
		procfs_comm(m->proc, s->tid, p->comm, sizeof p->comm);
	out->kind = WIRE_ANONYMOUS;
	out->pid = p->pid;
	out->name = p->comm;
}

bool maps_elsewhere(struct maps *m, const struct event *s, struct elsewhere *out)
{
	struct proc *p = proc_get(m, s->pid);
	const struct range *r = p ? range_of(p, s->sample.ip) : NULL;

	if (!p || !p->range.n)
		return false;
	*out = (struct elsewhere){.uid = p->uid, .address = s->sample.ip};
	if (!r) {
		in_memory(m, p, s, out);
		return true;
	}
	out->kind = is_vdso(r->file->name) ? WIRE_VDSO : r->file->check ? WIRE_FOREIGN : WIRE_FILE;
	out->id = &r->file->as.id;
	out->name = r->file->name;
	out->address -= r->start - r->pgoff;
	return true;
}

bool maps_same_code(
    struct maps *m, const struct event *s, const struct place *at, uint64_t addr, uint64_t *offset)
{
	const struct proc *p = proc_get(m, s->pid);
	const struct range *r = p ? range_of(p, addr) : NULL;

	if (!r || !build_id_equal(&r->file->id, at->id))
		return false;
	*offset = addr - r->start + r->pgoff;
	return true;
}

void maps_identify(struct maps *m, uint32_t pid, unsigned *left)
{
	struct proc *p = proc_get(m, pid);
	size_t i;

	for (i = 0; p && i < p->range.n && *left; i++) {
		struct range *r = &p->range.v[i];

		if (r->file->check || !r->file->tries)
			continue;
		proc_ask(m, p, pid);
		if (p->uid == MAPS_NOBODY)
			return;
		file_look_up(m, r->file, p, r);
		--*left;
	}
}

size_t maps_builds(const struct maps *m, uint32_t pid,
    bool (*of)(const struct build_id *id, void *arg), void *arg, struct build_id *out, size_t max)
{
	const struct proc *p = proc_get(m, pid);
	const struct build_id *id;
	size_t i, k, n = 0;

	for (i = 0; p && i < p->range.n && n < max; i++) {
		id = &p->range.v[i].file->id;
		if (!id->n || !of(id, arg))
			continue;
		for (k = 0; k < n && !build_id_equal(&out[k], id);)
			k++;
		if (k == n)
			out[n++] = *id;
	}
	return n;
}

void maps_living(const struct maps *m, void (*fn)(uint32_t pid, void *arg), void *arg)
{
	const struct proc *p;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		for (p = m->procs[i]; p; p = p->next)
			if (!p->died)
				fn(p->pid, arg);
}

uint64_t maps_args(const struct maps *m, uint32_t pid)
{
	const struct proc *p = proc_get(m, pid);

	return p ? p->args : 0;
}

struct maps_count maps_count(const struct maps *m)
{
	return m->n;
}

void maps_free(struct maps *m)
{
	struct proc *p, *next;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		for (p = m->procs[i]; p; p = next) {
			next = p->next;
			proc_drop(m, p->pid);
		}
	free(m->proc);
	free(m);
}
