#include "editor/replay/uops.h"

enum { TABLE_MAX = 1 << 16 };

static bool read_only(const struct section *s)
{
	return str_starts(s->name, ".rodata") || str_starts(s->name, ".data.rel.ro");
}

/* ".L4-.L7" with .L7 as the table, or ".L4" alone: the label it names. */
static const struct label *entry_label(
    const struct uop_tables *t, struct str entry, bool distance, const struct label *table)
{
	const char *minus = entry.n ? memchr(entry.p, '-', entry.n) : NULL;
	struct str name = {entry.p, minus ? (uint32_t)(minus - entry.p) : entry.n};
	struct str from = {minus ? minus + 1 : "", minus ? entry.n - name.n - 1 : 0};

	if (!entry.n || distance != (minus != NULL) || (minus && label_find(t->u, from) != table))
		return NULL;
	return label_find(t->u, name);
}

/* Appends the targets of one line; false when it is none of this table's. */
static bool table_line(
    struct uop_tables *t, const struct stmt *st, bool distance, const struct label *table)
{
	uint32_t self = (uint32_t)(t->f - t->u->func.v);
	const struct label *l;
	struct str entry;
	unsigned k;

	if (st->kind != ST_DIR || st->dir != DIR_DATA ||
	    !str_is(st->op, distance ? ".long" : ".quad"))
		return false;
	for (k = 0; (entry = operand_at(st->arg, k)).n; k++) {
		l = entry_label(t, entry, distance, table);
		if (!l)
			return k > 0;
		vec_push(&t->out->target, l->func == self && l->block != NONE ? l->block : NONE);
	}
	return k > 0;
}

static bool any_target(const struct uops *out, uint32_t first)
{
	for (; first < out->target.n; first++)
		if (out->target.v[first] != NONE)
			return true;
	return false;
}

uint32_t uop_table(struct uop_tables *t, struct str symbol)
{
	const struct label *l = symbol.n ? label_find(t->u, symbol) : NULL;
	uint32_t first = (uint32_t)t->out->target.n, i;
	const struct stmt *st;
	bool distance;

	if (!l || l->func != NONE || !read_only(&t->u->section.v[t->u->stmt.v[l->stmt].section]))
		return NONE;
	for (i = 0; i < t->label.n; i++)
		if (t->label.v[i] == l - t->u->label.v)
			return i;
	st = &t->u->stmt.v[l->stmt];
	distance = l->stmt + 1 < t->u->stmt.n && str_is(st[1].op, ".long");
	for (i = l->stmt + 1; i < t->u->stmt.n && t->out->target.n - first < TABLE_MAX; i++)
		if (!table_line(t, &t->u->stmt.v[i], distance, l))
			break;
	if (!any_target(t->out, first)) {
		t->out->target.n = first;
		return NONE;
	}
	vec_push(&t->label, (uint32_t)(l - t->u->label.v));
	vec_push(&t->distance, distance);
	vec_push(&t->out->table, (struct uops_table){first, (uint32_t)t->out->target.n - first});
	return (uint32_t)t->label.n - 1;
}

/* ---- which instructions load a target ---- */

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
