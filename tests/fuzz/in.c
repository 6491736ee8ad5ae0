/*
 * cov >= 1000
 * Files of profilers. First byte: 0, found out by the content; 1 …: the format of that number. What
 * was read leads nowhere outside of itself. Stacks of perf.data are unwound here, not by a child.
 */
#include "morphctl/report/in/format.h"
#include "morphctl/report/in/perf/perf.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(is) \
	do { \
		if (!(is)) \
			abort(); \
	} while (0)

static bool is_index(uint32_t i, size_t n)
{
	return i < n || i == RECORDING_NONE;
}

static void check(const struct recording *r)
{
	size_t i;

	for (i = 0; i < r->location.n; i++) {
		CHECK(r->location.v[i].file < r->file.n);
		CHECK(r->location.v[i].frame + (size_t)r->location.v[i].nframe <= r->frame.n);
	}
	for (i = 0; i < r->frame.n; i++)
		CHECK(r->frame.v[i].function < r->function.n);
	for (i = 0; i < r->stack.n; i++) {
		CHECK(r->stack.v[i].location < r->location.n);
		CHECK(is_index(r->stack.v[i].caller, i)); /* no circles */
	}
	for (i = 0; i < r->sample.n; i++) {
		CHECK(r->sample.v[i].event < r->event.n && r->sample.v[i].n);
		CHECK(is_index(r->sample.v[i].task, r->task.n));
		CHECK(is_index(r->sample.v[i].stack, r->stack.n));
	}
	for (i = 0; i < r->branch.n; i++)
		CHECK(is_index(r->branch.v[i].from, r->location.n) &&
		      is_index(r->branch.v[i].to, r->location.n) && r->branch.v[i].n);
	for (i = 0; i < r->range.n; i++)
		CHECK(r->range.v[i].from < r->location.n && r->range.v[i].to < r->location.n);
}

static int here(int (*run)(void *, struct buf *, struct err *), void *arg, size_t bytes,
    struct buf *answer, struct err *e)
{
	return run(arg, answer, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	bool perf;
	struct in_options o = {.module = "tests/corpus/fuzz/elf/shared.so"};
	struct recording r = {0};
	struct err e = {""};

	if (!n)
		return 0;
	o.format = p[0] ? in_format_name(p[0] - 1, NULL) : NULL;
	if (p[0] && !o.format)
		return 0;
	perf = p[0] ? !strcmp(o.format, "perf") : perf_is(p + 1, n - 1);
	if (perf ? perf_read(&r, "f", p + 1, n - 1, here, &e)
		 : in_read_bytes(&r, "f", p + 1, n - 1, &o, &e))
		CHECK(e.text[0]);
	check(&r);
	recording_free(&r);
	return 0;
}
