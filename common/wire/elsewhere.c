#include "common/wire/elsewhere.h"
#include "common/le.h"
#include "common/wire/samples.h"
#include "common/wire/section.h"

#include <string.h>

enum {
	PLACE_LEAST = 6, /* bytes: kind, uid, pid, build-id, name, samples */
	NAME_LIMIT = 4096
};

/* ---- writing ---- */

static void put_one(struct buf *out, const struct wire_elsewhere *w)
{
	size_t name = strlen(w->name);

	buf_char(out, (char)w->kind);
	buf_uleb(out, w->uid);
	buf_uleb(out, w->pid);
	build_id_put(out, &w->id);
	buf_uleb(out, name);
	buf_add(out, w->name, name);
	wire_put_samples(out, w->sample, w->nsample);
}

void wire_put_elsewhere(struct buf *out, const struct wire_batch *m)
{
	size_t at = section_begin(out);
	uint32_t i;

	buf_uleb(out, m->nelsewhere);
	for (i = 0; i < m->nelsewhere; i++)
		put_one(out, &m->elsewhere[i]);
	section_end(out, at, WIRE_SECTION_ELSEWHERE);
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

static int get_name(const uint8_t **p, const uint8_t *end, struct arena *a, char **name)
{
	uint64_t n;

	if (uleb_read(p, end, &n) < 0 || n > NAME_LIMIT || n > (uint64_t)(end - *p) ||
	    memchr(*p, '\0', n))
		return -1;
	*name = arena_strndup(a, (const char *)*p, n);
	*p += n;
	return 0;
}

/* left: samples that may still be named, in the kernel and elsewhere. */
static int get_one(const uint8_t **p, const uint8_t *end, struct arena *a, uint64_t left[2],
    struct wire_elsewhere *w)
{
	uint64_t *of;
	uint32_t i;

	if (*p == end)
		return -1;
	w->kind = *(*p)++;
	if (w->kind < WIRE_KERNEL || w->kind > WIRE_FOREIGN || get_u32(p, end, &w->uid) < 0 ||
	    get_u32(p, end, &w->pid) < 0 || build_id_get(p, end, &w->id) ||
	    get_name(p, end, a, &w->name) < 0)
		return -1;
	of = &left[w->kind != WIRE_KERNEL];
	if (wire_get_samples(p, end, *of, a, &w->sample, &w->nsample) < 0)
		return -1;
	for (i = 0; i < w->nsample; i++) {
		if (w->sample[i].count > *of)
			return -1;
		*of -= w->sample[i].count;
	}
	return 0;
}

int wire_get_elsewhere(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m)
{
	uint64_t left[2] = {m->kernel, m->outside}, n;
	uint32_t i;

	if (uleb_count(&p, end, PLACE_LEAST, &n) < 0 || n > UINT32_MAX)
		return -1;
	m->nelsewhere = (uint32_t)n;
	m->elsewhere = arena_array(a, m->nelsewhere, sizeof *m->elsewhere);
	for (i = 0; i < m->nelsewhere; i++)
		if (get_one(&p, end, a, left, &m->elsewhere[i]) < 0)
			return -1;
	return p == end ? 0 : -1;
}
