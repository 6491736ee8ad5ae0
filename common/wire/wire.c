#include "common/wire/wire.h"
#include "common/hash.h"
#include "common/le.h"
#include "common/wire/section.h"
#include "common/wire/callers.h"
#include "common/wire/elsewhere.h"
#include "common/wire/regs.h"
#include "common/wire/runs.h"
#include "common/wire/samples.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/*
 * Frame: magic "MrpW", u16 version, u16 type, u32 payload length, u32 0, u64
 * XXH3-64 of the payload with the type as seed; payload.
 */
enum {
	AT_VERSION = 4,
	AT_TYPE = 6,
	AT_LENGTH = 8,
	AT_ZERO = 12,
	AT_CHECKSUM = 16,
	HELLO_SIZE = 24,
	ACK_SIZE = 16,
	BATCH_FIXED = 32,
	MODULE_LEAST = 5, /* bytes */
	PATH_LIMIT = 4096,
	BUDGET_MAX = 1000000,
};

static const char wire_magic[4] = "MrpW";

/* ---- writing ---- */

static size_t begin_frame(struct buf *out)
{
	size_t at = out->n;

	memset(buf_grow(out, WIRE_HEADER), 0, WIRE_HEADER);
	return at;
}

static void end_frame(struct buf *out, size_t at, enum wire_type type)
{
	char *h = out->p + at;
	size_t n = out->n - at - WIRE_HEADER;

	memcpy(h, wire_magic, sizeof wire_magic);
	put_le16(h + AT_VERSION, WIRE_VERSION);
	put_le16(h + AT_TYPE, (uint16_t)type);
	put_le32(h + AT_LENGTH, (uint32_t)n);
	put_le64(h + AT_CHECKSUM, XXH3_64bits_withSeed(h + WIRE_HEADER, n, type));
}

void wire_put_hello(struct buf *out, const struct wire_hello *m)
{
	size_t at = begin_frame(out);

	buf_le64(out, m->session);
	buf_le64(out, m->period_ns);
	buf_le32(out, m->source);
	buf_le32(out, m->pid);
	end_frame(out, at, WIRE_HELLO);
}

void wire_put_ack(struct buf *out, const struct wire_ack *m)
{
	size_t at = begin_frame(out);

	buf_le64(out, m->session);
	buf_le64(out, m->seq);
	end_frame(out, at, WIRE_ACK);
}

static void put_module(struct buf *out, const struct wire_module *m)
{
	size_t path = m->path ? strlen(m->path) : 0;

	build_id_put(out, &m->id);
	buf_uleb(out, path);
	buf_add(out, m->path, path);
	buf_uleb(out, m->uid);
	wire_put_samples(out, m->sample, m->nsample);
}

static void put_extra(struct buf *out, const struct wire_batch *m)
{
	size_t at = section_begin(out);
	uint32_t i, n = 0;

	for (i = 0; i < m->nmodule; i++)
		n += m->module[i].boosted;
	buf_uleb(out, m->plain);
	buf_uleb(out, m->extra);
	buf_uleb(out, n);
	for (i = 0; i < m->nmodule; i++) {
		if (!m->module[i].boosted)
			continue;
		buf_uleb(out, i);
		wire_put_samples(out, m->module[i].extra, m->module[i].nextra);
	}
	section_end(out, at, WIRE_SECTION_EXTRA);
}

void wire_put_batch(struct buf *out, const struct wire_batch *m)
{
	size_t at = begin_frame(out);
	uint32_t i;

	buf_le64(out, m->session);
	buf_le64(out, m->seq);
	buf_le64(out, m->start_ns);
	buf_le64(out, m->end_ns);
	buf_uleb(out, m->taken);
	buf_uleb(out, m->kernel);
	buf_uleb(out, m->outside);
	buf_uleb(out, m->dropped);
	buf_uleb(out, m->nmodule);
	for (i = 0; i < m->nmodule; i++)
		put_module(out, &m->module[i]);
	if (m->nregs || m->regs_unsent)
		wire_put_regs(out, m);
	if (m->nrun || m->runs_unsent)
		wire_put_runs(out, m);
	if (m->nuse)
		wire_put_uses(out, m);
	wire_put_counted(out, m);
	if (m->extra)
		put_extra(out, m);
	if (m->nelsewhere)
		wire_put_elsewhere(out, m);
	if (m->ncaller)
		wire_put_callers(out, m);
	end_frame(out, at, WIRE_BATCH);
}

static void put_builds(struct buf *out, const struct wire_want *m)
{
	uint32_t i;

	buf_uleb(out, m->n);
	for (i = 0; i < m->n; i++)
		build_id_put(out, &m->id[i]);
}

void wire_put_want(struct buf *out, const struct wire_want *m)
{
	size_t at = begin_frame(out);

	put_builds(out, m);
	end_frame(out, at, WIRE_WANT);
}

void wire_put_watch(struct buf *out, const struct wire_want *m)
{
	size_t at = begin_frame(out);

	put_builds(out, m);
	end_frame(out, at, WIRE_WATCH);
}

void wire_put_cycles(struct buf *out, const struct wire_want *m)
{
	size_t at = begin_frame(out);

	put_builds(out, m);
	end_frame(out, at, WIRE_CYCLES);
}

void wire_put_boost(struct buf *out, const struct wire_boost *m)
{
	size_t at = begin_frame(out);

	buf_uleb(out, m->budget);
	put_builds(out, &m->builds);
	end_frame(out, at, WIRE_BOOST);
}

bool wire_want_equal(const struct wire_want *a, const struct wire_want *b)
{
	uint32_t i;

	for (i = 0; a->n == b->n && i < a->n; i++)
		if (!build_id_equal(&a->id[i], &b->id[i]))
			return false;
	return a->n == b->n;
}

/* ---- reading ---- */

long wire_frame(const void *p, size_t n, enum wire_type *type, struct err *e)
{
	const uint8_t *h = p;
	uint32_t length;

	if (n && memcmp(h, wire_magic, n < sizeof wire_magic ? n : sizeof wire_magic))
		return err_set(e, "frame: no frame where one should begin");
	if (n < WIRE_HEADER)
		return 0;
	if (get_le16(h + AT_VERSION) != WIRE_VERSION)
		return err_set(e, "frame: version %u, this Morph speaks %d",
		    get_le16(h + AT_VERSION), WIRE_VERSION);
	length = get_le32(h + AT_LENGTH);
	if (length > WIRE_MAX_PAYLOAD || get_le32(h + AT_ZERO))
		return err_set(e, "frame: damaged header");
	if (n < WIRE_HEADER + (size_t)length)
		return 0;
	*type = get_le16(h + AT_TYPE);
	if (XXH3_64bits_withSeed(h + WIRE_HEADER, length, *type) != get_le64(h + AT_CHECKSUM))
		return err_set(e, "frame: wrong checksum");
	if (*type < WIRE_HELLO || *type > WIRE_CYCLES)
		return err_set(e, "frame: unknown type %u", (unsigned)*type);
	return WIRE_HEADER + (long)length;
}

/* The payload of a frame that wire_frame() found whole, as type. */
static const uint8_t *payload(
    const void *frame, size_t n, enum wire_type want, size_t least, struct err *e)
{
	enum wire_type type;
	long length = wire_frame(frame, n, &type, e);

	if (length > 0 && (size_t)length == n && type == want && n - WIRE_HEADER >= least)
		return (const uint8_t *)frame + WIRE_HEADER;
	if (length >= 0)
		err_set(e, "frame: not a whole frame of type %d", want);
	return NULL;
}

int wire_get_hello(const void *frame, size_t n, struct wire_hello *m, struct err *e)
{
	const uint8_t *p = payload(frame, n, WIRE_HELLO, HELLO_SIZE, e);

	if (!p)
		return -1;
	*m = (struct wire_hello){get_le64(p), get_le64(p + 8), get_le32(p + 16), get_le32(p + 20)};
	if (n != WIRE_HEADER + HELLO_SIZE || !m->period_ns || m->source < WIRE_SRC_TICK ||
	    m->source > WIRE_SRC_RECORDED)
		return err_set(e, "hello: out of range");
	return 0;
}

int wire_get_ack(const void *frame, size_t n, struct wire_ack *m, struct err *e)
{
	const uint8_t *p = payload(frame, n, WIRE_ACK, ACK_SIZE, e);

	if (!p)
		return -1;
	*m = (struct wire_ack){get_le64(p), get_le64(p + 8)};
	return n == WIRE_HEADER + ACK_SIZE ? 0 : err_set(e, "ack: out of range");
}

struct batch_read {
	const uint8_t *p, *end;
	struct arena *a;
	uint64_t sum; /* of everything that must make up taken */
	struct err *e;
};

static int damaged(struct batch_read *r, const char *what)
{
	return err_set(r->e, "batch: damaged %s", what);
}

static int get_number(struct batch_read *r, uint64_t max, uint64_t *v)
{
	return uleb_read(&r->p, r->end, v) < 0 || *v > max ? -1 : 0;
}

/* A count of things that take at least size bytes each. */
static int get_count(struct batch_read *r, size_t size, uint32_t *n)
{
	uint64_t v;

	if (uleb_count(&r->p, r->end, size, &v) < 0 || v > UINT32_MAX)
		return -1;
	*n = (uint32_t)v;
	return 0;
}

static int account(struct batch_read *r, uint64_t n)
{
	return __builtin_add_overflow(r->sum, n, &r->sum) ? damaged(r, "counts") : 0;
}

static int get_samples(struct batch_read *r, uint64_t max, struct wire_sample **sample, uint32_t *n)
{
	return wire_get_samples(&r->p, r->end, max, r->a, sample, n) < 0 ? damaged(r, "samples")
									 : 0;
}

static int get_build_id(struct batch_read *r, struct build_id *id)
{
	return build_id_get(&r->p, r->end, id) || !id->n ? -1 : 0;
}

static int get_module(struct batch_read *r, struct wire_module *m)
{
	uint64_t path, uid;
	uint32_t i;

	*m = (struct wire_module){0};
	if (get_build_id(r, &m->id) < 0)
		return damaged(r, "build-id");
	if (get_number(r, PATH_LIMIT, &path) < 0 || path > (uint64_t)(r->end - r->p) ||
	    memchr(r->p, '\0', path))
		return damaged(r, "path");
	m->path = arena_strndup(r->a, (const char *)r->p, path);
	r->p += path;
	if (get_number(r, UINT32_MAX, &uid) < 0)
		return damaged(r, "owner");
	m->uid = (uint32_t)uid;
	if (get_samples(r, UINT64_MAX, &m->sample, &m->nsample) < 0)
		return -1;
	for (i = 0; i < m->nsample; i++)
		if (account(r, m->sample[i].count) < 0)
			return -1;
	return 0;
}

/* Each (build-id, owner, path) once. */
static int note_module(struct batch_read *r, struct htab *seen, const struct wire_module *m)
{
	struct buf key = {0};
	bool fresh;

	buf_add(&key, &m->uid, sizeof m->uid);
	buf_add(&key, m->path, strlen(m->path) + 1);
	buf_add(&key, m->id.b, m->id.n);
	htab_put(seen, key.p, key.n, &fresh);
	buf_free(&key);
	return fresh ? 0 : err_set(r->e, "batch: one module twice");
}

static int get_modules(struct batch_read *r, struct wire_batch *m)
{
	struct htab seen = {0};
	uint32_t i;
	int status = 0;

	if (get_count(r, MODULE_LEAST, &m->nmodule) < 0)
		return damaged(r, "modules");
	m->module = arena_array(r->a, m->nmodule, sizeof *m->module);
	for (i = 0; i < m->nmodule && !status; i++) {
		status = get_module(r, &m->module[i]);
		if (!status)
			status = note_module(r, &seen, &m->module[i]);
	}
	htab_free(&seen);
	return status;
}

/* Of each sample so few that sums of them do not overflow. */
static int get_extra(struct batch_read *r, struct wire_batch *m)
{
	uint64_t index, next = 0;
	uint32_t n;

	if (get_number(r, UINT32_MAX, &m->plain) < 0 || get_number(r, UINT32_MAX, &m->extra) < 0 ||
	    !m->extra || get_count(r, 2, &n) < 0)
		return -1;
	for (; n; n--) {
		if (get_number(r, m->nmodule, &index) < 0 || index < next || index >= m->nmodule)
			return -1;
		next = index + 1;
		m->module[index].boosted = true;
		if (get_samples(r, UINT32_MAX, &m->module[index].extra, &m->module[index].nextra) <
		    0)
			return -1;
	}
	return r->p == r->end ? 0 : -1;
}

static int get_section(struct batch_read *r, const uint8_t *section, struct wire_batch *m)
{
	struct batch_read inner = {.p = section + SECTION_HEAD, .end = r->p, .a = r->a, .e = r->e};

	if (*section == WIRE_SECTION_EXTRA && get_extra(&inner, m) < 0)
		return damaged(r, "extra samples");
	if (*section == WIRE_SECTION_REGS &&
	    wire_get_regs(section + SECTION_HEAD, r->p, r->a, m) < 0)
		return damaged(r, "registers");
	if (*section == WIRE_SECTION_RUNS &&
	    wire_get_runs(section + SECTION_HEAD, r->p, r->a, m) < 0)
		return damaged(r, "runs");
	if (*section == WIRE_SECTION_USES &&
	    wire_get_uses(section + SECTION_HEAD, r->p, r->a, m) < 0)
		return damaged(r, "uses");
	if (*section == WIRE_SECTION_CYCLES &&
	    wire_get_counted(section + SECTION_HEAD, r->p, m) < 0)
		return damaged(r, "cycles");
	if (*section == WIRE_SECTION_ELSEWHERE &&
	    (m->ncaller || wire_get_elsewhere(section + SECTION_HEAD, r->p, r->a, m) < 0))
		return damaged(r, "places elsewhere");
	if (*section == WIRE_SECTION_CALLERS &&
	    wire_get_callers(section + SECTION_HEAD, r->p, r->a, m) < 0)
		return damaged(r, "callers");
	return 0;
}

static int get_sections(struct batch_read *r, struct wire_batch *m)
{
	const uint8_t *section;
	bool seen[UINT8_MAX + 1] = {0};

	while (r->p < r->end) {
		section = r->p;
		if (r->end - r->p < 5 || get_le32(r->p + 1) > (uint64_t)(r->end - r->p - 5))
			return damaged(r, "section");
		r->p += 5 + get_le32(r->p + 1);
		if (*section < WIRE_SECTION_REGS || *section > WIRE_SECTION_CYCLES)
			continue;
		if (seen[*section])
			return damaged(r, "sections: one twice");
		seen[*section] = true;
		if (get_section(r, section, m) < 0)
			return -1;
	}
	return 0;
}

int wire_get_batch(
    const void *frame, size_t n, struct arena *a, struct wire_batch *m, struct err *e)
{
	struct batch_read r = {.a = a, .e = e};

	r.p = payload(frame, n, WIRE_BATCH, BATCH_FIXED, e);
	if (!r.p)
		return -1;
	r.end = (const uint8_t *)frame + n;
	*m = (struct wire_batch){.session = get_le64(r.p),
	    .seq = get_le64(r.p + 8),
	    .start_ns = get_le64(r.p + 16),
	    .end_ns = get_le64(r.p + 24)};
	r.p += BATCH_FIXED;
	if (!m->seq || get_number(&r, UINT64_MAX, &m->taken) < 0 ||
	    get_number(&r, UINT64_MAX, &m->kernel) < 0 ||
	    get_number(&r, UINT64_MAX, &m->outside) < 0 ||
	    get_number(&r, UINT64_MAX, &m->dropped) < 0)
		return damaged(&r, "head");
	if (account(&r, m->kernel) < 0 || account(&r, m->outside) < 0 ||
	    account(&r, m->dropped) < 0 || get_modules(&r, m) < 0 || get_sections(&r, m) < 0) {
		wire_wipe_regs(m);
		return -1;
	}
	if (r.sum == m->taken)
		return 0;
	wire_wipe_regs(m);
	return err_set(e, "batch: %llu samples taken, %llu accounted for",
	    (unsigned long long)m->taken, (unsigned long long)r.sum);
}

/* budget: comes before the builds, NULL = there is none. */
static int get_builds(const void *frame, size_t n, enum wire_type type, const char *name,
    struct arena *a, uint64_t *budget, struct wire_want *m, struct err *e)
{
	struct batch_read r = {.a = a, .e = e};
	uint32_t i;

	r.p = payload(frame, n, type, 1, e);
	if (!r.p)
		return -1;
	r.end = (const uint8_t *)frame + n;
	if ((budget && get_number(&r, BUDGET_MAX, budget) < 0) || get_count(&r, 2, &m->n) < 0 ||
	    m->n > WIRE_WANT_MAX)
		return err_set(e, "%s: out of range", name);
	m->id = arena_array(a, m->n, sizeof *m->id);
	for (i = 0; i < m->n; i++)
		if (get_build_id(&r, &m->id[i]) < 0)
			return err_set(e, "%s: damaged build-id", name);
	return r.p == r.end ? 0 : err_set(e, "%s: bytes after its end", name);
}

int wire_get_want(const void *frame, size_t n, struct arena *a, struct wire_want *m, struct err *e)
{
	return get_builds(frame, n, WIRE_WANT, "want", a, NULL, m, e);
}

int wire_get_watch(const void *frame, size_t n, struct arena *a, struct wire_want *m, struct err *e)
{
	return get_builds(frame, n, WIRE_WATCH, "watch", a, NULL, m, e);
}

int wire_get_cycles(
    const void *frame, size_t n, struct arena *a, struct wire_want *m, struct err *e)
{
	return get_builds(frame, n, WIRE_CYCLES, "cycles", a, NULL, m, e);
}

int wire_get_boost(
    const void *frame, size_t n, struct arena *a, struct wire_boost *m, struct err *e)
{
	uint64_t budget = 0;
	int r = get_builds(frame, n, WIRE_BOOST, "boost", a, &budget, &m->builds, e);

	m->budget = (uint32_t)budget;
	return r;
}
