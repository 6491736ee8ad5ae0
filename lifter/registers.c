#include "lifter/registers.h"

#include <Zydis/Zydis.h>
#include <pthread.h>

static ZydisDecoder decoder;

static void init(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static uint8_t number_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		   ? (uint8_t)(whole - ZYDIS_REGISTER_RAX)
		   : NO_REGISTER;
}

static uint16_t bit(uint8_t reg)
{
	return reg == NO_REGISTER ? 0 : (uint16_t)(1u << reg);
}

static bool is_register(const ZydisDecodedOperand *o, unsigned size)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) != NO_REGISTER &&
	       (!size || o->size == size);
}

static void use(const ZydisDecodedOperand *o, struct registers *out)
{
	uint16_t reg;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		out->reads |= bit(number_of(o->mem.base)) | bit(number_of(o->mem.index));
		return;
	}
	if (!is_register(o, 0))
		return;
	reg = bit(number_of(o->reg.value));
	if (o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE))
		out->reads |= reg;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		out->writes |= reg;
}

/* Memory at index * scale, with a base in a register, or (absolute) a displacement alone. */
static bool table_operand(const ZydisDecodedOperand *o, unsigned scale, bool absolute)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
	       number_of(o->mem.index) != NO_REGISTER && o->mem.scale == scale &&
	       (o->mem.segment == ZYDIS_REGISTER_DS || o->mem.segment == ZYDIS_REGISTER_SS) &&
	       (absolute ? o->mem.base == ZYDIS_REGISTER_NONE && o->mem.disp.has_displacement
			 : number_of(o->mem.base) != NO_REGISTER &&
			       (!o->mem.disp.has_displacement || !o->mem.disp.value));
}

static void load(const ZydisDecodedOperand *o, enum form form, struct registers *out)
{
	out->form = form;
	out->dst =
	    o[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(o[0].reg.value) : NO_REGISTER;
	out->src = number_of(o[form == FORM_JUMP8 ? 0 : 1].mem.base);
	out->index = number_of(o[form == FORM_JUMP8 ? 0 : 1].mem.index);
}

static void two(const ZydisDecodedOperand *o, enum form form, struct registers *out)
{
	out->form = form;
	out->dst = number_of(o[0].reg.value);
	out->src = number_of(o[1].reg.value);
}

static void with_number(const ZydisDecodedOperand *o, enum form form, struct registers *out)
{
	out->form = form;
	out->dst = out->src = number_of(o[0].reg.value);
	out->number = o[1].imm.value.s;
}

static void find_move(
    const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct registers *out)
{
	bool wide = is_register(&o[0], 64);

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		if (wide && o[1].mem.base == ZYDIS_REGISTER_RIP) {
			out->form = FORM_LEA;
			out->dst = number_of(o[0].reg.value);
		}
		break;
	case ZYDIS_MNEMONIC_MOVSXD:
		if (wide && table_operand(&o[1], 4, false))
			load(o, FORM_LOAD4, out);
		break;
	case ZYDIS_MNEMONIC_MOV:
		if (wide && table_operand(&o[1], 8, true))
			load(o, FORM_LOAD8, out);
		else if (is_register(&o[0], 0) && o[0].size >= 32 && is_register(&o[1], 0))
			two(o, FORM_COPY, out);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		if (is_register(&o[1], 0))
			two(o, FORM_COPY, out);
		break;
	default:
		break;
	}
}

static void find_form(
    const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct registers *out)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		if (is_register(&o[0], 64) && is_register(&o[1], 64))
			two(o, FORM_ADD, out);
		break;
	case ZYDIS_MNEMONIC_JMP:
		if (is_register(&o[0], 64)) {
			out->form = FORM_JUMP;
			out->src = number_of(o[0].reg.value);
		} else if (table_operand(&o[0], 8, true)) {
			load(o, FORM_JUMP8, out);
		}
		break;
	case ZYDIS_MNEMONIC_CMP:
		if (is_register(&o[0], 0) && o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			with_number(o, FORM_COMPARE, out);
		break;
	case ZYDIS_MNEMONIC_AND:
		if (is_register(&o[0], 0) && o[0].size >= 32 &&
		    o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			with_number(o, FORM_MASK, out);
		break;
	default:
		find_move(z, o, out);
	}
}

/* Whatever was in the register, it is 0 now. */
static bool clears(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	return (z->mnemonic == ZYDIS_MNEMONIC_XOR || z->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       is_register(&o[0], 0) && is_register(&o[1], 0) && o[0].size >= 32 &&
	       o[0].reg.value == o[1].reg.value;
}

void registers_read(const uint8_t *p, unsigned n, struct registers *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT] = {0};
	ZydisDecodedInstruction z;
	unsigned i;

	pthread_once(&once, init);
	*out = (struct registers){
	    .dst = NO_REGISTER, .src = NO_REGISTER, .index = NO_REGISTER, .reads = UINT16_MAX};
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, p, n, &z, o)))
		return;
	out->reads = 0;
	for (i = 0; i < z.operand_count; i++)
		use(&o[i], out);
	if (clears(&z, o))
		out->reads &= (uint16_t)~bit(number_of(o[0].reg.value));
	out->sets_flags = z.cpu_flags && (z.cpu_flags->modified | z.cpu_flags->set_0 |
					     z.cpu_flags->set_1 | z.cpu_flags->undefined);
	find_form(&z, o, out);
}
