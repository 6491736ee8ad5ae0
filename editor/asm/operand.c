#include "editor/asm/operand.h"

#include <errno.h>
#include <stdlib.h>

/* In the order of enum uop_reg, by log2 of bytes. */
static const char *const names[4][UR_N] = {
    {"al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl", "r8b", "r9b", "r10b", "r11b", "r12b",
	"r13b", "r14b", "r15b"},
    {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w",
	"r14w", "r15w"},
    {"eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "r8d", "r9d", "r10d", "r11d", "r12d",
	"r13d", "r14d", "r15d"},
    {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15"},
};
static const char *const high[4] = {"ah", "bh", "ch", "dh"};

static struct str trim(struct str s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

/* s without its first n characters. */
static struct str after(struct str s, uint32_t n)
{
	return (struct str){s.p + n, s.n - n};
}

/* A general register's name, without '%'. */
static bool read_reg(struct str s, uint8_t *reg, uint8_t *size)
{
	uint8_t i, k;

	if (s.n < 2 || s.n > 4)
		return false;
	for (k = 4; k-- > 0;)
		for (i = 0; i < UR_N; i++)
			if (str_is(s, names[k][i])) {
				*reg = i;
				*size = k;
				return true;
			}
	*size = 0;
	for (i = 0; i < 4; i++)
		if (str_is(s, high[i])) {
			*reg = UO_HIGH + i;
			return true;
		}
	return false;
}

bool operand_is_register(struct str s)
{
	static const char *const named[] = {
	    "es", "cs", "ss", "ds", "fs", "gs", "flat", "ip", "eip", "rip", "eiz", "riz", "st"};
	static const char *const numbered[] = {
	    "cr", "db", "dr", "tr", "mm", "xmm", "ymm", "zmm", "tmm", "k", "bnd"};
	struct str lower;
	uint8_t reg, size;
	char b[8];
	size_t i;

	if (!s.n || s.n > sizeof b)
		return false;
	for (i = 0; i < s.n; i++)
		b[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 'a' - 'A') : s.p[i];
	lower = (struct str){b, s.n};
	if (read_reg(lower, &reg, &size))
		return true;
	for (i = 0; i < sizeof named / sizeof *named; i++)
		if (str_is(lower, named[i]))
			return true;
	while (lower.n && b[lower.n - 1] >= '0' && b[lower.n - 1] <= '9')
		lower.n--;
	for (i = 0; lower.n < s.n && i < sizeof numbered / sizeof *numbered; i++)
		if (str_is(lower, numbered[i]))
			return true;
	return false;
}

static bool is_vector(struct str s)
{
	static const char *const prefix[] = {"xmm", "ymm", "zmm", "mm", "st", "k"};
	size_t i;

	for (i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (str_starts(s, prefix[i]))
			return true;
	return false;
}

/* A number alone, signed or unsigned, of 64 bits at most. */
static bool read_number(struct str s, int64_t *v)
{
	char digits[32], *end;
	bool minus = s.n && *s.p == '-';

	s = after(s, minus);
	if (!s.n || s.n >= sizeof digits || *s.p < '0' || *s.p > '9')
		return false;
	memcpy(digits, s.p, s.n);
	digits[s.n] = '\0';
	errno = 0;
	*v = (int64_t)strtoull(digits, &end, 0);
	if (minus)
		*v = (int64_t) - (uint64_t)*v;
	return !*end && !errno;
}

static struct str lone_symbol(struct str s)
{
	uint32_t i;

	for (i = 0; i < s.n; i++)
		if (strchr("+-*/@ ", s.p[i]))
			return (struct str){s.p, 0};
	return s;
}

static struct str part(struct str *rest)
{
	const char *comma = memchr(rest->p, ',', rest->n);
	uint32_t n = comma ? (uint32_t)(comma - rest->p) : rest->n;
	struct str s = trim((struct str){rest->p, n});

	*rest = after(*rest, comma ? n + 1 : n);
	return s;
}

/* "%rax" as part of an address; UA_NONE when empty. */
static bool address_reg(struct str s, uint8_t *reg)
{
	uint8_t size;

	*reg = UA_NONE;
	if (!s.n)
		return true;
	return *s.p == '%' && read_reg(after(s, 1), reg, &size) && size == 3;
}

static void any_address(struct operand *o)
{
	o->class = OP_MEM;
	o->uo = UO_MEM;
	o->base = UA_UNKNOWN;
	o->index = UA_NONE;
	o->scale = 0;
	o->disp = 0;
}

static bool contains(struct str s, const char *lit)
{
	return s.n && memmem(s.p, s.n, lit, strlen(lit));
}

static void read_memory(struct str s, struct operand *o)
{
	const char *open = memchr(s.p, '(', s.n);
	struct str disp = trim((struct str){s.p, open ? (uint32_t)(open - s.p) : s.n}), in;
	struct str base = {"", 0}, index = {"", 0}, scale = {"", 0};
	int64_t v = 0, k = 1;
	bool rip;

	any_address(o);
	if (open && s.p[s.n - 1] != ')')
		return;
	if (open) {
		in = (struct str){open + 1, (uint32_t)(s.p + s.n - open - 2)};
		base = part(&in);
		index = part(&in);
		scale = trim(in);
	}
	rip = str_is(base, "%rip");
	if (contains(disp, "%") || contains(disp, "tpoff") || contains(disp, "TPOFF"))
		return; /* of a segment */
	if (rip)
		base.n = 0;
	if (!address_reg(base, &o->base) || !address_reg(index, &o->index) ||
	    (scale.n && (!read_number(scale, &k) || k < 1 || k > 8 || k & (k - 1)))) {
		any_address(o);
		return;
	}
	o->scale = (uint8_t)__builtin_ctzll((uint64_t)k);
	if (rip || (disp.n && !read_number(disp, &v))) {
		o->class = OP_VAR;
		o->uo = UO_UNKNOWN;
		o->symbol = lone_symbol(disp);
		return;
	}
	if (v < INT32_MIN || v > INT32_MAX)
		any_address(o);
	else
		o->disp = (int32_t)v;
}

static void read_operand(struct str s, struct operand *o)
{
	*o = (struct operand){.class = OP_ODD, .uo = UO_UNKNOWN, .base = UA_NONE, .index = UA_NONE};
	if (s.n && *s.p == '*')
		s = trim(after(s, 1));
	if (!s.n)
		return;
	if (*s.p == '$') {
		s = after(s, 1);
		o->class = read_number(s, &o->imm) ? OP_IMM : OP_SYMBOL;
		o->uo = o->class == OP_IMM ? UO_IMM : UO_UNKNOWN;
		o->symbol = lone_symbol(s);
	} else if (*s.p == '%' && !memchr(s.p, ':', s.n)) {
		s = after(s, 1);
		if (read_reg(s, &o->uo, &o->size))
			o->class = OP_REG;
		else if (is_vector(s))
			o->class = OP_VECTOR;
	} else {
		read_memory(s, o);
	}
}

int operands_read(struct str arg, struct operand op[OPERANDS])
{
	const char *p = arg.p, *end = p + arg.n, *start = p;
	int n = 0, depth = 0;

	if (!arg.n)
		return 0;
	for (;; p++) {
		if (p < end && (*p != ',' || depth)) {
			depth += *p == '(';
			depth -= *p == ')';
			continue;
		}
		if (n == OPERANDS)
			return -1;
		read_operand(trim((struct str){start, (uint32_t)(p - start)}), &op[n++]);
		if (p == end)
			return n;
		start = p + 1;
	}
}
