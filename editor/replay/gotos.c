/*
 * Indirect jumps by tables: which instructions load a target.
 */
#include "editor/replay/uops.h"

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
