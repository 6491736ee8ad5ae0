#include "editor-driver/link/relink.h"
#include "common/command/ldopt.h"
#include "common/publish.h"
#include "editor-driver/os/run.h"
#include "editor-driver/link/runtime.h"
#include "editor-driver/link/symbolorder.h"
#include "editor-driver/link/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_MORPH_ORIGIN = 1, NOTE_MORPH_COUNTED = 2 };

/* Others read other things out of the same recipe. */
static int right_linker(const struct relinker *r, struct err *e)
{
	char *real = realpath(r->ld, NULL);
	enum linker is = real ? linker_of_program(real) : LINKER_UNKNOWN;

	if (is != r->linker)
		err_set(e, "%s: not %s, with which this was linked", real ? real : r->ld,
		    linker_name(r->linker));
	free(real);
	return is == r->linker ? 0 : -1;
}

/* Objects that LTO made during the link are called OUTPUT.ltransN.o. */
static bool has_ltrans(struct artifact *a)
{
	static const char mark[] = ".ltrans";
	const struct art_input *in;
	size_t i, n = artifact_inputs(a, &in);
	const char *s;

	for (i = 0; i < n; i++) {
		for (s = in[i].path; (s = strstr(s, mark)); s++)
			if (!strcmp(s + sizeof mark - 1 + strspn(s + sizeof mark - 1, "0123456789"),
				".o"))
				return true;
	}
	return false;
}

/* What a recipe has that is no argument of every link. */
static void read_recipe(struct relinker *r, struct artifact *a)
{
	const char *const *recipe;
	size_t i, n = artifact_recipe(a, &recipe), k = strlen(RECIPE_SYSROOT);

	r->sysroot = "";
	for (i = 0; i < n; i++) {
		r->unnamed |= !strcmp(recipe[i], RECIPE_UNNAMED);
		if (!strncmp(recipe[i], RECIPE_SYSROOT, k))
			r->sysroot = recipe[i] + k;
	}
}

int relink_open(struct relinker *r, struct artifact *a, struct err *e)
{
	const char *name = artifact_meta(a)->ld;

	/* The artifact names the linker, but may not choose any other program. */
	*r = (struct relinker){.linker = linker_named(name)};
	if (r->linker == LINKER_UNKNOWN)
		return err_set(
		    e, "linked with \"%s\": not a linker this can link with again", name);
	r->proof.own_padding = r->linker == LINKER_GOLD || r->linker == LINKER_MOLD;
	r->proof.reorders = has_ltrans(a);
	read_recipe(r, a);
	r->ld = tool_find(name, e);
	r->ar = r->ld ? tool_find("ar", e) : NULL;
	if (!r->ar || right_linker(r, e))
		return -1;
	return tool_version(r->ld, &r->tools, e);
}

void relink_close(struct relinker *r)
{
	free(r->ld);
	free(r->ar);
	*r = (struct relinker){0};
}

/* "@N" and "NAME=@N" (common/artifact/artifact.h), with "-L=/dir" made walkable. The
 * rest is what recipe_check knows. */
static char *expand(const struct relinker *r, const char *arg, const struct tree *t,
    struct arena *mem, struct err *e)
{
	const char *at = *arg == '@' ? arg : strstr(arg, "=@");
	unsigned long n;
	char *dir;

	if (!strncmp(arg, "-L=/", 4)) {
		dir = tree_folder(t->root, arg + 3, e);
		if (!dir)
			return NULL;
		free(dir);
		if (r->linker == LINKER_GOLD || *r->sysroot) /* gold does not know the '=' */
			return arena_printf(mem, "-L%s%s", t->root, arg + 3);
	}
	if (!at)
		return arena_strdup(mem, arg);
	at += *at == '=';
	n = strtoul(at + 1, NULL, 10);
	if (n >= t->n || !t->path[n]) {
		err_set(e, "recipe argument \"%s\" names no input", arg);
		return NULL;
	}
	return arena_printf(mem, "%.*s%s", (int)(at - arg), arg, t->path[n]);
}

static bool has_start_files(struct artifact *a)
{
	static const char start[] = "crt1.o"; /* Scrt1.o, rcrt1.o, gcrt1.o, … */
	const struct art_input *in;
	size_t i, n = artifact_inputs(a, &in), k;

	for (i = 0; i < n; i++) {
		k = strlen(in[i].path);
		if (in[i].kind == ART_OBJECT && k >= strlen(start) &&
		    !strcmp(in[i].path + k - strlen(start), start))
			return true;
	}
	return false;
}

const char *relink_bare_entry(struct artifact *a)
{
	const char *const *arg, *entry = "_start";
	size_t i = 0, n = artifact_recipe(a, &arg);
	uint32_t kind = artifact_meta(a)->kind;
	struct ldopt o;

	if ((kind != ELF_EXEC && kind != ELF_PIE) || has_start_files(a))
		return NULL;
	while (ldopt_next(linker_named(artifact_meta(a)->ld), arg, n, &i, &o))
		if (o.kind == LDOPT_ENTRY && o.value)
			entry = o.value;
	return entry;
}

/* The folders, separated by ':', of libraries that other libraries need. ld searches them first;
 * -rpath-link alone ignores the sysroot. */
static char *needed_folders(
    struct artifact *a, const struct tree *t, struct arena *mem, struct err *e)
{
	const struct art_input *in;
	size_t i, n = artifact_inputs(a, &in);
	struct htab seen = {0};
	struct buf b = {0};
	char *dir, *all = NULL;
	bool fresh;

	for (i = 0; i < n; i++) {
		if (in[i].kind != ART_SHARED || !t->path[i])
			continue;
		dir = path_dir(t->path[i]);
		htab_put_str(&seen, dir, &fresh);
		if (strchr(dir, ':')) {
			err_set(e,
			    "%s: ld searches no folder with ':' in its name; choose another TMPDIR",
			    dir);
			free(dir);
			goto out;
		}
		if (fresh)
			buf_printf(&b, "%s%s", b.n ? ":" : "", dir);
		free(dir);
	}
	all = arena_strdup(mem, buf_cstr(&b));
out:
	buf_free(&b);
	htab_free(&seen);
	return all;
}

/* Options that are no part of a recipe: tools run no other program and no thread, and objects
 * name no library. To gold it is an error when a block map speaks of code that it discarded: all
 * that it calls so must show in the result. */
static const char *const *own_options(const struct relinker *r, struct artifact *a)
{
	static const char *const none[] = {NULL};
	static const char *const gold[] = {"--noinhibit-exec", NULL};
	static const char *const lld[] = {"--threads=1", "--no-dependent-libraries", NULL};
	static const char *const mold[] = {"--no-fork", "--no-threads", NULL};

	const char *const *recipe;
	size_t n = artifact_recipe(a, &recipe);
	struct ldcmd c;

	ldcmd_read(&c, r->linker, recipe, n);
	if (r->linker == LINKER_GOLD)
		return c.gc ? gold : none;
	return r->linker == LINKER_LLD ? lld : r->linker == LINKER_MOLD ? mold : none;
}

/* A library without soname has its file's name in its versions. */
static const char *output_name(struct artifact *a)
{
	const char *name = artifact_meta(a)->name;

	return *name && *name != '-' && *name != '@' && !strchr(name, '/') && strcmp(name, ".") &&
		       strcmp(name, "..")
		   ? name
		   : "out";
}

/* Writes the list for lld; *path stays NULL where there is nothing to order. */
static int order_functions(const struct relinker *r, struct artifact *a, const char *dir,
    char *const *object, const struct relink_added *added, struct arena *mem, char **path,
    struct err *e)
{
	struct buf list = {0};
	int rc = 0;

	if (r->linker == LINKER_LLD)
		rc = symbolorder_list(a, object, added->first, added->last, &list, e);
	if (!rc && list.n) {
		*path = arena_printf(mem, "%s/order", dir);
		rc = publish_bytes(*path, list.p, list.n, 0600, e);
	}
	buf_free(&list);
	return rc;
}

int relink_run(const struct relinker *r, struct artifact *a, const char *dir, char *const *object,
    const struct relink_added *added, const char *build_id, const char *out, struct err *e)
{
	const char *const *recipe, *first = added->first;
	const char *const *own = own_options(r, a);
	size_t i, n = artifact_recipe(a, &recipe);
	VEC(const char *) argv = {0};
	struct arena mem = {0};
	struct tree tree = {0};
	char *root = xasprintf("%s/root", dir), *made = xasprintf("%s/made", dir), *arg,
	     *order = NULL;
	int rc = -1;

	if (dir_make(made, 0700, e) || tree_make(a, root, r->sysroot, object, r->ar, &tree, e) ||
	    order_functions(r, a, dir, object, added, &mem, &order, e))
		goto out;
	vec_push(&argv, r->ld);
	for (; *own; own++)
		vec_push(&argv, *own);
	vec_push(&argv, arena_printf(&mem, RECIPE_SYSROOT "%s%s", root, r->sysroot));
	for (i = 0; i < n; i++) {
		if (!strncmp(recipe[i], RECIPE_SYSROOT, strlen(RECIPE_SYSROOT)))
			continue;
		if (first && *recipe[i] == '@') {
			vec_push(&argv, first);
			first = NULL;
		}
		arg = expand(r, recipe[i], &tree, &mem, e);
		if (!arg)
			goto out;
		vec_push(&argv, arg);
	}
	arg = needed_folders(a, &tree, &mem, e);
	if (!arg)
		goto out;
	vec_push(&argv, arena_printf(&mem, "-rpath-link=%s", arg));
	if (added->last)
		vec_push(&argv, added->last);
	if (order) {
		vec_push(&argv, arena_printf(&mem, "--symbol-ordering-file=%s", order));
		vec_push(&argv, "--no-warn-symbol-ordering");
	}
	if (r->strip)
		vec_push(&argv, "-s");
	if (r->entry) {
		vec_push(&argv, "-e");
		vec_push(&argv, RUNTIME_ENTRY);
		vec_push(&argv, arena_printf(&mem, "--defsym=" RUNTIME_GOES_ON "=%s", r->entry));
	}
	if (!r->unnamed)
		vec_push(&argv, arena_printf(&mem, "--build-id=%s", build_id));
	vec_push(&argv, "-o");
	vec_push(&argv, output_name(a));
	vec_push(&argv, NULL);
	rc = run_tool(&(struct spawn){.argv = argv.v, .dir = made}, "ld", e);
	arg = arena_printf(&mem, "%s/%s", made, output_name(a));
	if (!rc && rename(arg, out))
		rc = err_sys(e, "%s", out);
out:
	tree_free(&tree);
	arena_free(&mem);
	vec_free(&argv);
	free(root);
	free(made);
	return rc;
}

bool relink_sorts(const struct relinker *r)
{
	return r->linker != LINKER_MOLD;
}

bool relink_orders_copies(const struct relinker *r)
{
	return r->linker == LINKER_GOLD || r->linker == LINKER_LLD;
}

static void put_bytes(struct buf *out, const void *p, size_t n)
{
	const uint8_t *b = p;
	size_t i;

	for (i = 0; i < n; i++)
		buf_printf(out, "\t.byte %u\n", b[i]);
}

void relink_property(const void *property, size_t n, struct buf *out)
{
	if (n) {
		buf_str(out, "\t.section .note.gnu.property,\"a\",@note\n\t.p2align 3\n");
		put_bytes(out, property, n);
	}
	buf_str(out, "\t.section .note.GNU-stack,\"\",@progbits\n");
}

void relink_note(const struct build_id *origin, bool counting, struct buf *out)
{
	buf_printf(out,
	    "\t.section .note.morph,\"\",@note\n"
	    "\t.p2align 2\n"
	    "\t.long 6, %u, %u\n"
	    "\t.asciz \"Morph\"\n"
	    "\t.p2align 2\n",
	    origin->n, counting ? NOTE_MORPH_COUNTED : NOTE_MORPH_ORIGIN);
	put_bytes(out, origin->b, origin->n);
	buf_str(out, "\t.p2align 2\n");
}

void relink_filler(uint32_t at, uint32_t line, struct buf *out)
{
	/* After all ranks of unit_placement; kept ("R") where what nobody refers to goes. */
	buf_printf(out,
	    "\t.section .text.sorted.99999999,\"axR\",@progbits\n"
	    "morph_filler:\n"
	    "\t.balign %u, 0xcc\n",
	    line);
	if (at)
		buf_printf(out, "\t.skip %u, 0xcc\n", at);
}
