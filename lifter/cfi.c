#include "common/le.h"
#include "lifter/body.h"

#include <string.h>

/* DW_CFA_*: DWARF 4, 7.23; GNU's by the Linux Standard Base. */
enum {
	ADVANCE = 0x40,
	OFFSET = 0x80,
	RESTORE = 0xc0,
	OPERAND = 0x3f,
	NOP = 0,
	ADVANCE1 = 2,
	ADVANCE2 = 3,
	ADVANCE4 = 4,
	OFFSET_EXTENDED = 5,
	RESTORE_EXTENDED = 6,
	UNDEFINED = 7,
	SAME_VALUE = 8,
	REGISTER = 9,
	REMEMBER = 0xa,
	RESTORE_STATE = 0xb,
	DEF_CFA = 0xc,
	DEF_CFA_REGISTER = 0xd,
	DEF_CFA_OFFSET = 0xe,
	DEF_CFA_EXPRESSION = 0xf,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SF = 0x11,
	DEF_CFA_SF = 0x12,
	DEF_CFA_OFFSET_SF = 0x13,
	VAL_EXPRESSION = 0x16,
	ARGS_SIZE = 0x2e
};

static const char odd[] = "unwind information of an unknown form";

struct reader {
	const struct eh_fde *f;
	const uint8_t *p, *end;
	uint64_t addr;
	struct arena *mem;
	cfi_notes *out;
	bool failed;
};

static uint64_t number(struct reader *r)
{
	uint64_t v = 0;

	r->failed |= uleb_read(&r->p, r->end, &v) != 0;
	return v;
}

static int64_t signed_number(struct reader *r)
{
	int64_t v = 0;

	r->failed |= sleb_read(&r->p, r->end, &v) != 0;
	return v;
}

/* Of any operand: what it is for is checked where the text is read. */
static long long scaled(const struct reader *r, int64_t v)
{
	return (long long)((uint64_t)v * (uint64_t)r->f->cie.data_align);
}

#define NOTE(r, ...) \
	vec_push((r)->out, (struct cfi_note){(r)->addr, arena_printf((r)->mem, __VA_ARGS__)})

static void advance(struct reader *r, unsigned bytes)
{
	uint64_t by = 0;

	if (bytes > (uint64_t)(r->end - r->p)) {
		r->failed = true;
		return;
	}
	by = bytes == 1 ? *r->p : bytes == 2 ? get_le16(r->p) : get_le32(r->p);
	r->p += bytes;
	r->addr += by * r->f->cie.code_align;
}

/* With its operands as bytes: from the instruction's first on. */
static void escape(struct reader *r, const uint8_t *from, bool has_register, bool has_block)
{
	struct buf b = {0};
	uint64_t n;

	if (has_register || !has_block)
		number(r);
	n = has_block ? number(r) : 0;
	if (r->failed || n > (uint64_t)(r->end - r->p)) {
		r->failed = true;
		return;
	}
	r->p += n;
	for (; from < r->p; from++)
		buf_printf(&b, "%s%#x", b.n ? "," : "", *from);
	NOTE(r, ".cfi_escape\t%s", buf_cstr(&b));
	buf_free(&b);
}

static void offset_rule(struct reader *r, uint64_t reg, int64_t factored)
{
	NOTE(r, ".cfi_offset\t%llu, %lld", (unsigned long long)reg, scaled(r, factored));
}

static void register_rule(struct reader *r, const char *name, uint64_t reg)
{
	NOTE(r, ".cfi_%s\t%llu", name, (unsigned long long)reg);
}

/* Those about the call frame address. */
static bool frame_instruction(struct reader *r, uint8_t op)
{
	uint64_t reg = op == DEF_CFA || op == DEF_CFA_SF || op == DEF_CFA_REGISTER ? number(r) : 0;
	long long off;

	switch (op) {
	case DEF_CFA:
	case DEF_CFA_SF:
		off = op == DEF_CFA ? (long long)number(r) : scaled(r, signed_number(r));
		NOTE(r, ".cfi_def_cfa\t%llu, %lld", (unsigned long long)reg, (long long)off);
		return true;
	case DEF_CFA_REGISTER:
		register_rule(r, "def_cfa_register", reg);
		return true;
	case DEF_CFA_OFFSET:
	case DEF_CFA_OFFSET_SF:
		off = op == DEF_CFA_OFFSET ? (int64_t)number(r) : scaled(r, signed_number(r));
		NOTE(r, ".cfi_def_cfa_offset\t%lld", (long long)off);
		return true;
	}
	return false;
}

static bool rule_instruction(struct reader *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case OFFSET_EXTENDED:
	case OFFSET_EXTENDED_SF:
		reg = number(r);
		offset_rule(r, reg, op == OFFSET_EXTENDED ? (int64_t)number(r) : signed_number(r));
		return true;
	case RESTORE_EXTENDED:
		register_rule(r, "restore", number(r));
		return true;
	case UNDEFINED:
		register_rule(r, "undefined", number(r));
		return true;
	case SAME_VALUE:
		register_rule(r, "same_value", number(r));
		return true;
	case REGISTER:
		reg = number(r);
		NOTE(r, ".cfi_register\t%llu, %llu", (unsigned long long)reg,
		    (unsigned long long)number(r));
		return true;
	case REMEMBER:
		NOTE(r, ".cfi_remember_state");
		return true;
	case RESTORE_STATE:
		NOTE(r, ".cfi_restore_state");
		return true;
	}
	return false;
}

static void instruction(struct reader *r)
{
	const uint8_t *from = r->p;
	uint8_t op = *r->p++;

	switch (op & ~OPERAND) {
	case ADVANCE:
		r->addr += (op & OPERAND) * r->f->cie.code_align;
		return;
	case OFFSET:
		offset_rule(r, op & OPERAND, (int64_t)number(r));
		return;
	case RESTORE:
		register_rule(r, "restore", op & OPERAND);
		return;
	}
	switch (op) {
	case NOP:
		break;
	case ADVANCE1:
	case ADVANCE2:
	case ADVANCE4:
		advance(r, 1u << (op - ADVANCE1));
		break;
	case DEF_CFA_EXPRESSION:
		escape(r, from, false, true);
		break;
	case EXPRESSION:
	case VAL_EXPRESSION:
		escape(r, from, true, true);
		break;
	case ARGS_SIZE:
		escape(r, from, false, false);
		break;
	default:
		r->failed |= !frame_instruction(r, op) && !rule_instruction(r, op);
	}
}

/* What every function of x86-64 begins with: def_cfa %rsp, 8; offset %rip, -8. */
static bool usual(const struct eh_cie *c)
{
	static const uint8_t begin[] = {DEF_CFA, 7, 8, OFFSET | 16, 1};
	const uint8_t *p = c->insn;

	if (c->data_align != -8 || c->return_register != 16 ||
	    (size_t)(c->end - p) < sizeof begin || memcmp(p, begin, sizeof begin))
		return false;
	for (p += sizeof begin; p < c->end; p++)
		if (*p != NOP)
			return false;
	return true;
}

const char *cfi_read(const struct eh_fde *f, struct arena *mem, cfi_notes *out)
{
	struct reader r = {f, f->insn, f->end, f->pc, mem, out, false};

	if (f->cie.signal)
		return "the frame of a signal handler";
	if (!usual(&f->cie))
		return odd;
	while (r.p < r.end && !r.failed)
		instruction(&r);
	return r.failed ? odd : NULL;
}
