#include "editor/replay/measure.h"

#include "editor/asm/insn.h"
#include "editor/replay/replay.h"

#include <stdlib.h>

#define LABEL ".LMI%u"

/* ---- items ---- */

static bool aligns(struct str line)
{
	static const char *const odd[] = {"align", ".org", ".if", ".skip", ".fill"};
	size_t i;

	for (i = 0; i < sizeof odd / sizeof *odd; i++)
		if (memmem(line.p, line.n, odd[i], strlen(odd[i])))
			return true;
	return false;
}

static bool ends_block(
    const struct unit_impl *u, const struct func *f, const struct blk *k, uint32_t i)
{
	const struct stmt *st = &u->stmt.v[f->code.v[i]];
	struct str op;

	if (i == k->jump)
		return true;
	if (k->term == TERM_INDIRECT)
		return insn_classify(st, &op) == INSN_JMP_IND;
	if (k->returns)
		return insn_classify(st, &op) == INSN_RET;
	return k->term == TERM_FALL && k->tail_call && insn_classify(st, &op) == INSN_JCC;
}

bool item_next(
    const struct unit_impl *u, const struct func *f, const struct blk *k, struct item *it)
{
	const struct stmt *st;
	uint32_t i;

	*it = (struct item){.from = it->to};
	for (i = it->from; i < k->last; i++) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind == ST_DIR && st->dir == DIR_ALIGN)
			it->shifts = i > k->first;
		if (st->kind == ST_INSN || st->kind == ST_ASM ||
		    (st->kind == ST_DIR && st->dir == DIR_DATA))
			break;
	}
	it->from = it->to = i;
	if (i == k->last)
		return false;
	st = &u->stmt.v[f->code.v[i]];
	it->jump = st->kind == ST_INSN && ends_block(u, f, k, i);
	it->to++;
	if (st->kind != ST_ASM)
		return true;
	for (it->shifts |= aligns(st->line); it->to < k->last; it->to++) {
		st = &u->stmt.v[f->code.v[it->to]];
		if (st->kind != ST_ASM)
			break;
		it->shifts |= aligns(st->line);
	}
	return true;
}

/* ---- measuring ---- */

enum { MARK_BEFORE = 1, MARK_AFTER = 2 };

static void mark_block(
    const struct unit_impl *u, const struct func *f, const struct blk *k, uint8_t *mark)
{
	struct item it = {.to = k->first};
	uint32_t last = NONE;

	while (item_next(u, f, k, &it)) {
		mark[f->code.v[it.from]] |= MARK_BEFORE;
		last = f->code.v[it.to - 1];
	}
	if (last != NONE)
		mark[last] |= MARK_AFTER;
}

/* Data and unwind state do not affect what code measures. */
static bool measured(const struct unit_impl *u, const struct stmt *st)
{
	bool code = u->section.v[st->section].code;

	switch (st->kind) {
	case ST_LABEL:
		return code;
	case ST_DIR:
		return st->dir != DIR_CFI && st->dir != DIR_LOC && st->dir != DIR_FILE &&
		       st->dir != DIR_SIZE && st->dir != DIR_TYPE &&
		       (code || st->dir != DIR_DATA) && !str_is(st->op, ".symver");
	}
	return st->kind != ST_BLANK;
}

static void put_distances(const struct unit_impl *u, const struct func *f, const struct blk *k,
    uint32_t *label, struct buf *out)
{
	struct item it = {.to = k->first};
	uint32_t first = *label;

	for (; item_next(u, f, k, &it); ++*label)
		buf_printf(out,
		    *label == first ? "\t.uleb128 " LABEL "-" LABEL : "," LABEL "-" LABEL,
		    *label + 1, *label);
	if (*label > first) {
		++*label;
		buf_char(out, '\n');
	}
}

void unit_measure(const struct unit *unit, struct buf *out)
{
	const struct unit_impl *u = unit->impl;
	uint8_t *mark = xcalloc(u->stmt.n, sizeof *mark);
	const struct func *f;
	uint32_t i, b, label = 0;

	for (i = 0; i < u->func.n; i++)
		for (f = &u->func.v[i], b = 0; f->blk && b < f->nblk; b++)
			mark_block(u, f, &f->blk[b], mark);
	for (i = 0; i < u->stmt.n; i++) {
		if (mark[i] & MARK_BEFORE)
			buf_printf(out, LABEL ":\n", label++);
		if (measured(u, &u->stmt.v[i])) {
			buf_add(out, u->stmt.v[i].line.p, u->stmt.v[i].line.n);
			buf_char(out, '\n');
		}
		if (mark[i] & MARK_AFTER)
			buf_printf(out, LABEL ":\n", label++);
	}
	free(mark);
	buf_str(out, "\t.section " MEASURE_SECTION ",\"\",@progbits\n");
	for (i = label = 0; i < u->func.n; i++)
		for (f = &u->func.v[i], b = 0; f->blk && b < f->nblk; b++)
			put_distances(u, f, &f->blk[b], &label, out);
}

/* ---- what was measured ---- */

int item_length(const uint8_t **p, const uint8_t *end, uint32_t *length)
{
	uint64_t v;

	if (uleb_read(p, end, &v) || v > 1 << 28)
		return -1;
	*length = (uint32_t)v;
	return 0;
}

struct finder {
	const struct unit_impl *u;
	const struct func *f;
	const uint8_t *p, *end; /* what was measured */
	struct unit_sites *out;
	uint32_t ncall; /* of the function's calls, so many were found */
};

static bool is_call(const struct finder *s, const struct blk *k, uint32_t i)
{
	const struct stmt *st = &s->u->stmt.v[s->f->code.v[i]];
	struct str op;
	enum insn_class class = st->kind == ST_INSN ? insn_classify(st, &op) : INSN_PLAIN;

	return class == INSN_CALL ||
	       (k->tail_call && i != k->jump && (class == INSN_JMP || class == INSN_JCC));
}

/* Of block id; *bytes is its size. */
static int find_in_block(struct finder *s, uint32_t id, uint32_t *bytes)
{
	const struct blk *k = &s->f->blk[id];
	struct item it = {.to = k->first};
	uint32_t length, at;
	bool placed = true, jumps = false;

	s->out->last[id] = UNIT_NO_SITE;
	for (*bytes = 0; item_next(s->u, s->f, k, &it); *bytes += length) {
		if (item_length(&s->p, s->end, &length))
			return -1;
		placed &= !it.shifts;
		jumps = it.from == k->jump;
		at = s->out->jump[id] = placed ? *bytes : UNIT_NO_SITE;
		if (!jumps)
			s->out->last[id] = at;
		if (is_call(s, k, it.from) && s->ncall < s->f->pub->ncall)
			s->out->call[s->ncall++] = at;
	}
	if (!jumps)
		s->out->jump[id] = *bytes;
	return 0;
}

static void forget(const struct unit_func *f, struct unit_sites *s)
{
	memset(s->call, 0xff, f->ncall * sizeof *s->call);
	memset(s->jump, 0xff, f->cfg.nblock * sizeof *s->jump);
	memset(s->last, 0xff, f->cfg.nblock * sizeof *s->last);
}

static int find_in_func(struct finder *s, const uint32_t *size, struct arena *a)
{
	const struct unit_func *f = s->f->pub;
	bool differs = !size || !s->p || !s->f->blk;
	uint32_t id, bytes;

	s->ncall = 0;
	s->out->call = arena_array(a, f->ncall, sizeof *s->out->call);
	s->out->jump = arena_array(a, f->cfg.nblock, sizeof *s->out->jump);
	s->out->last = arena_array(a, f->cfg.nblock, sizeof *s->out->last);
	for (id = 0; s->p && s->f->blk && id < s->f->nblk; id++) {
		if (find_in_block(s, id, &bytes))
			return -1;
		differs |= size && bytes != size[id];
	}
	if (differs || s->ncall != f->ncall)
		forget(f, s->out);
	return 0;
}

int unit_find_sites(const struct unit *unit, const void *p, size_t n, const uint32_t *const *size,
    struct unit_sites *out, struct arena *a, struct err *e)
{
	struct finder s = {.u = unit->impl, .p = p, .end = n ? (const uint8_t *)p + n : p};
	uint32_t i;

	for (i = 0; i < unit->nfunc; i++) {
		s.f = &s.u->func.v[i];
		s.out = &out[i];
		if (find_in_func(&s, size[i], a))
			break;
	}
	return i == unit->nfunc && s.p == s.end
		   ? 0
		   : err_set(e, "what the assembler measured is cut off or too long");
}
