#include "common/publish.h"
#include "common/spawn.h"
#include "editor-driver/os/run.h"
#include "editor-driver/link/tree.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64], path[96], root[96], object[96];
static char *objects[1] = {object};
static struct artifact *art;
static struct tree tree;
static struct err e;

static const uint32_t insns[] = {1};
static const char text[] = "\t.text\n";

static void put(uint32_t id, uint32_t kind, const char *name, int64_t archive, const char *content)
{
	struct art_input in = {.id = id,
	    .kind = kind,
	    .path = name,
	    .archive = archive,
	    .tu = kind == ART_TU ? 0 : -1};

	ck_assert_msg(!artifact_put_input(art, &in, content, strlen(content), &e), "%s", e.text);
}

static void begin(void)
{
	struct art_meta m = {
	    .id = {20, {1}}, .name = "p", .producer = "test", .ld = "ld", .kind = ELF_PIE};
	struct art_tu tu = {.id = 0, .name = "a.c", .as_args = ""};
	struct art_func f = {.name = "f", .nblock = 1, .insns = insns, .opaque = ""};

	strcpy(dir, "/tmp/morph-tree-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/p.morph", dir);
	snprintf(root, sizeof root, "%s/job/root", dir);
	snprintf(object, sizeof object, "%s/0.o", dir);
	ck_assert_int_eq(publish_bytes(object, "TU", 2, 0600, &e), 0);
	art = artifact_create(path, false, &e);
	ck_assert_msg(art && !artifact_put_meta(art, &m, &e) &&
			  !artifact_put_tu(art, &tu, text, sizeof text - 1, &e) &&
			  !artifact_put_func(art, &f, &e) &&
			  !artifact_put_recipe(art, 0, "@0", &e) &&
			  !artifact_put_blockmap(art, "", 0, &e),
	    "%s", e.text);
}

static int make(void)
{
	char *ar = tool_find("ar", &e);
	int rc;

	ck_assert_msg(!artifact_commit(art, &e), "%s", e.text);
	art = artifact_open(path, &e);
	ck_assert_msg(art != NULL, "%s", e.text);
	rc = tree_make(art, root, "", objects, ar, &tree, &e);
	free(ar);
	return rc;
}

static void end(void)
{
	tree_free(&tree);
	artifact_close(art);
	ck_assert_int_eq(dir_remove(dir, &e), 0);
}

static void holds(const char *below, const char *want)
{
	struct buf b = {0};
	char *file = xasprintf("%s%s", root, below);

	ck_assert_msg(!file_read(file, 0, &b, &e), "%s", e.text);
	ck_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
	free(file);
}

START_TEST(files_lie_at_their_paths)
{
	put(0, ART_TU, "/home/x/a.o", -1, "");
	put(1, ART_OBJECT, "/usr/lib/gcc/12/../../../lib64/crt1.o", -1, "crt");
	put(2, ART_FILE, "/home//x/./with space/v.map", -1, "{};");
	ck_assert_msg(!make(), "%s", e.text);
	holds("/home/x/a.o", "TU");
	holds("/usr/lib64/crt1.o", "crt");
	holds("/usr/lib/gcc/12/../../../lib64/crt1.o", "crt");
	holds("/home/x/with space/v.map", "{};");
	ck_assert_str_eq(strstr(tree.path[1], "/job/root") + 9, "/usr/lib64/crt1.o");
}
END_TEST

/* Order and double names stay; names that a shell or ar would mangle, too. */
START_TEST(archives_are_rebuilt)
{
	const char *print[] = {"ar", "p", NULL, NULL}, *list[] = {"ar", "t", NULL, NULL};
	struct buf got = {0};

	put(0, ART_ARCHIVE, "/lib/libx.a", -1, "");
	put(1, ART_OBJECT, "z.o", 0, "one ");
	put(2, ART_TU, "a.o", 0, "");
	put(3, ART_OBJECT, "z.o", 0, " three ");
	put(4, ART_OBJECT, "it's \"a very-long-name-beyond-fifteen.o", 0, "four");
	ck_assert_msg(!make(), "%s", e.text);
	print[2] = list[2] = tree.path[0];
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = print, .capture_out = &got}, &e), 0);
	ck_assert_str_eq(buf_cstr(&got), "one TU three four");
	got.n = 0;
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = list, .capture_out = &got}, &e), 0);
	ck_assert_str_eq(
	    buf_cstr(&got), "z.o\na.o\nz.o\nit's \"a very-long-name-beyond-fifteen.o\n");
	ck_assert_ptr_null(tree.path[1]);
	buf_free(&got);
}
END_TEST

static const char *const bad_path[] = {"/../x.o", "/a/../../x.o", "/a/..", "/", "/a/b/"};

START_TEST(no_way_out)
{
	put(0, ART_OBJECT, bad_path[_i], -1, "x");
	ck_assert_int_eq(make(), -1);
	ck_assert_str_ne(e.text, "");
}
END_TEST

START_TEST(no_member_leaves_its_folder)
{
	put(0, ART_ARCHIVE, "/lib/libx.a", -1, "");
	put(1, ART_OBJECT, "../../../out.o", 0, "x");
	/* The reader may refuse it before the tree does. */
	ck_assert_msg(!artifact_commit(art, &e), "%s", e.text);
	art = artifact_open(path, &e);
	if (art)
		ck_assert_int_eq(tree_make(art, root, "", objects, "ar", &tree, &e), -1);
	ck_assert_str_ne(e.text, "");
}
END_TEST

START_TEST(two_of_one_path_are_refused)
{
	put(0, ART_OBJECT, "/a/x.o", -1, "1");
	put(1, ART_OBJECT, "/a/./x.o", -1, "2");
	ck_assert_int_eq(make(), -1);
}
END_TEST

UNIT_MAIN("tree", 0, begin, end, files_lie_at_their_paths, archives_are_rebuilt,
    UNIT_LOOP(no_way_out, sizeof bad_path / sizeof *bad_path), no_member_leaves_its_folder,
    two_of_one_path_are_refused)
