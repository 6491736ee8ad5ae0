/*
 * Pointers of data into code.
 */
#include "common/elf/addresses.h"
#include "common/le.h"
#include "common/sort.h"
#include "lifter/image.h"

#include <elf.h>
#include <string.h>

/* ---- words that are known to be such ---- */

static int by_target(const void *a, const void *b)
{
	const struct image_word *x = a, *y = b;

	return ORDER(x->to, y->to) ?: ORDER(x->addr, y->addr);
}

static void add_word(struct image *m, uint64_t to, uint64_t addr, bool symbol)
{
	if (image_code(m, to))
		vec_push(&m->word, (struct image_word){to, addr, symbol});
}

/* The loader's. */
static void read_relocations(struct image *m, const struct elf_section *s)
{
	const uint8_t *r = s->data, *end = r + s->size / sizeof(Elf64_Rela) * sizeof(Elf64_Rela);

	for (; r < end; r += sizeof(Elf64_Rela))
		if (ELF64_R_TYPE(get_le64(r + offsetof(Elf64_Rela, r_info))) == R_X86_64_RELATIVE)
			add_word(m, get_le64(r + offsetof(Elf64_Rela, r_addend)),
			    s->addr + (uint64_t)(r - s->data) + offsetof(Elf64_Rela, r_addend),
			    false);
}

struct symbols {
	struct image *m;
	VEC(uint64_t) value; /* by number */
};

static int add_static(const struct elf_symbol *s, void *arg)
{
	struct symbols *all = arg;

	vec_push(&all->value, s->value);
	return 0;
}

static int add_dynamic(const struct elf_symbol *s, void *arg)
{
	struct symbols *all = arg;
	uint64_t at = all->m->symbols.addr + all->value.n * sizeof(Elf64_Sym);

	vec_push(&all->value, s->value);
	if (s->shndx == SHN_UNDEF)
		return 0;
	if (s->type == STT_FUNC)
		add_word(all->m, s->value, at + offsetof(Elf64_Sym, st_value), true);
	else if (image_code(all->m, s->value))
		vec_push(&all->m->shown, s->value);
	return 0;
}

static int read_symbols(struct symbols *all, bool dynamic)
{
	vec_push(&all->value, 0); /* number 0 is none */
	return elf_file_symbols(all->m->f, dynamic, dynamic ? add_dynamic : add_static, all);
}

/* Those that ld used and kept: a pointer is what both it and the file say. */
static void read_kept(const struct symbols *all, const struct elf_section *s)
{
	const uint8_t *r = s->data, *end = r + s->size / sizeof(Elf64_Rela) * sizeof(Elf64_Rela);
	const uint8_t *p;
	uint64_t info, to, at;

	for (; r < end; r += sizeof(Elf64_Rela)) {
		info = get_le64(r + offsetof(Elf64_Rela, r_info));
		at = get_le64(r + offsetof(Elf64_Rela, r_offset));
		p = image_at(all->m, at, 8);
		if (ELF64_R_TYPE(info) != R_X86_64_64 || ELF64_R_SYM(info) >= all->value.n || !p ||
		    image_executable(all->m, at))
			continue;
		to = all->value.v[ELF64_R_SYM(info)] + get_le64(r + offsetof(Elf64_Rela, r_addend));
		if (get_le64(p) == to)
			add_word(all->m, to, at, false);
	}
}

/* Is a section of relocations of one that is loaded? */
static bool is_of_loaded(const struct image *m, const struct elf_section *s)
{
	static const char rela[] = ".rela";
	struct elf_section of;

	return !strncmp(s->name, rela, strlen(rela)) &&
	       elf_file_section(m->f, s->name + strlen(rela), &of, NULL) > 0 &&
	       of.flags & SHF_ALLOC;
}

static int read_all_kept(struct image *m)
{
	struct symbols all = {.m = m};
	const struct elf_section *s = m->kept.v, *end = s + m->kept.n;
	int rc = s < end ? read_symbols(&all, false) : 0;

	for (; !rc && s < end; s++)
		if (is_of_loaded(m, s))
			read_kept(&all, s);
	vec_free(&all.value);
	return rc;
}

static int read_dynamic(struct image *m)
{
	struct symbols all = {.m = m};
	int rc = read_symbols(&all, true);

	vec_free(&all.value);
	return rc;
}

/* ---- bytes that might be ---- */

static void search(struct image *m, const struct addresses *of, const uint64_t *place)
{
	const struct image_segment *g = m->segment.v, *end = g + m->segment.n;
	uint64_t found;
	size_t i;

	for (; g < end; g++)
		for (i = 0;
		     (i = addresses_next(of, m->p + g->offset, g->filesz, i, &found)) < g->filesz;
		     i++)
			if (!sorted_has(place, m->word.n, g->vaddr + i))
				vec_push(&m->shown, found);
}

/* Where addresses are fixed they may be in any four bytes: operands, numbers. */
static void find_shown(struct image *m)
{
	uint64_t *place = xmalloc((m->word.n + 1) * sizeof *place);
	struct addresses of = {0};
	size_t i;

	for (i = 0; i < m->word.n; i++)
		place[i] = m->word.v[i].to;
	m->odd_pointers |= !m->word.n || addresses_make(&of, place, m->word.n);
	for (i = 0; i < m->word.n; i++)
		place[i] = m->word.v[i].addr;
	qsort(place, m->word.n, sizeof *place, order_u64);
	if (!m->odd_pointers)
		search(m, &of, place);
	addresses_free(&of);
	free(place);
}

static void add_pointer(struct image *m, uint64_t v)
{
	if (image_code(m, v))
		vec_push(&m->pointer, v);
}

/* Where addresses are fixed every word might be one; else relocations say which are. */
static void find_pointers(struct image *m)
{
	const struct image_segment *s, *end = m->segment.v + m->segment.n;
	uint64_t at, n = 0;
	size_t i;

	for (i = 0; i < m->slot.n; i++)
		if (m->slot.v[i].type == R_X86_64_RELATIVE ||
		    m->slot.v[i].type == R_X86_64_IRELATIVE)
			add_pointer(m, (uint64_t)m->slot.v[i].addend);
	for (s = m->segment.v; s < end; s++) {
		if (s->flags & PF_X)
			continue;
		for (at = -s->vaddr % 8; at + 8 <= s->filesz; at += 8)
			add_pointer(m, get_le64(m->p + s->offset + at));
	}
	vec_sort(&m->pointer, order_u64);
	for (i = 0; i < m->pointer.n; i++)
		if (!n || m->pointer.v[n - 1] != m->pointer.v[i])
			m->pointer.v[n++] = m->pointer.v[i];
	m->pointer.n = n;
}

/* ---- all of them ---- */

int image_read_pointers(struct image *m)
{
	bool fixed = m->kind == ELF_EXEC;
	size_t i;

	for (i = 0; i < m->relocs.n; i++)
		read_relocations(m, &m->relocs.v[i]);
	if ((fixed && read_all_kept(m)) || read_dynamic(m))
		return -1;
	vec_sort(&m->word, by_target);
	if (fixed)
		find_shown(m);
	vec_sort(&m->shown, order_u64);
	find_pointers(m);
	return 0;
}

bool image_points(const struct image *m, uint64_t from, uint64_t to)
{
	size_t k = partition_point(0, m->pointer.n, i, m->pointer.v[i] < from);

	return k < m->pointer.n && m->pointer.v[k] < to;
}

bool image_leads(const struct image *m, uint64_t addr)
{
	return !m->odd_pointers && !sorted_has(m->shown.v, m->shown.n, addr);
}
