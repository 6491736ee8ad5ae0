#include "editor-driver/proof/appended/insn.h"
#include "common/le.h"

void insn_decoder_init(struct insn_decoder *d)
{
	ZydisDecoderInit(&d->full, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	d->quick = d->full;
	ZydisDecoderEnableMode(&d->quick, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
}

/* A jump or call to a distance. */
static enum insn_kind kind_of_relative(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return INSN_JMP;
	case ZYDIS_MNEMONIC_CALL:
		return INSN_CALL;
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_XBEGIN:
		return INSN_BRANCH;
	default:
		break;
	}
	if ((i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (i->opcode & 0xf0) == 0x70) ||
	    (i->opcode_map == ZYDIS_OPCODE_MAP_0F && (i->opcode & 0xf0) == 0x80))
		return INSN_JCC;
	return INSN_ODD;
}

static bool is_nop(const ZydisDecodedInstruction *i)
{
	if (i->mnemonic != ZYDIS_MNEMONIC_NOP)
		return false;
	return (i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && i->opcode == 0x90) ||
	       (i->opcode_map == ZYDIS_OPCODE_MAP_0F && i->opcode == 0x1f);
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_JMP: /* ff /4; /5 is a far one */
		return i->opcode == 0xff && i->raw.modrm.reg == 4 ? INSN_LEAVE : INSN_END;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return INSN_END;
	default:
		return is_nop(i) ? INSN_NOP : INSN_PLAIN;
	}
}

static bool is_rip_relative(const ZydisDecodedInstruction *i)
{
	return i->attributes & ZYDIS_ATTRIB_HAS_MODRM && !i->raw.modrm.mod && i->raw.modrm.rm == 5;
}

static bool is_absolute(const ZydisDecodedInstruction *i)
{
	return i->attributes & ZYDIS_ATTRIB_HAS_SIB && !i->raw.modrm.mod && i->raw.sib.base == 5 &&
	       i->raw.disp.size == 32;
}

/* jmp *T(,%reg,8), or mov T(,%reg,8), %reg */
static bool uses_table(const ZydisDecodedInstruction *i)
{
	return i->raw.sib.scale == 3 && (i->mnemonic == ZYDIS_MNEMONIC_JMP ||
					    (i->opcode == 0x8b && i->raw.rex.W &&
						i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT));
}

/* 0x66 without REX.W, which two makers of processors understand in two ways. */
static bool is_short(const ZydisDecodedInstruction *i)
{
	unsigned k;

	for (k = 0; k < i->raw.prefix_count; k++)
		if (i->raw.prefixes[k].value == 0x66 && !i->raw.rex.W)
			return true;
	return false;
}

void insn_decode(
    const struct insn_decoder *d, const uint8_t *p, uint64_t n, uint64_t addr, struct insn *out)
{
	ZydisDecodedInstruction i;

	*out = (struct insn){.kind = INSN_ODD};
	if (!n || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d->quick, NULL, p, n, &i)))
		return;
	out->len = i.length;
	out->opcode = i.raw.prefix_count;
	out->lea = i.mnemonic == ZYDIS_MNEMONIC_LEA;
	out->call = i.mnemonic == ZYDIS_MNEMONIC_CALL;
	if (i.raw.imm[0].is_relative) {
		out->field = i.raw.imm[0].offset;
		out->width = i.raw.imm[0].size / 8;
		out->to = addr + i.length +
			  (out->width == 4      ? (uint64_t)(int32_t)get_le32(p + out->field)
			      : out->width == 1 ? (uint64_t)(int8_t)p[out->field]
						: 0);
		out->cond = i.opcode & 15;
		if ((out->width == 4 || out->width == 1) && !is_short(&i))
			out->kind = kind_of_relative(&i);
		return;
	}
	out->kind = kind_of(&i);
	if (is_rip_relative(&i) && out->kind != INSN_NOP) {
		out->field = i.raw.disp.offset;
		out->width = 4;
		out->to = addr + i.length + (uint64_t)(int32_t)get_le32(p + out->field);
		if (i.raw.disp.size != 32 || i.address_width != 64)
			out->kind = INSN_ODD;
	} else if (is_absolute(&i)) {
		out->absolute = get_le32(p + i.raw.disp.offset);
		out->table = uses_table(&i) ? i.raw.disp.offset : 0;
	}
}

bool insn_operands(
    const struct insn_decoder *d, const uint8_t *p, uint64_t n, struct insn_operands *out)
{
	return n && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->full, p, n, &out->i, out->o));
}

int insn_register(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		   ? (int)(whole - ZYDIS_REGISTER_RAX)
		   : -1;
}

bool insn_is_kept(int reg)
{
	enum { RBX = 3, RSP = 4, RBP = 5, R12 = 12, R15 = 15 };

	return reg == RBX || reg == RSP || reg == RBP || (reg >= R12 && reg <= R15);
}
