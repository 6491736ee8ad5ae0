/* The original of every program back, without a manager. */
#include "managerd/parent/swap/builds.h"
#include "tests/unit/swapping.h"
#include "tests/unit/tinyelf.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

enum { OLD = 11, NEW = 22, NEWER = 33, SIZE = 70000 };

static char dir[] = "/tmp/morph-restore-XXXXXX";
static char *state, *module, *staged;

static void setup(void)
{
	char *folder;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	state = xasprintf("%s/state", dir);
	folder = xasprintf("%s/bin", dir);
	module = xasprintf("%s/a prog%%", folder);
	staged = xasprintf("%s/out", dir);
	ck_assert_int_eq(mkdir(state, 0700), 0);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	ck_assert_int_eq(tiny_write(module, OLD, false, SIZE), 0);
	free(folder);
}

static void teardown(void)
{
	dir_remove(dir, NULL);
	free(state);
	free(module);
	free(staged);
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
}

/* to is one that is kept: a rollback. */
static void place(int from, int to, bool back)
{
	struct swap_order o = {.from = tiny_id((uint8_t)from),
	    .to = tiny_id((uint8_t)to),
	    .origin = tiny_id(OLD),
	    .keep = 2};
	struct err e;

	if (!back)
		ck_assert_int_eq(tiny_write(staged, (uint8_t)to, false, SIZE), 0);
	ck_assert_msg(
	    swap_files(state, module, back ? NULL : staged, &o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
}

struct said {
	int n, end;
	char text[1100];
};

static void note(const char *of, enum restored end, const char *why, void *arg)
{
	struct said *s = arg;

	if (of)
		ck_assert_str_eq(of, module);
	s->n++;
	s->end = (int)end;
	snprintf(s->text, sizeof s->text, "%s", why);
}

static void restore(enum restored end, const char *why, int runs)
{
	struct said s = {0};
	struct err e;

	ck_assert_msg(!swap_restore(state, note, &s, &e), "%s", e.text);
	ck_assert_int_eq(s.n, 1);
	ck_assert_msg(s.end == (int)end, "%d: %s", s.end, s.text);
	ck_assert_msg(strstr(s.text, why) != NULL, "%s", s.text);
	if (runs)
		ck_assert_int_eq(tiny_run(module), runs);
}

START_TEST(original_is_back)
{
	struct buf before = {0}, after = {0};

	ck_assert_int_eq(file_read(module, 0, &before, NULL), 0);
	place(OLD, NEW, false);
	place(NEW, NEWER, false);
	restore(RESTORE_DONE, "", OLD);
	ck_assert_int_eq(file_read(module, 0, &after, NULL), 0);
	ck_assert_uint_eq(before.n, after.n);
	ck_assert_int_eq(memcmp(before.p, after.p, before.n), 0);
	restore(RESTORE_NEEDLESS, "", OLD);
	buf_free(&before);
	buf_free(&after);
}
END_TEST

static void count(const struct swap_outcome *o, void *arg)
{
	*(int *)arg += o->rollback && o->end == SWAP_FINISHED && o->to.b[0] == OLD;
}

/* The next manager learns of it as of any swap that it did not see the end of. */
START_TEST(next_manager_is_told)
{
	int told = 0;
	struct err e;

	place(OLD, NEW, false);
	restore(RESTORE_DONE, "", OLD);
	restore(RESTORE_NEEDLESS, "", OLD);
	ck_assert_int_eq(swap_recover(state, count, &told, &e), 0);
	ck_assert_int_eq(told, 1);
}
END_TEST

START_TEST(nothing_kept_is_fine)
{
	struct said s = {0};
	struct err e;

	ck_assert_int_eq(swap_restore(state, note, &s, &e), 0);
	ck_assert_int_eq(s.n, 0);
}
END_TEST

/* Builds that came back after many others are known still. */
START_TEST(rolled_back_build_is_a_layout)
{
	int i;

	place(OLD, NEW, false);
	for (i = 0; i < 5; i++) {
		place(NEW, NEWER + i, false);
		place(NEWER + i, NEW, true);
	}
	restore(RESTORE_DONE, "", OLD);
}
END_TEST

START_TEST(what_somebody_put_there_stays)
{
	place(OLD, NEW, false);
	ck_assert_int_eq(tiny_write(module, 44, false, SIZE), 0);
	restore(RESTORE_LEFT, "is no layout of Morph any more", 44);
	ck_assert_int_eq(unlink(module), 0);
	restore(RESTORE_LEFT, "No such file", 0);
	ck_assert_int_eq(mkdir(module, 0755), 0);
	restore(RESTORE_LEFT, "", 0);
}
END_TEST

/* A rebuilt program has another original: layouts of the one before are none of it. */
START_TEST(layout_of_another_original_stays)
{
	struct swap_order o = {
	    .from = tiny_id(44), .to = tiny_id(55), .origin = tiny_id(44), .keep = 2};
	struct err e;

	place(OLD, NEW, false);
	ck_assert_int_eq(tiny_write(module, 44, false, SIZE), 0);
	ck_assert_int_eq(tiny_write(staged, 55, false, SIZE), 0);
	ck_assert_int_eq(swap_files(state, module, staged, &o, &e), SWAP_OK);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(tiny_write(module, NEW, false, SIZE), 0);
	restore(RESTORE_LEFT, "is no layout of Morph any more", NEW);
}
END_TEST

START_TEST(what_cannot_be_is_said)
{
	struct build_id old = tiny_id(OLD);
	char key[CONTENT_HEX], *path;
	struct err e;

	place(OLD, NEW, false);
	ck_assert_int_eq(chmod(module, 0775), 0);
	restore(RESTORE_FAILED, "writable", NEW);
	ck_assert_int_eq(truncate(module, SIZE - 1), 0);
	restore(RESTORE_LEFT, "writable", 0);
	ck_assert_int_eq(tiny_write(module, NEW, false, SIZE), 0);
	ck_assert_int_eq(builds_drop(state, module, &old, &e), 0);
	place(NEW, NEWER, false);
	restore(RESTORE_FAILED, "the kept build", NEWER);
	path = xasprintf("%s/digests/%s", state, swap_key(module, key));
	ck_assert_int_eq(unlink(path), 0);
	restore(RESTORE_FAILED, "does not say whose original is kept", NEWER);
	free(path);
}
END_TEST

/* Killed at any step it is one build or the other, and the next time ends it. */
START_TEST(killed_and_again)
{
	char text[32];
	int step, status;
	pid_t pid;

	for (step = 1; step <= SWAP_STEP_SWAPPED; step++) {
		place(OLD, NEW, false);
		pid = fork();
		if (!pid) {
			struct said s = {0};
			struct err e;

			snprintf(text, sizeof text, "swap:%d", step);
			setenv("MORPH_FAULT", text, 1);
			_exit(swap_restore(state, note, &s, &e) ? 1 : 0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFSIGNALED(status), "step %d: %#x", step, status);
		status = tiny_run(module);
		ck_assert(status == OLD || status == NEW);
		restore(status == NEW && step < SWAP_STEP_RENAMED ? RESTORE_DONE : RESTORE_NEEDLESS,
		    "", OLD);
		ck_assert_int_eq(swap_done(state, module, NULL), 0);
	}
}
END_TEST

UNIT_MAIN("restore", 60, setup, teardown, original_is_back, next_manager_is_told,
    nothing_kept_is_fine, rolled_back_build_is_a_layout, what_somebody_put_there_stays,
    layout_of_another_original_stays, what_cannot_be_is_said, killed_and_again)
