/*
 * morph-cc: runs in place of a compiler driver, by its name (a link called gcc) or
 * by its first argument (morph-cc gcc …, as a compiler launcher). Finds the
 * real driver, adds the folder of the as and ld hooks and becomes it. Other
 * launchers may come first (morph-cc ccache gcc …): the compiler's name tells where
 * its arguments begin. What has no such name gets no argument that it might not
 * know: the hooks come first in its PATH, where GCC looks for as and ld.
 *
 * MORPH_CC_RAN holds the drivers that were found on the way here: a wrapper
 * that itself looks for the compiler in PATH (ccache) comes by again, and must
 * not be found a second time. MORPH_CC_GIVEN says that the flags are there already.
 * MORPH_CLANG tells the as hook whose assembler its text was taken from.
 */
#include "common/command/driver.h"
#include "common/hooklog.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"
#include "hooks/cccmd.h"
#include "hooks/tool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RAN "MORPH_CC_RAN"
#define GIVEN "MORPH_CC_GIVEN"

static int usage(FILE *to, int status)
{
	fputs("usage: morph-cc COMPILER [ARGUMENT…]\n"
	      "or as COMPILER through a link of that name, see morphctl hooks run.\n"
	      "Runs the compiler with Morph's as and ld in place of the real ones.\n",
	    to);
	return status;
}

/* The real driver for a name or path. */
static char *find_driver(const char *name, const char *ran)
{
	char *own, *given;
	bool itself;

	if (strchr(name, '/')) {
		own = tool_identity("/proc/self/exe");
		given = tool_identity(name);
		itself = !strcmp(own, given) || (*given && ran && strstr(ran, given));
		free(own);
		free(given);
		if (!itself)
			return xstrdup(name);
	}
	return tool_find(path_base(name), NULL, ran);
}

/* LIBEXEC/morph/, whether in a build tree or installed; NULL = incomplete. */
static char *hook_folder(void)
{
	char *folder = places_own("../libexec/morph"), *as, *ld;

	if (!folder)
		return NULL;
	as = xasprintf("%s/as", folder);
	ld = xasprintf("%s/ld", folder);
	if (access(as, X_OK) < 0 || access(ld, X_OK) < 0) {
		free(folder);
		folder = NULL;
	}
	free(as);
	free(ld);
	return folder;
}

static void remember(const char *driver, const char *ran)
{
	char *id = tool_identity(driver), *all = xasprintf("%s%s", ran ? ran : "", id);

	setenv(RAN, all, 1);
	free(id);
	free(all);
}

/* Whether the command names tools of its own: -B DIR with an as or ld in it
 * (mold is chosen so). They are meant to be used. */
static bool names_tools(const struct args *arg)
{
	const char *dir;
	bool found = false;
	char *as, *ld;
	size_t i;

	for (i = 0; i < arg->n && !found; i++) {
		if (strncmp(arg->v[i], "-B", 2))
			continue;
		dir = arg->v[i][2] ? arg->v[i] + 2 : i + 1 < arg->n ? arg->v[i + 1] : ".";
		as = xasprintf("%s/as", dir);
		ld = xasprintf("%s/ld", dir);
		found = access(as, X_OK) == 0 || access(ld, X_OK) == 0;
		free(as);
		free(ld);
	}
	return found;
}

static enum cccmd_how how_to_hook(const char *driver, int argc, char **argv)
{
	char *real = realpath(driver, NULL);
	const char *why = NULL;
	struct args arg = {0};
	enum cccmd_how how;

	if (args_expand(&arg, argc, argv, NULL) < 0)
		return CCCMD_ALONE;
	how =
	    cccmd_read(&arg, cccmd_is_clang(real ? real : driver) || cccmd_is_clang(driver), &why);
	if (how != CCCMD_ALONE && names_tools(&arg)) {
		hooklog("cc", NULL, "not hooked: -B names other tools");
		how = CCCMD_ALONE;
	}
	if (why && hooklog_first(why))
		hooklog(
		    "cc", NULL, "not annotated: clang was given %s and assembles by itself", why);
	if (how == CCCMD_HOOK_AS && getenv(HOOKLOG_RUN) && hooklog_first("clang"))
		hooklog("cc", NULL,
		    "code of clang is that of clang -fno-integrated-as: GNU as pads otherwise than "
		    "clang's own assembler");
	args_free(&arg);
	free(real);
	return how;
}

/* Puts front before the list of a variable. */
static void prepend(const char *variable, const char *front)
{
	const char *v = env_value(variable);
	char *all = v ? xasprintf("%s:%s", front, v) : xstrdup(front);

	if (!v || strncmp(v, front, strlen(front)))
		setenv(variable, all, 1);
	free(all);
}

/* What ccache, if it comes next, has to hash: objects made with another hook, or with
 * none, are others. */
static void name_to_ccache(const char *folder)
{
	char *as = xasprintf("%s/as", folder);

	prepend("CCACHE_EXTRAFILES", as);
	free(as);
}

static void hook_by_path(const char *name, const char *folder)
{
	const char *path = getenv("PATH");

	setenv("PATH", path ? path : "/usr/local/bin:/usr/bin:/bin", 1);
	prepend("PATH", folder);
	if (driver_caller(name))
		prepend("COMPILER_PATH", folder);
	else if (hooklog_first(name))
		hooklog("cc", NULL,
		    "%s is not known as a gcc or clang: hooked only where it finds as and ld in "
		    "PATH",
		    name);
}

/* Ends in the driver, or launcher, argv[0]; at: as cccmd_compiler() says. */
static _Noreturn void become(
    char *driver, enum cccmd_how how, const char *folder, int at, int argc, char **argv)
{
	struct args out = {0};
	int i;

	/* The whole path: from a bare name gcc would look itself up in PATH, find
	 * the link to us, and take that for the place where it is installed. */
	args_add(&out, driver);
	for (i = 1; i < argc; i++) {
		if (i == at + 1 && how != CCCMD_ALONE)
			args_take(&out, xasprintf("-B%s/", folder));
		if (i == at + 1 && how == CCCMD_HOOK_AS)
			args_add(&out, "-fno-integrated-as");
		args_add(&out, argv[i]);
	}
	tool_become(driver, args_end(&out));
}

int main(int argc, char **argv)
{
	const char *ran = getenv(RAN);
	enum cccmd_how how = CCCMD_ALONE;
	char *driver, *compiler, *folder;
	bool itself = !strcmp(path_base(argv[0]), "morph-cc");
	int at;

	log_init("morph-cc", LOG_LVL_INFO);
	for (; argc && !strcmp(path_base(argv[0]), "morph-cc"); argc--)
		argv++;
	if (itself && !argc)
		return usage(stderr, 2);
	if (itself && !strcmp(argv[0], "--help"))
		return usage(stdout, 0);
	driver = find_driver(argv[0], ran);
	if (!driver)
		die(127, "no compiler %s after this one in PATH", argv[0]);
	at = cccmd_compiler(argc, argv);
	compiler = at > 0 ? find_driver(argv[at], ran) : driver;
	folder = hook_folder();
	if (!folder)
		hooklog("cc", NULL, "not hooked: as and ld are not in ../libexec/morph");
	else if (at < 0)
		hook_by_path(path_base(argv[0]), folder);
	else if (compiler && !getenv(GIVEN))
		how = how_to_hook(compiler, argc - at, argv + at);
	if (how != CCCMD_ALONE)
		name_to_ccache(folder);
	remember(driver, ran);
	if (how == CCCMD_HOOK_AS)
		setenv("MORPH_CLANG", compiler, 1);
	else if (!getenv(GIVEN))
		unsetenv("MORPH_CLANG");
	if (at >= 0)
		setenv(GIVEN, "1", 1);
	become(driver, how, folder, at, argc, argv);
}
