#include "common/elf/elf.h"
#include "common/publish.h"
#include "managerd/inspect/answer.h"
#include "managerd/inspect/sandbox.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls by their numbers: neither libc nor a sanitizer is between. */
struct call {
	const char *what;
	long nr, arg[6];
};

static long make(const struct call *c)
{
	return syscall(c->nr, c->arg[0], c->arg[1], c->arg[2], c->arg[3], c->arg[4], c->arg[5]);
}

/* How a child ends that is confined and makes the call: as of waitpid(2). */
static int confined(const struct call *c)
{
	int status, file = memfd_create("file", 0);
	struct err e;
	pid_t pid;

	ck_assert_int_eq(ftruncate(file, 4096), 0);
	pid = fork();
	if (!pid) {
		dup2(file, INSPECT_FILE);
		dup2(file, INSPECT_ANSWER);
		if (inspect_confine(&e))
			_exit(99);
		make(c);
		syscall(SYS_exit_group, 7);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(file);
	return status;
}

static void assert_killed(const struct call *c)
{
	int status = confined(c);

	ck_assert_msg(
	    WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: %#x", c->what, status);
}

static void assert_allowed(const struct call *c)
{
	int status = confined(c);

	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s: %#x", c->what, status);
}

#define MAP(prot, flags, fd) \
	{ \
		0, 4096, prot, flags, fd, 0 \
	}

START_TEST(what_is_not_reading_kills)
{
	static char path[] = "/tmp/morph-inspect-test", *const argv[] = {path, NULL};
	const struct call calls[] = {
	    {"open", SYS_open, {(long)path, O_RDONLY}},
	    {"openat", SYS_openat, {AT_FDCWD, (long)path, O_RDONLY}},
	    {"openat2", SYS_openat2, {AT_FDCWD, (long)path}},
	    {"creat", SYS_creat, {(long)path, 0644}},
	    {"memfd_create", SYS_memfd_create, {(long)path}},
	    {"unlink", SYS_unlink, {(long)path}},
	    {"rename", SYS_rename, {(long)path, (long)path}},
	    {"chmod", SYS_chmod, {(long)path, 0644}},
	    {"fchmod", SYS_fchmod, {INSPECT_FILE, 04777}},
	    {"ftruncate", SYS_ftruncate, {INSPECT_FILE, 1}},
	    {"stat by name", SYS_newfstatat, {AT_FDCWD, (long)path, (long)path, 0}},
	    {"socket", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}},
	    {"socketpair", SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, (long)path}},
	    {"execve", SYS_execve, {(long)path, (long)argv, 0}},
	    {"execveat", SYS_execveat, {INSPECT_FILE, (long)"", (long)argv, 0, AT_EMPTY_PATH}},
	    {"fork", SYS_fork, {0}},
	    {"vfork", SYS_vfork, {0}},
	    {"clone", SYS_clone, {SIGCHLD}},
	    {"clone3", SYS_clone3, {0}},
	    {"prctl", SYS_prctl, {1}},
	    {"ioctl", SYS_ioctl, {INSPECT_FILE, 0x5401}},
	    {"kill", SYS_kill, {INT_MAX, 0}},
	    {"ptrace", SYS_ptrace, {0}},
	    {"setrlimit", SYS_setrlimit, {RLIMIT_CORE, 0}},
	    {"prlimit64", SYS_prlimit64, {0, RLIMIT_CPU}},
	    {"dup2", SYS_dup2, {INSPECT_FILE, 5}},
	    {"dup by fcntl", SYS_fcntl, {INSPECT_FILE, F_DUPFD, 5}},
	    {"F_SETLEASE", SYS_fcntl, {INSPECT_FILE, F_SETLEASE, F_RDLCK}},
	    {"unshare", SYS_unshare, {0}},
	    {"io_uring_setup", SYS_io_uring_setup, {1, 0}},
	    {"shmget", SYS_shmget, {0, 4096, 01600}},
	    {"write to the file", SYS_write, {INSPECT_FILE, (long)path, 1}},
	    {"write to the answer", SYS_write, {INSPECT_ANSWER, (long)path, 1}},
	    {"pwrite to the file", SYS_pwrite64, {INSPECT_FILE, (long)path, 1, 0}},
	    {"mprotect", SYS_mprotect, {0, 4096, PROT_READ | PROT_EXEC}},
	    {"executable memory", SYS_mmap,
		MAP(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1)},
	    {"an executable file", SYS_mmap, MAP(PROT_READ | PROT_EXEC, MAP_PRIVATE, INSPECT_FILE)},
	};
	size_t i;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		assert_killed(&calls[i]);
}
END_TEST

START_TEST(reading_and_answering_goes)
{
	static char room[4096];
	const struct call calls[] = {
	    {"pread64", SYS_pread64, {INSPECT_FILE, (long)room, 10, 0}},
	    {"fstat", SYS_newfstatat, {INSPECT_FILE, (long)"", (long)room, AT_EMPTY_PATH}},
	    {"memory", SYS_mmap, MAP(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)},
	    {"the answer", SYS_pwrite64, {INSPECT_ANSWER, (long)room, 10, 0}},
	};
	size_t i;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		assert_allowed(&calls[i]);
}
END_TEST

START_TEST(an_answer_beyond_its_bound_is_cut_off)
{
	const struct call far = {"far", SYS_pwrite64, {INSPECT_ANSWER, (long)"x", 1, INSPECT_MAX}};
	int status = confined(&far);

	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
}
END_TEST

static void read_answer(int fd, struct buf *out)
{
	char path[32];
	struct err e;

	out->n = 0;
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	ck_assert_msg(!file_read(path, 0, out, &e), "%s", e.text);
}

START_TEST(answers_are_head_and_body)
{
	struct answer a = {.head = {.kind = ELF_PIE, .id = {2, {1, 2}}}};
	int fd = memfd_create("answer", 0);
	struct inspect_head h;
	struct buf b = {0};
	struct err e;

	buf_str(&a.table, "table");
	buf_str(&a.map, "the map");
	ck_assert_int_eq(answer_write(&a, fd, &e), 0);
	read_answer(fd, &b);
	ck_assert_uint_eq(b.n, sizeof h + 12);
	memcpy(&h, b.p, sizeof h);
	ck_assert(!memcmp(h.magic, INSPECT_MAGIC, sizeof h.magic));
	ck_assert_uint_eq(h.kind, ELF_PIE);
	ck_assert(h.table_n == 5 && !memcmp(b.p + h.table_at, "table", 5));
	ck_assert(h.map_n == 7 && !memcmp(b.p + h.map_at, "the map", 7));
	answer_free(&a);
	close(fd);
	buf_free(&b);
}
END_TEST

START_TEST(a_refusal_is_its_text_alone)
{
	struct answer a = {.head = {.kind = ELF_PIE, .id = {2, {1, 2}}}};
	struct err why;
	int fd = memfd_create("answer", 0);
	struct inspect_head h;
	struct buf b = {0};

	buf_str(&a.table, "table");
	memset(why.text, 'x', sizeof why.text);
	why.text[sizeof why.text - 1] = '\0';
	answer_refuse(&a, &why);
	ck_assert_int_eq(answer_write(&a, fd, &why), 0);
	read_answer(fd, &b);
	ck_assert_uint_eq(b.n, sizeof h);
	memcpy(&h, b.p, sizeof h);
	ck_assert(h.refused == 1 && !h.id.n && !h.kind && !h.table_n && !h.table_at);
	ck_assert_uint_eq(strlen(h.text), INSPECT_TEXT - 1);
	close(fd);
	buf_free(&b);
}
END_TEST

/* What could not be written whole has no magic. */
START_TEST(the_head_comes_last)
{
	int fd = memfd_create("answer", MFD_ALLOW_SEALING), r;
	struct answer a = {0};
	struct buf b = {0};
	struct err e;

	ck_assert_int_eq(ftruncate(fd, sizeof a.head + 3), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	memset(buf_grow(&a.map, 8192), 'm', 8192);
	r = answer_write(&a, fd, &e);
	ck_assert_int_eq(r, -1);
	read_answer(fd, &b);
	ck_assert(memcmp(b.p, INSPECT_MAGIC, sizeof INSPECT_MAGIC) != 0);
	answer_free(&a);
	close(fd);
	buf_free(&b);
}
END_TEST

UNIT_MAIN("inspect", 60, NULL, NULL, what_is_not_reading_kills, reading_and_answering_goes,
    an_answer_beyond_its_bound_is_cut_off, answers_are_head_and_body, a_refusal_is_its_text_alone,
    the_head_comes_last)
