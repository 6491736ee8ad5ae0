/*
 * cov >= 180
 * Block maps. Even first byte: the rest is a blob. Odd: the rest, behind a
 * length, is .llvm_bb_addr_map and .morph.fn of an ELF file made around them.
 * What is read must encode and decode to the same, and be the same put together from its halves.
 */
#include "common/elf/blockmap.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char names[] = "\0.llvm_bb_addr_map\0.morph.fn\0.shstrtab";

static void add_section(struct buf *b, Elf64_Shdr *sh, unsigned name, const void *p, size_t n)
{
	*sh =
	    (Elf64_Shdr){.sh_name = name, .sh_type = SHT_PROGBITS, .sh_offset = b->n, .sh_size = n};
	buf_add(b, p, n);
}

static void make_elf(struct buf *b, const uint8_t *map, size_t nmap, const uint8_t *fn, size_t nfn)
{
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = ET_EXEC,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT,
	    .e_ehsize = sizeof eh,
	    .e_shentsize = sizeof(Elf64_Shdr),
	    .e_shnum = 4,
	    .e_shstrndx = 3};
	Elf64_Shdr sh[4] = {0};

	buf_grow(b, sizeof eh);
	add_section(b, &sh[1], 1, map, nmap);
	sh[1].sh_type = 0x6fff4c0a;
	add_section(b, &sh[2], 19, fn, nfn);
	add_section(b, &sh[3], 29, names, sizeof names);
	sh[3].sh_type = SHT_STRTAB;
	eh.e_shoff = b->n;
	buf_add(b, sh, sizeof sh);
	memcpy(b->p, &eh, sizeof eh);
}

static void put_half(const struct blockmap *m, size_t from, size_t to, struct blockmap *half)
{
	struct bm_frag f;
	size_t i, k;

	blockmap_copy(m, half);
	half->frag.n = half->block.n = 0;
	for (i = from; i < to; i++) {
		f = m->frag.v[i];
		f.first = (uint32_t)half->block.n;
		vec_push(&half->frag, f);
		for (k = 0; k < f.n; k++)
			vec_push(&half->block, m->block.v[m->frag.v[i].first + k]);
	}
}

static void check_halves(const struct blockmap *m, const struct buf *encoded)
{
	size_t middle = m->frag.n / 2;
	struct blockmap original, made;
	struct buf whole = {0};

	put_half(m, 0, middle, &original);
	put_half(m, middle, m->frag.n, &made);
	blockmap_put_original(&made, &original);
	blockmap_encode(&made, &whole);
	if (whole.n != encoded->n || memcmp(whole.p, encoded->p, whole.n))
		abort();
	blockmap_free(&original);
	blockmap_free(&made);
	buf_free(&whole);
}

static void check(struct blockmap *m)
{
	struct buf once = {0}, twice = {0};
	struct blockmap back;
	struct err e;
	size_t i;

	blockmap_encode(m, &once);
	if (blockmap_decode(once.p, once.n, &back, &e))
		abort();
	blockmap_encode(&back, &twice);
	if (once.n != twice.n || memcmp(once.p, twice.p, once.n))
		abort();
	for (i = 0; i < m->block.n; i++)
		if (m->block.v[i].size &&
		    blockmap_find(m, m->block.v[i].addr + m->block.v[i].size - 1) != &m->block.v[i])
			abort();
	check_halves(m, &once);
	blockmap_free(&back);
	buf_free(&once);
	buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct blockmap m = {0};
	struct buf b = {0};
	struct elf *f = NULL;
	struct err e;
	size_t nmap;
	int r;

	if (n < 2)
		return 0;
	if (p[0] & 1) {
		nmap = p[1] < n - 2 ? p[1] : n - 2;
		make_elf(&b, p + 2, nmap, p + 2 + nmap, n - 2 - nmap);
		f = elf_mem_open(b.p, b.n, "fuzz", &e);
		if (!f)
			abort();
		r = blockmap_from_elf(f, &m, &e);
	} else {
		r = blockmap_decode(p + 1, n - 1, &m, &e);
	}
	if (!r)
		check(&m);
	blockmap_free(&m);
	elf_file_close(f);
	buf_free(&b);
	return 0;
}
