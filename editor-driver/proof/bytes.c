#include "editor-driver/proof/bytes.h"
#include "editor-driver/proof/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

enum bytes_kind bytes_kind(const struct elf_section *s)
{
	if (starts(s->name, ".plt") || !strcmp(s->name, ".iplt"))
		return BYTES_PLT;
	if (!strcmp(s->name, ".got") || !strcmp(s->name, ".got.plt"))
		return BYTES_GOT;
	return s->flags & SHF_EXECINSTR ? BYTES_CODE : BYTES_DATA;
}

bool bytes_has_address(const struct elf_section *s)
{
	return !(s->flags & SHF_TLS && s->type == SHT_NOBITS);
}

const struct elf_section *bytes_section(const struct bytes_side *s, uint64_t addr)
{
	size_t i;

	for (i = 0; i < s->section.n; i++)
		if (addr - s->section.v[i].addr < s->section.v[i].size &&
		    bytes_has_address(&s->section.v[i]))
			return &s->section.v[i];
	return NULL;
}

const struct elf_section *bytes_named(const struct bytes_side *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->section.n; i++)
		if (!strcmp(s->section.v[i].name, name))
			return &s->section.v[i];
	return NULL;
}

const uint8_t *bytes_at(const struct bytes_side *side, uint64_t addr, uint64_t n)
{
	const struct elf_section *s = bytes_section(side, addr);

	return s && s->data && n <= s->size - (addr - s->addr) ? s->data + (addr - s->addr) : NULL;
}

int bytes_differ(struct bytes *b, uint64_t made, const char *what)
{
	const struct elf_section *s = bytes_section(&b->made, made);
	const struct bytes_piece *p = bytes_piece(b, made);

	if (p && p->frag != BYTES_FOREIGN)
		*b->at = (struct bytes_position){
		    true, b->made.map->frag.v[p->frag].tu, b->made.map->frag.v[p->frag].func};
	return err_set(b->e, "%s at %#llx: %s", s ? s->name : "?", (unsigned long long)made, what);
}

static int keep_loaded(const struct elf_section *s, void *arg)
{
	struct bytes_side *side = arg;

	if (s->flags & SHF_ALLOC)
		vec_push(&side->section, *s);
	return 0;
}

/* ---- all sections ---- */

static bool is_unwind(const struct elf_section *s)
{
	return !strcmp(s->name, ".eh_frame") || !strcmp(s->name, ".eh_frame_hdr");
}

/* Tables of exceptions: compared where unwind information names them. */
static bool is_handlers(const struct elf_section *s)
{
	return !strcmp(s->name, ".gcc_except_table");
}

/* Made by the linker from everything else: its size may change. */
static bool derived(const struct elf_section *s)
{
	return bytes_kind(s) != BYTES_DATA || is_handlers(s) || s->type == SHT_RELA ||
	       s->type == SHT_RELR || s->type == SHT_GNU_HASH || s->type == SHT_HASH ||
	       is_unwind(s) || !strcmp(s->name, ".note.gnu.build-id") || s->type == SHT_DYNAMIC ||
	       (s->type == SHT_NOBITS && !strcmp(s->name, ".relro_padding"));
}

/* Compared as a whole, or by meaning: the names and versions of symbols (the order of which follows
 * that of the code), relocations, unwind information. */
static bool elsewhere(const struct elf_section *s)
{
	return s->type == SHT_RELA || s->type == SHT_GNU_HASH || s->type == SHT_HASH ||
	       s->type == SHT_GNU_versym || s->type == SHT_GNU_verneed ||
	       s->type == SHT_GNU_verdef || !strcmp(s->name, ".dynstr") || is_unwind(s) ||
	       is_handlers(s) || !strcmp(s->name, ".note.gnu.build-id");
}

static int compare_section(
    struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	/* SHF_GNU_RETAIN speaks to linkers. */
	if (o->type != m->type || (o->flags ^ m->flags) & ~(uint64_t)SHF_GNU_RETAIN ||
	    !o->data != !m->data)
		return bytes_differ(b, m->addr, "the section is of another type");
	if (o->size != m->size && !derived(o))
		return bytes_differ(b, m->addr, "the section has another size");
	if (!o->data || !m->size || bytes_kind(o) == BYTES_CODE || elsewhere(o))
		return 0;
	if (o->flags & SHF_LINK_ORDER)
		return bytes_list(b, o, m);
	if (o->type == SHT_DYNSYM)
		return bytes_dynsym(b, o, m);
	if (o->type == SHT_DYNAMIC)
		return bytes_dynamic(b, o, m);
	if (o->type == SHT_RELR)
		return bytes_relr(b, o, m);
	if (bytes_kind(o) == BYTES_PLT)
		return bytes_plt(b, m);
	return bytes_kind(o) == BYTES_GOT ? bytes_got(b, o, m) : bytes_data(b, o, m);
}

/* What the linker leaves out when it is empty, as a call through the GOT may leave it. */
static bool may_be_new(const struct elf_section *s)
{
	return bytes_kind(s) == BYTES_PLT || bytes_kind(s) == BYTES_GOT || s->type == SHT_RELA;
}

static int compare_sections(struct bytes *b)
{
	const struct elf_section *o, *m;
	size_t i;

	for (i = 0; i < b->orig.section.n; i++) {
		o = &b->orig.section.v[i];
		m = bytes_named(&b->made, o->name);
		if (!m && !may_be_new(o))
			return err_set(b->e, "the new build has no %s", o->name);
		if (m && compare_section(b, o, m))
			return -1;
	}
	for (i = 0; i < b->made.section.n; i++) {
		m = &b->made.section.v[i];
		if (bytes_named(&b->made, m->name) != m)
			return bytes_differ(b, m->addr, "there are two sections of this name");
		if (!bytes_named(&b->orig, m->name) && !may_be_new(m))
			return err_set(b->e, "the new build has a section %s more", m->name);
		if (!bytes_named(&b->orig, m->name) && bytes_kind(m) == BYTES_PLT &&
		    bytes_plt(b, m))
			return -1;
	}
	return 0;
}

static void list_shifts(struct bytes *b)
{
	const struct elf_section *o, *m;
	size_t i, k;

	vec_push(&b->shift, 0); /* the headers, where a file begins */
	for (i = 0; i < b->orig.section.n; i++) {
		o = &b->orig.section.v[i];
		m = bytes_named(&b->made, o->name);
		if (m && o->flags & SHF_TLS)
			b->tls = m->addr - o->addr;
		if (!m || bytes_kind(o) == BYTES_CODE || bytes_kind(o) == BYTES_PLT ||
		    !bytes_has_address(o))
			continue;
		for (k = 0; k < b->shift.n && b->shift.v[k] != m->addr - o->addr; k++)
			;
		if (k == b->shift.n)
			vec_push(&b->shift, m->addr - o->addr);
	}
}

static int compare_entry(struct bytes *b)
{
	uint64_t was = elf_file_entry(b->orig.f), is = elf_file_entry(b->made.f);

	if (elf_file_kind(b->made.f) == ELF_SHARED || bytes_same_code(b, was, is))
		return 0;
	return bytes_differ(b, is, "the program begins elsewhere");
}

int bytes_compare(const struct bytes_build *made, const struct bytes_build *original,
    const uint64_t *edited, size_t n, struct bytes_position *at, struct err *e)
{
	struct bytes b = {
	    .made = {.map = made->map, .f = made->f, .own_padding = made->own_padding},
	    .orig = {.map = original->map, .f = original->f, .own_padding = original->own_padding},
	    .edited = edited,
	    .nedited = n,
	    .absolute = elf_file_kind(original->f) == ELF_EXEC,
	    .at = at,
	    .e = e};
	int rc;

	*at = (struct bytes_position){0};
	rc = elf_file_sections(made->f, keep_loaded, &b.made) ||
	     elf_file_sections(original->f, keep_loaded, &b.orig);
	if (rc) {
		err_set(e, "a damaged section");
	} else {
		list_shifts(&b);
		rc = bytes_bindings(&b) || bytes_frames(&b) || bytes_map(&b) ||
		     compare_sections(&b) || bytes_rela(&b) || bytes_code(&b) ||
		     bytes_eh_frame(&b) || compare_entry(&b);
	}
	vec_free(&b.made.section);
	vec_free(&b.orig.section);
	vec_free(&b.made.symbol);
	vec_free(&b.orig.symbol);
	vec_free(&b.made.slot);
	vec_free(&b.orig.slot);
	bytes_frames_free(&b.made);
	bytes_frames_free(&b.orig);
	vec_free(&b.shift);
	vec_free(&b.piece);
	return rc ? -1 : 0;
}
