#include "common/elf/file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* ---- libelf, which sees nothing that elf.c has not bounded ---- */

static bool elf_sections_open(struct elf *f)
{
	size_t n;

	if (f->lib)
		return true;
	elf_version(EV_CURRENT);
	f->lib = f->mem ? elf_memory((char *)f->mem, f->size) : elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->lib || elf_kind(f->lib) != ELF_K_ELF || elf_getshdrnum(f->lib, &n) < 0 ||
	    n != f->shnum) {
		elf_end(f->lib);
		f->lib = NULL;
		return false;
	}
	f->loaded = xcalloc(f->shnum + 1, sizeof *f->loaded);
	return true;
}

void elf_sections_close(struct elf *f)
{
	elf_end(f->lib);
	free(f->loaded);
}

static int unreadable(struct elf *f, struct err *e)
{
	return err_set(e, "%s: damaged ELF header: sections cannot be read", f->name);
}

/* Before libelf loads a section: each is loaded once, and all together are no
 * more than the file. */
static bool may_load(struct elf *f, Elf_Scn *scn)
{
	size_t i = scn ? elf_ndxscn(scn) : 0;
	GElf_Shdr sh;

	if (!scn || i >= f->shnum || !gelf_getshdr(scn, &sh))
		return false;
	if (f->loaded[i] || sh.sh_type == SHT_NOBITS)
		return true;
	if (sh.sh_size > f->left)
		return false;
	f->left -= sh.sh_size;
	return f->loaded[i] = true;
}

/* A string of a string table, or NULL. */
static const char *string_at(struct elf *f, size_t table, size_t at)
{
	return may_load(f, elf_getscn(f->lib, table)) ? elf_strptr(f->lib, table, at) : NULL;
}

static Elf_Data *data_of(struct elf *f, Elf_Scn *scn)
{
	return may_load(f, scn) ? elf_getdata(scn, NULL) : NULL;
}

/* The section with a type, or NULL. */
static Elf_Scn *section_of_type(struct elf *f, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while (f->lib && (scn = elf_nextscn(f->lib, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return scn;
	return NULL;
}

/* ---- sections ---- */

static int load_section(
    struct elf *f, Elf_Scn *scn, struct elf_section *s, bool data, struct err *e)
{
	GElf_Shdr sh;
	Elf_Data *d;

	*s = (struct elf_section){0};
	if (!gelf_getshdr(scn, &sh) || !(s->name = string_at(f, f->shstrndx, sh.sh_name)))
		return err_set(e, "%s: section %zu has no name", f->name, elf_ndxscn(scn));
	s->addr = sh.sh_addr;
	s->offset = sh.sh_offset;
	s->size = sh.sh_size;
	s->flags = sh.sh_flags;
	s->type = sh.sh_type;
	s->index = (uint32_t)elf_ndxscn(scn);
	if (!data || s->type == SHT_NOBITS)
		return 0;
	d = may_load(f, scn) ? elf_rawdata(scn, NULL) : NULL;
	if (!d || d->d_size != s->size || (s->size && !d->d_buf))
		return err_set(e, "%s: section %s exceeds the file", f->name, s->name);
	s->data = s->size ? d->d_buf : (const uint8_t *)"";
	return 0;
}

int elf_file_section(struct elf *f, const char *name, struct elf_section *s, struct err *e)
{
	Elf_Scn *scn = NULL;

	if (!elf_sections_open(f))
		return unreadable(f, e);
	while ((scn = elf_nextscn(f->lib, scn))) {
		if (load_section(f, scn, s, false, e) < 0)
			return -1;
		if (!strcmp(s->name, name))
			return load_section(f, scn, s, true, e) < 0 ? -1 : 1;
	}
	return 0;
}

int elf_file_sections(struct elf *f, int (*fn)(const struct elf_section *, void *), void *arg)
{
	struct elf_section s;
	Elf_Scn *scn = NULL;
	int r = elf_sections_open(f) ? 0 : -1;

	while (!r && (scn = elf_nextscn(f->lib, scn)))
		r = load_section(f, scn, &s, true, NULL) < 0 ? -1 : fn(&s, arg);
	return r;
}

/* ---- symbols ---- */

enum { VERSION_MAX = 0x8000 };

struct versions {
	const char *name[VERSION_MAX];
	unsigned budget; /* records still to be read: offsets of a bad file may run in circles */
};

static void version_name(
    struct elf *f, struct versions *v, unsigned index, size_t strtab, size_t at)
{
	index &= VERSION_MAX - 1;
	if (index > VER_NDX_GLOBAL)
		v->name[index] = string_at(f, strtab, at);
}

static void versions_needed(struct elf *f, struct versions *v)
{
	GElf_Shdr sh;
	Elf_Scn *scn = section_of_type(f, SHT_GNU_verneed, &sh);
	Elf_Data *d = data_of(f, scn);
	uint64_t at = 0, aux;
	GElf_Verneed need;
	GElf_Vernaux a;

	while (d && v->budget-- && at < d->d_size && gelf_getverneed(d, (int)at, &need)) {
		aux = at + need.vn_aux;
		while (v->budget-- && aux < d->d_size && gelf_getvernaux(d, (int)aux, &a)) {
			version_name(f, v, a.vna_other, sh.sh_link, a.vna_name);
			if (!a.vna_next)
				break;
			aux += a.vna_next;
		}
		if (!need.vn_next)
			break;
		at += need.vn_next;
	}
}

static void versions_defined(struct elf *f, struct versions *v)
{
	GElf_Shdr sh;
	Elf_Scn *scn = section_of_type(f, SHT_GNU_verdef, &sh);
	Elf_Data *d = data_of(f, scn);
	uint64_t at = 0;
	GElf_Verdef def;
	GElf_Verdaux a;

	while (d && v->budget-- && at < d->d_size && gelf_getverdef(d, (int)at, &def)) {
		if (!(def.vd_flags & VER_FLG_BASE) &&
		    gelf_getverdaux(d, (int)(at + def.vd_aux), &a))
			version_name(f, v, def.vd_ndx, sh.sh_link, a.vda_name);
		if (!def.vd_next)
			break;
		at += def.vd_next;
	}
}

static struct versions *versions_read(struct elf *f)
{
	struct versions *v = xcalloc(1, sizeof *v);

	v->budget = 4 * VERSION_MAX;
	versions_needed(f, v);
	v->budget = 4 * VERSION_MAX;
	versions_defined(f, v);
	return v;
}

int elf_file_symbols(
    struct elf *f, bool dynamic, int (*fn)(const struct elf_symbol *, void *), void *arg)
{
	GElf_Shdr sh, vsh;
	bool readable = elf_sections_open(f);
	Elf_Scn *scn = section_of_type(f, dynamic ? SHT_DYNSYM : SHT_SYMTAB, &sh);
	Elf_Scn *vscn = dynamic ? section_of_type(f, SHT_GNU_versym, &vsh) : NULL;
	Elf_Data *d = data_of(f, scn);
	Elf_Data *vd = data_of(f, vscn);
	struct versions *v = vd ? versions_read(f) : NULL;
	GElf_Versym index;
	GElf_Sym sym;
	int i, r = !readable || (scn && !d) ? -1 : 0;

	for (i = 1; !r && d && gelf_getsym(d, i, &sym); i++) {
		struct elf_symbol s = {.name = string_at(f, sh.sh_link, sym.st_name),
		    .value = sym.st_value,
		    .size = sym.st_size,
		    .type = GELF_ST_TYPE(sym.st_info),
		    .bind = GELF_ST_BIND(sym.st_info),
		    .visibility = GELF_ST_VISIBILITY(sym.st_other),
		    .shndx = sym.st_shndx};

		if (v && gelf_getversym(vd, i, &index))
			s.version = v->name[index & (VERSION_MAX - 1)];
		r = s.name ? fn(&s, arg) : -1;
	}
	free(v);
	return r;
}
