#include "editor-driver/proof/appended/comparison.h"
#include "common/le.h"
#include "common/sort.h"

#include <string.h>

enum { PAGE = 4096 };

static int wrong(struct comparison *c, const char *what)
{
	return err_set(c->e, "the new build's headers: %s", what);
}

/* ---- the ELF header ---- */

static int compare_ehdr(struct comparison *c)
{
	Elf64_Ehdr m = c->made.eh, o = c->orig.eh;

	o.e_phoff = m.e_phoff;
	o.e_phnum = m.e_phnum;
	o.e_shoff = m.e_shoff;
	o.e_shnum = m.e_shnum;
	o.e_shstrndx = m.e_shstrndx;
	return memcmp(&m, &o, sizeof m) ? wrong(c, "more differs than where its tables are") : 0;
}

/* ---- program headers ---- */

/* What was in one place and may be in another: the program headers and the index of unwind
 * information. */
static bool same_header(const Elf64_Phdr *m, const Elf64_Phdr *o)
{
	Elf64_Phdr x = *o;

	if (o->p_type == PT_PHDR || o->p_type == PT_GNU_EH_FRAME) {
		x.p_offset = m->p_offset;
		x.p_vaddr = x.p_paddr = m->p_vaddr;
		x.p_filesz = m->p_filesz;
		x.p_memsz = m->p_memsz;
	}
	return !memcmp(m, &x, sizeof x);
}

/* Of bytes behind the original's, at an address that nothing else has, for nobody to write. */
static int check_new(struct comparison *c, const Elf64_Phdr *ph)
{
	if (ph->p_flags & ~(uint32_t)(PF_R | PF_X) || !(ph->p_flags & PF_R))
		return wrong(c, "a new segment may be written, or not read");
	if (ph->p_offset < c->orig.file.n || ph->p_filesz != ph->p_memsz || !ph->p_filesz ||
	    ph->p_paddr != ph->p_vaddr)
		return wrong(c, "a new segment is not of new bytes");
	if (ph->p_align < PAGE || ph->p_align & (ph->p_align - 1) ||
	    (ph->p_vaddr - ph->p_offset) % ph->p_align)
		return wrong(c, "a new segment cannot be mapped");
	if (!(ph->p_flags & PF_X))
		return 0;
	if (c->text)
		return wrong(c, "two new segments of code");
	c->text = ph;
	return 0;
}

/* The kernel and the loader want them ascending, each on pages of its own. */
static int check_order(struct comparison *c)
{
	const Elf64_Phdr *before = NULL, *ph;
	size_t i;

	for (i = 0; i < c->made.ph.n; i++) {
		ph = &c->made.ph.v[i];
		if (ph->p_type != PT_LOAD)
			continue;
		if (before && ph->p_vaddr / PAGE * PAGE < before->p_vaddr + before->p_memsz)
			return wrong(c, "segments overlap, or are not in order");
		before = ph;
	}
	return 0;
}

/* A note that says what PT_GNU_PROPERTY says as well, which is what kernel and loader read: its
 * header may be another's now. */
static bool needless(const struct comparison *c, const Elf64_Phdr *note)
{
	const Elf64_Phdr *ph = c->orig.ph.v, *end = ph + c->orig.ph.n;

	for (; ph < end && note->p_type == PT_NOTE; ph++)
		if (ph->p_type == PT_GNU_PROPERTY && ph->p_offset == note->p_offset &&
		    ph->p_filesz == note->p_filesz)
			return true;
	return false;
}

/* Those that were there, in their order, and new segments; where there was none, an index. */
static int compare_phdrs(struct comparison *c)
{
	const Elf64_Phdr *m, *o = c->orig.ph.v, *end = o + c->orig.ph.n;
	bool indexed = false;
	size_t i;

	for (i = 0; i < c->orig.ph.n; i++)
		indexed |= o[i].p_type == PT_GNU_EH_FRAME;
	for (i = 0; i < c->made.ph.n; i++) {
		m = &c->made.ph.v[i];
		if (o < end && !same_header(m, o) && needless(c, o) && o + 1 < end &&
		    same_header(m, o + 1))
			o++;
		if (o < end && same_header(m, o))
			o++;
		else if (m->p_type == PT_GNU_EH_FRAME && !indexed)
			indexed = true;
		else if (m->p_type != PT_LOAD)
			return wrong(c, "a program header changed");
		else if (check_new(c, m))
			return -1;
	}
	if (o != end && !(o + 1 == end && needless(c, o)))
		return wrong(c, "a program header is missing or changed");
	return check_order(c);
}

/* Those who look for the program headers in memory find these. */
static int check_phdrs_loaded(struct comparison *c)
{
	uint64_t size = c->made.ph.n * sizeof(Elf64_Phdr);
	const Elf64_Phdr *ph, *in;
	size_t i;

	for (i = 0; i < c->made.ph.n; i++) {
		ph = &c->made.ph.v[i];
		if (ph->p_type == PT_PHDR && (ph->p_offset != c->made.eh.e_phoff ||
						 ph->p_filesz != size || ph->p_memsz != size))
			return wrong(c, "PT_PHDR names another table");
		in = loaded_segment(&c->made, ph->p_vaddr);
		if ((ph->p_type == PT_PHDR || ph->p_type == PT_GNU_EH_FRAME) &&
		    (!in || ph->p_vaddr - in->p_vaddr != ph->p_offset - in->p_offset ||
			ph->p_filesz > in->p_filesz ||
			ph->p_vaddr - in->p_vaddr > in->p_filesz - ph->p_filesz))
			return wrong(c, "what one names is not loaded");
	}
	return 0;
}

/* ---- section headers ---- */

/* Of what is loaded the original's, with the same numbers, since others refer to them by number;
 * only the names may lie elsewhere. */
static int compare_shdrs(struct comparison *c)
{
	Elf64_Shdr m, o;
	size_t i;

	for (i = 0; i < c->orig.eh.e_shnum; i++) {
		memcpy(&o, c->orig.file.p + c->orig.eh.e_shoff + i * sizeof o, sizeof o);
		if (!(o.sh_flags & SHF_ALLOC))
			continue;
		if (i >= c->made.eh.e_shnum)
			return wrong(c, "a section is missing");
		memcpy(&m, c->made.file.p + c->made.eh.e_shoff + i * sizeof m, sizeof m);
		o.sh_name = m.sh_name;
		if (memcmp(&m, &o, sizeof m))
			return wrong(c, "the header of a section that is loaded changed");
	}
	return 0;
}

int headers_compare(struct comparison *c)
{
	c->text = NULL;
	if (compare_ehdr(c) || compare_phdrs(c) || check_phdrs_loaded(c) || compare_shdrs(c))
		return -1;
	return c->text ? 0 : wrong(c, "no new segment of code");
}

/* ---- all bytes ---- */

/* Bytes of the original that may differ. */
struct hole {
	uint64_t at, n;
};
typedef VEC(struct hole) holes;

static int by_offset(const void *a, const void *b)
{
	const struct hole *x = a, *y = b;

	return ORDER(x->at, y->at);
}

/* The bytes of the build-id, behind the head of its note. */
static void add_build_id(const struct loaded *im, holes *list)
{
	enum { HEAD = 16 };
	const struct elf_section *s;
	size_t i;

	for (i = 0; i < im->section.n; i++) {
		s = &im->section.v[i];
		if (!strcmp(s->name, ".note.gnu.build-id") && s->data && s->size > HEAD &&
		    !memcmp(s->data + HEAD - 4, "GNU", 4) &&
		    get_le32(s->data + 4) <= s->size - HEAD)
			vec_push(list, (struct hole){s->offset + HEAD, get_le32(s->data + 4)});
	}
}

static struct hole hole_of(const struct word *w)
{
	return w->symbol ? (struct hole){w->at - offsetof(Elf64_Sym, st_value) +
					     offsetof(Elf64_Sym, st_shndx),
			       sizeof(Elf64_Sym) - offsetof(Elf64_Sym, st_shndx)}
			 : (struct hole){w->at, WORD};
}

static void list_holes(struct comparison *c, holes *list)
{
	const Elf64_Phdr *ph;
	size_t i;

	vec_push(list, (struct hole){0, sizeof(Elf64_Ehdr)});
	vec_push(list, (struct hole){c->orig.eh.e_phoff, c->orig.ph.n * sizeof *ph});
	add_build_id(&c->orig, list);
	for (i = 0; i < c->entry.n; i++) {
		ph = loaded_segment(&c->orig, c->entry.v[i].jump);
		vec_push(list,
		    (struct hole){ph->p_offset + (c->entry.v[i].jump - ph->p_vaddr), ENTRY_JUMP});
	}
	for (i = 0; i < c->word.n; i++)
		vec_push(list, hole_of(&c->word.v[i]));
	vec_sort(list, by_offset);
}

/* The address where a byte of the original's file is loaded; 0: it is not. */
static uint64_t address_of(const struct loaded *im, uint64_t offset)
{
	const Elf64_Phdr *ph;

	for (ph = im->ph.v; ph < im->ph.v + im->ph.n; ph++)
		if (ph->p_type == PT_LOAD && offset - ph->p_offset < ph->p_filesz)
			return ph->p_vaddr + (offset - ph->p_offset);
	return 0;
}

/* The bytes from one offset to another. */
static int compare_bytes(struct comparison *c, uint64_t from, uint64_t to)
{
	const char *m = c->made.file.p, *o = c->orig.file.p;

	if (from >= to || !memcmp(m + from, o + from, to - from))
		return 0;
	while (m[from] == o[from])
		from++;
	*c->where = address_of(&c->orig, from);
	return err_set(c->e, "the byte at %#llx of the original (address %#llx) changed",
	    (unsigned long long)from, (unsigned long long)*c->where);
}

int headers_compare_bytes(struct comparison *c)
{
	holes hole = {0};
	uint64_t at = 0, end = c->orig.file.n;
	size_t i;
	int rc = 0;

	if (c->made.file.n < end)
		return err_set(c->e, "the new build is shorter than the original");
	list_holes(c, &hole);
	for (i = 0; i < hole.n && !rc; i++) {
		rc = compare_bytes(c, at, hole.v[i].at);
		at = hole.v[i].at + hole.v[i].n > at ? hole.v[i].at + hole.v[i].n : at;
	}
	if (!rc)
		rc = compare_bytes(c, at, end);
	vec_free(&hole);
	return rc;
}
