/*
 * The ld hook: what the compiler driver runs as `ld` under -B. The real linker
 * links, with its exit status and its words; then, for an executable or shared
 * library made of annotated objects, the artifact is written beside it. What
 * goes wrong with the artifact never touches the link.
 */
#include "common/hooklog.h"
#include "common/command/ldopt.h"
#include "common/log.h"
#include "common/places.h"
#include "common/publish.h"
#include "hooks/paths.h"
#include "hooks/probe.h"
#include "hooks/recipe.h"
#include "hooks/record.h"
#include "hooks/store.h"
#include "hooks/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_SECONDS = 600 };

struct job {
	char *real;       /* the real linker */
	const char *name; /* as it was called: "ld" */
	struct args arg;  /* expanded */
	struct ldcmd cmd;
	char *output;       /* absolute */
	char *opened, *map; /* files that ld wrote; map NULL = none */
	struct publish publish;
	bool passing; /* the artifact is to be in the store alone */
};

static _Noreturn void run_unmodified(struct job *j, char **argv)
{
	argv[0] = j->real;
	tool_become(j->real, argv);
}

/* Whether this linker is GNU ld: gold, lld and mold know neither of the
 * outputs that the artifact is made from. */
static bool is_gnu_ld(const char *path)
{
	char *real = realpath(path, NULL);
	const char *base = real ? path_base(real) : "", *dash = strrchr(base, '-');
	bool is;

	base = dash ? dash + 1 : base;
	is = !strcmp(base, "ld") || !strcmp(base, "ld.bfd");
	free(real);
	return is;
}

/* NULL, or why this link gets no artifact, whatever comes of it; "" = refuse
 * without a line in the log. */
static const char *not_ours(const struct job *j)
{
	const struct ldcmd *c = &j->cmd;
	const char *format = getenv("GNUTARGET");
	struct stat st;

	if (c->inquiry || c->relocatable || probe_output(j->output))
		return "";
	if (stat(j->output, &st) == 0 && !S_ISREG(st.st_mode))
		return "";
	if (c->emulation && strcmp(c->emulation, "elf_x86_64"))
		return "not x86-64";
	if (format && strcmp(format, "default") && strcmp(format, "elf64-x86-64"))
		return "no artifact: linked with GNUTARGET";
	if (c->sysroot && *c->sysroot && strcmp(c->sysroot, "/"))
		return "no artifact: linked with a --sysroot";
	if (c->fixed_build_id)
		return "no artifact: a build-id that was given tells no builds apart";
	if (!is_gnu_ld(j->real))
		return "no artifact: the linker is not GNU ld";
	return NULL;
}

/* A file of the linker's in memory: its name for ld, "" when there is none. */
static char *memory_path(const char *name)
{
	int fd = tool_memory_file(name);

	return fd < 0 ? NULL : xasprintf("/proc/self/fd/%d", fd);
}

/* The user's own outputs serve as well; those that are no plain file do not. */
static void choose_outputs(struct job *j, struct args *arg)
{
	const struct ldcmd *c = &j->cmd;

	if (c->dependency_file)
		j->opened = xstrdup(c->dependency_file);
	else if ((j->opened = memory_path("dependency-file")))
		args_take(arg, xasprintf("--dependency-file=%s", j->opened));
	if (c->map)
		j->map = strpbrk(c->map, "%") || !strcmp(c->map, "-") ? NULL : xstrdup(c->map);
	else if (!c->map_stdout && (j->map = memory_path("map")))
		args_take(arg, xasprintf("-Map=%s", j->map));
}

static int link_now(struct job *j, int argc, char **argv)
{
	struct args arg = {0};
	int i, status;

	args_add(&arg, j->real);
	for (i = 1; i < argc; i++)
		args_add(&arg, argv[i]);
	choose_outputs(j, &arg);
	status = tool_run(j->real, args_end(&arg));
	args_free(&arg);
	return status;
}

static int64_t note_raw(void *arg, const char *path, bool raw)
{
	if (raw)
		collect_raw(arg, path);
	return -1;
}

static int64_t number_of(void *arg, const char *path, bool raw)
{
	struct collection *c = arg;
	int64_t id = collect_file(c, path);

	if (id >= 0 && !c->input.v[id].named)
		c->input.v[id].named = path;
	return id;
}

static char *folder_of(void *arg, const char *path)
{
	char *folder = path_of_folder(path), *own = places_own(".");

	/* The driver searches the folders of -B for libraries, too. */
	if (own && !strcmp(folder, own)) {
		free(folder);
		folder = NULL;
	}
	free(own);
	return folder;
}

/* The dependency file has names as they are, also those that end its lines. */
static int check_names(const struct args *link, struct err *e)
{
	struct ldopt o;
	const char *fault;
	size_t i = 0;

	while (ldopt_next((const char *const *)link->v, link->n, &i, &o)) {
		if (o.kind > LDOPT_SYMBOLS || o.kind == LDOPT_KEEP || o.kind == LDOPT_ENTRY)
			continue;
		fault = o.value ? recipe_name_fault(o.value, false) : NULL;
		if (fault)
			return err_set(e, "no artifact: %s: %s", o.value, fault);
	}
	return 0;
}

static bool is_run_path(const struct ldopt *o)
{
	return o->kind == LDOPT_KEEP && o->is_long && o->name_n > 5 &&
	       !memcmp(o->name + o->name_n - 5, "rpath", 5) && o->name[o->name_n - 6] == '-';
}

/* What ld takes from the environment where no option says it. */
static void add_run_path(struct args *recipe)
{
	const char *path = getenv("LD_RUN_PATH");
	struct ldopt o;
	size_t i = 0;

	while (path && ldopt_next((const char *const *)recipe->v, recipe->n, &i, &o))
		if (is_run_path(&o))
			path = NULL;
	if (path) {
		args_add(recipe, "-rpath");
		args_add(recipe, path);
	}
}

static int gather(
    struct job *j, struct record *r, struct collection *c, struct args *recipe, struct err *e)
{
	struct recipe_files f = {note_raw, folder_of, c};
	struct args ignored = {0}, *opened = xcalloc(1, sizeof *opened);
	struct linkmap *map = NULL;
	struct buf b = {0};

	if (check_names(&j->arg, e))
		return -1;
	recipe_make(&ignored, &j->arg, &f);
	args_free(&ignored);
	if (!j->opened || file_read(j->opened, 0, &b, e) < 0)
		return err_set(e, "no artifact: no dependency file from the linker");
	depfile_read(b.p, b.n, opened);
	b.n = 0;
	if (j->map && file_read(j->map, 0, &b, NULL) == 0) {
		map = xcalloc(1, sizeof *map);
		linkmap_read(map, b.p, b.n);
	}
	buf_free(&b);
	if (collect(c, opened, map, e) < 0)
		return err_wrap(e, "no artifact");
	f.file = number_of;
	recipe_make(recipe, &j->arg, &f);
	add_run_path(recipe);
	if (recipe_check((const char *const *)recipe->v, recipe->n, c->input.n, e) < 0)
		return err_wrap(e, "no artifact");
	r->inputs = c;
	r->recipe = recipe;
	return 0;
}

/* Reads what the output is and where its blocks lie. */
static int examine(struct job *j, struct record *r, struct blockmap *map, struct err *e)
{
	struct elf *f = elf_file_open(j->output, -1, e);
	struct elf_section s;
	int status = -1;

	if (!f)
		return -1;
	r->kind = elf_file_kind(f);
	if (r->kind != ELF_EXEC && r->kind != ELF_PIE && r->kind != ELF_SHARED)
		err_set(e, "no artifact: neither executable nor shared library");
	else if (elf_file_section(f, ".morph.fn", &s, e) <= 0)
		/* Of a.out nothing is said: it is configure's first question. */
		err_set(e, strcmp(path_base(j->output), "a.out")
			       ? "no artifact: no object came through the hooks (build from clean, "
				 "without LTO)"
			       : "");
	else if (!elf_file_build_id(f).n)
		err_set(e, "no artifact: no build-id: add -Wl,--build-id");
	else if (blockmap_from_elf(f, map, e) < 0)
		err_wrap(e, "no artifact");
	else
		status = 0;
	elf_file_close(f);
	return status;
}

static int record(struct job *j, struct err *e)
{
	struct record r = {.module = j->output, .ld = j->name};
	struct collection inputs = {0};
	struct args recipe = {0};
	struct blockmap map = {0};
	char *artifact = xstrdup(j->publish.path);
	struct err why;

	if (examine(j, &r, &map, e) < 0 || gather(j, &r, &inputs, &recipe, e) < 0)
		return -1;
	r.map = &map;
	if (record_write(&r, j->publish.tmp, e) < 0 || publish_commit_unsynced(&j->publish, e) < 0)
		return err_wrap(e, "no artifact");
	if (store_put(&map.id, artifact, &why) < 0)
		hooklog("ld", j->output, "no artifact by build-id: %s", why.text);
	if (j->passing)
		unlink(artifact);
	hooklog_artifact(j->output);
	return 0;
}

/* In the shield. */
static int record_or_say(void *arg)
{
	struct job *j = arg;
	struct err e = {""};

	if (record(j, &e) == 0)
		return 0;
	if (*e.text)
		hooklog("ld", j->output, "%s", e.text);
	return 1;
}

static void record_shielded(struct job *j)
{
	struct err e;
	char *path = store_path(j->output, &j->passing, &e);

	if (!path || publish_open(&j->publish, path, 0644, &e) < 0) {
		hooklog("ld", j->output, "no artifact: %s", e.text);
	} else {
		if (tool_shielded(record_or_say, j, RECORD_SECONDS) < 0)
			hooklog("ld", j->output, "no artifact: its writer died");
		publish_abort(&j->publish);
	}
	free(path);
}

int main(int argc, char **argv)
{
	static struct job j;
	const char *why;
	struct err e;
	int status;

	tool_keep_memory();
	log_init("ld", LOG_LVL_INFO);
	j.name = path_base(argv[0]);
	j.real = tool_find(j.name, "MORPH_REAL_LD", NULL);
	if (!j.real)
		die(127, "morph: no real %s in PATH; set MORPH_REAL_LD", j.name);
	if (args_expand(&j.arg, argc, argv, &e) < 0) {
		hooklog("ld", NULL, "%s", e.text);
		run_unmodified(&j, argv);
	}
	ldcmd_read(&j.cmd, (const char *const *)j.arg.v, j.arg.n);
	j.output = path_of_file(j.cmd.output);
	if ((why = not_ours(&j))) {
		if (*why)
			hooklog("ld", j.output, "%s", why);
		run_unmodified(&j, argv);
	}
	status = link_now(&j, argc, argv);
	if (status == 0)
		record_shielded(&j);
	if (status == -1)
		run_unmodified(&j, argv);
	tool_end_as(status);
}
