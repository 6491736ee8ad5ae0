/* Programs that are started while their user interferes. */
#include "managerd/parent/launch.h"
#include "common/mem.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Stops every child of parent but itself, as soon as it is there, as the user of a
 * program may who has just been given it. */
static _Noreturn void stop_children(pid_t parent)
{
	char path[64], text[4096], *at, *end;
	ssize_t n;
	long pid;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
	fd = open(path, O_RDONLY);
	for (;;) {
		n = pread(fd, text, sizeof text - 1, 0);
		if (n < 0)
			_exit(1);
		text[n] = '\0';
		for (at = text; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
			if (pid != getpid())
				kill((pid_t)pid, SIGSTOP);
	}
}

START_TEST(stopped_before_it_is_the_program)
{
	static const char *const argv[] = {"/bin/true", NULL};
	static char *const env[] = {NULL};
	struct launch l = {.argv = argv, .env = env, .nfd = 3, .fd = {-1, -1, -1}};
	unsigned i, stopped = 0;
	pid_t stopper = fork(), pid;
	int fd, status;

	if (!stopper)
		stop_children(getppid());
	/* Until it was in time once, be it before the program or after. */
	for (i = 0; !stopped && i < 20000; i++) {
		pid = launch(&l, &fd, NULL);
		if (pid < 0) {
			stopped++;
			continue;
		}
		ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
		if (WIFSTOPPED(status)) {
			stopped++;
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		close(fd);
	}
	kill(stopper, SIGKILL);
	waitpid(stopper, NULL, 0);
	ck_assert_uint_gt(stopped, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("launch");
	TCase *t = tcase_create("launch");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, stopped_before_it_is_the_program);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
