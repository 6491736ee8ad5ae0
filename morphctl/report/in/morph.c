/* What morph-monitor --record writes: frames of common/wire, HELLO first. Samples have no stacks.
 */
#include "morphctl/report/in/format.h"
#include "common/wire/wire.h"

#include <string.h>

struct reader {
	struct recording *r;
	uint32_t event; /* RECORDING_NONE before the first HELLO */
	uint64_t period;
};

static int hello(struct reader *x, const void *frame, size_t n, struct err *e)
{
	struct wire_hello h;

	if (wire_get_hello(frame, n, &h, e))
		return -1;
	x->period = h.period_ns;
	x->event =
	    recording_event(x->r, h.source == WIRE_SRC_CPU_CLOCK ? "cpu-clock" : "cpu-time", "ns");
	return 0;
}

static void add(struct reader *x, uint32_t file, uint64_t offset, uint64_t n, uint64_t time)
{
	struct recording_sample s = {
	    .event = x->event, .task = RECORDING_NONE, .time_ns = time, .n = n};

	if (!n)
		return;
	s.period = n > UINT64_MAX / x->period ? UINT64_MAX : n * x->period;
	s.stack = recording_stack(x->r, RECORDING_NONE, recording_location(x->r, file, offset));
	recording_sample(x->r, &s);
}

/* Of the kernel, and of what has no build-id, only the number is there. Extra samples of boosted
 * builds are left out: they stand for no time of their own. */
static void add_batch(struct reader *x, const struct wire_batch *b)
{
	const struct wire_module *m;
	uint32_t i, k, file;

	for (i = 0; i < b->nmodule; i++) {
		m = &b->module[i];
		file = recording_file(x->r, RECORDING_ELF, m->path, &m->id, 0);
		for (k = 0; k < m->nsample; k++)
			add(x, file, m->sample[k].offset, m->sample[k].count, b->start_ns);
	}
	add(x, recording_file(x->r, RECORDING_KERNEL, "[kernel]", NULL, 0), 0, b->kernel,
	    b->start_ns);
	add(x, recording_file(x->r, RECORDING_ANON, "[outside]", NULL, 0), 0, b->outside,
	    b->start_ns);
	x->r->lost += b->dropped;
}

static int frame(struct reader *x, const void *p, size_t n, enum wire_type type, struct err *e)
{
	struct arena a = {0};
	struct wire_batch b;
	int result = -1;

	if (type == WIRE_HELLO)
		return hello(x, p, n, e);
	if (type != WIRE_BATCH || x->event == RECORDING_NONE)
		return err_set(e, "a frame of another type than HELLO and, after it, BATCH");
	if (!wire_get_batch(p, n, &a, &b, e)) {
		add_batch(x, &b);
		wire_wipe_regs(&b);
		result = 0;
	}
	arena_free(&a);
	return result;
}

static int read_morph(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct reader x = {.r = r, .event = RECORDING_NONE};
	enum wire_type type;
	size_t at = 0;
	long n;

	for (; at < f->n; at += (size_t)n) {
		n = wire_frame(f->p + at, f->n - at, &type, e);
		if (!n)
			err_set(e, "a frame is cut off");
		if (n <= 0 || frame(&x, f->p + at, (size_t)n, type, e)) {
			err_wrap(e, "%s: offset %zu", f->name, at);
			return -1;
		}
	}
	return 0;
}

static bool is_morph(const struct in_file *f)
{
	return f->n >= 4 && !memcmp(f->p, "MrpW", 4);
}

const struct in_format in_morph = {
    "morph", "what morph-monitor --record wrote", is_morph, read_morph};
