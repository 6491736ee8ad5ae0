#include "morphctl/compact.h"
#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "editor/unit.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define IDENT "\t.ident\t\"GCC: (Debian) 12.2.0\"\n"
#define CODE(branch, label, loc) \
	"\t.text\n\t.globl\tf\n\t.type\tf, @function\nf:\n" loc label "\ttestl\t%edi, %edi\n" \
	"\tje\t" branch "\n" loc "\tmovl\t$1, %eax\n\tret\n" branch \
	":\n\txorl\t%eax, %eax\n\tret\n" \
	"\t.size\tf, .-f\n"

static const char full[] = "\t.file\t\"a.c\"\n" CODE(".L2", ".LVL0:\n",
    "\t.file 1 \"a.c\"\n\t.loc 1 2 3\n") "\t.section\t.debug_info,\"\",@progbits\n\t."
					 "long\t0x12\n\t.quad\t.LVL0\n\t.globl\tg\n"
					 "\t.text\n\t.section\t.debug_str,\"MS\",@"
					 "progbits,1\n\t.string\t\"long name\"\n"
					 "\t.section\t.note.GNU-stack,\"\",@progbits\n" IDENT;
static const char less[] =
    "\t.file\t\"a.c\"\n" CODE(".L0", "", "") "\t.globl\tg\n\t.text\n"
					     "\t.section\t.note.GNU-stack,\"\",@progbits\n" IDENT;
/* Sections are not followed back out of debug information. */
static const char previous[] = "\t.file\t\"b.c\"\n" CODE(
    ".L2", "", "") "\t.section\t.debug_x\n\t.long\t1\n\t.previous\n" IDENT;
/* Here the label is also code's. */
static const char used[] =
    "\t.file\t\"c.c\"\n" CODE(".L2", ".LVL0:\n", "") "\t.data\n\t.quad\t.LVL0\n" IDENT;
static const char numbered[] =
    "\t.file\t\"c.c\"\n" CODE(".L1", ".L0:\n", "") "\t.data\n\t.quad\t.L0\n" IDENT;

static char dir[64];
static struct err e;

static void enter(void)
{
	strcpy(dir, "/tmp/morph-compact-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void leave(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	dir_remove(dir, NULL);
}

/* Its functions as they are read, the key of the first with another byte where `other`. */
static void put_unit(struct artifact *a, uint32_t id, const char *text, bool other)
{
	struct art_tu tu = {id, hash_bytes(text, strlen(text)), "u", "--64", 0};
	struct arena mem = {0};
	struct unit *u = unit_parse(&mem, text, strlen(text), &e);
	uint32_t insns[8], b, i;

	ck_assert_msg(u != NULL, "%s", e.text);
	ck_assert_uint_ge(u->nfunc, 1);
	ck_assert_int_eq(artifact_put_tu(a, &tu, text, strlen(text), &e), 0);
	for (i = 0; i < u->nfunc; i++) {
		struct unit_func *f = &u->func[i];
		struct art_func row = {
		    id, f->ord, f->name, f->key, f->cfg.nblock, insns, f->opaque ? f->opaque : ""};

		for (b = 0; b < f->cfg.nblock; b++)
			insns[b] = f->cfg.block[b].insns;
		row.key.b[0] ^= other;
		ck_assert_int_eq(artifact_put_func(a, &row, &e), 0);
	}
	unit_free(u);
	arena_free(&mem);
}

static void make(void)
{
	struct art_meta meta = {{2, {1, 2}}, "prog", "morph", "ld.bfd", ELF_PIE};
	struct art_input in = {0, ART_SHARED, "/lib/libc.so.6", -1, -1, 0};
	struct artifact *a = artifact_create("from", false, &e);

	ck_assert_msg(a != NULL, "%s", e.text);
	ck_assert_int_eq(artifact_put_meta(a, &meta, &e), 0);
	put_unit(a, 0, full, false);
	put_unit(a, 1, previous, false);
	put_unit(a, 2, used, false);
	put_unit(a, 3, full, true);
	ck_assert_int_eq(artifact_put_input(a, &in, "library", 7, &e), 0);
	ck_assert_int_eq(artifact_put_recipe(a, 0, "@0", &e), 0);
	ck_assert_int_eq(artifact_put_blockmap(a, "map", 3, &e), 0);
	ck_assert_msg(!artifact_commit(a, &e), "%s", e.text);
}

static void check_text(struct artifact *a, uint32_t tu, const char *want)
{
	struct buf b = {0};

	ck_assert_msg(artifact_text(a, tu, &b, &e) == 0, "%s", e.text);
	ck_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

static struct artifact *compacted(bool stripped)
{
	struct artifact *a;

	make();
	ck_assert_msg(
	    compact_artifacts(&(struct compact_source){"from", stripped}, 1, "to", &e) == 0, "%s",
	    e.text);
	a = artifact_open("to", &e);
	ck_assert_msg(a != NULL, "%s", e.text);
	return a;
}

START_TEST(debug_information_goes_where_nothing_else_does)
{
	struct artifact *a = compacted(true);
	const struct art_tu *tu;

	check_text(a, 0, less);
	check_text(a, 1, previous);
	check_text(a, 2, numbered);
	check_text(a, 3, full); /* it would not be read as what the artifact says */
	/* By which block maps name it. */
	ck_assert_uint_eq(artifact_tus(a, &tu), 4);
	ck_assert_uint_eq(hash_short(&tu[0].hash),
	    hash_short(&(struct hash128[]){hash_bytes(full, strlen(full))}[0]));
	artifact_close(a);
}
END_TEST

START_TEST(all_else_is_as_it_was)
{
	struct artifact *a = compacted(false), *from = artifact_open("from", &e);
	const struct art_func *f, *g;
	const char *const *arg;
	struct buf b = {0};
	size_t i, n;

	for (i = 0; i < 4; i++)
		check_text(a, (uint32_t)i, i == 1 ? previous : i == 2 ? used : full);
	n = artifact_funcs(a, &f);
	ck_assert_uint_eq(n, artifact_funcs(from, &g));
	for (i = 0; i < n; i++)
		ck_assert(hash_equal(&f[i].key, &g[i].key) && f[i].nblock == g[i].nblock);
	ck_assert_int_eq(artifact_content(a, 0, &b, &e), 0);
	ck_assert_str_eq(buf_cstr(&b), "library");
	b.n = 0;
	ck_assert_int_eq(artifact_blockmap(a, &b, &e), 0);
	ck_assert_str_eq(buf_cstr(&b), "map");
	ck_assert_uint_eq(artifact_recipe(a, &arg), 1);
	ck_assert_str_eq(arg[0], "@0");
	ck_assert(build_id_equal(&artifact_meta(a)->id, &artifact_meta(from)->id));
	buf_free(&b);
	artifact_close(a);
	artifact_close(from);
}
END_TEST

START_TEST(what_cannot_be_read_is_not_published)
{
	struct buf b = {0};
	size_t i;

	make();
	ck_assert_int_eq(file_read("from", 0, &b, &e), 0);
	for (i = 0; i < 100; i++) {
		ck_assert_int_eq(publish_bytes("cut", b.p, b.n * i / 100, 0644, &e), 0);
		ck_assert_int_eq(
		    compact_artifacts(&(struct compact_source){"cut", true}, 1, "to", &e), -1);
		ck_assert(*e.text && access("to", F_OK) < 0);
	}
	buf_free(&b);
	ck_assert_int_eq(
	    compact_artifacts(&(struct compact_source){"from", true}, 1, "none/to", &e), -1);
}
END_TEST

UNIT_MAIN("compact", 60, enter, leave, debug_information_goes_where_nothing_else_does,
    all_else_is_as_it_was, what_cannot_be_read_is_not_published)
