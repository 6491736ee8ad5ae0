#include "lifter/decode.h"

#include <Zydis/Zydis.h>
#include <pthread.h>

static ZydisDecoder decoder;

static void init(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static bool is_relative(const ZydisDecodedInstruction *z)
{
	return z->raw.imm[0].is_relative;
}

/* Processors differ in what 16 bits of distance mean. */
static enum code_kind near(const ZydisDecodedInstruction *z, enum code_kind kind)
{
	return z->raw.imm[0].size == 16 ? CODE_ODD : kind;
}

static enum code_kind branch(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		return CODE_SHORT;
	default:
		return is_relative(z) ? near(z, CODE_JCC) : CODE_ODD;
	}
}

static enum code_kind kind_of(const ZydisDecodedInstruction *z)
{
	bool far = z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	switch (z->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return far ? CODE_OTHER : is_relative(z) ? near(z, CODE_CALL) : CODE_CALL_IND;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return is_relative(z) ? near(z, CODE_JMP) : CODE_JMP_IND;
	case ZYDIS_CATEGORY_COND_BR:
		return z->mnemonic == ZYDIS_MNEMONIC_XBEGIN ? CODE_SHORT : branch(z);
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSRET:
		return CODE_RET;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_XBEGIN:
		return CODE_SHORT;
	case ZYDIS_MNEMONIC_NOP:
		return CODE_NOP;
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return CODE_STOP;
	default:
		return is_relative(z) ? CODE_ODD : CODE_OTHER;
	}
}

static bool uses_table(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_SIB && !z->raw.modrm.mod && z->raw.sib.base == 5 &&
	       z->raw.sib.scale == 3 && z->raw.disp.size == 32 &&
	       (z->mnemonic == ZYDIS_MNEMONIC_JMP ||
		   (z->mnemonic == ZYDIS_MNEMONIC_MOV && z->operand_width == 64));
}

bool code_decode(const uint8_t *p, uint64_t n, struct code *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	ZydisDecodedInstruction z;

	pthread_once(&once, init);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, p, n, &z)))
		return false;
	*out = (struct code){.len = z.length & 15, .kind = (uint8_t)kind_of(&z)};
	out->lea = z.mnemonic == ZYDIS_MNEMONIC_LEA;
	out->movslq = z.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	out->endbr = z.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
	if (out->kind == CODE_JCC)
		out->cond = z.opcode & 15;
	if (is_relative(&z)) {
		out->distance = (int32_t)z.raw.imm[0].value.s;
		out->field = z.raw.imm[0].size == 32 ? z.raw.imm[0].offset : 0;
		out->prefixed = z.raw.prefix_count > 0;
	} else if (z.attributes & ZYDIS_ATTRIB_HAS_MODRM && !z.raw.modrm.mod &&
		   z.raw.modrm.rm == 5) {
		out->distance = (int32_t)z.raw.disp.value;
		out->field = z.raw.disp.offset;
		if (z.address_width != 64 || z.raw.disp.size != 32)
			out->kind = CODE_ODD;
	} else if (uses_table(&z)) {
		out->distance = (int32_t)z.raw.disp.value;
		out->absolute = true;
	}
	return true;
}
