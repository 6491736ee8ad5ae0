/*
 * One instruction to one micro-operation. Meanings: Intel SDM volume 2; syntax:
 * AT&T as GCC and clang print it.
 */
#include "editor/asm/insn.h"
#include "editor/replay/uops.h"

#include <stdlib.h>

enum { BY_OPERAND = 255 };

static const struct uop stop = {.kind = UOP_STOP};

enum form {
	FORM_NONE,   /* no operands that matter */
	FORM_TWO,    /* src, dst */
	FORM_ONE,    /* dst */
	FORM_SOURCE, /* src */
	FORM_SHIFT,  /* [count,] dst */
	FORM_DOUBLE, /* [count,] src, dst */
	FORM_IMUL,   /* one, two or three operands */
	FORM_LEA,
	FORM_SWAP,  /* a register and another operand */
	FORM_WIDEN, /* src of size `from`, dst */
	FORM_AX     /* ax widened from `from` */
};

struct rule {
	const char *name; /* without a size suffix unless size says it */
	uint8_t kind, form, size, from;
};

/* Sorted, for bsearch. */
static const struct rule rules[] = {
    {"adc", UOP_ADC, FORM_TWO, BY_OPERAND},
    {"add", UOP_ADD, FORM_TWO, BY_OPERAND},
    {"and", UOP_AND, FORM_TWO, BY_OPERAND},
    {"bsf", UOP_BSF, FORM_TWO, BY_OPERAND},
    {"bsr", UOP_BSR, FORM_TWO, BY_OPERAND},
    {"bswap", UOP_BSWAP, FORM_ONE, BY_OPERAND},
    {"bt", UOP_BT, FORM_TWO, BY_OPERAND},
    {"btc", UOP_BTC, FORM_TWO, BY_OPERAND},
    {"btr", UOP_BTR, FORM_TWO, BY_OPERAND},
    {"bts", UOP_BTS, FORM_TWO, BY_OPERAND},
    {"cbtw", UOP_MOVSX, FORM_AX, 1, 0},
    {"cld", UOP_NOP, FORM_NONE, 0},
    {"cltd", UOP_SIGN_DX, FORM_NONE, 2},
    {"cltq", UOP_MOVSX, FORM_AX, 3, 2},
    {"cmp", UOP_CMP, FORM_TWO, BY_OPERAND},
    {"cmpxchg", UOP_CMPXCHG, FORM_TWO, BY_OPERAND},
    {"cqto", UOP_SIGN_DX, FORM_NONE, 3},
    {"cwtd", UOP_SIGN_DX, FORM_NONE, 1},
    {"cwtl", UOP_MOVSX, FORM_AX, 2, 1},
    {"dec", UOP_DEC, FORM_ONE, BY_OPERAND},
    {"div", UOP_DIV, FORM_SOURCE, BY_OPERAND},
    {"emms", UOP_NOP, FORM_NONE, 0},
    {"endbr64", UOP_NOP, FORM_NONE, 0},
    {"idiv", UOP_IDIV, FORM_SOURCE, BY_OPERAND},
    {"imul", UOP_IMUL, FORM_IMUL, BY_OPERAND},
    {"inc", UOP_INC, FORM_ONE, BY_OPERAND},
    {"lea", UOP_LEA, FORM_LEA, BY_OPERAND},
    {"leave", UOP_LEAVE, FORM_NONE, 3},
    {"lfence", UOP_NOP, FORM_NONE, 0},
    {"lzcnt", UOP_LZCNT, FORM_TWO, BY_OPERAND},
    {"mfence", UOP_NOP, FORM_NONE, 0},
    {"mov", UOP_MOV, FORM_TWO, BY_OPERAND},
    {"movabs", UOP_MOV, FORM_TWO, BY_OPERAND},
    {"movnti", UOP_MOV, FORM_TWO, BY_OPERAND},
    {"movsbl", UOP_MOVSX, FORM_WIDEN, 2, 0},
    {"movsbq", UOP_MOVSX, FORM_WIDEN, 3, 0},
    {"movsbw", UOP_MOVSX, FORM_WIDEN, 1, 0},
    {"movslq", UOP_MOVSX, FORM_WIDEN, 3, 2},
    {"movswl", UOP_MOVSX, FORM_WIDEN, 2, 1},
    {"movswq", UOP_MOVSX, FORM_WIDEN, 3, 1},
    {"movzbl", UOP_MOVZX, FORM_WIDEN, 2, 0},
    {"movzbq", UOP_MOVZX, FORM_WIDEN, 3, 0},
    {"movzbw", UOP_MOVZX, FORM_WIDEN, 1, 0},
    {"movzwl", UOP_MOVZX, FORM_WIDEN, 2, 1},
    {"movzwq", UOP_MOVZX, FORM_WIDEN, 3, 1},
    {"mul", UOP_MULA, FORM_SOURCE, BY_OPERAND},
    {"neg", UOP_NEG, FORM_ONE, BY_OPERAND},
    {"nop", UOP_NOP, FORM_NONE, 0},
    {"not", UOP_NOT, FORM_ONE, BY_OPERAND},
    {"or", UOP_OR, FORM_TWO, BY_OPERAND},
    {"pause", UOP_NOP, FORM_NONE, 0},
    {"pop", UOP_POP, FORM_ONE, 3},
    {"popcnt", UOP_POPCNT, FORM_TWO, BY_OPERAND},
    {"prefetchnta", UOP_NOP, FORM_NONE, 0},
    {"prefetcht0", UOP_NOP, FORM_NONE, 0},
    {"prefetcht1", UOP_NOP, FORM_NONE, 0},
    {"prefetcht2", UOP_NOP, FORM_NONE, 0},
    {"prefetchw", UOP_NOP, FORM_NONE, 0},
    {"push", UOP_PUSH, FORM_SOURCE, 3},
    {"rol", UOP_ROL, FORM_SHIFT, BY_OPERAND},
    {"ror", UOP_ROR, FORM_SHIFT, BY_OPERAND},
    {"sal", UOP_SHL, FORM_SHIFT, BY_OPERAND},
    {"sar", UOP_SAR, FORM_SHIFT, BY_OPERAND},
    {"sbb", UOP_SBB, FORM_TWO, BY_OPERAND},
    {"sfence", UOP_NOP, FORM_NONE, 0},
    {"shl", UOP_SHL, FORM_SHIFT, BY_OPERAND},
    {"shld", UOP_SHLD, FORM_DOUBLE, BY_OPERAND},
    {"shr", UOP_SHR, FORM_SHIFT, BY_OPERAND},
    {"shrd", UOP_SHRD, FORM_DOUBLE, BY_OPERAND},
    {"sub", UOP_SUB, FORM_TWO, BY_OPERAND},
    {"test", UOP_TEST, FORM_TWO, BY_OPERAND},
    {"tzcnt", UOP_TZCNT, FORM_TWO, BY_OPERAND},
    {"vzeroall", UOP_NOP, FORM_NONE, 0},
    {"vzeroupper", UOP_NOP, FORM_NONE, 0},
    {"xadd", UOP_XADD, FORM_TWO, BY_OPERAND},
    {"xchg", UOP_XCHG, FORM_SWAP, BY_OPERAND},
    {"xor", UOP_XOR, FORM_TWO, BY_OPERAND},
};

struct insn {
	struct str name, arg;
	struct operand op[OPERANDS];
	int n;
	uint8_t size; /* of a suffix, or BY_OPERAND */
};

static int compare_rule(const void *key, const void *elem)
{
	const struct str *k = key;
	const char *name = ((const struct rule *)elem)->name;
	int c = strncmp(k->p, name, k->n);

	return c ? c : -(name[k->n] != '\0');
}

static const struct rule *find_exact(struct str name)
{
	return bsearch(&name, rules, sizeof rules / sizeof *rules, sizeof *rules, compare_rule);
}

static uint8_t suffix_size(struct str name)
{
	static const char suffix[] = "bwlq";
	const char *at = name.n ? strchr(suffix, name.p[name.n - 1]) : NULL;

	return at && *at ? (uint8_t)(at - suffix) : BY_OPERAND;
}

static const struct rule *find_rule(struct insn *in)
{
	const struct rule *r = find_exact(in->name);
	struct str base = {in->name.p, in->name.n - 1};

	in->size = BY_OPERAND;
	if (r || in->name.n < 3)
		return r;
	in->size = suffix_size(in->name);
	r = in->size == BY_OPERAND ? NULL : find_exact(base);
	return r && (r->size == BY_OPERAND || r->form == FORM_NONE || r->kind == UOP_PUSH ||
			r->kind == UOP_POP)
		   ? r
		   : NULL;
}

int uop_condition(struct str s)
{
	static const char *const names[][3] = {{"o"}, {"no"}, {"b", "c", "nae"}, {"ae", "nb", "nc"},
	    {"e", "z"}, {"ne", "nz"}, {"be", "na"}, {"a", "nbe"}, {"s"}, {"ns"}, {"p", "pe"},
	    {"np", "po"}, {"l", "nge"}, {"ge", "nl"}, {"le", "ng"}, {"g", "nle"}};
	int c, k;

	for (c = 0; c < UC_N; c++)
		for (k = 0; k < 3; k++)
			if (names[c][k] && str_is(s, names[c][k]))
				return c;
	return -1;
}

/* ---- general registers ---- */

static bool writable(const struct operand *o)
{
	return o->class == OP_REG || o->class == OP_MEM || o->class == OP_VAR;
}

static bool readable(const struct operand *o)
{
	return writable(o) || o->class == OP_IMM || o->class == OP_SYMBOL;
}

static void put_address(struct uop *u, const struct operand *o)
{
	if (o->class != OP_MEM)
		return;
	u->base = o->base;
	u->index = o->index;
	u->scale = o->scale;
	u->disp = o->disp;
}

static void put_source(struct uop *u, const struct operand *o)
{
	u->src = o->uo;
	u->imm = o->class == OP_IMM ? o->imm : u->imm;
	put_address(u, o);
}

static void put_destination(struct uop *u, const struct operand *o)
{
	u->dst = o->uo;
	put_address(u, o);
}

/* All registers of an operation have its size, or it is another operation. */
static bool fits(const struct operand *o, uint8_t size)
{
	return o->class != OP_REG || (o->size == size && (o->uo < UR_N || !size));
}

static uint8_t operation_size(const struct insn *in, int from)
{
	int i;

	for (i = in->n; in->size == BY_OPERAND && i-- > from;)
		if (in->op[i].class == OP_REG)
			return in->op[i].size;
	return in->size;
}

static struct uop two(const struct insn *in, struct uop u)
{
	if (in->n != 2 || !readable(&in->op[0]) || !writable(&in->op[1]) ||
	    !fits(&in->op[0], u.size) || !fits(&in->op[1], u.size) ||
	    (in->op[0].class == OP_MEM && in->op[1].class == OP_MEM))
		return stop;
	put_source(&u, &in->op[0]);
	put_destination(&u, &in->op[1]);
	return u;
}

static struct uop one(const struct insn *in, struct uop u)
{
	if (in->n != 1 || !writable(&in->op[0]) || !fits(&in->op[0], u.size))
		return stop;
	put_destination(&u, &in->op[0]);
	return u;
}

static struct uop source(const struct insn *in, struct uop u)
{
	if (in->n != 1 || !readable(&in->op[0]) || !fits(&in->op[0], u.size))
		return stop;
	put_source(&u, &in->op[0]);
	return u;
}

static bool is_count(const struct operand *o)
{
	return o->class == OP_IMM || (o->class == OP_REG && o->uo == UR_CX && !o->size);
}

static struct uop shift(const struct insn *in, struct uop u)
{
	static const struct operand single = {.class = OP_IMM, .uo = UO_IMM, .imm = 1};
	const struct operand *count = in->n == 1 ? &single : &in->op[0];
	const struct operand *dst = &in->op[in->n == 2];

	if (in->n < 1 || in->n > 2 || !is_count(count) || !writable(dst) || !fits(dst, u.size))
		return stop;
	put_source(&u, count);
	put_destination(&u, dst);
	return u;
}

static struct uop double_shift(const struct insn *in, struct uop u)
{
	static const struct operand cl = {.class = OP_REG, .uo = UR_CX};
	const struct operand *count = in->n == 2 ? &cl : &in->op[0];
	const struct operand *in_bits = &in->op[in->n == 3], *dst = in_bits + 1;

	if (in->n < 2 || in->n > 3 || !is_count(count) || in_bits->class != OP_REG ||
	    !writable(dst) || !fits(in_bits, u.size) || !fits(dst, u.size))
		return stop;
	put_source(&u, count);
	put_destination(&u, dst);
	u.aux = in_bits->uo;
	return u;
}

static struct uop imul(const struct insn *in, struct uop u)
{
	struct insn last = *in;

	switch (in->n) {
	case 1:
		u.kind = UOP_IMULA;
		return source(in, u);
	case 2:
		return two(in, u);
	case 3:
		if (in->op[0].class != OP_IMM)
			return stop;
		u.kind = UOP_IMUL3;
		last.op[0] = in->op[1];
		last.op[1] = in->op[2];
		last.n = 2;
		u = two(&last, u);
		u.imm = in->op[0].imm;
		return u;
	}
	return stop;
}

static struct uop lea(const struct insn *in, struct uop u)
{
	if (in->n != 2 || in->op[1].class != OP_REG || in->op[1].uo >= UR_N || !u.size ||
	    !fits(&in->op[1], u.size))
		return stop;
	u.dst = in->op[1].uo;
	if (in->op[0].class == OP_MEM) {
		put_address(&u, &in->op[0]);
		return u;
	}
	u.kind = UOP_MOV;
	u.src = UO_UNKNOWN;
	return u;
}

/* Memory that others may write to: its content is not known. */
static void share(struct uop *u)
{
	if (u->dst != UO_MEM)
		return;
	u->base = UA_UNKNOWN;
	u->index = UA_NONE;
	u->scale = 0;
	u->disp = 0;
}

static struct uop swap(const struct insn *in, struct uop u)
{
	struct insn turned = *in;

	if (in->n == 2 && in->op[0].class != OP_REG) {
		turned.op[0] = in->op[1];
		turned.op[1] = in->op[0];
	}
	if (turned.op[0].class != OP_REG)
		return stop;
	u = two(&turned, u);
	share(&u);
	return u;
}

static struct uop widen(const struct insn *in, struct uop u, uint8_t from)
{
	if (in->n != 2 || !writable(&in->op[0]) || !fits(&in->op[0], from) ||
	    in->op[1].class != OP_REG || in->op[1].uo >= UR_N || !fits(&in->op[1], u.size))
		return stop;
	put_source(&u, &in->op[0]);
	u.dst = in->op[1].uo;
	u.aux = from;
	return u;
}

static struct uop by_rule(const struct insn *in, const struct rule *r)
{
	struct uop u = {.kind = r->kind, .base = UA_NONE, .index = UA_NONE, .size = r->size};

	if (r->size == BY_OPERAND)
		u.size = operation_size(in, r->form == FORM_SHIFT && in->n > 1);
	else if (in->size != BY_OPERAND && (r->kind == UOP_PUSH || r->kind == UOP_POP))
		u.size = in->size;
	if (u.size == BY_OPERAND)
		return stop;
	switch (r->form) {
	case FORM_NONE:
		return u;
	case FORM_TWO:
		return two(in, u);
	case FORM_ONE:
		return one(in, u);
	case FORM_SOURCE:
		return source(in, u);
	case FORM_SHIFT:
		return shift(in, u);
	case FORM_DOUBLE:
		return double_shift(in, u);
	case FORM_IMUL:
		return imul(in, u);
	case FORM_LEA:
		return lea(in, u);
	case FORM_SWAP:
		return swap(in, u);
	case FORM_WIDEN:
		return widen(in, u, r->from);
	case FORM_AX:
		u.dst = u.src = UR_AX;
		u.aux = r->from;
		return u;
	}
	return stop;
}

static struct uop set_condition(const struct insn *in, int cond)
{
	struct uop u = {.kind = UOP_SETCC, .base = UA_NONE, .index = UA_NONE};

	u.aux = (uint8_t)cond;
	return one(in, u);
}

static struct uop conditional_move(struct insn *in)
{
	struct str name = {in->name.p + 4, in->name.n - 4};
	struct uop u = {.kind = UOP_CMOV, .base = UA_NONE, .index = UA_NONE};
	int c = uop_condition(name);

	in->size = BY_OPERAND;
	if (c < 0 && name.n) {
		in->size = suffix_size(name);
		name.n--;
		c = uop_condition(name);
	}
	u.size = operation_size(in, 0);
	if (c < 0 || u.size == BY_OPERAND)
		return stop;
	u.aux = (uint8_t)c;
	return two(in, u);
}

/* ---- all others: that preserve registers and flags ---- */

static bool starts_with(struct str s, const char *const *prefix, size_t n)
{
	while (n-- > 0)
		if (str_starts(s, prefix[n]))
			return true;
	return false;
}
#define STARTS_WITH(S, LIST) starts_with(S, LIST, sizeof(LIST) / sizeof *(LIST))

/* The destination becomes unknown. */
static struct uop clobber(const struct operand *dst)
{
	struct uop u = {.kind = UOP_NOP, .base = UA_NONE, .index = UA_NONE};

	switch (dst->class) {
	case OP_REG:
		if (dst->uo >= UR_N)
			return stop;
		u.kind = UOP_MOV;
		u.size = dst->size < 2 ? 3 : dst->size;
		u.dst = dst->uo;
		u.src = UO_UNKNOWN;
		return u;
	case OP_MEM:
		u.kind = UOP_WIPE;
		put_address(&u, dst);
		return u;
	case OP_VECTOR:
	case OP_VAR:
		return u;
	}
	return stop;
}

static const struct uop flags_only = {.kind = UOP_FLAGS, .base = UA_NONE, .index = UA_NONE};
static const struct uop nothing = {.kind = UOP_NOP, .base = UA_NONE, .index = UA_NONE};

static struct uop x87(const struct insn *in)
{
	static const char *const flags[] = {"fcomi", "fucomi", "fcompi", "fucompi"};
	static const char *const stores[] = {"fst", "fist", "fbst", "fnstcw", "fnstsw", "fnstenv"};
	static const char *const others[] = {"fld", "fild", "fadd", "fiadd", "fsub", "fisub",
	    "fmul", "fimul", "fdiv", "fidiv", "fcom", "fucom", "ficom", "fxch", "fchs", "fabs",
	    "fsqrt", "fsin", "fcos", "fptan", "fpatan", "fprem", "frndint", "fscale", "f2xm1",
	    "fyl2x", "ftst", "fxam", "fcmov", "fwait", "fninit", "fnclex", "ffree", "fnop"};

	if (STARTS_WITH(in->name, flags))
		return flags_only;
	if (STARTS_WITH(in->name, stores))
		return in->n == 1 ? clobber(&in->op[0]) : stop;
	return STARTS_WITH(in->name, others) ? nothing : stop;
}

static struct uop vector(const struct insn *in)
{
	static const char *const flags[] = {"comis", "ucomis", "vcomis", "vucomis", "vcomx",
	    "vucomx", "ptest", "vptest", "vtestp", "kortest", "ktest"};
	static const char *const odd[] = {"pcmpestr", "pcmpistr", "vpcmpestr", "vpcmpistr",
	    "maskmov", "vmaskmovdqu", "vpscatter", "vscatter", "encodekey", "aesenc128kl",
	    "aesenc256kl", "aesdec128kl", "aesdec256kl", "aesencwide", "aesdecwide"};

	if (*in->name.p == 'f')
		return x87(in);
	if (STARTS_WITH(in->name, odd))
		return stop;
	if (STARTS_WITH(in->name, flags))
		return flags_only;
	return clobber(&in->op[in->n - 1]);
}

static bool any_vector(const struct insn *in)
{
	int i;

	for (i = 0; i < in->n; i++)
		if (in->op[i].class == OP_VECTOR)
			return true;
	return false;
}

static bool any_odd(const struct insn *in)
{
	int i;

	for (i = 0; i < in->n; i++)
		if (in->op[i].class == OP_ODD)
			return true;
	return false;
}

/* ---- prefixes ---- */

static void skip_prefix(struct insn *in)
{
	const char *p = in->arg.p, *end = p + in->arg.n;

	in->name.p = p;
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	in->name.n = (uint32_t)(p - in->name.p);
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	in->arg = (struct str){p, (uint32_t)(end - p)};
}

static struct uop plain(struct insn *in)
{
	const struct rule *r;
	int c;

	in->n = operands_read(in->arg, in->op);
	if (in->n < 0 || any_odd(in))
		return stop;
	if (any_vector(in))
		return vector(in);
	r = find_rule(in);
	if (r)
		return by_rule(in, r);
	if (str_starts(in->name, "cmov"))
		return conditional_move(in);
	if (str_starts(in->name, "set")) {
		c = uop_condition((struct str){in->name.p + 3, in->name.n - 3});
		return c < 0 ? stop : set_condition(in, c);
	}
	if (str_is(in->name, "stmxcsr") && in->n == 1)
		return clobber(&in->op[0]);
	if (str_is(in->name, "ldmxcsr"))
		return nothing;
	return *in->name.p == 'f' ? x87(in) : stop;
}

static struct uop locked(struct insn *in)
{
	struct uop u = plain(in);

	switch (u.kind) {
	case UOP_ADD:
	case UOP_SUB:
	case UOP_AND:
	case UOP_OR:
	case UOP_XOR:
	case UOP_INC:
	case UOP_DEC:
	case UOP_NEG:
	case UOP_NOT:
	case UOP_XADD:
	case UOP_CMPXCHG:
		share(&u);
		return u;
	}
	return stop;
}

/* "rep bsf" is tzcnt to processors that know it, bsf to others. */
static struct uop repeated(struct insn *in)
{
	struct uop u = plain(in);

	if (u.kind != UOP_BSF)
		return stop;
	u.kind = UOP_TZCNT;
	return u;
}

static struct uop with_prefixes(const struct stmt *st)
{
	struct insn in = {.name = st->op, .arg = st->arg};
	struct str operand;

	switch (insn_classify(st, &operand)) {
	case INSN_PLAIN:
		break;
	case INSN_CALL:
		return (struct uop){.kind = UOP_CALL};
	default:
		return stop;
	}
	if (str_is(in.name, "lock")) {
		skip_prefix(&in);
		return in.name.n ? locked(&in) : stop;
	}
	if (str_is(in.name, "rep") || str_is(in.name, "repz")) {
		skip_prefix(&in);
		return in.name.n ? repeated(&in) : stop;
	}
	return in.name.n ? plain(&in) : stop;
}

struct uop uop_of_insn(const struct stmt *st)
{
	struct uop u = with_prefixes(st);

	return uops_sound(&u, 0) ? u : stop;
}
