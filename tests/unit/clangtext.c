/* hooks/clangtext: checksums of files, which clang's assembler wants of all or of none. */
#include "hooks/clangtext.h"
#include "tests/unit/unit.h"

static void expect(const char *text, const char *made)
{
	struct buf in = {0}, out = {0};

	buf_str(&in, text);
	ck_assert_int_eq(clangtext_make(&in, &out), made != NULL);
	ck_assert_str_eq(buf_cstr(&out), made ? made : "");
	buf_free(&in);
	buf_free(&out);
}

START_TEST(some_files_have_one)
{
	expect("\t.file\t\"a.c\"\n\t.file\t0 \"/d\" \"a.c\" md5 0x12\n\tnop\n\t.file\t1 \"b.h\"\n",
	    "\t.file\t\"a.c\"\n\t.file\t0 \"/d\" \"a.c\"\n\tnop\n\t.file\t1 \"b.h\"\n");
	expect("\t.file\t1 \"b.h\"\n\t.file\t2 \"c\" md5 0x3",
	    "\t.file\t1 \"b.h\"\n\t.file\t2 \"c\"\n");
}
END_TEST

START_TEST(all_or_none)
{
	expect("", NULL);
	expect("\t.file\t\"a.c\"\n\t.file\t0 \"a.c\" md5 0x12\n\t.file\t1 \"b.h\" md5 0x3\n", NULL);
	expect("\t.file\t0 \"a.c\"\n\t.string \" md5 0x1\"\n\t.file\t", NULL);
}
END_TEST

int main(void)
{
	return UNIT_RUN("clangtext", 0, NULL, NULL, some_files_have_one, all_or_none);
}
