#include "monitor-client/kernel/buildidleak.h"
#include "monitor-client/kernel/ring.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLAIN, ASKING, LISTENERS }; /* ASKING: with attr.build_id */

struct listener {
	int fd; /* -1: none */
	struct ring ring;
};

static int listener_open(struct listener *l, bool build_id, struct err *e)
{
	struct perf_event_attr a = {.size = sizeof a,
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	    .sample_id_all = 1,
	    .mmap = 1,
	    .mmap2 = 1,
	    .mmap_data = 1,
	    .build_id = build_id,
	    .exclude_kernel = 1,
	    .exclude_hv = 1};

	l->fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (l->fd < 0)
		return err_sys(e, "perf event of mappings%s", build_id ? " with build-ids" : "");
	if (ring_open(&l->ring, l->fd, 1, e))
		return -1;
	l->ring.build_ids = true; /* where the record says so */
	return 0;
}

static void listener_close(struct listener *l)
{
	if (l->fd < 0)
		return;
	ring_close(&l->ring);
	close(l->fd);
}

/* Whether the record of this mapping says that it has a build-id, which stands in the place of the
 * inode. -1: there is no record. */
static int says_build_id(struct listener *l, uint64_t start)
{
	enum record_kind k;
	struct event ev;
	uint64_t lost;

	while ((k = ring_next(&l->ring, SHAPE_NONE, &ev, &lost)) != REC_END)
		if (k == REC_EVENT && ev.kind == EV_MAP && ev.map.start == start)
			return !ev.map.ino;
	return -1;
}

static int judge(struct listener l[LISTENERS], uint64_t start, struct err *e)
{
	if (says_build_id(&l[ASKING], start) != 1)
		return err_set(e, "this program's own mapping came without one");
	switch (says_build_id(&l[PLAIN], start)) {
	case 0:
		return 0;
	case 1:
		return err_set(e, "the kernel spoils records of other perf sessions with them");
	default:
		return err_set(e, "this program's own mapping was not recorded");
	}
}

/* Which of the two gets a record first depends on which was opened first. */
static int check_order(int first, int exe, struct err *e)
{
	struct listener l[LISTENERS] = {{.fd = -1}, {.fd = -1}};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = MAP_FAILED;
	int i, r = 0;

	for (i = 0; !r && i < LISTENERS; i++)
		r = listener_open(&l[first ^ i], (first ^ i) == ASKING, e);
	if (!r && (at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, exe, 0)) == MAP_FAILED)
		r = err_sys(e, "mapping this program");
	if (!r)
		r = judge(l, (uint64_t)(uintptr_t)at, e);
	if (at != MAP_FAILED)
		munmap(at, page);
	for (i = 0; i < LISTENERS; i++)
		listener_close(&l[i]);
	return r;
}

int buildidleak_check(struct err *e)
{
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), r;

	if (exe < 0)
		return err_sys(e, "/proc/self/exe");
	r = check_order(PLAIN, exe, e);
	if (!r)
		r = check_order(ASKING, exe, e);
	close(exe);
	return r;
}
