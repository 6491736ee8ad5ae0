#include "common/wire/callers.h"
#include "common/le.h"
#include "common/wire/section.h"

enum { CALLER_LEAST = 6, SITE_LEAST = 2 /* bytes */, DIRECT = 128 };

/* ---- writing ---- */

/* Other code is the number of modules. */
static void put_site(struct buf *out, const struct wire_site *s, uint32_t nmodule)
{
	if (s->module == WIRE_OTHER_CODE) {
		buf_uleb(out, nmodule);
		return;
	}
	buf_uleb(out, s->module);
	buf_uleb(out, s->offset);
}

/* Words as how many lie between. */
static void put_one(struct buf *out, const struct wire_caller *c, uint32_t nmodule)
{
	uint32_t i, at = 0;

	buf_uleb(out, c->callee);
	buf_uleb(out, c->address);
	buf_char(out, (char)(c->nsite | (c->direct ? DIRECT : 0)));
	if (!c->direct)
		buf_uleb(out, c->looked);
	for (i = 0; i < c->nsite; i++) {
		if (!c->direct)
			buf_uleb(out, c->site[i].word - at);
		at = c->site[i].word + 1;
		put_site(out, &c->site[i], nmodule);
	}
	buf_uleb(out, c->count);
}

void wire_put_callers(struct buf *out, const struct wire_batch *m)
{
	size_t at = section_begin(out);
	uint32_t i;

	buf_uleb(out, m->ncaller);
	for (i = 0; i < m->ncaller; i++)
		put_one(out, &m->caller[i], m->nmodule);
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

/* *at: the first word that it may be, and then the next one's. */
static int get_site(const uint8_t **p, const uint8_t *end, const struct wire_batch *m,
    const struct wire_caller *c, uint32_t *at, struct wire_site *s)
{
	uint32_t between = 0;

	if (!c->direct && (*at >= c->looked || get_index(p, end, c->looked - *at, &between) < 0))
		return -1;
	s->word = *at + between;
	*at = s->word + 1;
	if (get_index(p, end, (uint64_t)m->nmodule + (s != c->site), &s->module) < 0)
		return -1;
	if (s->module < m->nmodule)
		return uleb_read(p, end, &s->offset);
	s->module = WIRE_OTHER_CODE;
	return 0;
}

static int get_sites(const uint8_t **p, const uint8_t *end, struct arena *a,
    const struct wire_batch *m, struct wire_caller *c)
{
	uint32_t i, at = 0;

	if (!c->direct && get_index(p, end, WIRE_SITE_WORDS + 1, &c->looked) < 0)
		return -1;
	if (c->nsite > (size_t)(end - *p) / SITE_LEAST)
		return -1;
	c->site = arena_array(a, c->nsite, sizeof *c->site);
	for (i = 0; i < c->nsite; i++)
		if (get_site(p, end, m, c, &at, &c->site[i]) < 0)
			return -1;
	return 0;
}

static int get_one(const uint8_t **p, const uint8_t *end, struct arena *a,
    const struct wire_batch *m, struct wire_caller *c)
{
	if (get_index(p, end, (uint64_t)m->nmodule + m->nelsewhere + 1, &c->callee) < 0 ||
	    uleb_read(p, end, &c->address) < 0 || *p == end)
		return -1;
	c->direct = **p & DIRECT;
	c->nsite = *(*p)++ & ~(unsigned)DIRECT;
	if (!c->nsite || c->nsite > (c->direct ? 1 : WIRE_SITES) || get_sites(p, end, a, m, c) < 0)
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
		if (get_one(&p, end, a, m, &c[i]) < 0 || (i && c[i].callee < c[i - 1].callee))
			return -1;
		if (!i || c[i].callee != c[i - 1].callee)
			begin_callee(m, c[i].callee, &s);
		if (take_samples(&s, &c[i]) < 0)
			return -1;
	}
	return p == end ? 0 : -1;
}
