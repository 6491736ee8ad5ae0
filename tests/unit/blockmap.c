#include "common/elf/blockmap.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

/* f: two blocks and a cold one elsewhere; g: one block, collected where the
 * linker collects; h: a foreign entry with every feature and two ranges; the
 * empty function e0 shares its address with e1. */
static const char source[] =
    "	.text\n"
    "	.globl main\n"
    "main:\n"
    ".Lf0:	nop\n"
    "	nop\n"
    ".Lf1:	xorl %eax, %eax\n"
    "	ret\n"
    ".Lf2:\n"
    "	.p2align 4\n"
    ".Lh0:	ret\n"
    ".Lh1:\n"
    "e0:\n"
    "e1:\n"
    ".Le0:	ret\n"
    ".Le1:\n"
    "	.section .llvm_bb_addr_map,\"o\",@0x6fff4c0a,.text\n"
    "	.byte 2,0\n	.quad .Lf0\n	.byte 2\n"
    "	.byte 0\n	.uleb128 0\n	.uleb128 .Lf1-.Lf0\n	.byte 0\n"
    "	.byte 2\n	.uleb128 0\n	.uleb128 .Lf2-.Lf1\n	.byte 1\n"
    "	.byte 2,15\n	.uleb128 2\n"
    "	.quad .Lh0\n	.byte 1\n	.byte 0,0,1,0\n"
    "	.quad .Lc1\n	.byte 1\n	.byte 1,0,1,0\n"
    "	.uleb128 1000\n"
    "	.uleb128 300\n	.byte 1\n	.uleb128 1\n	.uleb128 0x80000000\n"
    "	.uleb128 5\n	.byte 0\n"
    "	.byte 1,0\n	.quad .Lh0\n	.byte 1\n	.byte 0,1,0\n"
    "	.byte 2,0\n	.quad .Le0\n	.byte 1\n	.byte 0,0,0,0\n"
    "	.byte 2,0\n	.quad .Le0\n	.byte 1\n	.byte 0,0\n	.uleb128 .Le1-.Le0\n	"
    ".byte 0\n"
    "	.section .morph.fn,\"o\",@progbits,.text\n"
    "	.quad .Lf0, 0x1122334455667788\n	.long 7, 0\n"
    "	.quad .Le0, 0x1122334455667788\n	.long 10, 0\n"
    "	.quad .Le0, 0x1122334455667788\n	.long 11, 0\n"
    "	.section .text.unlikely,\"ax\",@progbits\n"
    ".Lc0:	ud2\n"
    ".Lc1:	ret\n"
    "	.section .llvm_bb_addr_map,\"o\",@0x6fff4c0a,.text.unlikely\n"
    "	.byte 2,0\n	.quad .Lc0\n	.byte 1\n	.byte 1,0\n	.uleb128 .Lc1-.Lc0\n"
    "	.byte 0\n"
    "	.section .morph.fn,\"o\",@progbits,.text.unlikely\n"
    "	.quad .Lc0, 0x1122334455667788\n	.long 7, 1\n"
    "	.section .text.g,\"ax\",@progbits\n"
    ".Lg0:	ret\n"
    ".Lg1:\n"
    "	.section .llvm_bb_addr_map,\"o\",@0x6fff4c0a,.text.g\n"
    "	.byte 2,0\n	.quad .Lg0\n	.byte 1\n	.byte 0,0\n	.uleb128 .Lg1-.Lg0\n"
    "	.byte 0\n"
    "	.section .morph.fn,\"o\",@progbits,.text.g\n"
    "	.quad .Lg0, 0x99\n	.long 3, 0\n"
    "	.section .note.GNU-stack,\"\",@progbits\n";

static void enter(void)
{
	struct err e;

	strcpy(dir, "/tmp/morph-blockmap-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(publish_bytes("a.s", source, sizeof source - 1, 0644, &e), 0);
}

static void leave(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	dir_remove(dir, NULL);
}

static void run(const char *line)
{
	struct spawn s = {.argv = (const char *const[]){"sh", "-ec", line, NULL}};
	struct err e;

	ck_assert_int_eq(spawn_run(&s, &e), 0);
}

static int read_map(const char *path, struct blockmap *m, struct err *e)
{
	struct elf *f = elf_file_open(path, -1, e);
	int r = f ? blockmap_from_elf(f, m, e) : -1;

	elf_file_close(f);
	return r;
}

static const struct bm_frag *frag_of(const struct blockmap *m, unsigned func, unsigned fragment)
{
	size_t i;

	for (i = 0; i < m->frag.n; i++)
		if (m->frag.v[i].func == func && m->frag.v[i].fragment == fragment)
			return &m->frag.v[i];
	return NULL;
}

static void assert_in_order(const struct blockmap *m)
{
	uint64_t at = 0;
	size_t i, k, n = 0;

	for (i = 0; i < m->frag.n; i++) {
		const struct bm_frag *f = &m->frag.v[i];

		ck_assert_uint_ge(f->addr, at);
		ck_assert_uint_eq(f->first, n);
		at = f->addr;
		for (k = f->first; k < f->first + f->n; k++, n++) {
			ck_assert_uint_ge(m->block.v[k].addr, at);
			ck_assert_uint_eq(m->block.v[k].frag, i);
			at = m->block.v[k].addr + m->block.v[k].size;
		}
		ck_assert_uint_eq(at, f->addr + f->size);
	}
	ck_assert_uint_eq(n, m->block.n);
}

START_TEST(a_linked_map_is_read)
{
	static const char *const linker[] = {"bfd", "bfd -no-pie", "gold", "bfd -Wl,-q"};
	const struct bm_frag *f, *cold, *e0, *e1;
	const struct bm_block *b;
	struct blockmap m;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof linker / sizeof *linker; i++) {
		char *line = xasprintf("gcc -fuse-ld=%s a.s -o f", linker[i]);

		run(line);
		free(line);
		ck_assert_msg(!read_map("f", &m, &e), "%s", e.text);
		ck_assert_uint_gt(m.id.n, 0);
		ck_assert_uint_eq(m.origin.n, 0);
		ck_assert_uint_eq(m.frag.n, 5);
		assert_in_order(&m);
		f = frag_of(&m, 7, 0);
		cold = frag_of(&m, 7, 1);
		e0 = frag_of(&m, 10, 0);
		e1 = frag_of(&m, 11, 0);
		ck_assert(f && cold && e0 && e1);
		ck_assert_uint_eq(f->tu, 0x1122334455667788);
		ck_assert_uint_eq(f->size, 5);
		ck_assert_uint_eq(f->n, 2);
		ck_assert_uint_eq(m.block.v[f->first + 1].id, 2);
		ck_assert_uint_eq(m.block.v[f->first + 1].size, 3);
		ck_assert_uint_eq(cold->n, 1);
		ck_assert_uint_eq(m.block.v[cold->first].id, 1);
		ck_assert_uint_eq(e0->size, 0);
		ck_assert_uint_eq(e1->size, 1);
		ck_assert_uint_eq(e0->addr, e1->addr);
		ck_assert_uint_eq(frag_of(&m, 3, 0)->tu, 0x99);

		b = blockmap_find(&m, f->addr + 1);
		ck_assert(b && b->id == 0 && b->frag == f - m.frag.v);
		b = blockmap_find(&m, f->addr + 2);
		ck_assert(b && b->id == 2);
		ck_assert_ptr_null(blockmap_find(&m, f->addr + 5));
		b = blockmap_find(&m, e1->addr);
		ck_assert(b && b->frag == e1 - m.frag.v);
		ck_assert_ptr_null(blockmap_find(&m, 0));
		ck_assert_ptr_null(blockmap_find(&m, UINT64_MAX));
		/* The foreign function is nobody's. */
		ck_assert_ptr_null(blockmap_find(&m, e1->addr - 1));
		blockmap_free(&m);
	}
}
END_TEST

START_TEST(collected_code_is_left_out)
{
	struct blockmap m;
	struct err e;

	run("gcc a.s -o f -Wl,--gc-sections,--entry=main -nostdlib -static");
	ck_assert_msg(!read_map("f", &m, &e), "%s", e.text);
	ck_assert_ptr_null(frag_of(&m, 3, 0));
	ck_assert_ptr_nonnull(frag_of(&m, 7, 0));
	blockmap_free(&m);
}
END_TEST

START_TEST(partial_links_and_stripping_keep_the_map)
{
	struct blockmap m;
	struct err e;

	run("gcc -c a.s && ld -r a.o -o r.o && gcc r.o -o f && strip f");
	ck_assert_msg(!read_map("f", &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.frag.n, 5);
	assert_in_order(&m);
	blockmap_free(&m);
}
END_TEST

/* Code that was folded into other code is there once; an entry whose code was
 * discarded and whose address became 0 is not there. */
START_TEST(folded_and_discarded_code_is_left_out)
{
	struct blockmap m;
	struct err e;

	run("{ echo '.globl one'; echo '.section .text.one,\"ax\",@progbits'; echo 'one: .La0:';"
	    " echo ' ret; nop; .La1:';"
	    " echo '.section .llvm_bb_addr_map,\"o\",@0x6fff4c0a,.text.one';"
	    " echo ' .byte 2,0; .quad .La0; .byte 1,0,0,2,0';"
	    " echo ' .byte 2,0; .quad 0; .byte 1,0,0,2,0';"
	    " echo '.section .morph.fn,\"o\",@progbits,.text.one';"
	    " echo ' .quad .La0, 1; .long 5, 0; .quad 0, 1; .long 6, 0';"
	    " echo '.section .note.GNU-stack,\"\",@progbits'; } >one.s\n"
	    "sed 's/one/two/g; s/long 5/long 8/; s/long 6/long 9/' one.s >two.s\n"
	    "echo 'void one(void), two(void); int main(void) { one(); two(); return 0; }' >m.c\n"
	    "gcc -fuse-ld=gold -Wl,--icf=all one.s two.s m.c -o f && gcc one.s two.s m.c -o g");
	ck_assert_msg(!read_map("f", &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.frag.n, 1);
	ck_assert_ptr_nonnull(frag_of(&m, 5, 0));
	blockmap_free(&m);
	ck_assert_int_eq(read_map("g", &m, &e), 0);
	ck_assert_uint_eq(m.frag.n, 2);
	ck_assert(frag_of(&m, 5, 0) && frag_of(&m, 8, 0));
	blockmap_free(&m);
}
END_TEST

/* clang before 15 wrote the section without versions. */
START_TEST(another_layout_of_the_section_is_named)
{
	struct blockmap m;
	struct err e;

	run("sed 's/6fff4c0a/6fff4c08/' a.s >b.s && gcc b.s -o f");
	ck_assert_int_eq(read_map("f", &m, &e), -1);
	ck_assert_str_eq(
	    e.text, "section .llvm_bb_addr_map: type 0x6fff4c08, this Morph reads 0x6fff4c0a");
}
END_TEST

static void assert_same(const struct blockmap *a, const struct blockmap *b)
{
	ck_assert(build_id_equal(&a->id, &b->id) && build_id_equal(&a->origin, &b->origin));
	ck_assert_uint_eq(a->seg.n, b->seg.n);
	ck_assert(!memcmp(a->seg.v, b->seg.v, a->seg.n * sizeof *a->seg.v));
	ck_assert_uint_eq(a->frag.n, b->frag.n);
	for (size_t i = 0; i < a->frag.n; i++) {
		const struct bm_frag *x = &a->frag.v[i], *y = &b->frag.v[i];

		ck_assert(x->addr == y->addr && x->tu == y->tu && x->size == y->size &&
			  x->func == y->func && x->fragment == y->fragment &&
			  x->first == y->first && x->n == y->n);
	}
	ck_assert_uint_eq(a->block.n, b->block.n);
	for (size_t i = 0; i < a->block.n; i++) {
		const struct bm_block *x = &a->block.v[i], *y = &b->block.v[i];

		ck_assert(x->addr == y->addr && x->size == y->size && x->id == y->id &&
			  x->frag == y->frag);
	}
}

START_TEST(the_blob_carries_everything)
{
	struct blockmap m, back;
	struct buf b = {0}, again = {0};
	struct err e;
	size_t n;

	run("gcc a.s -o f");
	ck_assert_int_eq(read_map("f", &m, &e), 0);
	build_id_parse("0102", &m.origin);
	blockmap_encode(&m, &b);
	ck_assert_msg(!blockmap_decode(b.p, b.n, &back, &e), "%s", e.text);
	assert_same(&m, &back);
	blockmap_encode(&back, &again);
	ck_assert(again.n == b.n && !memcmp(again.p, b.p, b.n));
	blockmap_free(&back);
	blockmap_copy(&m, &back);
	assert_same(&m, &back);
	blockmap_free(&back);
	for (n = 0; n < b.n; n++) {
		char *copy = memcpy(xmalloc(n), b.p, n);

		e.text[0] = '\0';
		ck_assert_int_eq(blockmap_decode(copy, n, &back, &e), -1);
		ck_assert_uint_gt(strlen(e.text), 0);
		ck_assert_ptr_null(back.frag.v);
		free(copy);
	}
	buf_char(&b, 0);
	ck_assert_int_eq(blockmap_decode(b.p, b.n, &back, &e), -1);
	ck_assert_str_eq(e.text, "block map is damaged: bytes after its end");
	ck_assert_int_eq(blockmap_decode(NULL, 0, &back, &e), -1);
	blockmap_free(&m);
	buf_free(&b);
	buf_free(&again);
}
END_TEST

static void put_fragment(struct blockmap *m, uint64_t addr, uint64_t tu, uint32_t blocks)
{
	uint32_t i;

	vec_push(
	    &m->frag, (struct bm_frag){addr, tu, 8 * blocks, 0, 0, (uint32_t)m->block.n, blocks});
	for (i = 0; i < blocks; i++)
		vec_push(
		    &m->block, (struct bm_block){addr + 8 * i, 8, i, (uint32_t)(m->frag.n - 1)});
}

/* What a build says of old code itself does not count. */
START_TEST(added_code_follows_the_original)
{
	static const struct {
		uint64_t addr, tu;
		uint32_t blocks;
	} all[] = {{0x100, 1, 2}, {0x200, 2, 1}, {0x1000, 2, 3}, {0x1100, 1, 1}};
	struct blockmap original = {.id = {1, {1}}}, made = {.id = {1, {2}}, .origin = {1, {1}}};
	const struct bm_frag *f;
	size_t i, k;

	put_fragment(&original, all[0].addr, all[0].tu, all[0].blocks);
	put_fragment(&original, all[1].addr, all[1].tu, all[1].blocks);
	put_fragment(&made, 0x180, 7, 1);
	put_fragment(&made, all[2].addr, all[2].tu, all[2].blocks);
	put_fragment(&made, all[3].addr, all[3].tu, all[3].blocks);
	vec_push(&original.seg, (struct elf_segment){.vaddr = 0x100});
	vec_push(&made.seg, (struct elf_segment){.vaddr = 0x100});
	vec_push(&made.seg, (struct elf_segment){.vaddr = 0x1000});
	blockmap_put_original(&made, &original);
	ck_assert(build_id_equal(&made.origin, &original.id));
	ck_assert_uint_eq(made.id.b[0], 2);
	ck_assert_uint_eq(made.seg.n, 2);
	ck_assert_uint_eq(made.frag.n, 4);
	ck_assert_uint_eq(made.block.n, 7);
	for (i = 0; i < 4; i++) {
		f = &made.frag.v[i];
		ck_assert_uint_eq(f->addr, all[i].addr);
		ck_assert_uint_eq(f->tu, all[i].tu);
		ck_assert_uint_eq(f->n, all[i].blocks);
		for (k = 0; k < f->n; k++) {
			ck_assert_uint_eq(made.block.v[f->first + k].addr, f->addr + 8 * k);
			ck_assert_uint_eq(made.block.v[f->first + k].frag, i);
		}
	}
	blockmap_free(&original);
	blockmap_free(&made);
}
END_TEST

START_TEST(addresses_that_wrap_are_refused)
{
	struct blockmap m = {0}, back;
	struct buf b = {0};
	struct err e;

	vec_push(&m.frag, (struct bm_frag){.addr = UINT64_MAX - 3, .size = 4, .n = 1});
	vec_push(&m.block, (struct bm_block){.addr = UINT64_MAX - 3, .size = 4});
	blockmap_encode(&m, &b);
	ck_assert_int_eq(blockmap_decode(b.p, b.n, &back, &e), -1);
	ck_assert_str_eq(e.text, "block map: block out of range");
	blockmap_free(&m);
	buf_free(&b);
}
END_TEST

START_TEST(what_has_no_map_says_so)
{
	struct blockmap m;
	struct err e;

	run("echo 'int main(void){return 0;}' >p.c && gcc p.c -o f");
	ck_assert_int_eq(read_map("f", &m, &e), -1);
	ck_assert_str_eq(e.text, "no block map: not built through Morph's hooks, or stripped");
}
END_TEST

START_TEST(unknown_features_are_named)
{
	struct blockmap m;
	struct err e;

	run("sed 's/\\.byte 2,15/.byte 2,31/' a.s >b.s && gcc b.s -o f");
	ck_assert_int_eq(read_map("f", &m, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "version 2 with features 0x1f"));
	run("sed 's/\\.byte 2,15/.byte 3,0/' a.s >b.s && gcc b.s -o f");
	ck_assert_int_eq(read_map("f", &m, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "version 3 with features 0"));
}
END_TEST

UNIT_MAIN("blockmap", 60, enter, leave, a_linked_map_is_read, collected_code_is_left_out,
    partial_links_and_stripping_keep_the_map, folded_and_discarded_code_is_left_out,
    another_layout_of_the_section_is_named, the_blob_carries_everything,
    added_code_follows_the_original, addresses_that_wrap_are_refused, what_has_no_map_says_so,
    unknown_features_are_named)
