#include "common/elf.h"
#include "common/le.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NT_MORPH_ORIGIN = 1, NT_MORPH_COUNTED = 2 };

struct elf {
	Elf *elf;
	int fd;
	char *name;
	GElf_Ehdr ehdr;
	size_t nphdr, shstrndx;
	enum elf_kind kind;
};

const char *build_id_hex(const struct build_id *id, char out[BUILD_ID_HEX])
{
	static const char digit[] = "0123456789abcdef";
	unsigned i;

	for (i = 0; i < id->n; i++) {
		out[2 * i] = digit[id->b[i] >> 4];
		out[2 * i + 1] = digit[id->b[i] & 15];
	}
	out[2 * i] = '\0';
	return out;
}

int build_id_parse(const char *hex, struct build_id *id)
{
	static const char digit[] = "0123456789abcdef";
	size_t n = strlen(hex), i;
	const char *hi, *lo;

	*id = (struct build_id){0};
	if (!n || n % 2 || n / 2 > sizeof id->b)
		return -1;
	for (i = 0; i < n / 2; i++) {
		hi = memchr(digit, hex[2 * i], 16);
		lo = memchr(digit, hex[2 * i + 1], 16);
		if (!hi || !lo)
			return -1;
		id->b[i] = (uint8_t)((hi - digit) << 4 | (lo - digit));
	}
	id->n = (uint8_t)(n / 2);
	return 0;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && !memcmp(a->b, b->b, a->n);
}

/* ---- opening ---- */

/* The section with a type, or NULL. */
static Elf_Scn *section_of_type(struct elf *f, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return scn;
	return NULL;
}

static bool has_segment(struct elf *f, uint32_t type)
{
	GElf_Phdr ph;
	size_t i;

	for (i = 0; i < f->nphdr; i++)
		if (gelf_getphdr(f->elf, (int)i, &ph) && ph.p_type == type)
			return true;
	return false;
}

/* A PIE says so in DT_FLAGS_1; an older one has an interpreter and no name of
 * its own (the C library has both). */
static enum elf_kind kind_of_dyn(struct elf *f)
{
	bool soname = false;
	GElf_Shdr sh;
	Elf_Scn *scn = section_of_type(f, SHT_DYNAMIC, &sh);
	Elf_Data *d = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Dyn dyn;
	int i;

	for (i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_FLAGS_1 && (dyn.d_un.d_val & DF_1_PIE))
			return ELF_PIE;
		soname |= dyn.d_tag == DT_SONAME;
	}
	return has_segment(f, PT_INTERP) && !soname ? ELF_PIE : ELF_SHARED;
}

static enum elf_kind kind_of(struct elf *f)
{
	switch (f->ehdr.e_type) {
	case ET_REL:
		return ELF_OBJECT;
	case ET_EXEC:
		return ELF_EXEC;
	case ET_DYN:
		return kind_of_dyn(f);
	default:
		return ELF_OTHER;
	}
}

static struct elf *open_handle(Elf *elf, int fd, const char *name, struct err *e)
{
	struct elf *f = xcalloc(1, sizeof *f);

	*f = (struct elf){.elf = elf, .fd = fd, .name = xstrdup(name)};
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &f->ehdr))
		err_set(e, "%s: not an ELF file", name);
	else if (f->ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
		 f->ehdr.e_ident[EI_DATA] != ELFDATA2LSB || f->ehdr.e_machine != EM_X86_64)
		err_set(e, "%s: not an ELF file for x86-64", name);
	else if (elf_getphdrnum(elf, &f->nphdr) < 0 || elf_getshdrstrndx(elf, &f->shstrndx) < 0)
		err_set(e, "%s: damaged ELF header: %s", name, elf_errmsg(-1));
	else {
		f->kind = kind_of(f);
		return f;
	}
	elf_file_close(f);
	return NULL;
}

struct elf *elf_file_open(const char *path, int fd, struct err *e)
{
	elf_version(EV_CURRENT);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		err_sys(e, "%s", path);
		return NULL;
	}
	/* Read, not mapped: a file cut short meanwhile must not kill us. */
	return open_handle(elf_begin(fd, ELF_C_READ, NULL), fd, path, e);
}

struct elf *elf_mem_open(const void *p, size_t n, const char *name, struct err *e)
{
	elf_version(EV_CURRENT);
	return open_handle(elf_memory((char *)p, n), -1, name, e);
}

void elf_file_close(struct elf *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->name);
	free(f);
}

enum elf_kind elf_file_kind(struct elf *f)
{
	return f->kind;
}

uint64_t elf_file_entry(struct elf *f)
{
	return f->ehdr.e_entry;
}

/* ---- sections and segments ---- */

static int load_section(
    struct elf *f, Elf_Scn *scn, struct elf_section *s, bool data, struct err *e)
{
	GElf_Shdr sh;
	Elf_Data *d;

	*s = (struct elf_section){0};
	if (!gelf_getshdr(scn, &sh) || !(s->name = elf_strptr(f->elf, f->shstrndx, sh.sh_name)))
		return err_set(e, "%s: section %zu has no name", f->name, elf_ndxscn(scn));
	s->addr = sh.sh_addr;
	s->size = sh.sh_size;
	s->flags = sh.sh_flags;
	s->type = sh.sh_type;
	s->index = (uint32_t)elf_ndxscn(scn);
	if (!data || s->type == SHT_NOBITS)
		return 0;
	d = elf_rawdata(scn, NULL);
	if (!d || d->d_size != s->size || (s->size && !d->d_buf))
		return err_set(e, "%s: section %s exceeds the file", f->name, s->name);
	s->data = s->size ? d->d_buf : (const uint8_t *)"";
	return 0;
}

int elf_file_section(struct elf *f, const char *name, struct elf_section *s, struct err *e)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn))) {
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
	int r = 0;

	while (!r && (scn = elf_nextscn(f->elf, scn)))
		r = load_section(f, scn, &s, true, NULL) < 0 ? -1 : fn(&s, arg);
	return r;
}

size_t elf_file_exec_segments(struct elf *f, struct elf_segment *seg, size_t max)
{
	GElf_Phdr ph;
	size_t i, n = 0;

	for (i = 0; i < f->nphdr && n < max; i++)
		if (gelf_getphdr(f->elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    (ph.p_flags & PF_X))
			seg[n++] = (struct elf_segment){ph.p_offset, ph.p_vaddr, ph.p_filesz};
	return n;
}

int elf_file_segment_flags(struct elf *f, uint32_t type, uint32_t *flags)
{
	GElf_Phdr ph;
	size_t i;

	for (i = 0; i < f->nphdr; i++)
		if (gelf_getphdr(f->elf, (int)i, &ph) && ph.p_type == type) {
			*flags = ph.p_flags;
			return 1;
		}
	return 0;
}

/* ---- notes ---- */

/* Looks through a run of notes for a descriptor that fits a build-id. By hand:
 * ld does not pad a note of odd length, and libelf then does not see it. */
static bool find_note(const uint8_t *p, uint64_t n, uint64_t align, const char *name, uint32_t type,
    struct build_id *id)
{
	uint64_t at = 0, namesz, descsz, desc;

	while (at < n && n - at >= sizeof(Elf64_Nhdr)) {
		namesz = get_le32(p + at);
		descsz = get_le32(p + at + 4);
		desc = at + sizeof(Elf64_Nhdr) + namesz;
		desc = (desc + align - 1) & ~(align - 1);
		if (desc > n || descsz > n - desc)
			return false;
		if (get_le32(p + at + 8) == type && namesz == strlen(name) + 1 && descsz &&
		    descsz <= sizeof id->b && !memcmp(p + at + sizeof(Elf64_Nhdr), name, namesz)) {
			id->n = (uint8_t)descsz;
			memcpy(id->b, p + desc, descsz);
			return true;
		}
		at = (desc + descsz + align - 1) & ~(align - 1);
	}
	return false;
}

static struct build_id note_id(struct elf *f, const char *name, uint32_t type)
{
	struct build_id id = {0};
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	Elf_Data *d;

	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE)
			continue;
		d = elf_rawdata(scn, NULL);
		if (d && d->d_buf &&
		    find_note(d->d_buf, d->d_size, sh.sh_addralign == 8 ? 8 : 4, name, type, &id))
			break;
	}
	return id;
}

struct build_id elf_file_build_id(struct elf *f)
{
	return note_id(f, "GNU", NT_GNU_BUILD_ID);
}

struct build_id elf_file_origin(struct elf *f)
{
	return note_id(f, "Morph", NT_MORPH_ORIGIN);
}

struct build_id elf_file_counted(struct elf *f)
{
	return note_id(f, "Morph", NT_MORPH_COUNTED);
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
		v->name[index] = elf_strptr(f->elf, strtab, at);
}

static void versions_needed(struct elf *f, struct versions *v)
{
	GElf_Shdr sh;
	Elf_Scn *scn = section_of_type(f, SHT_GNU_verneed, &sh);
	Elf_Data *d = scn ? elf_getdata(scn, NULL) : NULL;
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
	Elf_Data *d = scn ? elf_getdata(scn, NULL) : NULL;
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
	Elf_Scn *scn = section_of_type(f, dynamic ? SHT_DYNSYM : SHT_SYMTAB, &sh);
	Elf_Scn *vscn = dynamic ? section_of_type(f, SHT_GNU_versym, &vsh) : NULL;
	Elf_Data *d = scn ? elf_getdata(scn, NULL) : NULL;
	Elf_Data *vd = vscn ? elf_getdata(vscn, NULL) : NULL;
	struct versions *v = vd ? versions_read(f) : NULL;
	GElf_Versym index;
	GElf_Sym sym;
	int i, r = scn && !d ? -1 : 0;

	for (i = 1; !r && d && gelf_getsym(d, i, &sym); i++) {
		struct elf_symbol s = {.name = elf_strptr(f->elf, sh.sh_link, sym.st_name),
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
