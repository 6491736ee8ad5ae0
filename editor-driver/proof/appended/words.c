/*
 * Pointers into code: those that the loader makes of words of the relocation tables and of
 * addresses of dynamic symbols, and where addresses are fixed those of which relocations were kept.
 * One that led to a label of a function, as in a table of a computed goto, may lead to the same
 * place in its new body. One that led to the function may lead to its new body, if all do: so that
 * two of them still are equal, and none is to what code makes the address of.
 */
#include "common/elf/addresses.h"
#include "common/le.h"
#include "common/sort.h"
#include "editor-driver/proof/appended/comparison.h"

#include <string.h>

static int differs(struct comparison *c, const struct word *w, const char *what)
{
	*c->where = w->made;
	return err_set(c->e, "the pointer at offset %#llx that led to %#llx leads to %#llx: %s",
	    (unsigned long long)w->at, (unsigned long long)w->orig, (unsigned long long)w->made,
	    what);
}

static const struct entry *entry_of(const struct comparison *c, uint64_t addr)
{
	size_t k = partition_point(0, c->entry.n, i, c->entry.v[i].at < addr);

	return k < c->entry.n && c->entry.v[k].at == addr ? &c->entry.v[k] : NULL;
}

/* Calls come to the same as through the jump at the old entry. */
static int read_pointer(struct comparison *c, const struct word *w)
{
	const struct entry *f = entry_of(c, w->orig);

	if (!f || f->to != w->made)
		return differs(c, w, "that is not the new body of the function");
	vec_push(&c->pointer, w->orig);
	return 0;
}

static int read_label(struct comparison *c, const struct word *w)
{
	if (!in_text(c, w->made))
		return differs(c, w, "that is not new code");
	walk_add(c, w->made, w->orig, SPOT_UNKNOWN);
	return 0;
}

static const struct elf_section *section_of(const struct comparison *c, unsigned index)
{
	const struct elf_section *s = c->made.section.v, *end = s + c->made.section.n;

	while (s < end && s->index != index)
		s++;
	return s < end ? s : NULL;
}

/* A symbol that changed is of the section where it is now, and ends there. */
static int check_symbol(struct comparison *c, const struct word *w)
{
	const char *at = c->made.file.p + w->at - offsetof(Elf64_Sym, st_value);
	const struct elf_section *s;
	Elf64_Sym sym;

	memcpy(&sym, at, sizeof sym);
	s = section_of(c, sym.st_shndx);
	return s && sym.st_value - s->addr < s->size &&
		       sym.st_size <= s->size - (sym.st_value - s->addr)
		   ? 0
		   : differs(c, w, "its symbol is of another section, or longer than that");
}

static int read_word(struct comparison *c, const struct word *w, bool odd)
{
	const struct frame *f = frames_find(&c->orig_frames, w->orig);

	if (odd)
		return differs(c, w, "it is of another kind than those of functions and labels");
	if (!f || (w->symbol && f->fde.pc != w->orig))
		return differs(c, w, "that was not in a function");
	if (w->symbol && check_symbol(c, w))
		return -1;
	vec_push(&c->word, *w);
	return f->fde.pc == w->orig ? read_pointer(c, w) : read_label(c, w);
}

typedef int word_fn(struct comparison *c, const struct word *w, bool odd);

/* What the words of a table have in common. */
struct table {
	uint64_t entry, word,
	    info;            /* bytes of an entry; offsets in it of the word, and of its kind */
	unsigned size;       /* bytes of the kind, as a power of 2 */
	uint64_t mask, kind; /* of it, that is understood */
	bool symbol;
};

static const struct table relocations = {sizeof(Elf64_Rela), offsetof(Elf64_Rela, r_addend),
    offsetof(Elf64_Rela, r_info), 2, UINT32_MAX, R_X86_64_RELATIVE, false};
static const struct table symbols = {sizeof(Elf64_Sym), offsetof(Elf64_Sym, st_value),
    offsetof(Elf64_Sym, st_info), 0, 0xf, STT_FUNC, true};

/* The word at an offset of both files. */
static struct word word_at(const struct comparison *c, uint64_t at)
{
	return (struct word){
	    at, get_le64(c->made.file.p + at), get_le64(c->orig.file.p + at), false};
}

static int each_of_table(
    struct comparison *c, const struct elf_section *s, const struct table *t, word_fn *fn)
{
	struct word w;
	uint64_t i;
	bool odd;

	for (i = 0; i + t->entry <= s->size; i += t->entry) {
		w = word_at(c, s->offset + i + t->word);
		odd = (get_le(s->data + i + t->info, t->size) & t->mask) != t->kind;
		w.symbol = t->symbol;
		if (fn(c, &w, odd))
			return -1;
	}
	return 0;
}

/* Of fixed addresses the pointers themselves, by the relocations that ld kept of data. */
static int each_kept(struct comparison *c, const struct elf_section *s, word_fn *fn)
{
	const uint8_t *r = s->data, *end = r + s->size / sizeof(Elf64_Rela) * sizeof(Elf64_Rela),
		      *p;
	struct word w;
	uint64_t at;

	for (; r < end; r += sizeof(Elf64_Rela)) {
		at = get_le64(r + offsetof(Elf64_Rela, r_offset));
		p = loaded_at(&c->orig, at, WORD);
		if (get_le32(r + offsetof(Elf64_Rela, r_info)) != R_X86_64_64 || !p ||
		    loaded_segment(&c->orig, at)->p_flags & PF_X)
			continue;
		w = word_at(c, (uint64_t)(p - (const uint8_t *)c->orig.file.p));
		if (fn(c, &w, false))
			return -1;
	}
	return 0;
}

/* Is it of relocations of a section that is loaded? */
static bool is_kept(const struct comparison *c, const struct elf_section *s)
{
	static const char rela[] = ".rela";
	size_t i;

	if (c->orig.eh.e_type != ET_EXEC || strncmp(s->name, rela, strlen(rela)))
		return false;
	for (i = 0; i < c->orig.section.n; i++)
		if (!strcmp(c->orig.section.v[i].name, s->name + strlen(rela)))
			return c->orig.section.v[i].flags & SHF_ALLOC;
	return false;
}

/* Gives fn() the words of all tables. */
static int each_word(struct comparison *c, word_fn *fn)
{
	const struct elf_section *s = c->orig.section.v, *end = s + c->orig.section.n;
	int rc = 0;

	/* A shorter file is refused where all bytes are compared. */
	if (c->made.file.n < c->orig.file.n)
		return 0;
	for (; s < end && !rc; s++) {
		if (!s->data)
			continue;
		if (s->type == SHT_RELA && s->flags & SHF_ALLOC)
			rc = each_of_table(c, s, &relocations, fn);
		else if (s->type == SHT_DYNSYM && s->flags & SHF_ALLOC)
			rc = each_of_table(c, s, &symbols, fn);
		else if (s->type == SHT_RELA && is_kept(c, s))
			rc = each_kept(c, s, fn);
	}
	return rc;
}

static int read_changed(struct comparison *c, const struct word *w, bool odd)
{
	return w->made == w->orig ? 0 : read_word(c, w, odd);
}

bool words_lead(const struct comparison *c, uint64_t addr)
{
	return sorted_has(c->pointer.v, c->pointer.n, addr);
}

static int check_unchanged(struct comparison *c, const struct word *w, bool odd)
{
	if (odd && !w->symbol) /* is no pointer to a function, or one to call it once (IRELATIVE) */
		return 0;
	return w->made == w->orig && words_lead(c, w->orig)
		   ? differs(c, w, "others to the same function lead to its new body")
		   : 0;
}

/* ---- other pointers to the same functions ---- */

static int by_place(const void *a, const void *b)
{
	return ORDER(((const struct word *)a)->at, ((const struct word *)b)->at);
}

static bool is_word(const struct comparison *c, uint64_t at)
{
	size_t k = partition_point(0, c->word.n, i, c->word.v[i].at < at);

	return k < c->word.n && c->word.v[k].at == at;
}

static int check_segment(struct comparison *c, const struct addresses *of, const Elf64_Phdr *ph)
{
	const uint8_t *p = (const uint8_t *)c->orig.file.p + ph->p_offset;
	uint64_t i, found;

	for (i = 0; (i = addresses_next(of, p, ph->p_filesz, i, &found)) < ph->p_filesz; i++) {
		if (is_word(c, ph->p_offset + i))
			continue;
		*c->where = found;
		return err_set(c->e,
		    "the bytes at %#llx may be the address of the function at %#llx, to which "
		    "pointers lead to its new body",
		    (unsigned long long)(ph->p_vaddr + i), (unsigned long long)found);
	}
	return 0;
}

/* Fixed addresses may be in any four bytes. */
static int check_bytes(struct comparison *c)
{
	const Elf64_Phdr *ph = c->orig.ph.v, *end = ph + c->orig.ph.n;
	struct addresses of;
	int rc = addresses_make(&of, c->pointer.v, c->pointer.n)
		     ? err_set(c->e, "pointers to functions lead to new bodies, where addresses "
				     "have more than four bytes")
		     : 0;

	vec_sort(&c->word, by_place);
	for (; ph < end && !rc; ph++)
		if (ph->p_type == PT_LOAD)
			rc = check_segment(c, &of, ph);
	addresses_free(&of);
	return rc;
}

int words_read(struct comparison *c)
{
	if (each_word(c, read_changed))
		return -1;
	vec_sort(&c->pointer, order_u64);
	if (!c->pointer.n)
		return 0;
	if (loaded_is_packed(&c->orig))
		return err_set(c->e,
		    "pointers to functions lead to new bodies, where packed relocations may make "
		    "others");
	return each_word(c, check_unchanged) || (c->orig.eh.e_type == ET_EXEC && check_bytes(c))
		   ? -1
		   : 0;
}
