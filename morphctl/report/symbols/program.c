#include "morphctl/report/symbols/program.h"
#include "common/elf/elf.h"
#include "morphctl/report/confined/confined.h"

#include <string.h>

Elf_Scn *program_section(Elf *elf, const char *name)
{
	Elf_Scn *s = NULL;
	GElf_Shdr sh;
	size_t names;
	const char *found;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((s = elf_nextscn(elf, s))) {
		if (!gelf_getshdr(s, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, sh.sh_name);
		if (found && strcmp(found, name) == 0)
			return s;
	}
	return NULL;
}

/* ---- addresses ---- */

static void add_segment(struct program *p, const GElf_Phdr *ph, uint64_t offset, uint64_t size)
{
	if (ph->p_flags & PF_X)
		vec_push(&p->segment, (struct program_segment){offset, ph->p_vaddr, size});
}

/* objcopy --only-keep-debug takes offsets and sizes away, with the code. Linkers put each segment
 * at the first offset that corresponds to its address. Returns whether the code is there. */
static bool add_segments(struct program *p, Elf *elf)
{
	GElf_Phdr ph;
	size_t n, i;
	uint64_t end = 0;
	bool taken = false;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n; i++)
		taken |= gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
			 (ph.p_flags & PF_X) && ph.p_filesz < ph.p_memsz;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (taken) {
			end += (ph.p_vaddr - end) & (ph.p_align ? ph.p_align - 1 : 0);
			add_segment(p, &ph, end, ph.p_memsz);
			end += ph.p_memsz;
		} else {
			add_segment(p, &ph, ph.p_offset, ph.p_filesz);
		}
	}
	return !taken;
}

uint64_t program_address(const struct program *p, uint64_t offset)
{
	const struct program_segment *s;

	for (s = p->segment.v; s < p->segment.v + p->segment.n; s++)
		if (offset - s->offset < s->size)
			return s->vaddr + (offset - s->offset);
	return UINT64_MAX;
}

uint64_t program_offset(const struct program *p, uint64_t vaddr)
{
	const struct program_segment *s;

	for (s = p->segment.v; s < p->segment.v + p->segment.n; s++)
		if (vaddr - s->vaddr < s->size)
			return s->offset + (vaddr - s->vaddr);
	return UINT64_MAX;
}

/* ---- opening ---- */

/* Debug files are looked for where something is missing. */
static void find_debug(struct program *p, const struct request *q, const struct build_id *id)
{
	if (program_section(p->elf[0], ".symtab") &&
	    (!q->lines || program_section(p->elf[0], ".debug_info")))
		return;
	p->elf[1] = debugfile_of_id(id);
	if (!p->elf[1])
		p->elf[1] = debugfile_of_link(p->elf[0], q->file->path, id);
}

static void open_dwarf(struct program *p, const struct request *q)
{
	bool own = program_section(p->elf[0], ".debug_info");
	Elf *elf = own ? p->elf[0] : p->elf[1], *alt;

	if (!q->lines || !program_section(elf, ".debug_info"))
		return;
	p->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	alt = p->dwarf ? debugfile_of_alt(p->dwarf, q->debug) : NULL;
	if (alt)
		dwarf_setalt(p->dwarf, dwarf_begin_elf(alt, DWARF_C_READ, NULL));
}

int program_open(struct program *p, const struct request *q, struct err *e)
{
	struct elf *f = elf_file_open(q->file->path, CONFINED_FILE, e);
	struct build_id id;
	bool own;

	*p = (struct program){0};
	if (!f)
		return err_set(e, "not an ELF file for x86-64, or damaged");
	elf_version(EV_CURRENT);
	id = elf_file_build_id(f);
	own = !q->file->id.n || build_id_equal(&id, &q->file->id);
	if (!own)
		id = q->file->id;
	p->elf[0] = own ? elf_begin(CONFINED_FILE, ELF_C_READ_MMAP, NULL) : debugfile_of_id(&id);
	if (!p->elf[0])
		return own ? err_set(e, "%s", elf_errmsg(-1)) : 0;
	p->code = add_segments(p, p->elf[0]) && own;
	find_debug(p, q, &id);
	p->elf[2] = debugfile_within(p->elf[0]);
	open_dwarf(p, q);
	return 0;
}
