#include "morphctl/hookrun.h"
#include "common/artifact/prune.h"
#include "common/hash.h"
#include "common/hooklog.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/compilers.h"
#include "morphctl/store.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };
enum { NAMES_SHOWN = 8, LINKS_SHOWN = 4 };

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

/* ---- what became of it ---- */

struct link {
	char *output, *reason; /* reason "" = it got an artifact */
};

struct outcome {
	VEC(struct link) link;
	struct htab by_output; /* index + 1 */
	size_t doubts;         /* objects that are left as they are */
	size_t objects;        /* annotated ones */
	bool probes;           /* a configure script asked */
};

static bool begins(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* The last link of an output counts. */
static void take_link(struct outcome *o, const char *output, const char *reason)
{
	uint64_t *i = htab_put_str(&o->by_output, output, NULL);
	struct link *l;

	if (!*i) {
		vec_push(&o->link, (struct link){xstrdup(output), NULL});
		*i = o->link.n;
	}
	l = &o->link.v[*i - 1];
	free(l->reason);
	l->reason = xstrdup(begins(reason, "no artifact: ") ? reason + 13 : reason);
}

static void take_event(struct outcome *o, const char *line)
{
	const char *tool, *output, *reason;
	json_t *j = json_loads(line, 0, NULL);

	if (!json_unpack(j, "{s:s,s:s,s:s}", "tool", &tool, "output", &output, "reason", &reason)) {
		if (!strcmp(tool, "ld") &&
		    (!*reason || begins(reason, "no artifact: ") || begins(reason, "not x86-64")))
			take_link(o, output, reason);
		else
			o->doubts += strcmp(tool, "cc") != 0;
	}
	json_decref(j);
}

static void read_outcome(struct outcome *o, const char *run)
{
	char *events = xasprintf("%s/events", run), *objects = xasprintf("%s/objects", run);
	char *probe = xasprintf("%s/" HOOKLOG_PROBE, run), *line = NULL;
	FILE *f = fopen(events, "re");
	struct stat st;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0)
		take_event(o, line);
	if (f)
		fclose(f);
	if (stat(objects, &st) == 0)
		o->objects = (size_t)st.st_size;
	o->probes = access(probe, F_OK) == 0;
	free(line);
	free(events);
	free(objects);
	free(probe);
}

static void free_outcome(struct outcome *o)
{
	size_t i;

	for (i = 0; i < o->link.n; i++) {
		free(o->link.v[i].output);
		free(o->link.v[i].reason);
	}
	vec_free(&o->link);
	htab_free(&o->by_output);
}

static const char *number_of(char *room, size_t n, const char *what)
{
	sprintf(room, "%zu %s%s", n, what, n == 1 ? "" : "s");
	return room;
}

/* The names of links with an artifact, or the names of those without and why. */
static size_t list_links(const struct outcome *o, bool with, struct buf *out)
{
	size_t i, n = 0, shown = with ? NAMES_SHOWN : LINKS_SHOWN;
	const struct link *l;

	for (i = 0; i < o->link.n; i++) {
		l = &o->link.v[i];
		if (with != !*l->reason || ++n > shown)
			continue;
		buf_printf(out, "%s%s", n == 1 ? "" : with ? ", " : "; ", path_base(l->output));
		if (!with)
			buf_printf(out, " (%s)", l->reason);
	}
	if (n > shown)
		buf_printf(out, " and %zu more", n - shown);
	return n;
}

/* The sentence for a build without a link that the hooks saw; NULL = nothing to say. */
static const char *nothing_linked(const struct outcome *o)
{
	if (o->objects)
		return "no artifact: objects went through the hooks, links did not (CMake needs "
		       "LINKER_LAUNCHER as well; a static library alone gets none)";
	if (o->doubts)
		return "no artifact: no object was annotated, see morphctl hooks log";
	if (o->probes)
		return NULL;
	return "nothing was compiled or linked through the hooks: it was built before (build from "
	       "clean), or compilers are called by path; morphctl hooks doctor FOLDER says which";
}

static void say(const char *text)
{
	size_t room = 4 * strlen(text) + 1;
	char *s = xmalloc(room);

	log_escape(s, room, text);
	fprintf(stderr, "morph: %s\n", s);
	free(s);
}

static void summarise(const struct outcome *o)
{
	struct buf line = {0}, with = {0}, without = {0};
	size_t made = list_links(o, true, &with), other = list_links(o, false, &without);
	const char *nothing = o->link.n ? NULL : nothing_linked(o);
	char n[64];

	if (made)
		buf_printf(&line, "%s (%s)", number_of(n, made, "artifact"), buf_cstr(&with));
	if (other)
		buf_printf(&line, "%s%s without: %s", made ? "; " : "", number_of(n, other, "link"),
		    buf_cstr(&without));
	if (line.n)
		say(buf_cstr(&line));
	if (o->link.n && o->doubts) {
		line.n = 0;
		buf_printf(&line, "%s kept as is; why: morphctl hooks log",
		    number_of(n, o->doubts, "object"));
		say(buf_cstr(&line));
	}
	if (nothing) {
		say(nothing);
		if (o->objects)
			hooklog("run", NULL, "%s", nothing);
	}
	buf_free(&line);
	buf_free(&with);
	buf_free(&without);
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
	struct outcome o = {0};
	char *folder;
	int status;

	if (env_value(HOOKLOG_RUN) || !(folder = make_run_folder()))
		return run(argv);
	setenv(HOOKLOG_RUN, folder, 1);
	status = run(argv);
	if (status < 0)
		return status;
	read_outcome(&o, folder);
	unsetenv(HOOKLOG_RUN);
	dir_remove(folder, NULL);
	prune_artifacts();
	summarise(&o);
	free_outcome(&o);
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
