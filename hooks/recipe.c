#include "hooks/recipe.h"
#include "common/command/ldopt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_verbatim(struct args *out, const struct args *link, const struct ldopt *o)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		args_add(out, link->v[o->first + i]);
}

/* As recipe_check has it of other linkers than GNU ld. */
static void add_canonical(struct args *out, const struct ldopt *o)
{
	bool apart = !o->is_long && o->operand == LDARG_WORD;

	if (!o->value || apart)
		args_take(out, xasprintf("%.*s", (int)o->name_n, o->name));
	if (o->value && apart)
		args_add(out, o->value);
	else if (o->value)
		args_take(out, xasprintf("%.*s%s%s", (int)o->name_n, o->name, o->is_long ? "=" : "",
				   o->value));
}

/* An operand joined to its letter gets an argument of its own where it might
 * be read as part of a name (recipe_check). */
static void add_kept(
    struct args *out, enum linker linker, const struct args *link, const struct ldopt *o)
{
	if (linker != LINKER_GNU) {
		add_canonical(out, o);
	} else if (o->is_long || o->n == 2 || !o->value ||
		   (o->operand != LDARG_SYMBOL && o->operand != LDARG_TEXT)) {
		add_verbatim(out, link, o);
	} else {
		args_take(out, xasprintf("%.*s", (int)o->name_n, o->name));
		args_add(out, o->value);
	}
}

static void add_made(struct args *out, const struct recipe_files *f)
{
	size_t i;

	for (i = 0; i < f->nmade; i++)
		args_take(out, xasprintf("@%" PRId64, f->made[i]));
}

/* What is no file stays, and recipe_check refuses it. */
static void add_input(struct args *out, const struct ldopt *o, const struct recipe_files *f,
    enum recipe_use use, bool *claimed)
{
	int64_t id = f->file(f->arg, o->value, use);

	if (id == RECIPE_CLAIMED) {
		if (!*claimed)
			add_made(out, f);
		*claimed = true;
	} else if (id >= 0) {
		args_take(out, xasprintf("@%" PRId64, id));
	} else if (id != RECIPE_UNUSED) {
		args_add(out, o->value);
	}
}

/* An option with a file. To -R what is none is a folder for run time. */
static void add_file_option(
    struct args *out, const struct args *link, const struct ldopt *o, const struct recipe_files *f)
{
	int64_t id = o->value ? f->file(f->arg, o->value, RECIPE_RAW) : -1;

	if (id >= 0 && o->is_long) {
		args_take(out, xasprintf("%.*s=@%" PRId64, (int)o->name_n, o->name, id));
	} else if (id >= 0) {
		args_take(out, xasprintf("%.*s", (int)o->name_n, o->name));
		args_take(out, xasprintf("@%" PRId64, id));
	} else if (o->kind == LDOPT_SYMBOLS && o->value) {
		args_add(out, "-rpath");
		args_add(out, o->value);
	} else {
		add_verbatim(out, link, o);
	}
}

static void add_folder(struct args *out, const struct ldopt *o, const struct recipe_files *f)
{
	const char *path = o->value ? o->value : "", *sysroot = f->sysroot;
	char *named, *dir;

	if (*path == '=')
		path++;
	else if (!strncmp(path, "$SYSROOT", 8))
		path += 8;
	else
		sysroot = "";
	named = xasprintf("%s%s", sysroot, path);
	dir = f->folder(f->arg, named);
	if (dir)
		args_take(out, xasprintf("-L=%s", dir));
	free(dir);
	free(named);
}

/* Whether -b says that inputs are what they seem to be. */
static bool usual_format(const struct ldopt *o)
{
	return !o->value || !strcmp(o->value, "default") || !strcmp(o->value, "elf") ||
	       !strcmp(o->value, "elf64-x86-64");
}

void recipe_make(
    struct args *out, enum linker linker, const struct args *link, const struct recipe_files *f)
{
	bool raw = false, lazy = false, last = linker == LINKER_MOLD, claimed = last;
	struct ldopt o;
	size_t i = 0;

	while (ldopt_next(linker, (const char *const *)link->v, link->n, &i, &o)) {
		switch (o.kind) {
		case LDOPT_INPUT:
			add_input(out, &o, f,
			    raw    ? RECIPE_RAW
			    : lazy ? RECIPE_LAZY
				   : RECIPE_LINKED,
			    &claimed);
			break;
		case LDOPT_FILE:
		case LDOPT_SYMBOLS:
			add_file_option(out, link, &o, f);
			break;
		case LDOPT_FOLDER:
			add_folder(out, &o, f);
			break;
		case LDOPT_FORMAT:
			raw = !usual_format(&o);
			add_kept(out, linker, link, &o);
			break;
		case LDOPT_KEEP:
			if (ldopt_is(&o, "start-lib") || ldopt_is(&o, "end-lib"))
				lazy = ldopt_is(&o, "start-lib");
			add_kept(out, linker, link, &o);
			break;
		case LDOPT_ENTRY:
		case LDOPT_LIBRARY:
			add_kept(out, linker, link, &o);
			break;
		case LDOPT_RELOCATABLE:
		case LDOPT_REFUSED:
		case LDOPT_UNKNOWN:
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
	if (last)
		add_made(out, f);
	if (*f->sysroot)
		args_take(out, xasprintf(RECIPE_SYSROOT "%s", f->sysroot));
}
