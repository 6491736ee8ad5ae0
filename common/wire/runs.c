#include "common/wire/runs.h"
#include "common/le.h"
#include "common/wire/section.h"

enum {
	BUILD_LEAST = 2, /* bytes */
	RUN_LEAST = 1 + 1 + 8 + 1 + 1 + 1 + 8,
	USE_LEAST = BUILD_LEAST + 1 + 1,
	COUNTED_LEAST = 1 + 1 + 1
};

/* ---- writing ---- */

static void put_one(struct buf *out, const struct wire_run *r)
{
	buf_uleb(out, r->build);
	buf_uleb(out, r->uid);
	buf_le64(out, r->start_ns);
	buf_uleb(out, r->cpu_ns);
	buf_uleb(out, r->faults);
	buf_uleb(out, r->status);
	buf_le64(out, r->class);
}

void wire_put_runs(struct buf *out, const struct wire_batch *m)
{
	size_t at = section_begin(out);
	uint32_t i;

	buf_uleb(out, m->runs_unsent);
	buf_uleb(out, m->nrun_build);
	for (i = 0; i < m->nrun_build; i++)
		build_id_put(out, &m->run_build[i]);
	buf_uleb(out, m->nrun);
	for (i = 0; i < m->nrun; i++)
		put_one(out, &m->run[i]);
	section_end(out, at, WIRE_SECTION_RUNS);
}

void wire_put_uses(struct buf *out, const struct wire_batch *m)
{
	size_t at = section_begin(out);
	uint32_t i;

	buf_uleb(out, m->nuse);
	for (i = 0; i < m->nuse; i++) {
		build_id_put(out, &m->use[i].id);
		buf_uleb(out, m->use[i].processes);
		buf_uleb(out, m->use[i].cpu_ns);
	}
	section_end(out, at, WIRE_SECTION_USES);
}

void wire_put_counted(struct buf *out, const struct wire_batch *m)
{
	uint32_t i, n = 0;
	size_t at;

	for (i = 0; i < m->nuse; i++)
		n += m->use[i].cycles > 0;
	if (!n)
		return;
	at = section_begin(out);
	buf_uleb(out, n);
	for (i = 0; i < m->nuse; i++) {
		if (!m->use[i].cycles)
			continue;
		buf_uleb(out, i);
		buf_uleb(out, m->use[i].instructions);
		buf_uleb(out, m->use[i].cycles);
	}
	section_end(out, at, WIRE_SECTION_CYCLES);
}

/* ---- reading ---- */

static int get_u32(const uint8_t **p, const uint8_t *end, uint32_t *v)
{
	uint64_t wide;

	if (uleb_read(p, end, &wide) < 0 || wide > UINT32_MAX)
		return -1;
	*v = (uint32_t)wide;
	return 0;
}

static int get_u64(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	if (end - *p < 8)
		return -1;
	*v = get_le64(*p);
	*p += 8;
	return 0;
}

static int get_one(const uint8_t **p, const uint8_t *end, uint32_t nbuild, struct wire_run *r)
{
	return get_u32(p, end, &r->build) < 0 || r->build >= nbuild ||
		       get_u32(p, end, &r->uid) < 0 || get_u64(p, end, &r->start_ns) < 0 ||
		       uleb_read(p, end, &r->cpu_ns) < 0 || uleb_read(p, end, &r->faults) < 0 ||
		       get_u32(p, end, &r->status) < 0 || get_u64(p, end, &r->class) < 0
		   ? -1
		   : 0;
}

/* A count of things that take at least size bytes each. */
static int get_count(const uint8_t **p, const uint8_t *end, size_t size, uint32_t max, uint32_t *n)
{
	uint64_t v;

	if (uleb_count(p, end, size, &v) < 0 || v > max)
		return -1;
	*n = (uint32_t)v;
	return 0;
}

int wire_get_runs(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m)
{
	uint32_t i;

	if (uleb_read(&p, end, &m->runs_unsent) < 0 ||
	    get_count(&p, end, BUILD_LEAST, WIRE_RUN_BUILDS_MAX, &m->nrun_build) < 0)
		return -1;
	m->run_build = arena_array(a, m->nrun_build, sizeof *m->run_build);
	for (i = 0; i < m->nrun_build; i++)
		if (build_id_get(&p, end, &m->run_build[i]) || !m->run_build[i].n)
			return -1;
	if (get_count(&p, end, RUN_LEAST, WIRE_RUNS_MAX, &m->nrun) < 0)
		return -1;
	m->run = arena_array(a, m->nrun, sizeof *m->run);
	for (i = 0; i < m->nrun; i++)
		if (get_one(&p, end, m->nrun_build, &m->run[i]) < 0)
			return -1;
	return p == end ? 0 : -1;
}

static bool is_again(const struct wire_batch *m, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < i && !build_id_equal(&m->use[k].id, &m->use[i].id);)
		k++;
	return k < i;
}

int wire_get_uses(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m)
{
	uint32_t i;

	if (get_count(&p, end, USE_LEAST, WIRE_RUN_BUILDS_MAX, &m->nuse) < 0)
		return -1;
	m->use = arena_array(a, m->nuse, sizeof *m->use);
	for (i = 0; i < m->nuse; i++)
		if (build_id_get(&p, end, &m->use[i].id) || !m->use[i].id.n || is_again(m, i) ||
		    get_u32(&p, end, &m->use[i].processes) < 0 ||
		    uleb_read(&p, end, &m->use[i].cpu_ns) < 0)
			return -1;
	return p == end ? 0 : -1;
}

int wire_get_counted(const uint8_t *p, const uint8_t *end, struct wire_batch *m)
{
	uint32_t n, i, least = 0;
	struct wire_use *u;

	if (get_count(&p, end, COUNTED_LEAST, m->nuse, &n) < 0)
		return -1;
	for (; n; n--, least = i + 1) {
		if (get_u32(&p, end, &i) < 0 || i < least || i >= m->nuse)
			return -1;
		u = &m->use[i];
		if (uleb_read(&p, end, &u->instructions) < 0 ||
		    uleb_read(&p, end, &u->cycles) < 0 || !u->cycles)
			return -1;
	}
	return p == end ? 0 : -1;
}
