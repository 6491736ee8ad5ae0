#include "common/elf/elf.h"

#include <elf.h>
#include <string.h>

struct image {
	const uint8_t *p;
	size_t n, end;
	Elf64_Ehdr eh;
};

static int damaged(struct err *e)
{
	return err_set(e, "damaged ELF header");
}

static int reach(struct image *m, uint64_t at, uint64_t size, struct err *e)
{
	if (at > m->n || size > m->n - at)
		return damaged(e);
	if (at + size > m->end)
		m->end = at + size;
	return 0;
}

static int read_header(struct image *m, struct err *e)
{
	if (m->n < sizeof m->eh || memcmp(m->p, ELFMAG, SELFMAG))
		return err_set(e, "not an ELF file");
	memcpy(&m->eh, m->p, sizeof m->eh);
	if (m->eh.e_ident[EI_CLASS] != ELFCLASS64 || m->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    m->eh.e_machine != EM_X86_64)
		return err_set(e, "not an ELF file for x86-64");
	if ((m->eh.e_phnum && m->eh.e_phentsize != sizeof(Elf64_Phdr)) ||
	    (m->eh.e_shnum && m->eh.e_shentsize != sizeof(Elf64_Shdr)))
		return damaged(e);
	m->end = sizeof m->eh;
	if (reach(m, m->eh.e_phoff, m->eh.e_phnum * sizeof(Elf64_Phdr), e) < 0 ||
	    reach(m, m->eh.e_shoff, m->eh.e_shnum * sizeof(Elf64_Shdr), e) < 0)
		return -1;
	return 0;
}

static int read_sections(struct image *m, struct err *e)
{
	Elf64_Shdr sh;
	unsigned i;

	for (i = 0; i < m->eh.e_shnum; i++) {
		memcpy(&sh, m->p + m->eh.e_shoff + i * sizeof sh, sizeof sh);
		if (sh.sh_type != SHT_NULL && sh.sh_type != SHT_NOBITS &&
		    reach(m, sh.sh_offset, sh.sh_size, e) < 0)
			return -1;
	}
	return 0;
}

static void forget_sections(Elf64_Ehdr *eh)
{
	eh->e_shoff = 0;
	eh->e_shnum = eh->e_shstrndx = 0;
}

/* The program headers, but for where in the file what is only found in memory is: strip corrects
 * what mold writes there. */
static void add_headers(const struct image *m, struct buf *out)
{
	Elf64_Phdr ph;
	unsigned i;

	for (i = 0; i < m->eh.e_phnum; i++) {
		memcpy(&ph, m->p + m->eh.e_phoff + i * sizeof ph, sizeof ph);
		if (ph.p_type == PT_TLS || ph.p_type == PT_GNU_RELRO)
			ph.p_offset = 0;
		buf_add(out, &ph, sizeof ph);
	}
}

static int add_segments(struct image *m, struct buf *out, struct err *e)
{
	Elf64_Ehdr eh = m->eh;
	uint64_t total = 0, headers = m->eh.e_phnum * sizeof(Elf64_Phdr);
	size_t was, begin = out->n;
	Elf64_Phdr ph;
	unsigned i;

	forget_sections(&eh);
	buf_add(out, &eh, sizeof eh);
	add_headers(m, out);
	for (i = 0; i < m->eh.e_phnum; i++) {
		memcpy(&ph, m->p + m->eh.e_phoff + i * sizeof ph, sizeof ph);
		if (reach(m, ph.p_offset, ph.p_filesz, e) < 0)
			return -1;
		if (ph.p_type != PT_LOAD)
			continue;
		total += ph.p_filesz;
		if (total > m->n)
			return err_set(e, "segments overlap in the file");
		was = out->n;
		buf_add(out, m->p + ph.p_offset, ph.p_filesz);
		if (!ph.p_offset && ph.p_filesz >= sizeof eh)
			memcpy(out->p + was, &eh, sizeof eh);
		if (!ph.p_offset && ph.p_filesz >= m->eh.e_phoff + headers)
			memcpy(out->p + was + m->eh.e_phoff, out->p + begin + sizeof eh, headers);
	}
	return 0;
}

int elf_image(const void *p, size_t n, struct buf *out, size_t *surplus, struct err *e)
{
	struct image m = {.p = p, .n = n};
	size_t was = out->n;

	if (!read_header(&m, e) && !read_sections(&m, e) && !add_segments(&m, out, e)) {
		*surplus = n - m.end;
		return 0;
	}
	out->n = was;
	return -1;
}
