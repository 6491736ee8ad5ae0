#include "common/ascii.h"
#include "common/command/linker.h"
#include "common/log.h"
#include "common/places.h"
#include "common/publish.h"
#include "editor-driver/link/build.h"
#include "editor-driver/os/jobdir.h"
#include "editor-driver/cli/cli.h"
#include "editor-driver/os/sandbox.h"
#include "editor-driver/os/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct paths {
	const char **v;
	size_t n, cap;
};

/* The path of the result: a file or nothing, and not the artifact. */
static int check_out(const struct options *o, char *dir, struct err *e)
{
	struct stat out, art;

	if (stat(dir, &out) || !S_ISDIR(out.st_mode))
		return err_set(e, "%s: no such folder", dir);
	if (stat(o->out, &out))
		return 0;
	if (!S_ISREG(out.st_mode))
		return err_set(e, "%s: not a regular file", o->out);
	if (!stat(o->artifact ?: o->lift, &art) && art.st_dev == out.st_dev &&
	    art.st_ino == out.st_ino)
		return err_set(e, "%s: is the %s", o->out, o->lift ? "program" : "artifact");
	return 0;
}

/* What is open already needs no rule. */
static void add_input(struct paths *in, const char *path)
{
	if (path && !file_is_given(path))
		vec_push(in, path);
}

/* What the job reads. */
static void list_inputs(const struct options *o, const char *module, struct paths *in)
{
	char **raw;

	add_input(in, o->artifact);
	add_input(in, o->original);
	add_input(in, o->layout);
	add_input(in, o->module);
	add_input(in, o->profile);
	add_input(in, o->order);
	add_input(in, o->lift);
	add_input(in, o->addresses);
	add_input(in, o->carry);
	add_input(in, module);
	add_input(in, o->compared[0].path);
	add_input(in, o->compared[1].path);
	for (raw = o->raw; raw && *raw; raw++)
		add_input(in, *raw);
}

/* The sandbox of a job; in s, what it writes and runs. */
static int enter(const struct options *o, struct sandbox *s, const char *module, struct err *e)
{
	struct paths in = {0};
	int rc;

	list_inputs(o, module, &in);
	s->readable = in.v;
	s->nreadable = in.n;
	s->needed = o->need_sandbox;
	rc = sandbox_enter(s, e);
	vec_free(&in);
	return rc;
}

static bool add_version(const char *path, void *arg)
{
	struct paths *tool = arg;

	if (*path == '/' && linker_named(path_base(path)) != LINKER_UNKNOWN)
		vec_push(tool, xstrdup(path));
	return false;
}

/* as, ar, and whichever ld the artifact will name (relink.c). */
static void list_tools(struct paths *tool)
{
	static const char *const name[] = {
	    "as", "ar", "ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"};
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++)
		vec_push(tool, tool_find(name[i], NULL));
	places_search_prefix("ld.lld-", add_version, tool);
}

static int enter_with_tools(
    struct job *j, const struct jobdir *dir, const char *out_dir, struct err *e)
{
	char *cache = cache_dir(j->cache), *module = NULL;
	const char *const writable[] = {dir->path, out_dir, cache};
	struct paths tool = {0};
	struct sandbox s = {.writable = writable,
	    .nwritable = sizeof writable / sizeof *writable,
	    .work = dir->path,
	    .scratch = dir->parent};
	size_t i;
	int rc;

	if (!j->o->original)
		module = build_module(j->o->artifact);
	list_tools(&tool);
	s.tool = tool.v;
	s.ntool = tool.n;
	s.file_max = build_room(j->o->artifact, j->o->original ? j->o->original : module);
	rc = enter(j->o, &s, module, e);
	for (i = 0; i < tool.n; i++)
		free((char *)tool.v[i]);
	vec_free(&tool);
	free(module);
	free(cache);
	return rc;
}

/* The jobs that write a file. */
static int make(struct job *j, struct err *e)
{
	char *out_dir = path_dir(j->o->out);
	struct jobdir dir = {.lock = -1};
	struct cache cache = {.fd = -1};
	int rc = -1;

	if (check_out(j->o, out_dir, e) || jobdir_open(&dir, j->o->keep, e))
		goto out;
	jobdir_sweep_output(j->o->out);
	cache_open(&cache, j->o->cache);
	j->dir = dir.path;
	j->cache = &cache;
	rc = enter_with_tools(j, &dir, out_dir, e);
	if (!rc)
		rc = j->o->replay_table ? job_replay(j, e)
		     : j->o->branches   ? job_branches(j, e)
					: job_edit(j, e);
	cache_prune(&cache, CACHE_LIMIT);
out:
	cache_close(&cache);
	jobdir_close(&dir);
	free(out_dir);
	return rc;
}

static int inspect(struct job *j, struct err *e)
{
	if (enter(j->o, &(struct sandbox){0}, NULL, e))
		return -1;
	return j->o->score      ? job_score(j, e)
	       : j->o->compare  ? job_compare(j, e)
	       : j->o->annotate ? job_annotate(j, e)
				: job_report(j, e);
}

typedef int text_fn(struct job *j, struct buf *out, struct err *e);

/* The jobs that write one file, by themselves. */
static int write_text(struct job *j, text_fn *make_text, struct err *e)
{
	char *out_dir = path_dir(j->o->out);
	const char *const writable[] = {out_dir};
	struct sandbox s = {.writable = writable, .nwritable = 1};
	struct buf text = {0};
	int rc = -1;

	if (!check_out(j->o, out_dir, e) && !enter(j->o, &s, NULL, e) && !make_text(j, &text, e))
		rc = publish_bytes(j->o->out, text.p, text.n, 0644, e);
	buf_free(&text);
	free(out_dir);
	return rc;
}

/* The artifact grows where it will be. */
static int lift(struct job *j, struct err *e)
{
	char *out_dir = path_dir(j->o->out);
	const char *const writable[] = {out_dir};
	struct sandbox s = {.writable = writable, .nwritable = 1};
	int rc;

	rc = check_out(j->o, out_dir, e) || enter(j->o, &s, NULL, e) || job_lift(j, e) ? -1 : 0;
	free(out_dir);
	return rc;
}

static int start(struct job *j, struct err *e)
{
	const struct options *o = j->o;
	text_fn *text = o->raw ? job_read : o->shapes ? job_shapes : o->carry ? job_carry : NULL;

	if (o->lift)
		return lift(j, e);
	return text ? write_text(j, text, e) : o->out ? make(j, e) : inspect(j, e);
}

/* Whether the same might work another time: the machine was short of something. */
static bool is_passing(const struct err *e)
{
	static const int wants[] = {ENOSPC, EDQUOT, ENOMEM, EAGAIN, EMFILE, ENFILE};
	size_t i;

	for (i = 0; i < sizeof wants / sizeof *wants; i++)
		if (strstr(e->text, strerror(wants[i])))
			return true;
	return strstr(e->text, "stopped by signal 9"); /* out of memory, most likely */
}

int main(int argc, char **argv)
{
	struct options o;
	struct err e = {{0}};
	struct job j = {.o = &o};
	int rc;

	ascii_begin();
	log_init("morph-edit", LOG_LVL_INFO);
	options_parse(&o, argc, argv);
	if (o.json)
		ascii_keep_stdout();
	rc = sandbox_may_edit(o.artifact ?: o.lift, &e);
	if (!rc)
		rc = start(&j, &e);
	if (!rc && report(&j))
		rc = err_sys(&e, "standard output");
	job_free(&j);
	if (!rc)
		return 0;
	log_error("%s", e.text);
	report_failure(e.text, o.json);
	return is_passing(&e) ? EXIT_LATER : EXIT_CANNOT;
}
