/*
 * Invariant 5: SIGKILL at every step of a swap, of a rollback and of the
 * recovery after it. At every instant the module runs; afterwards recovery
 * has finished or undone, and nothing is left behind.
 */
#include "managerd/parent/swap/builds.h"
#include "tests/unit/swapping.h"
#include "tests/unit/tinyelf.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

enum { OLD = 11, NEW = 22, SIZE = 70000 };

struct world {
	char dir[64], far[64]; /* far: on another file system, or "" */
	char *state, *folder, *module, *staged;
	bool rollback;
};

static void world_make(struct world *w, bool copies, bool rollback)
{
	*w = (struct world){.dir = "/tmp/morph-crash-XXXXXX", .rollback = rollback};
	ck_assert_ptr_nonnull(mkdtemp(w->dir));
	if (copies) {
		strcpy(w->far, "/dev/shm/morph-crash-XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(w->far));
	}
	w->state = xasprintf("%s/state", copies ? w->far : w->dir);
	w->folder = xasprintf("%s/bin", w->dir);
	w->module = xasprintf("%s/a prog%%", w->folder);
	w->staged = xasprintf("%s/out", w->dir);
	ck_assert_int_eq(mkdir(w->state, 0700), 0);
	ck_assert_int_eq(mkdir(w->folder, 0755), 0);
	ck_assert_int_eq(tiny_write(w->module, OLD, false, SIZE), 0);
	ck_assert_int_eq(tiny_write(w->staged, NEW, false, SIZE), 0);
}

static void world_free(struct world *w)
{
	dir_remove(w->dir, NULL);
	if (*w->far)
		dir_remove(w->far, NULL);
	free(w->state);
	free(w->folder);
	free(w->module);
	free(w->staged);
}

/* A rollback test first swaps, so that the build to go back to is kept. */
static int from(const struct world *w)
{
	return w->rollback ? NEW : OLD;
}

static int to(const struct world *w)
{
	return w->rollback ? OLD : NEW;
}

static int swap(const struct world *w, bool rollback)
{
	struct swap_order o = {.keep = 2,
	    .from = tiny_id(rollback ? NEW : OLD),
	    .to = tiny_id(rollback ? OLD : NEW),
	    .origin = tiny_id(OLD)};
	struct err e;

	if (swap_files(w->state, w->module, rollback ? NULL : w->staged, &o, &e) != SWAP_OK ||
	    swap_done(w->state, w->module, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	return 0;
}

struct seen {
	unsigned calls;
	struct swap_outcome last;
	char module[200];
};

static void see(const struct swap_outcome *o, void *arg)
{
	struct seen *s = arg;

	s->calls++;
	s->last = *o;
	snprintf(s->module, sizeof s->module, "%s", o->module);
}

static int recover(const struct world *w, struct seen *s)
{
	struct err e;

	*s = (struct seen){0};
	if (swap_recover(w->state, see, s, &e) < 0 ||
	    (s->calls && swap_done(w->state, w->module, &e) < 0)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	return 0;
}

/* Does it in a child under a fault; true when the fault struck. */
static bool killed(const struct world *w, const char *fault, int step, bool recovering)
{
	char text[32];
	struct seen s;
	int status;
	pid_t pid = fork();

	if (!pid) {
		snprintf(text, sizeof text, "%s:%d", fault, step);
		setenv("MORPH_FAULT", text, 1);
		_exit(recovering ? recover(w, &s) : swap(w, w->rollback));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", status);
	return false;
}

static size_t names_below(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *de;
	size_t n = 0;

	while (d && (de = readdir(d)))
		n += strcmp(de->d_name, ".") && strcmp(de->d_name, "..");
	if (d)
		closedir(d);
	return n;
}

static void runs(const struct world *w)
{
	int status = tiny_run(w->module);

	ck_assert_msg(status == OLD || status == NEW, "the module exits with %d", status);
}

static void nothing_left(const struct world *w, int now)
{
	struct build_id current = tiny_id((uint8_t)now), other = tiny_id(OLD + NEW - now);
	char *journal = xasprintf("%s/journal", w->state),
	     *builds = xasprintf("%s/builds", w->state);
	char *kept = builds_path(w->state, w->module, &other), *key = path_dir(kept);
	/* Of two builds, one is the module; the other is kept once it has been there. */
	bool keeps = w->rollback || now == NEW;
	struct stat st;

	ck_assert_int_eq(tiny_run(w->module), now);
	ck_assert_uint_eq(names_below(w->folder), 1);
	ck_assert_uint_eq(names_below(journal), 0);
	ck_assert(!builds_have(w->state, w->module, &current));
	ck_assert_uint_eq(names_below(builds), keeps);
	ck_assert_uint_eq(names_below(key), keeps);
	if (keeps)
		ck_assert_int_eq(tiny_run(kept), OLD + NEW - now);
	ck_assert_int_eq(stat(w->module, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 1);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	free(journal);
	free(builds);
	free(kept);
	free(key);
}

/* The rename is the point of no return. */
static int expected(const struct world *w, int step)
{
	return step >= SWAP_STEP_RENAMED ? to(w) : from(w);
}

static void judge_outcome(const struct world *w, const struct seen *s, int step)
{
	struct build_id f = tiny_id((uint8_t)from(w)), t = tiny_id((uint8_t)to(w));

	ck_assert_uint_eq(s->calls, step < SWAP_STEP_DONE);
	if (!s->calls)
		return;
	ck_assert_str_eq(s->module, w->module);
	ck_assert(build_id_equal(&s->last.from, &f) && build_id_equal(&s->last.to, &t));
	ck_assert_int_eq(s->last.rollback, w->rollback);
	ck_assert_int_eq(s->last.end, step >= SWAP_STEP_RENAMED ? SWAP_FINISHED : SWAP_UNDONE);
}

static void walk_step(int step, bool copies, bool rollback, int recover_step)
{
	struct world w;
	struct seen s;

	world_make(&w, copies, rollback);
	if (rollback)
		ck_assert_int_eq(swap(&w, false), 0);
	ck_assert_msg(killed(&w, "swap", step, false), "step %d was not reached", step);
	runs(&w);
	if (recover_step) {
		ck_assert_msg(killed(&w, "recover", recover_step, true) == (step < SWAP_STEP_DONE),
		    "recovery step %d after step %d", recover_step, step);
		runs(&w);
	}
	ck_assert_int_eq(recover(&w, &s), 0);
	judge_outcome(&w, &s, step);
	nothing_left(&w, expected(&w, step));
	/* And it is as usable as before. */
	if (expected(&w, step) == from(&w)) {
		ck_assert_int_eq(swap(&w, rollback), 0);
		nothing_left(&w, to(&w));
	}
	world_free(&w);
}

static void walk(bool copies, bool rollback)
{
	int step, recover_step;

	for (step = 1; step <= SWAP_STEPS; step++)
		for (recover_step = 0; recover_step <= RECOVER_STEPS; recover_step++)
			walk_step(step, copies, rollback, recover_step);
}

START_TEST(swap_with_links)
{
	walk(false, false);
}
END_TEST

START_TEST(rollback_with_links)
{
	walk(false, true);
}
END_TEST

static bool two_file_systems(void)
{
	struct stat a, b;

	return !stat("/tmp", &a) && !stat("/dev/shm", &b) && a.st_dev != b.st_dev;
}

START_TEST(swap_with_copies)
{
	if (two_file_systems())
		walk(true, false);
}
END_TEST

START_TEST(rollback_with_copies)
{
	if (two_file_systems())
		walk(true, true);
}
END_TEST

/* What a stranger put there after the crash is not touched. */
START_TEST(replaced_after_the_crash)
{
	struct build_id old = tiny_id(OLD);
	struct world w;
	struct seen s;
	int step;

	for (step = SWAP_STEP_BEGUN; step <= SWAP_STEP_SWAPPED; step++) {
		world_make(&w, false, false);
		ck_assert(killed(&w, "swap", step, false));
		ck_assert_int_eq(tiny_write(w.module, 99, false, SIZE), 0);
		ck_assert_int_eq(recover(&w, &s), 0);
		ck_assert_int_eq(s.last.end, SWAP_REPLACED);
		ck_assert_int_eq(tiny_run(w.module), 99);
		ck_assert_uint_eq(names_below(w.folder), 1);
		ck_assert(!builds_have(w.state, w.module, &old));
		world_free(&w);
	}
}
END_TEST

/* The inode number of what was the module is used again: content tells. */
START_TEST(written_over_after_the_crash)
{
	struct world w;
	struct seen s;
	int fd;

	world_make(&w, false, false);
	ck_assert(killed(&w, "swap", SWAP_STEP_SYNCED, false));
	fd = open(w.module, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "x", 1, SIZE - 1), 1);
	close(fd);
	ck_assert_int_eq(recover(&w, &s), 0);
	ck_assert_int_eq(s.last.end, SWAP_REPLACED);
	ck_assert_int_eq(tiny_run(w.module), NEW);
	ck_assert_uint_eq(names_below(w.folder), 1);
	world_free(&w);
}
END_TEST

START_TEST(folder_is_gone)
{
	struct world w;
	struct seen s;

	world_make(&w, false, false);
	ck_assert(killed(&w, "swap", SWAP_STEP_STAGED, false));
	ck_assert_int_eq(dir_remove(w.folder, NULL), 0);
	ck_assert_int_eq(recover(&w, &s), 0);
	ck_assert_int_eq(s.last.end, SWAP_REPLACED);
	world_free(&w);
}
END_TEST

UNIT_MAIN("swapcrash", 300, NULL, NULL, swap_with_links, rollback_with_links, swap_with_copies,
    rollback_with_copies, replaced_after_the_crash, written_over_after_the_crash, folder_is_gone)
