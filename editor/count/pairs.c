/*
 * Indirect jumps that count their targets, in the printed text: struct pairs of
 * editor/probe/probes.h, in the form described in editor/count/counters.h.
 */
#include "editor/count/counters.h"
#include "editor/asm/insn.h"
#include "editor/asm/operand.h"

/* ---- which can ---- */

/* The last instruction of the block that ends in an indirect jump. */
static const struct stmt *jump_of(
    const struct unit_impl *u, const struct func *f, uint32_t b, struct str *to)
{
	const struct blk *k = &f->blk[b];
	const struct stmt *st;
	uint32_t i;

	for (i = k->last; i-- > k->first;) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind == ST_INSN && insn_classify(st, to) == INSN_JMP_IND)
			return st;
	}
	return NULL;
}

static bool has(struct str s, const char *what)
{
	return memmem(s.p, s.n, what, strlen(what));
}

/* A register that the operand does not name: "ax" of %rax; NULL when it is not found. */
static const char *scratch_for(struct str operand)
{
	static const char *const reg[] = {"ax", "cx", "dx"};
	size_t i;

	for (i = 0; i < sizeof reg / sizeof reg[0]; i++)
		if (!has(operand, reg[i]))
			return reg[i];
	return NULL;
}

/* "*%rax": the register that holds where the jump goes. */
static bool in_register(struct str to)
{
	struct operand op[OPERANDS];

	return operands_read(to, op) == 1 && op[0].class == OP_REG && op[0].size == 3;
}

/* "*t(,%rax,8)": memory that does. */
static bool in_memory(struct str to)
{
	struct operand op[OPERANDS];

	return operands_read(to, op) == 1 && (op[0].class == OP_MEM || op[0].class == OP_VAR);
}

static bool can_count(const struct unit_impl *u, const struct func *f, uint32_t b)
{
	const struct blk *k = &f->blk[b];
	const struct stmt *st;
	struct str to;

	if (k->term != TERM_INDIRECT || k->part)
		return false;
	st = jump_of(u, f, b, &to);
	if (!st || to.n < 2 || *to.p != '*' || refers_to_here(st))
		return false;
	return in_register(to) || (in_memory(to) && !has(to, "%rsp") && scratch_for(to));
}

static bool lands(const struct unit_impl *u, const struct func *f, uint32_t b)
{
	const struct blk *k = &f->blk[b];
	uint32_t i;

	for (i = k->first; i < k->last; i++)
		if (str_is(u->stmt.v[f->code.v[i]].op, "endbr64"))
			return true;
	return false;
}

uint8_t *probe_pairable(const struct unit_impl *u, const struct func *f, const uint8_t *live,
    uint32_t *stride, struct arena *a)
{
	uint8_t *can = arena_array(a, f->nblk, 1);
	const struct cfg *g = &f->pub->cfg;
	const struct cfg_edge *e;
	uint32_t b;

	*stride = 1;
	for (b = 0; b < f->nblk; b++)
		can[b] = can_count(u, f, b);
	for (e = g->edge; e < g->edge + g->nedge; e++) {
		if (e->kind != EDGE_INDIRECT || live[e->dst])
			can[e->src] = 0;
		if (e->kind == EDGE_INDIRECT && lands(u, f, e->dst))
			*stride = 2; /* endbr64 and a jump are nine bytes */
	}
	return can;
}

/* ---- the jump ---- */

/* Must block b's jump check that its target is a stub? */
static bool looks(const struct func *f, uint32_t b)
{
	return !(f->pub->cfg.block[b].flags & BLK_TABLED);
}

void probe_pair(const struct probe_text *t, uint32_t b, uint32_t cfi, struct buf *out)
{
	uint32_t f = t->f->pub->ord;
	const char *scratch, *r;
	struct str to, reg;

	jump_of(t->u, t->f, b, &to);
	reg = (struct str){to.p + 2, to.n - 2};
	scratch = in_register(to) ? NULL : scratch_for(to);
	r = scratch ? "r" : "";
	if (scratch) {
		reg = (struct str){scratch, 2};
		probe_make_room(t, scratch, cfi, out);
		buf_printf(out, "\tmovq\t%.*s, %%r%s\n", (int)to.n - 1, to.p + 1, scratch);
	}
	if (looks(t->f, b))
		buf_printf(out,
		    "\tcmpq\t" STUBS_BOUNDS "(%%rip), %%%s%.*s\n\tjb\t" PAIR_PASSED "\n"
		    "\tcmpq\t" STUBS_BOUNDS "+8(%%rip), %%%s%.*s\n\tjae\t" PAIR_PASSED "\n",
		    f, r, (int)reg.n, reg.p, f, b, f, r, (int)reg.n, reg.p, f, b);
	buf_printf(out, "\t%s" COUNTER_BASE "+%u-" STUBS_BEGIN "(%%%s%.*s)\n",
	    probe_increment(t->p), f, COUNTER_BYTES * (t->row[b] - 1), f, r, (int)reg.n, reg.p);
	if (looks(t->f, b))
		buf_printf(out, PAIR_PASSED ":\n", f, b);
	if (scratch)
		probe_give_back(t, scratch, cfi, out);
}

/* ---- the stubs ---- */

bool probe_moves_label(const struct probe_text *t, uint32_t b, const struct stmt *st)
{
	return t->p && t->target[b] && str_starts(st->op, ".L") &&
	       label_find(t->u, st->op)->flags & (LB_TABLE | LB_ADDRESS);
}

void probe_labels(const struct probe_text *t, uint32_t b, struct buf *out)
{
	const struct blk *k = &t->f->blk[b];
	const struct stmt *st;
	uint32_t i;

	for (i = k->first; i < k->last; i++) {
		st = &t->u->stmt.v[t->f->code.v[i]];
		if (st->kind == ST_LABEL && probe_moves_label(t, b, st))
			buf_printf(out, "%.*s\n", (int)st->line.n, st->line.p);
	}
}

void probe_stubs(const struct probe_text *t, uint32_t *cfi, struct buf *out)
{
	const struct pairs *r = t->p ? &t->p->pairs : NULL;
	const struct blk *k;
	uint32_t b, n;

	if (!r || !r->njump)
		return;
	for (n = 0; n < r->ntarget; n++) {
		b = r->target[n];
		k = &t->f->blk[b];
		cfi_delta(t->u, *cfi, k->cfi_in, out);
		*cfi = k->cfi_in;
		buf_printf(out, "\t.p2align\t%d\n", r->stride > 1 ? 4 : 3);
		if (!n)
			buf_printf(out, STUBS_BEGIN ":\n", t->f->pub->ord);
		probe_labels(t, b, out);
		if (lands(t->u, t->f, b))
			buf_str(out, "\tendbr64\n");
		probe_jump(t, "jmp", 3, b, out);
	}
	buf_printf(out, "\t.p2align\t%d\n" STUBS_END ":\n", r->stride > 1 ? 4 : 3, t->f->pub->ord);
}

void probe_bounds(const struct func *f, const struct probes *p, const char *group, struct buf *out)
{
	uint32_t i, ord = f->pub->ord;

	for (i = 0; i < p->pairs.njump && !looks(f, p->pairs.jump[i]); i++)
		;
	if (i == p->pairs.njump)
		return;
	probe_section(".data.rel.ro.local", "aw", "@progbits", group, out);
	buf_printf(out, STUBS_BOUNDS ":\n\t.quad\t" STUBS_BEGIN ", " STUBS_END "\n", ord, ord, ord);
}
