#include "hooks/tool.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NO_TOOL = 127 };

/* What dies in the shield must not be heard either. */
static void silence(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd >= 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		close(fd);
	}
}

char *tool_identity(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return xstrdup("");
	return xasprintf(
	    "%llx:%llx ", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
}

static bool usable(const char *path, const void *arg)
{
	const char *skip = arg;
	char *own = tool_identity("/proc/self/exe"), *id = tool_identity(path);
	struct stat st;
	bool ok;

	ok = *id && strcmp(own, id) != 0 && !(skip && strstr(skip, id)) && stat(path, &st) == 0 &&
	     S_ISREG(st.st_mode) && access(path, X_OK) == 0;
	free(own);
	free(id);
	return ok;
}

char *tool_find(const char *name, const char *env, const char *skip)
{
	const char *set = env ? getenv(env) : NULL;

	if (set && strchr(set, '/') && usable(set, skip))
		return xstrdup(set);
	return places_search(name, usable, skip);
}

_Noreturn void tool_become(const char *path, char *const argv[])
{
	execv(path, argv);
	fprintf(stderr, "%s: cannot run %s: %s\n", argv[0], path, strerror(errno));
	exit(EXIT_NO_TOOL);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

int tool_run(const char *path, char *const argv[])
{
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid == 0)
		tool_become(path, argv);
	return wait_for(pid);
}

_Noreturn void tool_end_as(int wait_status)
{
	struct rlimit none = {0, 0};

	if (WIFEXITED(wait_status))
		exit(WEXITSTATUS(wait_status));
	/* The child has dumped its core already. */
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(wait_status), SIG_DFL);
	raise(WTERMSIG(wait_status));
	exit(128 + WTERMSIG(wait_status));
}

int tool_shielded(int (*fn)(void *), void *arg, unsigned seconds)
{
	struct rlimit cpu = {seconds, seconds}, core = {0, 0};
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -1;
	if (pid == 0) {
		silence();
		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_CORE, &core);
		_exit(fn(arg) == 0 ? 0 : 1);
	}
	status = wait_for(pid);
	return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? WEXITSTATUS(status) : -1;
}

int tool_memory_file(const char *name)
{
	return memfd_create(name, 0);
}
