#include "editor/replay/uops.h"

#include "editor/asm/insn.h"

/* In the flow: not reached yet. */
enum { UNSEEN = NONE - 1 };

static void forget(uint32_t reg[UR_N])
{
	memset(reg, 0xff, UR_N * sizeof *reg);
}

static unsigned operand_bit(uint8_t operand)
{
	return operand < UR_N ? 1u << operand : operand < UO_MEM ? 1u << (operand - UO_HIGH) : 0;
}

static uint32_t table_address(struct uop_tables *t, const struct stmt *st, const struct uop *u)
{
	struct operand op[OPERANDS];
	int n = operands_read(st->arg, op);

	if (n != 2 || u->src != UO_UNKNOWN || u->size < 2)
		return NONE;
	if (str_starts(st->op, "lea")) /* symbol(%rip) */
		return op[0].class == OP_VAR && op[0].base == UA_NONE && op[0].index == UA_NONE
			   ? uop_table(t, op[0].symbol)
			   : NONE;
	return op[0].class == OP_SYMBOL ? uop_table(t, op[0].symbol) : NONE;
}

uint16_t uop_written(const struct uop *u)
{
	switch (u->kind) {
	case UOP_NOP:
	case UOP_END:
	case UOP_FLAGS:
	case UOP_CMP:
	case UOP_TEST:
	case UOP_BT:
	case UOP_WIPE:
		return 0;
	case UOP_STOP:
		return UINT16_MAX;
	case UOP_CALL:
		return UR_CALLER_SAVED;
	case UOP_MULA:
	case UOP_IMULA:
	case UOP_DIV:
	case UOP_IDIV:
		return 1 << UR_AX | 1 << UR_DX;
	case UOP_SIGN_DX:
		return 1 << UR_DX;
	case UOP_LEAVE:
		return 1 << UR_BP | 1 << UR_SP;
	case UOP_PUSH:
		return 1 << UR_SP;
	case UOP_POP:
		return (uint16_t)(1 << UR_SP | operand_bit(u->dst));
	case UOP_XCHG:
	case UOP_XADD:
	case UOP_CMPXCHG:
		return (uint16_t)(1 << UR_AX | operand_bit(u->src) | operand_bit(u->dst));
	}
	return (uint16_t)operand_bit(u->dst);
}

void uop_consts_step(uint32_t reg[UR_N], struct uop_tables *t, const struct stmt *st)
{
	struct uop u = uop_of_insn(st);
	uint16_t written = uop_written(&u);
	unsigned r;

	if (u.kind == UOP_MOV && u.dst < UR_N) {
		reg[u.dst] = u.src < UR_N && u.size == 3 ? reg[u.src] : table_address(t, st, &u);
		return;
	}
	for (r = 0; r < UR_N; r++)
		if (written >> r & 1)
			reg[r] = NONE;
}

static void flow_block(struct uop_tables *t, const struct blk *k, uint32_t reg[UR_N])
{
	const struct stmt *st;
	struct str op;
	uint32_t i;

	for (i = k->first; i < k->last; i++) {
		st = &t->u->stmt.v[t->f->code.v[i]];
		if (i == k->jump || (st->kind == ST_INSN && insn_classify(st, &op) == INSN_JMP_IND))
			continue; /* jumps leave registers alone */
		if (st->kind == ST_INSN)
			uop_consts_step(reg, t, st);
		else if (st->kind == ST_ASM || (st->kind == ST_DIR && st->dir == DIR_DATA))
			forget(reg);
	}
}

/* Joins the state along an edge; true when that changed anything. */
static bool join(uint32_t into[UR_N], const uint32_t from[UR_N])
{
	bool changed = false;
	unsigned r;

	for (r = 0; r < UR_N; r++) {
		if (into[r] == from[r] || into[r] == NONE || from[r] == UNSEEN)
			continue;
		into[r] = into[r] == UNSEEN ? from[r] : NONE;
		changed = true;
	}
	return changed;
}

static bool has_indirect(const struct func *f)
{
	uint32_t i;

	for (i = 0; i < f->nblk; i++)
		if (f->blk[i].term == TERM_INDIRECT)
			return true;
	return false;
}

/* Entered from unknown places: the function's entry, landing pads and all others without
 * predecessors. */
static void entries(struct uop_consts *c, const struct cfg *g)
{
	uint32_t i, r;

	for (i = 0; i < g->nblock; i++)
		for (r = 0; r < UR_N; r++)
			c->in[i][r] = i && g->pred[i] < g->pred[i + 1] &&
					      !(g->block[i].flags & (BLK_ADDRESSED | BLK_PAD))
					  ? UNSEEN
					  : NONE;
}

void uop_consts_find(struct uop_consts *c, struct uop_tables *t, struct arena *a)
{
	const struct cfg *g = &t->f->pub->cfg;
	uint32_t i, e, out[UR_N];
	bool changed;

	c->in = arena_array(a, g->nblock, sizeof *c->in);
	memset(c->in, 0xff, g->nblock * sizeof *c->in);
	if (!has_indirect(t->f))
		return;
	entries(c, g);
	do {
		changed = false;
		for (i = 0; i < g->nblock; i++) {
			memcpy(out, c->in[i], sizeof out);
			flow_block(t, &t->f->blk[i], out);
			for (e = g->succ[i]; e < g->succ[i + 1]; e++)
				changed |= join(c->in[g->edge[e].dst], out);
		}
	} while (changed);
	for (i = 0; i < g->nblock; i++)
		for (e = 0; e < UR_N; e++)
			if (c->in[i][e] == UNSEEN)
				c->in[i][e] = NONE;
}
