#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"
#include "managerd/parent/sockets.h"
#include "tests/unit/fakemanager.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static char dir[64];
static char *sock;
static pid_t server;
static struct arena mem;

/* ---- a manager in another process; its changes end by themselves ---- */

static void end_changes(uv_timer_t *t)
{
	struct manager *m = t->data;
	unsigned i;

	for (i = 0; i < m->nchange; i++) {
		if (m->change[i].status < CHANGE_DONE)
			fake_end_change(m, i + 1, i % 2 ? CHANGE_REFUSED : CHANGE_DONE);
	}
}

/* One that was laid out by its last decision. */
static void put_laid_out(struct manager *m, const char *path)
{
	struct decision d = {.verdict = VERDICT_EDIT, .text = "to be laid out"};
	struct err e;

	fake_module(m, path, getuid(), MODULE_LAID_OUT);
	if (store_put_decision(m->store, module_id(path), FAKE_MS + 20000, &d, &e) < 0)
		abort();
}

static void serve(int ready)
{
	struct manager m;
	uv_timer_t t;
	uv_loop_t loop;
	struct err e;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	uv_loop_init(&loop);
	fake_start(&m, dir, getuid(), getuid() + 1);
	fake_module(&m, "/opt/two/lua", getuid(), MODULE_ORIGINAL);
	fake_rolled_back(&m, "/opt/back", getuid());
	put_laid_out(&m, "/opt/fresh");
	fd = socket_listen(sock, 0600, (gid_t)-1, &e);
	if (fd < 0 || !api_open(&loop, &m, fd, &e))
		abort();
	uv_timer_init(&loop, &t);
	t.data = &m;
	uv_timer_start(&t, end_changes, 200, 200);
	close(ready);
	uv_run(&loop, UV_RUN_DEFAULT);
}

static void setup(void)
{
	int p[2];
	char c;

	setenv("TZ", "UTC", 1);
	strcpy(dir, "/tmp/morph-ctl-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	sock = xasprintf("%s/api.sock", dir);
	ck_assert_int_eq(pipe(p), 0);
	server = fork();
	if (server == 0)
		serve(p[1]);
	close(p[1]);
	ck_assert_int_eq(read(p[0], &c, 1), 0);
	close(p[0]);
}

static void teardown(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	ck_assert_int_eq(dir_remove(dir, NULL), 0);
	arena_free(&mem);
	free(sock);
}

/* Runs a command with standard output and error in a file; its text. */
static char *run(int (*cmd)(const struct invocation *), struct invocation in, int want)
{
	char *path = xasprintf("%s/out", dir);
	int out = dup(1), err = dup(2), code;
	struct buf text = {0};

	in.mem = &mem;
	in.socket = in.socket ? in.socket : sock;
	fflush(stdout);
	ck_assert_ptr_nonnull(freopen(path, "w", stdout));
	dup2(1, 2);
	code = cmd(&in);
	fflush(stdout);
	dup2(out, 1);
	dup2(err, 2);
	close(out);
	close(err);
	ck_assert_int_eq(file_read(path, 0, &text, NULL), 0);
	ck_assert_msg(code == want, "exit %d: %s", code, buf_cstr(&text));
	free(path);
	return buf_cstr(&text);
}

static void expect(char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

#define ONE(name) .arg = (char *[]){name}, .narg = 1

static void fits(const char *text)
{
	char *copy = xstrdup(text), *line, *save;

	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		ck_assert_msg(text_width(line) <= TABLE_WIDTH, "too wide: %s", line);
		ck_assert_msg(line[strlen(line) - 1] != ' ', "ends in space: '%s'", line);
	}
	free(copy);
}

START_TEST(status_is_told_in_words)
{
	char *t = run(cmd_status, (struct invocation){0}, EXIT_DONE);

	fits(t);
	expect(t, "1,000 taken = 700 mapped (70.0 %) + 200 outside + 12 stale + 88 dropped\n");
	expect(t, "connected, tick, one sample per 4 ms, last batch ");
	expect(t, "of 2 builds: 900 samples (50 not sent), 1,201 branch outcomes, 600 callers\n");
	expect(t, "/home/ann/bin/lua  "); /* root sees a longer path, too */
	expect(t, "  laid out   15,210  98.0 %  ");
	expect(t, "5.1 %  4.1 % (2.9 … 5.3)  −59 %");
	expect(t, "\n  waits (low-gain, ");
	/* Root sees another's, too, and whose each is. */
	ck_assert_int_eq(strstr(t, "TAKEN  USER\n") != NULL, geteuid() == 0);
	if (geteuid() == 0)
		expect(t, "−59 %  root\n");
	expect(t, "): 1,200 samples; a gain is estimated from 2,000 on: ");
	ck_assert_ptr_null(strchr(t, '\033'));
	ck_assert_ptr_null(strstr(t, "--limit"));
	free(t);
	t = run(cmd_status, (struct invocation){.limit = 1}, EXIT_DONE);
	expect(t, "first 1; --limit");
	free(t);
}
END_TEST

START_TEST(modules_without_artifact_are_counted_or_listed)
{
	static const char path[] = "/home/ann/bin/other/sh";
	char *t = run(cmd_status, (struct invocation){0}, EXIT_DONE);

	ck_assert_ptr_null(strstr(t, path));
	expect(t, "\n1 module without artifact holds 200 samples: morphctl status --all\n"
		  "1 of them would be lifted; policy says observe: morphctl explain MODULE\n");
	free(t);
	t = run(cmd_status, (struct invocation){.given = OPT_ALL}, EXIT_DONE);
	expect(t, "n/bin/other/sh  no artifact ");
	expect(t, "\n  would be lifted; policy says observe: ");
	ck_assert_ptr_null(strstr(t, "--all"));
	fits(t);
	free(t);
	t = run(cmd_status, (struct invocation){.json = true}, EXIT_DONE);
	expect(t, path);
	free(t);
}
END_TEST

START_TEST(json_is_the_api_result)
{
	char *t =
	    run(cmd_status, (struct invocation){.json = true, ONE("bbcb57ec2606ae25")}, EXIT_DONE);
	json_t *j = json_loads(t, 0, NULL);

	ck_assert_str_eq(json_str(j, "path"), "/home/ann/bin/lua");
	ck_assert_double_eq(json_num(j, "samples"), 15210.5);
	json_decref(j);
	free(t);
}
END_TEST

START_TEST(modules_are_found_by_path_name_and_id)
{
	static char *const name[] = {
	    "/home/ann/bin/other/sh", "sh", "/home/ann/bin/../bin/other/sh"};
	char *t = run(cmd_status, (struct invocation){ONE(name[0])}, EXIT_DONE);

	expect(t, "/home/ann/bin/other/sh\n  state      no artifact: ");
	fits(t);
	free(t);
	free(run(cmd_status, (struct invocation){ONE(name[1])}, EXIT_DONE));
	t = run(cmd_status, (struct invocation){ONE("lua")}, EXIT_USAGE);
	expect(t, "lua is the name of 2 modules");
	expect(t, "\n  /opt/two/lua\n");
	free(t);
	t = run(cmd_explain, (struct invocation){ONE("nosuch")}, EXIT_NOT_FOUND);
	expect(t, "no module nosuch");
	free(t);
	free(run(cmd_explain, (struct invocation){ONE("/no/such")}, EXIT_NOT_FOUND));
	t = run(cmd_explain, (struct invocation){ONE("./nosuch")}, EXIT_NOT_FOUND);
	expect(t, "/nosuch: it has no samples yet");
	ck_assert_ptr_null(strstr(t, "/./"));
	free(t);
	/* As a path that is no module, odd bytes and all. */
	free(run(cmd_explain, (struct invocation){ONE("/a b?&path=#%\xff")}, EXIT_NOT_FOUND));
}
END_TEST

START_TEST(explain_shows_the_rung_that_stopped_it)
{
	char *t = run(cmd_explain, (struct invocation){ONE("bbcb57ec2606ae25")}, EXIT_DONE);

	fits(t);
	expect(t, "  3  low-coverage  passed                     too few samples to tell\n");
	expect(t,
	    "  5  low-gain      stopped      1,200  2,000  1,200 samples; a gain is estimated from "
	    "2,000 on:\n");
	expect(t, "  6  cool-down     not reached\n");
	expect(t, "  order      /etc/lua.order: 5 names, 2 of no function that can move, such as "
		  "'evil?[2J'\n");
	free(t);
}
END_TEST

START_TEST(explain_shows_what_lifting_waits_for)
{
	char *t = run(cmd_explain, (struct invocation){ONE("/home/ann/bin/other/sh")}, EXIT_DONE);

	fits(t);
	expect(
	    t, "  lifting    has no artifact: would be lifted; policy says observe: put it there");
	expect(t, "(5,210 samples so\n             far, it takes 2,000)\n");
	ck_assert_ptr_null(strstr(t, "Nothing was decided"));
	free(t);
}
END_TEST

START_TEST(profile_names_cannot_move_the_cursor)
{
	char *t = run(cmd_profile,
	    (struct invocation){ONE("bbcb57ec2606ae25"), .given = OPT_BLOCKS}, EXIT_DONE);

	fits(t);
	expect(t, "80.0 %      400       2 / 4  luaV_execute");
	expect(t, "block 2, 75.0 % of it; branch outcomes: 75.0 % to 3, 25.0 % to 0\n");
	expect(t, "called from luaV_execute, block 1, 100.0 % of it\n");
	expect(t, "evil?[2J");
	expect(t, "  moves as a whole: jump table not understood\n");
	free(t);
}
END_TEST

START_TEST(a_profile_is_printed_for_the_editor)
{
	struct invocation in = {ONE("bbcb57ec2606ae25"), .given = OPT_TEXT};
	char *t = run(cmd_profile, in, EXIT_DONE);

	expect(t, " 2 300.000\n");
	expect(t, " 2 > 3 30.000\n");
	expect(t, " 1 @ evil?[2J#");
	ck_assert(strncmp(t, "evil?[2J#", 9) == 0);
	free(t);
	in.json = true;
	free(run(cmd_profile, in, EXIT_USAGE));
	free(run(
	    cmd_profile, (struct invocation){ONE("nosuch"), .given = OPT_TEXT}, EXIT_NOT_FOUND));
}
END_TEST

START_TEST(a_layout_that_was_rolled_back_has_no_age)
{
	char *t = run(cmd_status, (struct invocation){ONE("back")}, EXIT_DONE);

	expect(t, "held: ");
	ck_assert_ptr_null(strstr(t, "made "));
	free(t);
}
END_TEST

START_TEST(a_decision_that_was_carried_out_is_none)
{
	char *t = run(cmd_status, (struct invocation){ONE("fresh")}, EXIT_DONE);

	expect(t, "not decided again since it was laid out");
	ck_assert_ptr_null(strstr(t, "to be laid out"));
	free(t);
}
END_TEST

START_TEST(history_is_a_table)
{
	char *t = run(cmd_history, (struct invocation){ONE("bbcb57ec2606ae25")}, EXIT_DONE);

	fits(t);
	expect(t, "2026-01-01 00:00:30  swapped  /home/ann/bin/lua   15,000  5.1 %  2.4 s  283 KiB "
		  "→ 284 KiB\n"
		  "  second layout\n");
	free(t);
	t = run(cmd_history, (struct invocation){ONE("sh")}, EXIT_DONE);
	expect(t, "Nothing happened yet.\n");
	free(t);
}
END_TEST

START_TEST(a_change_is_waited_for)
{
	struct invocation in = {ONE("bbcb57ec2606ae25")};
	char *t = run(cmd_reoptimize, in, EXIT_DONE);

	expect(t, "reoptimize of /home/ann/bin/lua: doing, laying out\n");
	expect(t, "--wait");
	free(t);
	in.given = OPT_WAIT; /* the second one is refused by the server above */
	t = run(cmd_rollback, in, EXIT_REFUSED);
	expect(t, "rollback of /home/ann/bin/lua: refused, ");
	free(t);
	t = run(cmd_reoptimize, (struct invocation){.given = OPT_WAIT | OPT_FORCE}, EXIT_DONE);
	expect(t, "reoptimize of all modules: done, ");
	free(t);
}
END_TEST

START_TEST(a_trial_says_how_far_it_is)
{
	char *t = run(cmd_status, (struct invocation){ONE("/opt/fresh")}, EXIT_DONE);

	expect(
	    t, "\n  measured   640 runs; goes on, 3 of at least 8 pairs, at least 10 min left\n");
	free(t);
}
END_TEST

START_TEST(rollback_wants_one_or_all)
{
	char *t;

	free(run(cmd_rollback, (struct invocation){0}, EXIT_USAGE));
	free(run(cmd_rollback, (struct invocation){ONE("sh"), .given = OPT_ALL}, EXIT_USAGE));
	t = run(cmd_rollback, (struct invocation){.given = OPT_ALL, .json = true}, EXIT_DONE);
	json_t *j = json_loads(t, 0, NULL);
	ck_assert_uint_eq(json_array_size(j), 1);
	json_decref(j);
	free(t);
}
END_TEST

START_TEST(no_manager_is_told_with_its_socket)
{
	char *t =
	    run(cmd_status, (struct invocation){.socket = "/nowhere/api.sock"}, EXIT_NOT_RUNNING);

	expect(t, "no manager answers at /nowhere/api.sock (No such file or directory)\n");
	expect(t, "morphd --user");
	free(t);
}
END_TEST

START_TEST(the_socket_is_the_nearest)
{
	setenv("MORPH_RUN", "/r", 1);
	ck_assert_str_eq(client_socket(&mem), "/r/api.sock");
	unsetenv("MORPH_RUN");
	unsetenv("MORPH_STATE");
	setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
	ck_assert_str_eq(client_socket(&mem), "/run/morph/api.sock");
}
END_TEST

/* The one that is not asked: here only the asked one's place can be had. */
START_TEST(the_other_manager)
{
	bool system = true;

	setenv("MORPH_RUN", dir, 1);
	ck_assert_str_eq(client_other("/run/morph/api.sock", &mem, &system), sock);
	ck_assert(!system);
	setenv("MORPH_RUN", "/nowhere", 1);
	ck_assert_ptr_null(client_other("/run/morph/api.sock", &mem, &system));
}
END_TEST

/* ---- artifact show ---- */

static char *make_artifact(void)
{
	static const uint32_t insns[] = {5, 7};
	char *path = xasprintf("%s/prog.morph", dir);
	struct art_meta m = {.id = {2, {0xab, 0xcd}},
	    .name = "prog",
	    .producer = "morph 0.1",
	    .ld = "ld.bfd",
	    .kind = ELF_PIE};
	struct art_tu tu = {.name = "main.c", .as_args = ""};
	struct art_func f[] = {{.name = "main", .nblock = 2, .insns = insns, .opaque = ""},
	    {.ord = 1, .name = "odd", .nblock = 1, .insns = insns, .opaque = "has an LSDA"}};
	struct art_input in = {.kind = ART_TU, .path = "/src/main.o", .archive = -1, .tu = 0};
	struct artifact *a;
	struct err e = {""};

	f[1].key.b[0] = 1;
	a = artifact_create(path, false, &e);
	ck_assert_msg(a && artifact_put_meta(a, &m, &e) == 0 &&
			  artifact_put_tu(a, &tu, "main: ret\n", 10, &e) == 0 &&
			  artifact_put_func(a, &f[0], &e) == 0 &&
			  artifact_put_func(a, &f[1], &e) == 0 &&
			  artifact_put_input(a, &in, "", 0, &e) == 0 &&
			  artifact_put_recipe(a, 0, "-pie", &e) == 0 &&
			  artifact_put_recipe(a, 1, "@0", &e) == 0 &&
			  artifact_put_blockmap(a, "", 0, &e) == 0 && artifact_commit(a, &e) == 0,
	    "%s", e.text);
	return path;
}

START_TEST(artifacts_are_shown)
{
	char *path = make_artifact(), *t;
	json_t *j;

	t = run(cmd_artifact, (struct invocation){ONE(path), .given = OPT_FUNCTIONS}, EXIT_DONE);
	expect(t, "artifact of prog\n");
	expect(t, "2 functions (1 opaque), 3 blocks, 17 instructions\n");
	expect(t, "     1  has an LSDA");
	expect(t, "  recipe     ld.bfd -pie @0\n");
	free(t);
	t = run(cmd_artifact, (struct invocation){ONE(path), .json = true}, EXIT_DONE);
	j = json_loads(t, 0, NULL);
	ck_assert_str_eq(json_str(j, "build_id"), "abcd");
	ck_assert_uint_eq(json_array_size(json_object_get(j, "functions")), 2);
	json_decref(j);
	free(t);
	ck_assert_int_eq(truncate(path, 1000), 0);
	t = run(cmd_artifact, (struct invocation){ONE(path)}, EXIT_FAILED);
	ck_assert_ptr_eq(strchr(t, '\n'), t + strlen(t) - 1);
	free(t);
	free(path);
	free(run(cmd_artifact, (struct invocation){ONE("/no/such")}, EXIT_NOT_FOUND));
	t = run(cmd_artifact, (struct invocation){ONE("/bin/sh")}, EXIT_FAILED);
	expect(t, "artifact");
	free(t);
}
END_TEST

/* ---- words and tables ---- */

START_TEST(numbers_read_well)
{
	ck_assert_str_eq(words_number(&mem, 0), "0");
	ck_assert_str_eq(words_number(&mem, 999), "999");
	ck_assert_str_eq(words_number(&mem, 1000), "1,000");
	ck_assert_str_eq(words_number(&mem, -1234567), "-1,234,567");
	ck_assert_str_eq(words_number(&mem, 2.25), "2.2");
	ck_assert_str_eq(words_number(&mem, 9.97), "10");
	ck_assert_str_eq(words_number(&mem, NAN), "-");
	ck_assert_str_eq(words_number(&mem, 1e18), "1e+18");
	ck_assert_str_eq(words_bytes(&mem, 1023.9), "1.0 KiB");
	ck_assert_str_eq(words_bytes(&mem, 290112), "283 KiB");
	ck_assert_str_eq(words_share(&mem, 0.0512), "5.1 %");
	ck_assert_str_eq(words_change(&mem, 100, 150), "+50 %");
	ck_assert_str_eq(words_change(&mem, 81250, 33000), "−59 %");
	ck_assert_str_eq(words_change(&mem, 1000, 999), "0 %");
	ck_assert_str_eq(words_change(&mem, 0, 0), "-");
	ck_assert_str_eq(words_change(&mem, NAN, 1), "-");
}
END_TEST

START_TEST(times_read_well)
{
	ck_assert_str_eq(words_duration(&mem, 0), "0 s");
	ck_assert_str_eq(words_duration(&mem, 2.44), "2.4 s");
	ck_assert_str_eq(words_duration(&mem, 119), "119 s");
	ck_assert_str_eq(words_duration(&mem, 120), "2 min");
	ck_assert_str_eq(words_duration(&mem, 4000), "1 h 6 min");
	ck_assert_str_eq(words_duration(&mem, 200000), "2 d 7 h");
	ck_assert_str_eq(words_duration(&mem, 1e8), "1157 d");
	ck_assert_str_eq(words_duration(&mem, -1), "-");
	ck_assert_int_eq(words_time("2026-01-01T00:00:00Z"), FAKE_BASE);
	ck_assert_int_eq(words_time("2026-01-01T00:00:00"), -1);
	ck_assert_int_eq(words_time("yesterday"), -1);
	ck_assert_str_eq(
	    words_ago(&mem, "2026-01-01T00:00:00Z", FAKE_BASE + 130), "2 min 10 s ago");
	ck_assert_str_eq(words_ago(&mem, NULL, FAKE_BASE), "never");
}
END_TEST

START_TEST(foreign_text_is_made_harmless)
{
	ck_assert_str_eq(words_clean(&mem, "a\033[31m\n\x7f"), "a?[31m??");
	ck_assert_str_eq(words_clean(&mem, "schön → …"), "schön → …");
	ck_assert_str_eq(words_clean(&mem, "\xc3"), "?");
	ck_assert_str_eq(words_clean(&mem, "\xc2\x9b"
					   "31m"),
	    "??31m");
	ck_assert_str_eq(words_clean(&mem, "\xff\xfe"), "??");
	ck_assert_str_eq(words_clean(&mem, NULL), "");
}
END_TEST

START_TEST(users_are_called_by_name)
{
	json_t *own = json_pack("[{si}]", "uid", (int)geteuid()),
	       *other = json_pack("[{si}{si}]", "uid", (int)geteuid(), "uid", 3999999);

	ck_assert_str_eq(words_user(&mem, 0), "root");
	ck_assert_str_eq(words_user(&mem, 3999999999), "3999999999");
	ck_assert_str_eq(words_user(&mem, NAN), "-");
	ck_assert_str_eq(words_said(&mem, "rolled back by uid 0"), "rolled back by root");
	ck_assert_str_eq(words_said(&mem, "f belongs to uid 3999999999, not to us (uid 0)"),
	    "f belongs to uid 3999999999, not to us (root)");
	ck_assert_str_eq(
	    words_said(&mem, "3 edits of uid 0's programs"), "3 edits of root's programs");
	ck_assert_str_eq(words_said(&mem, "druid 0, uid x, uid "), "druid 0, uid x, uid ");
	ck_assert_str_eq(words_said(&mem, "uid 0\033"), "root?");
	ck_assert(!words_others(own) && words_others(other) && !words_others(NULL));
	json_decref(own);
	json_decref(other);
}
END_TEST

START_TEST(step_is_told)
{
	ck_assert_str_eq(words_step(&mem, "edit", "2026-01-01T00:00:00Z", 4.2, FAKE_BASE + 12),
	    "edit, for 12 s, about 5 s left");
	ck_assert_str_eq(
	    words_step(&mem, "edit", "2026-01-01T00:00:00Z", NAN, FAKE_BASE - 1), "edit, for 0 s");
	ck_assert_str_eq(words_step(&mem, "swap", NULL, NAN, FAKE_BASE), "swap");
}
END_TEST

START_TEST(tables_fit)
{
	static const struct column column[] = {{"N", RIGHT}, {"PATH", CUT}, {"", WRAP}};
	static const struct column cut[] = {{"NAME", CUT_END}, {"REST", LEFT}};
	struct table t = {column, 3, 1};
	char *long_path = arena_alloc(&mem, 201), *out;
	size_t n;
	FILE *f;

	memset(long_path, 'x', 200);
	memcpy(long_path + 190, "/the-end-→", 10);
	table_row(&t, "1", long_path, NULL);
	table_row(&t, "22", "b", "many words that have to be wrapped somewhere, and go on below")
	    ->note = "n";
	f = open_memstream(&out, &n);
	table_print(f, &t, false);
	fclose(f);
	fits(out);
	expect(out, "/the-end-");
	expect(out, " …x");
	expect(out, "\n 22  b");
	free(out);
	table_free(&t);
	/* The last cell of a row does not give way to columns of other rows. */
	t = (struct table){cut, 2, 0};
	table_row(&t, "x", long_path + 110);
	table_row(&t, "short but longer than what is left of the first", NULL);
	f = open_memstream(&out, &n);
	table_print(f, &t, false);
	fclose(f);
	expect(out, "\nshort but longer than what is left of the first\n");
	free(out);
	table_free(&t);
}
END_TEST

UNIT_MAIN("morphctl", 30, setup, teardown, status_is_told_in_words,
    modules_without_artifact_are_counted_or_listed, json_is_the_api_result,
    modules_are_found_by_path_name_and_id, explain_shows_the_rung_that_stopped_it,
    explain_shows_what_lifting_waits_for, profile_names_cannot_move_the_cursor,
    a_profile_is_printed_for_the_editor, a_layout_that_was_rolled_back_has_no_age,
    a_decision_that_was_carried_out_is_none, history_is_a_table, a_change_is_waited_for,
    a_trial_says_how_far_it_is, rollback_wants_one_or_all, no_manager_is_told_with_its_socket,
    the_socket_is_the_nearest, the_other_manager, artifacts_are_shown, UNIT_CASE(0, NULL, NULL),
    numbers_read_well, times_read_well, foreign_text_is_made_harmless, users_are_called_by_name,
    step_is_told, tables_fit)
