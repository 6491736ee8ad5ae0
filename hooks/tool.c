#include "hooks/tool.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
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

/* Bounds this process; was gets what to undo it with. Only what may be raised again. */
static void bound(unsigned seconds, struct rlimit was[2])
{
	struct rlimit cpu, core;

	getrlimit(RLIMIT_CPU, &cpu);
	getrlimit(RLIMIT_CORE, &core);
	was[0] = cpu;
	was[1] = core;
	if (cpu.rlim_max > seconds)
		cpu.rlim_cur = seconds;
	core.rlim_cur = 0;
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
}

static void unbound(const struct rlimit was[2])
{
	setrlimit(RLIMIT_CPU, &was[0]);
	setrlimit(RLIMIT_CORE, &was[1]);
}

int tool_shielded(int (*fn)(void *), void *arg, unsigned seconds)
{
	struct rlimit was[2];
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -1;
	if (pid == 0) {
		silence();
		bound(seconds, was);
		_exit(fn(arg) == 0 ? 0 : 1);
	}
	status = wait_for(pid);
	return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? WEXITSTATUS(status) : -1;
}

enum stage { STAGE_FN, STAGE_DONE, STAGE_REFUSED };

static _Noreturn void then_become(const char *path, char *const argv[], int in, int out)
{
	if (lseek(in, 0, SEEK_SET) < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(EXIT_NO_TOOL);
	execv(path, argv);
	_exit(EXIT_NO_TOOL);
}

int tool_shielded_then(int (*fn)(void *), void *arg, unsigned seconds, const char *path,
    char *const argv[], int in, int out, int *status)
{
	volatile enum stage *stage =
	    mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rlimit was[2];
	pid_t pid;

	if (stage == MAP_FAILED || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		silence();
		bound(seconds, was);
		*stage = fn(arg) == 0 ? STAGE_DONE : STAGE_REFUSED;
		unbound(was);
		if (*stage == STAGE_REFUSED)
			_exit(0);
		then_become(path, argv, in, out);
	}
	*status = wait_for(pid);
	if (*stage != STAGE_DONE)
		return *stage == STAGE_REFUSED ? 1 : -1;
	*status = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
	return 0;
}

void tool_keep_memory(void)
{
	enum { STEP = 1 << 20, NEVER = 1 << 30 };

	mallopt(M_MMAP_THRESHOLD, NEVER);
	mallopt(M_TRIM_THRESHOLD, NEVER);
	mallopt(M_TOP_PAD, STEP);
}

int tool_memory_file(const char *name)
{
	return memfd_create(name, 0);
}
