#include "common/wire/callers.h"
#include "common/le.h"
#include "common/wire/section.h"

enum { CALLER_LEAST = 7 /* bytes */, DIRECT = 128 };

/* ---- writing ---- */

static void put_one(struct buf *out, const struct wire_caller *c)
{
	uint32_t i;

	buf_uleb(out, c->callee);
	buf_uleb(out, c->address);
	buf_char(out, (char)(c->nsite | (c->direct ? DIRECT : 0)));
	for (i = 0; i < c->nsite; i++) {
		buf_char(out, (char)c->site[i].word);
		buf_uleb(out, c->site[i].module);
		buf_uleb(out, c->site[i].offset);
	}
	buf_uleb(out, c->count);
}

void wire_put_callers(struct buf *out, const struct wire_batch *m)
{
	size_t at = section_begin(out);
	uint32_t i;

	buf_uleb(out, m->ncaller);
	for (i = 0; i < m->ncaller; i++)
		put_one(out, &m->caller[i]);
	section_end(out, at, WIRE_SECTION_CALLERS);
}

/* ---- reading ---- */

struct samples { /* that callers are of: of one callee, from an address on */
	const struct wire_sample *v;
	uint32_t n;
	uint64_t left;         /* at v[0], that have no caller yet */
	struct wire_sample of; /* of the kernel without an address */
};

static int get_index(const uint8_t **p, const uint8_t *end, uint64_t n, uint32_t *index)
{
	uint64_t v;

	if (uleb_read(p, end, &v) < 0 || v >= n)
		return -1;
	*index = (uint32_t)v;
	return 0;
}

static int get_one(
    const uint8_t **p, const uint8_t *end, const struct wire_batch *m, struct wire_caller *c)
{
	uint32_t i;

	if (get_index(p, end, (uint64_t)m->nmodule + m->nelsewhere + 1, &c->callee) < 0 ||
	    uleb_read(p, end, &c->address) < 0 || *p == end)
		return -1;
	c->direct = **p & DIRECT;
	c->nsite = *(*p)++ & ~(unsigned)DIRECT;
	if (!c->nsite || c->nsite > (c->direct ? 1 : WIRE_SITES))
		return -1;
	for (i = 0; i < c->nsite; i++)
		if (get_index(p, end, WIRE_WORDS, &c->site[i].word) < 0 ||
		    (i && c->site[i].word <= c->site[i - 1].word) ||
		    get_index(p, end, m->nmodule, &c->site[i].module) < 0 ||
		    uleb_read(p, end, &c->site[i].offset) < 0)
			return -1;
	return uleb_read(p, end, &c->count) < 0 || !c->count ? -1 : 0;
}

static uint64_t without_address(const struct wire_batch *m)
{
	uint64_t n = m->kernel;
	uint32_t i, k;

	for (i = 0; i < m->nelsewhere; i++)
		for (k = 0; m->elsewhere[i].kind == WIRE_KERNEL && k < m->elsewhere[i].nsample; k++)
			n -= m->elsewhere[i].sample[k].count;
	return n;
}

static void begin_callee(const struct wire_batch *m, uint32_t callee, struct samples *s)
{
	const struct wire_elsewhere *w;

	if (callee < m->nmodule) {
		s->v = m->module[callee].sample;
		s->n = m->module[callee].nsample;
	} else if (callee < m->nmodule + m->nelsewhere) {
		w = &m->elsewhere[callee - m->nmodule];
		s->v = w->sample;
		s->n = w->nsample;
	} else {
		s->of.count = without_address(m);
		s->v = &s->of;
		s->n = 1;
	}
	s->left = s->n ? s->v->count : 0;
}

/* Takes the callers of as many samples as c says. */
static int take_samples(struct samples *s, const struct wire_caller *c)
{
	while (s->n && s->v->offset < c->address) {
		s->v++;
		s->n--;
		s->left = s->n ? s->v->count : 0;
	}
	if (!s->n || s->v->offset != c->address || c->count > s->left)
		return -1;
	s->left -= c->count;
	return 0;
}

int wire_get_callers(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m)
{
	struct wire_caller *c;
	struct samples s = {0};
	uint64_t n;
	uint32_t i;

	if (uleb_count(&p, end, CALLER_LEAST, &n) < 0 || n > WIRE_CALLERS_MAX)
		return -1;
	m->ncaller = (uint32_t)n;
	c = m->caller = arena_array(a, m->ncaller, sizeof *m->caller);
	for (i = 0; i < m->ncaller; i++) {
		if (get_one(&p, end, m, &c[i]) < 0 || (i && c[i].callee < c[i - 1].callee))
			return -1;
		if (!i || c[i].callee != c[i - 1].callee)
			begin_callee(m, c[i].callee, &s);
		if (take_samples(&s, &c[i]) < 0)
			return -1;
	}
	return p == end ? 0 : -1;
}
