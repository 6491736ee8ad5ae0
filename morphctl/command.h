/*
 * A command of morphctl: a row of the table in main.c. Its arguments are
 * counted and its options known before run() is called.
 */
#ifndef MORPH_MORPHCTL_COMMAND_H
#define MORPH_MORPHCTL_COMMAND_H

#include "common/err.h"
#include "common/mem.h"
#include "morphctl/text/complain.h"

#include <jansson.h>
#include <stdbool.h>

/* Options beyond --json, --socket and --help that a command may know. */
enum {
	OPT_WAIT = 1,
	OPT_ALL = 2,
	OPT_FORCE = 4,
	OPT_BLOCKS = 8,
	OPT_LIMIT = 16,
	OPT_FUNCTIONS = 32,
	OPT_TEXT = 64,
	OPT_POLICY = 128,
	OPT_DECISIONS = 256,
	OPT_EQUAL = 512,
	OPT_OUTPUT = 1024,
	OPT_INPUT = 2048,
	OPT_FROM = 4096,
	OPT_BY = 8192,
	OPT_EVENT = 16384,
	OPT_CALLERS = 32768,
	OPT_SINCE = 65536,
	OPT_UNTIL = 1 << 17,
	OPT_PROGRAM = 1 << 18,
	OPT_LISTEN = 1 << 19,
	OPT_CHARGED = 1 << 20,
	OPTIONS = 20
};

struct invocation {
	const char *socket; /* of --socket, or NULL */
	bool system;        /* --system */
	bool json;
	unsigned given;             /* OPT_… */
	long limit;                 /* of --limit, 0 = not given */
	const char *value[OPTIONS]; /* of each option that takes one: command_value() */
	char **arg;                 /* positional */
	int narg;
	struct arena *mem; /* lives until the program ends */
};

/* What was given with an option, or NULL. */
static inline const char *command_value(const struct invocation *in, unsigned option)
{
	return in->value[__builtin_ctz(option)];
}

struct command {
	const char *name; /* one word or two */
	const char *args; /* "[MODULE]" */
	const char *summary;
	const char *help; /* paragraphs below the synopsis */
	unsigned options; /* OPT_… */
	int min, max;     /* positional arguments */
	int (*run)(const struct invocation *in);
};

int cmd_status(const struct invocation *in);
int cmd_reoptimize(const struct invocation *in);
int cmd_rollback(const struct invocation *in);
int cmd_history(const struct invocation *in);
int cmd_explain(const struct invocation *in);
int cmd_profile(const struct invocation *in);
int cmd_artifact(const struct invocation *in);
int cmd_artifact_install(const struct invocation *in);
int cmd_artifact_list(const struct invocation *in);
int cmd_artifact_find(const struct invocation *in);
int cmd_reload(const struct invocation *in);
int cmd_artifact_fetch(const struct invocation *in);
int cmd_artifact_remove(const struct invocation *in);
/* The artifact that a person means by its own name, its program's or its build-id, to free;
 * or NULL. */
char *command_artifact(const char *name, struct err *e);
/* Becomes morph-edit, which reads profiles. */
int cmd_compare(const struct invocation *in);
int cmd_merge(const struct invocation *in);
int cmd_optimize(const struct invocation *in);
/* Becomes morph-simulate. */
int cmd_simulate(const struct invocation *in);
/* Become morph-report. */
int cmd_report(const struct invocation *in);
int cmd_annotate(const struct invocation *in);
int cmd_top(const struct invocation *in);
/* Of annotate, by the editor's blocks: becomes morph-edit. */
int blocks_annotate(const struct invocation *in);
/* Of export: the path of the module of this name, and executions of its code as inferred
 * (docs/FORMATS.md, "Branches"), in a file without a name; *path is its one for a child. */
int blocks_branches(
    const struct invocation *in, const char *name, const char **module, const char **path);
int cmd_export(const struct invocation *in);

/* Becomes morph-web. */
int cmd_web(const struct invocation *in);

/* The end of every command: the result as it came with --json, else in
 * the command's own words. Consumes result. */
typedef void show_text(const struct invocation *in, const json_t *result);
int show(const struct invocation *in, json_t *result, show_text *text);

#endif
