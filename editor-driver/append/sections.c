#include "editor-driver/append/sections.h"

#include <string.h>

struct table {
	const struct original *o;
	const struct place *w;
	VEC(Elf64_Shdr) v;
	struct buf names;
	struct buf *out;
};

static uint32_t put_name(struct buf *names, const char *name, const char *suffix)
{
	size_t at = names->n;

	buf_str(names, name);
	buf_str(names, suffix);
	buf_char(names, '\0');
	return (uint32_t)at;
}

/* The content of section h comes next in the file. */
static void put_content(struct table *t, Elf64_Shdr *h, const void *p, size_t n)
{
	while (t->out->n % sizeof(uint64_t))
		buf_char(t->out, '\0');
	h->sh_offset = t->out->n;
	h->sh_size = n;
	buf_add(t->out, p, n);
}

/* ---- the sections that were there ---- */

static Elf64_Shdr *add_header(struct table *t, const char *name, uint32_t type, const Elf64_Phdr *p)
{
	vec_push(&t->v, (Elf64_Shdr){.sh_name = put_name(&t->names, name, ""),
			    .sh_type = type,
			    .sh_flags = SHF_ALLOC | (p->p_flags & PF_X ? SHF_EXECINSTR : 0) |
					(p->p_flags & PF_W ? SHF_WRITE : 0),
			    .sh_addr = p->p_vaddr,
			    .sh_offset = p->p_offset,
			    .sh_size = p->p_filesz,
			    .sh_addralign = 4});
	return &t->v.v[t->v.n - 1];
}

/* The dynamic section, and the names in it. */
static void add_dynamic(struct table *t, const Elf64_Phdr *p)
{
	const char *at = t->o->file.p + p->p_offset, *end = at + p->p_filesz;
	Elf64_Phdr names = {.p_flags = PF_R};
	const uint8_t *first;
	Elf64_Shdr *h;
	Elf64_Dyn d;

	for (; end - at >= (ptrdiff_t)sizeof d; at += sizeof d) {
		memcpy(&d, at, sizeof d);
		if (d.d_tag == DT_STRTAB)
			names.p_vaddr = d.d_un.d_ptr;
		if (d.d_tag == DT_STRSZ)
			names.p_filesz = d.d_un.d_val;
	}
	first = original_at(t->o, names.p_vaddr, names.p_filesz, PF_R);
	if (!first)
		return;
	names.p_offset = (uint64_t)((const char *)first - t->o->file.p);
	add_header(t, ".dynstr", SHT_STRTAB, &names);
	h = add_header(t, ".dynamic", SHT_DYNAMIC, p);
	h->sh_link = (uint32_t)t->v.n - 2;
	h->sh_entsize = sizeof d;
}

/* Where the headers were stripped: what it takes to find code, the build-id and what is dynamic. */
static void from_segments(struct table *t)
{
	const Elf64_Phdr *p = t->o->segment.v, *end = p + t->o->segment.n;

	vec_push(&t->v, (Elf64_Shdr){0});
	buf_char(&t->names, '\0');
	for (; p < end; p++) {
		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			add_header(t, ".text", SHT_PROGBITS, p);
		if (p->p_type == PT_DYNAMIC)
			add_dynamic(t, p);
		if (p->p_type == PT_NOTE && t->o->id_at - p->p_offset < p->p_filesz)
			add_header(t, ".note.gnu.build-id", SHT_NOTE, p);
	}
}

static void from_sections(struct table *t)
{
	const Elf64_Shdr *names = &t->o->section.v[t->o->eh.e_shstrndx];
	size_t i;

	for (i = 0; i < t->o->section.n; i++)
		vec_push(&t->v, t->o->section.v[i]);
	buf_add(&t->names, t->o->file.p + names->sh_offset, names->sh_size);
}

static void make_way(struct table *t, const char *name)
{
	size_t i;

	for (i = 1; i < t->o->section.n; i++)
		if (!strcmp(original_section_name(t->o, i), name))
			t->v.v[i].sh_name = put_name(&t->names, name, ".original");
}

/* ---- those that are new ---- */

static void put_section(struct table *t, const struct splice_section *s)
{
	Elf64_Shdr h = {.sh_type = s->type,
	    .sh_flags = s->flags,
	    .sh_addr = s->addr,
	    .sh_size = s->n,
	    .sh_addralign = s->align};

	make_way(t, s->name);
	h.sh_name = put_name(&t->names, s->name, "");
	if (s->flags & SHF_ALLOC)
		h.sh_offset = t->w->offset + (s->addr - t->w->addr);
	else
		put_content(t, &h, s->p, s->n);
	vec_push(&t->v, h);
}

/* first: the number of c's first section. */
static void put_symbols(
    const struct splice_code *c, size_t first, struct buf *symbols, struct buf *strings)
{
	const struct splice_symbol *s;
	Elf64_Sym sym;

	for (s = c->symbol.v; s < c->symbol.v + c->symbol.n; s++) {
		sym = (Elf64_Sym){.st_name = put_name(strings, s->name, ""),
		    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		    .st_other = STV_HIDDEN,
		    .st_shndx = (uint16_t)(first + s->section),
		    .st_value = s->addr,
		    .st_size = s->size};
		buf_add(symbols, &sym, sizeof sym);
	}
}

static int extend_symbols(
    struct table *t, size_t symtab, const struct splice_code *c, struct err *e)
{
	const struct original *o = t->o;
	const Elf64_Shdr *h = &o->section.v[symtab], *names;
	struct buf symbols = {0}, strings = {0};

	if (h->sh_entsize != sizeof(Elf64_Sym) || h->sh_size % sizeof(Elf64_Sym) ||
	    h->sh_link >= o->section.n || o->section.v[h->sh_link].sh_type != SHT_STRTAB)
		return err_set(e, "%s: damaged symbol table", o->path);
	names = &o->section.v[h->sh_link];
	buf_add(&symbols, o->file.p + h->sh_offset, h->sh_size);
	if (h->sh_link == o->eh.e_shstrndx) { /* one table of all names */
		put_symbols(c, o->section.n, &symbols, &t->names);
	} else {
		buf_add(&strings, o->file.p + names->sh_offset, names->sh_size);
		put_symbols(c, o->section.n, &symbols, &strings);
		put_content(t, &t->v.v[h->sh_link], strings.p, strings.n);
	}
	put_content(t, &t->v.v[symtab], symbols.p, symbols.n);
	buf_free(&symbols);
	buf_free(&strings);
	return 0;
}

static int put_symtab(struct table *t, const struct splice_code *c, struct err *e)
{
	size_t i;

	for (i = 0; i < t->o->section.n; i++)
		if (t->o->section.v[i].sh_type == SHT_SYMTAB)
			return extend_symbols(t, i, c, e);
	return 0;
}

static void put_table(struct table *t, Elf64_Ehdr *eh)
{
	Elf64_Shdr all;

	if (!t->o->section.n) {
		eh->e_shstrndx = (uint16_t)t->v.n;
		vec_push(&t->v, (Elf64_Shdr){.sh_name = put_name(&t->names, ".shstrtab", ""),
				    .sh_type = SHT_STRTAB,
				    .sh_addralign = 1});
	}
	put_content(t, &t->v.v[eh->e_shstrndx], t->names.p, t->names.n);
	put_content(t, &all, t->v.v, t->v.n * sizeof *t->v.v);
	eh->e_shoff = all.sh_offset;
	eh->e_shnum = (uint16_t)t->v.n;
	eh->e_shentsize = sizeof *t->v.v;
}

int sections_put(const struct original *o, const struct place *w, const struct splice_code *c,
    const struct splice_section *index, struct buf *out, Elf64_Ehdr *eh, struct err *e)
{
	struct table t = {.o = o, .w = w, .out = out};
	size_t i;
	int rc;

	if (o->section.n)
		from_sections(&t);
	else
		from_segments(&t);
	for (i = 0; i < c->section.n; i++)
		put_section(&t, &c->section.v[i]);
	put_section(&t, index);
	rc = put_symtab(&t, c, e);
	if (!rc && t.v.n >= SHN_LORESERVE - 1)
		rc = err_set(e, "%s: code cannot be added to it: too many sections", o->path);
	if (!rc)
		put_table(&t, eh);
	vec_free(&t.v);
	buf_free(&t.names);
	return rc;
}
