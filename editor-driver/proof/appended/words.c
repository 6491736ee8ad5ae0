/*
 * Pointers to labels, as a table of a computed goto has them: the loader makes them from words of
 * the relocation tables. One that led into a function may lead to the same place in its new body.
 */
#include "common/le.h"
#include "editor-driver/proof/appended/comparison.h"

static int differs(struct comparison *c, const struct word *w, const char *what)
{
	*c->where = w->made;
	return err_set(c->e, "the relocation at offset %#llx that led to %#llx leads to %#llx: %s",
	    (unsigned long long)w->at, (unsigned long long)w->orig, (unsigned long long)w->made,
	    what);
}

static int read_word(struct comparison *c, const struct word *w, uint32_t type)
{
	const struct frame *f = frames_find(&c->orig_frames, w->orig);

	if (type != R_X86_64_RELATIVE)
		return differs(c, w, "it is of another kind than those of labels");
	if (!f || f->fde.pc == w->orig)
		return differs(c, w, "that was no label in a function");
	if (!in_text(c, w->made))
		return differs(c, w, "that is not new code");
	vec_push(&c->word, *w);
	walk_add(c, w->made, w->orig, SPOT_UNKNOWN);
	return 0;
}

static int read_table(struct comparison *c, const struct elf_section *s)
{
	const uint8_t *made = (const uint8_t *)c->made.file.p + s->offset;
	struct word w;
	uint64_t i;

	if (s->offset > c->made.file.n || s->size > c->made.file.n - s->offset)
		return 0; /* which the comparison of all bytes finds */
	for (i = 0; i + sizeof(Elf64_Rela) <= s->size; i += sizeof(Elf64_Rela)) {
		w = (struct word){.at = s->offset + i + offsetof(Elf64_Rela, r_addend),
		    .made = get_le64(made + i + offsetof(Elf64_Rela, r_addend)),
		    .orig = get_le64(s->data + i + offsetof(Elf64_Rela, r_addend))};
		if (w.made != w.orig &&
		    read_word(c, &w, get_le32(s->data + i + offsetof(Elf64_Rela, r_info))))
			return -1;
	}
	return 0;
}

int words_read(struct comparison *c)
{
	const struct elf_section *s = c->orig.section.v, *end = s + c->orig.section.n;

	for (; s < end; s++)
		if (s->type == SHT_RELA && s->flags & SHF_ALLOC && s->data && read_table(c, s))
			return -1;
	return 0;
}
