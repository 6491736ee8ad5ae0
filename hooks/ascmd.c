#include "hooks/ascmd.h"
#include "common/command/asopt.h"

#include <string.h>

static void ascmd_input(struct ascmd *c, const char *name, int *inputs)
{
	if (++*inputs > 1)
		c->why = c->why ? c->why : "several inputs";
	else
		c->input = *name ? name : NULL;
}

/* The value of an option -XVALUE or -X VALUE. */
static const char *value_of(const struct args *arg, size_t *i)
{
	if (arg->v[*i][2])
		return arg->v[*i] + 2;
	return *i + 1 < arg->n ? arg->v[++*i] : "";
}

static bool begins(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* What is not repeated, and why that is so where it is not plain. */
static void refuse(struct ascmd *c, const char *s)
{
	if (c->why)
		return;
	c->why = s;
	if (!strcmp(s, "--32") || !strcmp(s, "--x32"))
		c->because = "not 64-bit code";
	else if (begins(s, "-mbranches-within-") || begins(s, "-malign-branch"))
		c->because = "as then pads jumps by where they lie, which another layout changes";
	else if (begins(s, "-mlfence-") || begins(s, "-mmnemonic=") || begins(s, "-msyntax="))
		c->because = "as then makes other instructions than the text says";
	else
		c->because = "not an option that Morph repeats";
}

static void take_option(struct ascmd *c, const char *s)
{
	enum asopt kind = asopt_kind(s);

	if (kind == ASOPT_KEEP || kind == ASOPT_DEBUG) {
		c->debug |= kind == ASOPT_DEBUG;
		args_add(&c->kept, s);
	} else {
		c->silent |= !c->why && kind == ASOPT_INQUIRY;
		refuse(c, s);
	}
}

void ascmd_read(struct ascmd *c, const struct args *arg)
{
	int inputs = 0;
	const char *s;
	size_t i;

	*c = (struct ascmd){0};
	for (i = 0; i < arg->n; i++) {
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
		} else {
			take_option(c, s);
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
