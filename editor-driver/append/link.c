#include "editor-driver/append/link.h"
#include "common/le.h"
#include "common/publish.h"
#include "common/sort.h"
#include "editor-driver/os/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* ---- ld ---- */

/* Other sections are errors; so are those that ld makes by itself, and code where functions left
 * it. */
static void put_script(uint64_t addr, struct buf *out)
{
	buf_printf(out,
	    "SECTIONS\n"
	    "{\n"
	    "  . = %#llx;\n"
	    "  .text.morph : { *(SORT_BY_NAME(.text.sorted.*)) *(.text.unlikely .text.unlikely.*) "
	    "}\n"
	    "  .rodata.morph : { *(.rodata .rodata.*) }\n"
	    "  .gcc_except_table.morph : { *(.gcc_except_table .gcc_except_table.*) }\n"
	    "  .eh_frame : { *(.eh_frame) }\n"
	    "  .morph.none : { *(.text .data .bss .got .got.plt .igot.plt .plt .iplt .rela.*) }\n"
	    "  ASSERT(SIZEOF(.morph.none) == 0, \"data, or code outside of functions\")\n"
	    "  .debug_frame 0 : { *(.debug_frame) }\n"
	    "  .llvm_bb_addr_map 0 : { *(.llvm_bb_addr_map) }\n"
	    "  .morph.fn 0 : { *(.morph.fn) }\n"
	    "  .note.morph 0 : { *(.note.morph) }\n"
	    "  .morph.words 0 : { *(.morph.words) }\n"
	    "  /DISCARD/ : { *(.note.GNU-stack .comment) }\n"
	    "}\n",
	    (unsigned long long)addr);
}

/* --traditional-format: else ld takes unwind information of several personality routines, which all
 * are `image` and a number, for equal. */
static int run_ld(
    char *const *object, size_t n, bool fixed, const char *script, const char *out, struct err *e)
{
	static const char *const options[] = {"-static", "-e", "0", "-z", "norelro", "-z",
	    "noseparate-code", "-z", "max-page-size=4096", "-z", "noexecstack", "--no-relax",
	    "--build-id=none", "--no-eh-frame-hdr", "--traditional-format",
	    "--orphan-handling=error", "--no-warn-rwx-segments"};
	char *ld = tool_find("ld.bfd", e);
	VEC(const char *) argv = {0};
	size_t i;
	int rc;

	if (!ld)
		return -1;
	vec_push(&argv, ld);
	for (i = 0; i < sizeof options / sizeof *options; i++)
		vec_push(&argv, options[i]);
	if (!fixed)
		vec_push(&argv, "--emit-relocs");
	vec_push(&argv, "-T");
	vec_push(&argv, script);
	vec_push(&argv, "-o");
	vec_push(&argv, out);
	for (i = 0; i < n; i++)
		vec_push(&argv, object[i]);
	vec_push(&argv, NULL);
	rc = run_tool(&(struct spawn){.argv = argv.v}, "ld", e);
	vec_free(&argv);
	free(ld);
	return rc;
}

/* ---- what it wrote ---- */

struct reading {
	struct linked *l;
	uint64_t addr;
	bool fixed;
	uint32_t text; /* ld's number of this section */
	struct err *e;
};

static const char TEXT[] = ".text.morph", FRAMES[] = ".eh_frame", RELOCATIONS[] = ".rela";

static int put_loaded(struct reading *r, const struct elf_section *s)
{
	struct splice_section out = {.name = s->name,
	    .type = SHT_PROGBITS,
	    .flags = s->flags & (SHF_ALLOC | SHF_EXECINSTR),
	    .align = 1,
	    .addr = s->addr,
	    .n = s->size};
	struct buf *code = &r->l->code.code;
	uint64_t at = s->addr - r->addr;

	if (!s->data || s->flags & SHF_WRITE || at < code->n || at - code->n >= PAGE)
		return err_set(r->e, "ld put section %s where it was not to be", s->name);
	memset(buf_grow(code, at - code->n), 0, at - code->n);
	buf_add(code, s->data, s->size);
	if (!strcmp(s->name, FRAMES)) {
		out.name = ".eh_frame.morph";
		out.align = sizeof(uint64_t);
		r->l->code.frames = (struct eh_frames){s->data, s->size, s->addr, 0};
	}
	vec_push(&r->l->code.section, out);
	return 0;
}

static void put_unloaded(struct reading *r, const struct elf_section *s)
{
	vec_push(&r->l->code.section, (struct splice_section){.name = s->name,
					  .type = s->type,
					  .align = s->type == SHT_NOTE ? 4 : 8,
					  .p = s->data,
					  .n = s->size});
}

/* Pairs of an address in the original and what is to be there. */
static void read_words(struct linked *l, const struct elf_section *s)
{
	uint64_t i;

	for (i = 0; i + 16 <= s->size; i += 16)
		vec_push(&l->code.word,
		    (struct splice_word){get_le64(s->data + i), get_le64(s->data + i + 8)});
}

/* Of what is loaded wherever the loader likes, each distance is between places of the file. */
static int check_relocations(const struct reading *r, const struct elf_section *s)
{
	const uint8_t *p = s->data, *end = p + s->size;
	uint32_t type;

	for (; !r->fixed && end - p >= (ptrdiff_t)sizeof(Elf64_Rela); p += sizeof(Elf64_Rela)) {
		type = get_le32(p + offsetof(Elf64_Rela, r_info));
		if (type != R_X86_64_PC32 && type != R_X86_64_PLT32)
			return err_set(r->e,
			    "at %#llx: an address (relocation of type %u) in code that has none "
			    "before it is loaded",
			    (unsigned long long)get_le64(p), type);
	}
	return 0;
}

static int read_relocations(const struct reading *r, const struct elf_section *s)
{
	static const char *const loaded[] = {
	    TEXT, ".rodata.morph", ".gcc_except_table.morph", FRAMES};
	const char *of = s->name + strlen(RELOCATIONS);
	size_t i;

	for (i = 0; !r->fixed && i < sizeof loaded / sizeof *loaded; i++)
		if (!strncmp(s->name, RELOCATIONS, strlen(RELOCATIONS)) && !strcmp(of, loaded[i]))
			return check_relocations(r, s);
	return 0;
}

static int read_section(const struct elf_section *s, void *arg)
{
	static const char *const kept[] = {
	    ".debug_frame", ".llvm_bb_addr_map", ".morph.fn", ".note.morph"};
	struct reading *r = arg;
	size_t i;

	if (!s->size)
		return 0;
	if (!strcmp(s->name, TEXT))
		r->text = s->index;
	if (s->flags & SHF_ALLOC)
		return put_loaded(r, s);
	if (s->type == SHT_RELA)
		return read_relocations(r, s);
	if (!strcmp(s->name, ".morph.words"))
		read_words(r->l, s);
	for (i = 0; i < sizeof kept / sizeof *kept; i++)
		if (!strcmp(s->name, kept[i]))
			put_unloaded(r, s);
	return 0;
}

/* .text.morph is the first section that is loaded. */
static int read_symbol(const struct elf_symbol *s, void *arg)
{
	struct reading *r = arg;

	if (s->type == STT_FUNC && s->shndx == r->text)
		vec_push(&r->l->code.symbol, (struct splice_symbol){s->name, s->value, s->size, 0});
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct splice_symbol *x = a, *y = b;

	return ORDER(x->addr, y->addr);
}

static int read_linked(struct reading *r, const char *path)
{
	struct linked *l = r->l;

	l->f = elf_file_open(path, -1, r->e);
	if (!l->f)
		return -1;
	if (elf_file_sections(l->f, read_section, r) || !r->text || !l->code.frames.p)
		return err_wrap(r->e, "%s: not what ld was asked for", path);
	elf_file_symbols(l->f, false, read_symbol, r);
	vec_sort(&l->code.symbol, by_addr);
	return blockmap_from_elf(l->f, &l->map, r->e);
}

int link_code(char *const *object, size_t n, uint64_t addr, bool fixed, const char *dir,
    struct linked *l, struct err *e)
{
	struct reading r = {.l = l, .addr = addr, .fixed = fixed, .e = e};
	char *script = xasprintf("%s/script", dir), *out = xasprintf("%s/linked", dir);
	struct buf text = {0};
	int rc;

	*l = (struct linked){0};
	put_script(addr, &text);
	rc = dir_make(dir, 0700, e) || file_write(script, O_EXCL, text.p, text.n, e) ||
		     run_ld(object, n, fixed, script, out, e) || read_linked(&r, out)
		 ? -1
		 : 0;
	buf_free(&text);
	free(script);
	free(out);
	return rc;
}

void linked_free(struct linked *l)
{
	elf_file_close(l->f);
	blockmap_free(&l->map);
	buf_free(&l->code.code);
	vec_free(&l->code.section);
	vec_free(&l->code.symbol);
	vec_free(&l->code.jump);
	vec_free(&l->code.word);
}
