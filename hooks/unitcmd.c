#include "hooks/unitcmd.h"
#include "hooks/cccmd.h"
#include "common/publish.h"

#include <stdlib.h>
#include <string.h>

struct seen {
	const char *output, *source;
	bool objects;            /* -c */
	bool depends;            /* -MD, -MMD */
	bool depfile, deptarget; /* named */
	bool other;
};

static bool begins(const char *s, const char *const *list)
{
	for (; *list && strncmp(s, *list, strlen(*list)); list++)
		;
	return *list;
}

/* That change the code at most, or are of no use where nothing is linked. */
static bool harmless(const char *s)
{
	static const char *const whole[] = {"-pipe", "-pthread", "-pg", "-pedantic",
	    "-pedantic-errors", "-ansi", "-w", "-s", "-shared", "-static", "-rdynamic", "-MP",
	    "-MG", "-Qunused-arguments", NULL};
	static const char *const known[] = {"-O", "-D", "-U", "-I", "-L", "-l", "-W", "-f", "-m",
	    "-g", "-std", "-nostd", "--sysroot=", "--target=", "-isystem", "-iquote", "-idirafter",
	    "-include", "-imacros", NULL};
	static const char *const files[] = {"-Wa,", "-Wp,", "-flto", "-fthin", "-fdump", "-fembed",
	    "-fsave-", "-foptimization-record", "-ftime-", "-fprofile", "-fcs-profile",
	    "-fcoverage", "-ftest-coverage", "-fmodule", "-fstack-usage", "-frecord", "-fproc-stat",
	    "-fcrash", "-fsplit", "-foffload", "-fsycl", "-fopenmp-targets", "-grecord", "-gsplit",
	    "-gz", NULL};

	return args_among(whole, s) || (begins(s, known) && !begins(s, files));
}

static void look_at(struct seen *t, const char *s, const char *value)
{
	static const char *const language[] = {"c", "c++", NULL};

	if (!strcmp(s, "-c")) {
		t->objects = true;
	} else if (!strcmp(s, "-MD") || !strcmp(s, "-MMD")) {
		t->depends = true;
	} else if (!strncmp(s, "-MF", 3)) {
		t->depfile = true;
	} else if (!strncmp(s, "-MT", 3) || !strncmp(s, "-MQ", 3)) {
		t->deptarget = true;
	} else if (!strncmp(s, "-x", 2)) {
		t->other |= !args_among(language, value);
	} else if (*s == '-') {
		t->other |= !harmless(s);
	} else {
		t->other |= t->source || !cccmd_is_source(s);
		t->source = s;
	}
}

/* The file beside the object, or beside where it would be made of the source. */
static char *with_suffix(const char *path, const char *suffix)
{
	const char *dot = strrchr(path_base(path), '.');

	return xasprintf("%.*s%s", (int)(dot ? (size_t)(dot - path) : strlen(path)), path, suffix);
}

static char *object_of(const struct seen *t)
{
	return t->output ? xstrdup(t->output) : with_suffix(path_base(t->source), ".o");
}

static void finish(struct unitcmd *u, const struct seen *t)
{
	args_add(&u->text, "-S");
	args_add(&u->text, "-fno-integrated-as");
	if (t->depends && !t->depfile) {
		args_add(&u->text, "-MF");
		args_take(&u->text, with_suffix(u->output, ".d"));
	}
	if (t->depends && !t->deptarget) {
		args_add(&u->text, "-MQ");
		args_add(&u->text, u->output);
	}
	args_add(&u->text, "-o");
	args_add(&u->text, "-");
}

bool unitcmd_read(struct unitcmd *u, const struct args *arg)
{
	struct seen t = {0};
	const char *s, *value;
	bool apart;
	size_t i;

	memset(u, 0, sizeof *u);
	for (i = 0; i < arg->n; i++) {
		s = arg->v[i];
		apart = cccmd_takes_value(s) || !strcmp(s, "-x");
		value = apart                 ? arg->v[i + 1 < arg->n ? i + 1 : i]
			: s[0] == '-' && s[1] ? s + 2
					      : "";
		if (!strncmp(s, "-o", 2))
			t.output = value;
		else
			look_at(&t, s, value);
		if (strcmp(s, "-c") && strncmp(s, "-o", 2)) {
			args_add(&u->text, s);
			if (apart)
				args_add(&u->text, value);
		}
		i += apart;
	}
	if (t.other || !t.objects || !t.source || (t.output && *path_base(t.output) == '.')) {
		args_free(&u->text);
		return false;
	}
	u->output = object_of(&t);
	finish(u, &t);
	return true;
}

void unitcmd_free(struct unitcmd *u)
{
	args_free(&u->text);
	free(u->output);
}
