#include "managerd/parent/trust/package.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *answer, *package;
} answers[] = {
    {"lua5.4: /usr/bin/lua5.4\n", "lua5.4"},
    {"libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6\n", "libc6"},
    {"a, b:i386: /usr/share/doc\n", "a"},
    {"diversion by dash from: /bin/sh\ndash: /bin/sh\n", "dash"},
    {"", NULL},
    {"\n\n", NULL},
    {"no colon", NULL},
};

START_TEST(first_package)
{
	char *p = package_parse(answers[_i].answer);

	if (answers[_i].package)
		ck_assert_str_eq(p, answers[_i].package);
	else
		ck_assert_ptr_null(p);
	free(p);
}
END_TEST

START_TEST(places_without_packages)
{
	static const char *const path[] = {"/home/ann/x", "/usr/local/bin/x", "/tmp/*"};

	ck_assert(!package_possible(path[_i]));
}
END_TEST

/* What dpkg-query says to the command for a path, as the parent asks. */
static char *ask(const char *path)
{
	char text[PACKAGE_ANSWER_MAX] = "";
	struct package_query q = package_query(path);
	size_t n = 0;
	ssize_t r;
	int pipe_fd[2];
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_fd), 0);
	pid = fork();
	if (!pid) {
		dup2(pipe_fd[1], 1);
		dup2(open("/dev/null", O_WRONLY), 2);
		execvp(q.argv[0], (char *const *)q.argv);
		_exit(127);
	}
	close(pipe_fd[1]);
	while ((r = read(pipe_fd[0], text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)r;
	close(pipe_fd[0]);
	waitpid(pid, NULL, 0);
	package_query_free(&q);
	return package_parse(text);
}

/* /usr/bin/env belongs to coreutils wherever dpkg is; with a merged /usr, and
 * a name that is not in dpkg's list as such, too. */
START_TEST(real_package)
{
	static const struct {
		const char *path, *package;
	} known[] = {{"/usr/bin/env", "coreutils"}, {"/usr/bin/cat", "coreutils"},
	    {"/usr/bin/[no", NULL}, {"/opt/*", NULL}};
	char *package;

	if (access("/usr/bin/dpkg-query", X_OK))
		return;
	ck_assert(package_possible(known[_i].path));
	package = ask(known[_i].path);
	ck_assert_pstr_eq(package, known[_i].package);
	free(package);
}
END_TEST

START_TEST(query_is_literal)
{
	struct package_query q = package_query("/usr/bin/a*[b]?\\c");

	ck_assert_str_eq(q.argv[1], "-S");
	ck_assert_str_eq(q.argv[2], "/usr/bin/a\\*\\[b\\]\\?\\\\c");
	ck_assert_str_eq(q.argv[3], "/bin/a\\*\\[b\\]\\?\\\\c");
	ck_assert_ptr_null(q.argv[4]);
	package_query_free(&q);
	q = package_query("/opt/x");
	ck_assert_ptr_null(q.argv[3]);
	package_query_free(&q);
}
END_TEST

START_TEST(lock_is_for_packaged_places)
{
	struct err e;

	ck_assert_int_eq(package_lock("/home/ann/x", &e), PACKAGE_NONE);
	package_unlock(PACKAGE_NONE);
}
END_TEST

UNIT_MAIN("package", 60, NULL, NULL, UNIT_LOOP(first_package, sizeof answers / sizeof *answers),
    UNIT_LOOP(places_without_packages, 3), UNIT_LOOP(real_package, 4), query_is_literal,
    lock_is_for_packaged_places)
