/*
 * Jump tables. GCC and clang make two kinds:
 *
 *	lea T(%rip), B	movslq (B,I,4), R	add B, R	jmp *R		distances from T
 *	jmp *T(,I,8), or mov T(,I,8), R and jmp *R			addresses
 *
 * The copy of a table has the same meaning wherever B points, so what must be known is that an
 * address T is used by such jumps alone, and that the copy has as many entries as the table can
 * have. The first: from the lea on, on all paths, nothing else names B before it is written. (That
 * B is still T where other functions are called means nothing: T is no object of the program.) The
 * second: a comparison bounds the index, or else the table ends at the latest where an entry leads
 * to no code, or where another object begins that code refers to.
 */
#include "common/le.h"
#include "lifter/body.h"
#include "lifter/registers.h"

#include <string.h>

enum { FAR = 16, BACK = 24, ENTRIES_MAX = 1024, VISITS_MAX = 1 << 22 };

/* Registers that a call may change, and what it returns. */
enum { CLOBBERED = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 0xf << 8 };

/* A jump by a table of distances: steps. */
struct dispatch {
	uint32_t load, jump;
	uint8_t base, result; /* registers; the result may be the base */
};

struct finder {
	struct body *b;
	struct registers *o; /* by step, where read[] */
	bool *read;
	VEC(struct dispatch) dispatch; /* by load */
	uint32_t *visit;               /* by step: the lea that came by last, + 1 */
	uint32_t visits;
	VEC(uint32_t) todo; /* steps */
};

/* What step i does; read when it is asked for first, since most never are. */
static const struct registers *does(const struct finder *f, uint32_t i)
{
	const struct step *s = &f->b->step.v[i];

	if (!f->read[i])
		registers_read(image_at(f->b->m, s->addr, s->c.len), s->c.len, &f->o[i]);
	f->read[i] = true;
	return &f->o[i];
}

static bool ends(const struct step *s)
{
	switch (s->c.kind) {
	case CODE_JMP:
	case CODE_JMP_IND:
	case CODE_RET:
	case CODE_STOP:
		return true;
	}
	return false;
}

static bool jumps(const struct step *s)
{
	return ends(s) || s->c.kind == CODE_JCC || s->c.kind == CODE_SHORT;
}

static bool names(const struct registers *o, uint8_t reg)
{
	return (o->reads | o->writes) >> reg & 1;
}

/* ---- the instructions of a jump ---- */

/* The step after i of the same run of code, in which `reg` is named next; NONE_STEP: none. */
enum { NONE_STEP = UINT32_MAX };
static uint32_t next_use(const struct finder *f, uint32_t i, uint8_t reg)
{
	const struct step *s = f->b->step.v;
	uint32_t k;

	for (k = i + 1; k < f->b->step.n && k <= i + FAR; k++) {
		if (s[k].entered || s[k].part != s[i].part)
			return NONE_STEP;
		if (names(does(f, k), reg))
			return k;
		if (jumps(&s[k]) || s[k].c.kind == CODE_CALL || s[k].c.kind == CODE_CALL_IND)
			return NONE_STEP;
	}
	return NONE_STEP;
}

/* Is the jump to `reg` the next that names it after step i? */
static uint32_t jump_to(const struct finder *f, uint32_t i, uint8_t reg)
{
	uint32_t k = next_use(f, i, reg);

	return k != NONE_STEP && does(f, k)->form == FORM_JUMP && does(f, k)->src == reg
		   ? k
		   : NONE_STEP;
}

static void match_dispatch(struct finder *f, uint32_t i)
{
	const struct registers *load = does(f, i), *add;
	uint8_t base = load->src, off = load->dst;
	uint32_t k = load->form == FORM_LOAD4 ? next_use(f, i, off) : NONE_STEP, at;

	if (base == off || k == NONE_STEP || next_use(f, i, base) != k)
		return;
	add = does(f, k);
	if (add->form != FORM_ADD ||
	    !((add->dst == off && add->src == base) || (add->dst == base && add->src == off)))
		return;
	at = jump_to(f, k, add->dst);
	/* LLVM stores it as a value that does not matter. */
	if (at != NONE_STEP && (add->dst == base || next_use(f, k, base) > at))
		vec_push(&f->dispatch, (struct dispatch){i, at, base, add->dst});
}

static const struct dispatch *dispatch_at(const struct finder *f, uint32_t load)
{
	size_t i;

	for (i = 0; i < f->dispatch.n; i++)
		if (f->dispatch.v[i].load == load)
			return &f->dispatch.v[i];
	return NULL;
}

/* ---- how many entries ---- */

/* What a conditional jump that is not taken says of a comparison with n: the largest value. */
static bool bounded_by(const struct step *jcc, int64_t n, uint32_t *most)
{
	enum { AE = 3, A = 7 };

	if (n < 0 || n > ENTRIES_MAX || (jcc->c.cond != AE && jcc->c.cond != A))
		return false;
	if (jcc->c.cond == AE && !n)
		return false;
	*most = (uint32_t)n - (jcc->c.cond == AE);
	return true;
}

/* Is the index of the load at step i known to be at most *most? */
static bool bound(const struct finder *f, uint32_t i, uint32_t *most)
{
	const struct step *s = f->b->step.v, *jcc = NULL;
	uint8_t reg = does(f, i)->index;
	const struct registers *o;
	uint32_t k;

	for (k = i; k-- > 0 && i - k <= BACK;) {
		if (s[k + 1].entered || s[k].part != s[i].part || ends(&s[k]))
			return false;
		o = does(f, k);
		if (s[k].c.kind == CODE_JCC) {
			jcc = &s[k];
			continue;
		}
		if (jcc && o->form == FORM_COMPARE && o->src == reg &&
		    bounded_by(jcc, o->number, most))
			return true;
		if (o->sets_flags)
			jcc = NULL;
		if (o->form == FORM_MASK && o->dst == reg) {
			*most = (uint32_t)o->number;
			return o->number >= 0 && o->number < ENTRIES_MAX;
		}
		if (o->form == FORM_COPY && o->dst == reg)
			reg = o->src;
		else if (o->writes >> reg & 1 || s[k].c.kind == CODE_CALL ||
			 s[k].c.kind == CODE_CALL_IND)
			return false;
	}
	return false;
}

/* Reads the entries that it can have; false where there are none, or too many. */
static bool read_entries(struct body *b, struct jump_table *t, uint32_t most)
{
	uint64_t next = survey_next_object(b->s, t->addr), at, *target;
	unsigned size = t->wide ? 8 : 4;
	const uint8_t *p;

	target = arena_array(&b->mem, ENTRIES_MAX + 1, sizeof *target);
	t->target = target;
	for (t->n = 0; t->n <= ENTRIES_MAX; t->n++) {
		at = t->addr + (uint64_t)t->n * size;
		p = image_constant(b->m, at, size);
		if (!p || (t->bounded ? t->n > most : at >= next))
			break;
		target[t->n] =
		    t->wide ? get_le64(p) : t->addr + (uint64_t)(int64_t)(int32_t)get_le32(p);
		if (!image_executable(b->m, target[t->n]))
			break;
	}
	return t->n && t->n <= ENTRIES_MAX && (!t->bounded || t->n == most + 1);
}

/* Is the table that was read large enough for another jump, too? */
static bool covers(const struct jump_table *t, bool bounded, uint32_t most)
{
	return bounded ? t->n > most : !t->bounded;
}

/* The table at an address, as it is used by the load at step i; 1 + its number, 0: none. */
static uint32_t table_at(struct finder *f, uint64_t addr, bool wide, uint32_t i)
{
	struct body *b = f->b;
	struct jump_table t = {.addr = addr, .wide = wide};
	uint32_t k, most = 0;

	t.bounded = bound(f, i, &most);
	if (image_executable(b->m, addr) || !image_constant(b->m, addr, wide ? 8 : 4))
		return 0;
	for (k = 0; k < b->table.n; k++)
		if (b->table.v[k].addr == addr && b->table.v[k].wide == wide)
			break;
	if (k < b->table.n && covers(&b->table.v[k], t.bounded, most))
		return k + 1;
	if (!read_entries(b, &t, most))
		return 0;
	if (k == b->table.n)
		vec_push(&b->table, t);
	else
		b->table.v[k] = t;
	return k + 1;
}

static void enter_entries(struct body *b, const struct jump_table *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		body_enter(b, t->target[i]);
}

static void goes_by(struct step *jump, uint32_t table)
{
	if (jump->table[0] == table || jump->table[1] == table)
		return;
	jump->table[jump->table[0] != 0] = table;
}

/* ---- tables of addresses ---- */

static void find_wide(struct finder *f, uint32_t i)
{
	struct body *b = f->b;
	struct step *s = &b->step.v[i];
	const struct registers *o = does(f, i);
	uint32_t jump = NONE_STEP, t;

	if (o->form == FORM_JUMP8)
		jump = i;
	else if (o->form == FORM_LOAD8)
		jump = jump_to(f, i, o->dst);
	if (b->m->kind != ELF_EXEC || s->c.distance <= 0 || jump == NONE_STEP)
		return;
	t = table_at(f, (uint64_t)s->c.distance, true, i);
	if (!t)
		return;
	s->operand = t;
	goes_by(&b->step.v[jump], t);
	enter_entries(b, &b->table.v[t - 1]);
}

/* ---- tables of distances ---- */

static void go_to(struct finder *f, const struct step *s, uint32_t lea)
{
	uint32_t i = s ? (uint32_t)(s - f->b->step.v) : 0;

	if (!s || f->visit[i] == lea + 1)
		return;
	f->visit[i] = lea + 1;
	f->visits++;
	vec_push(&f->todo, i);
}

static void go_on(struct finder *f, uint32_t i, uint32_t lea)
{
	const struct step *s = f->b->step.v;

	if (i + 1 < f->b->step.n && s[i + 1].part == s[i].part)
		go_to(f, &s[i + 1], lea);
}

static void to_pads(struct finder *f, uint32_t lea)
{
	const struct eh_table *t;
	size_t i;

	for (t = f->b->lsda; t < f->b->lsda + 2; t++)
		for (i = 0; i < t->site.n; i++)
			if (t->site.v[i].pad)
				go_to(f, body_step(f->b, t->site.v[i].pad), lea);
}

/* From where the register is still the table's address, step i. */
static void successors(struct finder *f, uint32_t i, uint8_t reg, uint32_t lea)
{
	const struct step *s = &f->b->step.v[i];
	bool call = s->c.kind == CODE_CALL || s->c.kind == CODE_CALL_IND;

	if (call && CLOBBERED >> reg & 1)
		return;
	if (call)
		to_pads(f, lea);
	if (s->c.kind == CODE_JMP || s->c.kind == CODE_JCC || s->c.kind == CODE_SHORT)
		go_to(f, body_step(f->b, step_target(s)), lea);
	if (!ends(s))
		go_on(f, i, lea);
}

static void to_entries(struct finder *f, const struct jump_table *t, uint32_t lea)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		go_to(f, body_step(f->b, t->target[i]), lea);
}

/* Is the address that step `lea` sets used by jumps through this table alone? *table, where it was
 * met first, is 0 before. */
static bool follow(struct finder *f, uint32_t lea, uint32_t *table)
{
	uint8_t reg = does(f, lea)->dst;
	const struct dispatch *d;
	uint32_t i, t;

	f->todo.n = 0;
	go_on(f, lea, lea);
	while (f->todo.n) {
		i = f->todo.v[--f->todo.n];
		d = does(f, i)->form == FORM_LOAD4 && does(f, i)->src == reg ? dispatch_at(f, i)
									     : NULL;
		if (d) {
			t = table_at(f, step_target(&f->b->step.v[lea]), false, i);
			if (!t || (*table && *table != t))
				return false;
			*table = t;
			if (d->result != reg)
				to_entries(f, &f->b->table.v[t - 1], lea);
			continue;
		}
		if (does(f, i)->reads >> reg & 1 || f->visits > VISITS_MAX)
			return false;
		if (!(does(f, i)->writes >> reg & 1))
			successors(f, i, reg, lea);
	}
	return *table != 0;
}

/* The jumps that it reaches go by the table: those that follow() came by. */
static void mark_jumps(struct finder *f, uint32_t lea, uint32_t table)
{
	const struct dispatch *d;

	for (d = f->dispatch.v; d < f->dispatch.v + f->dispatch.n; d++)
		if (f->visit[d->load] == lea + 1 && d->base == does(f, lea)->dst)
			goes_by(&f->b->step.v[d->jump], table);
}

static void find_distances(struct finder *f, uint32_t lea)
{
	uint32_t table = 0;
	size_t i;

	for (i = 0; i < f->dispatch.n && f->dispatch.v[i].base != does(f, lea)->dst; i++)
		;
	if (i == f->dispatch.n || !follow(f, lea, &table))
		return;
	f->b->step.v[lea].operand = table;
	mark_jumps(f, lea, table);
	enter_entries(f->b, &f->b->table.v[table - 1]);
}

/* ---- all of them ---- */

void body_tables(struct body *b)
{
	struct finder f = {.b = b};
	uint32_t i, n = (uint32_t)b->step.n;

	f.o = xcalloc(n, sizeof *f.o);
	f.read = xcalloc(n, sizeof *f.read);
	f.visit = xcalloc(n, sizeof *f.visit);
	for (i = 0; i < n; i++)
		if (b->step.v[i].c.movslq)
			match_dispatch(&f, i);
	for (i = 0; i < n; i++)
		if (b->step.v[i].c.absolute)
			find_wide(&f, i);
	for (i = 0; i < n && f.dispatch.n; i++)
		if (b->step.v[i].c.lea && b->step.v[i].c.field)
			find_distances(&f, i);
	vec_free(&f.dispatch);
	vec_free(&f.todo);
	free(f.o);
	free(f.read);
	free(f.visit);
}
