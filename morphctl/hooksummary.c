#include "morphctl/hooksummary.h"
#include "common/command/driver.h"
#include "common/hash.h"
#include "common/hooklog.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"
#include "morphctl/doctor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct link {
	char *output, *reason; /* reason "" = it got an artifact */
	bool library;
};

struct hooksummary {
	VEC(struct link) link;
	struct htab by_output; /* index + 1 */
	struct htab kept;      /* names of objects that are left as they are, each once */
	size_t doubts;         /* how many */
	size_t objects;        /* annotated ones */
	bool probes;           /* a configure script asked */
};

/* ---- reading ---- */

static bool begins(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* The last link of an output counts. */
static void take_link(struct hooksummary *s, const char *output, const char *reason, bool library)
{
	uint64_t *i = htab_put_str(&s->by_output, output, NULL);
	struct link *l;

	if (!*i) {
		vec_push(&s->link, (struct link){.output = xstrdup(output)});
		*i = s->link.n;
	}
	l = &s->link.v[*i - 1];
	free(l->reason);
	l->reason = xstrdup(begins(reason, "no artifact: ") ? reason + 13 : reason);
	l->library = library;
}

static void take_kept(struct hooksummary *s, const char *name)
{
	bool fresh;

	htab_put_str(&s->kept, name, &fresh);
	s->doubts += fresh;
}

static void take_event(struct hooksummary *s, const char *line)
{
	static const char kept[] = ": kept as an object: "; /* hooks/record.c */
	const char *tool, *output, *reason, *end;
	json_t *j = json_loads(line, 0, NULL);
	char *name;

	if (!json_unpack(j, "{s:s,s:s,s:s}", "tool", &tool, "output", &output, "reason", &reason)) {
		if (!strcmp(tool, "as")) {
			take_kept(s, output);
		} else if (!strcmp(tool, "ld") && (end = strstr(reason, kept))) {
			name = xasprintf("%.*s", (int)(end - reason), reason);
			take_kept(s, name);
			free(name);
		} else if (!strcmp(tool, "ld") && (!*reason || begins(reason, "no artifact: ") ||
						      begins(reason, "not x86-64"))) {
			take_link(s, output, reason, json_is_true(json_object_get(j, "library")));
		}
	}
	json_decref(j);
}

struct hooksummary *hooksummary_read(const char *run)
{
	char *events = xasprintf("%s/events", run), *objects = xasprintf("%s/objects", run);
	char *probe = xasprintf("%s/" HOOKLOG_PROBE, run), *line = NULL;
	struct hooksummary *s = xcalloc(1, sizeof *s);
	FILE *f = fopen(events, "re");
	struct stat st;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0)
		take_event(s, line);
	if (f)
		fclose(f);
	if (stat(objects, &st) == 0)
		s->objects = (size_t)st.st_size;
	s->probes = access(probe, F_OK) == 0;
	free(line);
	free(events);
	free(objects);
	free(probe);
	return s;
}

static void free_summary(struct hooksummary *s)
{
	size_t i;

	for (i = 0; i < s->link.n; i++) {
		free(s->link.v[i].output);
		free(s->link.v[i].reason);
	}
	vec_free(&s->link);
	htab_free(&s->by_output);
	htab_free(&s->kept);
	free(s);
}

/* ---- why nothing was hooked ---- */

/* A compiler among the words of the command that is called by a path which the hooks do not
 * reach; NULL. */
static const char *compiler_by_path(char *const argv[])
{
	for (; *argv; argv++)
		if (**argv == '/' && driver_name(path_base(*argv)) && doctor_passed_by(*argv))
			return *argv;
	return NULL;
}

/* The folder in which make, ninja and cmake build. */
static const char *build_folder(char *const argv[])
{
	for (; *argv; argv++) {
		if ((!strcmp(*argv, "-C") || !strcmp(*argv, "--build")) && argv[1])
			return argv[1];
		if (begins(*argv, "-C") && (*argv)[2])
			return *argv + 2;
		if (begins(*argv, "--directory="))
			return *argv + 12;
	}
	return ".";
}

/* To free. */
static char *likely_cause(char *const argv[])
{
	const char *named = compiler_by_path(argv), *folder = build_folder(argv);
	char *configured, *text;

	if (named)
		return xasprintf("%s is called by its path: name it without the folder, or put "
				 "morph-cc before it",
		    named);
	configured = doctor_unhooked(folder);
	if (!configured)
		return xstrdup("probably everything was up to date: build from clean; "
			       "`morphctl hooks doctor FOLDER` says what else stands in the way");
	text = xasprintf("the build is configured with %s, by its path: configure it again under "
			 "hooks run (`morphctl hooks doctor %s`)",
	    configured, folder);
	free(configured);
	return text;
}

/* ---- the line ---- */

static void say(const char *text)
{
	size_t room = 4 * strlen(text) + 1;
	char *s = xmalloc(room);

	log_escape(s, room, text);
	fprintf(stderr, "morph: %s\n", s);
	free(s);
}

static void put_number(struct buf *b, size_t n, const char *one, const char *many)
{
	buf_printf(b, "%zu %s", n, n == 1 ? one : many);
}

/* The end of the sentence: what the hooks left alone. */
static void put_skipped(struct buf *b, size_t n)
{
	if (!n)
		return;
	put_number(b, n, "file", "files");
	buf_str(b, " skipped (why: `morphctl hooks log`)");
}

static void say_made(const struct hooksummary *s)
{
	const struct link *without = NULL;
	size_t i, program = 0, library = 0;
	struct buf line = {0};

	for (i = 0; i < s->link.n; i++) {
		if (*s->link.v[i].reason)
			without = &s->link.v[i];
		else
			*(s->link.v[i].library ? &library : &program) += 1;
	}
	if (program)
		put_number(&line, program, "program", "programs");
	if (program && library)
		buf_str(&line, " and ");
	if (library)
		put_number(&line, library, "library", "libraries");
	if (line.n)
		buf_str(&line, " got a second half");
	else
		buf_printf(&line, "nothing got a second half: %s (%s)", path_base(without->output),
		    without->reason);
	i = s->link.n - program - library + s->doubts;
	if (i)
		buf_str(&line, "; ");
	put_skipped(&line, i);
	say(buf_cstr(&line));
	buf_free(&line);
}

static void say_not_linked(const struct hooksummary *s)
{
	static const char unlinked[] =
	    "nothing got a second half: objects went through the hooks, links did not (CMake needs "
	    "LINKER_LAUNCHER as well; a static library alone gets none; actions of Bazel are not "
	    "counted)";
	struct buf line = {0};

	if (s->objects) {
		buf_str(&line, unlinked);
		hooklog("run", NULL, "%s", unlinked);
	} else {
		buf_str(&line, "nothing got a second half: no object was annotated");
	}
	if (s->doubts)
		buf_str(&line, "; ");
	put_skipped(&line, s->doubts);
	say(buf_cstr(&line));
	buf_free(&line);
}

static void say_nothing_hooked(char *const argv[])
{
	char *cause = likely_cause(argv);
	char *line = xasprintf("nothing was compiled or linked through the hooks: %s", cause);

	say(line);
	free(line);
	free(cause);
}

void hooksummary_say(struct hooksummary *s, char *const argv[])
{
	if (s->link.n)
		say_made(s);
	else if (s->objects || s->doubts)
		say_not_linked(s);
	else if (!s->probes)
		say_nothing_hooked(argv);
	free_summary(s);
}
