#include "editor-driver/os/run.h"
#include "common/log.h"
#include "common/places.h"
#include "common/publish.h"
#include "editor-driver/os/sandbox.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static bool is_absolute(const char *path, const void *arg)
{
	return *path == '/';
}

char *tool_find(const char *name, struct err *e)
{
	char *path = places_search(name, is_absolute, NULL);

	if (!path)
		err_set(e, "%s: not found in PATH; the editor needs binutils", name);
	return path;
}

int tool_version(const char *path, struct hash128 *out, struct err *e)
{
	struct buf b = {0};
	struct stat st;
	int rc;

	if (stat(path, &st))
		return err_sys(e, "%s", path);
	rc = file_read("/proc/self/exe", 0, &b, e);
	buf_printf(&b, "%s %lld %lld.%09ld", path, (long long)st.st_size,
	    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	*out = hash_bytes(b.p, b.n);
	buf_free(&b);
	return rc;
}

/* The most informative line: the first that names an error, else the first. */
static const char *telling_line(char *text)
{
	char *line, *save = NULL, *first = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!first)
			first = line;
		if (strcasestr(line, "error") || strstr(line, "No space left") ||
		    strstr(line, "undefined"))
			return line;
	}
	return first ? first : "it said nothing";
}

static void too_large(const char *what, struct err *e)
{
	struct rlimit file = {0};

	getrlimit(RLIMIT_FSIZE, &file);
	err_set(e,
	    "%s: its output is larger than %llu MiB, the bound for an artifact and program of "
	    "this size; if that is the program's data, name the program with --original",
	    what, (unsigned long long)file.rlim_cur >> 20);
}

/* The recipe decides how a link runs: nothing of our environment is passed, except the mark by
 * which the manager finds what a job left running. */
static char *job_mark(void)
{
	const char *job = getenv("MORPH_JOB");

	return job ? xasprintf("MORPH_JOB=%s", job) : NULL;
}

int run_tool(const struct spawn *s, const char *what, struct err *e)
{
	char *job = job_mark();
	const char *const env[] = {"LC_ALL=C", job, NULL};
	struct buf said = {0};
	struct spawn quiet = *s;
	int rc;

	quiet.before = sandbox_narrow;
	quiet.env = env;
	quiet.only_env = true;
	quiet.capture_out = quiet.capture_err = &said;
	if (!quiet.in)
		quiet.in = -1;
	rc = spawn_run(&quiet, e);
	if (rc == 128 + SIGXFSZ)
		too_large(what, e);
	else if (rc > 128)
		err_set(e, "%s was stopped by signal %d", what, rc - 128);
	else if (rc > 0)
		err_set(e, "%s: %.800s", what, telling_line(buf_cstr(&said)));
	else if (!rc && said.n)
		log_debug("%s: %.*s", what, (int)(said.n < 2000 ? said.n : 2000), said.p);
	buf_free(&said);
	free(job);
	return rc ? -1 : 0;
}
