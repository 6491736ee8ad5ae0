#include "common/wire/regs.h"
#include "common/le.h"
#include "common/wire/section.h"

enum { REGS_LEAST = 1 + 1 + 8 + 8 * WIRE_GPRS + 4 + 1 + 1, CODE_LEAST = 2 };

/* ---- writing ---- */

static void put_one(struct buf *out, const struct wire_regs *r)
{
	uint32_t i;

	buf_uleb(out, r->module);
	buf_uleb(out, r->offset);
	buf_le64(out, r->base);
	for (i = 0; i < WIRE_GPRS; i++)
		buf_le64(out, r->gpr[i]);
	buf_le32(out, r->flags);
	buf_char(out, (char)r->ncode);
	for (i = 0; i < r->ncode; i++) {
		buf_char(out, (char)r->code[i].word);
		buf_uleb(out, r->code[i].offset);
	}
	buf_char(out, (char)r->nstack);
	for (i = 0; i < r->nstack; i++)
		buf_le64(out, r->stack[i]);
}

void wire_put_regs(struct buf *out, const struct wire_batch *m)
{
	size_t at = section_begin(out);
	uint32_t i;

	buf_uleb(out, m->regs_unsent);
	buf_uleb(out, m->nregs);
	for (i = 0; i < m->nregs; i++)
		put_one(out, &m->regs[i]);
	section_end(out, at, WIRE_SECTION_REGS);
}

/* ---- reading ---- */

static int get_codes(const uint8_t **p, const uint8_t *end, struct wire_regs *r)
{
	uint32_t i;

	if (r->ncode > WIRE_CODES || r->ncode > (size_t)(end - *p) / CODE_LEAST)
		return -1;
	for (i = 0; i < r->ncode; i++) {
		if (*p == end)
			return -1;
		r->code[i].word = *(*p)++;
		if (r->code[i].word >= WIRE_WORDS ||
		    (i && r->code[i].word <= r->code[i - 1].word) ||
		    uleb_read(p, end, &r->code[i].offset) < 0)
			return -1;
	}
	return 0;
}

static int get_stack(const uint8_t **p, const uint8_t *end, struct wire_regs *r)
{
	uint32_t i;

	if (*p == end)
		return -1;
	r->nstack = *(*p)++;
	if (r->nstack > WIRE_STACK || r->nstack > (size_t)(end - *p) / 8)
		return -1;
	for (i = 0; i < r->nstack; i++, *p += 8)
		r->stack[i] = get_le64(*p);
	return 0;
}

static int get_one(const uint8_t **p, const uint8_t *end, uint32_t nmodule, struct wire_regs *r)
{
	uint64_t module;
	uint32_t i;

	if (uleb_read(p, end, &module) < 0 || module >= nmodule ||
	    uleb_read(p, end, &r->offset) < 0 || end - *p < 8 + 8 * WIRE_GPRS + 4 + 1)
		return -1;
	r->module = (uint32_t)module;
	r->base = get_le64(*p);
	*p += 8;
	for (i = 0; i < WIRE_GPRS; i++, *p += 8)
		r->gpr[i] = get_le64(*p);
	r->flags = get_le32(*p);
	*p += 4;
	r->ncode = *(*p)++;
	return get_codes(p, end, r) < 0 ? -1 : get_stack(p, end, r);
}

int wire_get_regs(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m)
{
	uint64_t n;
	uint32_t i;

	if (uleb_read(&p, end, &m->regs_unsent) < 0 || uleb_read(&p, end, &n) < 0 ||
	    n > (uint64_t)(end - p) / REGS_LEAST)
		return -1;
	m->nregs = (uint32_t)n;
	m->regs = arena_array(a, m->nregs, sizeof *m->regs);
	for (i = 0; i < m->nregs; i++)
		if (get_one(&p, end, m->nmodule, &m->regs[i]) < 0)
			return -1;
	return p == end ? 0 : -1;
}

void wire_wipe_regs(struct wire_batch *m)
{
	if (m->nregs)
		explicit_bzero(m->regs, m->nregs * sizeof *m->regs);
	m->nregs = 0;
	m->regs = NULL;
}
