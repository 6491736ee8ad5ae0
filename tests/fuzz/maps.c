/*
 * cov >= 225
 * The monitor's map of processes. Even first byte: the rest is /proc/PID/maps of every
 * process. Odd: the rest is events of five bytes over a few pages and processes,
 * and what is found is what a table of pages says.
 */
#include "monitor-client/maps/maps.h"
#include "common/log.h"
#include "common/publish.h"
#include "monitor-client/maps/lookup.h"
#include "monitor-client/kernel/procfs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROCS = 4, PAGES = 64 };

static const char *const name[] = {
    "/bin/a", "/bin/a (deleted)", "/b", "//anon", "/c\nd", "", " (deleted)", "/d"};

static const char *text; /* of all maps */
static size_t ntext;
static struct {
	uint8_t file; /* of name, + 1 */
	uint8_t page; /* of the file */
} page_at[PROCS][PAGES];

/* ---- in place of the reader ---- */

uint64_t lookup_view(const struct lookup *l, const struct event_ns *ns)
{
	return ns->mnt;
}

int lookup_maps(struct lookup *l, uint32_t pid, uint64_t *view)
{
	int fd = text ? memfd_create("maps", MFD_CLOEXEC) : -1;

	*view = pid & 1;
	if (fd >= 0 && (file_write_all(fd, text, ntext) < 0 || lseek(fd, 0, SEEK_SET)))
		abort();
	return fd;
}

enum lookup_result lookup_file(struct lookup *l, uint32_t pid, const struct event_map *m,
    enum lookup_how how, struct build_id *id, bool *whole)
{
	*id = (struct build_id){2, {(uint8_t)strlen(m->path), (uint8_t)m->ino}};
	*whole = m->ino & 1;
	return text && m->ino % 5 <= LOOKUP_SLOW ? (enum lookup_result)(m->ino % 5) : LOOKUP_FOUND;
}

enum lookup_result lookup_plain(struct lookup *l, const char *path)
{
	return strlen(path) & 1 ? LOOKUP_FOUND : LOOKUP_NONE;
}

/* ---- text ---- */

static void see(const struct event_map *map, void *arg)
{
	struct event s = {.time = UINT64_MAX, .pid = 1, .tid = 1, .sample.ip = map->start};
	struct place at;
	uint64_t offset;

	if (map->start >= map->end || strchr(map->path, '\n'))
		abort();
	for (; s.pid < 3; s.pid = ++s.tid, s.sample.ip = map->end - 1)
		if (maps_find(arg, &s, &at) &&
		    (at.path[0] != '/' || !at.id->n || at.base + at.offset != s.sample.ip ||
			!maps_same_code(arg, &s, &at, s.sample.ip, &offset) || offset != at.offset))
			abort();
}

static void read_text(struct maps *m, const uint8_t *p, size_t n)
{
	uint64_t view;

	text = (const char *)p;
	ntext = n;
	procfs_maps(lookup_maps(NULL, 1, &view), see, m);
	maps_suspect(m);
	procfs_maps(lookup_maps(NULL, 1, &view), see, m);
	text = NULL;
}

/* ---- events ---- */

static void map_pages(struct event *ev, const uint8_t *p)
{
	unsigned first = p[2] % PAGES, n = p[3] % 16, i;
	const char *path = name[p[4] % 8];

	ev->map = (struct event_map){.start = first,
	    .end = first + n,
	    .pgoff = p[4] >> 3,
	    .ino = p[4] & 7,
	    .path = (char *)path,
	    .id = {p[3] >> 6, {p[4]}}};
	for (i = first; i < first + n && i < PAGES; i++) {
		bool file = path[0] == '/' && path[1] != '/' && !strchr(path, '\n');

		page_at[ev->pid - 1][i].file = file ? (uint8_t)(p[4] % 8 + 1) : 0;
		page_at[ev->pid - 1][i].page = (uint8_t)(i - first + (p[4] >> 3));
	}
}

static void happen(struct maps *m, const uint8_t *p, uint64_t time)
{
	static const enum event_kind kind[] = {EV_MAP, EV_MAP, EV_FORK, EV_EXEC, EV_NS, EV_EXIT};
	struct event ev = {.time = time, .kind = kind[p[0] % 6], .pid = p[1] % PROCS + 1};
	unsigned left = p[0] >> 5;

	if (ev.kind == EV_MAP)
		map_pages(&ev, p);
	else if (ev.kind == EV_NS)
		ev.ns.mnt = 0;
	else if (ev.kind == EV_EXEC)
		memset(page_at[ev.pid - 1], 0, sizeof *page_at);
	else if (ev.kind == EV_FORK) {
		ev.parent = p[2] % PROCS + 1;
		if (ev.parent == ev.pid)
			memset(page_at[ev.pid - 1], 0, sizeof *page_at);
		else
			memcpy(page_at[ev.pid - 1], page_at[ev.parent - 1], sizeof *page_at);
	}
	maps_event(m, &ev);
	maps_identify(m, ev.pid, &left);
}

static void compare(struct maps *m, uint64_t time)
{
	struct event s = {.time = time};
	struct place at;
	unsigned i, k;

	for (i = 0; i < PROCS; i++)
		for (k = 0; k < PAGES; k++) {
			s.pid = s.tid = i + 1;
			s.sample.ip = k;
			if (maps_find(m, &s, &at) != (page_at[i][k].file != 0))
				abort();
			if (page_at[i][k].file &&
			    (at.offset != page_at[i][k].page ||
				strncmp(at.path, name[page_at[i][k].file - 1], strlen(at.path))))
				abort();
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint64_t time = UINT64_MAX / 2;
	struct event end = {.kind = EV_EXIT};
	struct lookup l = {.fd = -1};
	struct maps_count left;
	struct maps *m;
	size_t i;

	if (!n)
		return 0;
	log_init("fuzz", LOG_LVL_ERROR);
	m = maps_new("/nonexistent", &l, p[0] & 4 ? 7 : MAPS_NOBODY, p[0] & 2);
	memset(page_at, 0, sizeof page_at);
	if (p[0] & 1) {
		for (i = 1; i + 5 <= n; i += 5)
			happen(m, p + i, ++time);
		compare(m, ++time);
	} else {
		read_text(m, p + 1, n - 1);
	}
	for (end.time = UINT64_MAX / 2 + n, end.pid = 1; end.pid <= PROCS; end.pid++)
		maps_event(m, &end);
	maps_sweep(m, UINT64_MAX);
	left = maps_count(m);
	if (left.procs || left.ranges || left.files || left.bytes)
		abort();
	maps_free(m);
	return 0;
}
