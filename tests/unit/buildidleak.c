/* What the check says of kernels that differ, and that it harms nobody on this one. */
#include "monitor-client/kernel/ring.h"
#include "tests/unit/unit.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* The kernel as the check sees it: two events, in order of their opening. */
static struct {
	enum { REAL, FIXED, LEAKS_TO_LATER, LEAKS_TO_EARLIER, HAS_NONE, TELLS_NOTHING } kind;
	struct ring *ring[2];
	int n;
} kernel;

static int fake_ring_open(struct ring *r, int fd, unsigned pages, struct err *e);
static enum record_kind fake_ring_next(
    struct ring *r, enum sample_shape shape, struct event *ev, uint64_t *lost);
static void *mapped_at;
static void *note_mmap(void *p, size_t n, int prot, int flags, int fd, long at);

#define ring_open fake_ring_open
#define ring_next fake_ring_next
#define mmap(...) note_mmap(__VA_ARGS__)
#include "monitor-client/kernel/buildidleak.c" /* on that kernel */
#undef mmap
#undef ring_next
#undef ring_open

static bool asking[2]; /* of those in order of their opening */

static int fake_ring_open(struct ring *r, int fd, unsigned pages, struct err *e)
{
	if (kernel.n == 2)
		kernel.n = 0;
	kernel.ring[kernel.n++] = r;
	return ring_open(r, fd, pages, e);
}

static void *note_mmap(void *p, size_t n, int prot, int flags, int fd, long at)
{
	return mapped_at = mmap(p, n, prot, flags, fd, at);
}

/* Of a ring one record, then the end. */
static enum record_kind fake_ring_next(
    struct ring *r, enum sample_shape shape, struct event *ev, uint64_t *lost)
{
	int i = r == kernel.ring[1];
	bool flag = asking[i];

	if (kernel.kind == REAL)
		return ring_next(r, shape, ev, lost);
	if (kernel.kind == TELLS_NOTHING)
		return REC_END;
	if (kernel.kind == HAS_NONE)
		flag = false;
	if (kernel.kind == LEAKS_TO_LATER && i)
		flag |= asking[0];
	if (kernel.kind == LEAKS_TO_EARLIER && !i)
		flag |= asking[1];
	*ev = (struct event){.kind = EV_MAP};
	ev->map.start = (uint64_t)(uintptr_t)mapped_at;
	ev->map.ino = flag ? 0 : 7;
	return REC_EVENT;
}

static bool no_events(void)
{
	struct listener l = {.fd = -1};
	struct err e;
	bool none = listener_open(&l, true, &e) != 0;

	listener_close(&l);
	return none;
}

static bool is_safe(int kind, bool plain_first, const char *why)
{
	struct err e = {""};
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), r;

	kernel.kind = kind;
	kernel.n = 0;
	asking[0] = !plain_first;
	asking[1] = plain_first;
	r = check_order(plain_first ? PLAIN : ASKING, exe, &e);
	close(exe);
	if (r)
		ck_assert_msg(strstr(e.text, why) != NULL, "%s", e.text);
	return r == 0;
}

START_TEST(either_order_of_opening_shows_a_leak)
{
	if (no_events())
		return;
	ck_assert(is_safe(FIXED, true, ""));
	ck_assert(is_safe(FIXED, false, ""));
	ck_assert(is_safe(LEAKS_TO_LATER, true, ""));
	ck_assert(!is_safe(LEAKS_TO_LATER, false, "spoils"));
	ck_assert(!is_safe(LEAKS_TO_EARLIER, true, "spoils"));
	ck_assert(is_safe(LEAKS_TO_EARLIER, false, ""));
}
END_TEST

START_TEST(what_cannot_be_found_out_is_not_used)
{
	if (no_events())
		return;
	ck_assert(!is_safe(HAS_NONE, true, "without one"));
	ck_assert(!is_safe(TELLS_NOTHING, true, "without one"));
}
END_TEST

/* A session that watches this program, too, and reads no more than its code. */
START_TEST(the_check_itself_spoils_nothing)
{
	struct perf_event_attr a = {.size = sizeof a,
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	    .sample_id_all = 1,
	    .mmap = 1,
	    .mmap2 = 1,
	    .exclude_kernel = 1};
	int other = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), next;
	struct ring r;
	struct event ev;
	struct err e;
	uint64_t lost;
	bool before, after;

	if (other < 0)
		return;
	ck_assert_int_eq(ring_open(&r, other, 4, &e), 0);
	r.build_ids = true;
	kernel.kind = REAL;
	before = buildidleak_check(&e) == 0;
	after = buildidleak_check(&e) == 0;
	ck_assert_int_eq(before, after);
	ck_assert_int_eq(ring_next(&r, SHAPE_NONE, &ev, &lost), REC_END);
	ring_close(&r);
	close(other);
	next = dup(0);
	ck_assert_int_le(next, other); /* no descriptor is left */
	close(next);
}
END_TEST

UNIT_MAIN("buildidleak", 0, NULL, NULL, either_order_of_opening_shows_a_leak,
    what_cannot_be_found_out_is_not_used, the_check_itself_spoils_nothing)
