/* morphctl status: the manager and all modules, or one module. */
#include "common/number.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"
#include "morphctl/other.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- words ---- */

static enum paint state_paint(const char *state)
{
	if (strcmp(state, "laid-out") == 0)
		return GOOD;
	if (strcmp(state, "held") == 0 || strcmp(state, "gone") == 0)
		return WARN;
	return PLAIN;
}

static const char *state_words(struct arena *a, const json_t *m)
{
	const char *state = json_str(m, "state");

	if (state && strcmp(state, "laid-out") == 0)
		return "laid out";
	if (state && strcmp(state, "no-artifact") == 0)
		return "no artifact";
	return words_clean(a, state);
}

/* What the last decision about a module was, as one line. */
static char *decision_words(struct arena *a, const json_t *m, int64_t now)
{
	const json_t *d = json_object_get(m, "decision");
	const char *verdict = json_str(d, "verdict"), *at = json_str(d, "at");
	const char *layout = json_str(m, "layout_at");
	const char *text = words_said(a, json_str(d, "text"));
	const char *ago = words_ago(a, at, now);

	if (!verdict)
		return arena_strdup(a, "not decided yet");
	/* Times are of one form, in which the later one is the greater text. */
	if (strcmp(verdict, "edit") == 0 && layout && at && strcmp(layout, at) >= 0)
		return arena_strdup(a, "not decided again since it was laid out");
	if (strcmp(verdict, "wait") == 0)
		return arena_printf(
		    a, "waits (%s, %s): %s", words_clean(a, json_str(d, "reason")), ago, text);
	return arena_printf(a, "%s (%s): %s",
	    strcmp(verdict, "edit") == 0 ? "makes a new layout" : "predicts the gain", ago, text);
}

/* The line below a module: a hold or the lack of an artifact says more than
 * the decision that follows from it. */
static char *module_note(struct arena *a, const json_t *m, int64_t now)
{
	const char *state = json_str(m, "state"), *text = json_str(m, "text");
	const char *fetch = words_fetch(a, m), *legacy = words_legacy(a, m);

	if (legacy)
		return arena_printf(
		    a, "%s%s%s", legacy, fetch ? "; not fetched: " : "", fetch ? fetch : "");
	if (state && text && *text &&
	    (strcmp(state, "held") == 0 || strcmp(state, "no-artifact") == 0 ||
		strcmp(state, "gone") == 0))
		return words_said(a, text);
	return decision_words(a, m, now);
}

static char *samples_line(struct arena *a, const json_t *s)
{
	double taken = json_num(s, "taken"), mapped = json_num(s, "mapped");

	return arena_printf(a, "%s taken = %s mapped%s + %s outside + %s stale + %s dropped",
	    words_number(a, taken), words_number(a, mapped),
	    taken > 0 ? arena_printf(a, " (%s)", words_share(a, mapped / taken)) : "",
	    words_number(a, json_num(s, "outside")), words_number(a, json_num(s, "stale")),
	    words_number(a, json_num(s, "dropped")));
}

static char *outside_line(struct arena *a, const json_t *by)
{
	return arena_printf(a,
	    "%s in the kernel, %s in modules without artifact, %s between "
	    "blocks, %s without build-id",
	    words_number(a, json_num(by, "kernel")), words_number(a, json_num(by, "no_artifact")),
	    words_number(a, json_num(by, "no_block")),
	    words_number(a, json_num(by, "no_build_id")));
}

static char *registers_line(struct arena *a, const json_t *r)
{
	double samples = json_num(r, "samples"), unsent = json_num(r, "unsent");

	if (!(json_num(r, "wanted") > 0) && !(samples > 0))
		return arena_strdup(a, "of no program");
	return arena_printf(a, "of %s: %s%s, %s branch outcomes, %s",
	    words_plural(a, json_num(r, "wanted"), "build"), words_plural(a, samples, "sample"),
	    unsent > 0 ? arena_printf(a, " (%s not sent)", words_number(a, unsent)) : "",
	    words_number(a, json_num(r, "outcomes")),
	    words_plural(a, json_num(r, "callers"), "caller"));
}

static char *monitor_line(struct arena *a, const json_t *m, int64_t now)
{
	bool connected = json_is_true(json_object_get(m, "connected"));
	const char *source = json_str(m, "source");
	double period = json_num(m, "period_s");

	if (!source)
		return arena_strdup(
		    a, connected ? "connected, nothing sent yet" : "none; start morph-monitor");
	return arena_printf(a, "%s, %s, one sample per %.3g ms, last batch %s",
	    connected ? "connected" : "not connected", words_clean(a, source), period * 1e3,
	    words_ago(a, json_str(m, "last_batch"), now));
}

static char *working_line(struct arena *a, const json_t *w, int64_t now)
{
	return json_is_object(w) ? words_working(a, w, now) : arena_strdup(a, "nothing");
}

/* ---- the manager ---- */

static void show_manager(const struct invocation *in, const json_t *s, int64_t now, bool colour)
{
	const json_t *idle = json_object_get(s, "idle"), *samples = json_object_get(s, "samples");
	const char *policy = json_str(s, "policy");
	struct arena *a = in->mem;

	table_paint(stdout, colour, BOLD,
	    arena_printf(a, "morphd %s", words_clean(a, json_str(s, "version"))));
	printf(", %s manager, process %.0f, up %s\n",
	    strcmp(json_str(s, "mode") ? json_str(s, "mode") : "", "user") == 0 ? "a user's own"
										: "the system's",
	    json_num(s, "pid"),
	    words_duration(a, (double)(now - words_time(json_str(s, "started")))));
	table_field(stdout, colour, "samples", samples_line(a, samples));
	if (json_num(samples, "outside") > 0)
		table_field(stdout, colour, "outside",
		    outside_line(a, json_object_get(samples, "outside_by")));
	table_field(stdout, colour, "monitor", monitor_line(a, json_object_get(s, "monitor"), now));
	table_field(
	    stdout, colour, "registers", registers_line(a, json_object_get(s, "registers")));
	table_field(stdout, colour, "idle",
	    arena_printf(a, "%s: %s", json_is_true(json_object_get(idle, "idle")) ? "yes" : "no",
		words_clean(a, json_str(idle, "text"))));
	table_field(stdout, colour, "working", working_line(a, json_object_get(s, "working"), now));
	table_field(stdout, colour, "policy", policy ? words_clean(a, policy) : "defaults");
}

static char *taken_words(struct arena *a, const json_t *predicted)
{
	return words_change(
	    a, json_num(predicted, "taken_before"), json_num(predicted, "taken_after"));
}

static double measured_runs(const json_t *t)
{
	return json_num(json_object_get(t, "old"), "runs") +
	       json_num(json_object_get(t, "new"), "runs");
}

/* "4.1 % (2.9 … 5.3)", or how far it is. */
static char *measured_words(struct arena *a, const json_t *m)
{
	const json_t *t = json_object_get(m, "measured");
	double gain = json_num(t, "gain"), runs = measured_runs(t);
	const char *by = json_str(t, "by");
	bool is_service = by && (!strcmp(by, "counter") || !strcmp(by, "cycles"));
	char text[NUMBER_RANGE];

	if (isfinite(gain))
		return arena_strdup(
		    a, number_range(gain, json_num(t, "low"), json_num(t, "high"), text));
	return runs > 0 && !json_str(t, "ended")
		   ? words_plural(a, runs, is_service ? "window" : "run")
		   : arena_strdup(a, "-");
}

/* "goes on, 12 of about 23 pairs, about 12 min left"; before there are bounds "at least". */
static char *going_on(struct arena *a, const json_t *t)
{
	const char *about = isfinite(json_num(t, "gain")) ? "about" : "at least";
	double left = json_num(t, "eta_s"), pairs = json_num(t, "pairs");
	char *s = arena_printf(a, "goes on, %s of %s %s", words_number(a, pairs), about,
	    words_plural(a, json_num(t, "pairs_wanted"), "pair"));

	return isfinite(left)
		   ? arena_printf(a, "%s, %s %s left", s, about, words_duration(a, ceil(left)))
		   : s;
}

/* The same in full, beside what was promised. */
static char *measured_long(struct arena *a, const json_t *t)
{
	double promised = json_num(t, "promised");

	return arena_printf(a, "%s%s%s; %s", words_clean(a, json_str(t, "text")),
	    isfinite(promised) ? ", predicted " : "",
	    isfinite(promised) ? words_share(a, promised) : "",
	    json_str(t, "ended") ? words_clean(a, json_str(t, "verdict")) : going_on(a, t));
}

enum { ROWS = 100, ROWS_MAX = 1000 };

static long limit_of(const struct invocation *in)
{
	return in->limit ? in->limit : ROWS;
}

/* Whether more is known of it than that it was seen. */
static bool followed(const json_t *m)
{
	const char *state = json_str(m, "state"), *lift = words_lift_state(m);

	return !state || strcmp(state, "no-artifact") || json_num(m, "mapped") > 0 ||
	       json_is_object(json_object_get(m, "fetch")) || !strcmp(lift, "waiting") ||
	       !strcmp(lift, "lifting") || !strcmp(lift, "failed");
}

/* Modules that were left out. */
struct others {
	double modules, samples;
	unsigned observed; /* would be lifted, if the policy did not say observe */
};

static void show_others(const struct others *o, struct arena *a)
{
	if (o->modules > 0)
		printf("%s without artifact %s %s: morphctl status --all\n",
		    words_plural(a, o->modules, "module"), o->modules == 1 ? "holds" : "hold",
		    words_plural(a, o->samples, "sample"));
	if (o->observed)
		printf("%u of them would be lifted; policy says observe: morphctl explain MODULE\n",
		    o->observed);
}

static void show_modules(
    const struct invocation *in, const json_t *modules, int64_t now, bool colour)
{
	static const struct column column[] = {{"MODULE", CUT}, {"STATE", LEFT}, {"SAMPLES", RIGHT},
	    {"MAPPED", RIGHT}, {"LAYOUT", LEFT}, {"PROMISED", RIGHT}, {"MEASURED", LEFT},
	    {"TAKEN", LEFT}, {"USER", LEFT}};
	/* Whose they are, where they are others', too. */
	struct table t = {column, sizeof column / sizeof *column - !words_others(modules)};
	const json_t *m, *predicted;
	struct others others = {0};
	struct arena *a = in->mem;
	bool cut = false;
	const char *layout;
	size_t i;

	json_array_foreach (modules, i, m) {
		const char *state = json_str(m, "state");
		struct table_row *row;

		if (!(in->given & OPT_ALL) && !followed(m)) {
			others.modules++;
			others.samples += json_num(m, "outside") + json_num(m, "stale");
			others.observed += !strcmp(words_lift_state(m), "observed");
			continue;
		}
		cut = t.row.n == (size_t)limit_of(in);
		if (cut)
			continue;
		predicted = json_object_get(m, "predicted");
		layout = json_str(m, "layout_at");
		row = table_row(&t, words_clean(a, json_str(m, "path")), state_words(a, m),
		    words_number(a, json_num(m, "samples")),
		    words_share(a, json_num(m, "mapped_share")),
		    layout ? words_ago(a, layout, now) : "original",
		    words_share(a, json_num(predicted, "gain")), measured_words(a, m),
		    taken_words(a, predicted), words_user(a, json_num(m, "uid")));
		row->cell[1].paint = state_paint(state ? state : "");
		row->note = module_note(a, m, now);
	}
	putchar('\n');
	if (t.row.n > 0)
		table_print(stdout, &t, colour);
	else
		puts("No modules yet: none of the sampled programs has an artifact that may "
		     "be trusted\n(morphctl hooks --help).");
	if (cut)
		printf("These are the first %ld; --limit shows more.\n", limit_of(in));
	show_others(&others, a);
	table_free(&t);
}

/* Seconds since 1970 as the manager has them, else ours. */
static int64_t manager_now(const json_t *status)
{
	int64_t t = words_time(json_str(status, "now"));

	return t >= 0 ? t : (int64_t)time(NULL);
}

static void show_all(const struct invocation *in, const json_t *both)
{
	const json_t *other = json_object_get(both, "other");
	const json_t *status = json_object_get(both, "status");
	bool colour = table_colour();
	int64_t now = manager_now(status);

	show_manager(in, status, now, colour);
	show_modules(in, json_object_get(both, "modules"), now, colour);
	if (json_is_object(other))
		other_show(in, other, now);
}

/* ---- one module ---- */

/* Until when; and why, where the state's own line does not say it. */
static char *hold_words(struct arena *a, const json_t *m)
{
	const char *until = json_str(m, "held_until"), *why = json_str(m, "held");
	const char *text = json_str(m, "text");
	bool same = text && strcmp(why, text) == 0;

	return arena_printf(a, "%s%suntil %s", same ? "" : words_clean(a, why), same ? "" : ", ",
	    until ? words_local(a, until) : "`morphctl reoptimize now`");
}

static char *seen_words(struct arena *a, const json_t *m)
{
	return arena_printf(a, "%s mapped (%s) + %s outside + %s stale since %s",
	    words_number(a, json_num(m, "mapped")), words_share(a, json_num(m, "mapped_share")),
	    words_number(a, json_num(m, "outside")), words_number(a, json_num(m, "stale")),
	    words_local(a, json_str(m, "first_seen")));
}

/* With its interval, where it has one. */
static const char *predicted_long(struct arena *a, const json_t *p, int64_t now)
{
	double low = json_num(p, "low"), high = json_num(p, "high");
	double missed = json_num(p, "missed");

	return arena_printf(a, "gain %s%s from %s%s; taken branches %s, as of %s",
	    words_share(a, json_num(p, "gain")),
	    isfinite(low) ? arena_printf(a, " (%.1f … %.1f)", 100 * low, 100 * high) : "",
	    words_plural(a, json_num(p, "samples"), "sample"),
	    missed > 0 ? arena_printf(a, ", more of them might add %s", words_share(a, missed))
		       : "",
	    taken_words(a, p), words_ago(a, json_str(p, "at"), now));
}

static void show_module(const struct invocation *in, const json_t *m)
{
	const json_t *predicted = json_object_get(m, "predicted");
	const json_t *measured = json_object_get(m, "measured");
	const char *layout = json_str(m, "layout_at"), *artifact = json_str(m, "artifact");
	const char *fetch = words_fetch(in->mem, m), *legacy = words_legacy(in->mem, m);
	bool colour = table_colour();
	struct arena *a = in->mem;
	int64_t now = time(NULL);

	table_paint(stdout, colour, BOLD, words_clean(a, json_str(m, "path")));
	putchar('\n');
	table_field(stdout, colour, "state",
	    arena_printf(a, "%s: %s", state_words(a, m), words_said(a, json_str(m, "text"))));
	if (json_str(m, "held"))
		table_field(stdout, colour, "held", hold_words(a, m));
	table_field(stdout, colour, "owner", words_user(a, json_num(m, "uid")));
	table_field(stdout, colour, "id", words_clean(a, json_str(m, "id")));
	table_field(stdout, colour, "build-id", words_clean(a, json_str(m, "build_id")));
	if (layout) {
		table_field(stdout, colour, "original", words_clean(a, json_str(m, "origin")));
		table_field(stdout, colour, "layout",
		    arena_printf(
			a, "made %s, %s", words_ago(a, layout, now), words_local(a, layout)));
	}
	table_field(stdout, colour, "artifact", artifact ? words_clean(a, artifact) : "none");
	if (fetch)
		table_field(stdout, colour, "not fetched", fetch);
	if (legacy)
		table_field(stdout, colour, "lifting", legacy);
	table_field(stdout, colour, "profile", words_plural(a, json_num(m, "samples"), "sample"));
	table_field(stdout, colour, "samples", seen_words(a, m));
	if (json_is_object(predicted))
		table_field(stdout, colour, "predicted", predicted_long(a, predicted, now));
	if (measured_runs(measured) > 0 || json_str(measured, "ended"))
		table_field(stdout, colour, "measured", measured_long(a, measured));
	table_field(stdout, colour, "rollback",
	    json_is_true(json_object_get(m, "rollback")) ? "possible" : "nothing to roll back to");
	table_field(stdout, colour, "decision", decision_words(a, m, now));
}

/* ---- the command ---- */

static int status_all(const struct invocation *in, struct client *c)
{
	json_t *status, *modules, *other;
	int code;

	code = client_get(c, &status, "/v1/status");
	if (code)
		return code;
	code = client_get(c, &modules, "/v1/modules?limit=%ld",
	    in->json && in->limit ? in->limit : (long)ROWS_MAX);
	if (code) {
		json_decref(status);
		return code;
	}
	other = other_ask(in);
	return show(in,
	    json_pack("{so so so}", "status", status, "modules", modules, "other",
		other ? other : json_null()),
	    show_all);
}

int cmd_status(const struct invocation *in)
{
	struct client *c = client_open(in->socket, in->mem);
	json_t *m;
	int code;

	if (in->narg == 0) {
		code = status_all(in, c);
	} else {
		code = client_module(c, in->arg[0], &m);
		if (code == EXIT_DONE)
			code = show(in, m, show_module);
	}
	client_close(c);
	return code;
}
