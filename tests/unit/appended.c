/*
 * The proof of builds that code was added to: what it takes, and that it sees every change.
 */
#include "editor-driver/proof/appended.h"
#include "tests/unit/appending.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const uint64_t EDITED[] = {0x1000, 0x2000, 0x3000, 0x7000};

/* Of a block whose tail was copied once. */
static const struct verify_copies COPY = {0x1000, 0, 7, 1, 0};

static int prove_with(
    const uint64_t *edited, size_t n, size_t ncopy, struct verified *v, struct err *e)
{
	struct verify_copies copy[] = {COPY};
	struct verify_wanted w = {
	    .map = &app.map, .copy = copy, .ncopy = ncopy, .edited = edited, .nedited = n};
	int rc = appended_verify(app.made_path, app.old_path, &w, v, e);

	blockmap_free(&v->map);
	return rc;
}

static int prove(struct verified *v, struct err *e)
{
	return prove_with(EDITED, app.moved, 1, v, e);
}

static void must_be_refused(const char *why)
{
	struct verified v;
	struct err e;

	ck_assert_msg(prove(&v, &e), "not refused: %s", why);
	ck_assert_msg(strstr(e.text, why) != NULL, "\"%s\" and not \"%s\"", e.text, why);
}

static void rewrite(void)
{
	struct err e;

	ck_assert_int_eq(publish_bytes(app.made_path, app.made.p, app.made.n, 0755, &e), 0);
}

/* ---- what is right ---- */

static void pie(void)
{
	make_appended("", "-pie -rdynamic");
}

static void fixed(void)
{
	make_appended("--defsym FIXED=1", "-no-pie");
}

/* With the relocations that ld used. */
static void kept(void)
{
	make_appended("--defsym FIXED=1", "-no-pie -Wl,--emit-relocs");
}

static void run(const char *path, struct buf *out)
{
	struct err e;

	ck_assert_int_eq(
	    spawn_run(
		&(struct spawn){.argv = (const char *const[]){path, NULL}, .capture_out = out}, &e),
	    0);
}

START_TEST(proven)
{
	struct buf old = {0}, made = {0};
	struct verified v;
	struct err e;

	ck_assert_msg(!prove(&v, &e), "%s", e.text);
	ck_assert_uint_gt(v.size_after, v.size_before);
	run(app.old_path, &old);
	run(app.made_path, &made);
	ck_assert_uint_gt(old.n, 10);
	ck_assert_uint_eq(old.n, made.n);
	ck_assert_mem_eq(old.p, made.p, old.n);
	buf_free(&old);
	buf_free(&made);
}
END_TEST

/* ---- every byte ---- */

static const uint8_t BITS[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};

/* Is it refused when a byte of the file differs in these bits? */
static bool is_seen(int fd, size_t at, uint8_t bits)
{
	uint8_t c = (uint8_t)app.made.p[at] ^ bits;
	struct verified v;
	struct err e;
	bool seen;

	ck_assert_int_eq(pwrite(fd, &c, 1, (off_t)at), 1);
	e.text[0] = 0;
	seen = prove(&v, &e) != 0;
	ck_assert_msg(!seen || e.text[0], "no message");
	ck_assert_int_eq(pwrite(fd, &app.made.p[at], 1, (off_t)at), 1);
	return seen;
}

/* Does the original have the byte in what a new build may change: its header's tables, its program
 * headers, its build-id, or entries? */
static bool may_change(size_t at)
{
	struct elf *f = open_bytes(&app.old);
	struct elf_section id = section_of(f, ".note.gnu.build-id");
	bool may = (at >= offsetof(Elf64_Ehdr, e_phoff) && at < offsetof(Elf64_Ehdr, e_flags)) ||
		   at - offsetof(Elf64_Ehdr, e_phnum) < 2 ||
		   at - offsetof(Elf64_Ehdr, e_shnum) < 4 ||
		   at - ehdr(&app.old)->e_phoff < ehdr(&app.old)->e_phnum * sizeof(Elf64_Phdr) ||
		   (at >= id.offset + 16 && at < id.offset + id.size);

	elf_file_close(f);
	return may;
}

START_TEST(original_is_whole)
{
	int fd = open(app.made_path, O_WRONLY);
	size_t i;

	for (i = 0; i < app.old.n; i++)
		ck_assert_msg(is_seen(fd, i, BITS[i % sizeof BITS]) || may_change(i),
		    "byte %zx of the original", i);
	close(fd);
}
END_TEST

/* ---- changes of the new segment that change nothing ---- */

/* Where in a section of the bodies, which bits (0: any), and why that does not matter. */
#define LONGER "a number in one byte more, the next"
#define NOTHING "an instruction without effect behind the last row"
static const struct harmless {
	const char *section;
	uint64_t at;
	uint8_t bits;
	const char *why;
} HARMLESS[] = {
    {".text", 0x6e, 0x01, "a jump to the no-operation before its target"},
    {".eh_frame", 0x08, 0x02, "version 3, which has the same fields"},
    {".eh_frame", 0x15, 0x80, LONGER},
    {".eh_frame", 0x3c, 0x80, LONGER},
    {".eh_frame", 0x3d, 0x02, NOTHING},
    {".eh_frame", 0x3d, 0x40, NOTHING},
    {".eh_frame", 0x3e, 0x02, NOTHING},
    {".eh_frame", 0x3e, 0x40, NOTHING},
    {".eh_frame", 0x3f, 0x40, NOTHING},
    {".eh_frame", 0x4c, 0x01, "it holds a byte of the padding after it"},
    {".eh_frame", 0x54, 0x80, LONGER},
    {".eh_frame", 0x55, 0x02, NOTHING},
    {".eh_frame", 0x55, 0x40, NOTHING},
    {".eh_frame", 0x56, 0x02, NOTHING},
    {".eh_frame", 0x56, 0x40, NOTHING},
    {".eh_frame", 0x57, 0x40, NOTHING},
    {".eh_frame", 0x74, 0x80, LONGER},
    {".eh_frame", 0x75, 0x02, NOTHING},
    {".eh_frame", 0x75, 0x40, NOTHING},
    {".eh_frame", 0x76, 0x02, NOTHING},
    {".eh_frame", 0x76, 0x40, NOTHING},
    {".eh_frame", 0x77, 0x40, NOTHING},
    {".eh_frame", 0x80, 0x02, "version 3, which has the same fields"},
    {".eh_frame", 0x8f, 0x01, "another encoding of the same distance"},
    {".eh_frame", 0x8f, 0x02, "another encoding of the same distance"},
    {".eh_frame", 0x8f, 0x08, "another encoding of the same distance"},
    {".eh_frame", 0x95, 0x80, LONGER},
    {".eh_frame", 0xba, 0x80, LONGER},
    {".eh_frame", 0xbb, 0x40, NOTHING},
    {".gcc_except_table", 0x03, 0x08, "another encoding of the same numbers"},
    {".gcc_except_table", 0x06, 0x02, "the call site holds the jump after it"},
    {".gcc_except_table", 0x11, 0x80, LONGER},
    {".gcc_except_table", 0x12, 0x80, LONGER},
    {".gcc_except_table", 0x13, 0, "padding before the types"},
};

static bool is_harmless(size_t at, uint8_t bits)
{
	struct elf *f = open_bytes(&app.bodies);
	const struct harmless *h = HARMLESS, *end = h + sizeof HARMLESS / sizeof *h;

	for (; h < end; h++)
		if (at + app.base == section_of(f, h->section).addr + h->at &&
		    (!h->bits || bits == h->bits))
			break;
	elf_file_close(f);
	return h < end;
}

typedef VEC(struct part) parts;

static int add_padding(const struct elf_symbol *s, void *arg)
{
	parts *list = arg;

	if (strncmp(s->name, "padding", 7))
		return 0;
	if (strstr(s->name, "_begin"))
		vec_push(list, (struct part){s->value - app.base, 0});
	else
		list->v[list->n - 1].end = s->value - app.base;
	return 0;
}

static int add_section(const struct elf_section *s, void *arg)
{
	parts *list = arg;

	if (!(s->flags & SHF_ALLOC))
		return 0;
	list->v[list->n - 1].end = s->addr - app.base;
	vec_push(list, (struct part){s->addr + s->size - app.base, app.linked.end});
	return 0;
}

/* Between what is in the new segment, and what new.s says. */
static void list_padding(parts *list)
{
	struct elf *f = open_bytes(&app.bodies);

	vec_push(list, (struct part){app.headers.end, app.index.begin});
	vec_push(list, (struct part){app.index.end, app.linked.begin});
	elf_file_symbols(f, false, add_padding, list);
	vec_push(list, (struct part){app.linked.begin, 0});
	elf_file_sections(f, add_section, list);
	elf_file_close(f);
}

static bool in_parts(const parts *list, size_t at)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (at >= list->v[i].begin && at < list->v[i].end)
			return true;
	return false;
}

START_TEST(new_code_is_right)
{
	int fd = open(app.made_path, O_WRONLY);
	parts padding = {0};
	size_t i, k;

	list_padding(&padding);
	for (i = app.headers.begin; i < app.linked.end; i++)
		for (k = 0; k < sizeof BITS && !in_parts(&padding, i); k++)
			ck_assert_msg(is_seen(fd, i, BITS[k]) != is_harmless(i, BITS[k]),
			    "%#lx: %02x ^ %02x", (unsigned long)(i + app.base),
			    (unsigned char)app.made.p[i], BITS[k]);
	vec_free(&padding);
	close(fd);
}
END_TEST

/* ---- what an editor may get wrong ---- */

static uint8_t *old_byte(const char *symbol, uint64_t offset)
{
	return (uint8_t *)app.made.p + offset_of(symbol_value(&app.old, symbol) + offset);
}

static uint8_t *new_byte(const char *symbol, uint64_t offset)
{
	return (uint8_t *)app.made.p + offset_of(symbol_value(&app.bodies, symbol) + offset);
}

static uint8_t *byte_of_section(const struct buf *of, const char *section, uint64_t offset)
{
	struct elf *f = open_bytes(of);
	uint64_t addr = section_of(f, section).addr;

	elf_file_close(f);
	return (uint8_t *)app.made.p + offset_of(addr + offset);
}

static void add32(uint8_t *p, int32_t n)
{
	put_le32(p, get_le32(p) + (uint32_t)n);
}

static void reference(void)
{
	add32(new_byte("alpha_3", 2), 8);
}

static void swapped_branch(void)
{
	*new_byte("alpha_4", 11) ^= 1;
}

static void branch_elsewhere(void)
{
	*new_byte("alpha_4", 12) -= 2; /* to ret, and not pop */
}

static void call_elsewhere(void)
{
	add32(new_byte("gamma_try", 1),
	    (int32_t)(symbol_value(&app.old, "delta") - symbol_value(&app.old, "thrower")));
}

static void slot_elsewhere(void)
{
	add32(new_byte("alpha_2", 9), 8);
}

static void another_instruction(void)
{
	*new_byte("alpha_4", 2) = 3;
}

static void jump_behind(void)
{
	*new_byte("gamma_tried", 1) += 3;
}

/* A call behind the old entry. */
static void into_old_code(void)
{
	add32(new_byte("alpha_6", 4),
	    (int32_t)(symbol_value(&app.old, "beta") + 4 - symbol_value(&app.bodies, "beta_body")));
}

static void table_entry(void)
{
	uint8_t *p = new_byte("table", 0);

	put_le32(p, get_le32(p + 4));
}

static void landing_pad(void)
{
	uint8_t *p = byte_of_section(&app.bodies, ".gcc_except_table", 0);

	p[7] = 0; /* of the first call site */
}

static void action(void)
{
	byte_of_section(&app.bodies, ".gcc_except_table", 0)[8] = 0;
}

/* DW_CFA_def_cfa_offset 16, where it is for the first time. */
static void frame_address(void)
{
	uint8_t *p = byte_of_section(&app.bodies, ".eh_frame", 0);

	while (p[0] != 0x0e || p[1] != 16)
		p++;
	p[1] = 24;
}

static void byte_too_many(void)
{
	old_byte("alpha", 9)[0] ^= 1;
}

static void jump_elsewhere(void)
{
	add32(old_byte("alpha", 5), 1);
}

static void no_jump(void)
{
	struct elf *f = open_bytes(&app.old);
	uint64_t addr = symbol_value(&app.old, "beta");
	struct elf_section text = section_of(f, ".text");

	memcpy(old_byte("beta", 0), text.data + (addr - text.addr), 5);
	elf_file_close(f);
}

static void jump_of_another(void)
{
	memcpy(old_byte("delta", 0), old_byte("beta", 0), 5);
}

static void data_changed(void)
{
	old_byte("counter", 0)[0]++;
}

static void dynamic_changed(void)
{
	byte_of_section(&app.old, ".dynamic", 8)[0]++;
}

static void label_elsewhere(void)
{
	put_le64(word_of("alpha_2", 0), symbol_value(&app.bodies, "alpha_7"));
}

static void label_of_old_code(void)
{
	put_le64(word_of("alpha_2", 0), symbol_value(&app.old, "alpha_1"));
}

static void pointer_to_function(void)
{
	put_le64(word_of("delta", 0), symbol_value(&app.bodies, "alpha_6"));
}

static void pointer_elsewhere(void)
{
	put_le64(word_of("beta", 1), symbol_value(&app.bodies, "gamma_body"));
}

static void pointer_to_old_body(void)
{
	put_le64(word_of("beta", 1), symbol_value(&app.old, "beta"));
}

static void symbol_of_old_body(void)
{
	put_le64(symbol_word("beta"), symbol_value(&app.old, "beta"));
}

static void symbol_of_old_section(void)
{
	memcpy(symbol_word("beta") - 2, symbol_word("delta") - 2, 2);
}

static void symbol_too_long(void)
{
	put_le64(symbol_word("beta") + 8, 1 << 20);
}

static void symbol_elsewhere(void)
{
	put_le64(symbol_word("delta"), symbol_value(&app.bodies, "beta_body"));
}

static void data_symbol(void)
{
	put_le64(symbol_word("counter"), symbol_value(&app.bodies, "beta_body"));
}

static void entry_changed(void)
{
	ehdr(&app.made)->e_entry++;
}

static Elf64_Phdr *find_phdr(uint32_t type, uint32_t flags)
{
	unsigned i;

	for (i = 0; phdr(&app.made, i)->p_type != type || phdr(&app.made, i)->p_flags != flags; i++)
		;
	return phdr(&app.made, i);
}

/* One more. */
static Elf64_Phdr *add_phdr(void)
{
	Elf64_Phdr *ph = phdr(&app.made, ehdr(&app.made)->e_phnum++),
		   *self = find_phdr(PT_PHDR, PF_R);

	self->p_filesz += sizeof *ph;
	self->p_memsz += sizeof *ph;
	ph[0] = ph[-1];
	return ph;
}

static void writable_twin(void)
{
	Elf64_Phdr *ph = add_phdr();

	ph->p_flags = PF_R | PF_W;
	ph->p_vaddr = ph->p_paddr = ph->p_vaddr + 0x100000;
}

static void overlapping(void)
{
	Elf64_Phdr *ph = add_phdr();

	ph->p_flags = PF_R;
}

static void below_another(void)
{
	Elf64_Phdr *ph = add_phdr();

	ph->p_flags = PF_R;
	ph->p_vaddr = ph->p_paddr = app.base - app.base % PAGE;
	ph->p_memsz = ph->p_filesz = PAGE;
}

static void old_bytes_again(void)
{
	Elf64_Phdr *ph = add_phdr(), *text = find_phdr(PT_LOAD, PF_R | PF_X);

	*ph = *text;
	ph->p_vaddr = ph->p_paddr = text->p_vaddr + 0x100000;
}

static void writable_text(void)
{
	find_phdr(PT_LOAD, PF_R | PF_X)->p_flags |= PF_W;
}

static void executable_stack(void)
{
	find_phdr(PT_GNU_STACK, PF_R | PF_W)->p_flags |= PF_X;
}

static void section_moved(void)
{
	struct elf *f = open_bytes(&app.old);
	uint32_t i = section_of(f, ".data").index;

	((Elf64_Shdr *)(app.made.p + ehdr(&app.made)->e_shoff))[i].sh_addr += 8;
	elf_file_close(f);
}

/* Takes an entry out of the index. */
static void drop_entry(uint64_t pc)
{
	uint8_t *p = (uint8_t *)app.made.p + app.index.begin, *e = p + 12;
	uint64_t addr = app.base + app.index.begin;
	uint32_t n = get_le32(p + 8);
	Elf64_Phdr *ph = find_phdr(PT_GNU_EH_FRAME, PF_R);

	while (addr + (uint64_t)(int32_t)get_le32(e) != pc)
		e += 8;
	memmove(e, e + 8, (size_t)(p + 12 + 8 * n - (e + 8)));
	put_le32(p + 8, n - 1);
	ph->p_filesz -= 8;
	ph->p_memsz -= 8;
}

static void old_entry_missing(void)
{
	drop_entry(symbol_value(&app.old, "thrower"));
}

static void new_entry_missing(void)
{
	drop_entry(symbol_value(&app.bodies, "gamma_body"));
}

static void index_out_of_order(void)
{
	uint8_t *e = (uint8_t *)app.made.p + app.index.begin + 12, one[8];

	memcpy(one, e, 8);
	memcpy(e, e + 8, 8);
	memcpy(e + 8, one, 8);
}

/* The first block of a function in the new part of the map has another number. */
static uint8_t *new_map(void)
{
	struct elf *f = open_bytes(&app.made), *g = open_bytes(&app.bodies);
	struct elf_section s = section_of(f, ".llvm_bb_addr_map");
	uint8_t *p = (uint8_t *)app.made.p + s.offset + s.size - section_of(g, s.name).size;

	elf_file_close(f);
	elf_file_close(g);
	return p;
}

static void another_block(void)
{
	/* version, features, address, number of blocks, block 0: id, gap, size, metadata */
	uint8_t *p = new_map();

	ck_assert_uint_eq(p[11], 0);
	ck_assert_uint_eq(p[15], 2);
	p[11] = 2;
	p[15] = 0;
}

static void block_omitted(void)
{
	new_map()[11] = 8;
}

static void old_build_id(void)
{
	byte_of_section(&app.old, ".note.gnu.build-id", 16)[0] ^= 1;
}

static void another_origin(void)
{
	struct elf *f = open_bytes(&app.made);

	app.made.p[section_of(f, ".note.morph").offset + 20] ^= 1;
	elf_file_close(f);
}

struct wrong {
	void (*make)(void);
	const char *why;
};
static const struct wrong WRONG_POINTER[] = {
    {label_elsewhere, "in the original): "},
    {label_of_old_code, "that is not new code"},
    {pointer_to_function, "that is not the new body"},
    {pointer_elsewhere, "that is not the new body"},
    {pointer_to_old_body, "others to the same function"},
};
static const struct wrong WRONG[] = {
    {reference, "refers to another address"},
    {swapped_branch, "two places"},
    {branch_elsewhere, "another instruction"},
    {call_elsewhere, "it leads elsewhere"},
    {slot_elsewhere, "another instruction"},
    {another_instruction, "another instruction"},
    {jump_behind, "two places"},
    {into_old_code, "it leads elsewhere"},
    {table_entry, "two places"},
    {landing_pad, "exceptions are handled otherwise"},
    {action, "exceptions are handled otherwise"},
    {frame_address, "unwind information differs"},
    {byte_too_many, "of the original (address"},
    {jump_elsewhere, "in the original): "},
    {no_jump, "no jump to a new body"},
    {jump_of_another, "of the original (address"},
    {data_changed, "of the original (address"},
    {symbol_of_old_body, "others to the same function"},
    {symbol_of_old_section, "of another section"},
    {symbol_too_long, "of another section"},
    {symbol_elsewhere, "of another section"},
    {data_symbol, "of another kind"},
    {dynamic_changed, "of the original (address"},
    {entry_changed, "more differs than where its tables are"},
    {writable_twin, "may be written"},
    {overlapping, "overlap"},
    {below_another, "overlap"},
    {old_bytes_again, "not of new bytes"},
    {writable_text, "may be written"},
    {executable_stack, "changed"},
    {section_moved, "section that is loaded changed"},
    {old_entry_missing, "the index of unwind information"},
    {new_entry_missing, "does not hold it"},
    {index_out_of_order, "not in order"},
    {another_block, "unwind information differs"},
    {block_omitted, "not as often"},
    {old_build_id, "no build-id of its own"},
    {another_origin, "does not name its origin"},
};

static void check_wrong(const struct wrong *w)
{
	w->make();
	rewrite();
	must_be_refused(w->why);
}

START_TEST(wrong)
{
	check_wrong(&WRONG[_i]);
}
END_TEST

START_TEST(wrong_pointer)
{
	check_wrong(&WRONG_POINTER[_i]);
}
END_TEST

START_TEST(says_where)
{
	struct verified v;
	struct err e;

	reference();
	rewrite();
	ck_assert(prove(&v, &e));
	ck_assert(v.differs && v.at.known);
	ck_assert_uint_eq(v.at.tu, 0x1000);
	ck_assert_uint_eq(v.at.func, 0);
}
END_TEST

START_TEST(others_are_wanted)
{
	static const uint64_t more[] = {0x1000, 0x2000, 0x3000, 0x4000};
	struct verified v;
	struct err e;

	ck_assert(prove_with(EDITED, MOVED_N, 0, &v, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "not as often"));
	ck_assert(prove_with(EDITED, MOVED_N - 1, 1, &v, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "not as often"));
	ck_assert(prove_with(more, 4, 1, &v, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "not as often"));
	ck_assert(prove_with(NULL, 0, 1, &v, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "no function has a new body"));
}
END_TEST

/* ---- programs that cannot be edited like this ---- */

static const struct {
	const char *symbols, *options, *why;
} ODD[] = {
    {"--defsym TO_JUMP=1", "-pie -rdynamic", "an instruction"},
    {"--defsym TO_WORD=1", "-pie -rdynamic", "a relocation"},
    {"--defsym TO_WORD=1 --defsym FIXED=1", "-no-pie", "a word"},
    {"--defsym TO_TABLE=1", "-pie -rdynamic", "a jump table"},
    {"--defsym TO_SYMBOL=1", "-pie -rdynamic", "a dynamic symbol"},
    {"--defsym ALIAS=1", "-pie -rdynamic", "others to the same function"},
    {"--defsym TAKEN=1", "-pie -rdynamic", "makes the address"},
    {"--defsym SHOWN=1 --defsym FIXED=1", "-no-pie -Wl,--emit-relocs", "may be the address"},
    {"--defsym THUNK=1", "-pie -rdynamic", "for the sake of its address"},
    {"--defsym LEAK=1", "-pie -rdynamic", "the address of a jump table is used"},
    {"--defsym SHORT=1", "-pie -rdynamic", "in the original): "},
};

START_TEST(odd)
{
	make_appended(ODD[_i].symbols, ODD[_i].options);
	must_be_refused(ODD[_i].why);
	appended_remove();
}
END_TEST

int main(void)
{
	struct err e;
	int rc;

	if (!mkdtemp(app.dir))
		return 1;
	rc = UNIT_RUN("appended", 0, NULL, NULL, UNIT_CASE(600, pie, appended_remove), proven,
	    new_code_is_right, original_is_whole, says_where, others_are_wanted,
	    UNIT_LOOP(wrong, sizeof WRONG / sizeof *WRONG),
	    UNIT_LOOP(wrong_pointer, sizeof WRONG_POINTER / sizeof *WRONG_POINTER),
	    UNIT_CASE(600, fixed, appended_remove), proven, UNIT_CASE(600, kept, appended_remove),
	    proven, UNIT_LOOP(wrong_pointer, sizeof WRONG_POINTER / sizeof *WRONG_POINTER),
	    UNIT_CASE(60, NULL, NULL), UNIT_LOOP(odd, sizeof ODD / sizeof *ODD));
	dir_remove(app.dir, &e);
	return rc;
}
