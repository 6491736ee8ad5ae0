#include "editor/asm/text.h"

#include <stdlib.h>

enum { REG_RSP = 7 };

static const char *const reg_name[CFI_REGS] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp",
    "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"};

struct cfi_state cfi_initial(void)
{
	struct cfi_state s = {.cfa_reg = REG_RSP, .cfa_off = 8};

	return s;
}

static bool read_number(const char **p, const char *end, int32_t *v)
{
	char *stop, digits[16] = "";
	size_t n = 0;
	long x;

	while (*p < end && (**p == ' ' || **p == '\t' || **p == ','))
		(*p)++;
	while (n < sizeof digits - 1 && *p + n < end && (*p)[n] != ',' && (*p)[n] != ' ') {
		digits[n] = (*p)[n];
		n++;
	}
	x = strtol(digits, &stop, 0);
	if (!n || *stop || x < -(1 << 28) || x > 1 << 28)
		return false;
	*p += n;
	*v = (int32_t)x;
	return true;
}

static bool read_reg(const char **p, const char *end, int32_t *reg)
{
	size_t n;

	while (*p < end && (**p == ' ' || **p == '\t' || **p == ','))
		(*p)++;
	if (*p == end || **p != '%')
		return read_number(p, end, reg) && *reg >= 0 && *reg < CFI_REGS;
	(*p)++;
	for (*reg = 0; *reg < CFI_REGS; (*reg)++) {
		n = strlen(reg_name[*reg]);
		if ((size_t)(end - *p) >= n && !memcmp(*p, reg_name[*reg], n) &&
		    (*p + n == end || (*p)[n] == ',' || (*p)[n] == ' ')) {
			*p += n;
			return true;
		}
	}
	return false;
}

static const char odd_operand[] = "CFI operand not understood";

static const char *apply_rule(struct cfi_state *s, const char *p, const char *end, uint8_t rule)
{
	int32_t reg;

	do {
		if (!read_reg(&p, end, &reg))
			return odd_operand;
		s->rule[reg] = rule;
		s->off[reg] = 0;
		while (p < end && *p == ' ')
			p++;
	} while (p < end && *p == ',');
	return p == end ? NULL : odd_operand;
}

const char *cfi_apply(const struct stmt *st, struct cfi_state *s, struct cfi_stack *stack)
{
	const char *p = st->arg.p, *end = p + st->arg.n;
	struct str op = {st->op.p + 5, st->op.n - 5}; /* after ".cfi_" */
	int32_t reg, off;

	if (str_is(op, "def_cfa_offset"))
		return read_number(&p, end, &s->cfa_off) ? NULL : odd_operand;
	if (str_is(op, "adjust_cfa_offset")) {
		if (!read_number(&p, end, &off))
			return odd_operand;
		s->cfa_off += off;
		return NULL;
	}
	if (str_is(op, "def_cfa_register"))
		return read_reg(&p, end, &s->cfa_reg) ? NULL : odd_operand;
	if (str_is(op, "def_cfa")) {
		return read_reg(&p, end, &s->cfa_reg) && read_number(&p, end, &s->cfa_off)
			   ? NULL
			   : odd_operand;
	}
	if (str_is(op, "offset") || str_is(op, "rel_offset")) {
		if (!read_reg(&p, end, &reg) || !read_number(&p, end, &off))
			return odd_operand;
		s->rule[reg] = RULE_OFFSET;
		s->off[reg] = str_is(op, "offset") ? off : off - s->cfa_off;
		return NULL;
	}
	if (str_is(op, "restore"))
		return apply_rule(s, p, end, RULE_INIT);
	if (str_is(op, "same_value"))
		return apply_rule(s, p, end, RULE_SAME);
	if (str_is(op, "undefined"))
		return apply_rule(s, p, end, RULE_UNDEFINED);
	if (str_is(op, "remember_state")) {
		if (stack->n == sizeof stack->state / sizeof stack->state[0])
			return "CFI states nested too deep";
		stack->state[stack->n++] = *s;
		return NULL;
	}
	if (str_is(op, "restore_state")) {
		if (!stack->n)
			return "CFI state restored that was not remembered";
		*s = stack->state[--stack->n];
		return NULL;
	}
	if (str_is(op, "personality") || str_is(op, "lsda"))
		return "exception table (LSDA)";
	if (str_is(op, "escape"))
		return ".cfi_escape";
	return "CFI directive not understood";
}

static uint32_t cfi_intern(struct unit_impl *u, const struct cfi_state *s, uint32_t current)
{
	size_t i, n = u->cfi.n;

	if (current != NONE && !memcmp(&u->cfi.v[current], s, sizeof *s))
		return current;
	/* States of one function lie together: a short look back finds most. */
	for (i = n; i > 0 && i + 64 > n; i--)
		if (!memcmp(&u->cfi.v[i - 1], s, sizeof *s))
			return (uint32_t)(i - 1);
	if (!memcmp(&u->cfi.v[0], s, sizeof *s))
		return 0;
	vec_push(&u->cfi, *s);
	return (uint32_t)n;
}

const char *cfi_simulate(struct unit_impl *u, struct func *f)
{
	struct cfi_stack stack = {.n = 0};
	struct cfi_state s = cfi_initial();
	uint32_t i, current = 0;
	const char *why;
	bool open = false, bare = false;
	struct stmt *st;

	for (i = 0; i < f->code.n; i++) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind == ST_INSN || st->kind == ST_ASM ||
		    (st->kind == ST_DIR && st->dir == DIR_DATA))
			bare |= !open;
		if (bare && f->has_cfi)
			return "code outside .cfi_startproc";
		if (st->kind != ST_DIR || st->dir != DIR_CFI)
			continue;
		if (str_is(st->op, ".cfi_startproc")) {
			if (st->arg.n || open || bare)
				return "CFI procedure not understood";
			s = cfi_initial();
			stack.n = 0;
			current = 0;
			open = f->has_cfi = true;
		} else if (str_is(st->op, ".cfi_endproc")) {
			if (!open)
				return ".cfi_endproc without .cfi_startproc";
			open = false;
		} else {
			if (!open)
				return "CFI directive outside of a procedure";
			why = cfi_apply(st, &s, &stack);
			if (why)
				return why;
			current = cfi_intern(u, &s, current);
		}
		st->aux = current;
	}
	return open ? ".cfi_startproc without .cfi_endproc" : NULL;
}

void cfi_delta(const struct unit_impl *u, uint32_t from, uint32_t to, struct buf *out)
{
	const struct cfi_state *a = &u->cfi.v[from], *b = &u->cfi.v[to];
	int r;

	if (from == to)
		return;
	if (a->cfa_reg != b->cfa_reg && a->cfa_off != b->cfa_off)
		buf_printf(out, "\t.cfi_def_cfa %d, %d\n", b->cfa_reg, b->cfa_off);
	else if (a->cfa_reg != b->cfa_reg)
		buf_printf(out, "\t.cfi_def_cfa_register %d\n", b->cfa_reg);
	else if (a->cfa_off != b->cfa_off)
		buf_printf(out, "\t.cfi_def_cfa_offset %d\n", b->cfa_off);
	for (r = 0; r < CFI_REGS; r++) {
		if (a->rule[r] == b->rule[r] && a->off[r] == b->off[r])
			continue;
		switch (b->rule[r]) {
		case RULE_INIT:
			buf_printf(out, "\t.cfi_restore %d\n", r);
			break;
		case RULE_OFFSET:
			buf_printf(out, "\t.cfi_offset %d, %d\n", r, b->off[r]);
			break;
		case RULE_SAME:
			buf_printf(out, "\t.cfi_same_value %d\n", r);
			break;
		case RULE_UNDEFINED:
			buf_printf(out, "\t.cfi_undefined %d\n", r);
			break;
		}
	}
}
