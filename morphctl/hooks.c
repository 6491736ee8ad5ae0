#include "morphctl/hooks.h"
#include "common/ascii.h"
#include "common/hooklog.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/doctor.h"
#include "morphctl/hookrun.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };
enum { FOLLOW_MS = 300 };

static const char help[] =
    "usage: morphctl hooks run [--store] [--install DIR] [--] COMMAND [ARGUMENT…]\n"
    "       morphctl hooks env\n"
    "       morphctl hooks cmake\n"
    "       morphctl hooks doctor [FOLDER]\n"
    "       morphctl hooks log [-f] [--json]\n"
    "\n"
    "run     runs COMMAND (make, cmake, ./configure …) with the GCC and clang drivers of PATH\n"
    "        hooked, as and ld too: each program that is built gets an artifact, PROGRAM.morph,\n"
    "        with --store only by its build-id in ~/.local/share/morph. Ends with what it made.\n"
    "        --install: artifacts of the programs that it put below DIR follow them there.\n"
    "env     prints shell commands that do the same for a shell: eval \"$(morphctl hooks env)\"\n"
    "cmake   prints an initial cache for CMake, by which it runs compilers and linkers hooked\n"
    "doctor  says of a build folder which of its programs would get an artifact, which not and\n"
    "        why, and what to change\n"
    "log     shows what the hooks left alone and why; -f goes on as lines come.\n"
    "\n"
    "docs/BUILDING.md says how: CMake, Meson, Bazel, Autotools, caches, packages.\n";

static int hooks_run(int argc, char **argv)
{
	const char *install = NULL;
	bool store = false;
	int at = 1;

	for (; at < argc && strcmp(argv[at], "--"); at++)
		if (!strcmp(argv[at], "--store"))
			store = true;
		else if (!strcmp(argv[at], "--install") && at + 1 < argc)
			install = argv[++at];
		else
			break;
	if (at < argc && !strcmp(argv[at], "--"))
		at++;
	if (at < argc)
		return hookrun(argv + at, store, install);
	fputs(help, stderr);
	return EXIT_USAGE;
}

/* In single quotes, as every shell takes it. */
static void print_quoted(const char *s)
{
	putchar('\'');
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*s);
	}
	putchar('\'');
}

static void print_export(const char *variable)
{
	printf("export %s=", variable);
	print_quoted(getenv(variable));
	putchar('\n');
}

static int hooks_env(void)
{
	char *folder = hookrun_environment();

	if (!folder)
		return EXIT_FAILED;
	ascii_keep_stdout();
	print_export("PATH");
	print_export("CCACHE_EXTRAFILES");
	printf("# For a build that names its compiler by path:\n"
	       "#   make CC=%s/gcc CXX=%s/g++\n",
	    folder, folder);
	free(folder);
	return fflush(stdout) == 0 ? 0 : EXIT_FAILED;
}

/* A file for cmake -C. The folder of morph-cc may have any name: a bracket argument. */
static int hooks_cmake(void)
{
	static const char *const language[] = {"C", "CXX", "Fortran"};
	char *cc = places_own("morph-cc");
	size_t i;

	if (!cc) {
		log_error("morph-cc is not in the folder of morphctl");
		return EXIT_FAILED;
	}
	ascii_keep_stdout();
	puts("# cmake -C FILE …: compilers and linkers run through Morph's hooks.\n"
	     "# CMAKE_*_LINKER_LAUNCHER is known from CMake 3.21 on.");
	for (i = 0; i < sizeof language / sizeof *language; i++)
		printf("set(CMAKE_%s_COMPILER_LAUNCHER [==[%s]==] CACHE STRING \"\")\n"
		       "set(CMAKE_%s_LINKER_LAUNCHER [==[%s]==] CACHE STRING \"\")\n",
		    language[i], cc, language[i], cc);
	free(cc);
	return fflush(stdout) == 0 ? 0 : EXIT_FAILED;
}

/* Whatever a file is called: one line, and nothing that a terminal obeys. */
static char *shown(const char *text)
{
	size_t room = 4 * strlen(text) + 1;
	char *s = xmalloc(room);

	log_escape(s, room, text);
	return s;
}

static void show_line(const char *line, bool json)
{
	const char *time, *tool, *output, *reason;
	char *what, *why;
	json_t *o;

	if (json) {
		fputs(line, stdout);
		return;
	}
	o = json_loads(line, 0, NULL);
	if (!json_unpack(o, "{s:s,s:s,s:s,s:s}", "time", &time, "tool", &tool, "output", &output,
		"reason", &reason)) {
		what = shown(output);
		why = shown(reason);
		printf("%s  %-2s  %s%s%s\n", time, tool, what, *what ? ": " : "", why);
		free(what);
		free(why);
	}
	json_decref(o);
}

/* All whole lines from here to the end. */
static void show_rest(FILE *f, bool json)
{
	char *line = NULL;
	size_t cap = 0;
	long at = ftell(f);

	while (getline(&line, &cap, f) > 0 && strchr(line, '\n')) {
		show_line(line, json);
		at = ftell(f);
	}
	clearerr(f);
	fseek(f, at, SEEK_SET);
	free(line);
	fflush(stdout);
}

static bool was_renewed(FILE *f, const char *path)
{
	struct stat old, new;

	return stat(path, &new) == 0 &&
	       (fstat(fileno(f), &old) < 0 || old.st_ino != new.st_ino || old.st_dev != new.st_dev);
}

/* Until the reader goes away. */
static void follow(FILE *f, const char *path, bool json)
{
	const struct timespec pause = {0, FOLLOW_MS * 1000000L};

	while (!ferror(stdout)) {
		nanosleep(&pause, NULL);
		if (!f || was_renewed(f, path)) {
			if (f)
				fclose(f);
			f = fopen(path, "re");
		}
		if (f)
			show_rest(f, json);
	}
}

static int show_log(bool follows, bool json)
{
	char *path = hooklog_path(), *old;
	FILE *f;

	if (!path) {
		log_error("no log: set HOME or MORPH_HOOKS_LOG");
		return EXIT_FAILED;
	}
	old = xasprintf("%s.1", path);
	if ((f = fopen(old, "re"))) {
		show_rest(f, json);
		fclose(f);
	}
	f = fopen(path, "re");
	if (f)
		show_rest(f, json);
	else if (errno != ENOENT)
		log_error("%s: %s", path, strerror(errno));
	if (follows)
		follow(f, path, json);
	else if (f)
		fclose(f);
	free(old);
	free(path);
	return ferror(stdout) ? EXIT_FAILED : 0;
}

static int hooks_log(int argc, char **argv)
{
	bool follows = false, json = false;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-f") || !strcmp(argv[i], "--follow")) {
			follows = true;
		} else if (!strcmp(argv[i], "--json")) {
			json = true;
		} else {
			log_error("hooks log: unknown argument %s", argv[i]);
			return EXIT_USAGE;
		}
	}
	if (json)
		ascii_keep_stdout();
	return show_log(follows, json);
}

static bool is_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

int cmd_hooks(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "", *next = argc > 2 ? argv[2] : "";

	if (is_help(verb) || is_help(next)) {
		fputs(help, stdout);
		return 0;
	}
	if (!strcmp(verb, "run"))
		return hooks_run(argc - 1, argv + 1);
	if (!strcmp(verb, "env") && argc == 2)
		return hooks_env();
	if (!strcmp(verb, "cmake") && argc == 2)
		return hooks_cmake();
	if (!strcmp(verb, "doctor") && argc <= 3)
		return doctor(argc == 3 ? next : ".");
	if (!strcmp(verb, "log"))
		return hooks_log(argc - 1, argv + 1);
	fputs(help, stderr);
	return EXIT_USAGE;
}
