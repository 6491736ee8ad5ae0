/* The journal's text: what was written reads back; nothing else is taken. */
#include "managerd/journal.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct journal sample(void)
{
	struct journal j = {.module = xstrdup("/opt/a b%c\n\xff/prog"),
		.stage = xstrdup(".prog.morph-new.00c0ffee"), .fresh = true, .keep = 3,
		.old_ino = 42, .from = {.n = 2, .b = {1, 2}}, .to = {.n = 20, .b = {9}}};

	return j;
}

static void same(const struct journal *a, const struct journal *b)
{
	ck_assert_str_eq(a->module, b->module);
	ck_assert_str_eq(a->stage, b->stage);
	ck_assert_int_eq(a->rollback, b->rollback);
	ck_assert_int_eq(a->fresh, b->fresh);
	ck_assert(build_id_equal(&a->from, &b->from) && build_id_equal(&a->to, &b->to));
	ck_assert(build_id_equal(&a->origin, &b->origin));
	ck_assert_uint_eq(a->keep, b->keep);
	ck_assert_uint_eq(a->old_ino, b->old_ino);
	ck_assert_uint_eq(a->new_ino, b->new_ino);
	ck_assert_int_eq(a->swapped, b->swapped);
}

START_TEST(round_trip)
{
	struct journal j = sample(), k;
	struct buf text = {0};
	struct err e;
	int i;

	for (i = 0; i < 4; i++) {
		j.rollback = i & 1;
		j.origin = i & 1 ? j.from : (struct build_id){0};
		j.new_ino = i > 1 ? UINT64_MAX : 0;
		j.swapped = i > 2;
		text.n = 0;
		journal_encode(&j, &text);
		ck_assert_msg(!journal_decode(text.p, text.n, &k, &e), "%s", e.text);
		same(&j, &k);
		journal_free(&k);
	}
	buf_free(&text);
	journal_free(&j);
}
END_TEST

/* A crash while "ready" is appended: the line does not count until it is whole. */
START_TEST(cut_off_at_every_byte)
{
	struct journal j = sample(), k;
	struct buf text = {0};
	size_t whole, n;
	struct err e;
	int r;

	journal_encode(&j, &text);
	whole = text.n;
	j.new_ino = 777;
	text.n = 0;
	journal_encode(&j, &text);
	for (n = 0; n <= text.n; n++) {
		char *copy = xmalloc(n);

		memcpy(copy, text.p, n);
		r = journal_decode(copy, n, &k, &e);
		ck_assert_int_eq(r, n < whole ? -1 : 0);
		if (!r)
			ck_assert_uint_eq(k.new_ino, n == text.n ? 777 : 0);
		journal_free(&k);
		free(copy);
	}
	buf_free(&text);
	journal_free(&j);
}
END_TEST

static void refuses(const char *from, const char *to)
{
	struct journal j = sample(), k;
	struct buf text = {0}, bad = {0};
	const char *at;
	struct err e = {""};

	journal_encode(&j, &text);
	at = strstr(buf_cstr(&text), from);
	ck_assert_msg(at != NULL, "%s", from);
	buf_add(&bad, text.p, (size_t)(at - text.p));
	buf_str(&bad, to);
	buf_str(&bad, at + strlen(from));
	ck_assert_msg(journal_decode(bad.p, bad.n, &k, &e) < 0, "%s is taken", to);
	ck_assert_str_ne(e.text, "");
	buf_free(&text);
	buf_free(&bad);
	journal_free(&j);
}

START_TEST(odd_values_are_refused)
{
	refuses("morph-swap 1", "morph-swap 2");
	refuses("module /", "module ");
	refuses("%25", "%2");
	refuses("%25", "%00");
	refuses("%25", "%zz");
	refuses("kind swap", "kind swop");
	refuses("from 0102", "from 012");
	refuses("from 0102", "from -");
	refuses("keep 3", "keep 0");
	refuses("keep 3", "keep 1001");
	refuses("keep 3", "keep 3x");
	refuses("old 42", "old -42");
	refuses("old 42", "old 99999999999999999999");
	refuses("stage .prog", "stage prog");
	refuses("stage .prog", "stage .a%2Fprog");
	refuses(".morph-new.", ".bashrc");
	refuses("fresh 1", "fresh 2");
	refuses("fresh 1", "swapped 1");
	refuses("fresh 1\n", "fresh 1\nswapped 1\n");
	refuses("fresh 1\n", "fresh 1\nready 0\n");
	refuses("fresh 1\n", "fresh 1\nready 1\nready 2\n");
	refuses("fresh 1\n", "fresh 1\nready 1\nswapped 1\nswapped 1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("journal");
	TCase *t = tcase_create("journal");
	SRunner *sr;
	int failed;

	tcase_add_test(t, round_trip);
	tcase_add_test(t, cut_off_at_every_byte);
	tcase_add_test(t, odd_values_are_refused);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
