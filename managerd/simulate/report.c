#include "managerd/simulate/report.h"
#include "common/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* NAN: there is none. */
static double median(const struct tally *t)
{
	qsort(t->reaction.v, t->reaction.n, sizeof *t->reaction.v, by_size);
	return t->reaction.n ? t->reaction.v[t->reaction.n / 2] : NAN;
}

static double share(double part, double of)
{
	return of > 0 ? part / of : 0;
}

static void row(const struct simulated *s, enum contender who)
{
	const struct tally *t = contest_tally(s->contest, who);
	double best, cpu = contest_cpu(s->contest, &best), wait = median(t);
	char reaction[32] = "–", price[32] = "–";

	if (!isnan(wait))
		snprintf(reaction, sizeof reaction, "%.1f h", wait / 3600);
	if (t->saved > 0)
		snprintf(price, sizeof price, "%.1f %%", 100 * t->worked / t->saved);
	printf("| %s | %.2f %% | %.2f | %s | %u of %u | %u | %u | %.0f s | %s |\n",
	    contender_name(who), 100 * share(t->saved, cpu), 100 * share(t->lost, cpu), reaction,
	    t->answered, t->changes, t->edits, t->needless, t->worked, price);
}

static void print_decisions(const struct trace *t, const struct simulated *s)
{
	const struct simulated_decision *d;
	size_t i;

	printf("\n");
	for (i = 0; i < s->decision.n; i++) {
		d = &s->decision.v[i];
		printf("%12.3f s  %s: %s: %s\n", (double)(d->at_ms - t->start_ms) / 1000,
		    d->program, d->rung, d->text);
	}
}

void report_text(const struct trace *t, const struct simulated *s, bool decisions)
{
	double best, cpu = contest_cpu(s->contest, &best);
	char samples[NUMBER_TEXT];
	int k;

	printf("%s: %.3g days, %s samples, %.1f h of CPU time, of which the best layouts save "
	       "%.2f %%\n\n",
	    t->name, s->days, number_text((double)s->samples, samples), cpu / 3600,
	    100 * share(best, cpu));
	printf("| strategy | saved | lost | reaction | answered | edits | needless | worked | of "
	       "what was saved |\n|---|---|---|---|---|---|---|---|---|\n");
	for (k = 0; k < CONTENDERS; k++)
		row(s, k);
	if (decisions)
		print_decisions(t, s);
}

static json_t *tally_json(const struct tally *t)
{
	json_t *reactions = json_array();
	size_t i;

	for (i = 0; i < t->reaction.n; i++)
		json_array_append_new(reactions, json_real(t->reaction.v[i]));
	return json_pack("{s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:o}", "saved_s", t->saved, "lost_s",
	    t->lost, "worked_s", t->worked, "edits", (json_int_t)t->edits, "needless",
	    (json_int_t)t->needless, "changes", (json_int_t)t->changes, "answered",
	    (json_int_t)t->answered, "reactions_s", reactions);
}

json_t *report_json(const struct trace *t, const struct simulated *s)
{
	json_t *strategies = json_object(), *decisions = json_array();
	const struct simulated_decision *d;
	double best, cpu = contest_cpu(s->contest, &best);
	size_t i;
	int k;

	for (k = 0; k < CONTENDERS; k++)
		json_object_set_new(
		    strategies, contender_name(k), tally_json(contest_tally(s->contest, k)));
	for (i = 0; i < s->decision.n; i++) {
		d = &s->decision.v[i];
		json_array_append_new(decisions,
		    json_pack("{s:f, s:s, s:s, s:s}", "at", (double)(d->at_ms - t->start_ms) / 1000,
			"program", d->program, "rung", d->rung, "text", d->text));
	}
	return json_pack("{s:s, s:f, s:I, s:f, s:f, s:o, s:o}", "trace", t->name, "days", s->days,
	    "samples", (json_int_t)s->samples, "cpu_s", cpu, "best_s", best, "strategies",
	    strategies, "decisions", decisions);
}
