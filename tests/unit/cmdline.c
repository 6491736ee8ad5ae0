/* Command lines to shapes, from stacks as exec leaves them. */
#include "monitor-client/kernel/cmdline.h"
#include "common/le.h"
#include "tests/unit/unit.h"

#include <string.h>

#define SP 0x7ffc00001230

enum { SIZE = 4096, STRINGS = 1024, VECTOR = 8 /* bytes: argc */ };

static uint8_t stack[SIZE];

static void put(const char *const *arg, size_t n)
{
	size_t at = STRINGS, i;

	memset(stack, 0, sizeof stack);
	put_le64(stack, n);
	for (i = 0; i < n; i++) {
		put_le64(stack + VECTOR + 8 * i, SP + at);
		strcpy((char *)stack + at, arg[i]);
		at += strlen(arg[i]) + 1;
	}
}

/* "prog|-o|.c 2|": the text with | for newlines. */
static const char *text_of(const char *const *arg, size_t n)
{
	static char out[CMDLINE_TEXT + 1];
	size_t length, i;

	put(arg, n);
	length = cmdline_text(stack, sizeof stack, SP, out);
	for (i = 0; i < length; i++)
		if (out[i] == '\n')
			out[i] = '|';
	out[length] = '\0';
	return out;
}

#define TEXT(...) \
	text_of((const char *const[]){__VA_ARGS__}, \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

START_TEST(options_stay_without_values)
{
	ck_assert_str_eq(TEXT("/usr/bin/prog"), "prog|");
	ck_assert_str_eq(
	    TEXT("prog", "-psecret", "--password=secret", "--all"), "prog|-p|--password|--all|");
	ck_assert_str_eq(TEXT("prog", "--", "-p", "--all=1"), "prog|--|x 2|");
	ck_assert_str_eq(TEXT("worker12", "-", ""), "worker0|- 1|x 1|");
}
END_TEST

START_TEST(operands_are_kinds_and_how_many)
{
	ck_assert_str_eq(TEXT("prog", "a/b.c", "x.c", "y.c", "z.h"), "prog|.c 4|.h 1|");
	ck_assert_str_eq(TEXT("prog", "12", "-n", "3.5", "secret"), "prog|0 1|-n|0 1|x 1|");
	ck_assert_str_eq(
	    TEXT("prog", "me@host.my-secret", "a.b/secret", "x.muchtoolong"), "prog|x 4|");
	ck_assert_str_eq(TEXT("prog", "file.1", "f.tar.gz"), "prog|x 1|.gz 1|");
}
END_TEST

START_TEST(long_command_lines_are_cut)
{
	const char *arg[CMDLINE_ARGS + 2];
	size_t i;

	for (i = 0; i < CMDLINE_ARGS + 2; i++)
		arg[i] = i ? "a.c" : "prog";
	ck_assert_str_eq(text_of(arg, CMDLINE_ARGS), "prog|.c 64|");
	ck_assert_str_eq(text_of(arg, CMDLINE_ARGS + 2), "prog|.c 64|+|");
}
END_TEST

START_TEST(the_text_has_room_for_no_more)
{
	static char option[CMDLINE_TEXT] = "--";
	const char *const arg[] = {"prog", option, "x"};
	char out[CMDLINE_TEXT];

	memset(option + 2, 'o', sizeof option - 3);
	put(arg, 3);
	ck_assert_uint_eq(cmdline_text(stack, sizeof stack, SP, out), CMDLINE_TEXT);
}
END_TEST

START_TEST(equal_shapes_are_equal_numbers)
{
	static const char *const a[] = {"/bin/prog", "-n", "12", "a.c"},
				 *const b[] = {"prog", "-n9", "3", "b.c"},
				 *const c[] = {"prog", "-n9", "3", "b.h"};
	uint64_t shape;

	put(a, 4);
	shape = cmdline_shape(stack, sizeof stack, SP);
	ck_assert_uint_ne(shape, 0);
	put(b, 4);
	ck_assert_uint_eq(cmdline_shape(stack, sizeof stack, SP), shape);
	put(c, 4);
	ck_assert_uint_ne(cmdline_shape(stack, sizeof stack, SP), shape);
}
END_TEST

/* Whatever a program makes of its stack. */
START_TEST(what_is_not_there_is_not_known)
{
	static const char *const arg[] = {"prog", "-n", "last"};
	size_t end = STRINGS + sizeof "prog" + sizeof "-n" + sizeof "last", n;

	put(arg, 3);
	for (n = 0; n < end; n++)
		ck_assert_uint_eq(cmdline_shape(stack, n, SP), 0);
	ck_assert_uint_ne(cmdline_shape(stack, end, SP), 0);
	put_le64(stack, 0);
	ck_assert_uint_eq(cmdline_shape(stack, sizeof stack, SP), 0);
	put_le64(stack, UINT64_MAX);
	ck_assert_uint_eq(cmdline_shape(stack, sizeof stack, SP), 0);
	put_le64(stack, SIZE / 8);
	ck_assert_uint_eq(cmdline_shape(stack, sizeof stack, SP), 0);
	put_le64(stack, 3);
	put_le64(stack + VECTOR + 8, SP - 1);
	ck_assert_uint_eq(cmdline_shape(stack, sizeof stack, SP), 0);
	put_le64(stack + VECTOR + 8, SP + SIZE);
	ck_assert_uint_eq(cmdline_shape(stack, sizeof stack, SP), 0);
	memset(stack, 'x', sizeof stack);
	put_le64(stack, 1);
	put_le64(stack + VECTOR, SP + 100);
	ck_assert_uint_eq(cmdline_shape(stack, sizeof stack, SP), 0);
}
END_TEST

UNIT_MAIN("cmdline", 0, NULL, NULL, options_stay_without_values, operands_are_kinds_and_how_many,
    long_command_lines_are_cut, the_text_has_room_for_no_more, equal_shapes_are_equal_numbers,
    what_is_not_there_is_not_known)
