#include "morphctl/report/in/perf/file.h"
#include "common/le.h"

#include <linux/perf_event.h>

/* What follows the content of other records than samples, a word each (struct sample_id). */
#define TRAILER \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

enum { COUNTERS = 1 << 19 /* PERF_SAMPLE_BRANCH_COUNTERS, of Linux 6.8 */ };

struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static const uint8_t *take(struct cursor *c, uint64_t n, size_t size)
{
	const uint8_t *p = c->p;

	if (n > (size_t)(c->end - c->p) / size) {
		c->bad = true;
		return NULL;
	}
	c->p += n * size;
	return p;
}

static uint64_t word(struct cursor *c)
{
	const uint8_t *p = take(c, 1, 8);

	return p ? get_le64(p) : 0;
}

static uint64_t word_if(struct cursor *c, bool is)
{
	return is ? word(c) : 0;
}

static void get_task(struct cursor *c, struct perf_sample *s)
{
	uint64_t v = word(c);

	s->has_tid = true;
	s->pid = (uint32_t)v;
	s->tid = (uint32_t)(v >> 32);
}

/* struct read_format: each value with what belongs to it. Of one counter alone the times stand
 * between its value and its id. */
static void get_values(struct cursor *c, uint64_t format, struct perf_sample *s)
{
	unsigned times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);

	s->value_size = 8 + 8 * !!(format & PERF_FORMAT_ID) + 8 * !!(format & PERF_FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP) {
		s->nvalue = word(c);
		take(c, times, 8);
		s->value_id = format & PERF_FORMAT_ID ? 8 : 0;
		s->value = take(c, s->nvalue, s->value_size);
		return;
	}
	s->value_id = format & PERF_FORMAT_ID ? 8 + 8 * times : 0;
	s->value_size += 8 * times;
	s->nvalue = 1;
	s->value = take(c, 1, s->value_size);
}

static void get_branches(struct cursor *c, uint64_t kinds, struct perf_sample *s)
{
	s->nbranch = word(c);
	word_if(c, kinds & PERF_SAMPLE_BRANCH_HW_INDEX);
	s->branch = take(c, s->nbranch, 24);
	if (kinds & COUNTERS)
		take(c, s->nbranch, 8);
}

/* u64 abi, and registers where it is not 0. */
static void get_regs(struct cursor *c, uint64_t which, struct perf_sample *s)
{
	uint64_t abi = word(c);
	const uint8_t *p = abi ? take(c, (uint64_t)__builtin_popcountll(which), 8) : NULL;

	s->regs = abi == PERF_SAMPLE_REGS_ABI_64 ? p : NULL;
}

/* u64 size; bytes; and where there are any, u64 how many of them are meant. */
static void get_stack(struct cursor *c, struct perf_sample *s)
{
	uint64_t size = word(c);

	s->stack = take(c, size, 1);
	s->nstack = word_if(c, size);
	c->bad |= s->nstack > size;
}

/* The order is that of the kernel's header. What follows the stack (weight, …) is of no use here.
 */
static void get_fields(struct cursor *c, const struct perf_attr *a, struct perf_sample *s)
{
	uint64_t t = a->sample_type, n;

	s->id = word_if(c, t & PERF_SAMPLE_IDENTIFIER);
	s->has_ip = t & PERF_SAMPLE_IP;
	s->ip = word_if(c, s->has_ip);
	if (t & PERF_SAMPLE_TID)
		get_task(c, s);
	s->time = word_if(c, t & PERF_SAMPLE_TIME);
	word_if(c, t & PERF_SAMPLE_ADDR);
	if (t & PERF_SAMPLE_ID)
		s->id = word(c);
	word_if(c, t & PERF_SAMPLE_STREAM_ID);
	word_if(c, t & PERF_SAMPLE_CPU);
	s->period = t & PERF_SAMPLE_PERIOD ? word(c) : a->freq ? 1 : a->period;
	if (t & PERF_SAMPLE_READ)
		get_values(c, a->read_format, s);
	if (t & PERF_SAMPLE_CALLCHAIN) {
		s->nchain = word(c);
		s->chain = take(c, s->nchain, 8);
	}
	if (t & PERF_SAMPLE_RAW) {
		n = (uint64_t)(c->end - c->p) >= 4 ? get_le32(c->p) : 0;
		take(c, n + 4, 1);
	}
	if (t & PERF_SAMPLE_BRANCH_STACK)
		get_branches(c, a->branch_type, s);
	if (t & PERF_SAMPLE_REGS_USER)
		get_regs(c, a->user_regs, s);
	if (t & PERF_SAMPLE_STACK_USER)
		get_stack(c, s);
}

/* The words before a sample's id, of events that say it there; -1: they do not. */
static int id_place(const struct perf_attr *a)
{
	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(a->sample_type & PERF_SAMPLE_ID))
		return -1;
	return __builtin_popcountll(a->sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

static struct perf_attr *by_id(const struct perf *f, uint64_t id)
{
	uint64_t *at = htab_get(&f->id, &(uint64_t){htole64(id)}, 8);

	if (!id)
		return f->attr.v;
	return at ? &f->attr.v[*at] : NULL;
}

/* Several events have their ids at one place: perf refuses others, too. */
static int attr_of(
    const struct perf *f, const struct perf_record *rec, struct perf_attr **attr, struct err *e)
{
	int place;

	*attr = f->attr.v;
	if (f->attr.n == 1)
		return 0;
	if (!f->attr.n)
		return perf_bad(f, rec->at, e, "a sample before the attributes of its event");
	place = id_place(f->attr.v);
	if (place < 0)
		return perf_bad(f, rec->at, e, "several events, and samples do not say which");
	if (rec->n < 16 + 8 * (size_t)place)
		return perf_bad(f, rec->at, e, "a sample is cut off");
	*attr = by_id(f, get_le64(rec->p + 8 + 8 * place));
	if (*attr && id_place(*attr) != place)
		return perf_bad(f, rec->at, e, "several events, and samples do not say which");
	return 0;
}

int perf_get_sample(const struct perf *f, const struct perf_record *rec, struct perf_attr **attr,
    struct perf_sample *s, struct err *e)
{
	struct cursor c = {rec->p + 8, rec->p + rec->n, false};

	*s = (struct perf_sample){0};
	if (attr_of(f, rec, attr, e))
		return -1;
	if (!*attr)
		return 0;
	get_fields(&c, *attr, s);
	return c.bad ? perf_bad(f, rec->at, e, "a sample is cut off") : 0;
}

static const struct perf_attr *trailer_attr(const struct perf *f, const struct perf_record *rec)
{
	const struct perf_attr *a = f->attr.v;

	if (f->attr.n > 1 && (a->sample_type & PERF_SAMPLE_IDENTIFIER) && rec->n >= 16)
		a = by_id(f, get_le64(rec->p + rec->n - 8)) ?: a;
	return a;
}

static size_t trailer(const struct perf_attr *a, const struct perf_record *rec)
{
	size_t n = a && a->id_all ? 8 * __builtin_popcountll(a->sample_type & TRAILER) : 0;

	return n <= rec->n - 8 ? n : 0;
}

size_t perf_record_end(const struct perf *f, const struct perf_record *rec)
{
	return rec->n - trailer(trailer_attr(f, rec), rec);
}

uint64_t perf_sample_time(const struct perf_attr *a, const struct perf_record *rec, uint64_t time)
{
	if (!a || !(a->sample_type & PERF_SAMPLE_TIME))
		return rec->seq;
	return time == UINT64_MAX ? 0 : time;
}

uint64_t perf_record_time(const struct perf *f, const struct perf_record *rec)
{
	const struct perf_attr *a = trailer_attr(f, rec);
	size_t n = trailer(a, rec);
	uint64_t time = 0;

	if (n && a->sample_type & PERF_SAMPLE_TIME)
		time = get_le64(rec->p + rec->n - n + (a->sample_type & PERF_SAMPLE_TID ? 8 : 0));
	return perf_sample_time(a, rec, time);
}
