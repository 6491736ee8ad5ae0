#include "editor/count/counters.h"
#include "editor/asm/insn.h"
#include "editor/emit/emit.h"

enum { REG_RSP = 7, RED_ZONE = 128 };

static void set_counter(struct probe_text *t, uint32_t k)
{
	const struct cfg *g = &t->f->pub->cfg;
	struct probe at = probe_site(g, t->p->site[k]);

	switch (at.at) {
	case PROBE_HEAD:
		t->head[at.index] = k + 1;
		break;
	case PROBE_END:
		t->end[at.index] = k + 1;
		break;
	case PROBE_EDGE:
		if (g->edge[at.index].kind == EDGE_TAKEN)
			t->taken[g->edge[at.index].src] = k + 1;
		else
			t->on[g->edge[at.index].src] = k + 1;
		break;
	}
}

static void text_open(struct probe_text *t, const struct unit_impl *u, const struct func *f,
    const struct probes *p, struct arena *a)
{
	uint32_t k;

	*t = (struct probe_text){.u = u, .f = f, .p = p};
	if (!p)
		return;
	t->live = f->blk ? flags_live(u, f, a) : arena_array(a, 1, 1);
	t->head = arena_array(a, f->nblk, sizeof *t->head);
	t->end = arena_array(a, f->nblk, sizeof *t->end);
	t->on = arena_array(a, f->nblk, sizeof *t->on);
	t->taken = arena_array(a, f->nblk, sizeof *t->taken);
	for (k = 0; k < p->n; k++)
		set_counter(t, k);
}

/* ---- one counter ---- */

static void cfa(const struct probe_text *t, uint32_t cfi, int by, struct buf *out)
{
	if (t->f->has_cfi && t->u->cfi.v[cfi].cfa_reg == REG_RSP)
		buf_printf(out, "\t.cfi_adjust_cfa_offset %d\n", by);
}

static void save(const struct probe_text *t, uint32_t cfi, struct buf *out)
{
	buf_printf(out, "\tleaq\t-%d(%%rsp), %%rsp\n", RED_ZONE);
	cfa(t, cfi, RED_ZONE, out);
	buf_str(out, "\tpushq\t%rax\n");
	cfa(t, cfi, 8, out);
	buf_str(out, "\tlahf\n\tseto\t%al\n");
}

/* 1 + 127 overflows, 0 + 127 does not. */
static void restore(const struct probe_text *t, uint32_t cfi, struct buf *out)
{
	buf_str(out, "\taddb\t$127, %al\n\tsahf\n\tpopq\t%rax\n");
	cfa(t, cfi, -8, out);
	buf_printf(out, "\tleaq\t%d(%%rsp), %%rsp\n", RED_ZONE);
	cfa(t, cfi, -RED_ZONE, out);
}

void probe_one(
    const struct probe_text *t, uint32_t counter, bool live, uint32_t cfi, struct buf *out)
{
	static const char *const count[] = {"incq\t", "lock incq\t", "incq\t%gs:"};

	if (live)
		save(t, cfi, out);
	buf_printf(out, "\t%s" COUNTER_BASE "+%u(%%rip)\n", count[t->p->kind], t->f->pub->ord,
	    COUNTER_BYTES * counter);
	if (live)
		restore(t, cfi, out);
	if (!counter)
		buf_printf(out, "\t.reloc\t., R_X86_64_NONE, " COUNTED "\n", t->f->pub->ord);
}

void probe_enter(const struct probe_text *t, bool safe, uint32_t cfi, struct buf *out)
{
	uint32_t f = t->f->pub->ord;

	if (safe)
		save(t, cfi, out);
	buf_printf(out,
	    "\tcmpb\t$0, %%fs:" PROBES_SEEN "@tpoff\n"
	    "\tjne\t" ENTRY_PASSED "\n"
	    "\tcall\t" PROBES_ENTER "\n" ENTRY_PASSED ":\n",
	    f, f);
	if (safe)
		restore(t, cfi, out);
}

/* ---- sites ---- */

/* The first statement of code in [from, to), after an endbr64. */
static uint32_t first_code(
    const struct unit_impl *u, const struct func *f, uint32_t from, uint32_t to)
{
	for (; from < to && !is_code(&u->stmt.v[f->code.v[from]]); from++)
		;
	return from < to && str_is(u->stmt.v[f->code.v[from]].op, "endbr64") ? from + 1 : from;
}

static uint32_t last_insn(const struct probe_text *t, const struct blk *k)
{
	uint32_t i = k->last;

	while (i > k->first && t->u->stmt.v[t->f->code.v[i - 1]].kind != ST_INSN)
		i--;
	return i > k->first ? i - 1 : k->last;
}

/* Flags live where block b ends in an indirect jump. */
static bool live_at_end(const struct probe_text *t, uint32_t b)
{
	const struct cfg *g = &t->f->pub->cfg;
	uint32_t i;

	for (i = g->succ[b]; i < g->succ[b + 1] && !t->live[g->edge[i].dst]; i++)
		;
	return i < g->succ[b + 1];
}

uint32_t probe_entry(const struct unit_impl *u, const struct func *f)
{
	uint32_t i = first_code(u, f, 0, f->part1), k;
	const struct label *l;

	for (k = 0; k < i; k++) {
		l = u->stmt.v[f->code.v[k]].kind == ST_LABEL ? label_of(u, &u->stmt.v[f->code.v[k]])
							     : NULL;
		if (l && l->flags & (LB_BRANCH | LB_TABLE))
			return NONE; /* it would count iterations, not calls */
	}
	return i < f->part1 && u->stmt.v[f->code.v[i]].kind == ST_INSN ? i : NONE;
}

/* Where the counter at the head of block b goes. */
static uint32_t head_of(const struct probe_text *t, uint32_t b)
{
	const struct func *f = t->f;

	return f->blk ? first_code(t->u, f, f->blk[b].first, f->blk[b].last) : probe_entry(t->u, f);
}

/* ---- the sections ---- */

static void section(
    const char *name, const char *flags, const char *type, const char *group, struct buf *out)
{
	if (group)
		buf_printf(out, "\t.section\t%s,\"%sG\",%s,%s,comdat\n", name, flags, type, group);
	else
		buf_printf(out, "\t.section\t%s,\"%s\",%s\n", name, flags, type);
	buf_str(out, "\t.p2align\t3\n");
}

void probe_sections(
    const struct unit_impl *u, struct probes *const *probes, uint64_t tu, struct buf *out)
{
	const struct probes *p;
	const char *group;
	uint32_t i, k;

	for (i = 0; i < u->func.n; i++) {
		p = probes[i];
		if (!p || !p->n)
			continue;
		group = u->section.v[u->func.v[i].section].group;
		section(".morph.counters", "aw", "@nobits", group, out);
		buf_printf(out, COUNTER_BASE ":\n\t.zero\t%u\n", i, COUNTER_BYTES * p->n);
		section(".morph.counted", "a", "@progbits", group, out);
		buf_printf(out,
		    COUNTED ":\n\t.quad\t%llu\n\t.long\t%u, %u, %u, " COUNTER_BASE "-.\n", i,
		    (unsigned long long)tu, i, p->form, p->n, i);
		for (k = 0; k < p->n; k++)
			buf_printf(out, "\t.long\t%u\n", p->site[k]);
		buf_str(out, "\t.p2align\t3\n");
	}
}

/* ---- what the printer asks for (editor/emit/emit.h) ---- */

struct counting_text {
	const struct unit_impl *u;
	struct probes *const *probes;
	uint64_t tu;
	struct probe_text now; /* of the current function */
};

static void on_function(void *arg, const struct func *f)
{
	struct counting_text *c = arg;

	text_open(&c->now, c->u, f, c->probes[f->pub->ord], c->u->mem);
}

static void on_statement(void *arg, uint32_t b, uint32_t i, uint32_t cfi, struct buf *out)
{
	const struct probe_text *t = &((struct counting_text *)arg)->now;
	const struct cfg *g = &t->f->pub->cfg;
	bool entry = t->p && t->p->entered && !b;

	if (!t->p)
		return;
	if ((t->head[b] || entry) && i == head_of(t, b)) {
		if (entry)
			probe_enter(t, t->live[b] || g->pred[b] < g->pred[b + 1], cfi, out);
		if (t->head[b])
			probe_one(t, t->head[b] - 1, t->live[b], cfi, out);
	}
	if (t->end[b] && i == last_insn(t, &t->f->blk[b]))
		probe_one(t, t->end[b] - 1, live_at_end(t, b), cfi, out);
}

static bool on_detours(void *arg, uint32_t b)
{
	const struct probe_text *t = &((struct counting_text *)arg)->now;

	return t->p && t->taken[b];
}

static void on_edge(void *arg, uint32_t b, bool taken, uint32_t cfi, struct buf *out)
{
	const struct probe_text *t = &((struct counting_text *)arg)->now;
	const struct blk *k = &t->f->blk[b];
	uint32_t counter = t->p ? (taken ? t->taken[b] : t->on[b]) : 0;

	if (counter)
		probe_one(t, counter - 1,
		    t->live[taken || k->term == TERM_JUMP ? k->target : k->fall], cfi, out);
}

static void on_end(void *arg, struct buf *out)
{
	const struct counting_text *c = arg;

	probe_sections(c->u, c->probes, c->tu, out);
}

void unit_emit_counting(const struct unit *unit, const struct unit_placement *placement,
    struct probes *const *probes, uint64_t tu, struct buf *out)
{
	struct counting_text c = {.u = unit->impl, .probes = probes, .tu = tu};
	const struct emit_callbacks cb = {
	    &c, on_function, on_statement, on_detours, on_edge, on_end};

	unit_emit_with(unit, placement, tu, any_probes(unit, probes) ? &cb : NULL, out);
}
