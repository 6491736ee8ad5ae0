#include "common/elf/elf.h"
#include "common/elf/file.h"
#include "common/hash.h"
#include "common/le.h"
#include "common/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NT_MORPH_ORIGIN = 1, NT_MORPH_COUNTED = 2 };
enum {
	CHUNK = 64,                /* headers read at once */
	SECTIONS_MAX = 1 << 16,    /* of what runs */
	SECTIONS_OBJECT = 1 << 20, /* of an object: one for each function and its debug lines */
	DYNAMIC_MAX = 1 << 16,     /* entries */
	NOTE_MAX = 64 << 10,       /* bytes of a section of notes; larger ones are passed over */
	NOTES_MAX = 1 << 20,       /* bytes of all of them */
	CONTENT_MAX = 1 << 30,     /* bytes loaded of a program named by its content */
	CONTENT_CHUNK = 1 << 14,   /* hashed at once */
	CONTENT_NAME = 64          /* bytes of a section's name, with its NUL */
};

/* n bytes from an offset of the file on; false when it does not have them. */
static bool get(struct elf *f, uint64_t at, void *out, uint64_t n)
{
	uint64_t done = 0;
	ssize_t r;

	if (at > f->size || n > f->size - at)
		return false;
	if (f->mem)
		memcpy(out, f->mem + at, n);
	while (!f->mem && done < n) {
		r = pread(f->fd, (char *)out + done, n - done, (off_t)(at + done));
		if (!r || (r < 0 && errno != EINTR))
			return false;
		done += r > 0 ? (uint64_t)r : 0;
	}
	return true;
}

/* Calls fn for each section header until it returns true, and says whether it did. */
static bool each_section(
    struct elf *f, bool (*fn)(struct elf *, const Elf64_Shdr *, void *), void *arg)
{
	Elf64_Shdr sh[CHUNK];
	uint32_t i, k, n;

	for (i = 0; i < f->shnum; i += n) {
		n = f->shnum - i < CHUNK ? f->shnum - i : CHUNK;
		if (!get(f, f->eh.e_shoff + i * sizeof *sh, sh, n * sizeof *sh))
			return false;
		for (k = 0; k < n; k++)
			if (fn(f, &sh[k], arg))
				return true;
	}
	return false;
}

static bool get_segment(struct elf *f, uint32_t i, Elf64_Phdr *ph)
{
	return i < f->phnum && get(f, f->eh.e_phoff + i * sizeof *ph, ph, sizeof *ph);
}

/* ---- opening ---- */

struct dynamic {
	bool pie, soname;
};

/* The first section of dynamic entries. */
static bool see_dynamic(struct elf *f, const Elf64_Shdr *sh, void *arg)
{
	struct dynamic *d = arg;
	Elf64_Dyn dyn[CHUNK];
	uint64_t n = sh->sh_size / sizeof *dyn, i;

	if (sh->sh_type != SHT_DYNAMIC)
		return false;
	for (i = 0; i < n && i < DYNAMIC_MAX; i++) {
		if (!(i % CHUNK) && !get(f, sh->sh_offset + i * sizeof *dyn, dyn,
					(n - i < CHUNK ? n - i : CHUNK) * sizeof *dyn))
			break;
		if (dyn[i % CHUNK].d_tag == DT_NULL)
			break;
		d->soname |= dyn[i % CHUNK].d_tag == DT_SONAME;
		d->pie |=
		    dyn[i % CHUNK].d_tag == DT_FLAGS_1 && (dyn[i % CHUNK].d_un.d_val & DF_1_PIE);
	}
	return true;
}

/* A PIE says so in DT_FLAGS_1; an older one has an interpreter and no name of
 * its own (the C library has both). */
static enum elf_kind kind_of_dyn(struct elf *f)
{
	struct dynamic d = {0};
	uint32_t flags;

	each_section(f, see_dynamic, &d);
	if (d.pie)
		return ELF_PIE;
	return elf_file_segment_flags(f, PT_INTERP, &flags) && !d.soname ? ELF_PIE : ELF_SHARED;
}

static enum elf_kind kind_of(struct elf *f)
{
	switch (f->eh.e_type) {
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

static int damaged(struct elf *f, const char *what, struct err *e)
{
	return err_set(e, "%s: damaged ELF header: %s", f->name, what);
}

/* Numbers that do not fit the header are in the first section header. */
static int read_tables(struct elf *f, struct err *e)
{
	uint64_t shnum = f->eh.e_shnum;
	Elf64_Shdr first = {0};

	f->phnum = f->eh.e_phnum;
	f->shstrndx = f->eh.e_shstrndx;
	if (f->eh.e_shoff && !get(f, f->eh.e_shoff, &first, sizeof first))
		return damaged(f, "section headers exceed the file", e);
	if (!shnum)
		shnum = first.sh_size;
	if (f->phnum == PN_XNUM)
		f->phnum = first.sh_info;
	if (f->shstrndx == SHN_XINDEX)
		f->shstrndx = first.sh_link;
	if (shnum > (f->eh.e_type == ET_REL ? SECTIONS_OBJECT : SECTIONS_MAX))
		return damaged(f, "too many sections", e);
	if (shnum && (f->eh.e_shentsize != sizeof first || f->eh.e_shoff > f->size ||
			 shnum > (f->size - f->eh.e_shoff) / sizeof first))
		return damaged(f, "section headers exceed the file", e);
	if (f->phnum && (f->eh.e_phentsize != sizeof(Elf64_Phdr) || f->phnum >= PN_XNUM ||
			    f->eh.e_phoff > f->size ||
			    f->phnum > (f->size - f->eh.e_phoff) / sizeof(Elf64_Phdr)))
		return damaged(f, "program headers exceed the file", e);
	f->shnum = (uint32_t)shnum;
	return 0;
}

static struct elf *open_checked(struct elf *f, struct err *e)
{
	const unsigned char *ident = f->eh.e_ident;

	if (!get(f, 0, &f->eh, sizeof f->eh) || memcmp(ident, ELFMAG, SELFMAG))
		err_set(e, "%s: not an ELF file", f->name);
	else if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
		 f->eh.e_machine != EM_X86_64)
		err_set(e, "%s: not an ELF file for x86-64", f->name);
	else if (!read_tables(f, e)) {
		f->kind = kind_of(f);
		f->left = f->size;
		return f;
	}
	elf_file_close(f);
	return NULL;
}

struct elf *elf_file_open(const char *path, int fd, struct err *e)
{
	struct elf *f;
	struct stat st;

	if (fd < 0)
		fd = file_open(path, e);
	if (fd < 0)
		return NULL;
	f = xcalloc(1, sizeof *f);
	/* Read, not mapped: a file cut short meanwhile must not kill us. */
	*f = (struct elf){.fd = fd, .name = xstrdup(path)};
	if (fstat(fd, &st) < 0) {
		err_sys(e, "%s", path);
		elf_file_close(f);
		return NULL;
	}
	f->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return open_checked(f, e);
}

struct elf *elf_mem_open(const void *p, size_t n, const char *name, struct err *e)
{
	struct elf *f = xcalloc(1, sizeof *f);

	*f = (struct elf){
	    .fd = -1, .mem = n ? p : (const void *)"", .size = n, .name = xstrdup(name)};
	return open_checked(f, e);
}

void elf_file_close(struct elf *f)
{
	if (!f)
		return;
	elf_sections_close(f);
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
	return f->eh.e_entry;
}

/* ---- segments ---- */

size_t elf_file_exec_segments(struct elf *f, struct elf_segment *seg, size_t max)
{
	Elf64_Phdr ph;
	uint32_t i;
	size_t n = 0;

	for (i = 0; n < max && get_segment(f, i, &ph); i++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X))
			seg[n++] = (struct elf_segment){ph.p_offset, ph.p_vaddr, ph.p_filesz};
	return n;
}

int elf_file_segment_flags(struct elf *f, uint32_t type, uint32_t *flags)
{
	Elf64_Phdr ph;
	uint32_t i;

	for (i = 0; get_segment(f, i, &ph); i++)
		if (ph.p_type == type) {
			*flags = ph.p_flags;
			return 1;
		}
	return 0;
}

/* ---- notes ---- */

struct note_search {
	const char *name;
	uint32_t type;
	uint64_t left; /* bytes that may still be read */
	struct build_id id;
	uint64_t at; /* where it is in the file */
};

/* Looks through a run of notes for a descriptor that fits a build-id. By hand:
 * ld does not pad a note of odd length, and libelf then does not see it. */
static bool find_note(const uint8_t *p, uint64_t n, uint64_t align, struct note_search *s)
{
	uint64_t at = 0, namesz, descsz, desc;

	while (at < n && n - at >= sizeof(Elf64_Nhdr)) {
		namesz = get_le32(p + at);
		descsz = get_le32(p + at + 4);
		desc = at + sizeof(Elf64_Nhdr) + namesz;
		desc = (desc + align - 1) & ~(align - 1);
		if (desc > n || descsz > n - desc)
			return false;
		if (get_le32(p + at + 8) == s->type && namesz == strlen(s->name) + 1 && descsz &&
		    descsz <= sizeof s->id.b &&
		    !memcmp(p + at + sizeof(Elf64_Nhdr), s->name, namesz)) {
			s->id.n = (uint8_t)descsz;
			memcpy(s->id.b, p + desc, descsz);
			s->at = desc;
			return true;
		}
		at = (desc + descsz + align - 1) & ~(align - 1);
	}
	return false;
}

static bool search_notes(struct elf *f, const Elf64_Shdr *sh, void *arg)
{
	struct note_search *s = arg;
	uint8_t *p;
	bool found;

	if (sh->sh_type != SHT_NOTE || sh->sh_size > NOTE_MAX || sh->sh_size > s->left)
		return false;
	s->left -= sh->sh_size;
	p = xmalloc(sh->sh_size);
	found = get(f, sh->sh_offset, p, sh->sh_size) &&
		find_note(p, sh->sh_size, sh->sh_addralign == 8 ? 8 : 4, s);
	s->at += found ? sh->sh_offset : 0;
	free(p);
	return found;
}

/* Where there are no section headers. */
static void search_segments(struct elf *f, struct note_search *s)
{
	Elf64_Phdr ph;
	uint32_t i;

	for (i = 0; get_segment(f, i, &ph); i++)
		if (ph.p_type == PT_NOTE && search_notes(f,
						&(Elf64_Shdr){.sh_type = SHT_NOTE,
						    .sh_offset = ph.p_offset,
						    .sh_size = ph.p_filesz,
						    .sh_addralign = ph.p_align},
						s))
			return;
}

static struct note_search find_id(struct elf *f, const char *name, uint32_t type)
{
	struct note_search s = {.name = name, .type = type, .left = NOTES_MAX};

	if (f->shnum)
		each_section(f, search_notes, &s);
	else
		search_segments(f, &s);
	return s;
}

static struct build_id note_id(struct elf *f, const char *name, uint32_t type)
{
	return find_id(f, name, type).id;
}

/* ---- names by content ---- */

struct content {
	uint64_t names, names_size; /* of the section of section names */
	uint64_t left;              /* bytes that may still be read */
	bool whole;                 /* all could be read */
	struct hash128 hash;
};

static void content_add(struct content *c, const void *p, size_t n)
{
	uint8_t joined[sizeof c->hash + CONTENT_CHUNK];

	memcpy(joined, &c->hash, sizeof c->hash);
	memcpy(joined + sizeof c->hash, p, n);
	c->hash = hash_bytes(joined, sizeof c->hash + n);
}

/* What a run path that is changed in place does not change, of what is loaded; and the sections of
 * Morph. */
static bool is_content(const Elf64_Shdr *sh, const char *name)
{
	if (sh->sh_flags & SHF_ALLOC)
		return sh->sh_type != SHT_DYNAMIC && strcmp(name, ".dynstr") != 0;
	return !strcmp(name, ".morph.fn") || !strcmp(name, ".llvm_bb_addr_map") ||
	       !strcmp(name, ".note.morph");
}

static bool add_content(struct elf *f, const Elf64_Shdr *sh, void *arg)
{
	struct content *c = arg;
	char name[CONTENT_NAME] = "";
	uint8_t bytes[CONTENT_CHUNK];
	uint64_t at, n;

	n = sh->sh_name < c->names_size ? c->names_size - sh->sh_name : 0;
	if (!get(f, c->names + sh->sh_name, name, n < sizeof name - 1 ? n : sizeof name - 1))
		c->whole = false;
	if (!is_content(sh, name))
		return false;
	content_add(c, name, strlen(name));
	content_add(c, &sh->sh_addr, sizeof sh->sh_addr);
	content_add(c, &sh->sh_size, sizeof sh->sh_size);
	for (at = 0; at < sh->sh_size && sh->sh_type != SHT_NOBITS && c->whole; at += n) {
		n = sh->sh_size - at < sizeof bytes ? sh->sh_size - at : sizeof bytes;
		c->whole = n <= c->left && get(f, sh->sh_offset + at, bytes, n);
		if (c->whole)
			content_add(c, bytes, n);
		c->left -= c->whole ? n : 0;
	}
	return !c->whole;
}

static bool is_map(struct elf *f, const Elf64_Shdr *sh, void *arg)
{
	static const char want[] = ".morph.fn";
	const struct content *c = arg;
	char name[sizeof want];

	return sh->sh_name < c->names_size && c->names_size - sh->sh_name >= sizeof name &&
	       get(f, c->names + sh->sh_name, name, sizeof name) &&
	       !memcmp(name, want, sizeof name);
}

static struct build_id content_id(struct elf *f)
{
	struct content c = {.left = CONTENT_MAX, .whole = true};
	struct build_id id = {0};
	Elf64_Shdr names;

	if (f->kind == ELF_OBJECT || f->shstrndx >= f->shnum ||
	    !get(f, f->eh.e_shoff + f->shstrndx * sizeof names, &names, sizeof names) ||
	    names.sh_offset > f->size || names.sh_size > f->size - names.sh_offset)
		return id;
	c.names = names.sh_offset;
	c.names_size = names.sh_size;
	if (!each_section(f, is_map, &c))
		return id;
	each_section(f, add_content, &c);
	if (c.whole) {
		id.n = sizeof c.hash;
		memcpy(id.b, &c.hash, sizeof c.hash);
	}
	return id;
}

bool elf_file_has_build_id(struct elf *f)
{
	return note_id(f, "GNU", NT_GNU_BUILD_ID).n != 0;
}

struct build_id elf_file_build_id_note(struct elf *f, uint64_t *at)
{
	struct note_search s = find_id(f, "GNU", NT_GNU_BUILD_ID);

	*at = s.at;
	return s.id;
}

struct build_id elf_file_build_id(struct elf *f)
{
	struct build_id id = note_id(f, "GNU", NT_GNU_BUILD_ID);

	return id.n ? id : content_id(f);
}

struct build_id elf_file_origin(struct elf *f)
{
	return note_id(f, "Morph", NT_MORPH_ORIGIN);
}

struct build_id elf_file_counted(struct elf *f)
{
	return note_id(f, "Morph", NT_MORPH_COUNTED);
}
