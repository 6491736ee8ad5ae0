/*
 * Small programs made by hand, to which code is added: f() gives 1 and the program exits with what
 *it gives. One page of headers and code, one of data.
 *
 *	0x000 ELF header, program headers	0x400 notes
 *	0x500 code				0x600 .eh_frame, .eh_frame_hdr
 *	0x1000 data, and zeroes after it	0x2000 symbols, names, section headers
 */
#ifndef TEST_HANDMADE_H
#define TEST_HANDMADE_H

#include "common/elf/buildid.h"
#include "common/le.h"
#include "common/mem.h"

#include <elf.h>
#include <string.h>

struct handmade {
	uint64_t base;    /* 0: ET_DYN */
	bool spare;       /* a note of properties that PT_GNU_PROPERTY says as well */
	bool phdr, index; /* PT_PHDR, PT_GNU_EH_FRAME */
	bool sections, symbols, one_strings;
	bool cet;
	uint64_t zeroes; /* bytes of data that are not in the file */
	uint8_t id;      /* bytes of the build-id */
};

enum {
	MADE_NOTES = 0x400,
	MADE_ID = MADE_NOTES + 0x30, /* its bytes */
	MADE_CODE = 0x500,
	MADE_F = MADE_CODE + 0x20,
	MADE_FRAMES = 0x600,
	MADE_INDEX = 0x680,
	MADE_DATA = 0x1000,
	MADE_END = 0x2000
};

static void made_frames(const struct handmade *h, uint8_t *p)
{
	static const uint8_t cie[] = {
	    20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0};
	static const uint8_t code[] = {0, 0x20}, size[] = {0x20, 0x10};
	uint8_t *at = p + MADE_FRAMES;
	unsigned i;

	memcpy(at, cie, sizeof cie);
	at += sizeof cie;
	for (i = 0; i < 2; i++, at += 20) {
		put_le32(at, 16);
		put_le32(at + 4, (uint32_t)(at + 4 - (p + MADE_FRAMES)));
		put_le32(at + 8, (uint32_t)(p + MADE_CODE + code[i] - (at + 8)));
		put_le32(at + 12, size[i]);
	}
	if (!h->index)
		return;
	memcpy(p + MADE_INDEX, "\1\x1b\3\x3b", 4);
	put_le32(p + MADE_INDEX + 4, (uint32_t)(MADE_FRAMES - MADE_INDEX - 4));
}

static void made_code(const struct handmade *h, uint8_t *p)
{
	/* call f; mov %eax, %edi; mov $60, %eax; syscall */
	static const uint8_t begin[] = {
	    0xe8, 0x1b, 0, 0, 0, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t f[] = {0xb8, 1, 0, 0, 0, 0xc3};

	memcpy(p + MADE_CODE, begin, sizeof begin);
	if (h->cet)
		memcpy(p + MADE_F, endbr64, sizeof endbr64);
	memcpy(p + MADE_F + (h->cet ? sizeof endbr64 : 0), f, sizeof f);
}

static void made_notes(const struct handmade *h, uint8_t *p)
{
	static const uint8_t property[] = {4, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, 'G', 'N', 'U', 0, 2,
	    0, 0, 0xc0, 4, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
	uint8_t *note = p + MADE_ID - 16;

	memcpy(p + MADE_NOTES, property, sizeof property);
	put_le32(note, 4);
	put_le32(note + 4, h->id);
	put_le32(note + 8, NT_GNU_BUILD_ID);
	memcpy(note + 12, "GNU", 4);
	memset(note + 16, 0xab, h->id);
}

static void made_segments(const struct handmade *h, uint8_t *p, Elf64_Ehdr *eh)
{
	const Elf64_Phdr all[] = {
	    {PT_PHDR, PF_R, sizeof *eh, 0, 0, 0, 0, 8},
	    {PT_LOAD, PF_R | PF_X, 0, 0, 0, MADE_DATA, MADE_DATA, 0x1000},
	    {PT_LOAD, PF_R | PF_W, MADE_DATA, 0, 0, 0x100, 0x100 + h->zeroes, 0x1000},
	    {PT_NOTE, PF_R, MADE_NOTES, 0, 0, 32, 32, 8},
	    {PT_NOTE, PF_R, MADE_ID - 16, 0, 0, 16 + h->id, 16 + h->id, 4},
	    {PT_GNU_PROPERTY, PF_R, MADE_NOTES, 0, 0, 32, 32, 8},
	    {PT_GNU_EH_FRAME, PF_R, MADE_INDEX, 0, 0, 8, 8, 4},
	    {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16},
	};
	Elf64_Phdr ph;
	unsigned i;

	for (i = 0; i < sizeof all / sizeof *all; i++) {
		ph = all[i];
		if ((ph.p_type == PT_PHDR && !h->phdr) ||
		    (ph.p_type == PT_GNU_EH_FRAME && !h->index) ||
		    (ph.p_offset == MADE_NOTES && !h->spare))
			continue;
		if (ph.p_type != PT_GNU_STACK)
			ph.p_vaddr = ph.p_paddr = h->base + ph.p_offset;
		memcpy(p + sizeof *eh + eh->e_phnum++ * sizeof ph, &ph, sizeof ph);
	}
	if (h->phdr) {
		ph = all[0];
		ph.p_vaddr = ph.p_paddr = h->base + ph.p_offset;
		ph.p_filesz = ph.p_memsz = eh->e_phnum * sizeof ph;
		memcpy(p + sizeof *eh, &ph, sizeof ph);
	}
}

/* The names of sections, one after the other, and the offset of each. */
static const char MADE_NAMES[] =
    "\0.text\0.eh_frame\0.note.gnu.build-id\0.eh_frame_hdr\0.symtab\0.strtab\0.shstrtab";

static uint32_t made_name(const char *name)
{
	return (
	    uint32_t)((const char *)memmem(MADE_NAMES, sizeof MADE_NAMES, name, strlen(name) + 1) -
		      MADE_NAMES);
}

static void made_section(struct buf *out, const struct handmade *h, const char *name, uint32_t type,
    uint64_t flags, uint64_t at, uint64_t n)
{
	Elf64_Shdr sh = {.sh_name = made_name(name),
	    .sh_type = type,
	    .sh_flags = flags,
	    .sh_addr = flags ? h->base + at : 0,
	    .sh_offset = at,
	    .sh_size = n,
	    .sh_addralign = 1,
	    .sh_link = type == SHT_SYMTAB ? (h->one_strings ? 7 : 6) : 0,
	    .sh_info = type == SHT_SYMTAB,
	    .sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0};

	buf_add(out, &sh, sizeof sh);
}

static void made_sections(const struct handmade *h, struct buf *out, Elf64_Ehdr *eh)
{
	const Elf64_Sym sym[2] = {{0}, {.st_name = h->one_strings ? made_name(".text") : 1,
					   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					   .st_shndx = 1,
					   .st_value = h->base + MADE_F,
					   .st_size = 0x10}};
	uint64_t symbols = out->n, strings, names;
	const Elf64_Shdr none = {0};

	buf_add(out, sym, sizeof sym);
	strings = out->n;
	buf_add(out, "\0f", 3);
	names = out->n;
	buf_add(out, MADE_NAMES, sizeof MADE_NAMES);
	while (out->n % 8)
		buf_char(out, 0);
	eh->e_shoff = out->n;
	eh->e_shnum = 8;
	eh->e_shentsize = sizeof none;
	eh->e_shstrndx = 7;
	buf_add(out, &none, sizeof none);
	made_section(out, h, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, MADE_CODE, 0x40);
	made_section(out, h, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, MADE_FRAMES, 64);
	made_section(out, h, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, MADE_ID - 16, 16 + h->id);
	made_section(out, h, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, MADE_INDEX, 8);
	made_section(
	    out, h, ".symtab", h->symbols ? SHT_SYMTAB : SHT_PROGBITS, 0, symbols, sizeof sym);
	made_section(out, h, ".strtab", SHT_STRTAB, 0, strings, 3);
	made_section(out, h, ".shstrtab", SHT_STRTAB, 0, names, sizeof MADE_NAMES);
}

static void handmade_bytes(const struct handmade *h, struct buf *out)
{
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = h->base ? ET_EXEC : ET_DYN,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT,
	    .e_entry = h->base + MADE_CODE,
	    .e_phoff = sizeof eh,
	    .e_ehsize = sizeof eh,
	    .e_phentsize = sizeof(Elf64_Phdr)};
	uint8_t *p = buf_grow(out, h->sections ? MADE_END : MADE_DATA + 0x100);

	memset(p, 0, out->n);
	made_notes(h, p);
	made_code(h, p);
	made_frames(h, p);
	made_segments(h, p, &eh);
	if (h->sections)
		made_sections(h, out, &eh);
	memcpy(out->p, &eh, sizeof eh);
}

static struct build_id handmade_id(const struct handmade *h)
{
	struct build_id id = {.n = h->id};

	memset(id.b, 0xab, h->id);
	return id;
}

#endif
