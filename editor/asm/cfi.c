#include "editor/asm/lsda.h"

#include <stdlib.h>

enum { REG_RSP = 7, RETURN_ADDRESS = 16 };
/* DW_CFA_*, as .cfi_escape has them. */
enum { DEF_CFA_EXPRESSION = 0x0f, EXPRESSION = 0x10, VAL_EXPRESSION = 0x16, ARGS_SIZE = 0x2e };
enum { ESCAPE_MAX = 64, EXPRESSION_MAX = 7, BREG_RSP = 0x77 };

static const char *const reg_name[CFI_REGS] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp",
    "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip", "xmm0", "xmm1", "xmm2",
    "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
    "xmm14", "xmm15"};

struct cfi_state cfi_initial(void)
{
	struct cfi_state s = {.cfa_reg = REG_RSP, .cfa_off = 8};

	/* Said, not only RULE_INIT: libgcc's unwinder takes a restored register for one that
	 * nothing was said of. */
	s.rule[RETURN_ADDRESS] = RULE_OFFSET;
	s.off[RETURN_ADDRESS] = -8;
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
	struct cfi_state initial = cfi_initial();
	int32_t reg;

	do {
		if (!read_reg(&p, end, &reg))
			return odd_operand;
		s->rule[reg] = rule == RULE_INIT ? initial.rule[reg] : rule;
		s->off[reg] = rule == RULE_INIT ? initial.off[reg] : 0;
		while (p < end && *p == ' ')
			p++;
	} while (p < end && *p == ',');
	return p == end ? NULL : odd_operand;
}

/* ---- .cfi_escape ---- */

static size_t read_bytes(const char *p, const char *end, uint8_t bytes[ESCAPE_MAX])
{
	size_t n = 0;
	int32_t v;

	while (n < ESCAPE_MAX && read_number(&p, end, &v) && v >= 0 && v <= UINT8_MAX)
		bytes[n++] = (uint8_t)v;
	while (p < end && *p == ' ')
		p++;
	return p == end ? n : 0;
}

/* An expression with its length before it, as one number. */
static bool pack_expression(const uint8_t **p, const uint8_t *end, int64_t *v)
{
	uint64_t n;

	if (uleb_read(p, end, &n) || !n || n > EXPRESSION_MAX || n > (uint64_t)(end - *p) ||
	    **p == BREG_RSP)
		return false;
	*v = (int64_t)(n << 8 * EXPRESSION_MAX);
	while (n-- > 0)
		*v |= (int64_t)(*p)[n] << 8 * n;
	*p += *v >> 8 * EXPRESSION_MAX;
	return true;
}

static void print_expression(int64_t v, struct buf *out)
{
	int64_t i, n = v >> 8 * EXPRESSION_MAX;

	buf_printf(out, "%d", (int)n);
	for (i = 0; i < n; i++)
		buf_printf(out, ", %#x", (unsigned)(v >> 8 * i) & UINT8_MAX);
	buf_char(out, '\n');
}

static bool apply_escape(const uint8_t **p, const uint8_t *end, struct cfi_state *s)
{
	uint8_t op = *(*p)++;
	uint64_t v;

	switch (op) {
	case DEF_CFA_EXPRESSION:
		s->cfa_reg = CFA_EXPRESSION;
		return pack_expression(p, end, &s->cfa_off);
	case EXPRESSION:
	case VAL_EXPRESSION:
		if (uleb_read(p, end, &v) || v >= CFI_REGS)
			return false;
		s->rule[v] = op == EXPRESSION ? RULE_EXPRESSION : RULE_VALUE;
		return pack_expression(p, end, &s->off[v]);
	case ARGS_SIZE:
		if (uleb_read(p, end, &v) || v > INT32_MAX)
			return false;
		s->args = (uint32_t)v;
		return true;
	}
	return false;
}

static const char *apply_escapes(struct str arg, struct cfi_state *s)
{
	uint8_t bytes[ESCAPE_MAX];
	size_t n = read_bytes(arg.p, arg.p + arg.n, bytes);
	const uint8_t *p = bytes;

	if (!n)
		return ".cfi_escape";
	while (p < bytes + n)
		if (!apply_escape(&p, bytes + n, s))
			return ".cfi_escape";
	return NULL;
}

/* A call frame address that is an expression has no offset. */
static bool needs_offset(struct str op)
{
	static const char *const names[] = {
	    "def_cfa_offset", "adjust_cfa_offset", "def_cfa_register", "rel_offset"};

	return str_is_any(op, names, sizeof names / sizeof *names);
}

static bool read_long(const char **p, const char *end, int64_t *v)
{
	int32_t x;

	if (!read_number(p, end, &x))
		return false;
	*v = x;
	return true;
}

/* The directive of a rule with a register and a number; NULL: it has none. */
static const char *offset_directive(enum cfi_rule rule)
{
	switch (rule) {
	case RULE_OFFSET:
		return "offset";
	case RULE_VALUE_OFFSET:
		return "val_offset";
	case RULE_REGISTER:
		return "register";
	default:
		return NULL;
	}
}

/* "%rip, %rdx" or "16, 2", of .cfi_register: there the caller's first is in the second. */
static const char *apply_offset(
    struct cfi_state *s, const char *p, const char *end, enum cfi_rule rule)
{
	int32_t reg, off;

	if (!read_reg(&p, end, &reg) ||
	    !(rule == RULE_REGISTER ? read_reg(&p, end, &off) : read_number(&p, end, &off)))
		return odd_operand;
	s->rule[reg] = (uint8_t)rule;
	s->off[reg] = off;
	return NULL;
}

const char *cfi_apply(const struct stmt *st, struct cfi_state *s, struct cfi_stack *stack)
{
	const char *p = st->arg.p, *end = p + st->arg.n;
	struct str op = {st->op.p + 5, st->op.n - 5}; /* after ".cfi_" */
	int32_t reg, off;
	uint32_t args = s->args;
	enum cfi_rule rule;

	if (s->cfa_reg == CFA_EXPRESSION && needs_offset(op))
		return "CFI offset from an expression";
	if (str_is(op, "def_cfa_offset"))
		return read_long(&p, end, &s->cfa_off) ? NULL : odd_operand;
	if (str_is(op, "adjust_cfa_offset")) {
		if (!read_number(&p, end, &off))
			return odd_operand;
		s->cfa_off += off;
		return NULL;
	}
	if (str_is(op, "def_cfa_register"))
		return read_reg(&p, end, &s->cfa_reg) ? NULL : odd_operand;
	if (str_is(op, "def_cfa")) {
		return read_reg(&p, end, &s->cfa_reg) && read_long(&p, end, &s->cfa_off)
			   ? NULL
			   : odd_operand;
	}
	for (rule = RULE_OFFSET; rule <= RULE_REGISTER; rule++)
		if (offset_directive(rule) && str_is(op, offset_directive(rule)))
			return apply_offset(s, p, end, rule);
	if (str_is(op, "rel_offset")) {
		if (!read_reg(&p, end, &reg) || !read_number(&p, end, &off))
			return odd_operand;
		s->rule[reg] = RULE_OFFSET;
		s->off[reg] = off - s->cfa_off;
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
		s->args = args; /* is none of the rules that are remembered */
		return NULL;
	}
	if (str_is(op, "escape"))
		return apply_escapes(st->arg, s);
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

bool cfi_is_handler(const struct stmt *st)
{
	return str_is(st->op, ".cfi_personality") || str_is(st->op, ".cfi_lsda");
}

/* One of both, of a part. */
static const char *add_handler(struct unit_impl *u, struct func *f, int part, const struct stmt *st)
{
	struct str encoding = operand_at(st->arg, 0);
	struct func_eh *eh = f->eh;

	if (!eh)
		eh = f->eh = arena_alloc(u->mem, sizeof *eh);
	eh->parts |= 1u << part;
	if (str_is(st->op, ".cfi_personality")) {
		if (eh->personality.n && !str_equal(eh->personality, st->arg))
			return "two personality routines";
		eh->personality = st->arg;
		return NULL;
	}
	if (eh->table[part].n || (eh->lsda_encoding.n && !str_equal(eh->lsda_encoding, encoding)))
		return "two exception tables";
	eh->lsda_encoding = encoding;
	eh->table[part] = operand_at(st->arg, 1);
	return eh->personality.n ? NULL : "exception table without a personality routine";
}

const char *cfi_simulate(struct unit_impl *u, struct func *f)
{
	struct cfi_stack stack = {.n = 0};
	struct cfi_state s = cfi_initial();
	uint32_t i, current = 0;
	const char *why;
	bool open = false, bare = false, fresh = false;
	struct stmt *st;

	for (i = 0; i < f->code.n; i++) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind == ST_INSN || st->kind == ST_ASM ||
		    (st->kind == ST_DIR && st->dir == DIR_DATA)) {
			bare |= !open;
			fresh = false;
		}
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
			open = fresh = f->has_cfi = true;
		} else if (str_is(st->op, ".cfi_endproc")) {
			if (!open)
				return ".cfi_endproc without .cfi_startproc";
			open = false;
		} else {
			if (!open)
				return "CFI directive outside of a procedure";
			if (cfi_is_handler(st))
				why = fresh ? add_handler(u, f, i >= f->part1, st)
					    : "personality routine after code";
			else
				why = cfi_apply(st, &s, &stack);
			if (why)
				return why;
			current = cfi_intern(u, &s, current);
		}
		st->aux = current;
	}
	return open ? ".cfi_startproc without .cfi_endproc" : NULL;
}

static void cfa_delta(const struct cfi_state *a, const struct cfi_state *b, struct buf *out)
{
	bool reg = a->cfa_reg != b->cfa_reg, off = a->cfa_off != b->cfa_off;

	if (b->cfa_reg == CFA_EXPRESSION && (reg || off)) {
		buf_printf(out, "\t.cfi_escape %#x, ", DEF_CFA_EXPRESSION);
		print_expression(b->cfa_off, out);
	} else if (reg && (off || a->cfa_reg == CFA_EXPRESSION)) {
		buf_printf(out, "\t.cfi_def_cfa %d, %d\n", b->cfa_reg, (int)b->cfa_off);
	} else if (reg) {
		buf_printf(out, "\t.cfi_def_cfa_register %d\n", b->cfa_reg);
	} else if (off) {
		buf_printf(out, "\t.cfi_def_cfa_offset %d\n", (int)b->cfa_off);
	}
}

void cfi_delta(const struct unit_impl *u, uint32_t from, uint32_t to, struct buf *out)
{
	const struct cfi_state *a = &u->cfi.v[from], *b = &u->cfi.v[to];
	uint32_t v;
	int r;

	if (from == to)
		return;
	cfa_delta(a, b, out);
	if (a->args != b->args) {
		buf_printf(out, "\t.cfi_escape %#x", ARGS_SIZE);
		for (v = b->args; v > 0x7f; v >>= 7)
			buf_printf(out, ", %#x", (unsigned)(v & 0x7f) | 0x80);
		buf_printf(out, ", %#x\n", (unsigned)v);
	}
	for (r = 0; r < CFI_REGS; r++) {
		if (a->rule[r] == b->rule[r] && a->off[r] == b->off[r])
			continue;
		switch (b->rule[r]) {
		case RULE_INIT:
			buf_printf(out, "\t.cfi_restore %d\n", r);
			break;
		case RULE_OFFSET:
		case RULE_VALUE_OFFSET:
		case RULE_REGISTER:
			buf_printf(out, "\t.cfi_%s %d, %d\n", offset_directive(b->rule[r]), r,
			    (int)b->off[r]);
			break;
		case RULE_SAME:
			buf_printf(out, "\t.cfi_same_value %d\n", r);
			break;
		case RULE_UNDEFINED:
			buf_printf(out, "\t.cfi_undefined %d\n", r);
			break;
		case RULE_EXPRESSION:
		case RULE_VALUE:
			buf_printf(out, "\t.cfi_escape %#x, %d, ",
			    b->rule[r] == RULE_VALUE ? VAL_EXPRESSION : EXPRESSION, r);
			print_expression(b->off[r], out);
			break;
		}
	}
}
