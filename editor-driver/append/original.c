#include "editor-driver/append/original.h"
#include "common/elf/elf.h"
#include "common/le.h"
#include "common/publish.h"
#include "editor-driver/proof/verify.h"

#include <string.h>

/* Far below what the kernel gives to programs. */
static const uint64_t ADDRESS_MAX = (uint64_t)1 << 46;

static int odd(const struct original *o, const char *what, struct err *e)
{
	return err_set(e, "%s: code cannot be added to it: %s", o->path, what);
}

/* ---- segments and sections ---- */

static int read_loads(struct original *o, struct err *e)
{
	const Elf64_Phdr *p;

	for (p = o->segment.v; p < o->segment.v + o->segment.n; p++) {
		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_vaddr < o->end || p->p_vaddr > ADDRESS_MAX || p->p_memsz > ADDRESS_MAX ||
		    p->p_filesz > p->p_memsz)
			return odd(o, "its segments are not ascending, or overlap", e);
		if ((p->p_vaddr - p->p_offset) % PAGE)
			return odd(o, "a segment is not at its place in a page", e);
		o->end = p->p_vaddr + p->p_memsz;
	}
	return o->end ? 0 : odd(o, "nothing of it is loaded", e);
}

static int read_sections(struct original *o, struct err *e)
{
	const Elf64_Ehdr *eh = &o->eh;
	const Elf64_Shdr *names;
	unsigned i;

	if (!eh->e_shnum)
		return eh->e_shoff ? odd(o, "it has too many sections", e) : 0;
	for (i = 0; i < eh->e_shnum; i++) {
		vec_push(&o->section, (Elf64_Shdr){0});
		memcpy(&o->section.v[i], o->file.p + eh->e_shoff + i * sizeof(Elf64_Shdr),
		    sizeof(Elf64_Shdr));
	}
	if (eh->e_shstrndx >= eh->e_shnum)
		return odd(o, "its sections have no names", e);
	names = &o->section.v[eh->e_shstrndx];
	if (names->sh_type != SHT_STRTAB || !names->sh_size ||
	    o->file.p[names->sh_offset + names->sh_size - 1])
		return odd(o, "its sections have no names", e);
	return 0;
}

const char *original_section_name(const struct original *o, size_t i)
{
	const Elf64_Shdr *names = &o->section.v[o->eh.e_shstrndx];
	uint32_t at = o->section.v[i].sh_name;

	return at < names->sh_size ? o->file.p + names->sh_offset + at : "";
}

const uint8_t *original_from(const struct original *o, uint64_t addr, uint32_t flags, uint64_t *n)
{
	const Elf64_Phdr *p;

	for (p = o->segment.v; p < o->segment.v + o->segment.n; p++)
		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && addr >= p->p_vaddr &&
		    addr - p->p_vaddr < p->p_filesz) {
			*n = p->p_filesz - (addr - p->p_vaddr);
			return (const uint8_t *)o->file.p + p->p_offset + (addr - p->p_vaddr);
		}
	return NULL;
}

const uint8_t *original_at(const struct original *o, uint64_t addr, uint64_t n, uint32_t flags)
{
	uint64_t all;
	const uint8_t *p = original_from(o, addr, flags, &all);

	return p && n <= all ? p : NULL;
}

/* ---- unwind information ---- */

/* To the record that ends it, or the end of what is there. */
static void cut_frames(struct eh_frames *s)
{
	uint64_t at = 0, n;

	while (at + 4 <= s->size && (n = get_le32(s->p + at)) && n <= s->size - at - 4)
		at += 4 + n;
	s->size = at;
}

/* By its index, where no section says where it is. */
static int find_frames(struct original *o, struct err *e)
{
	enum { INDEX = 8, VERSION = 1, PCREL_SDATA4 = 0x1b };
	const Elf64_Phdr *p = o->segment.v, *end = p + o->segment.n;
	const uint8_t *index;

	while (p < end && p->p_type != PT_GNU_EH_FRAME)
		p++;
	index = p < end ? original_at(o, p->p_vaddr, INDEX, PF_R) : NULL;
	if (!index || index[0] != VERSION || index[1] != PCREL_SDATA4)
		return odd(o, "it has no unwind information", e);
	o->frames.addr = p->p_vaddr + 4 + (uint64_t)(int32_t)get_le32(index + 4);
	o->frames.p = original_from(o, o->frames.addr, PF_R, &o->frames.size);
	if (!o->frames.p)
		return odd(o, "it has no unwind information", e);
	cut_frames(&o->frames);
	return 0;
}

static int read_frames(struct original *o, struct err *e)
{
	const Elf64_Shdr *s;
	size_t i;

	for (i = 0; i < o->section.n; i++) {
		s = &o->section.v[i];
		if (strcmp(original_section_name(o, i), ".eh_frame") != 0 ||
		    !(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_NOBITS)
			continue;
		o->frames = (struct eh_frames){
		    (const uint8_t *)o->file.p + s->sh_offset, s->sh_size, s->sh_addr, 0};
		return 0;
	}
	return find_frames(o, e);
}

/* ---- all of it ---- */

static int read_id(struct original *o, struct err *e)
{
	struct elf *f = elf_mem_open(o->file.p, o->file.n, o->path, e);
	int rc = f ? 0 : -1;

	if (f) {
		o->id_n = elf_file_build_id_note(f, &o->id_at).n;
		if (!o->id_n)
			rc = odd(o, "it has no build-id", e);
		else if (elf_file_origin(f).n)
			rc = odd(o, "it was laid out already", e);
	}
	elf_file_close(f);
	return rc;
}

static int read_headers(struct original *o, struct err *e)
{
	unsigned i;

	memcpy(&o->eh, o->file.p, sizeof o->eh);
	for (i = 0; i < o->eh.e_phnum; i++) {
		vec_push(&o->segment, (Elf64_Phdr){0});
		memcpy(&o->segment.v[i], o->file.p + o->eh.e_phoff + i * sizeof(Elf64_Phdr),
		    sizeof(Elf64_Phdr));
	}
	if (o->eh.e_type != ET_EXEC && o->eh.e_type != ET_DYN)
		return odd(o, "it is neither an executable nor a shared library", e);
	return read_loads(o, e) || read_sections(o, e) || read_frames(o, e) ? -1 : 0;
}

int original_parse(struct buf *file, const char *path, const struct build_id *id,
    struct original *o, struct err *e)
{
	bool stripped;

	*o = (struct original){.path = path, .file = *file};
	*file = (struct buf){0};
	return verify_replaced_bytes(&o->file, path, id, &stripped, e) || read_id(o, e) ||
		       read_headers(o, e)
		   ? -1
		   : 0;
}

int original_read(const char *path, const struct build_id *id, struct original *o, struct err *e)
{
	struct buf file = {0};

	*o = (struct original){.path = path};
	if (!file_read(path, 0, &file, e))
		return original_parse(&file, path, id, o, e);
	buf_free(&file);
	return -1;
}

void original_free(struct original *o)
{
	vec_free(&o->segment);
	vec_free(&o->section);
	buf_free(&o->file);
}
