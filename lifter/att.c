#include "lifter/att.h"

#include <Zycore/Format.h>
#include <Zydis/Zydis.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- mnemonics ---- */

/* An operand that is read or written in memory. */
static const ZydisDecodedOperand *memory_of(
    const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
	int k;

	for (k = 0; k < i->operand_count_visible; k++)
		if (o[k].type == ZYDIS_OPERAND_TYPE_MEMORY && o[k].mem.type == ZYDIS_MEMOP_TYPE_MEM)
			return &o[k];
	return NULL;
}

/* Does a register say how wide the access is? */
static bool register_tells(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
	int k;

	for (k = 0; k < i->operand_count_visible; k++)
		if (o[k].type == ZYDIS_OPERAND_TYPE_REGISTER && o[k].reg.value != ZYDIS_REGISTER_CL)
			return true;
	return false;
}

static const char *width(unsigned bits)
{
	return bits == 8 ? "b" : bits == 16 ? "w" : bits == 32 ? "l" : bits == 64 ? "q" : "";
}

/* Of the x87: s, l, t for reals; s, l, ll for integers. What is neither has no suffix. */
static const char *width_x87(const ZydisDecodedOperand *m)
{
	switch (m->element_type) {
	case ZYDIS_ELEMENT_TYPE_FLOAT32:
		return "s";
	case ZYDIS_ELEMENT_TYPE_FLOAT64:
		return "l";
	case ZYDIS_ELEMENT_TYPE_FLOAT80:
		return "t";
	case ZYDIS_ELEMENT_TYPE_INT:
		return m->size == 16 ? "s" : m->size == 32 ? "l" : "ll";
	default:
		return "";
	}
}

#define M(name) ZYDIS_MNEMONIC_##name
/* With a suffix where no register says how wide the access is; with one always; with one for
 * vectors that become shorter. */
static const ZydisMnemonic INTEGER[] = {M(ADC), M(ADD), M(AND), M(BT), M(BTC), M(BTR), M(BTS),
    M(CMP), M(DEC), M(DIV), M(IDIV), M(IMUL), M(INC), M(MOV), M(MUL), M(NEG), M(NOT), M(OR), M(POP),
    M(PUSH), M(RCL), M(RCR), M(ROL), M(ROR), M(SAR), M(SBB), M(SHL), M(SHR), M(SUB), M(TEST),
    M(XOR)};
static const ZydisMnemonic ALWAYS[] = {
    M(NOP), M(CVTSI2SD), M(CVTSI2SS), M(VCVTSI2SD), M(VCVTSI2SS), M(VCVTUSI2SD), M(VCVTUSI2SS)};
static const ZydisMnemonic NARROWING[] = {M(VCVTPD2DQ), M(VCVTPD2PS), M(VCVTTPD2DQ)};

static bool is_one(ZydisMnemonic m, const ZydisMnemonic *of, size_t n)
{
	while (n--)
		if (of[n] == m)
			return true;
	return false;
}
#define IS_ONE(m, of) is_one(m, of, sizeof of / sizeof *of)

static const char *suffix(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
	const ZydisDecodedOperand *m = memory_of(i, o);

	if (!m)
		return "";
	if (i->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		return width_x87(m);
	if (IS_ONE(i->mnemonic, ALWAYS) || (IS_ONE(i->mnemonic, INTEGER) && !register_tells(i, o)))
		return width(m->size);
	if (IS_ONE(i->mnemonic, NARROWING))
		return m->size == 128 ? "x" : m->size == 256 ? "y" : "";
	return "";
}

/* AT&T's assembler had these the wrong way round where the result is not in %st(0), and all have
 * kept it. */
static ZydisMnemonic as_att(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
	static const ZydisMnemonic swapped[][2] = {
	    {M(FSUB), M(FSUBR)}, {M(FSUBP), M(FSUBRP)}, {M(FDIV), M(FDIVR)}, {M(FDIVP), M(FDIVRP)}};
	size_t k;

	if (i->operand_count_visible && o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    (o[0].reg.value != ZYDIS_REGISTER_ST0 || i->opcode == 0xdc || i->opcode == 0xde))
		for (k = 0; k < sizeof swapped / sizeof *swapped; k++)
			if (i->mnemonic == swapped[k][0] || i->mnemonic == swapped[k][1])
				return swapped[k][i->mnemonic == swapped[k][0]];
	return i->mnemonic;
}

/* What AT&T's assembler calls otherwise than Intel's. */
static const char *widened(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_CBW:
		return "cbtw";
	case ZYDIS_MNEMONIC_CWDE:
		return "cwtl";
	case ZYDIS_MNEMONIC_CDQE:
		return "cltq";
	case ZYDIS_MNEMONIC_CWD:
		return "cwtd";
	case ZYDIS_MNEMONIC_CDQ:
		return "cltd";
	case ZYDIS_MNEMONIC_CQO:
		return "cqto";
	default:
		return NULL;
	}
}

/* As ZyanStringAppendFormat() would, which takes most of the time. */
static ZyanStatus append(ZyanString *to, const char *text)
{
	ZyanStringView view;

	ZYAN_CHECK(ZyanStringViewInsideBuffer(&view, text));
	return ZyanStringAppend(to, &view);
}

static ZyanStatus print_mnemonic(
    const ZydisFormatter *f, ZydisFormatterBuffer *b, ZydisFormatterContext *c)
{
	const ZydisDecodedInstruction *i = c->instruction;
	const ZydisDecodedOperand *o = c->operands;
	bool zero = i->mnemonic == ZYDIS_MNEMONIC_MOVZX;
	bool string = i->meta.category == ZYDIS_CATEGORY_STRINGOP ||
		      i->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
	char text[64];
	ZyanString *to;

	if (widened(i->mnemonic))
		snprintf(text, sizeof text, "%s", widened(i->mnemonic));
	else if (zero || i->mnemonic == ZYDIS_MNEMONIC_MOVSX)
		snprintf(text, sizeof text, "mov%c%s%s", zero ? 'z' : 's', width(o[1].size),
		    width(o[0].size));
	else if (i->mnemonic == ZYDIS_MNEMONIC_MOVSXD && o[0].size == 64)
		snprintf(text, sizeof text, "movslq");
	else
		stpcpy(stpcpy(stpcpy(text, i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? "l" : ""),
			   ZydisMnemonicGetString(as_att(i, o))),
		    suffix(i, o));
	/* stosd, lodsd, … are stosl, lodsl, …. */
	if (string && text[strlen(text) - 1] == 'd')
		text[strlen(text) - 1] = 'l';
	ZYAN_CHECK(ZydisFormatterBufferAppend(b, ZYDIS_TOKEN_MNEMONIC));
	ZYAN_CHECK(ZydisFormatterBufferGetString(b, &to));
	return append(to, text);
}

static ZyanStatus print_register(
    const ZydisFormatter *f, ZydisFormatterBuffer *b, ZydisFormatterContext *c, ZydisRegister r)
{
	ZyanString *to;

	ZYAN_CHECK(ZydisFormatterBufferAppend(b, ZYDIS_TOKEN_REGISTER));
	ZYAN_CHECK(ZydisFormatterBufferGetString(b, &to));
	if (ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_X87)
		return ZyanStringAppendFormat(to, "%%st(%d)", ZydisRegisterGetId(r));
	ZYAN_CHECK(append(to, "%"));
	return append(to, ZydisRegisterGetString(r));
}

/* Indirect targets have a star. */
static ZyanStatus before_operand(
    const ZydisFormatter *f, ZydisFormatterBuffer *b, ZydisFormatterContext *c)
{
	ZydisInstructionCategory to = c->instruction->meta.category;
	ZyanString *out;

	if ((to != ZYDIS_CATEGORY_CALL && to != ZYDIS_CATEGORY_UNCOND_BR) ||
	    (c->operand->type != ZYDIS_OPERAND_TYPE_REGISTER &&
		c->operand->type != ZYDIS_OPERAND_TYPE_MEMORY))
		return ZYAN_STATUS_SUCCESS;
	ZYAN_CHECK(ZydisFormatterBufferAppend(b, ZYDIS_TOKEN_DELIMITER));
	ZYAN_CHECK(ZydisFormatterBufferGetString(b, &out));
	return append(out, "*");
}

/* ---- all of it ---- */

static ZydisDecoder decoder;
static ZydisFormatter formatter;

static void init(void)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} set[] = {
	    {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
	    {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
	    {ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
	    {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
	    {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
	    {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
	};
	const void *mnemonic = (const void *)print_mnemonic, *reg = (const void *)print_register;
	const void *operand = (const void *)before_operand;
	size_t i;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	for (i = 0; i < sizeof set / sizeof *set; i++)
		ZydisFormatterSetProperty(&formatter, set[i].property, set[i].value);
	ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRINT_MNEMONIC, &mnemonic);
	ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRINT_REGISTER, &reg);
	ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRE_OPERAND, &operand);
}

size_t att_print(const uint8_t *p, size_t n, uint64_t address, char text[ATT_TEXT])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;

	pthread_once(&once, init);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, p, n, &i, o))) {
		/* as takes one operand of it. */
		if (i.mnemonic == ZYDIS_MNEMONIC_NOP && i.operand_count_visible == 2)
			i.operand_count_visible = 1;
		if (ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
			&formatter, &i, o, i.operand_count_visible, text, ATT_TEXT, address, NULL)))
			return i.length;
	}
	snprintf(text, ATT_TEXT, ".byte 0x%02x", *p);
	return 1;
}
