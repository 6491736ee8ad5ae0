#include "editor-driver/proof/appended/comparison.h"
#include "common/le.h"

/* But for the distance, or the address of a table. */
static bool same_bytes(const uint8_t *made, const uint8_t *orig, const struct insn *i)
{
	unsigned skip = i->field ? i->field : i->table, n = i->field ? i->width : 4;

	if (!skip)
		return !memcmp(made, orig, i->len);
	return !memcmp(made, orig, skip) &&
	       !memcmp(made + skip + n, orig + skip + n, i->len - skip - n);
}

bool insns_repeat(
    struct comparison *c, uint64_t made, uint64_t orig, const struct insn *o, struct insn *m)
{
	const uint8_t *p = loaded_at(&c->made, made, o->len),
		      *q = loaded_at(&c->orig, orig, o->len);

	if (o->kind == INSN_ODD || !in_text(c, made) || !p || !same_bytes(p, q, o))
		return false;
	*m = *o;
	if (o->field)
		m->to = made + o->len +
			(o->width == 4 ? (uint64_t)(int32_t)get_le32(p + o->field)
				       : (uint64_t)(int8_t)p[o->field]);
	return true;
}

static uint64_t absolute(const uint8_t *p)
{
	return (uint64_t)(int32_t)get_le32(p);
}

/* Addresses in the operands of an instruction that has the same bytes but for these. */
static int compare_operands(struct comparison *c, const struct pair *p, const struct insn *m,
    const struct insn *o, const uint8_t *made, const uint8_t *orig)
{
	if (o->field && m->to != o->to) {
		if (!o->lea)
			return differ(c, p->made, p->orig, "it refers to another address");
		vec_push(&c->base, (struct table_base){p->made, m->to, o->to, false});
	}
	if (!o->table || m->absolute == o->absolute)
		return 0;
	if (o->kind != INSN_LEAVE)
		vec_push(&c->base, (struct table_base){p->made, absolute(made + o->table),
				       absolute(orig + o->table), true});
	else
		table_add_use(c, &(struct table_use){.jump = p->made,
				     .load = p->made,
				     .made = absolute(made + o->table),
				     .orig = absolute(orig + o->table),
				     .size = 8});
	return 0;
}

uint64_t stub_slot(struct comparison *c, uint64_t addr)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *p = loaded_at(&c->orig, addr, sizeof endbr64);
	struct insn i;

	if (p && !memcmp(p, endbr64, sizeof endbr64))
		addr += sizeof endbr64;
	decode(c, &c->orig, addr, &i);
	return i.kind == INSN_LEAVE && i.field ? i.to : 0;
}

/* call stub, and call *slot(%rip) instead? */
static bool through_slot(
    struct comparison *c, const struct insn *m, const struct insn *o, const uint8_t *made)
{
	return m->kind == INSN_PLAIN && m->len == 6 && made[0] == 0xff && made[1] == 0x15 &&
	       m->to == stub_slot(c, o->to);
}

/* Past the prefixes that hint at where a conditional jump leads (Intel SDM, volume 2, 2.1.1). */
static unsigned pass_hints(const uint8_t *p, unsigned i, unsigned n)
{
	while (i < n && (p[i] == 0x2e || p[i] == 0x3e))
		i++;
	return i;
}

static bool same_prefixes(const uint8_t *a, unsigned na, const uint8_t *b, unsigned nb)
{
	unsigned i = pass_hints(a, 0, na), k = pass_hints(b, 0, nb);

	while (i < na && k < nb && a[i] == b[k]) {
		i = pass_hints(a, i + 1, na);
		k = pass_hints(b, k + 1, nb);
	}
	return i == na && k == nb;
}

/* The condition may be turned around, the jump shorter or longer, and without hints. */
static int compare_jcc(struct comparison *c, struct pair *p, const struct insn *m,
    const struct insn *o, const uint8_t *made, const uint8_t *orig)
{
	uint64_t taken = o->to, on = p->orig + o->len;

	if (m->kind != INSN_JCC || !same_prefixes(made, m->opcode, orig, o->opcode) ||
	    (m->cond ^ o->cond) > 1)
		return differ(c, p->made, p->orig, "another condition");
	if (m->cond != o->cond) {
		taken = on;
		on = o->to;
	}
	vec_push(&c->todo, (struct pair){m->to, taken, p->from, p->orig});
	*p = (struct pair){p->made + m->len, on, p->from, p->orig};
	return 0;
}

static int compare_call(struct comparison *c, struct pair *p, const struct insn *m,
    const struct insn *o, const uint8_t *made, const uint8_t *orig)
{
	if (o->to == p->orig + o->len && !unwinding_ends(c, p->orig, o->len))
		return differ(c, p->made, p->orig, "a call for the sake of its address");
	if (!through_slot(c, m, o, made)) {
		if (m->kind != INSN_CALL || m->len != o->len || !same_bytes(made, orig, o))
			return differ(c, p->made, p->orig, "another instruction");
		walk_add(c, m->to, o->to, SPOT_UNKNOWN);
	}
	return 0;
}

int insns_compare(struct comparison *c, struct pair *p, const struct insn *m, const struct insn *o)
{
	const uint8_t *made = loaded_at(&c->made, p->made, m->len);
	const uint8_t *orig = loaded_at(&c->orig, p->orig, o->len);

	if (o->kind == INSN_ODD || m->kind == INSN_ODD)
		return differ(c, p->made, p->orig, "an instruction that is not understood");
	if (o->kind == INSN_JCC)
		return compare_jcc(c, p, m, o, made, orig);
	if (o->kind == INSN_CALL) {
		if (compare_call(c, p, m, o, made, orig))
			return -1;
		/* A call that ends a function does not come back. */
		if (unwinding_ends(c, p->orig, o->len))
			return 1;
	} else if (m->kind != o->kind || m->len != o->len || !same_bytes(made, orig, o)) {
		return differ(c, p->made, p->orig, "another instruction");
	} else if (o->kind == INSN_BRANCH) {
		walk_add(c, m->to, o->to, p->from);
	} else if (compare_operands(c, p, m, o, made, orig)) {
		return -1;
	}
	if (o->kind == INSN_LEAVE || o->kind == INSN_END ||
	    (o->call && unwinding_ends(c, p->orig, o->len)))
		return 1;
	*p = (struct pair){p->made + m->len, p->orig + o->len, p->from, 0};
	return 0;
}
