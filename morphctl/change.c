/* morphctl reoptimize, rollback, reload: asking the manager to do something. */
#include "morphctl/client/client.h"
#include "morphctl/command.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POLL_S = 30, LIVE_S = 1 };

static bool has_status(const json_t *change, const char *status)
{
	const char *s = json_str(change, "status");

	return s && strcmp(s, status) == 0;
}

static void show_change(const struct invocation *in, const json_t *change)
{
	const char *path = json_str(change, "path"), *text = json_str(change, "text");
	const char *status = json_str(change, "status");
	struct arena *a = in->mem;

	printf("%s of %s: %s", words_clean(a, json_str(change, "kind")),
	    path ? words_clean(a, path) : "all modules", words_clean(a, status));
	if (text && *text && strcmp(text, status ? status : "") != 0)
		printf(", %s", words_said(a, text));
	putchar('\n');
	if (!json_is_true(json_object_get(change, "ready")) && !(in->given & OPT_WAIT))
		printf("It goes on by itself; morphctl status shows it, --wait waits for it.\n");
}

static void show_changes(const struct invocation *in, const json_t *list)
{
	const json_t *change;
	size_t i;

	json_array_foreach (list, i, change)
		show_change(in, change);
}

/* "waits for its turn after 2 others: edit of PROGRAM, for 12 s, about 5 s left" */
static char *waiting_words(struct arena *a, const json_t *change)
{
	const json_t *w = json_object_get(change, "working");
	double ahead = json_num(change, "ahead");
	char *s = words_clean(a, json_str(change, "text"));

	if (ahead > 0)
		s = arena_printf(a, "%s after %s", s, words_plural(a, ahead, "other"));
	return json_is_object(w) ? arena_printf(a, "%s: %s", s, words_working(a, w, time(NULL)))
				 : s;
}

/* On a terminal, in one line that is written over: the step, since when, about how long still. */
static void print_progress(const struct invocation *in, const json_t *change)
{
	const char *step = json_str(change, "step"), *path = json_str(change, "path");
	struct arena *a = in->mem;

	fprintf(stderr, "\r\033[K%s%s%s", step && path ? words_clean(a, path) : "",
	    step && path ? ": " : "",
	    step ? words_step(a, step, json_str(change, "step_since"), json_num(change, "eta_s"),
		       time(NULL))
		 : waiting_words(a, change));
	fflush(stderr);
}

/* Until it is ready. Replaces *change. */
static int wait_for(const struct invocation *in, struct client *c, json_t **change)
{
	bool live = isatty(STDERR_FILENO) && !in->json;
	int code = EXIT_DONE;
	json_t *next;

	while (code == EXIT_DONE && !json_is_true(json_object_get(*change, "ready"))) {
		if (live)
			print_progress(in, *change);
		code = client_get(c, &next, "/v1/changes/%s?wait=%d", json_str(*change, "id"),
		    live ? LIVE_S : POLL_S);
		if (code == EXIT_DONE) {
			json_decref(*change);
			*change = next;
		}
	}
	if (live)
		fputs("\r\033[K", stderr);
	if (code)
		return code;
	if (has_status(*change, "refused"))
		return EXIT_REFUSED;
	return has_status(*change, "failed") ? EXIT_FAILED : EXIT_DONE;
}

/* POST, then wait where that is asked for. *change is NULL when nothing began. */
static int ask(const struct invocation *in, struct client *c, const char *path, json_t **change)
{
	json_t *body = in->given & OPT_FORCE ? json_pack("{sb}", "force", 1) : NULL;
	int code = client_post(c, change, body, "%s", path);

	if (code == EXIT_DONE && (in->given & OPT_WAIT))
		code = wait_for(in, c, change);
	return code;
}

static int ask_and_show(const struct invocation *in, struct client *c, const char *path)
{
	json_t *change;
	int code = ask(in, c, path, &change);

	if (change)
		show(in, change, show_change);
	return code;
}

/* POST /v1/modules/ID/VERB of the module the first argument names. */
static int ask_module(const struct invocation *in, struct client *c, const char *verb)
{
	json_t *m;
	int code = client_module(c, in->arg[0], &m);

	if (code == EXIT_DONE)
		code = ask_and_show(
		    in, c, arena_printf(in->mem, "/v1/modules/%s/%s", json_str(m, "id"), verb));
	json_decref(m);
	return code;
}

int cmd_reoptimize(const struct invocation *in)
{
	struct client *c = client_open(in->socket, in->mem);
	int code =
	    in->narg > 0 ? ask_module(in, c, "reoptimize") : ask_and_show(in, c, "/v1/reoptimize");

	client_close(c);
	return code;
}

/* Every one that can be; the first failure is the exit code, the rest goes on. */
static int rollback_all(const struct invocation *in, struct client *c)
{
	json_t *modules, *done = json_array(), *m, *change;
	int code, one;
	size_t i;

	code = client_get(c, &modules, "/v1/modules?limit=1000");
	json_array_foreach (modules, i, m) {
		if (!json_is_true(json_object_get(m, "rollback")))
			continue;
		one = ask(in, c,
		    arena_printf(in->mem, "/v1/modules/%s/rollback", json_str(m, "id")), &change);
		if (change)
			json_array_append_new(done, change);
		code = code ? code : one;
	}
	json_decref(modules);
	if (code == EXIT_DONE && json_array_size(done) == 0 && !in->json)
		puts("Nothing to roll back.");
	show(in, done, show_changes);
	return code;
}

int cmd_rollback(const struct invocation *in)
{
	bool all = in->given & OPT_ALL;
	struct client *c;
	int code;

	if (all == (in->narg > 0))
		return complain(EXIT_USAGE, "rollback: name one module or say --all");
	c = client_open(in->socket, in->mem);
	code = all ? rollback_all(in, c) : ask_module(in, c, "rollback");
	client_close(c);
	return code;
}

static void show_policy(const struct invocation *in, const json_t *result)
{
	const char *path = json_str(result, "policy");

	printf(
	    "In force: %s\n", path ? words_clean(in->mem, path) : "the defaults, without a file");
}

int cmd_reload(const struct invocation *in)
{
	struct client *c = client_open(in->socket, in->mem);
	json_t *result;
	int code = client_post(c, &result, NULL, "/v1/reload");

	if (result)
		show(in, result, show_policy);
	client_close(c);
	return code;
}
