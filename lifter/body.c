#include "lifter/body.h"
#include "common/sort.h"

#include <string.h>

enum { JUMP = 5, ENDBR = 4 };

static const char odd_table[] = "an exception table of an unknown form";

struct step *body_step(const struct body *b, uint64_t addr)
{
	uint32_t lo = 0, hi = b->first1;
	size_t k;

	if (b->part[1] && addr - b->part[1]->fde.pc < b->part[1]->fde.size) {
		lo = b->first1;
		hi = (uint32_t)b->step.n;
	}
	k = partition_point(lo, hi, i, b->step.v[i].addr < addr);
	return k < hi && b->step.v[k].addr == addr ? &b->step.v[k] : NULL;
}

bool body_enter(struct body *b, uint64_t addr)
{
	struct step *s = body_step(b, addr);

	if (s)
		s->label = s->entered = true;
	return s != NULL;
}

/* Is an address in one of its parts? */
static bool inside(const struct body *b, uint64_t addr)
{
	return addr - b->part[0]->fde.pc < b->part[0]->fde.size ||
	       (b->part[1] && addr - b->part[1]->fde.pc < b->part[1]->fde.size);
}

static const char *read_part(struct body *b, uint8_t part)
{
	const struct fragment *f = b->part[part];
	const struct code *c = b->s->code.v + f->code;
	struct step s;
	uint64_t i;

	if (f->unreadable)
		return "bytes that are no instruction";
	vec_reserve(&b->step, b->step.n + f->ncode);
	for (i = 0; i < f->fde.size; i += s.c.len) {
		s = (struct step){.addr = f->fde.pc + i, .c = *c++, .part = part};
		b->indirect += s.c.kind == CODE_JMP_IND;
		vec_push(&b->step, s);
	}
	return NULL;
}

/* Control never goes on behind it, or nobody knows whether a call returns. */
static bool may_end(const struct step *s)
{
	switch (s->c.kind) {
	case CODE_JMP:
	case CODE_JMP_IND:
	case CODE_RET:
	case CODE_STOP:
	case CODE_CALL:
	case CODE_CALL_IND:
		return true;
	}
	return false;
}

static const char *check_end(const struct body *b, uint32_t first, uint32_t end)
{
	while (end > first + 1 && b->step.v[end - 1].c.kind == CODE_NOP)
		end--;
	return may_end(&b->step.v[end - 1]) ? NULL : "runs on behind its end";
}

/* What jumps and calls lead to. */
static const char *enter_targets(struct body *b)
{
	const struct step *s;
	uint32_t i;

	for (i = 0; i < b->step.n; i++) {
		s = &b->step.v[i];
		switch (s->c.kind) {
		case CODE_ODD:
			return "an instruction that depends on its place";
		case CODE_CALL:
			if (inside(b, step_target(s)) && step_target(s) != b->part[0]->fde.pc)
				return "a call into itself";
			break;
		case CODE_JMP:
		case CODE_JCC:
		case CODE_SHORT:
			if (inside(b, step_target(s)) && !body_enter(b, step_target(s)))
				return "a jump into an instruction";
			break;
		}
	}
	return NULL;
}

/* ---- pointers to it ---- */

/* The first word that leads to an address or behind it. */
static const struct image_word *first_word(const struct image *m, uint64_t to)
{
	return m->word.v + partition_point(0, m->word.n, k, m->word.v[k].to < to);
}

/* Labels whose addresses are in data: computed goto goes there. */
static void enter_labels(struct body *b)
{
	const struct image_word *w, *end = b->m->word.v + b->m->word.n;
	const struct eh_fde *f;
	unsigned part;

	for (part = 0; part < 2 && b->part[part]; part++) {
		f = &b->part[part]->fde;
		for (w = first_word(b->m, f->pc + 1); w < end && w->to - f->pc < f->size; w++)
			if (!w->symbol && body_enter(b, w->to))
				vec_push(&b->word, *w);
	}
}

/* Pointers to the function, of which each has to be the same address: where code makes that, all
 * stay. */
static void lead_pointers(struct body *b)
{
	const struct image_word *w, *end = b->m->word.v + b->m->word.n;
	uint64_t pc = b->part[0]->fde.pc;

	if (!image_leads(b->m, pc) || survey_taken(b->s, pc))
		return;
	for (w = first_word(b->m, pc); w < end && w->to == pc; w++)
		vec_push(&b->word, *w);
}

/* ---- exceptions ---- */

static const char *read_lsda(struct body *b, unsigned part)
{
	const struct eh_fde *f = &b->part[part]->fde;
	struct eh_table *t = &b->lsda[part];
	const uint8_t *p = f->lsda ? image_constant(b->m, f->lsda, 1) : NULL;
	const struct image_segment *s;
	const struct eh_site *k;
	const uint8_t *end = NULL;
	struct step *at;
	size_t i;

	if (!f->lsda)
		return NULL;
	for (i = 0; i < b->m->segment.n; i++) {
		s = &b->m->segment.v[i];
		if (f->lsda - s->vaddr < s->filesz)
			end = b->m->p + s->offset + s->filesz;
	}
	if (!p || eh_table_read(p, end, f->lsda, f->pc, t) || !lsda_printable(t))
		return odd_table;
	for (k = t->site.v; k < t->site.v + t->site.n; k++) {
		if (k->begin - f->pc >= f->size || k->end - f->pc > f->size)
			return odd_table;
		at = body_step(b, k->begin);
		if (!at || (k->end - f->pc < f->size && !body_step(b, k->end)))
			return "an exception table that names no instruction";
		at->label = true;
		if (k->end - f->pc < f->size)
			body_step(b, k->end)->label = true;
		if (k->pad && (k->pad - f->pc >= f->size || !body_enter(b, k->pad)))
			return "a landing pad in another part";
	}
	return NULL;
}

/* ---- its entry ---- */

uint64_t body_patch(const struct body *b)
{
	return b->step.v[0].addr + (b->step.v[0].c.endbr ? ENDBR : 0);
}

/* Five bytes that nothing leads into. */
static const char *check_entry(const struct body *b)
{
	uint64_t at = body_patch(b), end = at + JUMP, i;
	const struct step *s;

	if (end > b->part[0]->fde.pc + b->part[0]->fde.size)
		return "shorter than a jump";
	for (i = at + 1; i < end; i++) {
		s = body_step(b, i);
		if (s && s->entered)
			return "a jump into its first bytes";
	}
	if (survey_entered(b->s, at + 1, end) || image_points(b->m, at + 1, end))
		return "a jump into its first bytes";
	return NULL;
}

/* ---- all of it ---- */

const char *body_read(
    struct body *b, const struct image *m, const struct survey *s, const struct function *f)
{
	const char *why;
	unsigned i;

	*b = (struct body){.m = m, .s = s, .f = f};
	b->part[0] = &s->fragment.v[f->part[0]];
	b->part[1] = f->part[1] == NO_FRAGMENT ? NULL : &s->fragment.v[f->part[1]];
	why = read_part(b, 0);
	b->first1 = (uint32_t)b->step.n;
	if (!why && b->part[1])
		why = read_part(b, 1);
	if (!why)
		why = check_end(b, 0, b->first1);
	if (!why && b->part[1])
		why = check_end(b, b->first1, (uint32_t)b->step.n);
	if (!why)
		why = enter_targets(b);
	for (i = 0; i < 2 && !why; i++)
		if (b->part[i])
			why = read_lsda(b, i);
	if (!why)
		lead_pointers(b);
	if (!why && b->indirect) {
		enter_labels(b);
		body_tables(b);
	}
	return why ?: check_entry(b);
}

void body_free(struct body *b)
{
	eh_table_free(&b->lsda[0]);
	eh_table_free(&b->lsda[1]);
	vec_free(&b->step);
	vec_free(&b->table);
	vec_free(&b->word);
	arena_free(&b->mem);
}
