/* morphctl history, explain, profile: what the manager remembers of modules. */
#include "common/ascii.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- history ---- */

static char *size_words(struct arena *a, const json_t *ev)
{
	double before = json_num(ev, "size_before"), after = json_num(ev, "size_after");

	if (isnan(before) || isnan(after))
		return arena_strdup(a, "-");
	return arena_printf(a, "%s → %s", words_bytes(a, before), words_bytes(a, after));
}

static enum paint event_paint(const char *event)
{
	if (strcmp(event, "swapped") == 0)
		return GOOD;
	if (strcmp(event, "failed") == 0)
		return BAD;
	return strcmp(event, "rolled-back") == 0 || strcmp(event, "recovered") == 0 ? WARN : PLAIN;
}

static void show_history(const struct invocation *in, const json_t *list)
{
	static const struct column column[] = {{"WHEN", LEFT}, {"EVENT", LEFT}, {"MODULE", CUT},
	    {"SAMPLES", RIGHT}, {"GAIN", RIGHT}, {"TIME", RIGHT}, {"SIZE", LEFT}, {"USER", LEFT}};
	struct table t = {column, sizeof column / sizeof *column - !words_others(list)};
	struct arena *a = in->mem;
	const json_t *ev;
	size_t i;

	json_array_foreach (list, i, ev) {
		const char *event = words_clean(a, json_str(ev, "event"));
		struct table_row *row = table_row(&t, words_local(a, json_str(ev, "at")), event,
		    words_clean(a, json_str(ev, "path")), words_number(a, json_num(ev, "samples")),
		    words_share(a, json_num(ev, "gain")),
		    words_duration(a, json_num(ev, "seconds")), size_words(a, ev),
		    words_user(a, json_num(ev, "uid")));

		row->cell[1].paint = event_paint(event);
		if (json_str(ev, "text") && *json_str(ev, "text"))
			row->note = words_said(a, json_str(ev, "text"));
	}
	if (t.row.n > 0)
		table_print(stdout, &t, table_colour());
	else
		puts("Nothing happened yet.");
	table_free(&t);
}

int cmd_history(const struct invocation *in)
{
	long limit = in->limit ? in->limit : 100;
	struct client *c = client_open(in->socket, in->mem);
	json_t *m = NULL, *list;
	int code = EXIT_DONE;

	if (in->narg > 0)
		code = client_module(c, in->arg[0], &m);
	if (code == EXIT_DONE && m)
		code = client_get(
		    c, &list, "/v1/history?limit=%ld&module=%s", limit, json_str(m, "id"));
	else if (code == EXIT_DONE)
		code = client_get(c, &list, "/v1/history?limit=%ld", limit);
	json_decref(m);
	if (code == EXIT_DONE)
		code = show(in, list, show_history);
	client_close(c);
	return code;
}

/* ---- explain ---- */

static enum paint outcome_paint(const char *outcome)
{
	if (strcmp(outcome, "stopped") == 0)
		return WARN;
	return strcmp(outcome, "passed") == 0 ? GOOD : DIM;
}

/* Cut off, as in the texts: what misses a limit must not look like it. */
static char *limit_words(struct arena *a, double v)
{
	return isnan(v)                        ? ""
	       : fabs(v) < 10 && v != round(v) ? arena_printf(a, "%.3g", v)
					       : words_number(a, floor(v));
}

static void show_ladder(const struct invocation *in, const json_t *ladder, bool colour)
{
	static const struct column column[] = {{"", RIGHT}, {"RUNG", LEFT}, {"OUTCOME", LEFT},
	    {"VALUE", RIGHT}, {"LIMIT", RIGHT}, {"", WRAP}};
	struct table t = {column, sizeof column / sizeof *column, 2};
	struct arena *a = in->mem;
	const json_t *step;
	size_t i;

	json_array_foreach (ladder, i, step) {
		const char *outcome = words_clean(a, json_str(step, "outcome"));
		struct table_row *row = table_row(&t, words_number(a, json_num(step, "rung")),
		    words_clean(a, json_str(step, "name")), outcome,
		    limit_words(a, json_num(step, "value")),
		    limit_words(a, json_num(step, "limit")), words_said(a, json_str(step, "text")));

		row->cell[2].paint = outcome_paint(outcome);
	}
	table_print(stdout, &t, colour);
	table_free(&t);
}

/* The list of functions that come first, and what of it the program has not. */
static const char *order_words(struct arena *a, const json_t *o)
{
	const char *path = words_clean(a, json_str(o, "path")), *example = json_str(o, "example");
	double names = json_num(o, "names");

	if (isnan(names))
		return path;
	return arena_printf(a, "%s: %s%s", path, words_plural(a, names, "name"),
	    example ? arena_printf(a, ", %s of no function that can move, such as '%s'",
			  words_number(a, json_num(o, "missed")), words_clean(a, example))
		    : "");
}

/* What there is to say of a module, without its path before it. */
static const char *text_of(const json_t *m)
{
	const char *path = json_str(m, "path"), *text = json_str(m, "text");
	size_t n = path ? strlen(path) : 0;

	return n && text && !strncmp(text, path, n) && !strncmp(text + n, ": ", 2) ? text + n + 2
										   : text;
}

static void show_explain(const struct invocation *in, const json_t *e)
{
	const json_t *m = json_object_get(e, "module"), *d = json_object_get(e, "decision");
	bool colour = table_colour();
	int64_t now = time(NULL);
	struct arena *a = in->mem;
	double times = json_num(d, "times");
	const char *fetch = words_fetch(a, m), *legacy = words_legacy(a, m);
	const json_t *w = json_object_get(e, "working"), *order = json_object_get(e, "order");

	table_paint(stdout, colour, BOLD, words_clean(a, json_str(m, "path")));
	printf(", %s\n", words_said(a, text_of(m)));
	if (legacy)
		table_field(
		    stdout, colour, "lifting", arena_printf(a, "has no artifact: %s", legacy));
	if (fetch)
		table_field(stdout, colour, "not fetched", fetch);
	if (json_is_object(w))
		table_field(stdout, colour, "working",
		    words_step(
			a, json_str(w, "step"), json_str(w, "since"), json_num(w, "eta_s"), now));
	if (json_is_object(order))
		table_field(stdout, colour, "order", order_words(a, order));
	if (!json_is_object(d)) {
		if (!legacy)
			puts("  Nothing was decided yet.");
		return;
	}
	table_field(stdout, colour, "verdict",
	    arena_printf(a, "%s (%s): %s", words_clean(a, json_str(d, "verdict")),
		words_clean(a, json_str(d, "reason")), words_said(a, json_str(d, "text"))));
	table_field(stdout, colour, "when",
	    times > 1 ? arena_printf(a, "%s, the same %s times since %s",
			    words_ago(a, json_str(d, "at"), now), words_number(a, times),
			    words_local(a, json_str(d, "since")))
		      : words_ago(a, json_str(d, "at"), now));
	putchar('\n');
	show_ladder(in, json_object_get(e, "ladder"), colour);
}

/* ---- profile ---- */

static char *successor_words(struct arena *a, const json_t *block)
{
	const json_t *w;
	char *s = "";
	size_t i;

	json_array_foreach (json_object_get(block, "successors"), i, w)
		s = arena_printf(a, "%s%s %s to %s", s,
		    i ? "," : "; branch outcomes:", words_share(a, json_num(w, "share")),
		    words_number(a, json_num(w, "block")));
	return s;
}

/* A line below a function. */
static void add_below(struct arena *a, struct table *t, const json_t *of, const char *text)
{
	struct table_row *row =
	    table_row(t, NULL, words_number(a, json_num(of, "samples")), NULL, text, NULL);

	row->cell[1].paint = row->cell[3].paint = DIM;
}

static void add_callers(struct arena *a, struct table *t, const json_t *callers)
{
	const json_t *c;
	size_t i;

	json_array_foreach (callers, i, c)
		add_below(a, t, c,
		    arena_printf(a, "  called from %s, block %s, %s of it",
			words_clean(a, json_str(c, "name")), words_number(a, json_num(c, "block")),
			words_share(a, json_num(c, "share"))));
}

static void add_blocks(struct arena *a, struct table *t, const json_t *hot)
{
	const json_t *b;
	size_t i;

	json_array_foreach (hot, i, b)
		add_below(a, t, b,
		    arena_printf(a, "  block %s, %s of it%s", words_number(a, json_num(b, "block")),
			words_share(a, json_num(b, "share")), successor_words(a, b)));
}

static void show_profile(const struct invocation *in, const json_t *p)
{
	static const struct column column[] = {{"SHARE", RIGHT}, {"SAMPLES", RIGHT},
	    {"BLOCKS HIT", RIGHT}, {"FUNCTION", CUT_END}, {"UNIT", LEFT}};
	struct table t = {column, sizeof column / sizeof *column};
	bool colour = table_colour();
	struct arena *a = in->mem;
	const json_t *f;
	size_t i;

	table_paint(stdout, colour, BOLD, words_clean(a, json_str(p, "path")));
	printf(": %s in %s of %s\n", words_plural(a, json_num(p, "samples"), "sample"),
	    words_number(a, json_num(p, "functions_sampled")),
	    words_plural(a, json_num(p, "functions_total"), "function"));
	json_array_foreach (json_object_get(p, "functions"), i, f) {
		const char *opaque = json_str(f, "opaque");
		struct table_row *row = table_row(&t, words_share(a, json_num(f, "share")),
		    words_number(a, json_num(f, "samples")),
		    arena_printf(a, "%s / %s", words_number(a, json_num(f, "blocks_sampled")),
			words_number(a, json_num(f, "blocks"))),
		    words_clean(a, json_str(f, "name")), words_clean(a, json_str(f, "tu")));

		if (opaque)
			row->note = arena_printf(a, "moves as a whole: %s", words_clean(a, opaque));
		add_callers(a, &t, json_object_get(f, "callers"));
		add_blocks(a, &t, json_object_get(f, "hot"));
	}
	if (t.row.n > 0)
		table_print(stdout, &t, colour);
	table_free(&t);
}

/* ---- the commands about one module ---- */

/* GET of something below the module that the first argument names. */
static int about_module(const struct invocation *in, const char *what, show_text *text)
{
	struct client *c = client_open(in->socket, in->mem);
	json_t *m, *result;
	int code;

	code = client_module(c, in->arg[0], &m);
	if (code == EXIT_DONE) {
		code = client_get(c, &result, "/v1/modules/%s/%s", json_str(m, "id"), what);
		if (code == EXIT_DONE)
			code = show(in, result, text);
		json_decref(m);
	}
	client_close(c);
	return code;
}

int cmd_explain(const struct invocation *in)
{
	return about_module(in, "explain", show_explain);
}

/* Line by line, since names are whoever's built the program. */
static void print_lines(struct arena *a, char *text)
{
	char *line, *save;

	ascii_keep_stdout();
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		puts(words_clean(a, line));
}

static int profile_text(const struct invocation *in)
{
	struct client *c = client_open(in->socket, in->mem);
	struct buf text = {0};
	json_t *m;
	int code;

	code = client_module(c, in->arg[0], &m);
	if (code == EXIT_DONE) {
		code = client_get_text(c, &text, "/v1/modules/%s/samples", json_str(m, "id"));
		json_decref(m);
	}
	if (code == EXIT_DONE)
		print_lines(in->mem, buf_cstr(&text));
	buf_free(&text);
	client_close(c);
	return code;
}

int cmd_profile(const struct invocation *in)
{
	enum { FUNCTIONS = 20, BLOCKS = 8 };
	const char *what = arena_printf(in->mem, "profile?functions=%ld&blocks=%d",
	    in->limit ? in->limit : FUNCTIONS, in->given & OPT_BLOCKS ? BLOCKS : 0);

	if (in->given & OPT_TEXT && (in->json || in->given != OPT_TEXT))
		return complain(EXIT_USAGE, "profile: --text is all of it, and goes alone");
	if (in->given & OPT_TEXT)
		return profile_text(in);
	return about_module(in, what, show_profile);
}
