/* One call is one line, and one call site is no flood. */
#include "common/log.h"
#include "common/loglimit.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ck_escaped(text, want) \
	do { \
		char out_[256]; \
		size_t n_ = log_escape(out_, sizeof out_, text); \
		ck_assert_str_eq(out_, want); \
		ck_assert_uint_eq(n_, strlen(want)); \
	} while (0)

START_TEST(control_characters_are_escaped)
{
	ck_escaped("/bin/a b~", "/bin/a b~");
	ck_escaped("/a\nmorphd: swapped /bin/su", "/a\\x0amorphd: swapped /bin/su");
	ck_escaped("\t\r\x1b[2J\x7f", "\\x09\\x0d\\x1b[2J\\x7f");
	ck_escaped("\xc2\x9b"
		   "31m\xc2\x85",
	    "\\xc2\\x9b31m\\xc2\\x85");
}
END_TEST

START_TEST(utf8_stays_and_other_bytes_do_not)
{
	ck_escaped("/home/Zoë/é…😀\xc2\xa0", "/home/Zoë/é…😀\xc2\xa0");
	ck_escaped("\xff\xc3", "\\xff\\xc3");
	ck_escaped("\xc0\x8a\xe0\x80\x8a", "\\xc0\\x8a\\xe0\\x80\\x8a");
	ck_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80");
}
END_TEST

START_TEST(a_long_text_is_cut_between_characters)
{
	char out[8];

	ck_assert_uint_eq(log_escape(out, sizeof out, "123456789"), 7);
	ck_assert_str_eq(out, "1234567");
	ck_assert_uint_eq(log_escape(out, sizeof out, "1234\n"), 4);
	ck_assert_uint_eq(log_escape(out, sizeof out, "12345é…"), 7);
	ck_assert_uint_eq(log_escape(out, sizeof out, "123456é"), 6);
}
END_TEST

START_TEST(the_first_lines_go_out_and_the_others_are_counted)
{
	static struct loglimit l;
	struct loglimit_site s;
	int i, site, other;

	for (i = 0; i < LOGLIMIT_LINES; i++)
		ck_assert(loglimit_allows(&l, &site, "x", 1000 + (uint64_t)i));
	for (i = 0; i < 500; i++)
		ck_assert(!loglimit_allows(&l, &site, "x", 2000));
	ck_assert(loglimit_allows(&l, &other, "y", 2000));
	ck_assert(!loglimit_next(&l, 1000 + LOGLIMIT_MS - 1, false, &s));
	ck_assert(loglimit_next(&l, 1000 + LOGLIMIT_MS, false, &s));
	ck_assert_uint_eq(s.more, 500);
	ck_assert_str_eq(s.like, "x");
	ck_assert(!loglimit_next(&l, 99999, true, &s));
	for (i = 0; i < LOGLIMIT_LINES; i++)
		ck_assert(loglimit_allows(&l, &site, "x", 20000));
	ck_assert(!loglimit_allows(&l, &site, "x", 20000));
	ck_assert(loglimit_next(&l, 20001, true, &s));
}
END_TEST

START_TEST(slow_lines_are_never_held_back)
{
	static struct loglimit l;
	int i, site;

	for (i = 0; i < 1000; i++)
		ck_assert(loglimit_allows(&l, &site, "x", (uint64_t)i * 501));
}
END_TEST

START_TEST(many_sites_find_room_again)
{
	static struct loglimit l;
	static char site[3 * LOGLIMIT_SITES];
	int i, k;

	for (i = 0; i < 3 * LOGLIMIT_SITES; i++)
		ck_assert(loglimit_allows(&l, &site[i], "x", (uint64_t)i * 1000));
	for (k = 1; k < LOGLIMIT_LINES; k++)
		ck_assert(loglimit_allows(&l, &site[i - 1], "x", (uint64_t)i * 1000));
	ck_assert(!loglimit_allows(&l, &site[i - 1], "x", (uint64_t)i * 1000));
}
END_TEST

/* What a program says that logs 1000 lines in a loop, forging some, and dies. */
START_TEST(a_flood_is_told_in_one_line)
{
	char text[65536], *line;
	int fd[2], i, lines = 0;
	size_t n = 0;
	ssize_t r;

	ck_assert_int_eq(pipe(fd), 0);
	fflush(NULL);
	if (fork() == 0) {
		dup2(fd[1], 2);
		log_init("test", LOG_LVL_INFO);
		for (i = 0; i < 1000; i++)
			log_warn("refused %s", "x\ntest: forged");
		log_info("another line");
		die(3, "the end");
	}
	close(fd[1]);
	while ((r = read(fd[0], text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)r;
	text[n] = '\0';
	wait(&i);
	ck_assert_int_eq(WEXITSTATUS(i), 3);
	ck_assert_ptr_nonnull(strstr(text, "test: another line\n"));
	ck_assert_ptr_nonnull(strstr(text, "test: error: the end\n"));
	ck_assert_ptr_nonnull(strstr(text, "test: warning: 980 more like \"refused %s\" in"));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++)
		ck_assert(!strncmp(line, "test: ", 6) && strncmp(line, "test: forged", 12));
	ck_assert_int_eq(lines, LOGLIMIT_LINES + 3);
}
END_TEST

UNIT_MAIN("log", 0, NULL, NULL, control_characters_are_escaped, utf8_stays_and_other_bytes_do_not,
    a_long_text_is_cut_between_characters, the_first_lines_go_out_and_the_others_are_counted,
    slow_lines_are_never_held_back, many_sites_find_room_again, a_flood_is_told_in_one_line)
