#include "managerd/simulate/contest.h"
#include "managerd/samples/remap.h"

#include <math.h>
#include <string.h>

/* A change of usage is worth an answer from so much on that a better layout would gain, and
 * answered when so little is left. */
static const double worth = 0.02, answered = 0.01;
enum { HOUR_MS = 3600000, DAY_MS = 24 * HOUR_MS, ART_METHODS = 100, ART_PERCENT = 20 };
static const double no_ageing = 1e15; /* half-life, s */

struct standing { /* of one strategy with one program */
	struct layout *now, *before;
	bool edited;               /* by an edit that is not judged yet */
	double gain, earned, paid; /* gain: now; earned: over the layout before */
	bool open;                 /* a change waits for an answer … */
	int64_t since_ms, swapped_ms;
	struct profile profile; /* of those that decide here */
	double fresh;           /* samples since the last edit */
	int64_t looked_ms;
	size_t reference; /* functions with samples then */
};

struct contest {
	const struct trace *trace;
	struct subject **subject;
	struct standing *at[CONTENDERS]; /* by program */
	struct tally tally[CONTENDERS];
	double *best; /* by program: what the best layout gains now */
	double cpu, best_sum;
};

const char *contender_name(enum contender c)
{
	static const char *const name[] = {"Morph", "each hour", "each day", "by hand", "ART"};

	return name[c];
}

static size_t programs(const struct contest *c)
{
	return c->trace->program.n;
}

static void start_over(struct contest *c, struct standing *s, size_t i)
{
	s->now = s->before = c->subject[i]->layout.v[0];
	s->edited = s->open = false;
	s->earned = s->paid = s->gain = 0;
}

struct contest *contest_new(const struct trace *t, struct subject **subject)
{
	struct contest *c = xcalloc(1, sizeof *c);
	int k;
	size_t i;

	c->trace = t;
	c->subject = subject;
	c->best = xcalloc(t->program.n, sizeof *c->best);
	for (k = 0; k < CONTENDERS; k++) {
		c->at[k] = xcalloc(t->program.n, sizeof *c->at[k]);
		for (i = 0; i < t->program.n; i++) {
			start_over(c, &c->at[k][i], i);
			c->at[k][i].looked_ms = t->start_ms;
			subject_profile(subject[i], &c->at[k][i].profile);
		}
	}
	return c;
}

void contest_free(struct contest *c)
{
	int k;
	size_t i;

	for (k = 0; k < CONTENDERS; k++) {
		for (i = 0; i < programs(c); i++)
			profile_free(&c->at[k][i].profile);
		free(c->at[k]);
		vec_free(&c->tally[k].reaction);
	}
	free(c->best);
	free(c);
}

/* ---- what it comes to ---- */

void contest_used(struct contest *c, size_t program, double cpu)
{
	struct standing *s;
	int k;

	c->cpu += cpu;
	c->best_sum += cpu * c->best[program];
	for (k = 0; k < CONTENDERS; k++) {
		s = &c->at[k][program];
		c->tally[k].saved += cpu * s->gain;
		c->tally[k].lost += cpu * fmax(0, c->best[program] - s->gain);
		if (s->edited)
			s->earned += cpu * (s->gain - subject_gain(c->subject[program], s->before));
	}
}

static void judge_edit(struct tally *t, struct standing *s)
{
	t->needless += s->edited && s->earned < s->paid;
	s->edited = false;
}

/* After a change of usage or of the layout. */
static void look(struct contest *c, enum contender who, size_t i, int64_t now_ms)
{
	struct standing *s = &c->at[who][i];
	struct tally *t = &c->tally[who];
	double gap;

	if (!subject_runs(c->subject[i]))
		return;
	s->gain = subject_gain(c->subject[i], s->now);
	gap = c->best[i] - s->gain;
	if (!s->open && gap >= worth) {
		s->open = true;
		s->since_ms = now_ms;
		t->changes++;
	} else if (s->open && gap < answered) {
		s->open = false;
		if (s->swapped_ms < s->since_ms)
			return;
		t->answered++;
		vec_push(&t->reaction, (double)(s->swapped_ms - s->since_ms) / 1000);
	}
}

/* What equal functions had is kept; ART's is of one version of a program. */
static void take_over(struct contest *c, enum contender who, size_t i, int64_t now_ms)
{
	struct standing *s = &c->at[who][i];
	struct profile fresh, *old = &s->profile;
	size_t k;

	subject_profile(c->subject[i], &fresh);
	for (k = 0; who != CONTEST_ART && k < old->func.n; k++)
		if (profile_get(&fresh, &old->func.v[k].key))
			profile_move(profile_get(&fresh, &old->func.v[k].key), &old->func.v[k]);
	profile_free(old);
	*old = fresh;
	s->reference = 0;
}

void contest_changed(struct contest *c, size_t program, int64_t now_ms, bool rebuilt)
{
	int k;

	if (rebuilt)
		for (k = 0; k < CONTENDERS; k++) {
			judge_edit(&c->tally[k], &c->at[k][program]);
			start_over(c, &c->at[k][program], program);
			take_over(c, k, program, now_ms);
		}
	/* Where all layouts lose, the original is the best. */
	c->best[program] = fmax(0, subject_best(c->subject[program]));
	for (k = 0; k < CONTENDERS; k++)
		look(c, k, program, now_ms);
}

void contest_swapped(
    struct contest *c, enum contender who, size_t program, struct layout *l, int64_t now_ms)
{
	struct standing *s = &c->at[who][program];

	judge_edit(&c->tally[who], s);
	c->tally[who].edits++;
	s->before = s->now;
	s->now = l;
	s->edited = true;
	s->earned = 0;
	s->paid = c->trace->program.v[program].edit_s;
	s->swapped_ms = now_ms;
	look(c, who, program, now_ms);
}

void contest_worked(struct contest *c, enum contender who, double cpu_s)
{
	c->tally[who].worked += cpu_s;
}

void contest_end(struct contest *c)
{
	size_t i;
	int k;

	for (k = 0; k < CONTENDERS; k++)
		for (i = 0; i < programs(c); i++)
			judge_edit(&c->tally[k], &c->at[k][i]);
}

const struct tally *contest_tally(const struct contest *c, enum contender who)
{
	return &c->tally[who];
}

double contest_cpu(const struct contest *c, double *best)
{
	*best = c->best_sum;
	return c->cpu;
}

/* ---- those that decide here ---- */

void contest_samples(struct contest *c, size_t program, const uint64_t *n, int64_t now_ms)
{
	const struct subject *s = c->subject[program];
	struct decay at = {now_ms, no_ageing};
	struct profile *p;
	uint32_t slot, i, b;
	int k;

	for (k = CONTEST_MORPH + 1; k < CONTENDERS; k++) {
		p = &c->at[k][program].profile;
		for (i = slot = 0; i < s->func.n; i++)
			for (b = 0; b < p->func.v[i].nblock; b++, slot++) {
				if (!n[slot])
					continue;
				profile_add(&p->func.v[i], b, (double)n[slot], at);
				c->at[k][program].fresh += (double)n[slot];
			}
	}
}

static int edit(struct contest *c, enum contender who, size_t i, int64_t now_ms, struct err *e)
{
	struct standing *s = &c->at[who][i];
	struct buf text = {0};
	struct layout *l;

	profile_print(&s->profile, 1, (struct decay){now_ms, no_ageing}, &text);
	l = subject_lay_out(c->subject[i], &text, e);
	buf_free(&text);
	if (!l)
		return -1;
	s->fresh = 0;
	contest_worked(c, who, c->trace->program.v[i].edit_s);
	if (l != s->now)
		contest_swapped(c, who, i, l, now_ms);
	return 0;
}

/* Once in a while, when idle, and there is something new. */
static bool is_time(struct standing *s, int64_t now_ms, int64_t every_ms)
{
	if (now_ms - s->looked_ms < every_ms || s->fresh <= 0)
		return false;
	s->looked_ms = now_ms;
	return true;
}

static bool enough_for_art(struct standing *s)
{
	struct decay any = {INT64_MAX, no_ageing};
	size_t n = profile_total(&s->profile, any).functions,
	       more = s->reference * ART_PERCENT / 100;

	if (n - s->reference < (more > ART_METHODS ? more : ART_METHODS))
		return false;
	s->reference = n;
	return true;
}

int contest_decide(
    struct contest *c, int64_t now_ms, bool idle, bool battery, size_t hand, struct err *e)
{
	struct standing *s;
	bool wanted[CONTENDERS] = {0};
	size_t i;
	int k;

	for (i = 0; i < programs(c); i++) {
		wanted[CONTEST_HOURLY] =
		    idle && is_time(&c->at[CONTEST_HOURLY][i], now_ms, HOUR_MS);
		wanted[CONTEST_DAILY] = idle && is_time(&c->at[CONTEST_DAILY][i], now_ms, DAY_MS);
		wanted[CONTEST_HAND] = i == hand && c->at[CONTEST_HAND][i].fresh > 0;
		s = &c->at[CONTEST_ART][i];
		wanted[CONTEST_ART] =
		    idle && !battery && is_time(s, now_ms, DAY_MS) && enough_for_art(s);
		for (k = 0; k < CONTENDERS; k++)
			if (wanted[k] && edit(c, k, i, now_ms, e))
				return -1;
	}
	return 0;
}
