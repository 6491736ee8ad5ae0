#include "hooks/ascmd.h"

#include <string.h>

static const char *const harmless[] = {"--64", "--noexecstack", "--execstack",
    "--fatal-warnings", "--warn", "--no-warn", "-W", "-Qy", "-Qn", "-s", "-q",
    "--nocompress-debug-sections", "--compress-debug-sections", NULL};
/* With their value behind '='. */
static const char *const harmless_value[] = {"--compress-debug-sections=", "-march=", "-mtune=",
    "-mrelax-relocations=", "-mx86-used-note=", "--generate-missing-build-notes=", NULL};
static const char *const debug[] = {
    "-g", "--gdwarf-2", "--gdwarf-3", "--gdwarf-4", "--gdwarf-5", NULL};
static const char *const inquiry[] = {"--version", "--help", "--target-help", "--statistics", NULL};

static bool begins_with_one_of(const char *const *list, const char *s)
{
	for (; *list; list++)
		if (!strncmp(*list, s, strlen(*list)))
			return true;
	return false;
}

static void ascmd_input(struct ascmd *c, const char *name, int *inputs)
{
	if (++*inputs > 1)
		c->why = "several inputs";
	c->input = *name ? name : NULL;
}

/* The value of an option -XVALUE or -X VALUE. */
static const char *value_of(const struct args *arg, size_t *i)
{
	if (arg->v[*i][2])
		return arg->v[*i] + 2;
	return *i + 1 < arg->n ? arg->v[++*i] : "";
}

void ascmd_read(struct ascmd *c, const struct args *arg)
{
	int inputs = 0;
	const char *s;
	size_t i;

	*c = (struct ascmd){0};
	for (i = 0; i < arg->n && !c->why; i++) {
		s = arg->v[i];
		if (*s != '-' || !strcmp(s, "-") || !strcmp(s, "--")) {
			ascmd_input(c, *s == '-' ? "" : s, &inputs);
		} else if (s[1] == 'o') {
			c->output = value_of(arg, &i);
		} else if (s[1] == 'I') {
			args_add(&c->search, "-I");
			args_add(&c->search, value_of(arg, &i));
		} else if (!strcmp(s, "-v")) {
			c->verbose = true;
		} else if (args_among(debug, s)) {
			c->debug = true;
			args_add(&c->kept, s);
		} else if (args_among(harmless, s) || begins_with_one_of(harmless_value, s)) {
			args_add(&c->kept, s);
		} else {
			c->silent = args_among(inquiry, s);
			c->why = s;
		}
	}
	if (!c->why && (!c->output || !*c->output))
		c->why = "no output named";
}

void ascmd_free(struct ascmd *c)
{
	args_free(&c->kept);
	args_free(&c->search);
}
