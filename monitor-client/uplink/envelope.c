#include "monitor-client/uplink/envelope.h"

void envelope_put(const struct envelope *l, struct buf *out)
{
	wire_put_hello(out, &l->hello);
	buf_add(out, l->batch.p, l->batch.n);
}

int envelope_get(const void *p, size_t n, struct envelope *l, struct err *e)
{
	enum wire_type type;
	struct wire_batch b;
	struct arena a = {0};
	long hello, batch;
	int r;

	*l = (struct envelope){0};
	if ((hello = wire_frame(p, n, &type, e)) < 0)
		return -1;
	if (!hello || type != WIRE_HELLO)
		return err_set(e, "does not begin with a HELLO frame");
	if (wire_get_hello(p, (size_t)hello, &l->hello, e))
		return -1;
	p = (const char *)p + hello;
	n -= (size_t)hello;
	if ((batch = wire_frame(p, n, &type, e)) < 0)
		return -1;
	if (!batch || type != WIRE_BATCH || (size_t)batch != n)
		return err_set(e, "does not hold one BATCH frame");
	r = wire_get_batch(p, n, &a, &b, e);
	if (!r && b.session != l->hello.session)
		r = err_set(e, "its batch is of another session");
	if (!r && b.nregs) {
		wire_wipe_regs(&b);
		r = err_set(e, "holds registers, which no file may");
	}
	if (!r) {
		l->seq = b.seq;
		l->start_ns = b.start_ns;
		l->taken = b.taken;
		l->runs = b.nrun + b.runs_unsent;
		buf_add(&l->batch, p, n);
	}
	arena_free(&a);
	return r;
}

uint64_t envelope_wipe(struct envelope *l)
{
	uint64_t n = l->nregs;

	buf_wipe(&l->secret);
	buf_free(&l->secret);
	l->nregs = 0;
	return n;
}

void envelope_free(struct envelope *l)
{
	envelope_wipe(l);
	buf_free(&l->batch);
	*l = (struct envelope){0};
}
