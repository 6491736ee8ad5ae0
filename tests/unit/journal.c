/* The journal's text: what was written reads back; nothing else is taken. */
#include "managerd/parent/swap/journal.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct journal sample(void)
{
	struct journal j = {.module = xstrdup("/opt/a b%c\n\xff/prog"),
	    .stage = xstrdup(".prog.morph-new.00c0ffee"),
	    .fresh = true,
	    .keep = 3,
	    .old_ino = 42,
	    .old_size = 4711,
	    .new_size = 815,
	    .from = {.n = 2, .b = {1, 2}},
	    .to = {.n = 20, .b = {9}}};

	j.old_content = content_of_bytes("old", 3);
	j.new_content = content_of_bytes("new", 3);
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
	ck_assert_uint_eq(a->old_size, b->old_size);
	ck_assert(content_equal(&a->old_content, &b->old_content));
	ck_assert_uint_eq(a->new_ino, b->new_ino);
	if (a->new_ino) {
		ck_assert_uint_eq(a->new_size, b->new_size);
		ck_assert(content_equal(&a->new_content, &b->new_content));
	}
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

/* It is published whole: a part of it is no journal. */
START_TEST(cut_off_at_every_byte)
{
	struct journal j = sample(), k;
	struct buf text = {0};
	size_t begun, n;
	struct err e;

	journal_encode(&j, &text);
	begun = text.n;
	j.new_ino = 777;
	text.n = 0;
	journal_encode(&j, &text);
	for (n = 0; n <= text.n; n++) {
		char *copy = xmalloc(n);

		memcpy(copy, text.p, n);
		ck_assert_int_eq(
		    journal_decode(copy, n, &k, &e), n == begun || n == text.n ? 0 : -1);
		journal_free(&k);
		free(copy);
	}
	buf_free(&text);
	journal_free(&j);
}
END_TEST

START_TEST(kept_on_disk)
{
	char state[] = "/tmp/morph-journal-XXXXXX";
	struct content c = content_of_bytes("x", 1);
	struct journal j = sample(), k = {0};
	struct err e;

	ck_assert_ptr_nonnull(mkdtemp(state));
	ck_assert_int_eq(journal_load(state, j.module, &k, &e), 0);
	ck_assert_msg(!journal_begin(state, &j, &e), "%s", e.text);
	ck_assert_int_eq(journal_begin(state, &j, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "not settled yet"));
	ck_assert_int_eq(journal_ready(state, &j, 99, 5, &c, &e), 0);
	ck_assert_int_eq(journal_swapped(state, &j, &e), 0);
	ck_assert_int_eq(journal_load(state, j.module, &k, &e), 1);
	same(&j, &k);
	ck_assert(k.swapped && k.new_ino == 99 && k.new_size == 5);
	journal_free(&k);
	ck_assert_int_eq(journal_end(state, j.module, &e), 0);
	ck_assert_int_eq(journal_end(state, j.module, &e), 0);
	ck_assert_int_eq(journal_load(state, j.module, &k, &e), 0);
	journal_free(&j);
	dir_remove(state, NULL);
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
	refuses("morph-swap 2", "morph-swap 1");
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
	refuses("old-size 4711", "old-size -1");
	refuses("old-size 4711", "old-size 9223372036854775808");
	refuses("old-content ", "old-content 0");
	refuses("fresh 1", "fresh 2");
	refuses("fresh 1", "swapped 1");
	refuses("fresh 1\n", "fresh 1");
	refuses("fresh 1\n", "fresh 1\nswapped 1\n");
	refuses("fresh 1\n", "fresh 1\nready 1\n");
	refuses("fresh 1\n", "fresh 1\nnew-size 1\n");
}
END_TEST

UNIT_MAIN("journal", 0, NULL, NULL, round_trip, cut_off_at_every_byte, kept_on_disk,
    odd_values_are_refused)
