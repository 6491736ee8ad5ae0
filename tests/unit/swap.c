/* Swap and rollback where nothing crashes. */
#include "managerd/parent/swap/builds.h"
#include "managerd/parent/swap/digest.h"
#include "tests/unit/perfhome.h"
#include "tests/unit/swapping.h"
#include "tests/unit/tinyelf.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>

enum { OLD = 11, NEW = 22, NEWER = 33, SIZE = 300000 };

static char dir[] = "/tmp/morph-swap-XXXXXX";
static char *state, *folder, *module, *staged;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	state = xasprintf("%s/state", dir);
	folder = xasprintf("%s/bin", dir);
	module = xasprintf("%s/prog", folder);
	staged = xasprintf("%s/out", dir);
	ck_assert_int_eq(mkdir(state, 0700), 0);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	ck_assert_int_eq(tiny_write(module, OLD, false, SIZE), 0);
	ck_assert_int_eq(tiny_write(staged, NEW, false, SIZE + 5000), 0);
}

static void teardown(void)
{
	dir_remove(dir, NULL);
	free(state);
	free(folder);
	free(module);
	free(staged);
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
}

static struct swap_order order(int from, int to)
{
	return (struct swap_order){.from = tiny_id((uint8_t)from),
	    .to = tiny_id((uint8_t)to),
	    .origin = tiny_id(OLD),
	    .keep = 2};
}

static enum swap_status put_in(const struct swap_order *o, struct err *e)
{
	return swap_files(state, module, staged, o, e);
}

static enum swap_status put_back(const struct swap_order *o, struct err *e)
{
	return swap_files(state, module, NULL, o, e);
}

static size_t entries(const char *path)
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

static size_t journals(void)
{
	char *path = xasprintf("%s/journal", state);
	size_t n = entries(path);

	free(path);
	return n;
}

static void commit(int from, int to)
{
	struct swap_order o = order(from, to);
	struct err e;

	ck_assert_msg(put_in(&o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(journals(), 1);
	ck_assert_msg(!swap_done(state, module, &e), "%s", e.text);
	ck_assert_int_eq(journals(), 0);
	ck_assert_int_eq(entries(folder), 1);
}

START_TEST(new_build_takes_the_place)
{
	struct build_id old = tiny_id(OLD);

	commit(OLD, NEW);
	ck_assert_int_eq(tiny_run(module), NEW);
	ck_assert(builds_have(state, module, &old));
	ck_assert_int_eq(access(staged, F_OK), 0);
}
END_TEST

START_TEST(attributes_stay)
{
	struct timespec times[2] = {{1000000000, 5}, {1100000000, 123456789}};
	struct stat before, after;
	char value[8] = "";

	ck_assert_int_eq(chmod(module, 0754), 0);
	if (!geteuid())
		ck_assert_int_eq(chown(module, 4321, 1234), 0);
	if (!geteuid())
		ck_assert_int_eq(chown(folder, 4321, 1234), 0);
	if (!geteuid())
		ck_assert_int_eq(chown(dir, 4321, 1234), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, module, times, 0), 0);
	ck_assert(setxattr(module, "user.morph", "kept", 4, 0) == 0 || errno == ENOTSUP);
	bool xattrs = getxattr(module, "user.morph", value, sizeof value) == 4;
	ck_assert_int_eq(stat(module, &before), 0);
	commit(OLD, NEW);
	ck_assert_int_eq(stat(module, &after), 0);
	ck_assert_uint_eq(after.st_mode, before.st_mode);
	ck_assert_uint_eq(after.st_uid, before.st_uid);
	ck_assert_uint_eq(after.st_gid, before.st_gid);
	ck_assert_int_eq(after.st_mtim.tv_sec, 1100000000);
	ck_assert_int_eq(after.st_mtim.tv_nsec, 123456789);
	ck_assert_uint_ne(after.st_ino, before.st_ino);
	memset(value, 0, sizeof value);
	if (xattrs) {
		ck_assert_int_eq(getxattr(module, "user.morph", value, sizeof value), 4);
		ck_assert_str_eq(value, "kept");
	}
}
END_TEST

START_TEST(rollback_brings_back_the_same_bytes)
{
	struct build_id old = tiny_id(OLD), new = tiny_id(NEW);
	struct swap_order o = order(NEW, OLD);
	struct buf a = {0}, b = {0};
	struct err e;

	ck_assert_int_eq(file_read(module, 0, &a, NULL), 0);
	commit(OLD, NEW);
	ck_assert_msg(put_back(&o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(file_read(module, 0, &b, NULL), 0);
	ck_assert_uint_eq(a.n, b.n);
	ck_assert_int_eq(memcmp(a.p, b.p, a.n), 0);
	/* The one that is there again need not be kept; the other is. */
	ck_assert(!builds_have(state, module, &old));
	ck_assert(builds_have(state, module, &new));
	o = order(OLD, NEW);
	ck_assert_msg(put_back(&o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(tiny_run(module), NEW);
	buf_free(&a);
	buf_free(&b);
}
END_TEST

START_TEST(running_process_keeps_the_old_file)
{
	char *exe, now[4096] = "";
	struct stat before, running;
	struct rusage use;
	int status;
	pid_t pid;

	ck_assert_int_eq(tiny_write(module, OLD, true, SIZE), 0);
	ck_assert_int_eq(stat(module, &before), 0);
	pid = fork();
	if (!pid) {
		execl(module, module, (char *)NULL);
		_exit(127);
	}
	exe = xasprintf("/proc/%d/exe", (int)pid);
	while (stat(exe, &running) || running.st_ino != before.st_ino)
		usleep(1000);
	commit(OLD, NEW);
	ck_assert_int_eq(stat(exe, &running), 0);
	ck_assert_uint_eq(running.st_ino, before.st_ino);
	ck_assert_int_gt(readlink(exe, now, sizeof now - 1), 0);
	ck_assert_ptr_nonnull(strstr(now, "/bin/prog (deleted)"));
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	ck_assert_int_eq(wait4(pid, &status, 0, &use), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	ck_assert_int_eq(tiny_run(module), NEW);
	free(exe);
}
END_TEST

START_TEST(bound_holds_and_the_origin_stays)
{
	struct arena a = {0};
	const struct swap_kept *kept;
	int i;

	commit(OLD, NEW);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(tiny_write(staged, (uint8_t)(NEWER + i), false, SIZE), 0);
		commit(i ? NEWER + i - 1 : NEW, NEWER + i);
	}
	ck_assert_uint_eq(swap_kept(state, module, &a, &kept), 2);
	ck_assert_uint_eq(kept[0].id.b[0], NEWER + 3);
	ck_assert_uint_eq(kept[1].id.b[0], OLD);
	ck_assert_uint_eq(kept[0].bytes, SIZE);
	ck_assert_int_ge(kept[0].since, kept[1].since);
	arena_free(&a);
}
END_TEST

/* Whoever starts the program at any instant gets one build or the other. */
START_TEST(always_runs)
{
	int status, i;
	pid_t pid = fork();

	if (!pid) {
		for (;;) {
			status = tiny_run(module);
			if (status != OLD && status != NEW)
				_exit(1);
		}
	}
	commit(OLD, NEW);
	for (i = 0; i < 40; i++) {
		struct swap_order o = i & 1 ? order(OLD, NEW) : order(NEW, OLD);
		struct err e;

		ck_assert_msg(put_back(&o, &e) == SWAP_OK, "%s", e.text);
		ck_assert_int_eq(swap_done(state, module, &e), 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}
END_TEST

/* A name beside it stays the old build, and is a program of its own from then on. */
START_TEST(linked_beside)
{
	struct swap_order o = order(OLD, NEW);
	struct build_id old = tiny_id(OLD);
	char *beside = xasprintf("%s/beside", folder), *kept = builds_path(state, module, &old);
	struct stat st, st_kept;
	struct err e;

	ck_assert_int_eq(link(module, beside), 0);
	ck_assert_msg(put_in(&o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(tiny_run(module), NEW);
	ck_assert_int_eq(tiny_run(beside), OLD);
	ck_assert(!stat(beside, &st) && st.st_nlink == 1 && !stat(kept, &st_kept) &&
		  st_kept.st_nlink == 1 && st_kept.st_ino != st.st_ino);
	o = order(NEW, OLD);
	ck_assert_msg(put_back(&o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(tiny_run(module), OLD);
	ck_assert_int_eq(tiny_run(beside), OLD);
	free(beside);
	free(kept);
}
END_TEST

/* Perf's name stays the old build, and the one that is kept has no other name. */
START_TEST(linked_by_perf)
{
	struct swap_order o = order(OLD, NEW);
	struct build_id old = tiny_id(OLD);
	char *home = xasprintf("%s/home", dir), *cached, *kept = builds_path(state, module, &old);
	struct stat st, st_kept;
	struct err e;

	perf_home = home;
	ck_assert_int_eq(mkdir(home, 0700), 0);
	cached = perf_adds(module, "0123456789abcdef0123456789abcdef01234567", "elf");
	ck_assert_int_eq(put_in(&o, &e), SWAP_REFUSED);
	ck_assert_ptr_nonnull(strstr(e.text, "in perf's cache"));
	o.perf_links = true;
	ck_assert_msg(put_in(&o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(tiny_run(module), NEW);
	ck_assert_int_eq(tiny_run(cached), OLD);
	ck_assert(!stat(cached, &st) && st.st_nlink == 1 && !stat(kept, &st_kept) &&
		  st_kept.st_nlink == 1 && st_kept.st_ino != st.st_ino);
	ck_assert_int_eq(tiny_write(cached, NEWER, false, SIZE), 0);
	o = order(NEW, OLD);
	ck_assert_msg(put_back(&o, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(tiny_run(module), OLD);
	perf_home = NULL;
	free(home);
	free(cached);
	free(kept);
}
END_TEST

static void fails(struct swap_order o, enum swap_status status, const char *text)
{
	struct build_id from = tiny_id(OLD);
	struct err e = {""};

	ck_assert_int_eq(put_in(&o, &e), status);
	ck_assert_msg(strstr(e.text, text) != NULL, "%s: not in: %s", text, e.text);
	ck_assert_int_eq(journals(), 0);
	ck_assert_int_eq(entries(folder), 1);
	ck_assert(!builds_have(state, module, &from));
}

/* What happens to the module between its judgement and the swap. */
static void fails_after(void (*change)(void), enum swap_status status, const char *text)
{
	struct build_id old = tiny_id(OLD);
	struct swap_order o = order(OLD, NEW);
	struct err e = {""};
	struct trusted t;

	ck_assert_msg(!trust_open(module, (uid_t)-1, &t, &e), "%s", e.text);
	o.module = &t;
	o.source = open(staged, O_RDONLY);
	change();
	ck_assert_int_eq(swap_run(state, &o, &e), status);
	ck_assert_msg(strstr(e.text, text) != NULL, "%s: not in: %s", text, e.text);
	ck_assert_int_eq(journals(), 0);
	ck_assert(!builds_have(state, module, &old));
	close(o.source);
	trust_close(&t);
}

static void another_file(void)
{
	ck_assert_int_eq(tiny_write(module, NEWER, false, SIZE), 0);
}

static void more_bytes(void)
{
	int fd = open(module, O_WRONLY | O_APPEND);

	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
}

static void no_file(void)
{
	ck_assert_int_eq(unlink(module), 0);
}

static void other_mode(void)
{
	ck_assert_int_eq(chmod(module, 04755), 0);
}

static void second_name(void)
{
	char *path = xasprintf("%s/second", dir);

	ck_assert_int_eq(link(module, path), 0);
	free(path);
}

static void other_owner(void)
{
	ck_assert_int_eq(chown(module, 4321, 4321), 0);
}

START_TEST(change_meanwhile_is_noticed)
{
	fails_after(another_file, SWAP_CHANGED, "was removed or replaced");
	ck_assert_int_eq(tiny_run(module), NEWER);
	fails_after(more_bytes, SWAP_CHANGED, "was changed by somebody");
	fails_after(second_name, SWAP_REFUSED, "has 2 names");
	another_file();
	fails_after(other_mode, SWAP_CHANGED, "another owner or mode");
	another_file();
	if (!geteuid())
		fails_after(other_owner, SWAP_CHANGED, "another owner or mode");
	another_file();
	fails_after(no_file, SWAP_CHANGED, "was removed or replaced");
	ck_assert_int_eq(entries(folder), 0);
}
END_TEST

/* The folder is another one by now: what was judged lies elsewhere. */
START_TEST(flipped_folder_is_left_alone)
{
	char *other = xasprintf("%s/other", dir), *there = xasprintf("%s/other/prog", dir);
	struct swap_order o = order(OLD, NEW);
	struct trusted t;
	struct err e;

	ck_assert_int_eq(mkdir(other, 0755), 0);
	ck_assert_int_eq(tiny_write(there, NEWER, false, SIZE), 0);
	ck_assert_int_eq(trust_open(module, (uid_t)-1, &t, &e), 0);
	o.module = &t;
	o.source = open(staged, O_RDONLY);
	ck_assert_int_eq(renameat2(AT_FDCWD, folder, AT_FDCWD, other, RENAME_EXCHANGE), 0);
	ck_assert_int_eq(swap_run(state, &o, &e), SWAP_OK);
	ck_assert_int_eq(tiny_run(module), NEWER);
	ck_assert_int_eq(tiny_run(there), NEW);
	close(o.source);
	trust_close(&t);
	free(other);
	free(there);
}
END_TEST

START_TEST(kept_build_of_another_owner_stays)
{
	struct swap_order o = order(NEWER, OLD);
	struct err e = {""};

	if (geteuid())
		return;
	commit(OLD, NEW);
	another_file();
	ck_assert_int_eq(chown(module, 4321, 4321), 0);
	ck_assert_int_eq(chown(folder, 4321, 4321), 0);
	ck_assert_int_eq(put_back(&o, &e), SWAP_FAILED);
	ck_assert_ptr_nonnull(strstr(e.text, "not to the module's owner"));
	ck_assert_int_eq(tiny_run(module), NEWER);
}
END_TEST

/* One byte to and fro, and the times as they were: no size and no clock tells. */
static void flip(const char *path)
{
	int fd = open(path, O_RDWR);
	struct stat st;
	uint8_t byte;

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(pread(fd, &byte, 1, SIZE - 1), 1);
	byte ^= 1;
	ck_assert_int_eq(pwrite(fd, &byte, 1, SIZE - 1), 1);
	ck_assert_int_eq(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
	close(fd);
}

static int unchanged(int build)
{
	struct build_id id = tiny_id((uint8_t)build);
	int fd = open(module, O_RDONLY), r;
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	r = digest_check(state, module, &id, fd, (uint64_t)st.st_size, NULL);
	close(fd);
	return r;
}

static void lost(int from, int to)
{
	struct swap_order o = order(from, to);
	struct err e = {""};

	ck_assert_int_eq(put_in(&o, &e), SWAP_CHANGED);
	ck_assert_ptr_nonnull(strstr(e.text, "was changed after it was laid out"));
	ck_assert_int_eq(unchanged(from), -1);
	ck_assert_int_eq(journals(), 0);
	ck_assert_int_eq(entries(folder), 1);
	ck_assert_int_eq(tiny_run(module), from);
}

START_TEST(change_of_a_layout_is_noticed)
{
	struct swap_order back = order(NEWER, NEW);
	struct err e;

	flip(module); /* the original is the editor's to judge */
	commit(OLD, NEW);
	ck_assert_int_eq(unchanged(NEW), 0);
	ck_assert_int_eq(tiny_write(staged, NEWER, false, SIZE), 0);
	flip(module);
	lost(NEW, NEWER);
	flip(module);
	commit(NEW, NEWER);
	ck_assert_int_eq(unchanged(NEWER), 0);
	flip(module); /* a person may go back from a changed one, … */
	ck_assert_msg(put_back(&back, &e) == SWAP_OK, "%s", e.text);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	flip(module); /* … and what is there again is still known */
	lost(NEW, NEWER);
}
END_TEST

START_TEST(second_swap_waits_for_the_first)
{
	struct swap_order o = order(OLD, NEW);
	struct err e;

	ck_assert_int_eq(put_in(&o, &e), SWAP_OK);
	ck_assert_int_eq(tiny_write(staged, NEWER, false, SIZE), 0);
	o = order(NEW, NEWER);
	ck_assert_int_eq(put_in(&o, &e), SWAP_FAILED);
	ck_assert_ptr_nonnull(strstr(e.text, "not settled yet"));
	ck_assert_int_eq(tiny_run(module), NEW);
	ck_assert_int_eq(swap_done(state, module, &e), 0);
	ck_assert_int_eq(put_in(&o, &e), SWAP_OK);
}
END_TEST

START_TEST(missing_folders_are_one_error)
{
	struct swap_order o = order(OLD, NEW);
	struct err e = {""};

	ck_assert_int_eq(
	    swap_files(state, "/nonexistent/morph/prog", staged, &o, &e), SWAP_REFUSED);
	ck_assert_ptr_nonnull(strstr(e.text, "No such file"));
	o = order(NEW, OLD);
	ck_assert_int_eq(put_back(&o, &e), SWAP_FAILED);
	ck_assert_ptr_nonnull(strstr(e.text, "the kept build: No such file"));
	ck_assert_int_eq(dir_remove(state, NULL), 0);
	fails(order(OLD, NEW), SWAP_FAILED, "No such file");
	ck_assert_int_eq(tiny_run(module), OLD);
}
END_TEST

START_TEST(done_without_swap_is_fine)
{
	struct err e;

	ck_assert_int_eq(swap_done(state, module, &e), 0);
}
END_TEST

UNIT_MAIN("swap", 60, setup, teardown, new_build_takes_the_place, attributes_stay,
    rollback_brings_back_the_same_bytes, running_process_keeps_the_old_file,
    bound_holds_and_the_origin_stays, always_runs, change_meanwhile_is_noticed,
    flipped_folder_is_left_alone, kept_build_of_another_owner_stays, change_of_a_layout_is_noticed,
    second_swap_waits_for_the_first, missing_folders_are_one_error, done_without_swap_is_fine,
    linked_beside, linked_by_perf)
