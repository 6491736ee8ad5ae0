/*
 * morph-cc: runs in place of a compiler driver, by its name (a link called gcc) or
 * by its first argument (morph-cc gcc …, as a compiler launcher). Finds the
 * real driver, adds the folder of the as and ld hooks and becomes it.
 *
 * MORPH_CC_RAN holds the drivers that were found on the way here: a wrapper
 * that itself looks for the compiler in PATH (ccache) comes by again, and must
 * neither be found a second time nor be given the flags twice. MORPH_CLANG
 * tells the as hook whose assembler its text was taken from.
 */
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
	struct args arg = {0};
	enum cccmd_how how;

	if (args_expand(&arg, argc, argv, NULL) < 0)
		return CCCMD_ALONE;
	how = cccmd_read(&arg, cccmd_is_clang(real ? real : driver) || cccmd_is_clang(driver));
	if (how != CCCMD_ALONE && names_tools(&arg)) {
		hooklog("cc", NULL, "not hooked: -B names other tools");
		how = CCCMD_ALONE;
	}
	args_free(&arg);
	free(real);
	return how;
}

int main(int argc, char **argv)
{
	const char *ran = getenv(RAN), *name = path_base(argv[0]);
	enum cccmd_how how = CCCMD_ALONE;
	char *driver, *folder;
	struct args out = {0};
	int i;

	log_init("morph-cc", LOG_LVL_INFO);
	if (!strcmp(name, "morph-cc")) {
		if (argc < 2)
			return usage(stderr, 2);
		if (!strcmp(argv[1], "--help"))
			return usage(stdout, 0);
		argc--;
		argv++;
		name = argv[0];
	}
	driver = find_driver(name, ran);
	if (!driver)
		die(127, "no compiler %s after this one in PATH", name);
	folder = hook_folder();
	if (!folder)
		hooklog("cc", NULL, "not hooked: as and ld are not in ../libexec/morph");
	else if (!ran)
		how = how_to_hook(driver, argc, argv);
	/* The whole path: from a bare name gcc would look itself up in PATH, find
	 * the link to us, and take that for the place where it is installed. */
	args_add(&out, driver);
	if (how != CCCMD_ALONE)
		args_take(&out, xasprintf("-B%s/", folder));
	if (how == CCCMD_HOOK_AS)
		args_add(&out, "-fno-integrated-as");
	for (i = 1; i < argc; i++)
		args_add(&out, argv[i]);
	remember(driver, ran);
	if (how == CCCMD_HOOK_AS)
		setenv("MORPH_CLANG", driver, 1);
	else if (!ran)
		unsetenv("MORPH_CLANG");
	tool_become(driver, args_end(&out));
}
