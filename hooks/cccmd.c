#include "hooks/cccmd.h"
#include "common/command/driver.h"
#include "common/publish.h"
#include "hooks/paths.h"
#include "hooks/probe.h"

#include <stdlib.h>
#include <string.h>

/* Stops before the assembler, or only prints. */
static const char *const stops[] = {"-E", "-S", "-M", "-MM", "-fsyntax-only", "-###", "--version",
    "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs", "--analyze", "-cc1", "-cc1as",
    "-emit-ast", "--precompile", "-emit-llvm", NULL};
/* clang: another way to objects was chosen, or one that as has no part in. */
static const char *const chosen[] = {"-fintegrated-as", "-integrated-as", "-fno-integrated-as",
    "-no-integrated-as", "-gsplit-dwarf", "-m32", "-mx32", "-m16", NULL};

static const char USE[] = "-fuse-ld=", PATH[] = "--ld-path=";

static bool ends_in(const char *s, const char *const *suffix)
{
	const char *dot = strrchr(path_base(s), '.');

	return dot && args_among(suffix, dot + 1);
}

bool cccmd_takes_value(const char *s)
{
	static const char *const list[] = {"-o", "-I", "-L", "-D", "-U", "-include", "-imacros",
	    "-isystem", "-iquote", "-idirafter", "-iprefix", "-isysroot", "-MF", "-MT", "-MQ",
	    "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm", "-T", "-u", "-z",
	    "-e", "-target", "-arch", "-aux-info", "--param", "-l", "-framework", "-B", NULL};

	return args_among(list, s);
}

bool cccmd_is_source(const char *s)
{
	static const char *const list[] = {"c", "i", "cc", "cpp", "cxx", "c++", "C", "CPP", "cp",
	    "ii", "m", "mm", "mi", "mii", NULL};

	return !strcmp(s, "-") || ends_in(s, list);
}

static bool is_assembly(const char *s)
{
	static const char *const list[] = {"s", "S", "sx", NULL};

	return ends_in(s, list);
}

struct seen {
	bool source, assembly, language, elsewhere;
	const char *chosen; /* the option for which clang assembles by itself */
};

static void look_at(struct seen *t, const char *s, const char *next)
{
	if (!strncmp(s, "-x", 2)) {
		t->language = true;
		if (s[2] ? !strncmp(s + 2, "assembler", 9) : next && !strncmp(next, "assembler", 9))
			t->assembly = true;
	} else if (!strncmp(s, "--target=", 9) || !strcmp(s, "-target")) {
		t->elsewhere = !strstr(s[1] == '-' ? s + 9 : next ? next : "", "x86_64");
	} else if (s[0] != '-' || !s[1]) {
		t->source |= cccmd_is_source(s);
		t->assembly |= is_assembly(s);
	}
}

enum cccmd_how cccmd_read(const struct args *arg, bool clang, const char **why)
{
	struct seen t = {0};
	size_t i;

	*why = NULL;
	for (i = 0; i < arg->n; i++) {
		if (args_among(stops, arg->v[i]) || !strncmp(arg->v[i], "-print-", 7) ||
		    !strncmp(arg->v[i], "--print-", 8) || !strncmp(arg->v[i], "--help", 6))
			return CCCMD_ALONE;
		if (clang && args_among(chosen, arg->v[i]))
			t.chosen = arg->v[i];
		look_at(&t, arg->v[i], i + 1 < arg->n ? arg->v[i + 1] : NULL);
		if (cccmd_takes_value(arg->v[i]))
			i++;
	}
	if (t.elsewhere)
		return CCCMD_ALONE;
	if (!clang || t.assembly || !(t.source || t.language))
		return CCCMD_HOOK;
	if (t.chosen && !strstr(t.chosen, "no-integrated-as"))
		*why = t.chosen;
	return t.chosen ? CCCMD_HOOK : CCCMD_HOOK_AS;
}

bool cccmd_probes(const struct args *arg, const char *folder)
{
	bool probes = false, others = false, is;
	const char *s, *output = NULL;
	char *path;
	size_t i;

	for (i = 0; i < arg->n; i++) {
		s = arg->v[i];
		if (!strncmp(s, "-o", 2) && (s[2] || i + 1 < arg->n)) {
			output = s[2] ? s + 2 : arg->v[++i];
		} else if (cccmd_takes_value(s)) {
			i++;
		} else if (s[0] != '-') {
			is = probe_source(s);
			probes |= is;
			others |= !is;
		}
	}
	if (!output)
		return probes && !others;
	path = path_lexical(folder, output);
	is = probe_output(path);
	free(path);
	return is;
}

char *cccmd_linker(const struct args *arg, bool clang, const char **option)
{
	const char *use = NULL, *path = NULL, *s;
	size_t i;

	for (i = 0; i < arg->n; i++) {
		s = arg->v[i];
		if (!strncmp(s, USE, sizeof USE - 1))
			use = s;
		else if (clang && !strncmp(s, PATH, sizeof PATH - 1))
			path = s;
		else if (cccmd_takes_value(s))
			i++;
	}
	*option = path ? path : use;
	if (*option && !strchr(*option, '/'))
		*option = NULL;
	if (path)
		return xstrdup(path + sizeof PATH - 1);
	if (!use || !use[sizeof USE - 1] || !strcmp(use, "-fuse-ld=ld"))
		return xstrdup("ld");
	use += sizeof USE - 1;
	return strchr(use, '/') ? xstrdup(use) : xasprintf("ld.%s", use);
}

int cccmd_compiler(int argc, char **argv)
{
	/* Launchers with options of their own; others are followed by the compiler at once. */
	static const char *const launchers[] = {"ccache", "sccache", "distcc", "icecc", "env",
	    "nice", "ionice", "chrt", "taskset", "time", "timeout", "stdbuf", NULL};
	bool options = false;
	int i;

	for (i = 0; i < argc; i++) {
		if (driver_name(path_base(argv[i])))
			return i;
		if (args_among(launchers, path_base(argv[i])))
			options = true;
		else if (*argv[i] == '-' && !options)
			break;
	}
	return -1;
}

bool cccmd_is_clang(const char *path)
{
	return strstr(path_base(path), "clang") != NULL;
}
