/*
 * Pointers into code that the loader makes: of words of the relocation tables, and of addresses of
 * dynamic symbols. One that led to a label of a function, as in a table of a computed goto, may
 * lead to the same place in its new body. One that led to the function may lead to its new body,
 * if all do: so that two of them still are equal, and none is to what code makes the address of.
 */
#include "common/le.h"
#include "common/sort.h"
#include "editor-driver/proof/appended/comparison.h"

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

static int read_word(struct comparison *c, const struct word *w, bool odd, bool symbol)
{
	const struct frame *f = frames_find(&c->orig_frames, w->orig);

	if (odd)
		return differs(c, w, "it is of another kind than those of functions and labels");
	if (!f || (symbol && f->fde.pc != w->orig))
		return differs(c, w, "that was not in a function");
	vec_push(&c->word, *w);
	return f->fde.pc == w->orig ? read_pointer(c, w) : read_label(c, w);
}

/* What the words of a table have in common. */
struct table {
	uint64_t entry, word,
	    info;            /* bytes of an entry; offsets in it of the word, and of its kind */
	unsigned size;       /* bytes of the kind, as a power of 2 */
	uint64_t mask, kind; /* of it, that is understood */
	bool symbol;
};

static const struct table *table_of(const struct elf_section *s)
{
	static const struct table relocations = {sizeof(Elf64_Rela), offsetof(Elf64_Rela, r_addend),
	    offsetof(Elf64_Rela, r_info), 2, UINT32_MAX, R_X86_64_RELATIVE, false};
	static const struct table symbols = {sizeof(Elf64_Sym), offsetof(Elf64_Sym, st_value),
	    offsetof(Elf64_Sym, st_info), 0, 0xf, STT_FUNC, true};

	if (!(s->flags & SHF_ALLOC) || !s->data)
		return NULL;
	return s->type == SHT_RELA ? &relocations : s->type == SHT_DYNSYM ? &symbols : NULL;
}

typedef int word_fn(struct comparison *c, const struct word *w, bool odd, bool symbol);

/* Gives fn() the words of all tables. */
static int each_word(struct comparison *c, word_fn *fn)
{
	const struct elf_section *s = c->orig.section.v, *end = s + c->orig.section.n;
	const uint8_t *made, *p;
	const struct table *t;
	struct word w;
	uint64_t i;

	for (; s < end; s++) {
		t = table_of(s);
		/* One that is not in the file any more is found where all bytes are compared. */
		if (!t || s->offset > c->made.file.n || s->size > c->made.file.n - s->offset)
			continue;
		made = (const uint8_t *)c->made.file.p + s->offset;
		for (i = 0; i + t->entry <= s->size; i += t->entry) {
			p = s->data + i;
			w = (struct word){.at = s->offset + i + t->word,
			    .made = get_le64(made + i + t->word),
			    .orig = get_le64(p + t->word)};
			if (fn(c, &w, (get_le(p + t->info, t->size) & t->mask) != t->kind,
				t->symbol))
				return -1;
		}
	}
	return 0;
}

static int read_changed(struct comparison *c, const struct word *w, bool odd, bool symbol)
{
	return w->made == w->orig ? 0 : read_word(c, w, odd, symbol);
}

bool words_lead(const struct comparison *c, uint64_t addr)
{
	size_t k = partition_point(0, c->pointer.n, i, c->pointer.v[i] < addr);

	return k < c->pointer.n && c->pointer.v[k] == addr;
}

static int check_unchanged(struct comparison *c, const struct word *w, bool odd, bool symbol)
{
	(void)odd;
	(void)symbol;
	return w->made == w->orig && words_lead(c, w->orig)
		   ? differs(c, w, "others to the same function lead to its new body")
		   : 0;
}

int words_read(struct comparison *c)
{
	if (each_word(c, read_changed))
		return -1;
	vec_sort(&c->pointer, order_u64);
	if (c->pointer.n && loaded_has_words(&c->orig))
		return err_set(c->e,
		    "pointers to functions lead to new bodies, where data may hold others that "
		    "no table names");
	return each_word(c, check_unchanged);
}
