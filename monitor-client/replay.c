#include "monitor-client/replay.h"
#include "common/log.h"
#include "common/publish.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/uplink/session.h"
#include "monitor-client/uplink/uplink.h"

#include <inttypes.h>
#include <unistd.h>

/* How long the manager may take to come up, and to take a batch. */
#define PATIENCE (10 * SECOND)

struct replay {
	struct wire_hello hello; /* of the new session; session 0: not seen yet */
	struct uplink up;
	uint64_t seq, taken;
};

static int deliver(struct replay *r, struct envelope *l, struct err *e)
{
	uint64_t end = clock_now() + PATIENCE;

	uplink_offer(&r->up, l);
	while (!uplink_idle(&r->up)) {
		if (clock_now() > end) {
			uplink_forget(&r->up);
			return err_set(e, "the manager at %s does not take batch %" PRIu64,
			    r->up.path, r->seq);
		}
		uplink_finish(&r->up, SECOND);
		if (!uplink_idle(&r->up))
			usleep(50000);
	}
	return r->up.lost
		   ? err_set(e, "the manager at %s refuses batch %" PRIu64, r->up.path, r->seq)
		   : 0;
}

static int replay_hello(
    struct replay *r, const void *p, size_t n, const char *socket, struct err *e)
{
	if (r->hello.session)
		return err_set(e, "a second HELLO");
	if (wire_get_hello(p, n, &r->hello, e))
		return -1;
	r->hello = session_hello(WIRE_SRC_RECORDED, r->hello.period_ns);
	uplink_init(&r->up, socket, &r->hello, NULL);
	return 0;
}

static int replay_batch(struct replay *r, const void *p, size_t n, struct err *e)
{
	struct envelope l = {.hello = r->hello};
	struct arena a = {0};
	struct wire_batch b;
	int rc;

	if (!r->hello.session)
		return err_set(e, "a batch before any HELLO");
	rc = wire_get_batch(p, n, &a, &b, e);
	if (!rc && b.nregs) {
		wire_wipe_regs(&b);
		rc = err_set(e, "a batch with registers, which no file may hold");
	}
	if (!rc) {
		b.session = r->hello.session;
		b.seq = l.seq = ++r->seq;
		l.start_ns = b.start_ns;
		l.taken = b.taken;
		r->taken += b.taken;
		wire_put_batch(&l.batch, &b);
		rc = deliver(r, &l, e);
		envelope_free(&l);
	}
	arena_free(&a);
	return rc;
}

static int replay_frames(
    struct replay *r, const char *p, size_t n, const char *socket, struct err *e)
{
	enum wire_type type;
	long len;

	while (n) {
		if ((len = wire_frame(p, n, &type, e)) < 0)
			return -1;
		if (!len)
			return err_set(e, "ends within a frame");
		if (type == WIRE_HELLO && replay_hello(r, p, (size_t)len, socket, e))
			return -1;
		if (type == WIRE_BATCH && replay_batch(r, p, (size_t)len, e))
			return -1;
		p += len;
		n -= (size_t)len;
	}
	return r->seq ? 0 : err_set(e, "holds no batch");
}

int replay_file(const char *path, const char *socket, struct err *e)
{
	struct replay r = {.up = {.fd = -1}};
	struct buf b = {0};
	int rc = file_read(path, 0, &b, e);

	if (!rc && replay_frames(&r, b.p, b.n, socket, e))
		rc = err_wrap(e, "%s", path);
	if (!rc)
		log_info("replayed %" PRIu64 " batches, %" PRIu64 " samples", r.seq, r.taken);
	if (r.hello.session)
		uplink_close(&r.up);
	buf_free(&b);
	return rc;
}
