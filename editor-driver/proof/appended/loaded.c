#include "editor-driver/proof/appended/loaded.h"
#include "common/publish.h"
#include "common/sort.h"

#include <string.h>

enum { HEADERS_MAX = 256 };

static int damaged(const char *path, const char *what, struct err *e)
{
	return err_set(e, "%s: damaged ELF header: %s", path, what);
}

static int read_headers(struct loaded *im, const char *path, struct err *e)
{
	const char *p = im->file.p;
	Elf64_Phdr ph;
	unsigned i;

	memcpy(&im->eh, p, sizeof im->eh);
	if (im->eh.e_phnum > HEADERS_MAX || im->eh.e_shnum == 0)
		return damaged(path, "too many program headers, or no sections", e);
	im->begin = UINT64_MAX;
	for (i = 0; i < im->eh.e_phnum; i++) {
		memcpy(&ph, p + im->eh.e_phoff + i * sizeof ph, sizeof ph);
		vec_push(&im->ph, ph);
		if (ph.p_offset > im->file.n || ph.p_filesz > im->file.n - ph.p_offset)
			return damaged(path, "a segment exceeds the file", e);
		if (ph.p_type != PT_LOAD)
			continue;
		if (ph.p_filesz > ph.p_memsz || ph.p_vaddr + ph.p_memsz < ph.p_vaddr)
			return damaged(path, "a segment has an impossible size", e);
		im->begin = ph.p_vaddr < im->begin ? ph.p_vaddr : im->begin;
		im->end = ph.p_vaddr + ph.p_memsz > im->end ? ph.p_vaddr + ph.p_memsz : im->end;
	}
	if (im->begin > im->end || im->end - im->begin >= UINT32_MAX)
		return damaged(path, "it loads nothing, or more than 4 GiB", e);
	return 0;
}

static int keep_section(const struct elf_section *s, void *arg)
{
	struct loaded *im = arg;

	vec_push(&im->section, *s);
	if (s->flags & SHF_ALLOC && s->flags & SHF_EXECINSTR && s->addr + s->size > s->addr)
		vec_push(&im->code, (struct loaded_range){s->addr, s->addr + s->size});
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct loaded_range *x = a, *y = b;

	return ORDER(x->begin, y->begin);
}

int loaded_open(struct loaded *im, const char *path, struct err *e)
{
	*im = (struct loaded){.last = NULL};
	if (file_read(path, 0, &im->file, e))
		return -1;
	im->f = elf_mem_open(im->file.p, im->file.n, path, e);
	if (!im->f || read_headers(im, path, e))
		return -1;
	if (elf_file_kind(im->f) == ELF_OBJECT || elf_file_kind(im->f) == ELF_OTHER)
		return err_set(e, "%s: neither an executable nor a shared library", path);
	if (elf_file_sections(im->f, keep_section, im))
		return err_set(e, "%s: damaged section headers", path);
	vec_sort(&im->code, by_begin);
	return 0;
}

void loaded_close(struct loaded *im)
{
	elf_file_close(im->f);
	vec_free(&im->ph);
	vec_free(&im->code);
	vec_free(&im->section);
	buf_free(&im->file);
}

const Elf64_Phdr *loaded_segment(struct loaded *im, uint64_t addr)
{
	size_t i;

	if (im->last && addr - im->last->p_vaddr < im->last->p_memsz)
		return im->last;
	for (i = 0; i < im->ph.n; i++)
		if (im->ph.v[i].p_type == PT_LOAD &&
		    addr - im->ph.v[i].p_vaddr < im->ph.v[i].p_memsz)
			return im->last = &im->ph.v[i];
	return NULL;
}

const uint8_t *loaded_bytes(struct loaded *im, uint64_t addr, uint64_t *n)
{
	const Elf64_Phdr *ph = loaded_segment(im, addr);

	*n = ph && addr - ph->p_vaddr < ph->p_filesz ? ph->p_filesz - (addr - ph->p_vaddr) : 0;
	return *n ? (const uint8_t *)im->file.p + ph->p_offset + (addr - ph->p_vaddr) : NULL;
}

const uint8_t *loaded_at(struct loaded *im, uint64_t addr, uint64_t n)
{
	uint64_t there;
	const uint8_t *p = loaded_bytes(im, addr, &there);

	return n <= there ? p : NULL;
}

bool loaded_is_code(const struct loaded *im, uint64_t addr)
{
	size_t n = partition_point(0, im->code.n, i, im->code.v[i].begin <= addr);

	return n && addr < im->code.v[n - 1].end;
}

bool loaded_is_constant(struct loaded *im, uint64_t addr)
{
	const Elf64_Phdr *ph = loaded_segment(im, addr);

	return ph && !(ph->p_flags & PF_W);
}

bool loaded_is_packed(const struct loaded *im)
{
	size_t i;

	for (i = 0; i < im->section.n && im->section.v[i].type != SHT_RELR; i++)
		;
	return i < im->section.n;
}

bool loaded_has_words(const struct loaded *im)
{
	return im->eh.e_type == ET_EXEC || loaded_is_packed(im);
}
