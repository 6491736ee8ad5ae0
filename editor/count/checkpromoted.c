/*
 * Proves that promoted counters in a printed text lose no counts and break no code. A forward data
 * flow tracks what each register holds: its own value, a counter's increments, or garbage left of
 * them. Increments may only be added to or flushed to memory; no other value may be lost, and
 * garbage must not be read, on any path. Where counters should be promoted is not checked.
 */
#include "editor/count/counters.h"
#include "editor/asm/insn.h"

#include <stdlib.h>

enum { OWN, GARBAGE, PROMOTED }; /* PROMOTED + index of the promoted counter */
enum { UNSEEN = NONE };

struct state {
	uint32_t reg[UR_N];
};

struct block_ref {
	uint32_t func, block;
};

/* Statements of one function, as they are printed. */
struct run {
	uint32_t func, begin, end, next; /* of the same function, or NONE */
};

struct follower {
	const struct unit_impl *u;
	const struct unit_placement *placement;
	const struct regs *regs;
	struct unit_impl out;      /* the printed text: statements only */
	struct htab label;         /* of the printed text: its name -> statement */
	struct state *at;          /* per statement: before labels */
	struct reg_effect *effect; /* per statement: of instructions, once `known` */
	uint8_t *known;
	VEC(struct run) run;
	uint32_t *first_run; /* per function */
	struct arena mem;
	struct err *e;
	/* The function at hand. */
	const struct func *f;
	const struct probes *p;
	const uint8_t *open; /* per block: may be entered from unknown places */
	uint16_t spare;
	struct state now;
	bool reached, changed;
};

static int wrong(const struct follower *w, uint32_t i, const char *what)
{
	struct str line = w->out.stmt.v[i].line;

	return err_set(w->e, "output check: function %s: %.*s: %s", w->f->pub->name, (int)line.n,
	    line.p, what);
}

/* "PREFIX0.7" -> 0, 7 */
static bool names_block(struct str s, const char *prefix, struct block_ref *r)
{
	char text[32], *end;
	size_t n = strlen(prefix);

	if (!str_starts(s, prefix) || s.n - n >= sizeof text)
		return false;
	memcpy(text, s.p + n, s.n - n);
	text[s.n - n] = '\0';
	r->func = (uint32_t)strtoul(text, &end, 10);
	r->block = *end == '.' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
	return true;
}

/* The promotion of the counter that a statement names; NULL when there is none. */
static const struct probe_promoted *promoted_by(const struct follower *w, const struct stmt *st)
{
	const char *at = memmem(st->line.p, st->line.n, ".LMC", 4);
	size_t n = at ? (size_t)(st->line.p + st->line.n - at) - 4 : 0;
	char text[64], *end;
	unsigned long v;
	uint32_t k;

	if (!n || n >= sizeof text)
		return NULL;
	memcpy(text, at + 4, n);
	text[n] = '\0';
	v = strtoul(text, &end, 10);
	if (v != w->f->pub->ord || *end != '+')
		return NULL;
	v = strtoul(end + 1, NULL, 10) / COUNTER_BYTES;
	for (k = 0; k < w->p->npromoted; k++)
		if (w->p->promoted[k].counter == v)
			return &w->p->promoted[k];
	return NULL;
}

/* ---- states ---- */

static bool is_turns(uint32_t v)
{
	return v >= PROMOTED && v != UNSEEN;
}

/* Joins the state that reaches statement i. */
static int join(struct follower *w, uint32_t i, const struct state *from)
{
	struct state *into = &w->at[i];
	unsigned r;

	for (r = 0; r < UR_N; r++) {
		if (into->reg[r] == from->reg[r])
			continue;
		if (into->reg[r] == UNSEEN) {
			into->reg[r] = from->reg[r];
		} else if (is_turns(into->reg[r]) || is_turns(from->reg[r])) {
			return wrong(w, i, "a counter is in a register on some ways to it only");
		} else if (into->reg[r] == GARBAGE) {
			continue;
		} else {
			into->reg[r] = GARBAGE;
		}
		w->changed = true;
	}
	return 0;
}

static int join_label(struct follower *w, uint32_t i, struct str name)
{
	const uint64_t *to = htab_get(&w->label, name.p, name.n);

	return to ? join(w, (uint32_t)*to, &w->now) : wrong(w, i, "it leads nowhere");
}

static bool keeps_nothing(const struct state *s)
{
	unsigned r;

	for (r = 0; r < UR_N; r++)
		if (is_turns(s->reg[r]))
			return false;
	return true;
}

/* ---- statements ---- */

static int step(struct follower *w, uint32_t i, const struct probe_promoted *h)
{
	const struct stmt *st = &w->out.stmt.v[i];
	uint32_t *v = &w->now.reg[h->reg], turns = PROMOTED + (uint32_t)(h - w->p->promoted);

	if (str_is(st->op, "movl")) {
		if (!(w->spare >> h->reg & 1) || h->reg == UR_AX || h->reg == UR_SP)
			return wrong(w, i, "the function may not change it");
		if (is_turns(*v))
			return wrong(w, i, "turns that were counted are lost");
		*v = turns;
		return 0;
	}
	if (*v != turns)
		return wrong(w, i, "the counter is not in its register");
	if (!str_is(st->op, "leaq"))
		*v = GARBAGE;
	return 0;
}

static int execute(struct follower *w, uint32_t i, struct reg_effect e)
{
	unsigned r;

	if (e.touches == REGS_ALL && !keeps_nothing(&w->now))
		return wrong(w, i, "control leaves with a counter in a register");
	for (r = 0; r < UR_N; r++) {
		if ((e.touches | e.kills) >> r & 1 && is_turns(w->now.reg[r]))
			return wrong(w, i, "it uses a register that holds a counter");
		if (e.reads >> r & 1 && w->now.reg[r] != OWN)
			return wrong(w, i, "it reads what is left of a counter");
		if (e.kills >> r & 1)
			w->now.reg[r] = OWN;
	}
	return 0;
}

static const struct reg_effect *effect_of(struct follower *w, uint32_t i)
{
	if (!w->known[i])
		w->effect[i] = regs_of_stmt(w->regs, &w->out.stmt.v[i]);
	w->known[i] = 1;
	return &w->effect[i];
}

static bool is_printed(struct str label)
{
	return str_starts(label, ".LMB") || str_starts(label, ".LMT") ||
	       str_starts(label, ".LMK") || str_starts(label, ".LMS");
}

static int insn(struct follower *w, uint32_t i)
{
	const struct stmt *st = &w->out.stmt.v[i];
	const struct probe_promoted *h = promoted_by(w, st);
	enum insn_class class;
	struct str to;

	if (h)
		return step(w, i, h);
	class = st->kind == ST_INSN ? insn_classify(st, &to) : INSN_PLAIN;
	if ((class == INSN_JMP || class == INSN_JCC) && is_printed(to)) {
		w->reached = class == INSN_JCC;
		return join_label(w, i, to);
	}
	if (execute(w, i, *effect_of(w, i)))
		return -1;
	if (class == INSN_JMP || class == INSN_JMP_IND || class == INSN_RET || class == INSN_STOP)
		w->reached = false;
	return 0;
}

/* Registers that callees save may be changed where they are saved. */
static int saved(const struct follower *w, uint32_t i, uint32_t cfi)
{
	uint16_t can = regs_unwound(&w->u->cfi.v[cfi]);
	unsigned r;

	for (r = 0; r < UR_N; r++)
		if (w->at[i].reg[r] != OWN && w->at[i].reg[r] != UNSEEN && !(can >> r & 1))
			return wrong(w, i, "unwinding does not know what it changed");
	return 0;
}

static int label(struct follower *w, uint32_t i)
{
	static const struct state own = {{OWN}};
	struct str name = w->out.stmt.v[i].op;
	bool block, side, any = false;
	struct block_ref r;
	const struct label *l = label_find(w->u, name);

	block = names_block(name, ".LMB", &r);
	side = !block && names_block(name, ".LMT", &r);
	if ((block || side) && r.block >= w->f->nblk)
		return wrong(w, i, "no such block");
	if (block)
		any = !r.block || w->open[r.block];
	if (l)
		any = l->flags & (LB_TABLE | LB_ADDRESS | LB_START);
	if (str_starts(name, ".LMI") || str_starts(name, ".LMJ"))
		any = true;
	if ((w->reached && join(w, i, &w->now)) || (any && join(w, i, &own)))
		return -1;
	if ((block || side) &&
	    saved(w, i, block ? w->f->blk[r.block].cfi_in : w->f->blk[r.block].cfi_out))
		return -1;
	w->reached = w->at[i].reg[0] != UNSEEN;
	w->now = w->at[i];
	return 0;
}

/* Is this label at the end of a block that control does not fall out of? */
static bool ends(const struct follower *w, struct str label, uint32_t block)
{
	return block < w->f->nblk && w->f->blk[block].term == TERM_END &&
	       !str_starts(label, ".LMS") && !str_starts(label, ".LMK");
}

/* Once over one run of the function's text. */
static int pass(struct follower *w, const struct run *run)
{
	struct block_ref r;
	const struct stmt *st;
	uint32_t i, block = NONE;

	w->reached = false;
	for (i = run->begin; i < run->end; i++) {
		st = &w->out.stmt.v[i];
		if (st->kind == ST_LABEL && str_starts(st->op, ".LM")) {
			if (ends(w, st->op, block))
				w->reached = false;
			if (names_block(st->op, ".LMB", &r))
				block = r.block;
			else if (!str_starts(st->op, ".LMS") && !str_starts(st->op, ".LMK"))
				block = NONE;
		}
		if (st->kind == ST_LABEL ? label(w, i) : w->reached && insn(w, i))
			return -1;
	}
	return 0;
}

/* ---- functions ---- */

static int follow(struct follower *w, uint32_t func)
{
	const struct cfg *g = &w->u->func.v[func].pub->cfg;
	uint8_t *open = arena_array(&w->mem, g->nblock, 1);
	uint32_t i;

	w->f = &w->u->func.v[func];
	w->p = w->placement[func].probes;
	w->spare = regs_spare(w->regs, w->f);
	for (i = 0; i < g->nblock; i++)
		open[i] = (g->block[i].flags & (BLK_ADDRESSED | BLK_OPEN)) != 0;
	for (i = 0; i < g->nedge; i++)
		open[g->edge[i].dst] |= g->edge[i].kind == EDGE_INDIRECT;
	w->open = open;
	do {
		w->changed = false;
		for (i = w->first_run[func]; i != NONE; i = w->run.v[i].next)
			if (pass(w, &w->run.v[i]))
				return -1;
	} while (w->changed);
	return 0;
}

/* Which statements are whose: by the labels of blocks. */
static int find_runs(struct follower *w)
{
	struct run *last = NULL;
	struct block_ref r;
	uint32_t i, n = (uint32_t)w->u->func.n;

	w->first_run = arena_array(&w->mem, n, sizeof *w->first_run);
	memset(w->first_run, 0xff, n * sizeof *w->first_run);
	for (i = 0; i < w->out.stmt.n; i++) {
		if (w->out.stmt.v[i].kind != ST_LABEL ||
		    !names_block(w->out.stmt.v[i].op, ".LMB", &r) || (last && last->func == r.func))
			continue;
		if (r.func >= n)
			return err_set(w->e, "output check: no such function");
		if (last)
			last->end = i;
		vec_push(&w->run, (struct run){r.func, i, 0, w->first_run[r.func]});
		w->first_run[r.func] = (uint32_t)w->run.n - 1;
		last = &w->run.v[w->run.n - 1];
	}
	if (last)
		last->end = (uint32_t)w->out.stmt.n;
	return 0;
}

static int read_text(struct follower *w, const char *text, size_t n)
{
	const struct stmt *st;
	bool fresh;
	uint32_t i;

	w->out.mem = &w->mem;
	if (unit_scan(&w->out, text, n, w->e))
		return -1;
	w->at = arena_array(&w->mem, w->out.stmt.n, sizeof *w->at);
	memset(w->at, 0xff, w->out.stmt.n * sizeof *w->at);
	w->effect = arena_array(&w->mem, w->out.stmt.n, sizeof *w->effect);
	w->known = arena_array(&w->mem, w->out.stmt.n, 1);
	for (i = 0; i < w->out.stmt.n; i++) {
		st = &w->out.stmt.v[i];
		if (st->kind == ST_LABEL)
			*htab_put(&w->label, st->op.p, st->op.n, &fresh) = i;
	}
	return find_runs(w);
}

int promoted_check(const struct unit_impl *u, const struct unit_placement *placement,
    const char *text, size_t n, struct err *e)
{
	struct follower w = {.u = u, .placement = placement, .e = e};
	struct regs regs;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < u->func.n && !(placement[i].probes && placement[i].probes->npromoted); i++)
		;
	if (i == u->func.n)
		return 0;
	regs_open(&regs, u);
	w.regs = &regs;
	rc = read_text(&w, text, n);
	for (; !rc && i < u->func.n; i++)
		if (placement[i].probes && placement[i].probes->npromoted)
			rc = follow(&w, i);
	regs_close(&regs);
	vec_free(&w.out.stmt);
	vec_free(&w.run);
	htab_free(&w.label);
	arena_free(&w.mem);
	return rc;
}
