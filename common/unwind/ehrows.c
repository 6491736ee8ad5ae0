#include "common/unwind/ehrows.h"
#include "common/le.h"
#include "common/unwind/ehtable.h"

#include <string.h>

/* DW_CFA_*: three with an operand in their low bits, and the others. */
enum {
	ADVANCE = 1,
	OFFSET = 2,
	RESTORE = 3,
	LOW_BITS = 6,
	NOP = 0x00,
	SET_LOC = 0x01,
	ADVANCE1 = 0x02,
	ADVANCE2 = 0x03,
	ADVANCE4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	REGISTER = 0x09,
	REMEMBER_STATE = 0x0a,
	RESTORE_STATE = 0x0b,
	DEF_CFA = 0x0c,
	DEF_CFA_REGISTER = 0x0d,
	DEF_CFA_OFFSET = 0x0e,
	DEF_CFA_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SF = 0x11,
	DEF_CFA_SF = 0x12,
	DEF_CFA_OFFSET_SF = 0x13,
	VAL_OFFSET = 0x14,
	VAL_OFFSET_SF = 0x15,
	VAL_EXPRESSION = 0x16,
	GNU_ARGS_SIZE = 0x2e,
	GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f
};
/* Compilers nest two or three. */
enum { REMEMBERED_MAX = 16 };

struct machine {
	const struct eh_cie *cie;
	const uint8_t *p, *end;
	uint64_t insn_at; /* address of *p, for DW_CFA_set_loc: less p */
	uint64_t loc, limit;
	struct eh_row row, initial, remembered[REMEMBERED_MAX];
	unsigned depth;
	bool begun; /* the CIE's own instructions were run */
	int (*give)(const struct eh_row *, void *);
	void *arg;
};

/* ---- operands ---- */

static int unsigned_operand(struct machine *m, uint64_t *v)
{
	return uleb_read(&m->p, m->end, v);
}

/* A number that is an offset, perhaps in units of the CIE's. */
static int offset_operand(struct machine *m, bool is_signed, bool factored, int64_t *v)
{
	uint64_t u = 0;

	if (is_signed ? sleb_read(&m->p, m->end, v) : uleb_read(&m->p, m->end, &u))
		return -1;
	if (!is_signed && u > INT64_MAX)
		return -1;
	if (!is_signed)
		*v = (int64_t)u;
	return factored && __builtin_mul_overflow(*v, m->cie->data_align, v) ? -1 : 0;
}

static int register_operand(struct machine *m, struct eh_rule **r)
{
	uint64_t n;

	if (uleb_read(&m->p, m->end, &n) || n >= EH_REGISTERS)
		return -1;
	*r = &m->row.reg[n];
	return 0;
}

static int expression_operand(struct machine *m, enum eh_how how, struct eh_rule *r)
{
	uint64_t n;

	if (uleb_read(&m->p, m->end, &n) || n > (uint64_t)(m->end - m->p))
		return -1;
	*r = (struct eh_rule){.how = how, .expr = m->p, .end = m->p + n};
	m->p += n;
	return 0;
}

/* ---- instructions ---- */

/* Everything up to an address has the row as it is. */
static int advance_to(struct machine *m, uint64_t to)
{
	int rc = 0;

	if (!m->begun || to < m->loc || to > m->limit || m->row.cfa.how == EH_UNSPECIFIED)
		return -1;
	m->row.begin = m->loc;
	m->row.end = to;
	m->loc = to;
	if (m->row.begin != m->row.end)
		rc = m->give(&m->row, m->arg);
	return rc;
}

static int advance(struct machine *m, uint64_t units)
{
	uint64_t bytes, to;

	if (__builtin_mul_overflow(units, m->cie->code_align, &bytes) ||
	    __builtin_add_overflow(m->loc, bytes, &to))
		return -1;
	return advance_to(m, to);
}

/* The distance is a number of 1 << size bytes. */
static int advance_sized(struct machine *m, unsigned size)
{
	uint64_t n;

	if (m->end - m->p < 1 << size)
		return -1;
	n = get_le(m->p, size);
	m->p += 1 << size;
	return advance(m, n);
}

static int set_loc(struct machine *m)
{
	uint64_t to;

	if (eh_value_read(&m->p, m->end, m->cie->code, m->insn_at + (uint64_t)(uintptr_t)m->p, &to))
		return -1;
	return advance_to(m, to);
}

static int set_offset(struct machine *m, struct eh_rule *r, enum eh_how how, bool is_signed)
{
	int64_t v;

	if (offset_operand(m, is_signed, true, &v))
		return -1;
	*r = (struct eh_rule){.how = how, .value = v};
	return 0;
}

static int negative_offset(struct machine *m, struct eh_rule *r)
{
	if (set_offset(m, r, EH_OFFSET, false) || r->value == INT64_MIN)
		return -1;
	r->value = -r->value;
	return 0;
}

/* Where the CIE says something of a register, libgcc's unwinder forgets that, and others do not. */
static int restore(struct machine *m, struct eh_rule *r)
{
	if (!m->begun || m->initial.reg[r - m->row.reg].how != EH_UNSPECIFIED)
		return -1;
	*r = (struct eh_rule){.how = EH_UNSPECIFIED};
	return 0;
}

static int remember(struct machine *m)
{
	if (m->depth == REMEMBERED_MAX)
		return -1;
	m->remembered[m->depth++] = m->row;
	return 0;
}

/* Arguments on the stack are no part of what is remembered. */
static int recall(struct machine *m)
{
	uint64_t args = m->row.args;

	if (!m->depth)
		return -1;
	m->row = m->remembered[--m->depth];
	m->row.args = args;
	return 0;
}

static int def_cfa(struct machine *m, bool is_signed)
{
	struct eh_row *r = &m->row;

	r->cfa = (struct eh_rule){.how = EH_VAL_OFFSET};
	return unsigned_operand(m, &r->cfa_register) ||
		       offset_operand(m, is_signed, is_signed, &r->cfa.value)
		   ? -1
		   : 0;
}

/* Of what is a register and an offset, one alone. */
static int change_cfa(struct machine *m, unsigned op)
{
	struct eh_row *r = &m->row;
	bool is_signed = op == DEF_CFA_OFFSET_SF;

	if (r->cfa.how != EH_VAL_OFFSET)
		return -1;
	return op == DEF_CFA_REGISTER ? unsigned_operand(m, &r->cfa_register)
				      : offset_operand(m, is_signed, is_signed, &r->cfa.value);
}

/* Instructions about one register. */
static int of_register(struct machine *m, unsigned op, struct eh_rule *r)
{
	uint64_t n;

	switch (op) {
	case OFFSET_EXTENDED:
	case OFFSET_EXTENDED_SF:
		return set_offset(m, r, EH_OFFSET, op == OFFSET_EXTENDED_SF);
	case VAL_OFFSET:
	case VAL_OFFSET_SF:
		return set_offset(m, r, EH_VAL_OFFSET, op == VAL_OFFSET_SF);
	case GNU_NEGATIVE_OFFSET_EXTENDED:
		return negative_offset(m, r);
	case RESTORE_EXTENDED:
		return restore(m, r);
	case UNDEFINED:
	case SAME_VALUE:
		*r = (struct eh_rule){.how = op == UNDEFINED ? EH_UNDEFINED : EH_SAME};
		return 0;
	case REGISTER:
		if (unsigned_operand(m, &n) || n >= EH_REGISTERS)
			return -1;
		*r = (struct eh_rule){.how = EH_REGISTER, .value = (int64_t)n};
		return 0;
	case EXPRESSION:
	case VAL_EXPRESSION:
		return expression_operand(
		    m, op == EXPRESSION ? EH_EXPRESSION : EH_VAL_EXPRESSION, r);
	}
	return -1;
}

static int extended(struct machine *m, unsigned op)
{
	struct eh_rule *r;

	switch (op) {
	case NOP:
		return 0;
	case SET_LOC:
		return set_loc(m);
	case ADVANCE1:
	case ADVANCE2:
	case ADVANCE4:
		return advance_sized(m, op - ADVANCE1);
	case REMEMBER_STATE:
		return remember(m);
	case RESTORE_STATE:
		return recall(m);
	case DEF_CFA:
	case DEF_CFA_SF:
		return def_cfa(m, op == DEF_CFA_SF);
	case DEF_CFA_REGISTER:
	case DEF_CFA_OFFSET:
	case DEF_CFA_OFFSET_SF:
		return change_cfa(m, op);
	case DEF_CFA_EXPRESSION:
		m->row.cfa_register = 0;
		return expression_operand(m, EH_VAL_EXPRESSION, &m->row.cfa);
	case GNU_ARGS_SIZE:
		return unsigned_operand(m, &m->row.args);
	}
	return register_operand(m, &r) ? -1 : of_register(m, op, r);
}

static int step(struct machine *m)
{
	unsigned op = *m->p++, low = op & ((1u << LOW_BITS) - 1);

	if (!(op >> LOW_BITS))
		return extended(m, op);
	if (op >> LOW_BITS == ADVANCE)
		return advance(m, low);
	if (low >= EH_REGISTERS)
		return -1;
	return op >> LOW_BITS == RESTORE ? restore(m, &m->row.reg[low])
					 : set_offset(m, &m->row.reg[low], EH_OFFSET, false);
}

static int run(struct machine *m, const uint8_t *p, const uint8_t *end)
{
	int rc = 0;

	m->p = p;
	m->end = end;
	while (m->p < m->end && !rc)
		rc = step(m);
	return rc;
}

int eh_rows(const struct eh_fde *f, int (*row)(const struct eh_row *, void *), void *arg)
{
	struct machine m = {.cie = &f->cie,
	    .insn_at = f->rest_at + f->rest - (uint64_t)(uintptr_t)f->end,
	    .loc = f->pc,
	    .give = row,
	    .arg = arg};
	int rc;

	if (__builtin_add_overflow(f->pc, f->size, &m.limit) || run(&m, f->cie.insn, f->cie.end) ||
	    m.depth)
		return -1;
	m.initial = m.row;
	m.begun = true;
	rc = run(&m, f->insn, f->end);
	return rc ? rc : advance_to(&m, m.limit);
}

/* ---- what rows say ---- */

static void put_rule(const struct eh_rule *r, struct buf *out)
{
	buf_char(out, (char)r->how);
	if (r->how == EH_EXPRESSION || r->how == EH_VAL_EXPRESSION) {
		buf_uleb(out, (uint64_t)(r->end - r->expr));
		buf_add(out, r->expr, (size_t)(r->end - r->expr));
	} else {
		buf_le64(out, (uint64_t)r->value);
	}
}

void eh_row_put(const struct eh_row *r, struct buf *out)
{
	unsigned i;

	put_rule(&r->cfa, out);
	buf_uleb(out, r->cfa_register);
	buf_uleb(out, r->args);
	for (i = 0; i < EH_REGISTERS; i++)
		if (r->reg[i].how != EH_UNSPECIFIED) {
			buf_char(out, (char)i);
			put_rule(&r->reg[i], out);
		}
}
