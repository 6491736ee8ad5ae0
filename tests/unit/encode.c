#include "lifter/encode.h"
#include "common/elf/elf.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *text, *encoded;
} CASES[] = {
    /* What has no bytes stays. */
    {"f:\n\t.cfi_startproc\n\tjne\t.LMB0.3\n", "f:\n\t.cfi_startproc\n\tjne\t.LMB0.3\n"},
    {"", ""},
    {"\n\tret", "\n\tret\n"},
    /* Bytes, together up to the next line without. */
    {"\tmovq %rsp, %rbp #=4889e5\n", "\t.byte\t0x48\n\t.byte\t0x89\n\t.byte\t0xe5\n"},
    {"\tmovq %rsp, %rbp #=4889e5\n\tnop #=0f1f440000\n.L401234:\n\tret\t#=c3\n",
	"\t.quad\t0x441f0fe58948\n.L401234:\n\t.byte\t0xc3\n"},
    {"\tx #=ffffffffffffffff\n\ty #=00000000\n", "\t.quad\t0xffffffffffffffff\n\t.long\t0\n"},
    /* Distances, with what follows them. */
    {"\tleaq image+0x404010(%rip), %rax #=488d05@\n",
	"\t.byte\t0x48\n\t.byte\t0x8d\n\t.byte\t0x5\n\t.long\timage+0x404010-.-4\n"},
    {"\tcmpl $5, image+0x10-4(%rip) #=833d@05 \n",
	"\t.byte\t0x83\n\t.byte\t0x3d\n\t.long\timage+0x10-4-.-5\n\t.byte\t0x5\n"},
    {"\tjmp\t*.L4(%rip)\t#=ff25@\n", "\t.byte\t0xff\n\t.byte\t0x25\n\t.long\t.L4-.-4\n"},
    {"\tcall f #=e8@\n\tnop #=90\n", "\t.byte\t0xe8\n\t.long\tf-.-4\n\t.byte\t0x90\n"},
    {"\tbnd jmp f@PLT #=f2e9@\n", "\t.byte\t0xf2\n\t.byte\t0xe9\n\t.long\tf-.-4\n"},
    {"\tjne image+0x1030 #=0f85@\n", "\t.byte\t0xf\n\t.byte\t0x85\n\t.long\timage+0x1030-.-4\n"},
    /* These have none. */
    {"\tjmp *%rax #=ffe0\n\tcall *8(%rax) #=ff5008\n", "\t.long\t0x50ffe0ff\n\t.byte\t0x8\n"},
    {"\tnotrack jmp *%rdx #=3effe2\n", "\t.byte\t0x3e\n\t.byte\t0xff\n\t.byte\t0xe2\n"},
    /* Names of places. */
    {"\t.set abort, image+0x1030\n\tcall abort@PLT\n\tcall\tabort@PLT #=e8@\n",
	"\tcall image+0x1030\n\t.byte\t0xe8\n\t.long\timage+0x1030-.-4\n"},
    {"\tcall g@PLT\n\t.set g,image+1\n", "\tcall image+1\n"},
    {"\t.set w, image+8\n\t.cfi_personality 0x9b,w\n\t.long w-.\n\t.quad w\n",
	"\t.cfi_personality 0x9b,image+8\n\t.long image+8-.\n\t.quad image+8\n"},
    {"\t.set got.abort, image+0x3fd8\n\tcall\t*abort@GOTPCREL(%rip)\n",
	"\tcall\t*image+0x3fd8(%rip)\n"},
    /* They are no mnemonics, registers, labels or symbols of directives. */
    {"\t.set add, image+8\n\tadd %add, $add, add.o\n\tlock add add\n",
	"\tadd %add, $image+8, add.o\n\tlock add image+8\n"},
    {"\t.set f, image+8\nf:\n\t.size f, .-f\n", "f:\n\t.size f, .-f\n"},
    {"\t.set .Lx, .Ly\n\tjmp .Lx\n", "\t.set .Lx, .Ly\n\tjmp .Lx\n"},
};

START_TEST(text)
{
	struct err e = {{0}};
	struct buf out = {0};

	buf_str(&out, "before\n");
	ck_assert_msg(!encode(CASES[_i].text, strlen(CASES[_i].text), &out, &e), "%s", e.text);
	ck_assert_str_eq(buf_cstr(&out) + strlen("before\n"), CASES[_i].encoded);
	buf_free(&out);
}
END_TEST

static const struct {
	const char *text, *error;
} WRONG[] = {
    {"\tnop #=\n", "line 1: not the bytes"},
    {"\n\tnop #=9\n", "line 2: not the bytes"},
    {"\tnop #=9x\n", "not the bytes"},
    {"\tnop #=90 #\n", "not the bytes"},
    {"\tnop #=9090909090909090909090909090909090\n", "not the bytes"},
    {"\tcall f #=e8@@\n", "not the bytes"},
    {"\tcall f #=e8e8e8e8e8e8e8e8e8e8e8e8@\n", "not the bytes"},
    {"#=90\n", "not the bytes"},
    {"\tcall f #=e800000000\n", "a target without distance"},
    {"\tjrcxz f #=e300\n", "a target without distance"},
    {"\tleaq image+8(%rip), %rax #=488d0500000000\n", "a target without distance"},
    {"\tcall *%rax #=e8@\n", "a distance without target"},
    {"\tleaq (%rip), %rax #=488d05@\n", "a distance without target"},
    {"\tret #=c3@\n", "a distance without target"},
    {"\tcall *abort@GOTPCREL(%rip)\n", "no word of the original holds its address: abort"},
    {"\t.set got.abor, image+8\n\tcall *abort@GOTPCREL(%rip)\n", "line 2: no word"},
};

START_TEST(wrong)
{
	struct err e = {{0}};
	struct buf out = {0};

	ck_assert_int_eq(encode(WRONG[_i].text, strlen(WRONG[_i].text), &out, &e), -1);
	ck_assert_msg(strstr(e.text, WRONG[_i].error), "%s", e.text);
	buf_free(&out);
}
END_TEST

/* No byte after the text is read. */
START_TEST(cut_off)
{
	static const char all[] = "\t.set f, image+8\n\tcall f@PLT #=e8@\n\tx %f #=909090";
	struct buf out = {0};
	size_t n;
	char *p;

	for (n = 0; n < sizeof all; n++) {
		p = xmalloc(n);
		memcpy(p, all, n);
		encode(p, n, &out, NULL);
		free(p);
	}
	buf_free(&out);
}
END_TEST

static void assemble(const char *text, size_t n, const char *path, struct buf *code)
{
	const char *const argv[] = {"as", "--64", "-o", path, "t.s", NULL};
	struct elf_section s;
	struct err e = {{0}};
	struct elf *f;

	ck_assert_msg(!publish_bytes("t.s", text, n, 0600, &e), "%s", e.text);
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = argv}, &e), 0);
	f = elf_file_open(path, -1, &e);
	ck_assert_msg(f != NULL, "%s", e.text);
	ck_assert_int_eq(elf_file_section(f, ".text", &s, &e), 1);
	buf_add(code, s.data, s.size);
	elf_file_close(f);
}

/* The assembler makes the same of the bytes as of the instructions. */
START_TEST(assembled)
{
	static const char text[] = "a:\n"
				   "\tpushq %rbx #=53\n"
				   "\tcall a #=e8@\n"
				   "\tcmpl $0x12345678, b(%rip) #=813d@78563412\n"
				   "\tje b\n"
				   "\tvpaddd b(%rip), %ymm8, %ymm9 #=c53dfe0d@\n"
				   "\tmovb $1, 8(%rsp,%rax,2) #=c644440801\n"
				   "\tjmp *b(%rip) #=ff25@\n"
				   "b:\n"
				   "\tleaq a-3(%rip), %r12 #=4c8d25@\n";
	struct buf encoded = {0}, plain = {0}, bytes = {0};
	char dir[] = "/tmp/morph-encode-XXXXXX";
	struct err e = {{0}};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(encode(text, sizeof text - 1, &encoded, &e), 0);
	ck_assert_ptr_null(strstr(buf_cstr(&encoded), "cmpl"));
	assemble(text, sizeof text - 1, "plain.o", &plain);
	assemble(encoded.p, encoded.n, "bytes.o", &bytes);
	ck_assert_uint_gt(plain.n, 40);
	ck_assert_uint_eq(plain.n, bytes.n);
	ck_assert_mem_eq(plain.p, bytes.p, plain.n);
	buf_free(&encoded);
	buf_free(&plain);
	buf_free(&bytes);
	ck_assert_int_eq(chdir("/"), 0);
	dir_remove(dir, &e);
}
END_TEST

UNIT_MAIN("encode", 60, NULL, NULL, UNIT_LOOP(text, sizeof CASES / sizeof *CASES),
    UNIT_LOOP(wrong, sizeof WRONG / sizeof *WRONG), cut_off, assembled)
