/* What one side writes the other reads: the editor's answer, and profiles as text. */
#include "common/editanswer/editanswer.h"
#include "common/profiletext/profiletext.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { ALL = EDITANSWER_LAYOUT | EDITANSWER_SCORES | EDITANSWER_BUILD | EDITANSWER_ESTIMATE };

static struct editanswer sample(void)
{
	return (struct editanswer){.origin = {2, {0xab, 1}},
	    .build_id = {3, {1, 2, 3}},
	    .out = "\xff",
	    .functions = 7,
	    .blocks = 40,
	    .tus = 3,
	    .opaque = 1,
	    .opaque_share = 0.25,
	    .samples = 1e6,
	    .samples_used = 9e5,
	    .edited = 5,
	    .list = {3, 1, "nobody"},
	    .tus_assembled = 2,
	    .tus_cached = 1,
	    .score = {{1.5, 30, 90, 7, {.cycles = 0.5}}, {2.5, 10, 90, 5, {.cycles = 0.25}}},
	    .estimate = {-0.01, -0.04, 0.02, 0.005, 0.003},
	    .size = {100, 1ull << 40}};
}

static int through_json(json_t *o, unsigned parts, struct editanswer *out, struct err *e)
{
	char *text = json_dumps(o, 0);
	int rc = editanswer_read(text, strlen(text), parts, out, e);

	free(text);
	json_decref(o);
	return rc;
}

START_TEST(an_answer_comes_through)
{
	struct editanswer a = sample(), b = {0};
	struct err e;

	ck_assert_int_eq(through_json(editanswer_json(&a, ALL), ALL, &b, &e), 0);
	ck_assert(build_id_equal(&a.origin, &b.origin));
	ck_assert(build_id_equal(&a.build_id, &b.build_id));
	ck_assert_uint_eq(b.functions, 7);
	ck_assert_uint_eq(b.edited, 5);
	ck_assert_uint_eq(b.list.names, 3);
	ck_assert_uint_eq(b.list.missed, 1);
	ck_assert_str_eq(b.list.example, "nobody");
	ck_assert_uint_eq(b.tus_cached, 1);
	ck_assert_double_eq(b.opaque_share, 0.25);
	ck_assert_double_eq(b.samples_used, 9e5);
	ck_assert_mem_eq(&a.score, &b.score, sizeof a.score);
	ck_assert_mem_eq(&a.estimate, &b.estimate, sizeof a.estimate);
	ck_assert_mem_eq(&a.size, &b.size, sizeof a.size);
	ck_assert_ptr_null(b.out);
}
END_TEST

START_TEST(a_refusal_comes_through)
{
	struct editanswer b = {0};
	struct err e;

	ck_assert_int_eq(through_json(editanswer_refusal_json("no\nroom"), ALL, &b, &e), 1);
	ck_assert_str_eq(e.text, "no room");
}
END_TEST

/* Every member that is read is needed, and nothing else will do for it. */
START_TEST(each_member_is_checked)
{
	static const char *const skipped[] = {
	    "ok", "blocks", "opaque_reasons", "lines_lost", "out", "seconds"};
	struct editanswer a = sample(), b = {0};
	json_t *o = editanswer_json(&a, ALL), *less, *odd, *v;
	size_t i, checked = 0;
	const char *key;
	struct err e;

	json_object_foreach (o, key, v) {
		for (i = 0; i < sizeof skipped / sizeof *skipped && strcmp(key, skipped[i]); i++)
			;
		if (i < sizeof skipped / sizeof *skipped)
			continue;
		less = json_copy(o);
		json_object_del(less, key);
		ck_assert_msg(through_json(less, ALL, &b, &e) == -1, "without %s", key);
		odd = json_copy(o);
		json_object_set_new(odd, key, json_real(-1.5));
		ck_assert_msg(through_json(odd, ALL, &b, &e) == -1, "-1.5 for %s", key);
		ck_assert_msg(strstr(e.text, key) != NULL, "%s", e.text);
		checked++;
	}
	ck_assert_uint_eq(checked, 15);
	json_decref(o);
}
END_TEST

START_TEST(a_name_has_its_room)
{
	char name[EDITANSWER_NAME + 1];
	struct editanswer a = sample(), b = {0};
	json_t *o = editanswer_json(&a, ALL), *list = json_object_get(o, "order");
	struct err e;

	memset(name, 'x', sizeof name);
	name[EDITANSWER_NAME - 1] = '\0';
	json_object_set_new(list, "example", json_string(name));
	ck_assert_int_eq(through_json(json_incref(o), ALL, &b, &e), 0);
	ck_assert_str_eq(b.list.example, name);
	name[EDITANSWER_NAME - 1] = 'x';
	name[EDITANSWER_NAME] = '\0';
	json_object_set_new(list, "example", json_string(name));
	ck_assert_int_eq(through_json(o, ALL, &b, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "example"));
}
END_TEST

static void check_line(enum counts_form form, const struct profiletext_line *l, const char *text)
{
	struct profiletext_reader r = {.form = form};
	struct profiletext_line got = {0};
	struct buf out = {0};
	struct err e;

	profiletext_write(&out, form, l);
	ck_assert_str_eq(buf_cstr(&out), text);
	r.p = out.p;
	r.end = out.p + out.n;
	ck_assert_int_eq(profiletext_read(&r, &got, &e), 1);
	ck_assert_int_eq(got.kind, l->kind);
	ck_assert_uint_eq(got.block, l->block);
	ck_assert_uint_eq(got.block2, l->block2);
	ck_assert_uint_eq(got.value, l->value);
	ck_assert_uint_eq(got.func.n, l->func.n);
	ck_assert_uint_eq(got.func.nkey, l->func.nkey);
	ck_assert_uint_eq(got.callee.n, l->callee.n);
	ck_assert_int_eq(profiletext_read(&r, &got, &e), 0);
	ck_assert_uint_eq(r.line, 1);
	buf_free(&out);
}

START_TEST(lines_come_through)
{
	struct profiletext_name f = {"f", "06b05ab6", 1, 8}, g = {.p = "g#1", .n = 3};

	check_line(COUNTS_EXECUTIONS,
	    &(struct profiletext_line){PROFILETEXT_BLOCK, f, .block = 3, .value = 1200045},
	    "f#06b05ab6 3 1200045\n");
	check_line(COUNTS_SAMPLES,
	    &(struct profiletext_line){PROFILETEXT_EDGE, g, .block2 = UINT32_MAX, .value = 31050},
	    "g#1 0 > 4294967295 31.050\n");
	check_line(COUNTS_SAMPLES,
	    &(struct profiletext_line){PROFILETEXT_PREDECESSOR, f, .block2 = 2, .value = 1},
	    "f#06b05ab6 0 < 2 0.001\n");
	check_line(COUNTS_SAMPLES,
	    &(struct profiletext_line){
		PROFILETEXT_CALL, f, g, 7, .value = PROFILETEXT_VALUE_MAX * 1000 + 999},
	    "f#06b05ab6 7 @ g#1 17592186044416.999\n");
}
END_TEST

UNIT_MAIN("editanswer", 0, NULL, NULL, an_answer_comes_through, a_refusal_comes_through,
    each_member_is_checked, a_name_has_its_room, lines_come_through)
