/*
 * cov >= 230
 * Wire frames. First byte 0: the rest is a stream as it comes. 1 … 5: the
 * rest is the payload of a frame of that type under a right checksum, so that
 * the decoders behind it are reached. What decodes must encode again.
 */
#include "common/wire/wire.h"
#include "common/le.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static bool same_callers(const struct wire_batch *a, const struct wire_batch *b)
{
	const struct wire_caller *x = a->caller, *y = b->caller;
	uint32_t i;

	for (i = 0; i < a->ncaller && i < b->ncaller; i++, x++, y++)
		if (x->callee != y->callee || x->address != y->address || x->direct != y->direct ||
		    x->looked != y->looked || x->nsite != y->nsite || x->count != y->count ||
		    memcmp(x->site, y->site, x->nsite * sizeof *x->site))
			return false;
	return a->ncaller == b->ncaller;
}

static void decode(const void *p, size_t n, enum wire_type type)
{
	struct arena a = {0};
	struct buf again = {0};
	struct wire_batch b, b2;
	struct wire_hello h;
	struct wire_ack k;
	struct wire_want w;
	struct wire_boost o;
	struct err e;

	if (type == WIRE_HELLO)
		wire_get_hello(p, n, &h, &e);
	else if (type == WIRE_ACK)
		wire_get_ack(p, n, &k, &e);
	else if (type == WIRE_WANT)
		wire_get_want(p, n, &a, &w, &e);
	else if (type == WIRE_WATCH)
		wire_get_watch(p, n, &a, &w, &e);
	else if (type == WIRE_CYCLES)
		wire_get_cycles(p, n, &a, &w, &e);
	else if (type == WIRE_BOOST)
		wire_get_boost(p, n, &a, &o, &e);
	else if (!wire_get_batch(p, n, &a, &b, &e)) {
		wire_put_batch(&again, &b);
		if (wire_get_batch(again.p, again.n, &a, &b2, &e) || b2.taken != b.taken ||
		    b2.nmodule != b.nmodule || b2.nregs != b.nregs ||
		    b2.regs_unsent != b.regs_unsent ||
		    (b.nregs && memcmp(b2.regs, b.regs, b.nregs * sizeof *b.regs)) ||
		    b2.plain != b.plain || b2.extra != b.extra || b2.nrun != b.nrun ||
		    b2.runs_unsent != b.runs_unsent || b2.nelsewhere != b.nelsewhere ||
		    !same_callers(&b2, &b) ||
		    (b.nrun && memcmp(b2.run, b.run, b.nrun * sizeof *b.run)) ||
		    b2.nuse != b.nuse || (b.nuse && memcmp(b2.use, b.use, b.nuse * sizeof *b.use)))
			abort();
	}
	buf_free(&again);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct buf b = {0};
	enum wire_type type;
	struct err e;
	long r;

	if (!n)
		return 0;
	if (p[0] >= WIRE_HELLO && p[0] <= WIRE_CYCLES) {
		memcpy(buf_grow(&b, 8), "MrpW\1\0", 6);
		put_le16(b.p + 6, p[0]);
		buf_le64(&b, n - 1);
		buf_le64(&b, XXH3_64bits_withSeed(p + 1, n - 1, p[0]));
	}
	buf_add(&b, p + 1, n - 1);
	r = wire_frame(b.p, b.n, &type, &e);
	if (p[0] >= WIRE_HELLO && p[0] <= WIRE_CYCLES && r != (long)b.n)
		abort();
	if (r > 0)
		decode(b.p, (size_t)r, type);
	buf_free(&b);
	return 0;
}
