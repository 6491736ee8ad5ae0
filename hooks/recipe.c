#include "hooks/recipe.h"
#include "hooks/ldopt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An argument as it is. '@' where the reader would take it for an input, at
 * the front or behind a first '=', is doubled. */
static void add_literal(struct args *out, const char *s)
{
	const char *at = *s == '@' ? s : strstr(s, "=@");

	if (at && *at == '=')
		at++;
	if (at)
		args_take(out, xasprintf("%.*s@%s", (int)(at - s), s, at));
	else
		args_add(out, s);
}

static void add_verbatim(struct args *out, const struct args *link, const struct ldopt *o)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		add_literal(out, link->v[o->first + i]);
}

static void add_input(
    struct args *out, const struct ldopt *o, const struct recipe_files *f, bool raw)
{
	int64_t id = f->file(f->arg, o->value, raw);

	if (id >= 0)
		args_take(out, xasprintf("@%" PRId64, id));
	else
		add_literal(out, o->value);
}

/* An option with a file. -R takes a folder as well, and -T a name that is
 * searched for with -L: those stay. */
static void add_file_option(struct args *out, const struct args *link, const struct ldopt *o,
    const struct recipe_files *f)
{
	int64_t id = o->value ? f->file(f->arg, o->value, true) : -1;

	if (id < 0) {
		add_verbatim(out, link, o);
	} else if (o->is_long) {
		args_take(out, xasprintf("%.*s=@%" PRId64, (int)o->name_n, o->name, id));
	} else {
		args_take(out, xasprintf("%.*s", (int)o->name_n, o->name));
		args_take(out, xasprintf("@%" PRId64, id));
	}
}

/* An option not in the table may still name a file behind its '='. */
static void add_unknown(struct args *out, const struct args *link, const struct ldopt *o,
    const struct recipe_files *f)
{
	if (o->value && strchr(o->value, '/'))
		add_file_option(out, link, o, f);
	else
		add_verbatim(out, link, o);
}

static void add_folder(struct args *out, const struct ldopt *o, const struct recipe_files *f)
{
	const char *path = o->value ? o->value : "";
	char *dir;

	/* Below the sysroot, which was the root. */
	if (*path == '=')
		path++;
	else if (!strncmp(path, "$SYSROOT", 8))
		path += 8;
	dir = f->folder(f->arg, path);
	if (dir)
		args_take(out, xasprintf("-L=%s", dir));
	free(dir);
}

/* Whether -b says that inputs are what they seem to be. */
static bool usual_format(const struct ldopt *o)
{
	return !o->value || !strcmp(o->value, "default") || !strcmp(o->value, "elf64-x86-64");
}

void recipe_make(struct args *out, const struct args *link, const struct recipe_files *f)
{
	bool raw = false;
	struct ldopt o;
	size_t i = 0;

	while (ldopt_next(link, &i, &o)) {
		switch (o.kind) {
		case LDOPT_INPUT:
			add_input(out, &o, f, raw);
			break;
		case LDOPT_FILE:
			add_file_option(out, link, &o, f);
			break;
		case LDOPT_FOLDER:
			add_folder(out, &o, f);
			break;
		case LDOPT_FORMAT:
			raw = !usual_format(&o);
			add_verbatim(out, link, &o);
			break;
		case LDOPT_UNKNOWN:
			add_unknown(out, link, &o, f);
			break;
		case LDOPT_KEEP:
		case LDOPT_LIBRARY:
		case LDOPT_RELOCATABLE:
			add_verbatim(out, link, &o);
			break;
		case LDOPT_OUTPUT:
		case LDOPT_MAP:
		case LDOPT_DEPENDENCY_FILE:
		case LDOPT_SYSROOT:
		case LDOPT_BUILD_ID:
		case LDOPT_DROP:
		case LDOPT_INQUIRY:
			break;
		}
	}
}
