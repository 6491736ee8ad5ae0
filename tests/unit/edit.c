/* Jobs on the loop, with a shell script in the editor's place. */
#include "managerd/job/edit.h"
#include "managerd/parent/procs.h"
#include "tests/unit/fakepriv.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#define ANSWER \
	"{\"ok\":true,\"out\":\"x\",\"build_id\":\"1616\",\"origin\":\"0b0b\",\"functions\":10," \
	"\"edited\":4,\"opaque\":1,\"opaque_share\":0.25,\"samples\":3.5,\"samples_used\":3," \
	"\"order\":{\"names\":0,\"missed\":0,\"example\":\"\"}," \
	"\"tus\":3,\"tus_assembled\":2,\"tus_cached\":1,\"seconds\":{\"parse\":0.5,\"as\":2}," \
	"\"score\":{\"before\":{\"exttsp\":1.5,\"taken\":30,\"total\":90,\"lines95\":7," \
	"\"cost\":{\"insns\":1,\"taken\":0.2,\"lines\":0.925,\"cycles\":0.5}}," \
	"\"after\":{\"exttsp\":2.5,\"taken\":10,\"total\":90,\"lines95\":5," \
	"\"cost\":{\"insns\":1,\"taken\":0.2,\"lines\":0.3,\"cycles\":0.4}}}," \
	"\"estimate\":{\"gain\":-0.01,\"low\":-0.02,\"high\":0,\"missed\":0.01,\"optimism\":0.01}" \
	"," \
	"\"size\":{\"before\":100,\"after\":120}}"

static struct priv *priv;
static uv_loop_t loop;
static uv_poll_t parent;

static void spoke(uv_poll_t *p, int status, int events)
{
	priv_dispatch(priv);
}

static void setup(void)
{
	priv = fake_new();
	fake_artifact(fake_file(priv, "/bin/prog", 1000, 11), 2);
	priv->built = (struct build_id){2, {0x16, 0x16}};
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	uv_poll_init(&loop, &parent, priv_events(priv));
	uv_poll_start(&parent, UV_READABLE, spoke);
}

static void teardown(void)
{
	uv_close((uv_handle_t *)&parent, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	priv_close(priv);
}

static void script(const char *text)
{
	priv->script = text;
}

struct got {
	int calls;
	enum edit_end end;
	char error[300], log[300];
	struct edit_result r;
	size_t nblob;
};

static void done(const struct edit_result *r, void *arg)
{
	struct got *g = arg;

	g->calls++;
	g->end = r->end;
	snprintf(g->error, sizeof g->error, "%s", r->error);
	snprintf(g->log, sizeof g->log, "%s", r->log);
	g->r = *r;
	g->nblob = r->blob ? r->blob->n : 0;
}

static void finish(const struct got *g)
{
	while (!g->calls)
		uv_run(&loop, UV_RUN_ONCE);
}

static struct edit *begin(enum priv_job_kind kind, double deadline_s, struct got *g)
{
	struct edit_request q = {
	    .job = {.kind = kind, .module = "/bin/prog", .id = {1, {11}}, .origin = {1, {11}}},
	    .samples = "main 0 1\n",
	    .nsamples = 9,
	    .deadline_s = deadline_s};
	struct edit *j;
	struct err e;

	*g = (struct got){0};
	j = edit_start(&loop, priv, &q, done, g, &e);
	ck_assert_msg(j != NULL, "%s", e.text);
	ck_assert_int_eq(g->calls, 0);
	return j;
}

static void run(enum priv_job_kind kind, const char *text, struct got *g)
{
	script(text);
	begin(kind, 20, g);
	finish(g);
	ck_assert_int_eq(g->calls, 1);
}

/* Tasks that the parent still knows. */
static size_t tasks(void)
{
	return priv->task.n;
}

START_TEST(build_is_read_whole)
{
	struct got g;

	run(PRIV_BUILD,
	    "test \"$(cat <&3)\" = 'main 0 1' || exit 2\n"
	    "echo progress >&2\necho '" ANSWER "'",
	    &g);
	ck_assert_msg(g.end == EDIT_DONE, "%s", g.error);
	ck_assert_str_eq(g.error, "");
	ck_assert_str_eq(g.log, "progress\n");
	ck_assert_uint_eq(g.r.answer.functions, 10);
	ck_assert_uint_eq(g.r.answer.edited, 4);
	ck_assert_double_eq(g.r.answer.score.before.cost.cycles, 0.5);
	ck_assert_uint_eq(g.r.answer.size.after, 120);
	/* What the parent has seen, not what the editor says. */
	ck_assert_uint_eq(g.r.origin.n, 1);
	ck_assert_uint_eq(g.r.build_id.b[0], 0x16);
	ck_assert_uint_gt(g.nblob, 0);
	ck_assert_uint_ne(g.r.task, 0);
	ck_assert_uint_eq(tasks(), 1);
	priv_drop(priv, g.r.task);
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

START_TEST(score_leaves_nothing)
{
	struct got g;

	run(PRIV_SCORE, "echo '" ANSWER "'", &g);
	ck_assert_msg(g.end == EDIT_DONE, "%s", g.error);
	ck_assert_uint_eq(g.r.task, 0);
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

/* Whatever the editor says. */
START_TEST(what_the_parent_refuses_is_refused)
{
	struct got g;

	priv->why = "its output has another origin";
	run(PRIV_BUILD, "echo '" ANSWER "'", &g);
	ck_assert_int_eq(g.end, EDIT_CANNOT);
	ck_assert_str_eq(g.error, priv->why);
	priv->later = true;
	run(PRIV_BUILD, "echo '" ANSWER "'", &g);
	ck_assert_int_eq(g.end, EDIT_LATER);
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

START_TEST(refusal_has_its_reason)
{
	struct got g;

	run(PRIV_BUILD, "echo '{\"ok\":false,\"error\":\"too odd\"}'; exit 1", &g);
	ck_assert_int_eq(g.end, EDIT_CANNOT);
	ck_assert_str_eq(g.error, "too odd");
	run(PRIV_BUILD, "echo first >&2; echo 'morph-edit: bad option' >&2; exit 2", &g);
	ck_assert_int_eq(g.end, EDIT_CANNOT);
	ck_assert_ptr_nonnull(strstr(g.error, "status 2: morph-edit: bad option"));
	run(PRIV_BUILD, "exit 75", &g);
	ck_assert_int_eq(g.end, EDIT_LATER);
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

START_TEST(reasons_are_one_line)
{
	static const char lies[] = "{\"ok\":false,\"error\":\"no\\nmorphd: all is well\\u001b\"}",
			  garbage[] = "{\"a\":\n\x02";
	struct editanswer a = {0};
	struct err e;

	ck_assert_int_eq(editanswer_read(lies, sizeof lies - 1, EDITANSWER_SCORES, &a, &e), 1);
	ck_assert_str_eq(e.text, "no morphd: all is well ");
	ck_assert_int_eq(
	    editanswer_read(garbage, sizeof garbage - 1, EDITANSWER_SCORES, &a, &e), -1);
	ck_assert_msg(!strpbrk(e.text, "\n\x02"), "%s", e.text);
}
END_TEST

START_TEST(bad_answers_are_broken)
{
	static const char *const bad[] = {
	    "exit 0",
	    "echo nothing",
	    "echo '{}'",
	    "echo '{\"ok\":false,\"error\":\"x\"}'",
	    "echo '{\"ok\":false,\"error\":\"\"}'",
	    "echo '" ANSWER "' | sed s/0.25/-1/",
	    "echo '" ANSWER "' | sed s/1616/16xy/",
	    "echo '" ANSWER "' | sed 's/\"edited\":4/\"edited\":\"4\"/'",
	    "echo '" ANSWER "' | sed 's/\"size\"/\"sise\"/'",
	    "head -c 3000000 /dev/zero | tr '\\0' ' '; echo '" ANSWER "'",
	    "kill -SEGV $$",
	    "kill -KILL $$",
	};
	struct got g;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		run(PRIV_BUILD, bad[i], &g);
		ck_assert_msg(g.end == EDIT_BROKEN, "%s: %d", bad[i], (int)g.end);
		ck_assert_str_ne(g.error, "");
		ck_assert_uint_eq(tasks(), 0);
	}
}
END_TEST

START_TEST(deadline_ends_the_whole_group)
{
	struct got g;

	/* A child that does not hear SIGTERM; its own child neither. */
	script("trap '' TERM; sleep 60 & sleep 60; sleep 60");
	begin(PRIV_BUILD, 0.3, &g);
	uint64_t start = uv_hrtime();
	finish(&g);
	double took = (double)(uv_hrtime() - start) / 1e9;

	ck_assert_int_eq(g.end, EDIT_DEADLINE);
	ck_assert(took > 0.3 && took < 10);
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

static void on_timer(uv_timer_t *t)
{
	uv_stop(t->loop);
}

static void turn(double seconds)
{
	uv_timer_t t;

	uv_timer_init(&loop, &t);
	uv_timer_start(&t, on_timer, (uint64_t)(seconds * 1000), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&t, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

START_TEST(paused_time_does_not_count)
{
	struct edit *j;
	struct got g;

	script("sleep 0.5; echo '" ANSWER "'");
	j = begin(PRIV_SCORE, 1.2, &g);
	edit_pause(j, true);
	ck_assert(edit_paused(j));
	turn(2);
	ck_assert_int_eq(g.calls, 0);
	edit_pause(j, false);
	ck_assert(!edit_paused(j));
	finish(&g);
	ck_assert_msg(g.end == EDIT_DONE, "%s", g.error);
	ck_assert(g.r.ran_s < 1.2);
}
END_TEST

START_TEST(cancel_ends_even_a_paused_job)
{
	struct edit *j;
	struct got g;

	script("sleep 60");
	j = begin(PRIV_SCORE, 60, &g);
	turn(0.1);
	edit_pause(j, true);
	edit_cancel(j);
	ck_assert_int_eq(g.calls, 0);
	uint64_t start = uv_hrtime();
	finish(&g);
	ck_assert((double)(uv_hrtime() - start) / 1e9 < 1.5);
	ck_assert_int_eq(g.end, EDIT_CANCELLED);
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

START_TEST(cpu_time_of_the_job_is_seen)
{
	struct edit *j;
	struct got g;

	/* A child burns, and one that was waited for has burnt. */
	script("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; sleep 60");
	j = begin(PRIV_SCORE, 60, &g);
	double used = 0;
	for (int i = 0; i < 500 && used < 0.05; i++) {
		turn(0.1);
		used = edit_cpu(j);
	}
	ck_assert(used >= 0.05);
	edit_cancel(j);
	finish(&g);
}
END_TEST

START_TEST(what_cannot_begin_is_one_error)
{
	struct edit_request q = {
	    .job = {.kind = PRIV_SCORE, .module = "/bin/prog"}, .samples = "", .deadline_s = 1};
	struct err e;

	priv->refuse = 1;
	ck_assert_ptr_null(edit_start(&loop, priv, &q, done, NULL, &e));
	ck_assert_str_eq(e.text, "the parent says no");
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

/* A name of a megabyte is in the line of each block. */
START_TEST(samples_are_bounded_before_they_are_printed)
{
	struct hash128 key = hash_bytes("f", 1);
	struct profile p = {0};
	struct profile_func *f;
	struct buf out = {0};
	char *name = xmalloc((1 << 20) + 1);
	struct err e;
	uint32_t i;

	memset(name, 'x', 1 << 20);
	name[1 << 20] = '\0';
	f = profile_put(&p, &key, name, "a.c", NULL, 1000);
	for (i = 0; i < 10; i++)
		profile_add(f, i, 1, (struct decay){1000, 1e9});
	ck_assert_int_eq(edit_print_samples(&p, 1, (struct decay){1000, 1e9}, &out, &e), 0);
	ck_assert_uint_gt(out.n, 10 << 20);
	buf_free(&out);
	for (; i < 300; i++)
		profile_add(f, i, 1, (struct decay){1000, 1e9});
	ck_assert_int_eq(edit_print_samples(&p, 1, (struct decay){1000, 1e9}, &out, &e), -1);
	ck_assert_uint_eq(out.n, 0);
	profile_free(&p);
	free(name);
}
END_TEST

START_TEST(verify_has_one_log)
{
	struct edit_request q = {.job = {.kind = PRIV_VERIFY, .edit = 7}, .deadline_s = 20};
	struct got g = {0};
	struct err e;

	script("echo said; echo no such luck >&2; exit 3");
	ck_assert_msg(edit_start(&loop, priv, &q, done, &g, &e) != NULL, "%s", e.text);
	finish(&g);
	ck_assert_int_eq(g.end, EDIT_CANNOT);
	ck_assert_str_eq(g.log, "said\nno such luck\n");
	ck_assert_str_eq(g.error, "the verify command ended with status 3: no such luck");
	ck_assert_uint_eq(tasks(), 0);
}
END_TEST

UNIT_MAIN("edit", 60, setup, teardown, build_is_read_whole, score_leaves_nothing,
    what_the_parent_refuses_is_refused, refusal_has_its_reason, reasons_are_one_line,
    bad_answers_are_broken, deadline_ends_the_whole_group, paused_time_does_not_count,
    cancel_ends_even_a_paused_job, cpu_time_of_the_job_is_seen, what_cannot_begin_is_one_error,
    verify_has_one_log, samples_are_bounded_before_they_are_printed)
