/* What a file holds, as a hash: known answers, and no file that became shorter. */
#include "managerd/parent/swap/content.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* b2sum -l 256 of "abc", and of nothing. */
static const char abc[] = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319",
		  none[] = "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8";

START_TEST(known_answers)
{
	struct content a = content_of_bytes("abc", 3), b;
	char hex[CONTENT_HEX];

	ck_assert_str_eq(content_hex(&a, hex), abc);
	b = content_of_bytes("", 0);
	ck_assert_str_eq(content_hex(&b, hex), none);
	ck_assert(!content_equal(&a, &b));
	ck_assert_int_eq(content_parse(abc, &b), 0);
	ck_assert(content_equal(&a, &b));
	ck_assert_int_eq(content_parse("", &b), -1);
	ck_assert_int_eq(content_parse(abc + 1, &b), -1);
	memcpy(hex, abc, sizeof hex);
	hex[63] = 'g';
	ck_assert_int_eq(content_parse(hex, &b), -1);
}
END_TEST

START_TEST(files)
{
	int fd = memfd_create("content", 0);
	char text[200000] = "abc";
	struct content a, b;

	ck_assert_int_eq(write(fd, text, sizeof text), sizeof text);
	ck_assert_int_eq(content_of_file(fd, sizeof text, &a), 0);
	b = content_of_bytes(text, sizeof text);
	ck_assert(content_equal(&a, &b));
	ck_assert_int_eq(content_of_file(fd, 3, &a), 0);
	b = content_of_bytes("abc", 3);
	ck_assert(content_equal(&a, &b));
	ck_assert_int_eq(content_of_file(fd, sizeof text + 1, &a), -1);
	ck_assert_int_eq(errno, EIO);
	close(fd);
}
END_TEST

UNIT_MAIN("content", 0, NULL, NULL, known_answers, files)
