/* hooks/checksum: an object that was changed is not taken for its text. */
#include "hooks/checksum.h"
#include "common/mem.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char object[] = "/tmp/morph-checksum-XXXXXX";

static int assemble(const char *text)
{
	char source[] = "/tmp/morph-checksum-XXXXXX";
	const char *argv[] = {"as", "--64", "-o", object, source, NULL};
	int fd = mkstemp(source), r;

	ck_assert(fd >= 0 && file_write_all(fd, text, strlen(text)) == 0);
	close(fd);
	r = spawn_run(&(struct spawn){.argv = argv}, NULL);
	unlink(source);
	return r;
}

static struct buf checksummed(void)
{
	struct buf b = {0};
	struct err e;

	close(mkstemp(object));
	ck_assert_int_eq(
	    assemble("f:\tret\n\t.section .morph.seal,\"e\",@progbits\n\t.zero 16\n"), 0);
	ck_assert_msg(checksum_file(object, &e) == 0, "%s", e.text);
	ck_assert(file_read(object, 0, &b, NULL) == 0);
	return b;
}

START_TEST(every_changed_byte_breaks_it)
{
	struct buf b = checksummed();
	char *before = xmalloc(b.n);
	size_t i;

	memcpy(before, b.p, b.n);
	ck_assert_int_eq(checksum_check(b.p, b.n, "x.o", NULL), 1);
	ck_assert(!memcmp(before, b.p, b.n));
	for (i = 0; i < b.n; i++) {
		b.p[i] ^= 4;
		ck_assert_msg(checksum_check(b.p, b.n, "x.o", NULL) != 1, "byte %zu", i);
		b.p[i] ^= 4;
	}
	buf_char(&b, 'x');
	ck_assert_int_ne(checksum_check(b.p, b.n, "x.o", NULL), 1);
	free(before);
	buf_free(&b);
	unlink(object);
}
END_TEST

START_TEST(none)
{
	struct buf b = {0};
	struct err e;

	close(mkstemp(object));
	ck_assert_int_eq(assemble("f:\tret\n"), 0);
	ck_assert(checksum_file(object, &e) == -1);
	ck_assert(strstr(e.text, "no section") != NULL);
	ck_assert(file_read(object, 0, &b, NULL) == 0);
	ck_assert_int_eq(checksum_check(b.p, b.n, "x.o", NULL), 0);
	b.n = 40;
	ck_assert_int_ne(checksum_check(b.p, b.n, "x.o", NULL), 1);
	buf_free(&b);
	unlink(object);
}
END_TEST

UNIT_MAIN("checksum", 0, NULL, NULL, every_changed_byte_breaks_it, none)
