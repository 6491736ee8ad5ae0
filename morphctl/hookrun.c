#include "morphctl/hookrun.h"
#include "common/artifact/prune.h"
#include "common/hooklog.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/compilers.h"
#include "morphctl/hooksummary.h"
#include "morphctl/install.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* ---- the environment ---- */

/* The list of a variable with the entry in front, and nowhere else. */
static void put_first(const char *variable, const char *entry, const char *otherwise)
{
	const char *v = getenv(variable), *p = v && *v ? v : otherwise, *end;
	struct buf b = {0};

	buf_str(&b, entry);
	for (; p && *p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');
		if ((size_t)(end - p) == strlen(entry) && !memcmp(p, entry, strlen(entry)))
			continue;
		buf_char(&b, ':');
		buf_add(&b, p, (size_t)(end - p));
	}
	setenv(variable, buf_cstr(&b), 1);
	buf_free(&b);
}

static void set_absolute(const char *variable, char *path)
{
	char *cwd = getcwd(NULL, 0), *all;

	if (path && cwd) {
		all = *path == '/' || !*path ? xstrdup(path) : xasprintf("%s/%s", cwd, path);
		setenv(variable, all, 1);
		free(all);
	}
	free(cwd);
	free(path);
}

char *hookrun_environment(void)
{
	char *folder = compilers_folder(), *as;

	if (!folder)
		return NULL;
	put_first("PATH", folder, "/usr/local/bin:/usr/bin:/bin");
	set_absolute("MORPH_ARTIFACTS", places_artifacts(getenv("HOME")));
	set_absolute("MORPH_HOOKS_LOG", hooklog_path());
	if ((as = places_own("../libexec/morph/as")))
		put_first("CCACHE_EXTRAFILES", as, NULL);
	free(as);
	return folder;
}

/* ---- the command ---- */

static pid_t child;

static void pass_on(int sig)
{
	kill(child, sig);
}

static int become(char **argv)
{
	int saved;

	execvp(argv[0], argv);
	saved = errno;
	log_error("%s: %s", argv[0], strerror(saved));
	return saved == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* As a shell waits: the keyboard's signals go to all of us, and the command decides. */
static int run(char **argv)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_on}, was[4];
	static const int sig[4] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	int status, i;

	fflush(NULL);
	for (i = 0; i < 4; i++)
		sigaction(sig[i], i < 2 ? &ignore : NULL, &was[i]);
	child = fork();
	if (child == 0) {
		for (i = 0; i < 2; i++)
			sigaction(sig[i], &was[i], NULL);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		_exit(become(argv));
	}
	if (child < 0)
		return -1;
	for (i = 2; i < 4; i++)
		if (was[i].sa_handler != SIG_IGN)
			sigaction(sig[i], &pass, NULL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static int end_as(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static char *make_run_folder(void)
{
	const char *tmp = env_value("TMPDIR");
	char *folder = xasprintf("%s/morph-run.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");

	if (mkdtemp(folder))
		return folder;
	free(folder);
	return NULL;
}

/* Where the ld hook puts them: those that no build tree has any more. */
static void prune_artifacts(void)
{
	static const uint64_t max = (uint64_t)4 << 30;
	const char *list = getenv("MORPH_ARTIFACTS");
	char *folder = xasprintf("%.*s", (int)strcspn(list ? list : "", ":"), list ? list : "");

	artifacts_prune(folder, max);
	free(folder);
}

static int run_and_summarise(char **argv)
{
	struct hooksummary *s;
	char *folder;
	int status;

	if (env_value(HOOKLOG_RUN) || !(folder = make_run_folder()))
		return run(argv);
	setenv(HOOKLOG_RUN, folder, 1);
	status = run(argv);
	if (status < 0)
		return status;
	s = hooksummary_read(folder);
	unsetenv(HOOKLOG_RUN);
	dir_remove(folder, NULL);
	prune_artifacts();
	hooksummary_say(s, argv);
	free(folder);
	return status;
}

int hookrun(char **argv, bool store, const char *install)
{
	char *compilers = hookrun_environment();
	int status;

	if (!compilers)
		return EXIT_FAILED;
	free(compilers);
	if (store)
		setenv("MORPH_STORE_ONLY", "1", 1);
	if (!install && env_value(HOOKLOG_RUN))
		return become(argv);
	status = run_and_summarise(argv);
	if (status < 0)
		return become(argv);
	status = end_as(status);
	return install ? store_install_built(install, status) : status;
}
