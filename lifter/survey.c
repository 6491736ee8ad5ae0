#include "lifter/survey.h"
#include "common/le.h"
#include "common/sort.h"

#include <string.h>

/* ---- fragments ---- */

static int by_pc(const void *a, const void *b)
{
	const struct fragment *x = a, *y = b;

	return ORDER(x->fde.pc, y->fde.pc) ?: ORDER(x->fde.at, y->fde.at);
}

/* Those that lie in a section of code as a whole and overlap no other. */
static int read_fragments(struct survey *s, const struct image *m, struct err *e)
{
	struct eh_frames r = {.p = m->frames.data, .size = m->frames.size, .addr = m->frames.addr};
	struct eh_fde f;
	uint64_t end = 0;
	size_t i, n = 0;
	int rc;

	while ((rc = eh_frames_next(&r, &f)) > 0)
		if (f.size && f.pc + f.size > f.pc && image_code(m, f.pc) &&
		    image_code(m, f.pc + f.size - 1) && image_at(m, f.pc, f.size))
			vec_push(&s->fragment, (struct fragment){.fde = f});
	if (rc)
		return err_set(e, "unwind information (.eh_frame) of an unknown form at %#llx",
		    (unsigned long long)(r.addr + r.next));
	vec_sort(&s->fragment, by_pc);
	for (i = 0; i < s->fragment.n; i++) {
		if (s->fragment.v[i].fde.pc < end)
			continue;
		s->fragment.v[n++] = s->fragment.v[i];
		end = s->fragment.v[i].fde.pc + s->fragment.v[i].fde.size;
	}
	s->fragment.n = n;
	return n ? 0 : err_set(e, "its unwind information names no code");
}

uint32_t survey_fragment(const struct survey *s, uint64_t addr)
{
	size_t k = partition_point(0, s->fragment.n, i, s->fragment.v[i].fde.pc <= addr);
	const struct fragment *f = k ? &s->fragment.v[k - 1] : NULL;

	return f && addr - f->fde.pc < f->fde.size ? (uint32_t)(k - 1) : NO_FRAGMENT;
}

/* ---- jumps between them ---- */

static int by_target(const void *a, const void *b)
{
	const struct crossing *x = a, *y = b;

	return ORDER(x->to, y->to) ?: ORDER(x->from, y->from);
}

static void cross(struct survey *s, uint32_t from, uint64_t to, const struct code *c)
{
	vec_push(
	    &s->crossing, (struct crossing){to, from, c->kind == CODE_JCC, c->kind == CODE_CALL});
}

static void take(struct survey *s, const struct image *m, const struct code *c, uint64_t to)
{
	if (c->lea && c->field && image_code(m, to))
		vec_push(&s->taken, to);
}

static bool leads_somewhere(const struct code *c)
{
	return c->kind == CODE_CALL || c->kind == CODE_JMP || c->kind == CODE_JCC ||
	       c->kind == CODE_SHORT;
}

static void walk(struct survey *s, const struct image *m, uint32_t n)
{
	struct fragment *f = &s->fragment.v[n];
	const uint8_t *p = image_at(m, f->fde.pc, f->fde.size);
	struct code c;
	uint64_t i, to;

	f->code = s->code.n;
	for (i = 0; i < f->fde.size; i += c.len) {
		if (!code_decode(p + i, f->fde.size - i, &c)) {
			f->unreadable = true;
			return;
		}
		vec_push(&s->code, c);
		f->ncode++;
		to = code_target(&c, f->fde.pc + i);
		take(s, m, &c, to);
		if (c.lea && c.field) {
			vec_push(&s->address, to);
			vec_push(&s->reference, to);
		}
		if (c.absolute && c.distance > 0 && m->kind == ELF_EXEC)
			vec_push(&s->reference, (uint64_t)c.distance);
		if (leads_somewhere(&c) && (c.kind == CODE_CALL || to - f->fde.pc >= f->fde.size))
			cross(s, n, to, &c);
	}
}

/* Code without unwind information: whatever is there. */
static void walk_gap(struct survey *s, const struct image *m, uint64_t from, uint64_t to)
{
	const uint8_t *p = image_at(m, from, to - from);
	struct code c;
	uint64_t at, target;

	for (at = from; p && at < to; at += c.len) {
		if (!code_decode(p + (at - from), to - at, &c))
			c = (struct code){.len = 1};
		target = code_target(&c, at);
		take(s, m, &c, target);
		if (leads_somewhere(&c) && target - from >= to - from)
			cross(s, NO_FRAGMENT, target, &c);
	}
}

static void walk_gaps(struct survey *s, const struct image *m)
{
	const struct elf_section *c;
	uint64_t at;
	size_t i = 0;

	for (c = m->code.v; c < m->code.v + m->code.n; c++) {
		at = c->addr;
		i = partition_point(0, s->fragment.n, k, s->fragment.v[k].fde.pc < at);
		for (; i < s->fragment.n && s->fragment.v[i].fde.pc - c->addr < c->size; i++) {
			walk_gap(s, m, at, s->fragment.v[i].fde.pc);
			at = s->fragment.v[i].fde.pc + s->fragment.v[i].fde.size;
		}
		if (at < c->addr + c->size)
			walk_gap(s, m, at, c->addr + c->size);
	}
}

static void sort_once(struct survey_addresses *v)
{
	size_t i, n = 0;

	vec_sort(v, order_u64);
	for (i = 0; i < v->n; i++)
		if (!n || v->v[n - 1] != v->v[i])
			v->v[n++] = v->v[i];
	v->n = n;
}

uint64_t survey_next_object(const struct survey *s, uint64_t addr)
{
	size_t k = partition_point(0, s->reference.n, i, s->reference.v[i] <= addr);

	return k < s->reference.n ? s->reference.v[k] : UINT64_MAX;
}

bool survey_taken(const struct survey *s, uint64_t addr)
{
	return sorted_has(s->taken.v, s->taken.n, addr);
}

/* Up to the next object. */
static void read_entries(struct survey *s, const struct image *m, uint64_t table)
{
	uint64_t next = survey_next_object(s, table), at = table, to;
	const uint8_t *p;

	if (image_executable(m, table))
		return;
	for (; at < next && (p = image_constant(m, at, 4)); at += 4) {
		to = table + (uint64_t)(int64_t)(int32_t)get_le32(p);
		if (!image_code(m, to))
			return;
		vec_push(&s->entry, to);
	}
}

static void find_calls(struct survey *s)
{
	const struct crossing *c;
	uint32_t to;

	for (c = s->crossing.v; c < s->crossing.v + s->crossing.n; c++) {
		to = c->call ? survey_fragment(s, c->to) : NO_FRAGMENT;
		if (to != NO_FRAGMENT && s->fragment.v[to].fde.pc == c->to)
			s->fragment.v[to].called = true;
	}
}

/* The crossings to [from, to): the first, and the end of them. */
static const struct crossing *crossings(
    const struct survey *s, uint64_t from, uint64_t to, const struct crossing **end)
{
	size_t a = partition_point(0, s->crossing.n, i, s->crossing.v[i].to < from);
	size_t b = partition_point(a, s->crossing.n, i, s->crossing.v[i].to < to);

	*end = s->crossing.v + b;
	return s->crossing.v + a;
}

bool survey_entered(const struct survey *s, uint64_t from, uint64_t to)
{
	size_t k = partition_point(0, s->entry.n, i, s->entry.v[i] < from);
	const struct crossing *end;

	return crossings(s, from, to, &end) < end || (k < s->entry.n && s->entry.v[k] < to);
}

/* ---- functions ---- */

/* Do jumps of fragment `from` lead into n behind its begin? */
static bool leads_inside(const struct survey *s, uint32_t from, uint32_t n)
{
	const struct fragment *f = &s->fragment.v[n];
	const struct crossing *end, *c = crossings(s, f->fde.pc + 1, f->fde.pc + f->fde.size, &end);

	for (; c < end; c++)
		if (c->from == from && !c->call)
			return true;
	return false;
}

/* The fragment whose cold part n is, or NO_FRAGMENT: its begin is jumped to by that one alone, not
 * called, and the two belong together by more than one jump that might be a tail call. */
static uint32_t hot_part(const struct survey *s, uint32_t n)
{
	const struct fragment *f = &s->fragment.v[n];
	const struct crossing *end, *c = crossings(s, f->fde.pc, f->fde.pc + f->fde.size, &end);
	uint32_t from = c < end ? c->from : NO_FRAGMENT;
	bool begun = false, close = false;

	if (from == NO_FRAGMENT || from == n || f->called)
		return NO_FRAGMENT;
	for (; c < end; c++) {
		if (c->from != from || c->call)
			return NO_FRAGMENT;
		begun |= c->to == f->fde.pc;
		close |= c->jcc || c->to != f->fde.pc;
	}
	return begun && (close || leads_inside(s, n, from)) ? from : NO_FRAGMENT;
}

/* A hot part has one cold part at most, and is none itself. */
static void join(struct survey *s, const struct image *m)
{
	uint32_t *hot = xmalloc(s->fragment.n * sizeof *hot), *cold, i;

	cold = xmalloc(s->fragment.n * sizeof *cold);
	memset(cold, 0xff, s->fragment.n * sizeof *cold);
	for (i = 0; i < s->fragment.n; i++)
		hot[i] = image_name(m, s->fragment.v[i].fde.pc) ? NO_FRAGMENT : hot_part(s, i);
	for (i = 0; i < s->fragment.n; i++)
		if (hot[i] != NO_FRAGMENT && hot[hot[i]] == NO_FRAGMENT &&
		    cold[hot[i]] == NO_FRAGMENT)
			cold[hot[i]] = i;
		else
			hot[i] = NO_FRAGMENT;
	for (i = 0; i < s->fragment.n; i++) {
		if (hot[i] != NO_FRAGMENT)
			continue;
		s->fragment.v[i].func = (uint32_t)s->func.n;
		if (cold[i] != NO_FRAGMENT)
			s->fragment.v[cold[i]].func = (uint32_t)s->func.n;
		vec_push(&s->func, (struct function){.part = {i, cold[i]}, .wanted = true});
	}
	free(hot);
	free(cold);
}

/* By a symbol, where no other function has that name; else by the address. */
static void name_functions(struct survey *s, const struct image *m)
{
	const struct image_name *k;
	unsigned long long addr;
	struct function *f;
	bool fresh;

	for (f = s->func.v; f < s->func.v + s->func.n; f++) {
		addr = s->fragment.v[f->part[0]].fde.pc;
		k = image_name(m, addr);
		f->name = k ? k->name : arena_printf(&s->mem, "func_%llx", addr);
		htab_put_str(&s->named, f->name, &fresh);
		if (fresh)
			continue;
		f->name = arena_printf(&s->mem, "%s.%llx", f->name, addr);
		htab_put_str(&s->named, f->name, &fresh);
	}
}

bool survey_named(const struct survey *s, const char *name)
{
	return htab_get_str(&s->named, name) != NULL;
}

const struct function *survey_entry(const struct survey *s, uint64_t addr)
{
	uint32_t n = survey_fragment(s, addr);
	const struct function *f = n == NO_FRAGMENT ? NULL : &s->func.v[s->fragment.v[n].func];

	return f && f->part[0] == n && s->fragment.v[n].fde.pc == addr ? f : NULL;
}

int survey_make(struct survey *s, const struct image *m, struct err *e)
{
	uint32_t i;
	size_t k;

	*s = (struct survey){0};
	if (read_fragments(s, m, e))
		return -1;
	for (i = 0; i < s->fragment.n; i++)
		walk(s, m, i);
	walk_gaps(s, m);
	sort_once(&s->reference);
	sort_once(&s->address);
	sort_once(&s->taken);
	for (k = 0; k < s->address.n; k++)
		read_entries(s, m, s->address.v[k]);
	sort_once(&s->entry);
	vec_sort(&s->crossing, by_target);
	find_calls(s);
	join(s, m);
	name_functions(s, m);
	return 0;
}

void survey_free(struct survey *s)
{
	vec_free(&s->fragment);
	vec_free(&s->func);
	vec_free(&s->code);
	vec_free(&s->crossing);
	vec_free(&s->reference);
	vec_free(&s->address);
	vec_free(&s->taken);
	vec_free(&s->entry);
	htab_free(&s->named);
	arena_free(&s->mem);
}
