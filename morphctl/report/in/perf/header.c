#include "morphctl/report/in/perf/file.h"
#include "morphctl/report/recording/recording.h"
#include "common/le.h"

#include <linux/perf_event.h>
#include <string.h>

/*
 * File:  magic, u64 size of this header, u64 size of an attr with its ids; sections (u64 offset,
 *        size) of attrs, data, event types; u64 features[4], a bit each: 104 bytes. After the data
 * a section for each feature. Pipe:  magic, u64 16; all else are records.
 */
enum { MAGIC = 8, PIPE = 16, FILE_HEADER = 104, FEATURES = 72, SECTION = 16, ATTR_MIN = 64 };
enum { FEATURE_BUILD_ID = 2, FEATURE_EVENT_DESC = 12, FEATURE_BITS = 256 };
enum { UPDATE_NAME = 2, BUILD_ID_SIZE = 1 << 15 /* misc: the size is said */ };

/* Bits of struct perf_event_attr. */
enum { INHERIT = 1 << 1, FREQ = 1 << 10, SAMPLE_ID_ALL = 1 << 18 };
#define BUILD_ID (1ULL << 34)

struct bytes {
	const uint8_t *p;
	uint64_t n;
};

static int section(const struct perf *f, uint64_t at, struct bytes *s, struct err *e)
{
	uint64_t offset = get_le64(f->p + at);

	s->n = get_le64(f->p + at + 8);
	if (offset > f->n || s->n > f->n - offset)
		return perf_bad(f, at, e, "a section exceeds the file");
	s->p = f->p + offset;
	return 0;
}

static uint64_t offset_of(const struct perf *f, const struct bytes *s)
{
	return (uint64_t)(s->p - f->p);
}

/* n bytes of struct perf_event_attr; newer ones are longer. */
static void add_attr(struct perf *f, const uint8_t *p, size_t n)
{
	uint64_t bits = get_le64(p + 40);

	f->build_ids |= (bits & BUILD_ID) != 0;
	vec_push(&f->attr, (struct perf_attr){.type = get_le32(p),
			       .config = get_le64(p + 8),
			       .period = get_le64(p + 16),
			       .sample_type = get_le64(p + 24),
			       .read_format = get_le64(p + 32),
			       .branch_type = n >= 80 ? get_le64(p + 72) : 0,
			       .user_regs = n >= 88 ? get_le64(p + 80) : 0,
			       .freq = bits & FREQ,
			       .id_all = bits & SAMPLE_ID_ALL,
			       .inherit = bits & INHERIT,
			       .event = RECORDING_NONE});
}

/* The ids of the last attr. */
static void add_ids(struct perf *f, const uint8_t *p, uint64_t n)
{
	uint64_t i;

	for (i = 0; i + 8 <= n; i += 8)
		*htab_put(&f->id, p + i, 8, NULL) = f->attr.n - 1;
}

static int read_attrs(struct perf *f, struct err *e)
{
	uint64_t size = get_le64(f->p + 16), i;
	struct bytes all = {0}, ids = {0};

	if (section(f, 24, &all, e))
		return -1;
	if (size < ATTR_MIN + SECTION || all.n % size)
		return perf_bad(f, 16, e, "the attributes have no such size");
	for (i = 0; i < all.n; i += size) {
		if (section(f, offset_of(f, &all) + i + size - SECTION, &ids, e))
			return -1;
		add_attr(f, all.p + i, size - SECTION);
		add_ids(f, ids.p, ids.n);
	}
	return 0;
}

/* The builds' ids: 20 bytes, and where it is said their number; else zeros fill up shorter ones. */
static struct build_id build_id(const uint8_t *p, bool said)
{
	static const uint8_t zero[12];
	struct build_id id = {.n = 20};

	if (said && p[20] <= 20)
		id.n = p[20];
	else if (!memcmp(p + 8, zero, 12))
		id.n = 8;
	else if (!memcmp(p + 16, zero, 4))
		id.n = 16;
	memcpy(id.b, p, id.n);
	return id;
}

static int add_build_id(struct perf *f, const struct perf_record *rec, struct err *e)
{
	enum { ID = 12, PATH = 36 };
	bool fresh;
	uint64_t *at;

	if (rec->n <= PATH || !memchr(rec->p + PATH, '\0', rec->n - PATH))
		return perf_bad(f, rec->at, e, "a build-id's record is cut off");
	at = htab_put_str(&f->builds, (const char *)rec->p + PATH, &fresh);
	if (fresh) {
		*at = f->build_id.n;
		vec_push(&f->build_id, build_id(rec->p + ID, rec->misc & BUILD_ID_SIZE));
	}
	return 0;
}

static int read_build_ids(struct perf *f, const struct bytes *s, struct err *e)
{
	struct perf_record rec;
	uint64_t i;

	for (i = 0; i < s->n; i += rec.n) {
		rec = (struct perf_record){.at = offset_of(f, s) + i, .p = s->p + i};
		if (s->n - i < 8)
			return perf_bad(f, rec.at, e, "a build-id's record is cut off");
		rec.misc = get_le16(rec.p + 4);
		rec.n = get_le16(rec.p + 6);
		if (rec.n < 8 || rec.n > s->n - i)
			return perf_bad(f, rec.at, e, "a build-id's record is cut off");
		if (add_build_id(f, &rec, e))
			return -1;
	}
	return 0;
}

static const char *copy_name(struct perf *f, const uint8_t *p, size_t n)
{
	return arena_strndup(&f->mem, (const char *)p, strnlen((const char *)p, n));
}

/* u32 number, u32 size of an attr; of each: attr, u32 ids, u32 length and bytes of the name, ids.
 */
static int read_names(struct perf *f, const struct bytes *s, uint64_t at, struct err *e)
{
	uint64_t i = 8, size, ids, length;
	uint32_t n, k;

	if (s->n < 8)
		return perf_bad(f, at, e, "the events' descriptions are cut off");
	n = get_le32(s->p);
	size = get_le32(s->p + 4);
	for (k = 0; k < n; k++) {
		if (s->n - i < 8 || size > s->n - i - 8)
			return perf_bad(f, at, e, "the events' descriptions are cut off");
		i += size;
		ids = (uint64_t)get_le32(s->p + i) * 8;
		length = get_le32(s->p + i + 4);
		i += 8;
		if (length > s->n - i || ids > s->n - i - length)
			return perf_bad(f, at, e, "the events' descriptions are cut off");
		if (k < f->attr.n && length && s->p[i])
			f->attr.v[k].name = copy_name(f, s->p + i, length);
		i += length + ids;
	}
	return 0;
}

static int read_features(struct perf *f, struct err *e)
{
	uint64_t at = f->data_end, features = FEATURES;
	struct bytes s = {0};
	unsigned bit;

	for (bit = 0; bit < FEATURE_BITS; bit++) {
		if (!(f->p[features + bit / 8] >> bit % 8 & 1))
			continue;
		if (f->n - at < SECTION)
			return perf_bad(f, at, e, "the features are cut off");
		if (section(f, at, &s, e))
			return -1;
		if (bit == FEATURE_BUILD_ID && read_build_ids(f, &s, e))
			return -1;
		if (bit == FEATURE_EVENT_DESC && read_names(f, &s, offset_of(f, &s), e))
			return -1;
		at += SECTION;
	}
	return 0;
}

int perf_read_header(struct perf *f, struct err *e)
{
	struct bytes data = {0};

	f->pipe = f->n >= PIPE && get_le64(f->p + MAGIC) == PIPE;
	if (f->pipe) {
		f->data = PIPE;
		f->data_end = f->n;
		return 0;
	}
	if (f->n < FILE_HEADER || get_le64(f->p + MAGIC) < FILE_HEADER)
		return perf_bad(f, MAGIC, e, "the header is cut off, or of another version");
	if (read_attrs(f, e) || section(f, 40, &data, e))
		return -1;
	f->data = offset_of(f, &data);
	f->data_end = f->data + data.n;
	if (data.n)
		return read_features(f, e);
	/* perf was killed: the records go on to the end. */
	f->data_end = f->n;
	return 0;
}

static int attr_record(struct perf *f, const struct perf_record *rec, struct err *e)
{
	uint64_t size = rec->n >= 8 + ATTR_MIN ? get_le32(rec->p + 12) : 0;

	if (!size)
		size = ATTR_MIN;
	if (size < ATTR_MIN || size > rec->n - 8 || rec->n < 8 + ATTR_MIN)
		return perf_bad(f, rec->at, e, "an attribute has no such size");
	add_attr(f, rec->p + 8, size);
	add_ids(f, rec->p + 8 + size, rec->n - 8 - size);
	return 0;
}

static int update_record(struct perf *f, const struct perf_record *rec, struct err *e)
{
	uint64_t *attr;

	if (rec->n < 24)
		return perf_bad(f, rec->at, e, "an event's update is cut off");
	attr = htab_get(&f->id, rec->p + 16, 8);
	if (attr && get_le64(rec->p + 8) == UPDATE_NAME && rec->n > 24)
		f->attr.v[*attr].name = copy_name(f, rec->p + 24, rec->n - 24);
	return 0;
}

static int feature_record(struct perf *f, const struct perf_record *rec, struct err *e)
{
	struct bytes s = {rec->p + 16, rec->n - 16};

	if (rec->n < 16)
		return perf_bad(f, rec->at, e, "a feature is cut off");
	/* perf -o - writes build-ids as records of their own. */
	return get_le64(rec->p + 8) == FEATURE_EVENT_DESC ? read_names(f, &s, rec->at, e) : 0;
}

int perf_header_record(struct perf *f, const struct perf_record *rec, struct err *e)
{
	switch (rec->type) {
	case PERF_HEADER_ATTR:
		return attr_record(f, rec, e);
	case PERF_HEADER_BUILD_ID:
		return add_build_id(f, rec, e);
	case PERF_EVENT_UPDATE:
		return update_record(f, rec, e);
	case PERF_HEADER_FEATURE:
		return feature_record(f, rec, e);
	default:
		return 0;
	}
}

const struct build_id *perf_build_id(const struct perf *f, const char *path)
{
	uint64_t *at = htab_get_str(&f->builds, path);

	return at ? &f->build_id.v[*at] : NULL;
}

/* Those of PERF_TYPE_HARDWARE and PERF_TYPE_SOFTWARE, by config. */
static const char *const hardware[] = {"cycles", "instructions", "cache-references", "cache-misses",
    "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
    "ref-cycles"};
static const char *const software[] = {"cpu-clock", "task-clock", "page-faults", "context-switches",
    "cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults",
    "dummy", "bpf-output", "cgroup-switches"};

/* Of a processor with several kinds of cores the upper half of config says which. */
static uint32_t core_config(const struct perf_attr *a)
{
	return a->type == PERF_TYPE_HARDWARE ? (uint32_t)a->config : UINT32_MAX;
}

void perf_name_events(struct perf *f)
{
	struct perf_attr *a;
	size_t i;

	for (i = 0; i < f->attr.n; i++) {
		a = &f->attr.v[i];
		if (a->name)
			continue;
		if (core_config(a) < sizeof hardware / sizeof *hardware)
			a->name = hardware[core_config(a)];
		else if (a->type == PERF_TYPE_SOFTWARE &&
			 a->config < sizeof software / sizeof *software)
			a->name = software[a->config];
		else
			a->name = arena_printf(
			    &f->mem, "event %u/%#llx", a->type, (unsigned long long)a->config);
	}
}

const char *perf_unit(const struct perf_attr *a)
{
	if (a->type == PERF_TYPE_SOFTWARE &&
	    (a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK))
		return "ns";
	return core_config(a) == PERF_COUNT_HW_CPU_CYCLES ? "cycles" : "count";
}
