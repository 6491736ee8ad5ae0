/*
 * morphctl optimize: a faster copy of a program, for oneself. Each step is a program of its own:
 *
 *	lift	morph-edit --lift, where the program has no artifact
 *	watch	morph-watch, of one run, with what registers tell
 *	map	or what another profiler recorded: morph-report export blocks
 *	predict	morph-edit --score
 *	edit	morph-edit
 */
#include "common/artifact/artifact.h"
#include "common/editanswer/editanswer.h"
#include "common/elf/elf.h"
#include "common/number.h"
#include "common/places.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "morphctl/command.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct optimizing {
	const struct invocation *in;
	struct arena *mem;
	const char *program, *copy;
	const char *dir; /* of what is made on the way; removed in the end */
	const char *artifact, *samples;
	json_t *lifted;          /* what morph-edit --lift said; NULL = nothing was lifted */
	double taken, mapped;    /* samples in the program's file, in its blocks … */
	double more;             /* … and in another file, the one with most of all others */
	const char *more_path;   /* NULL = there is none that is known */
	bool library;            /* another program is run, which uses it */
	struct editanswer score; /* of the best layout */
	struct editanswer edit;
};

/* ---- programs ---- */

static const char *tool(const struct optimizing *o, const char *relative)
{
	char *path = places_own(relative);
	const char *own = arena_strdup(o->mem, path ? path : relative);

	free(path);
	return own;
}

static const char *in_dir(const struct optimizing *o, const char *name)
{
	return arena_printf(o->mem, "%s/%s", o->dir, name);
}

/* Its exit status, of what speaks to the user. -1: it could not be run, and was complained of. */
static int run(const struct optimizing *o, const char *const *argv)
{
	const char *env[] = {arena_printf(o->mem, "MORPH_ARTIFACTS=%s", o->dir), NULL};
	struct spawn s = {.argv = argv, .env = env};
	struct err e;
	int status = spawn_run(&s, &e);

	if (status < 0)
		complain(EXIT_FAILED, "%s", e.text);
	return status;
}

/* What morph-edit says, appended; that it cannot is complained of. */
static int ask_editor(const char *const *argv, struct buf *said)
{
	struct buf errors = {0};
	struct spawn s = {.argv = argv, .capture_out = said, .capture_err = &errors};
	struct editanswer none;
	struct err why;
	int status = spawn_run(&s, &why);

	if (status > 0 && editanswer_read(said->p, said->n, 0, &none, &why) <= 0)
		err_set(&why, "morph-edit ended with status %d: %s", status, buf_cstr(&errors));
	buf_free(&errors);
	return status ? complain(EXIT_FAILED, "%s", err_line(why.text)) : EXIT_DONE;
}

/* With these parts. */
static int ask_answer(const char *const *argv, unsigned parts, struct editanswer *out)
{
	struct buf said = {0};
	int code = ask_editor(argv, &said);
	struct err why;

	if (code == EXIT_DONE && editanswer_read(said.p, said.n, parts, out, &why))
		code = complain(EXIT_FAILED, "%s", why.text);
	buf_free(&said);
	return code;
}

/* ---- the steps ---- */

static int check_copy(const struct optimizing *o)
{
	struct stat from, to;

	if (stat(o->program, &from))
		return complain(EXIT_FAILED, "%s: %s", o->program, strerror(errno));
	if (!stat(o->copy, &to) && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		return complain(EXIT_USAGE, "%s: is the program itself; -o names a copy", o->copy);
	return EXIT_DONE;
}

/* Where the monitor looks for it, to say how many samples are the program's. */
static int file_by_build_id(const struct optimizing *o)
{
	char *path = NULL, *dir = NULL;
	struct build_id id;
	struct err e;
	int rc = artifact_peek(o->artifact, &id, NULL, &e);

	if (!rc && (path = build_id_path(o->dir, strlen(o->dir), &id))) {
		dir = path_dir(path);
		rc = dir_make(dir, 0700, &e);
		if (!rc && link(o->artifact, path))
			rc = err_sys(&e, "%s", path);
	}
	free(path);
	free(dir);
	return rc ? complain(EXIT_FAILED, "%s", e.text) : EXIT_DONE;
}

/* An artifact from the hooks tells more. */
static int lift(struct optimizing *o)
{
	char *found = command_artifact(o->program, NULL);
	const char *argv[] = {
	    tool(o, "morph-edit"), "--json", "--lift", o->program, "-o", NULL, NULL};
	struct buf said = {0};
	int code;

	if (found) {
		o->artifact = arena_strdup(o->mem, found);
		free(found);
		return EXIT_DONE;
	}
	argv[5] = o->artifact = in_dir(o, "lifted.morph");
	code = ask_editor(argv, &said);
	o->lifted = json_loadb(said.p ? said.p : "", said.n, 0, NULL);
	buf_free(&said);
	return code != EXIT_DONE ? code : file_by_build_id(o);
}

/* The first lines of the profile say how many samples there were. */
static int read_head(struct optimizing *o)
{
	struct buf text = {0};
	const char *more;
	struct err e;
	int n = 0, at = 0;

	if (file_read(o->samples, 0, &text, &e))
		return complain(EXIT_FAILED, "%s", e.text);
	n = sscanf(buf_cstr(&text), "# %lf of %lf samples are in blocks", &o->mapped, &o->taken);
	more = strchr(text.p, '\n');
	if (more && sscanf(more, "\n# %lf more are in /%n", &o->more, &at) == 1 && at)
		o->more_path =
		    arena_printf(o->mem, "%.*s", (int)strcspn(more + at - 1, "\n"), more + at - 1);
	buf_free(&text);
	return n == 2 ? EXIT_DONE : complain(EXIT_FAILED, "%s: not as written", o->samples);
}

static int watch(struct optimizing *o)
{
	const char **argv = arena_array(o->mem, (size_t)o->in->narg + 8, sizeof *argv);
	const char *table = in_dir(o, "table");
	const char *make[] = {tool(o, "morph-edit"), "--json", "--artifact", o->artifact,
	    "--replay-table", "-o", table, NULL};
	struct buf said = {0};
	int i, n = 0, status, code;

	if (o->library && o->in->narg < 2)
		return complain(EXIT_USAGE,
		    "%s: is a library; say what program is to use it: -- PROGRAM [ARG…]",
		    o->program);
	code = ask_editor(make, &said);
	buf_free(&said);
	if (code != EXIT_DONE)
		return code;
	argv[n++] = tool(o, "../libexec/morph/morph-watch");
	argv[n++] = o->artifact;
	argv[n++] = table;
	argv[n++] = o->dir;
	argv[n++] = tool(o, "morph-monitor");
	argv[n++] = "--";
	if (!o->library)
		argv[n++] = o->program;
	for (i = 1; i < o->in->narg; i++)
		argv[n++] = o->in->arg[i];
	argv[n] = NULL;
	status = run(o, argv);
	if (status > 0)
		complain(EXIT_FAILED, "%s ended with status %d",
		    o->library ? o->in->arg[1] : o->program, status);
	return status < 0 || access(o->samples, F_OK) ? EXIT_FAILED : EXIT_DONE;
}

/* Of a recording. */
static int map(struct optimizing *o)
{
	const char *from = command_value(o->in, OPT_FROM), *argv[10];
	int n = 0;

	argv[n++] = tool(o, "../libexec/morph/morph-report");
	argv[n++] = "export";
	argv[n++] = arena_printf(o->mem, "--artifact=%s", o->artifact);
	argv[n++] = arena_printf(o->mem, "--output=%s", o->samples);
	if (from)
		argv[n++] = arena_printf(o->mem, "--from=%s", from);
	argv[n++] = "--";
	argv[n++] = "blocks";
	argv[n++] = command_value(o->in, OPT_INPUT);
	argv[n] = NULL;
	return run(o, argv) ? EXIT_FAILED : EXIT_DONE;
}

static int elsewhere(const struct optimizing *o)
{
	if (!o->more_path)
		return complain(
		    EXIT_FAILED, "%s: no samples are in its code; let it run longer", o->program);
	return complain(EXIT_FAILED,
	    "%s: no samples are in its code, most are in %s: morphctl optimize %s -o COPY -- "
	    "PROGRAM …",
	    o->program, o->more_path, o->more_path);
}

static int sample(struct optimizing *o)
{
	int code;

	o->samples = in_dir(o, "samples");
	code = command_value(o->in, OPT_INPUT) ? map(o) : watch(o);
	if (code == EXIT_DONE)
		code = read_head(o);
	return code == EXIT_DONE && !(o->mapped > 0) ? elsewhere(o) : code;
}

static int predict(struct optimizing *o)
{
	const char *argv[] = {tool(o, "morph-edit"), "--json", "--artifact", o->artifact,
	    "--samples", o->samples, "--score", "--interval", NULL};

	return ask_answer(
	    argv, EDITANSWER_LAYOUT | EDITANSWER_SCORES | EDITANSWER_ESTIMATE, &o->score);
}

static int edit(struct optimizing *o)
{
	const char *argv[] = {tool(o, "morph-edit"), "--json", "--artifact", o->artifact,
	    "--original", o->program, "--samples", o->samples, "-o", o->copy, NULL};

	return ask_answer(argv, EDITANSWER_LAYOUT | EDITANSWER_SCORES | EDITANSWER_BUILD, &o->edit);
}

/* ---- what came of it ---- */

static json_t *result(const struct optimizing *o)
{
	const struct editanswer_estimate *g = &o->score.estimate;
	json_t *artifact = o->lifted ? json_null() : json_string(o->artifact);
	json_t *more = o->more_path ? json_pack("{sf ss}", "samples", o->more, "path", o->more_path)
				    : json_null();

	return json_pack("{ss ss so sO? sf sf so si sf s{sf sf sf} s{sI sI}}", "program",
	    o->program, "copy", o->copy, "artifact", artifact, "lifted", o->lifted, "samples",
	    o->taken, "mapped", o->mapped, "more", more, "functions", (int)o->edit.edited,
	    "moved_share", o->taken > 0 ? o->mapped / o->taken * (1 - o->edit.opaque_share) : 0,
	    "predicted", "gain", g->gain, "low", g->low, "high", g->high, "size", "before",
	    (json_int_t)o->edit.size.before, "after", (json_int_t)o->edit.size.after);
}

static char *lifted_words(struct arena *a, const json_t *lifted)
{
	double all = json_num(lifted, "functions"), stay = json_num(lifted, "stay");
	const json_t *why = json_array_get(json_object_get(lifted, "reasons"), 0);
	char *text = arena_printf(
	    a, "%s of %s", words_number(a, all - stay), words_plural(a, all, "function"));

	if (!(stay > 0) || !why)
		return text;
	return arena_printf(
	    a, "%s; most of the others: %s", text, words_clean(a, json_str(why, "text")));
}

static void show_result(const struct invocation *in, const json_t *r)
{
	const json_t *lifted = json_object_get(r, "lifted"), *g = json_object_get(r, "predicted");
	const json_t *size = json_object_get(r, "size"), *more = json_object_get(r, "more");
	double taken = json_num(r, "samples"), low = json_num(g, "low");
	bool colour = table_colour();
	struct arena *a = in->mem;
	char gain[NUMBER_RANGE];

	if (json_is_object(lifted))
		table_field(stdout, colour, "lifted", lifted_words(a, lifted));
	else
		table_field(stdout, colour, "artifact", words_clean(a, json_str(r, "artifact")));
	table_field(stdout, colour, "samples",
	    arena_printf(a, "%s in its own code, %s in known blocks", words_number(a, taken),
		words_share(a, json_num(r, "mapped") / taken)));
	if (json_num(more, "samples") > taken)
		table_field(stdout, colour, "",
		    arena_printf(a, "%s are in %s: make a copy of that (-- PROGRAM ARG…)",
			words_number(a, json_num(more, "samples")),
			words_clean(a, json_str(more, "path"))));
	table_field(stdout, colour, "moved",
	    arena_printf(a, "%s with %s of them",
		words_plural(a, json_num(r, "functions"), "function"),
		words_share(a, json_num(r, "moved_share"))));
	table_field(stdout, colour, "gain",
	    arena_printf(a, "%s of the time in them, predicted%s",
		number_range(json_num(g, "gain"), low, json_num(g, "high"), gain),
		low > 0 ? "" : "; that may be nothing: a longer run would tell"));
	table_field(stdout, colour, "written",
	    arena_printf(a, "%s, %s of code and data (%s before)",
		words_clean(a, json_str(r, "copy")), words_bytes(a, json_num(size, "after")),
		words_bytes(a, json_num(size, "before"))));
}

/* ---- the command ---- */

static bool is_library(const char *path)
{
	struct elf *f = elf_file_open(path, -1, NULL);
	bool is = f && elf_file_kind(f) == ELF_SHARED;

	elf_file_close(f);
	return is;
}

static int optimize(struct optimizing *o)
{
	static int (*const step[])(struct optimizing *) = {lift, sample, predict, edit};
	int code = check_copy(o);
	size_t i;

	for (i = 0; code == EXIT_DONE && i < sizeof step / sizeof *step; i++)
		code = step[i](o);
	return code;
}

int cmd_optimize(const struct invocation *in)
{
	const char *tmp = env_value("TMPDIR");
	struct optimizing o = {.in = in, .mem = in->mem, .copy = command_value(in, OPT_OUTPUT)};
	char *dir, *program;
	struct err e;
	int code;

	if (!o.copy)
		return complain(EXIT_USAGE, "optimize: -o COPY is missing");
	program = realpath(in->arg[0], NULL);
	if (!program)
		return complain(EXIT_FAILED, "%s: %s", in->arg[0], strerror(errno));
	dir = xasprintf("%s/morph-optimize-XXXXXX", tmp ? tmp : "/tmp");
	o.program = program;
	o.library = is_library(program);
	o.dir = dir;
	if (!mkdtemp(dir)) {
		code = complain(EXIT_FAILED, "%s: %s", dir, strerror(errno));
	} else {
		code = optimize(&o);
		if (dir_remove(dir, &e))
			complain(EXIT_FAILED, "%s", e.text);
	}
	if (code == EXIT_DONE)
		code = show(in, result(&o), show_result);
	json_decref(o.lifted);
	free(program);
	free(dir);
	return code;
}
