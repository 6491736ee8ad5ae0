/*
 * The ld hook: what the compiler driver runs as `ld`, or as `ld.gold`, `ld.lld`, `ld.mold`, under
 * -B. The real linker of that name
 * links, with its exit status and its words; then, for an executable or shared
 * library made of annotated objects, the artifact is written beside it. What
 * goes wrong with the artifact never touches the link.
 */
#include "common/hooklog.h"
#include "common/command/ldopt.h"
#include "common/log.h"
#include "common/places.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "hooks/ltoasm.h"
#include "hooks/ltrans.h"
#include "hooks/paths.h"
#include "hooks/probe.h"
#include "hooks/recipe.h"
#include "hooks/record.h"
#include "hooks/store.h"
#include "hooks/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_SECONDS = 600 };

struct job {
	char *real;         /* the real linker */
	const char *name;   /* as it was called: "ld" */
	bool chosen;        /* the real one by MORPH_LD */
	enum linker linker; /* which one it is */
	struct args arg;    /* expanded */
	struct ldcmd cmd;
	bool no_loader;                 /* the output is a static executable */
	bool unnamed;                   /* and has no build-id */
	char *output;                   /* absolute */
	char *sysroot;                  /* the same, "" = the root */
	char *opened, *map, *extracted; /* files that the linker wrote; NULL = none */
	const char *ltrans;             /* folder of what LTO makes, NULL = none */
	bool saves_temps;               /* the user keeps all that */
	struct publish publish;
	bool passing; /* the artifact is to be in the store alone */
};

static _Noreturn void run_unmodified(struct job *j, char **argv)
{
	argv[0] = j->real;
	tool_become(j->real, argv);
}

static enum linker which_linker(const char *program)
{
	char *real = realpath(program, NULL);
	enum linker linker = linker_of_program(real ? real : program);

	free(real);
	return linker;
}

/* Whether the linker has this option in its list: one that it does not know would cost the link.
 * GNU ld has had those in use here since 2.35. */
static bool knows(const struct job *j, const char *option)
{
	int fd = j->linker == LINKER_GNU ? -1 : open(j->real, O_RDONLY | O_CLOEXEC);
	char *spelled = xstrdup(option), *c;
	bool found = j->linker == LINKER_GNU;
	struct stat st;
	void *program;

	for (c = spelled; j->linker == LINKER_GOLD && *c; c++)
		if (*c == '-')
			*c = '_'; /* gold's list is of variables */
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		program = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (program != MAP_FAILED) {
			found = memmem(program, (size_t)st.st_size, spelled, strlen(spelled));
			munmap(program, (size_t)st.st_size);
		}
	}
	if (fd >= 0)
		close(fd);
	free(spelled);
	return found;
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
	if (j->linker == LINKER_UNKNOWN)
		return "no artifact: neither GNU ld nor gold, lld or mold";
	if (!knows(j, "dependency-file"))
		return "no artifact: a linker of this age does not say what it reads";
	return NULL;
}

/* A file of the linker's in memory: its name for ld, "" when there is none. */
static char *memory_path(const char *name)
{
	int fd = tool_memory_file(name);

	return fd < 0 ? NULL : xasprintf("/proc/self/fd/%d", fd);
}

/* A file for the linker to write: in memory, or of lld, which makes another one beside it first, in
 * the folder for such files; to be unlinked. NULL when there is none. */
static char *output_path(const struct job *j, const char *name)
{
	const char *dir = getenv("TMPDIR");
	char *path;
	int fd;

	if (j->linker != LINKER_LLD)
		return memory_path(name);
	path = xasprintf("%s/morph-%s-XXXXXX", dir && *dir ? dir : "/tmp", name);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	free(path);
	return NULL;
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
	else if (!c->map_stdout && (j->map = output_path(j, "map")))
		args_take(arg, xasprintf("-Map=%s", j->map));
	/* lld's map has only what is in the output. */
	if (j->linker == LINKER_LLD && knows(j, "why-extract") &&
	    (j->extracted = output_path(j, "extracted")))
		args_take(arg, xasprintf("--why-extract=%s", j->extracted));
}

/* Does gold say in this line that it discarded code that a block map speaks of? It calls that an
 * error in all sections but those of debug information. */
static bool of_block_map(const char *line)
{
	return (strstr(line, "(.llvm_bb_addr_map+0x") || strstr(line, "(.morph.fn+0x")) &&
	       strstr(line, ": error: relocation refers to ") &&
	       strstr(line, "which is defined in a discarded section");
}

/* Whether those are the only errors; what else was said is passed on. */
static bool pass_on(char *said)
{
	char *line, *save = NULL;
	struct buf rest = {0};
	bool fine = true;

	for (line = strtok_r(said, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (of_block_map(line))
			continue;
		fine = fine && !strstr(line, ": error: ");
		buf_printf(&rest, "%s\n", line);
	}
	if (fine && rest.n)
		file_write_all(STDERR_FILENO, rest.p, rest.n);
	buf_free(&rest);
	return fine;
}

/* A link by gold that discards code: errors are counted here. A link that fails is done again, and
 * gives its own messages and status. */
static int link_by_gold(struct job *j, struct args *arg)
{
	struct buf said = {0};
	struct err e;
	int status;

	args_add(arg, "--noinhibit-exec");
	args_end(arg);
	status = spawn_run(
	    &(struct spawn){.argv = (const char *const *)arg->v, .capture_err = &said}, &e);
	if (status || !pass_on(buf_cstr(&said))) {
		free(arg->v[--arg->n]);
		status = tool_run(j->real, args_end(arg));
	}
	buf_free(&said);
	return status;
}

static int link_now(struct job *j, char *const *argv, size_t n)
{
	struct args arg = {0};
	size_t i;
	int status;

	args_add(&arg, j->real);
	for (i = 0; i < n; i++)
		args_add(&arg, argv[i]);
	choose_outputs(j, &arg);
	if (j->cmd.plugin && !j->saves_temps && ltrans_is_plugin(j->cmd.plugin) &&
	    (j->ltrans = ltrans_open()))
		args_add(&arg, LTRANS_KEEP);
	if (j->linker == LINKER_GOLD && j->cmd.gc)
		status = link_by_gold(j, &arg);
	else
		status = tool_run(j->real, args_end(&arg));
	ltrans_leave();
	args_free(&arg);
	return status;
}

/* What of the archives was linked; NULL = not known, or not enough: lld orders its GOT by all the
 * symbols that it saw, and a C library refers weakly to members that were not linked. */
static struct linkmap *read_map(const struct job *j)
{
	struct linkmap *map = xcalloc(1, sizeof *map);
	struct buf b = {0};
	bool known = !(j->linker == LINKER_LLD && j->no_loader) && j->map &&
		     file_read(j->map, 0, &b, NULL) == 0;

	if (known)
		linkmap_read(map, b.p, b.n);
	b.n = 0;
	if (known && j->linker == LINKER_LLD) {
		known = j->extracted && file_read(j->extracted, 0, &b, NULL) == 0;
		if (known)
			linkmap_read_extracted(map, b.p, b.n);
	}
	buf_free(&b);
	if (known)
		return map;
	linkmap_free(map);
	free(map);
	return NULL;
}

/* Forgets what the linker wrote for this program, and the folder of LTO. */
static void drop_outputs(struct job *j)
{
	if (j->linker == LINKER_LLD && j->map && !j->cmd.map)
		unlink(j->map);
	if (j->extracted)
		unlink(j->extracted);
	free(j->opened);
	free(j->map);
	free(j->extracted);
	j->opened = j->map = j->extracted = NULL;
	ltrans_leave();
	ltrans_close();
	j->ltrans = NULL;
}

static void set_command(struct job *j, const struct args *arg)
{
	j->arg = *arg;
	ldcmd_read(&j->cmd, j->linker, (const char *const *)j->arg.v, j->arg.n);
}

/* Links with standard error kept. */
static int link_quietly(struct job *j, struct buf *said)
{
	int err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), to = tool_memory_file("said"), status;
	char *path = xasprintf("/proc/self/fd/%d", to);

	if (err >= 0 && to >= 0)
		dup2(to, STDERR_FILENO);
	status = link_now(j, j->arg.v, j->arg.n);
	if (err >= 0)
		dup2(err, STDERR_FILENO);
	(void)file_read(path, 0, said, NULL);
	free(path);
	fd_close(&err);
	fd_close(&to);
	return status;
}

/* What both steps say is said once. */
static void say(const struct buf *first, struct buf *second)
{
	char *line, *save = NULL;

	if (first->n)
		file_write_all(STDERR_FILENO, first->p, first->n);
	for (line = strtok_r(buf_cstr(second), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (!first->n || !memmem(first->p, first->n, line, strlen(line)))
			fprintf(stderr, "%s\n", line);
}

static int second_step(struct job *j, struct ltoasm *l, int *status, struct err *e)
{
	struct linkmap *after;
	struct buf said = {0};
	int r = -1;

	set_command(j, &l->link);
	*status = link_quietly(j, &said);
	after = *status == 0 ? read_map(j) : NULL;
	if (*status)
		err_set(e, "what clang's LTO made does not link: %.200s", buf_cstr(&said));
	else if (!after)
		err_set(e, "the linker wrote no map");
	else if (!(r = ltoasm_check(l, after, e)))
		say(&l->said, &said);
	if (after)
		linkmap_free(after);
	free(after);
	buf_free(&said);
	return r;
}

/* A link with clang's LTO, where it can be known what is linked. 1; 0 = it is none; -1 = it is to
 * be linked as it is, without artifact. */
static int link_assembly(struct job *j, int *status)
{
	struct ltoasm l = {.real = j->real, .linker = j->linker, .arg = &j->arg};
	struct args given = j->arg;
	struct err e;
	int r;

	if (!ltoasm_wanted(j->linker, &given))
		return 0;
	l.arg = &given;
	if (!(l.folder = j->ltrans = ltrans_open()))
		r = err_set(&e, "no folder for temporary files");
	else if (j->saves_temps)
		r = err_set(&e, "clang's LTO with -save-temps");
	else if ((r = ltoasm_make(&l, &e)) > 0 && second_step(j, &l, status, &e))
		r = -1;
	if (r > 0)
		return r;
	if (r < 0)
		hooklog("ld", j->output, "no artifact: %s", e.text);
	ltoasm_free(&l);
	set_command(j, &given);
	drop_outputs(j);
	return r;
}

static int64_t note_use(void *arg, const char *path, enum recipe_use use)
{
	collect_expect(arg, path, use);
	return -1;
}

static int64_t number_of(void *arg, const char *path, enum recipe_use use)
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
static int check_names(enum linker linker, const struct args *link, struct err *e)
{
	struct ldopt o;
	const char *fault;
	size_t i = 0;

	while (ldopt_next(linker, (const char *const *)link->v, link->n, &i, &o)) {
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

/* What GNU ld takes from the environment where no option says it. */
static void add_run_path(struct args *recipe)
{
	const char *path = getenv("LD_RUN_PATH");
	struct ldopt o;
	size_t i = 0;

	while (path && ldopt_next(LINKER_GNU, (const char *const *)recipe->v, recipe->n, &i, &o))
		if (is_run_path(&o))
			path = NULL;
	if (path) {
		args_add(recipe, "-rpath");
		args_add(recipe, path);
	}
}

/* gold writes the name of the output as it was given into a library without soname. */
static bool named_by_path(const struct job *j, const struct record *r, const struct args *recipe)
{
	struct ldopt o;
	size_t i = 0;

	if (j->linker != LINKER_GOLD || r->kind != ELF_SHARED || !strchr(j->cmd.output, '/'))
		return false;
	while (ldopt_next(j->linker, (const char *const *)recipe->v, recipe->n, &i, &o))
		if (ldopt_is(&o, "soname"))
			return false;
	return true;
}

static bool is_placed(const struct args *recipe, int64_t id)
{
	char *arg = xasprintf("@%lld", (long long)id);
	size_t i;

	for (i = 0; i < recipe->n && strcmp(recipe->v[i], arg); i++)
		;
	free(arg);
	return i < recipe->n;
}

static int gather(
    struct job *j, struct record *r, struct collection *c, struct args *recipe, struct err *e)
{
	struct recipe_files f = {
	    .file = note_use, .folder = folder_of, .arg = c, .sysroot = j->sysroot};
	struct args ignored = {0}, *opened = xcalloc(1, sizeof *opened);
	struct buf b = {0};

	if (check_names(j->linker, &j->arg, e))
		return -1;
	recipe_make(&ignored, j->linker, &j->arg, &f);
	args_free(&ignored);
	if (!j->opened || file_read(j->opened, 0, &b, e) < 0)
		return err_set(e, "no artifact: no dependency file from the linker");
	depfile_read(j->linker, b.p, b.n, opened);
	buf_free(&b);
	c->plugin = j->cmd.plugin != NULL;
	c->ltrans = j->ltrans;
	c->output = j->output;
	if (collect(c, opened, read_map(j), e) < 0)
		return err_wrap(e, "no artifact");
	f.file = number_of;
	f.made = c->made.v;
	f.nmade = c->made.n;
	recipe_make(recipe, j->linker, &j->arg, &f);
	if (j->linker == LINKER_GNU)
		add_run_path(recipe);
	if (j->unnamed)
		args_add(recipe, RECIPE_UNNAMED);
	if (recipe_check(j->linker, (const char *const *)recipe->v, recipe->n, c->input.n, e) < 0)
		return err_wrap(e, "no artifact");
	if (f.nmade && !is_placed(recipe, f.made[0]))
		return err_set(e, "no artifact: LTO objects in archives alone");
	/* What the code needs that its intermediate form did not say (printf) was searched last. */
	if (c->optimised && c->plugin && j->no_loader && j->linker != LINKER_MOLD)
		return err_set(e, "no artifact: a static link with LTO takes in code in an order "
				  "that is not repeated");
	if (named_by_path(j, r, recipe))
		return err_set(
		    e, "no artifact: gold names this library by its path: add -Wl,-soname");
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
	j->unnamed = !elf_file_has_build_id(f);
	j->no_loader = r->kind != ELF_SHARED && elf_file_section(f, ".interp", &s, NULL) == 0;
	if (r->kind != ELF_EXEC && r->kind != ELF_PIE && r->kind != ELF_SHARED)
		err_set(e, "no artifact: neither executable nor shared library");
	else if (elf_file_section(f, ".morph.fn", &s, e) <= 0)
		/* Of a.out nothing is said: it is configure's first question. */
		err_set(e, strcmp(path_base(j->output), "a.out")
			       ? "no artifact: no object was annotated (build from clean, or see "
				 "the lines of as)"
			       : "");
	else if (!elf_file_build_id(f).n)
		err_set(e,
		    "no artifact: its build-id is longer than 32 bytes, or it loads more than 1 "
		    "GiB without one");
	else if (blockmap_from_elf(f, map, e) < 0)
		err_wrap(e, "no artifact");
	else
		status = 0;
	elf_file_close(f);
	return status;
}

/* Does this name lead to the linker that linked? */
static bool is_linker(const char *path, const void *arg)
{
	const struct job *j = arg;
	char *real = realpath(path, NULL), *linked = realpath(j->real, NULL);
	bool same = real && linked && !strcmp(real, linked);

	free(real);
	free(linked);
	return same;
}

static bool is_version(const char *path, void *arg)
{
	const struct job *j = arg;

	return linker_named(path_base(path)) == j->linker && is_linker(path, j);
}

/* The name with a version that leads to the linker; NULL = none. */
static char *versioned_name(struct job *j)
{
	char *path = places_search_prefix("ld.lld-", is_version, j);
	char *name = path ? xstrdup(path_base(path)) : NULL;

	free(path);
	return name;
}

/* The name by which the editor will find this very linker. */
static int name_linker(struct job *j, struct record *r, struct err *e)
{
	char *first;

	r->ld = linker_named(j->name) == j->linker ? j->name : linker_name(j->linker);
	if (!j->chosen)
		return 0;
	first = tool_find(r->ld, NULL, NULL);
	if (!first || !is_linker(first, j))
		r->ld = versioned_name(j);
	free(first);
	return r->ld ? 0
		     : err_set(e, "no artifact: linked by %s, which is not in PATH by its name",
			   j->real);
}

static int record(struct job *j, struct err *e)
{
	struct record r = {.module = j->output, .sysroot = j->sysroot};
	struct collection inputs = {0};
	struct args recipe = {0};
	struct blockmap map = {0};
	char *artifact = xstrdup(j->publish.path);
	struct err why;

	if (examine(j, &r, &map, e) < 0 || name_linker(j, &r, e) < 0 ||
	    gather(j, &r, &inputs, &recipe, e) < 0)
		return -1;
	r.map = &map;
	if (record_write(&r, j->publish.tmp, e) < 0 || publish_commit_unsynced(&j->publish, e) < 0)
		return err_wrap(e, "no artifact");
	if (store_put(&map.id, artifact, &why) < 0)
		hooklog("ld", j->output, "no artifact by build-id: %s", why.text);
	if (j->passing)
		unlink(artifact);
	hooklog_artifact(j->output, r.kind == ELF_SHARED);
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

static void remove_outputs(struct job *j)
{
	char *args;

	if (j->ltrans && !j->saves_temps) {
		args = xasprintf("%s.lto_wrapper_args", j->cmd.output);
		unlink(args);
		free(args);
	}
	drop_outputs(j);
}

int main(int argc, char **argv)
{
	static struct job j;
	const char *why, *driver = getenv("COLLECT_GCC_OPTIONS"), *chosen = getenv("MORPH_LD");
	struct err e;
	int status, assembly;

	tool_keep_memory();
	log_init("ld", LOG_LVL_INFO);
	j.name = path_base(argv[0]);
	j.chosen = chosen && !strcmp(path_base(chosen), j.name);
	j.real = tool_find(j.name,
	    j.chosen                                  ? "MORPH_LD"
	    : linker_of_program(j.name) == LINKER_GNU ? "MORPH_REAL_LD"
						      : NULL,
	    NULL);
	if (!j.real)
		die(127, "morph: no real %s in PATH; set MORPH_REAL_LD", j.name);
	if (args_expand(&j.arg, argc, argv, &e) < 0) {
		hooklog("ld", NULL, "%s", e.text);
		run_unmodified(&j, argv);
	}
	j.linker = which_linker(j.real);
	ldcmd_read(&j.cmd, j.linker, (const char *const *)j.arg.v, j.arg.n);
	j.output = path_of_file(j.cmd.output);
	j.sysroot = j.cmd.sysroot && *j.cmd.sysroot ? path_of_folder(j.cmd.sysroot) : xstrdup("");
	if (!strcmp(j.sysroot, "/"))
		*j.sysroot = '\0';
	j.saves_temps = driver && strstr(driver, "'-save-temps");
	if ((why = not_ours(&j))) {
		if (*why)
			hooklog("ld", j.output, "%s", why);
		run_unmodified(&j, argv);
	}
	assembly = link_assembly(&j, &status);
	if (assembly <= 0)
		status = link_now(&j, argv + 1, (size_t)argc - 1);
	if (status == 0 && assembly >= 0)
		record_shielded(&j);
	remove_outputs(&j);
	if (status == -1)
		run_unmodified(&j, argv);
	tool_end_as(status);
}
