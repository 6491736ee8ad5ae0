/*
 * cov >= 400
 * Files to which code is added: one that is taken is whole afterwards, and differs from what it was
 * where it may alone.
 */
#include "common/elf/elf.h"
#include "editor-driver/append/splice.h"

#include <stdlib.h>
#include <string.h>

/* A record that says nothing, and the end. */
static const uint8_t FRAMES[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12,
    7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0};

static void add(struct splice_code *c, const struct place *w, uint64_t entry)
{
	buf_add(&c->code, FRAMES, sizeof FRAMES);
	c->frames = (struct eh_frames){FRAMES, sizeof FRAMES, w->code, 0};
	vec_push(&c->section, (struct splice_section){".text.morph", SHT_PROGBITS,
				  SHF_ALLOC | SHF_EXECINSTR, 1, w->code, NULL, sizeof FRAMES});
	vec_push(&c->section, (struct splice_section){".note.morph", SHT_NOTE, 0, 4, 0, FRAMES, 8});
	vec_push(&c->symbol, (struct splice_symbol){"f", w->code, 4, 0});
	vec_push(&c->jump, (struct splice_jump){entry, w->code, 16});
	vec_push(&c->word, (struct splice_word){entry - 64, w->code});
}

/* The headers, a jump, a word and the build-id are all that may differ. */
static void check(const struct original *o, const struct buf *out)
{
	size_t i, n = 0, most = 5 + 18 + o->id_n;

	if (out->n < o->file.n)
		abort();
	for (i = sizeof o->eh; i < o->file.n; i++)
		if (i - o->eh.e_phoff >= o->segment.n * sizeof *o->segment.v)
			n += o->file.p[i] != out->p[i];
	if (n > most)
		abort();
}

static void make(struct original *o)
{
	struct splice_code c = {.jump = {0}};
	struct buf out = {0};
	struct place w;

	if (!place_find(o, &w, NULL)) {
		add(&c, &w, o->eh.e_entry);
		if (!splice_make(o, &w, &c, &out, NULL))
			check(o, &out);
	}
	place_free(&w);
	buf_free(&out);
	buf_free(&c.code);
	vec_free(&c.section);
	vec_free(&c.symbol);
	vec_free(&c.jump);
	vec_free(&c.word);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct elf *f = elf_mem_open(p, n, "f", NULL);
	struct buf file = {0};
	struct build_id id = {0};
	struct original o;

	if (f)
		id = elf_file_build_id(f);
	elf_file_close(f);
	buf_add(&file, p, n);
	if (!original_parse(&file, "f", &id, &o, NULL))
		make(&o);
	original_free(&o);
	return 0;
}
