#include "common/elf/elf.h"

#include <elf.h>
#include <string.h>

/*
 * The copy: everything up to the end of the last allocated section stays where
 * it was, with zeros for what no linker reads; after it the section names and
 * the section headers. Sections that are not allocated become SHT_NULL.
 */

struct thin {
	const uint8_t *p;
	size_t n, alloc_end;
	Elf64_Ehdr eh;
	Elf64_Shdr *sh;
};

static bool inside(const struct thin *t, uint64_t at, uint64_t size)
{
	return at <= t->n && size <= t->n - at;
}

static bool has_bytes(const Elf64_Shdr *sh)
{
	return sh->sh_type != SHT_NULL && sh->sh_type != SHT_NOBITS;
}

/* What a linker reads of the bytes of an allocated section. */
static bool kept(const Elf64_Shdr *sh)
{
	switch (sh->sh_type) {
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_DYNAMIC:
	case SHT_GNU_versym:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed:
	case SHT_NOTE:
		return true;
	default:
		return false;
	}
}

static int thin_read(struct thin *t, struct arena *a, struct err *e)
{
	unsigned i;

	if (t->n < sizeof t->eh || memcmp(t->p, ELFMAG, SELFMAG))
		return err_set(e, "not an ELF file");
	memcpy(&t->eh, t->p, sizeof t->eh);
	if (t->eh.e_ident[EI_CLASS] != ELFCLASS64 || t->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    t->eh.e_machine != EM_X86_64 || t->eh.e_type != ET_DYN)
		return err_set(e, "not a shared library for x86-64");
	if (t->eh.e_shentsize != sizeof *t->sh || !t->eh.e_shnum ||
	    t->eh.e_shstrndx >= t->eh.e_shnum ||
	    !inside(t, t->eh.e_shoff, (uint64_t)t->eh.e_shnum * sizeof *t->sh) ||
	    !inside(t, t->eh.e_phoff, (uint64_t)t->eh.e_phnum * t->eh.e_phentsize))
		return err_set(e, "damaged ELF header");
	t->sh = arena_array(a, t->eh.e_shnum, sizeof *t->sh);
	memcpy(t->sh, t->p + t->eh.e_shoff, t->eh.e_shnum * sizeof *t->sh);
	if (t->sh[t->eh.e_shstrndx].sh_type != SHT_STRTAB)
		return err_set(e, "damaged ELF header: no section names");
	t->alloc_end = t->eh.e_phoff + (size_t)t->eh.e_phnum * t->eh.e_phentsize;
	for (i = 0; i < t->eh.e_shnum; i++) {
		const Elf64_Shdr *sh = &t->sh[i];

		if (has_bytes(sh) && !inside(t, sh->sh_offset, sh->sh_size))
			return err_set(e, "damaged ELF header: section %u exceeds the file", i);
		if (has_bytes(sh) && (sh->sh_flags & SHF_ALLOC) &&
		    sh->sh_offset + sh->sh_size > t->alloc_end)
			t->alloc_end = sh->sh_offset + sh->sh_size;
	}
	return 0;
}

/* The section of a type, or NULL. */
static Elf64_Shdr *section_of_type(struct thin *t, uint32_t type)
{
	unsigned i;

	for (i = 0; i < t->eh.e_shnum; i++)
		if (t->sh[i].sh_type == type)
			return &t->sh[i];
	return NULL;
}

static void align(struct buf *out, size_t begin)
{
	while ((out->n - begin) % 8)
		buf_char(out, 0);
}

/* Moves .dynamic and its strings to the end, with a DT_SONAME more. */
static void give_name(struct thin *t, const char *name, struct buf *out, size_t begin)
{
	Elf64_Shdr *dynamic = section_of_type(t, SHT_DYNAMIC), *strings;
	Elf64_Dyn dyn, soname = {.d_tag = DT_SONAME}, end = {.d_tag = DT_NULL};
	size_t at, from;
	uint8_t *to;

	if (!dynamic || dynamic->sh_link >= t->eh.e_shnum)
		return;
	strings = &t->sh[dynamic->sh_link];
	if (strings->sh_type != SHT_STRTAB)
		return;
	align(out, begin);
	from = out->n;
	for (at = 0; at + sizeof dyn <= dynamic->sh_size; at += sizeof dyn) {
		memcpy(&dyn, t->p + dynamic->sh_offset + at, sizeof dyn);
		if (dyn.d_tag == DT_SONAME) {
			out->n = from;
			return;
		}
		if (dyn.d_tag == DT_NULL)
			break;
		buf_add(out, &dyn, sizeof dyn);
	}
	soname.d_un.d_val = strings->sh_size;
	buf_add(out, &soname, sizeof soname);
	buf_add(out, &end, sizeof end);
	dynamic->sh_offset = from - begin;
	dynamic->sh_size = out->n - from;
	from = out->n;
	/* From the copy: they may be the section names, which have moved. */
	to = buf_grow(out, strings->sh_size);
	memcpy(to, out->p + begin + strings->sh_offset, strings->sh_size);
	buf_add(out, name, strlen(name) + 1);
	strings->sh_offset = from - begin;
	strings->sh_size = out->n - from;
}

static void thin_write(struct thin *t, const char *name, struct buf *out)
{
	size_t begin = out->n;
	Elf64_Shdr *names = &t->sh[t->eh.e_shstrndx], *sh;
	unsigned i;

	memset(buf_grow(out, t->alloc_end), 0, t->alloc_end);
	memcpy(out->p + begin + t->eh.e_phoff, t->p + t->eh.e_phoff,
	    (size_t)t->eh.e_phnum * t->eh.e_phentsize);
	for (i = 0; i < t->eh.e_shnum; i++) {
		sh = &t->sh[i];
		if ((sh->sh_flags & SHF_ALLOC) && has_bytes(sh) && kept(sh))
			memcpy(out->p + begin + sh->sh_offset, t->p + sh->sh_offset, sh->sh_size);
		if (!(sh->sh_flags & SHF_ALLOC) && sh != names)
			*sh = (Elf64_Shdr){.sh_name = sh->sh_name};
	}
	buf_add(out, t->p + names->sh_offset, names->sh_size);
	names->sh_offset = t->alloc_end;
	if (name)
		give_name(t, name, out, begin);
	align(out, begin);
	t->eh.e_shoff = out->n - begin;
	buf_add(out, t->sh, t->eh.e_shnum * sizeof *t->sh);
	memcpy(out->p + begin, &t->eh, sizeof t->eh);
}

int elf_thin_shared(const void *p, size_t n, const char *name, struct buf *out, struct err *e)
{
	struct thin t = {.p = p, .n = n};
	struct arena a = {0};
	int r = thin_read(&t, &a, e);

	if (!r)
		thin_write(&t, name, out);
	arena_free(&a);
	return r;
}
