/* A parser that a user's file has taken over: what the file says, it does. */
#include "common/elf/elf.h"
#include "tests/unit/mapping.h"
#include "tests/unit/unit.h"

static struct elf *taken_over(const char *name, int fd, struct err *e);
#define elf_file_open taken_over
#include "monitor-client/maps/lookup.c" /* with that parser */
#undef elf_file_open

#include "common/publish.h"

#include <sys/syscall.h>

static char dir[64];
static struct lookup l;

/* Bytes that could be a message to the socket or the answer to a later question. */
static void speak(int fd)
{
	struct answer a = {.seq = 2, .result = LOOKUP_FOUND, .id = {2, {'n', 'o'}}};

	send(fd, &a, sizeof a, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (fd != STDOUT_FILENO && write(fd, &a, sizeof a) > 0)
		send(fd, &a, sizeof a, MSG_NOSIGNAL);
	recv(fd, &a, sizeof a, MSG_DONTWAIT);
}

static struct elf *taken_over(const char *name, int fd, struct err *e)
{
	struct build_id id[2] = {{4, "true"}, {4, "more"}};
	uint32_t word = 0;
	char how = 0;
	int i;

	if (pread(fd, &how, 1, 0) != 1)
		return NULL;
	for (i = 0; i < 64 && how == 's'; i++)
		speak(i);
	if (how == 'h') {
		signal(SIGALRM, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, NULL, NULL, 0);
	}
	if (how == 'l')
		id[0].n = 255;
	i = write(STDOUT_FILENO, id, how == 'c' ? 3 : sizeof id);
	if (how == 'w') /* after its answer */
		syscall(SYS_futex, &word, 0, 0, NULL, NULL, 0);
	_exit(0);
}

static void setup(void)
{
	static const struct rights_user same;
	struct err e;

	strcpy(dir, "/tmp/morph-lookup.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_msg(lookup_start(&l, dir, &same, &e) == 0, "%s", e.text);
}

static void teardown(void)
{
	struct err e;

	lookup_end(&l);
	ck_assert_msg(dir_remove(dir, &e) == 0, "%s", e.text);
}

/* What the monitor hears of a process whose mapped file says how. */
static enum lookup_result ask_about(unsigned pid, char how, struct build_id *id)
{
	struct event_map m = {.start = 0x1000, .end = 0x2000, .path = (char *)"/x"};
	char *folder = xasprintf("%s/%u", dir, pid), *path;
	bool whole;
	int fd;

	mkdir(folder, 0700);
	path = xasprintf("%s/map_files", folder);
	mkdir(path, 0700);
	free(path);
	path = xasprintf("%s/map_files/1000-2000", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, &how, 1), 1);
	close(fd);
	free(path);
	free(folder);
	*id = (struct build_id){0};
	return lookup_file(&l, pid, &m, LOOKUP_MAPPED, id, &whole);
}

static void ck_true_id(unsigned pid, char how)
{
	static const struct build_id want = {4, "true"};
	struct build_id id;

	ck_assert_int_eq(ask_about(pid, how, &id), LOOKUP_FOUND);
	ck_assert(build_id_equal(&id, &want));
}

START_TEST(a_parser_that_sleeps_is_killed_in_time)
{
	uint64_t begin = clock_now();
	struct build_id id;

	ck_assert_int_eq(ask_about(5, 'h', &id), LOOKUP_SLOW);
	ck_assert_uint_ge(clock_now() - begin, LOOKUP_MS * 1000000ull / 2);
	ck_assert_uint_lt(clock_now() - begin, WAIT_MS * 1000000ull);
	ck_true_id(6, 't');
}
END_TEST

START_TEST(a_parser_does_not_outlive_its_answer)
{
	uint64_t begin = clock_now();

	ck_true_id(5, 'w');
	ck_true_id(6, 't');
	ck_assert_uint_lt(clock_now() - begin, LOOKUP_MS * 1000000ull);
}
END_TEST

START_TEST(a_parser_answers_no_other_question)
{
	struct build_id id;

	ck_true_id(5, 's');
	ck_true_id(6, 't');
	ck_assert_int_eq(ask_about(7, 'c', &id), LOOKUP_NONE);
}
END_TEST

START_TEST(a_build_id_of_another_size_is_none)
{
	struct build_id id;

	ck_assert_int_eq(ask_about(5, 'l', &id), LOOKUP_NONE);
	ck_assert_int_eq(ask_about(6, 'c', &id), LOOKUP_NONE);
	ck_assert_uint_eq(id.n, 0);
	ck_true_id(7, 't');
}
END_TEST

/* About a process that is gone, whose file says how. */
static enum lookup_result ask_about_gone(enum lookup_how how, char text)
{
	static const struct build_id want = {4, "true"};
	char *path = xasprintf("%s/gone", dir);
	struct build_id id = {0};
	struct event_map m;
	enum lookup_result r;
	bool whole;

	ck_assert_int_eq(publish_bytes(path, &text, 1, 0600, NULL), 0);
	m = mapping_of(path);
	r = lookup_file(&l, 99, &m, how, &id, &whole);
	ck_assert(r != LOOKUP_FOUND || build_id_equal(&id, &want));
	m.ino++;
	ck_assert_int_eq(lookup_file(&l, 99, &m, how, &id, &whole), LOOKUP_LATER);
	free(path);
	return r;
}

START_TEST(a_gone_process_is_looked_for_by_path_if_allowed)
{
	ck_assert_int_eq(ask_about_gone(LOOKUP_MAPPED, 't'), LOOKUP_LATER);
	ck_assert_int_eq(ask_about_gone(LOOKUP_NAMED, 't'), LOOKUP_LATER);
	ck_assert_int_eq(ask_about_gone(LOOKUP_PATH, 't'), LOOKUP_FOUND);
	ck_assert_int_eq(ask_about_gone(LOOKUP_PATH, 'h'), LOOKUP_SLOW);
	ck_assert_int_eq(ask_about_gone(LOOKUP_PATH, 'c'), LOOKUP_NONE);
}
END_TEST

UNIT_MAIN("lookup", 0, setup, teardown, a_parser_that_sleeps_is_killed_in_time,
    a_parser_does_not_outlive_its_answer, a_parser_answers_no_other_question,
    a_build_id_of_another_size_is_none, a_gone_process_is_looked_for_by_path_if_allowed)
