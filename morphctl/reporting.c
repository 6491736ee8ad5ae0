/* morphctl report, annotate, export and top: what morph-report makes of the manager's samples, or
 * of a file. */
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"
#include "morphctl/text/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARGUMENTS = 32 };

struct call {
	const char *argv[ARGUMENTS];
	int n;
};

static void add(struct call *c, const char *arg)
{
	c->argv[c->n++] = arg;
}

/* "--name=value" of an option that was given. */
static void pass(struct call *c, const struct invocation *in, unsigned option, const char *name)
{
	const char *value = command_value(in, option);

	if (value)
		add(c, arena_printf(in->mem, "--%s=%s", name, value));
}

/* "since=TIME&", of an option that was given; *code is EXIT_USAGE where it is no time. */
static const char *time_query(
    const struct invocation *in, struct client *c, unsigned option, const char *name, int *code)
{
	const char *given = command_value(in, option);
	const char *time = given ? words_moment(in->mem, given) : NULL;

	if (given && !time)
		*code = complain(EXIT_USAGE,
		    "--%s %s: expected a time such as 2026-03-01 or 2026-03-01 12:30, or how long "
		    "ago: 90min, 2h, 7d",
		    name, given);
	return time ? arena_printf(in->mem, "%s=%s&", name, client_escape(c, time)) : "";
}

/* The samples that the manager has, in a file without a name; *path is its one for a child. */
static int fetch(const struct invocation *in, const char **path)
{
	struct client *c = client_open(in->socket, in->mem);
	int code = EXIT_DONE, fd;
	const char *since = time_query(in, c, OPT_SINCE, "since", &code);
	const char *until = time_query(in, c, OPT_UNTIL, "until", &code);
	struct buf text = {0};

	if (code == EXIT_DONE)
		code = client_get_text(c, &text, "/v1/addresses?%s%s", since, until);
	client_close(c);
	if (code == EXIT_DONE) {
		fd = memfd_create("samples", 0);
		if (fd < 0 || file_write_all(fd, text.p, text.n))
			code = complain(EXIT_FAILED, "samples: %s", strerror(errno));
		*path = arena_printf(in->mem, "/proc/self/fd/%d", fd);
	}
	buf_free(&text);
	return code;
}

/* Which samples, as an argument of morph-report and options that say more of them. */
static int choose_input(struct call *c, const struct invocation *in, const char **path)
{
	*path = command_value(in, OPT_INPUT);
	pass(c, in, OPT_FROM, "from");
	pass(c, in, OPT_PROGRAM, "module");
	if (!*path)
		return fetch(in, path);
	if (in->given & (OPT_SINCE | OPT_UNTIL))
		return complain(EXIT_USAGE, "--since and --until are of the manager's samples");
	return EXIT_DONE;
}

static int become_report(struct call *c)
{
	char *program = places_own("../libexec/morph/morph-report");

	if (!program)
		return complain(EXIT_FAILED, "morph-report: %s", strerror(errno));
	execv(program, (char **)c->argv);
	complain(EXIT_FAILED, "%s: %s", program, strerror(errno));
	free(program);
	return EXIT_FAILED;
}

/* A module is known by its absolute path, or its name. */
static const char *module_name(const struct invocation *in, const char *given)
{
	char *path = strchr(given, '/') ? realpath(given, NULL) : NULL;
	const char *name = path ? arena_strdup(in->mem, path) : given;

	free(path);
	return name;
}

/* report and annotate: a verb, the input, and what it is asked about. */
static int show_samples(const struct invocation *in, const char *verb)
{
	struct call c = {0};
	const char *input;
	int code, i;

	add(&c, "morph-report");
	add(&c, verb);
	pass(&c, in, OPT_BY, "by");
	pass(&c, in, OPT_EVENT, "event");
	if (in->given & OPT_CALLERS)
		add(&c, "--callers");
	if (in->given & OPT_CHARGED)
		add(&c, "--charged");
	if (in->limit)
		add(&c, arena_printf(in->mem, "--limit=%ld", in->limit));
	if (in->json)
		add(&c, "--json");
	code = choose_input(&c, in, &input);
	if (code != EXIT_DONE)
		return code;
	add(&c, "--");
	add(&c, input);
	for (i = 0; i < in->narg; i++)
		add(&c, i ? in->arg[i] : module_name(in, in->arg[i]));
	return become_report(&c);
}

int cmd_report(const struct invocation *in)
{
	return show_samples(in, "report");
}

int cmd_annotate(const struct invocation *in)
{
	if (!(in->given & OPT_BLOCKS))
		return show_samples(in, "annotate");
	if (in->given & ~(unsigned)OPT_BLOCKS)
		return complain(
		    EXIT_USAGE, "annotate: --blocks shows the module's profile, and goes alone");
	return blocks_annotate(in);
}

int cmd_top(const struct invocation *in)
{
	struct call c = {0};

	add(&c, "morph-report");
	add(&c, "top");
	if (in->socket)
		add(&c, arena_printf(in->mem, "--socket=%s", in->socket));
	return become_report(&c);
}

/* Formats that executions become; all others are of samples. */
static bool has_branches(const char *format)
{
	static const char *const formats[] = {
	    "autofdo", "autofdo-direct", "fdata", "llvm", "preaggregated"};
	size_t i;

	for (i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(format, formats[i]) == 0)
			return true;
	return false;
}

/* What the editor makes of a module's profile, in place of the samples. */
static int choose_blocks(struct call *c, const struct invocation *in, const char **path)
{
	const char *module = "";
	int code;

	if (in->given & ~(unsigned)(OPT_BLOCKS | OPT_OUTPUT) || in->narg != 2 ||
	    !has_branches(in->arg[0]))
		return complain(EXIT_USAGE,
		    "export: --blocks is of a module's profile, as autofdo, autofdo-direct, fdata, "
		    "llvm or preaggregated");
	code = blocks_branches(in, in->arg[1], &module, path);
	add(c, "--from=autofdo");
	add(c, arena_printf(in->mem, "--module=%s", module));
	return code;
}

/* Of the module that blocks are of. */
static int name_artifact(struct call *c, const struct invocation *in)
{
	struct err e;
	char *path;

	if (in->narg < 2)
		return complain(EXIT_USAGE, "export blocks: name the MODULE, or its artifact");
	path = command_artifact(in->arg[1], &e);
	if (!path)
		return complain(EXIT_NOT_FOUND, "%s", e.text);
	add(c, arena_printf(in->mem, "--artifact=%s", path));
	free(path);
	return EXIT_DONE;
}

int cmd_export(const struct invocation *in)
{
	bool executed = in->given & OPT_BLOCKS, own;
	struct call c = {0};
	const char *input = NULL;
	int code;

	add(&c, "morph-report");
	add(&c, strcmp(in->arg[0], "list") == 0 ? "formats" : "export");
	pass(&c, in, OPT_OUTPUT, "output");
	if (strcmp(in->arg[0], "list") == 0)
		return become_report(&c);
	own = strcmp(in->arg[0], "blocks") == 0;
	code = own ? name_artifact(&c, in) : EXIT_DONE;
	if (code == EXIT_DONE)
		code = executed ? choose_blocks(&c, in, &input) : choose_input(&c, in, &input);
	if (code != EXIT_DONE)
		return code;
	add(&c, "--");
	add(&c, in->arg[0]);
	add(&c, input);
	if (!executed && !own && in->narg > 1)
		add(&c, module_name(in, in->arg[1]));
	return become_report(&c);
}
