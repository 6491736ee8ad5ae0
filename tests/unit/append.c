#include "common/elf/blockmap.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "editor-driver/append/append.h"
#include "editor-driver/append/splice.h"
#include "tests/unit/handmade.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

static char dir[64];

static void enter(void)
{
	strcpy(dir, "/tmp/morph-append-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void leave(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	dir_remove(dir, NULL);
}

/* ---- what is added ---- */

/* mov $42, %eax; ret, and the end of a record in unwind information that says nothing. */
static const uint8_t NEW_F[] = {0xb8, 42, 0, 0, 0, 0xc3, 0x90, 0x90};
enum { FRAMES_AT = sizeof NEW_F, CIE = 24, FDE = 20 };

static void put_frames(uint64_t code, struct buf *out)
{
	static const uint8_t cie[CIE] = {
	    20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0};

	buf_add(out, cie, sizeof cie);
	buf_le32(out, FDE - 4);
	buf_le32(out, CIE + 4);
	buf_le32(out, (uint32_t) - (FRAMES_AT + CIE + 8));
	buf_le32(out, 6);
	buf_le32(out, 0);
	buf_le32(out, 0); /* the end of all */
}

struct added {
	struct splice_code c;
	struct buf sections[2]; /* .llvm_bb_addr_map, .morph.fn */
};

static void add_section(struct added *a, const char *name, uint32_t type, const struct buf *b)
{
	vec_push(&a->c.section,
	    (struct splice_section){
		.name = name, .type = type, .align = 1, .p = (const uint8_t *)b->p, .n = b->n});
}

/* A fragment of one block of 6 bytes. */
static void put_sections(uint64_t addr, struct added *a)
{
	static const uint8_t version[] = {2, 0}, block[] = {1, 0, 0, 6, 0};

	buf_add(&a->sections[0], version, sizeof version);
	buf_le64(&a->sections[0], addr);
	buf_add(&a->sections[0], block, sizeof block);
	buf_le64(&a->sections[1], addr);
	buf_le64(&a->sections[1], 7);
	buf_le64(&a->sections[1], 0);
}

static void make_added(const struct handmade *h, const struct place *w, struct added *a)
{
	*a = (struct added){{{0}}};
	buf_add(&a->c.code, NEW_F, sizeof NEW_F);
	put_frames(w->code, &a->c.code);
	a->c.frames = (struct eh_frames){
	    (uint8_t *)a->c.code.p + FRAMES_AT, a->c.code.n - FRAMES_AT, w->code + FRAMES_AT, 0};
	vec_push(&a->c.section, (struct splice_section){".text.morph", SHT_PROGBITS,
				    SHF_ALLOC | SHF_EXECINSTR, 1, w->code, NULL, FRAMES_AT});
	vec_push(&a->c.section, (struct splice_section){".eh_frame.morph", SHT_PROGBITS, SHF_ALLOC,
				    8, w->code + FRAMES_AT, NULL, a->c.frames.size});
	put_sections(w->code, a);
	add_section(a, ".llvm_bb_addr_map", 0x6fff4c0a, &a->sections[0]);
	add_section(a, ".morph.fn", SHT_PROGBITS, &a->sections[1]);
	vec_push(&a->c.symbol, (struct splice_symbol){"f", w->code, 6, 0});
	vec_push(&a->c.jump, (struct splice_jump){h->base + MADE_F, w->code, h->cet ? 10 : 6});
}

static void free_added(struct added *a)
{
	buf_free(&a->c.code);
	vec_free(&a->c.section);
	vec_free(&a->c.symbol);
	vec_free(&a->c.jump);
	buf_free(&a->sections[0]);
	buf_free(&a->sections[1]);
}

/* Adds code to bytes, which it takes over. */
static int add_to(const struct handmade *h, struct buf *bytes, struct buf *out, struct err *e)
{
	struct build_id id = handmade_id(h);
	struct place w = {0};
	struct added a = {{{0}}};
	struct original o;
	int rc = original_parse(bytes, "program", &id, &o, e) || place_find(&o, &w, e) ? -1 : 0;

	if (!rc) {
		make_added(h, &w, &a);
		rc = splice_make(&o, &w, &a.c, out, e);
	}
	free_added(&a);
	place_free(&w);
	original_free(&o);
	return rc;
}

/* ---- files ---- */

static const struct handmade PROGRAMS[] = {
    {0x400000, true, true, true, true, true, false, false, 0x50, 20},
    {0, true, true, true, true, true, false, true, 0x50, 20},
    {0, false, true, true, true, true, true, false, 0x5000, 20},
    {0x400000, false, false, true, true, false, false, false, 0, 16},
    {0x400000, true, false, false, true, true, false, false, 0x3000, 8},
    {0, false, false, false, true, true, false, true, 0, 32},
    {0x400000, true, true, true, false, false, false, false, 0x50, 20},
    {0, false, true, true, false, false, false, true, 0, 20},
    {0x10000, true, true, true, true, true, true, true, 3 << 20, 20},
};
enum { NPROGRAMS = sizeof PROGRAMS / sizeof *PROGRAMS };

static void make(const struct handmade *h, struct buf *before, struct buf *after)
{
	struct err e = {{0}};
	struct buf bytes = {0};

	handmade_bytes(h, before);
	buf_add(&bytes, before->p, before->n);
	ck_assert_msg(!add_to(h, &bytes, after, &e), "%s", e.text);
}

static int status_of(const struct buf *program)
{
	const char *const argv[] = {"./program", NULL};
	struct err e;

	ck_assert_int_eq(publish_bytes("program", program->p, program->n, 0755, &e), 0);
	return spawn_run(&(struct spawn){.argv = argv}, &e);
}

START_TEST(runs)
{
	struct buf before = {0}, after = {0};

	make(&PROGRAMS[_i], &before, &after);
	ck_assert_int_eq(status_of(&before), 1);
	ck_assert_int_eq(status_of(&after), 42);
	buf_free(&before);
	buf_free(&after);
}
END_TEST

static bool within(size_t at, size_t from, size_t n)
{
	return at - from < n;
}

/* No other byte changes: in the ELF header only where tables are. */
START_TEST(the_rest_stays)
{
	const struct handmade *h = &PROGRAMS[_i];
	size_t jump = MADE_F + (h->cet ? 4 : 0), i;
	struct buf before = {0}, after = {0};
	const Elf64_Ehdr *eh;

	make(h, &before, &after);
	eh = (const void *)before.p;
	for (i = 0; i < before.n; i++)
		ck_assert_msg(before.p[i] == after.p[i] || within(i, jump, 5) ||
				  within(i, MADE_ID, h->id) ||
				  within(i, offsetof(Elf64_Ehdr, e_phoff), 16) ||
				  within(i, offsetof(Elf64_Ehdr, e_phnum), 8) ||
				  within(i, eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr)),
		    "byte %#zx", i);
	ck_assert_int_eq((uint8_t)after.p[jump], 0xe9);
	ck_assert_mem_ne(before.p + MADE_ID, after.p + MADE_ID, h->id);
	buf_free(&before);
	buf_free(&after);
}
END_TEST

static const Elf64_Phdr *segment(const struct buf *b, uint32_t type, unsigned k)
{
	const Elf64_Ehdr *eh = (const void *)b->p;
	const Elf64_Phdr *p = (const void *)(b->p + eh->e_phoff), *end = p + eh->e_phnum;

	for (; p < end; p++)
		if (p->p_type == type && !k--)
			return p;
	return NULL;
}

static unsigned segments(const struct buf *b)
{
	return ((const Elf64_Ehdr *)b->p)->e_phnum;
}

START_TEST(segments_are_right)
{
	const struct handmade *h = &PROGRAMS[_i];
	struct buf before = {0}, after = {0};
	const Elf64_Phdr *first, *data, *code, *phdr, *index;
	const Elf64_Ehdr *eh;

	make(h, &before, &after);
	eh = (const void *)after.p;
	first = segment(&after, PT_LOAD, 0);
	data = segment(&after, PT_LOAD, 1);
	code = segment(&after, PT_LOAD, 2);
	phdr = segment(&after, PT_PHDR, 0);
	index = segment(&after, PT_GNU_EH_FRAME, 0);
	ck_assert_ptr_nonnull(code);
	ck_assert_uint_eq(code->p_flags, PF_R | PF_X);
	ck_assert_uint_ge(code->p_vaddr, data->p_vaddr + data->p_memsz);
	ck_assert_uint_ge(code->p_offset, before.n);
	ck_assert_uint_eq((code->p_vaddr - code->p_offset) % 4096, 0);
	ck_assert_uint_le(code->p_offset + code->p_filesz, after.n);
	ck_assert_uint_eq(data->p_memsz, 0x100 + h->zeroes);
	ck_assert(index && index->p_vaddr - code->p_vaddr < code->p_memsz);
	ck_assert_uint_eq(index->p_vaddr - index->p_offset, code->p_vaddr - code->p_offset);
	ck_assert(h->phdr == !!phdr);
	if (h->spare && h->index) {
		ck_assert_uint_eq(segments(&after), segments(&before));
		ck_assert_uint_eq(eh->e_phoff, sizeof *eh);
		ck_assert_uint_eq(segment(&after, PT_NOTE, 0)->p_offset, MADE_ID - 16);
	} else {
		ck_assert_uint_eq(segments(&after), segments(&before) + (h->index ? 1 : 2));
		ck_assert_uint_eq(eh->e_phoff, code->p_offset);
		ck_assert_uint_eq(code->p_vaddr - code->p_offset, first->p_vaddr - first->p_offset);
	}
	if (phdr) {
		ck_assert_ptr_eq(phdr, after.p + eh->e_phoff);
		ck_assert_uint_eq(phdr->p_offset, eh->e_phoff);
		ck_assert_uint_eq(phdr->p_filesz, segments(&after) * sizeof *phdr);
		ck_assert_uint_eq(phdr->p_vaddr - phdr->p_offset, first->p_vaddr - first->p_offset);
	}
	buf_free(&before);
	buf_free(&after);
}
END_TEST

static struct elf *open_after(const struct buf *after)
{
	struct err e = {{0}};
	struct elf *f = elf_mem_open(after->p, after->n, "after", &e);

	ck_assert_msg(f != NULL, "%s", e.text);
	return f;
}

static int count_f(const struct elf_symbol *s, void *arg)
{
	unsigned *n = arg;

	n[0]++;
	n[1] += !strcmp(s->name, "f") && s->type == STT_FUNC;
	return 0;
}

START_TEST(sections_are_right)
{
	const struct handmade *h = &PROGRAMS[_i];
	struct buf before = {0}, after = {0};
	struct blockmap m = {0};
	struct elf_section s;
	struct err e = {{0}};
	unsigned n[2] = {0};
	struct build_id id;
	struct elf *f;

	make(h, &before, &after);
	f = open_after(&after);
	ck_assert_int_eq(elf_file_section(f, ".text.morph", &s, &e), 1);
	ck_assert_mem_eq(s.data, NEW_F, sizeof NEW_F);
	ck_assert_int_eq(elf_file_section(f, ".eh_frame_hdr", &s, &e), 1);
	ck_assert_uint_eq(s.addr, segment(&after, PT_GNU_EH_FRAME, 0)->p_vaddr);
	ck_assert_int_eq(elf_file_section(f, ".eh_frame_hdr.original", &s, &e), h->sections);
	id = elf_file_build_id(f);
	ck_assert_uint_eq(id.n, h->id);
	ck_assert_mem_eq(id.b, after.p + MADE_ID, h->id);
	ck_assert_msg(!blockmap_from_elf(f, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.frag.n, 1);
	ck_assert_int_eq(elf_file_section(f, ".text.morph", &s, &e), 1);
	ck_assert_uint_eq(m.frag.v[0].addr, s.addr);
	ck_assert_int_eq(elf_file_symbols(f, false, count_f, n), 0);
	ck_assert_uint_eq(n[0], h->sections && h->symbols ? 2 : 0);
	ck_assert_uint_eq(n[1], n[0] - (n[0] && h->one_strings));
	blockmap_free(&m);
	elf_file_close(f);
	buf_free(&before);
	buf_free(&after);
}
END_TEST

/* Ascending, and each entry's record says where its code begins. */
START_TEST(the_index_has_all)
{
	const struct handmade *h = &PROGRAMS[_i];
	struct buf before = {0}, after = {0};
	const Elf64_Phdr *index, *code;
	uint64_t pc[3], at, k;
	const uint8_t *p, *record;

	make(h, &before, &after);
	index = segment(&after, PT_GNU_EH_FRAME, 0);
	code = segment(&after, PT_LOAD, 2);
	p = (const uint8_t *)after.p + index->p_offset;
	ck_assert_mem_eq(p, "\1\x1b\3\x3b", 4);
	ck_assert_uint_eq(
	    index->p_vaddr + 4 + (uint64_t)(int32_t)get_le32(p + 4), h->base + MADE_FRAMES);
	ck_assert_uint_eq(get_le32(p + 8), 3);
	ck_assert_uint_eq(index->p_filesz, 12 + 3 * 8);
	for (k = 0; k < 3; k++) {
		pc[k] = index->p_vaddr + (uint64_t)(int32_t)get_le32(p + 12 + 8 * k);
		at = index->p_vaddr + (uint64_t)(int32_t)get_le32(p + 16 + 8 * k);
		record = (const uint8_t *)after.p +
			 (at >= code->p_vaddr ? at - code->p_vaddr + code->p_offset : at - h->base);
		ck_assert_uint_eq(at + 8 + (uint64_t)(int32_t)get_le32(record + 8), pc[k]);
	}
	ck_assert_uint_eq(pc[0], h->base + MADE_CODE);
	ck_assert_uint_eq(pc[1], h->base + MADE_F);
	ck_assert_uint_ge(pc[2], code->p_vaddr);
	buf_free(&before);
	buf_free(&after);
}
END_TEST

START_TEST(the_same_gives_the_same)
{
	struct buf before = {0}, after = {0}, again = {0};

	make(&PROGRAMS[0], &before, &after);
	before.n = 0;
	make(&PROGRAMS[0], &before, &again);
	ck_assert_uint_eq(after.n, again.n);
	ck_assert_mem_eq(after.p, again.p, after.n);
	buf_free(&before);
	buf_free(&after);
	buf_free(&again);
}
END_TEST

/* ---- what is refused ---- */

static Elf64_Ehdr *header(struct buf *b)
{
	return (void *)b->p;
}

static Elf64_Phdr *load(struct buf *b, unsigned k)
{
	return (Elf64_Phdr *)segment(b, PT_LOAD, k);
}

static Elf64_Shdr *section(struct buf *b, unsigned k)
{
	return (Elf64_Shdr *)(b->p + header(b)->e_shoff) + k;
}

static void not_its_id(struct buf *b)
{
	b->p[MADE_ID] ^= 1;
}
static void payload(struct buf *b)
{
	buf_str(b, "payload");
}
static void object(struct buf *b)
{
	header(b)->e_type = ET_CORE;
}
static void overlap(struct buf *b)
{
	load(b, 1)->p_vaddr = load(b, 0)->p_vaddr;
}
static void beyond(struct buf *b)
{
	load(b, 1)->p_vaddr = UINT64_MAX - 0xfff;
}
static void misplaced(struct buf *b)
{
	load(b, 1)->p_vaddr += 8;
}
static void too_small(struct buf *b)
{
	load(b, 1)->p_memsz = 1;
}
static void no_load(struct buf *b)
{
	load(b, 0)->p_type = load(b, 1)->p_type = PT_NULL;
}
static void no_names(struct buf *b)
{
	header(b)->e_shstrndx = 1;
}
static void odd_symbols(struct buf *b)
{
	section(b, 5)->sh_entsize = 8;
}
static void odd_strings(struct buf *b)
{
	section(b, 5)->sh_link = 99;
}
static void odd_frames(struct buf *b)
{
	b->p[MADE_FRAMES + 11] = 1;
}
static void far(struct buf *b)
{
	load(b, 1)->p_memsz = 3UL << 30;
}
static void no_code(struct buf *b)
{
	load(b, 0)->p_flags = PF_R;
}
static void cut(struct buf *b)
{
	b->n = MADE_DATA;
}

static const struct {
	void (*fn)(struct buf *);
	const char *error;
} WRONG[] = {{not_its_id, "not the build that the artifact is of"}, {payload, "7 bytes follow"},
    {object, "neither an executable nor a shared library"}, {overlap, "not ascending, or overlap"},
    {beyond, "not ascending, or overlap"}, {misplaced, "not at its place in a page"},
    {too_small, "not ascending, or overlap"}, {no_load, "nothing of it is loaded"},
    {no_names, "sections have no names"}, {odd_symbols, "damaged symbol table"},
    {odd_strings, "damaged symbol table"}, {odd_frames, "unwind information at 0x"},
    {far, "too far"}, {no_code, "no room for a jump"}, {cut, "damaged ELF header"}};

START_TEST(refused)
{
	const struct handmade *h = &PROGRAMS[0];
	struct buf bytes = {0}, out = {0};
	struct err e = {{0}};

	handmade_bytes(h, &bytes);
	WRONG[_i].fn(&bytes);
	ck_assert_int_eq(add_to(h, &bytes, &out, &e), -1);
	ck_assert_msg(strstr(e.text, WRONG[_i].error) && strstr(e.text, "program"), "%s", e.text);
	ck_assert_ptr_null(strchr(e.text, '\n'));
	buf_free(&out);
}
END_TEST

/* Where the table of program headers has to move, it takes as much of the file as of memory. */
START_TEST(a_large_hole)
{
	struct handmade h = PROGRAMS[2];
	struct buf bytes = {0}, out = {0};
	struct err e = {{0}};

	h.zeroes = 100 << 20;
	handmade_bytes(&h, &bytes);
	ck_assert_int_eq(add_to(&h, &bytes, &out, &e), -1);
	ck_assert_msg(strstr(e.text, "its zeroed data would take 99 MiB"), "%s", e.text);
	buf_free(&out);
}
END_TEST

/* A jump takes 5 bytes, behind endbr64. */
START_TEST(short_functions)
{
	static const uint64_t size[2][2] = {{5, 4}, {9, 8}};
	struct build_id id;
	struct buf bytes, out;
	struct original o;
	struct place w;
	struct added a;
	struct err e;
	unsigned i;

	for (i = 0; i < 2; i++) {
		bytes = out = (struct buf){0};
		handmade_bytes(&PROGRAMS[_i], &bytes);
		id = handmade_id(&PROGRAMS[_i]);
		ck_assert_int_eq(original_parse(&bytes, "program", &id, &o, &e), 0);
		ck_assert_int_eq(place_find(&o, &w, &e), 0);
		make_added(&PROGRAMS[_i], &w, &a);
		a.c.jump.v[0].size = size[PROGRAMS[_i].cet][i];
		ck_assert_int_eq(splice_make(&o, &w, &a.c, &out, &e), -(int)i);
		free_added(&a);
		place_free(&w);
		original_free(&o);
		buf_free(&out);
	}
}
END_TEST

/* Cut off, or with any byte changed: an error or a file, and no harm. */
START_TEST(damaged_files_do_no_harm)
{
	const struct handmade *h = &PROGRAMS[_i];
	struct buf whole = {0}, bytes, out;
	struct err e;
	size_t i;

	handmade_bytes(h, &whole);
	for (i = 0; i < 2 * whole.n; i += i < 0x700 || i % whole.n >= MADE_END ? 1 : 17) {
		bytes = out = (struct buf){0};
		buf_add(&bytes, whole.p, i < whole.n ? whole.n : i - whole.n);
		if (i < whole.n)
			bytes.p[i] ^= (char)(1 << i % 8 | 0x40);
		e.text[0] = '\0';
		if (add_to(h, &bytes, &out, &e))
			ck_assert_str_ne(e.text, "");
		buf_free(&out);
	}
	buf_free(&whole);
}
END_TEST

/* ---- whose old body is forgotten ---- */

/* A fragment of one block of 6 bytes. */
static void put_block(struct blockmap *m, uint64_t addr, uint64_t tu, uint32_t fragment)
{
	vec_push(&m->frag, (struct bm_frag){addr, tu, 6, 0, fragment, (uint32_t)m->block.n, 1});
	vec_push(&m->block, (struct bm_block){addr, 6, 0, (uint32_t)m->frag.n - 1});
}

START_TEST(old_bodies_are_forgotten)
{
	static const struct {
		uint64_t addr, tu;
		uint32_t fragment;
		bool kept;
	} all[] = {{0x100, 1, 0, false}, {0x200, 2, 0, true}, {0x300, 1, 1, false},
	    {0x400, 2, 1, true}, {0x1000, 1, 0, true}, {0x1100, 1, 1, true}};
	struct blockmap original = {0}, made = {0};
	const struct bm_frag *f;
	size_t i, k = 0;

	for (i = 0; i < sizeof all / sizeof *all; i++) {
		put_block(&made, all[i].addr, all[i].tu, all[i].fragment);
		if (all[i].addr < 0x1000)
			put_block(&original, all[i].addr, all[i].tu, all[i].fragment);
	}
	append_forget_old(&original, &made);
	for (i = 0; i < sizeof all / sizeof *all; i++) {
		if (!all[i].kept)
			continue;
		ck_assert_uint_lt(k, made.frag.n);
		f = &made.frag.v[k];
		ck_assert_uint_eq(f->addr, all[i].addr);
		ck_assert_uint_eq(f->first, k);
		ck_assert_uint_eq(made.block.v[k].addr, all[i].addr);
		ck_assert_uint_eq(made.block.v[k].frag, k);
		k++;
	}
	ck_assert_uint_eq(made.frag.n, k);
	ck_assert_uint_eq(made.block.n, k);
	blockmap_free(&original);
	blockmap_free(&made);
}
END_TEST

UNIT_MAIN("append", 60, enter, leave, UNIT_LOOP(runs, NPROGRAMS),
    UNIT_LOOP(the_rest_stays, NPROGRAMS), UNIT_LOOP(segments_are_right, NPROGRAMS),
    UNIT_LOOP(sections_are_right, NPROGRAMS), UNIT_LOOP(the_index_has_all, NPROGRAMS),
    the_same_gives_the_same, UNIT_LOOP(refused, sizeof WRONG / sizeof *WRONG), a_large_hole,
    UNIT_LOOP(short_functions, 2), UNIT_LOOP(damaged_files_do_no_harm, NPROGRAMS),
    old_bodies_are_forgotten)
