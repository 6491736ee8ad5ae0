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
 * MORPH_CLANG tells the as hook whose assembler its text was taken from, and MORPH_LD the ld hook
 * which linker the driver would have run where that is not the first of its name in PATH.
 */
#include "common/command/driver.h"
#include "common/hooklog.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "hooks/cccmd.h"
#include "hooks/tool.h"
#include "hooks/unitcmd.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* The folder that a -B at i names, NULL = it is none. */
static const char *own_folder(const struct args *arg, size_t i)
{
	if (strncmp(arg->v[i], "-B", 2))
		return NULL;
	return arg->v[i][2] ? arg->v[i] + 2 : i + 1 < arg->n ? arg->v[i + 1] : ".";
}

static char *program_in(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	if (!access(path, X_OK))
		return path;
	free(path);
	return NULL;
}

/* Whether folder has such a program, and not the hook of that name. */
static bool has_other(const char *folder, const char *hooks, const char *name)
{
	char *path = program_in(folder, name), *hook, *it, *own;
	bool other = path != NULL;

	if (path) {
		hook = program_in(hooks, name);
		it = tool_identity(path);
		own = tool_identity(hook ? hook : "");
		other = strcmp(it, own);
		free(hook);
		free(it);
		free(own);
	}
	free(path);
	return other;
}

/* Whether the command names tools of its own: -B DIR with an as or ld in it
 * (mold is chosen so). They are meant to be used. */
static bool names_tools(const struct args *arg, const char *hooks)
{
	const char *dir;
	size_t i;

	for (i = 0; i < arg->n; i++)
		if ((dir = own_folder(arg, i)) &&
		    (has_other(dir, hooks, "as") || has_other(dir, hooks, "ld")))
			return true;
	return false;
}

/* ---- the linker ---- */

struct linking {
	char *real;    /* which the driver would run, NULL = the first of its name in PATH */
	char *option;  /* the argument that names it by a path, NULL = none; ... */
	char *instead; /* ... and the one to give */
	char *folder;  /* another one with hooks, where the first has none of its name */
};

static bool is_ld_hook(const char *path, const void *hook)
{
	char *id = tool_identity(path);
	bool is = *id && !strcmp(id, hook);

	free(id);
	return is;
}

/* The ld hook under this name, in the hooks' folder or in that of hooks run; NULL = none. */
static char *hook_named(const char *name, const char *folder)
{
	char *path = program_in(folder, name), *ld, *id;

	if (path)
		return path;
	ld = xasprintf("%s/ld", folder);
	id = tool_identity(ld);
	path = places_search(name, is_ld_hook, id);
	free(ld);
	free(id);
	return path;
}

/* Folders of -B and, to clang, its own come before PATH. */
static char *before_path(const struct args *arg, const char *clang, const char *name)
{
	char *found = NULL, *folder;
	const char *dir;
	size_t i;

	for (i = 0; i < arg->n && !found; i++)
		if ((dir = own_folder(arg, i)))
			found = program_in(dir, name);
	if (!found && clang) {
		folder = path_dir(clang);
		found = program_in(folder, name);
		free(folder);
	}
	return found;
}

static void find_linker(
    struct linking *l, const struct args *arg, const char *clang, const char *folder)
{
	const char *option;
	char *name = cccmd_linker(arg, clang != NULL, &option);
	char *hook = hook_named(path_base(name), folder);

	l->real = strchr(name, '/') ? xstrdup(name) : before_path(arg, clang, name);
	if (!hook && hooklog_first(path_base(name)))
		hooklog("cc", NULL, "linker not hooked: %s", name);
	if (hook && option) {
		l->option = xstrdup(option);
		l->instead = xasprintf("%.*s=%s", (int)strcspn(option, "="), option, hook);
	}
	if (hook && !option) {
		l->folder = path_dir(hook);
		if (!strcmp(l->folder, folder)) {
			free(l->folder);
			l->folder = NULL;
		}
	}
	free(hook);
	free(name);
}

static void announce_linker(const struct linking *l)
{
	if (l->real)
		setenv("MORPH_LD", l->real, 1);
	else if (!getenv(GIVEN))
		unsetenv("MORPH_LD");
}

static bool is_hooked_folder(const char *folder, size_t n, const char *hook)
{
	char *as = xasprintf("%.*s/as", (int)n, folder), *id = tool_identity(as);
	bool is = *id && !strcmp(id, hook);

	free(as);
	free(id);
	return is;
}

/* What a configure script asks for gets the real tools at once: no hook is in PATH. */
static void leave_path(const char *folder)
{
	const char *p = getenv("PATH"), *end;
	char *as = xasprintf("%s/as", folder), *hook = tool_identity(as);
	struct buf kept = {0};
	bool any = false;

	for (; p; p = *end ? end + 1 : NULL) {
		end = p + strcspn(p, ":");
		if (is_hooked_folder(p, (size_t)(end - p), hook))
			continue;
		buf_printf(&kept, "%s%.*s", any ? ":" : "", (int)(end - p), p);
		any = true;
	}
	if (any)
		setenv("PATH", buf_cstr(&kept), 1);
	buf_free(&kept);
	free(hook);
	free(as);
}

/* In the working directory. */
static bool is_probe(const struct args *arg)
{
	char *here = getcwd(NULL, 0);
	bool is = here && cccmd_probes(arg, here);

	free(here);
	return is;
}

static enum cccmd_how how_to_hook(
    const char *driver, const char *folder, int argc, char **argv, struct linking *l)
{
	char *real = realpath(driver, NULL);
	const char *why = NULL;
	struct args arg = {0};
	enum cccmd_how how;
	bool clang;

	if (args_expand(&arg, argc, argv, NULL) < 0)
		return CCCMD_ALONE;
	clang = cccmd_is_clang(real ? real : driver) || cccmd_is_clang(driver);
	how = cccmd_read(&arg, clang, &why);
	if (how != CCCMD_ALONE && is_probe(&arg)) {
		hooklog_first(HOOKLOG_PROBE);
		leave_path(folder);
		how = CCCMD_ALONE;
		why = NULL;
	}
	if (how != CCCMD_ALONE && names_tools(&arg, folder)) {
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
	if (how != CCCMD_ALONE)
		find_linker(l, &arg, !clang ? NULL : real ? real : driver, folder);
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
static _Noreturn void become(char *driver, enum cccmd_how how, const char *folder,
    const struct linking *l, int at, int argc, char **argv)
{
	struct args out = {0};
	int i;

	/* The whole path: from a bare name gcc would look itself up in PATH, find
	 * the link to us, and take that for the place where it is installed. */
	args_add(&out, driver);
	for (i = 1; i < argc; i++) {
		if (i == at + 1 && how != CCCMD_ALONE)
			args_take(&out, xasprintf("-B%s/", folder));
		if (i == at + 1 && how != CCCMD_ALONE && l->folder)
			args_take(&out, xasprintf("-B%s/", l->folder));
		if (i == at + 1 && how == CCCMD_HOOK_AS)
			args_add(&out, "-fno-integrated-as");
		args_add(&out, l->instead && !strcmp(argv[i], l->option) ? l->instead : argv[i]);
	}
	tool_become(driver, args_end(&out));
}

/* ---- one unit of clang's ---- */

static void remove_file(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		unlink(path);
}

/* The as hook on the text in this file; what as says is printed where it made the object. */
static int assemble(const char *folder, int text, const char *output)
{
	char *as = xasprintf("%s/as", folder), *input = xasprintf("/proc/self/fd/%d", text);
	const char *argv[] = {as, "--64", "-o", output, input, NULL};
	struct buf said = {0};
	int r = spawn_run(&(struct spawn){.argv = argv, .capture_err = &said}, NULL);

	if (!r && said.n)
		(void)file_write_all(STDERR_FILENO, said.p, said.n);
	buf_free(&said);
	free(input);
	free(as);
	return r;
}

/* Ends with what clang said of the source, or where the object is made. Returns false: it is
 * another kind of command; true: as did not take the text. Clang by itself then may, or says why in
 * terms of the source. */
static bool compile_unit(const char *clang, const char *folder, int argc, char **argv)
{
	struct args arg = {0}, command = {0};
	struct unitcmd unit;
	int text, r;
	size_t i;

	if (args_expand(&arg, argc, argv, NULL) < 0 || !unitcmd_read(&unit, &arg))
		return false;
	text = tool_memory_file("text");
	args_add(&command, clang);
	for (i = 0; i < unit.text.n; i++)
		args_add(&command, unit.text.v[i]);
	r = text < 0 ? -1
		     : spawn_run(&(struct spawn){.argv = (const char *const *)args_end(&command),
				     .out = text},
			   NULL);
	if (r > 0)
		remove_file(unit.output);
	if (r > 0 || (r == 0 && !assemble(folder, text, unit.output)))
		exit(r);
	unitcmd_free(&unit);
	args_free(&command);
	args_free(&arg);
	close(text);
	return true;
}

int main(int argc, char **argv)
{
	const char *ran = getenv(RAN);
	enum cccmd_how how = CCCMD_ALONE;
	char *driver, *compiler, *folder;
	bool itself = !strcmp(path_base(argv[0]), "morph-cc");
	struct linking linking = {0};
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
		how = how_to_hook(compiler, folder, argc - at, argv + at, &linking);
	if (how != CCCMD_ALONE)
		name_to_ccache(folder);
	remember(driver, ran);
	if (how == CCCMD_HOOK_AS)
		setenv("MORPH_CLANG", compiler, 1);
	else if (!getenv(GIVEN))
		unsetenv("MORPH_CLANG");
	announce_linker(&linking);
	if (at >= 0)
		setenv(GIVEN, "1", 1);
	if (how == CCCMD_HOOK_AS && !at && !env_value("DEPENDENCIES_OUTPUT") &&
	    compile_unit(driver, folder, argc, argv))
		how = CCCMD_ALONE;
	become(driver, how, folder, &linking, at, argc, argv);
}
