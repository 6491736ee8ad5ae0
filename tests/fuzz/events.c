/*
 * cov >= 190
 * What the manager hears from its parent. Even first byte: ends of tasks, each of
 * them a byte that says which, u16 length and its fields; the blob is the
 * input. Odd: the answer to a short request.
 */
#include "common/publish.h"
#include "managerd/priv/priv.h"
#include "managerd/priv/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static struct priv *manager;
static int verbs, events; /* the parent's ends */
static unsigned heard;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int memory(const void *p, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd >= 0 && file_write_all(fd, p, n) >= 0);
	return fd;
}

/* All of it is there. */
static void touch(const void *p, size_t n)
{
	must(!n || memchr(p, *(const uint8_t *)p, n));
	must(!n || memrchr(p, ((const uint8_t *)p)[n - 1], n));
}

static void on_inspected(const struct priv_inspected *r, void *arg)
{
	heard++;
	must(r->why && r->artifact && r->refused && r->id.n <= 32 && r->origin.n <= 32);
	must(!r->ntable == !r->table && !r->nmap == !r->map);
	touch(r->table, r->ntable);
	touch(r->map, r->nmap);
}

static void on_ended(const struct priv_ended *r, void *arg)
{
	heard++;
	must(r->why && r->id.n <= 32 && r->origin.n <= 32 && !r->blob->n == !r->blob->p);
	touch(r->blob->p, r->blob->n);
}

static void on_swapped(const struct priv_swapped *r, void *arg)
{
	heard++;
	must(r->why && r->from.n <= 32 && r->to.n <= 32);
}

static void on_recovered(const struct swap_outcome *o, void *arg)
{
	must(o->module && o->from.n <= 32 && o->to.n <= 32);
}

static void begin(void)
{
	int v[2], ev[2];

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, v) &&
	     !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ev));
	manager = priv_connect(v[0], ev[0]);
	verbs = v[1];
	events = ev[1];
}

static void end(void)
{
	priv_close(manager);
	close(verbs);
	close(events);
}

/* Before it is asked for. */
static void answer(uint32_t verb, const void *p, size_t n)
{
	struct buf b = {0};

	frame_u32(&b, verb);
	buf_add(&b, p, n);
	must(!frame_send(verbs, &b, NULL, 0, NULL));
	buf_free(&b);
}

static void begun(uint32_t verb, uint64_t task)
{
	struct buf b = {0};

	frame_u32(&b, 0);
	frame_str(&b, "");
	frame_u64(&b, task);
	answer(verb, b.p, b.n);
	buf_free(&b);
}

static void tell(uint8_t what, const void *p, size_t n, int blob)
{
	struct buf b = {0};

	frame_u32(&b, FRAME_INSPECTED + (what & 3));
	frame_u64(&b, what >> 2 & 3);
	buf_add(&b, p, n);
	must(!frame_send(events, &b, &blob, what >> 4 & 1, NULL));
	buf_free(&b);
	priv_dispatch(manager);
}

/* The tasks 1, 2, 3 end. Each: what, u16 length, fields. */
static void ends(const uint8_t *p, size_t n)
{
	static const struct build_id none[2];
	const struct priv_job job = {.kind = PRIV_BUILD,
	    .module = "/m",
	    .samples = -1,
	    .out = STDERR_FILENO,
	    .err = STDERR_FILENO};
	int blob = memory(p, n);
	size_t take;

	begun(FRAME_INSPECT, 1);
	begun(FRAME_JOB, 2);
	begun(FRAME_SWAP, 3);
	heard = 0;
	must(priv_inspect(manager, "/m", none, 0, on_inspected, NULL, NULL) == 1);
	must(priv_job(manager, &job, on_ended, NULL, NULL) == 2);
	must(priv_swap(manager, 2, on_swapped, NULL, NULL) == 3);
	for (; n >= 3; p += take, n -= take) {
		uint8_t what = p[0];

		take = (size_t)(p[1] | p[2] << 8);
		p += 3;
		n -= 3;
		take = take < n ? take : n;
		tell(what, p, take < FRAME_MAX / 2 ? take : FRAME_MAX / 2, blob);
	}
	must(heard <= 3);
	close(blob);
}

static void asks(uint8_t which, const uint8_t *p, size_t n)
{
	static const enum frame_verb verb[] = {
	    FRAME_STAMP, FRAME_KEPT, FRAME_RECOVERED, FRAME_CPU, FRAME_HELD, FRAME_SIGNAL};
	const struct swap_kept *kept = NULL;
	struct priv_stamp stamp;
	struct arena a = {0};
	struct err e = {""};
	size_t i, count;

	which %= sizeof verb / sizeof *verb;
	answer(verb[which], p, n < FRAME_MAX / 2 ? n : FRAME_MAX / 2);
	answer(FRAME_RECOVERED, "\1\0\0\0\0\0\0", 8); /* no more */
	switch (verb[which]) {
	case FRAME_STAMP:
		priv_stamp(manager, "/m", &stamp);
		break;
	case FRAME_KEPT:
		count = priv_kept(manager, "/m", &a, &kept);
		for (i = 0; i < count; i++)
			must(kept[i].id.n <= 32);
		break;
	case FRAME_RECOVERED:
		priv_recovered(manager, on_recovered, NULL, &e);
		break;
	case FRAME_HELD:
		priv_held(manager, "/m");
		break;
	case FRAME_SIGNAL:
		priv_signal(manager, 1, 9, &e);
		break;
	default:
		priv_job_cpu(manager, 1);
	}
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	if (n < 3)
		return 0;
	begin();
	if (p[0] & 1)
		asks(p[0] >> 2, p + 1, n - 1);
	else
		ends(p + 1, n - 1);
	end();
	return 0;
}
