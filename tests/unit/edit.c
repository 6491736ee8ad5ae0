/* Jobs on the loop, with a shell script in the editor's place. */
#include "managerd/edit.h"
#include "managerd/procs.h"
#include "tests/unit/tinyelf.h"

#include <check.h>
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#define ANSWER                                                                                     \
	"{\"ok\":true,\"out\":\"x\",\"build_id\":\"1616\",\"origin\":\"0b0b\",\"functions\":10,"   \
	"\"edited\":4,\"opaque\":1,\"opaque_share\":0.25,\"samples\":3.5,\"samples_used\":3,"      \
	"\"tus\":3,\"tus_assembled\":2,\"tus_cached\":1,\"seconds\":{\"parse\":0.5,\"as\":2},"     \
	"\"score\":{\"before\":{\"exttsp\":1.5,\"taken\":30,\"total\":90,\"lines95\":7,"           \
	"\"cost\":{\"cycles\":0.5}},"                                                              \
	"\"after\":{\"exttsp\":2.5,\"taken\":10,\"total\":90,\"lines95\":5,"                       \
	"\"cost\":{\"cycles\":0.4}}},"                                                             \
	"\"size\":{\"before\":100,\"after\":120}}"

static char dir[] = "/tmp/morph-edit-XXXXXX";
static char *state, *module, *editor, *jobs;
static struct priv *priv;
static uv_loop_t loop;

static void setup(void)
{
	struct priv_options o = {.user = true};
	struct err e;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	state = xasprintf("%s/state", dir);
	jobs = xasprintf("%s/jobs", state);
	module = xasprintf("%s/prog", dir);
	editor = xasprintf("%s/editor", dir);
	o.state = state;
	o.editor = editor;
	ck_assert_int_eq(tiny_write(module, 11, false, 5000), 0);
	priv = priv_start(&o, &e);
	ck_assert_msg(priv != NULL, "%s", e.text);
	ck_assert_int_eq(uv_loop_init(&loop), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	priv_stop(priv);
	dir_remove(dir, NULL);
	free(state);
	free(jobs);
	free(module);
	free(editor);
}

static void script(const char *text)
{
	char *all = xasprintf("#!/bin/sh\n%s\n", text);

	ck_assert_int_eq(publish_bytes(editor, all, strlen(all), 0755, NULL), 0);
	free(all);
}

struct got {
	int calls;
	enum edit_end end;
	char error[300], log[300], out[300], job[20];
	struct edit_result r;
};

static void done(const struct edit_result *r, void *arg)
{
	struct got *g = arg;

	g->calls++;
	g->end = r->end;
	snprintf(g->error, sizeof g->error, "%s", r->error);
	snprintf(g->log, sizeof g->log, "%s", r->log);
	snprintf(g->out, sizeof g->out, "%s", r->out ? r->out : "");
	snprintf(g->job, sizeof g->job, "%s", r->job);
	g->r = *r;
}

static struct edit *begin(enum edit_kind kind, double deadline_s, struct got *g)
{
	struct edit_request q = {.kind = kind, .module = module, .artifact = "/nowhere/prog.morph",
		.origin = {.n = TINY_ID},
		.samples = "main 0 1\n", .nsamples = 9, .deadline_s = deadline_s};
	struct edit *j;
	struct err e;

	memset(q.origin.b, 11, TINY_ID);
	*g = (struct got){0};
	j = edit_start(&loop, priv, &q, done, g, &e);
	ck_assert_msg(j != NULL, "%s", e.text);
	ck_assert_int_eq(g->calls, 0);
	return j;
}

static void run(enum edit_kind kind, const char *text, struct got *g)
{
	script(text);
	begin(kind, 20, g);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(g->calls, 1);
}

static size_t folders(void)
{
	DIR *d = opendir(jobs);
	struct dirent *de;
	size_t n = 0;

	while ((de = readdir(d)))
		n += de->d_name[0] != '.';
	closedir(d);
	return n;
}

START_TEST(build_is_read_whole)
{
	struct stat st;
	struct got g;
	struct err e;

	run(EDIT_BUILD, "test \"$1\" = --json && test \"$2\" = --artifact &&"
	    "test \"$3\" = /nowhere/prog.morph && test \"$4\" = --samples &&"
	    "test \"$(cat $5)\" = 'main 0 1' && test \"$6\" = -o && test \"$8\" = --cache &&"
	    "test \"${10} ${11}\" = \"--original ${TMPDIR%/state*}/prog\" && test $# = 11 || exit 2\n"
	    "test \"$(stat -c %a:%u $9)\" = 700:$(id -u) || exit 3\n"
	    "test \"$TMPDIR\" = \"$PWD\" && echo built >$7 && echo progress >&2\n"
	    "echo '" ANSWER "'", &g);
	ck_assert_msg(g.end == EDIT_DONE, "%s", g.error);
	ck_assert_str_eq(g.error, "");
	ck_assert_str_eq(g.log, "progress\n");
	ck_assert_int_eq(stat(g.out, &st), 0);
	ck_assert_uint_eq(g.r.functions, 10);
	ck_assert_uint_eq(g.r.edited, 4);
	ck_assert_double_eq(g.r.opaque_share, 0.25);
	ck_assert_double_eq(g.r.samples, 3.5);
	ck_assert_uint_eq(g.r.tus_cached, 1);
	ck_assert_double_eq(g.r.seconds.as, 2);
	ck_assert_double_eq(g.r.before.taken, 30);
	ck_assert_uint_eq(g.r.after.lines95, 5);
	ck_assert_double_eq(g.r.before.cycles, 0.5);
	ck_assert_double_eq(g.r.after.cycles, 0.4);
	ck_assert_uint_eq(g.r.size_after, 120);
	ck_assert_uint_eq(g.r.build_id.n, 2);
	ck_assert_uint_eq(g.r.build_id.b[0], 0x16);
	ck_assert_uint_eq(folders(), 1);
	ck_assert_int_eq(edit_drop(priv, g.job, &e), 0);
	ck_assert_uint_eq(folders(), 0);
}
END_TEST

START_TEST(job_is_polite)
{
	struct got g;

	/* 5 = SCHED_IDLE; field 41 of stat. A session of its own; nothing open but 0, 1, 2
	 * (the shell keeps its own from 10 on). */
	run(EDIT_SCORE, "set -- $(cat /proc/$$/stat) ; test ${41} = 5 || exit 9\n"
	    "test $6 = $$ || exit 8\n ls /proc/$$/fd >list\n"
	    "test \"$(grep -v '^1.$' list | tr '\\n' ' ')\" = '0 1 2 ' || exit 7\n"
	    "grep -q '^NoNewPrivs:.1' /proc/$$/status || exit 6\n"
	    "echo '" ANSWER "'", &g);
	ck_assert_msg(g.end == EDIT_DONE, "%s", g.error);
	ck_assert_uint_eq(folders(), 0);
}
END_TEST

START_TEST(a_table_is_not_starved)
{
	struct got g;

	/* 0 = SCHED_OTHER, and a nice value that leaves it a tenth beside one busy process. */
	run(EDIT_TABLE, "set -- $(cat /proc/$$/stat); echo policy ${41} nice ${19} >&2; exit 75",
	    &g);
	ck_assert_int_eq(g.end, EDIT_LATER);
	ck_assert_msg(strstr(g.log, "policy 0 nice 1"), "%s", g.log);
}
END_TEST

START_TEST(refusal_has_its_reason)
{
	struct got g;

	run(EDIT_BUILD, "echo '{\"ok\":false,\"error\":\"too odd\"}'; exit 1", &g);
	ck_assert_int_eq(g.end, EDIT_CANNOT);
	ck_assert_str_eq(g.error, "too odd");
	run(EDIT_BUILD, "echo first >&2; echo 'morph-edit: bad option' >&2; exit 2", &g);
	ck_assert_int_eq(g.end, EDIT_CANNOT);
	ck_assert_ptr_nonnull(strstr(g.error, "status 2: morph-edit: bad option"));
	run(EDIT_BUILD, "exit 75", &g);
	ck_assert_int_eq(g.end, EDIT_LATER);
	ck_assert_uint_eq(folders(), 0);
}
END_TEST

START_TEST(bad_answers_are_broken)
{
	static const char *const bad[] = {
		"exit 0", "echo nothing", "echo '{}'", "echo '{\"ok\":false,\"error\":\"x\"}'",
		"echo '" ANSWER "' | sed s/0.25/-1/", "echo '" ANSWER "' | sed s/1616/16xy/",
		"echo '" ANSWER "' | sed 's/\"edited\":4/\"edited\":\"4\"/'",
		"echo '" ANSWER "' | sed 's/\"size\"/\"sise\"/'",
		"head -c 3000000 /dev/zero | tr '\\0' ' '; echo '" ANSWER "'", "kill -SEGV $$",
		"kill -KILL $$",
	};
	struct got g;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		run(EDIT_BUILD, bad[i], &g);
		ck_assert_msg(g.end == EDIT_BROKEN, "%s: %d", bad[i], (int)g.end);
		ck_assert_str_ne(g.error, "");
		ck_assert_uint_eq(folders(), 0);
	}
}
END_TEST

START_TEST(deadline_ends_the_whole_group)
{
	char mark[64];
	struct got g;

	/* A child that does not hear SIGTERM; its own child neither. */
	script("trap '' TERM; sleep 60 & sleep 60; sleep 60");
	begin(EDIT_BUILD, 0.3, &g);
	uint64_t start = uv_hrtime();
	uv_run(&loop, UV_RUN_DEFAULT);
	double took = (double)(uv_hrtime() - start) / 1e9;

	ck_assert_int_eq(g.end, EDIT_DEADLINE);
	ck_assert(took > 0.3 && took < 10);
	snprintf(mark, sizeof mark, "%s", jobs);
	ck_assert_uint_eq(procs_kill_marked("MORPH_JOB", mark), 0);
	ck_assert_uint_eq(folders(), 0);
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
	j = begin(EDIT_SCORE, 1.2, &g);
	edit_pause(j, true);
	ck_assert(edit_paused(j));
	turn(2);
	ck_assert_int_eq(g.calls, 0);
	edit_pause(j, false);
	ck_assert(!edit_paused(j));
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_msg(g.end == EDIT_DONE, "%s", g.error);
	ck_assert(g.r.ran_s < 1.2);
}
END_TEST

START_TEST(cancel_ends_even_a_paused_job)
{
	struct edit *j;
	struct got g;

	script("sleep 60");
	j = begin(EDIT_SCORE, 60, &g);
	turn(0.1);
	edit_pause(j, true);
	edit_cancel(j);
	ck_assert_int_eq(g.calls, 0);
	uint64_t start = uv_hrtime();
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert((double)(uv_hrtime() - start) / 1e9 < 1.5);
	ck_assert_int_eq(g.end, EDIT_CANCELLED);
	ck_assert_uint_eq(folders(), 0);
}
END_TEST

START_TEST(cpu_time_of_the_session_is_seen)
{
	struct edit *j;
	struct got g;

	/* A child burns, and one that was waited for has burnt. */
	script("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; sleep 60");
	j = begin(EDIT_SCORE, 60, &g);
	double used = 0;
	for (int i = 0; i < 500 && used < 0.05; i++) {
		turn(0.1);
		used = procs_session_cpu(edit_session(j));
	}
	ck_assert(used >= 0.05);
	edit_cancel(j);
	uv_run(&loop, UV_RUN_DEFAULT);
}
END_TEST

START_TEST(missing_editor_is_one_error)
{
	struct edit_request q = {.kind = EDIT_SCORE, .module = module, .artifact = "/a",
		.samples = "", .deadline_s = 1};
	struct err e;

	unlink(editor);
	ck_assert_ptr_null(edit_start(&loop, priv, &q, done, NULL, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "running it: No such file"));
	ck_assert_uint_eq(folders(), 0);
}
END_TEST

static void verify(const char *job, char *const *command, struct got *g)
{
	struct edit_request q = {.kind = EDIT_VERIFY, .module = module, .job = job,
		.command = command, .deadline_s = 20};
	struct err e;

	*g = (struct got){0};
	ck_assert_msg(edit_start(&loop, priv, &q, done, g, &e) != NULL, "%s", e.text);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(g->calls, 1);
}

START_TEST(verify_command_gets_both_paths)
{
	char *good[] = {"sh", "-c", "echo said; test -f \"$1\" && test \"$2\" = x\"$3\"", "-",
		"{new}", "x{old}", "{old}", NULL};
	char *bad[] = {"sh", "-c", "echo no such luck; exit 3", NULL};
	struct got build, g;

	run(EDIT_BUILD, "echo x >$7; echo '" ANSWER "'", &build);
	verify(build.job, good, &g);
	ck_assert_msg(g.end == EDIT_DONE, "%s", g.error);
	ck_assert_str_eq(g.log, "said\n");
	verify(build.job, bad, &g);
	ck_assert_int_eq(g.end, EDIT_CANNOT);
	ck_assert_str_eq(g.error, "the verify command ended with status 3: no such luck");
	ck_assert_uint_eq(folders(), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("edit");
	TCase *t = tcase_create("edit");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, build_is_read_whole);
	tcase_add_test(t, job_is_polite);
	tcase_add_test(t, a_table_is_not_starved);
	tcase_add_test(t, refusal_has_its_reason);
	tcase_add_test(t, bad_answers_are_broken);
	tcase_add_test(t, deadline_ends_the_whole_group);
	tcase_add_test(t, paused_time_does_not_count);
	tcase_add_test(t, cancel_ends_even_a_paused_job);
	tcase_add_test(t, cpu_time_of_the_session_is_seen);
	tcase_add_test(t, missing_editor_is_one_error);
	tcase_add_test(t, verify_command_gets_both_paths);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
