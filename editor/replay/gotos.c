/*
 * Indirect jumps by tables: which instructions load a target, and which jumps go only to the
 * targets in their table.
 */
#include "editor/replay/uops.h"

#include "editor/asm/insn.h"

uint32_t uop_table_entry(
    struct uop_tables *t, const struct operand *o, const uint32_t reg[UR_N], bool distance)
{
	uint32_t n = NONE;

	if (o->index >= UR_N || o->scale != (distance ? 2 : 3))
		return NONE;
	if (o->class == OP_VAR && o->base == UA_NONE)
		n = uop_table(t, o->symbol);
	else if (o->class == OP_MEM && o->base < UR_N && !o->disp)
		n = reg[o->base];
	return n != NONE && t->distance.v[n] == distance ? n : NONE;
}

void uop_use_tables(
    struct uop_tables *t, const struct stmt *st, const uint32_t reg[UR_N], struct uop *o)
{
	bool distance = o->kind == UOP_MOVSX && o->size == 3 && o->aux == 2;
	struct operand op[OPERANDS];
	uint32_t n;

	if (o->kind == UOP_ADD && o->size == 3 && o->src < UR_N && o->dst < UR_N) {
		n = reg[o->src] != NONE ? reg[o->src] : reg[o->dst];
		if (n != NONE && t->distance.v[n])
			o->kind = UOP_ADD_BASE;
		return;
	}
	if ((!distance && (o->kind != UOP_MOV || o->size != 3)) || o->dst >= UR_N ||
	    operands_read(st->arg, op) != 2)
		return;
	n = uop_table_entry(t, &op[0], reg, distance);
	if (n != NONE)
		*o = (struct uop){.kind = UOP_LOOKUP,
		    .size = 3,
		    .dst = o->dst,
		    .base = UA_NONE,
		    .index = op[0].index,
		    .imm = n};
}

/* ---- jumps that go by a table ---- */

/* In a block: by register, the table whose base, and whose entry, it holds. */
struct holding {
	uint32_t base[UR_N], entry[UR_N];
};
enum { DISTANCE = 1u << 31 }; /* of an entry: the base is still to be added */

static void step(struct uop_tables *t, struct holding *h, const struct stmt *st)
{
	struct uop o = uop_of_insn(st);
	uint32_t sum = NONE;

	uop_use_tables(t, st, h->base, &o);
	if (o.kind == UOP_ADD_BASE) {
		if (h->base[o.src] != NONE && h->entry[o.dst] == (h->base[o.src] | DISTANCE))
			sum = h->base[o.src];
		if (h->base[o.dst] != NONE && h->entry[o.src] == (h->base[o.dst] | DISTANCE))
			sum = h->base[o.dst];
	}
	uop_consts_step(h->base, t, st);
	uop_consts_step(h->entry, t, st);
	if (o.dst < UR_N && (o.kind != UOP_MOV || o.src >= UR_N))
		h->entry[o.dst] = o.kind == UOP_ADD_BASE ? sum : NONE;
	if (o.kind == UOP_LOOKUP)
		h->entry[o.dst] = (uint32_t)o.imm | (t->distance.v[o.imm] ? DISTANCE : 0);
}

/* The table of block b's jump, or NONE. */
static uint32_t table_of_jump(struct uop_tables *t, const struct uop_consts *c, uint32_t b)
{
	const struct blk *k = &t->f->blk[b];
	struct operand op[OPERANDS];
	const struct stmt *st;
	struct holding h;
	struct str to;
	uint32_t i;

	memcpy(h.base, c->in[b], sizeof h.base);
	memset(h.entry, 0xff, sizeof h.entry);
	for (i = k->first; i < k->last; i++) {
		st = &t->u->stmt.v[t->f->code.v[i]];
		if (st->kind == ST_ASM || (st->kind == ST_DIR && st->dir == DIR_DATA))
			return NONE;
		if (st->kind != ST_INSN)
			continue;
		if (insn_classify(st, &to) == INSN_JMP_IND)
			break;
		step(t, &h, st);
	}
	if (i == k->last || operands_read(to, op) != 1)
		return NONE;
	if (op[0].class == OP_REG && op[0].uo < UR_N && op[0].size == 3)
		return h.entry[op[0].uo] & DISTANCE ? NONE : h.entry[op[0].uo];
	return uop_table_entry(t, &op[0], h.base, false);
}

/* Are all entries of a table targets of block b? */
static bool all_targets(const struct uop_tables *t, uint32_t table, uint32_t b)
{
	const struct uops_table *v = &t->out->table.v[table];
	const struct cfg *g = &t->f->pub->cfg;
	uint32_t i, k;

	for (i = 0; i < v->n; i++) {
		for (k = g->succ[b]; k < g->succ[b + 1]; k++)
			if (g->edge[k].dst == t->out->target.v[v->first + i])
				break;
		if (k == g->succ[b + 1])
			return false;
	}
	return true;
}

static void find_tabled(const struct unit_impl *u, const struct func *f)
{
	const struct cfg *g = &f->pub->cfg;
	struct uops out = {.block.n = 0};
	struct uop_tables t = {.u = u, .f = f, .out = &out};
	struct arena scratch = {0};
	struct uop_consts consts;
	uint32_t b, table, jumps = 0;

	for (b = 0; f->blk && b < f->nblk; b++)
		jumps += f->blk[b].term == TERM_INDIRECT;
	if (jumps < 2)
		return;
	uop_consts_find(&consts, &t, &scratch);
	for (b = 0; b < f->nblk; b++) {
		if (f->blk[b].term != TERM_INDIRECT)
			continue;
		table = table_of_jump(&t, &consts, b);
		if (table != NONE && all_targets(&t, table, b))
			g->block[b].flags |= BLK_TABLED;
	}
	vec_free(&t.label);
	vec_free(&t.distance);
	uops_free(&out);
	arena_free(&scratch);
}

void unit_tabled(const struct unit *unit)
{
	uint32_t i;

	for (i = 0; i < unit->nfunc; i++)
		find_tabled(unit->impl, &unit->impl->func.v[i]);
}
