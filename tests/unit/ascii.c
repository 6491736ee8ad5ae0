/* common/ascii: what Morph writes beyond ASCII, and nothing else, becomes ASCII. */
#include "common/ascii.h"
#include "morphctl/text/table.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(const char *text, const char *want)
{
	char s[256];

	strcpy(s, text);
	s[ascii_translate(s, strlen(s))] = '\0';
	ck_assert_str_eq(s, want);
}

START_TEST(translated)
{
	expect("a … – − → × b", "a … – − → × b");
	ascii_set(true);
	expect("a … – − → × b", "a ... - - -> x b");
	expect("……", "......");
	expect("", "");
	expect("/home/Zoë/é😀", "/home/Zoë/é😀");
	expect("\xe2\x80\xff\xe2", "\xe2\x80\xff\xe2");
	ascii_set(false);
}
END_TEST

START_TEST(cut_off)
{
	ascii_set(true);
	ck_assert_uint_eq(ascii_cut_off("ab\xe2", 3), 1);
	ck_assert_uint_eq(ascii_cut_off("ab\xe2\x80", 4), 2);
	ck_assert_uint_eq(ascii_cut_off("ab…", 5), 0);
	ck_assert_uint_eq(ascii_cut_off("\xc3", 1), 1);
	ck_assert_uint_eq(ascii_cut_off("\xff", 1), 0);
	ck_assert_uint_eq(ascii_cut_off("", 0), 0);
	ascii_set(false);
	ck_assert_uint_eq(ascii_cut_off("ab\xe2", 3), 0);
}
END_TEST

/* What a child prints in the locale; to free. */
static char *printed(const char *locale, void (*print)(void))
{
	int fd[2], status;
	char *out = xcalloc(1, 1 << 16);
	size_t n = 0;
	ssize_t r;
	pid_t pid;

	ck_assert(!pipe(fd));
	if (!(pid = fork())) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		setenv("LC_ALL", locale, 1);
		ascii_begin();
		print();
		exit(0);
	}
	close(fd[1]);
	while ((r = read(fd[0], out + n, (1 << 16) - 1 - n)) > 0)
		n += (size_t)r;
	close(fd[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return out;
}

static void print_pieces(void)
{
	int i;

	fputs("\xe2", stdout);
	fflush(stdout);
	fputs("\x80", stdout);
	fflush(stdout);
	fputs("\xa6\n", stdout);
	for (i = 0; i < 5000; i++)
		fputs("…", stdout);
	puts("");
	fputs("raw \xe2\x80", stdout);
}

START_TEST(streams)
{
	char *c = printed("C", print_pieces), *utf8 = printed("C.UTF-8", print_pieces);

	ck_assert(!strncmp(c, "...\n...", 7));
	ck_assert_uint_eq(strspn(c + 4, "."), 15000);
	ck_assert_str_eq(c + 4 + 15000, "\nraw \xe2\x80");
	ck_assert(!strncmp(utf8, "…\n……", 10));
	ck_assert_str_eq(utf8 + 4 + 15000, "\nraw \xe2\x80");
	free(c);
	free(utf8);
}
END_TEST

static void print_then_keep(void)
{
	puts("… a");
	ascii_keep_stdout();
	puts("… b");
	fputs("… c\n", stderr);
}

START_TEST(kept_for_programs)
{
	char *c = printed("C", print_then_keep);

	ck_assert_ptr_nonnull(strstr(c, "... a\n"));
	ck_assert_ptr_nonnull(strstr(c, "… b\n"));
	ck_assert_ptr_nonnull(strstr(c, "... c\n"));
	free(c);
}
END_TEST

static void print_table(void)
{
	static const struct column column[] = {{"NAME", CUT_END}, {"N", RIGHT}};
	struct table t = {column, 2};
	char name[300];

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	table_row(&t, name, "1");
	table_row(&t, "a → b", "2");
	table_print(stdout, &t, false);
	table_free(&t);
}

/* Columns stand below one another in either. */
START_TEST(tables)
{
	const char *locale[] = {"C", "C.UTF-8"};
	char *out, *line, *save;
	unsigned i, width;

	for (i = 0; i < 2; i++) {
		out = printed(locale[i], print_table);
		ascii_set(i == 0);
		for (width = 0, line = strtok_r(out, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			ck_assert(!width || text_width(line) == width);
			width = text_width(line);
		}
		ck_assert_uint_eq(width, TABLE_WIDTH);
		ascii_set(false);
		free(out);
	}
}
END_TEST

UNIT_MAIN("ascii", 0, NULL, NULL, translated, cut_off, streams, kept_for_programs, tables)
