#include "common/command/ldopt.h"

#include <stdlib.h>
#include <string.h>

/* "@N", N below inputs. */
static bool is_input(const char *s, size_t inputs)
{
	size_t digits = *s == '@' ? strspn(s + 1, "0123456789") : 0;

	return digits && digits < 10 && !s[1 + digits] && strtoul(s + 1, NULL, 10) < inputs;
}

static bool printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static bool plain(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		if (s[n] <= ' ' || s[n] >= 0x7f || strchr("/\"'`\\", s[n]))
			return false;
	return n > 0;
}

static bool is_number(const char *s)
{
	/* -G with what begins otherwise is -shared to ld. */
	return *s >= '0' && *s <= '9' && strspn(s, "0123456789abcdefABCDEFxXkKmM") == strlen(s);
}

static bool among(const char *words, const char *s)
{
	size_t n;

	for (; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (words[n - 1] == '=' && !strncmp(words, s, n) && plain(s + n))
			return true;
		if (!strncmp(words, s, n) && !s[n])
			return true;
	}
	return false;
}

static bool fits(const struct ldopt *o, size_t inputs)
{
	const char *v = o->value;
	bool joined = !o->is_long && o->n == 1;

	/* Neither another option nor a response file. */
	if (o->n == 2 && (*v == '-' || (*v == '@' && o->operand != LDARG_FILE)))
		return false;
	switch (o->operand) {
	case LDARG_NUMBER:
		return is_number(v);
	case LDARG_SYMBOL:
		return !joined && plain(v);
	case LDARG_WORD:
		return among(o->words, v);
	case LDARG_TEXT:
		return !joined && printable(v);
	case LDARG_LIBRARY:
		return *v && printable(v) && !strchr(v, '/');
	case LDARG_FOLDER:
		return joined && !strncmp(v, "=/", 2) && printable(v);
	case LDARG_FILE:
		return !joined && is_input(v, inputs);
	case LDARG_NONE:
	case LDARG_ANY:
		break;
	}
	return false;
}

/* What names an input must be one: the reader of recipes (relink) looks
 * for "=@" in every argument. */
static bool no_stray_input(const char *const *arg, const struct ldopt *o)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (strstr(arg[o->first + i], "=@") && o->operand != LDARG_FILE)
			return false;
	return true;
}

/* Where ld does not know a long name after one dash, such as -ctf-variables without
 * CTF, it takes it for letters: -c reads the rest as the name of an MRI script. */
static bool may_be_script(const struct ldopt *o)
{
	return o->is_long && o->name[1] == 'c';
}

/* The one spelling that an option has in recipes of other linkers than GNU ld. */
static bool canonical(const char *const *arg, const struct ldopt *o)
{
	const char *s = arg[o->first];

	if (strncmp(s, o->name, o->name_n))
		return false;
	if (o->is_long)
		return o->n == 1 && s[o->name_n] == (o->value ? '=' : '\0');
	return (o->n == 2) == (o->name[1] == 'm' || o->name[1] == 'z');
}

static bool is_sysroot(const char *s)
{
	size_t n = sizeof RECIPE_SYSROOT - 1;

	return !strncmp(s, RECIPE_SYSROOT, n) && s[n] == '/' && s[strlen(s) - 1] != '/' &&
	       printable(s) && !strstr(s, "/..");
}

static int option_check(
    enum linker linker, const char *const *arg, const struct ldopt *o, size_t inputs, struct err *e)
{
	int n = (int)o->name_n;

	if (o->kind == LDOPT_INPUT)
		return is_input(o->value, inputs)
			   ? 0
			   : err_set(e, "%.200s: not an input that Morph knows", o->value);
	if (!strcmp(arg[o->first], RECIPE_UNNAMED) || is_sysroot(arg[o->first]))
		return 0;
	if (linker == LINKER_GNU && may_be_script(o))
		return err_set(e, "%.*s: not repeated with one dash", n < 200 ? n : 200, o->name);
	if (o->kind >= LDOPT_OUTPUT)
		return err_set(
		    e, "%.*s: not an option that Morph repeats", n < 200 ? n : 200, o->name);
	if (linker != LINKER_GNU && !canonical(arg, o))
		return err_set(e, "%.200s: not spelled %.*s", arg[o->first], n, o->name);
	if (!o->value && (o->operand == LDARG_NONE || o->optional))
		return 0;
	if (!o->value)
		return err_set(e, "%.*s: lacks its operand", n, o->name);
	if (!fits(o, inputs) || !no_stray_input(arg, o))
		return err_set(
		    e, "%.*s %.200s: not an operand that Morph repeats", n, o->name, o->value);
	return 0;
}

int recipe_check(enum linker linker, const char *const *arg, size_t n, size_t inputs, struct err *e)
{
	struct ldopt o;
	size_t i = 0;

	if (linker == LINKER_UNKNOWN)
		return err_set(e, "not a linker this can link with again");
	while (ldopt_next(linker, arg, n, &i, &o))
		if (option_check(linker, arg, &o, inputs, e))
			return -1;
	return 0;
}

const char *recipe_name_fault(const char *name, bool shared)
{
	if (!printable(name))
		return "a control character in its name";
	return shared && strchr(name, ':') ? "a shared library with ':' in its path" : NULL;
}
