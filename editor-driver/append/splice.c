#include "editor-driver/append/splice.h"
#include "common/le.h"
#include "common/sort.h"
#include "editor-driver/append/index.h"
#include "editor-driver/append/sections.h"

#include <sodium.h>
#include <string.h>

enum { JUMP = 5 };

static void pad_to(struct buf *out, uint64_t n)
{
	memset(buf_grow(out, n - out->n), 0, n - out->n);
}

/* The segment up to its index, which follows the code. */
static int put_segment(const struct original *o, const struct place *w, const struct splice_code *c,
    struct splice_section *index, struct buf *out, struct err *e)
{
	struct buf made = {0};
	int rc;

	*index = (struct splice_section){.name = ".eh_frame_hdr",
	    .type = SHT_PROGBITS,
	    .flags = SHF_ALLOC,
	    .align = 4,
	    .addr = (w->code + c->code.n + 3) & ~(uint64_t)3};
	rc = index_make(&o->frames, &c->frames, index->addr, &made, e);
	if (rc)
		err_wrap(e, "%s", o->path);
	index->n = made.n;
	buf_add(out, o->file.p, o->file.n);
	pad_to(out, w->offset + (w->code - w->addr));
	buf_add(out, c->code.p, c->code.n);
	pad_to(out, w->offset + (index->addr - w->addr));
	buf_add(out, made.p, made.n);
	buf_free(&made);
	return rc;
}

static int put_jump(
    const struct original *o, const struct splice_jump *j, struct buf *out, struct err *e)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *p = original_at(o, j->from, sizeof endbr64, PF_X);
	uint64_t skip = p && !memcmp(p, endbr64, sizeof endbr64) ? sizeof endbr64 : 0;
	int64_t apart = (int64_t)(j->to - (j->from + skip + JUMP));
	uint8_t *at;

	p = original_at(o, j->from, skip + JUMP, PF_X);
	if (!p || j->size < skip + JUMP)
		return err_set(e, "%s: at %#llx there is no room for a jump to new code", o->path,
		    (unsigned long long)j->from);
	if (apart < INT32_MIN || apart > INT32_MAX)
		return err_set(e, "%s: new code would be too far from that at %#llx", o->path,
		    (unsigned long long)j->from);
	at = (uint8_t *)out->p + (p - (const uint8_t *)o->file.p) + skip;
	at[0] = 0xe9;
	put_le32(at + 1, (uint32_t)apart);
	return 0;
}

static const struct splice_symbol *symbol_at(const struct splice_code *c, uint64_t addr)
{
	size_t k = partition_point(0, c->symbol.n, i, c->symbol.v[i].addr < addr);

	return k < c->symbol.n && c->symbol.v[k].addr == addr ? &c->symbol.v[k] : NULL;
}

static int put_word(
    const struct original *o, const struct splice_word *w, struct buf *out, struct err *e)
{
	const uint8_t *p = original_at(o, w->at, sizeof w->to, PF_R);

	if (!p)
		return err_set(e, "%s: has nothing at %#llx, where the artifact names a word",
		    o->path, (unsigned long long)w->at);
	put_le64((uint8_t *)out->p + (p - (const uint8_t *)o->file.p), w->to);
	return 0;
}

/* A dynamic symbol that leads to a new body is of that one's section, and as long. */
static void put_symbol(const struct original *o, const struct splice_code *c,
    const struct splice_word *w, const Elf64_Shdr *table, struct buf *out)
{
	uint64_t i = (w->at - table->sh_addr) / sizeof(Elf64_Sym);
	const struct splice_symbol *s = symbol_at(c, w->to);
	Elf64_Sym sym;
	char *p;

	if (!s || w->at - table->sh_addr >= table->sh_size / sizeof sym * sizeof sym ||
	    (w->at - table->sh_addr) % sizeof sym != offsetof(Elf64_Sym, st_value))
		return;
	p = out->p + table->sh_offset + i * sizeof sym;
	memcpy(&sym, p, sizeof sym);
	sym.st_shndx = (uint16_t)(o->section.n + s->section);
	sym.st_size = s->size;
	memcpy(p, &sym, sizeof sym);
}

static void put_symbols(const struct original *o, const struct splice_code *c, struct buf *out)
{
	const Elf64_Shdr *h = o->section.v, *end = h + o->section.n;
	size_t i;

	for (; h < end; h++)
		for (i = 0; h->sh_type == SHT_DYNSYM && i < c->word.n; i++)
			put_symbol(o, c, &c->word.v[i], h, out);
}

static void put_headers(const struct original *o, struct place *w,
    const struct splice_section *index, Elf64_Ehdr *eh, struct buf *out)
{
	Elf64_Phdr *load = &w->segment.v[w->load], *frames = &w->segment.v[w->index];

	load->p_filesz = load->p_memsz = index->addr + index->n - w->addr;
	frames->p_vaddr = frames->p_paddr = index->addr;
	frames->p_offset = w->offset + (index->addr - w->addr);
	frames->p_filesz = frames->p_memsz = index->n;
	eh->e_phnum = (uint16_t)w->segment.n;
	if (w->moved)
		eh->e_phoff = w->offset;
	memcpy(out->p + eh->e_phoff, w->segment.v, w->segment.n * sizeof *w->segment.v);
	memcpy(out->p, eh, sizeof *eh);
}

/* A hash of all other bytes. */
static void put_build_id(const struct original *o, struct buf *out)
{
	uint8_t hash[crypto_generichash_BYTES];

	memset(out->p + o->id_at, 0, o->id_n);
	crypto_generichash(hash, sizeof hash, (const uint8_t *)out->p, out->n, NULL, 0);
	memcpy(out->p + o->id_at, hash, o->id_n);
}

int splice_make(const struct original *o, struct place *w, const struct splice_code *c,
    struct buf *out, struct err *e)
{
	struct splice_section index;
	Elf64_Ehdr eh = o->eh;
	size_t i;

	if (put_segment(o, w, c, &index, out, e) || sections_put(o, w, c, &index, out, &eh, e))
		return -1;
	for (i = 0; i < c->jump.n; i++)
		if (put_jump(o, &c->jump.v[i], out, e))
			return -1;
	for (i = 0; i < c->word.n; i++)
		if (put_word(o, &c->word.v[i], out, e))
			return -1;
	put_symbols(o, c, out);
	put_headers(o, w, &index, &eh, out);
	put_build_id(o, out);
	return 0;
}
