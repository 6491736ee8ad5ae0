#include "managerd/cycle/promises.h"

#include <cpuid.h>
#include <math.h>

enum { GAINS_OF_MODULE = 8 };
/* Programs, their use and the kernel change: a gain measured a month ago may be off by so much
 * more. */
static const double DRIFT = 0.01;
static const double MONTH_MS = 30 * 86400000.0;

int promises_open(struct promises *p, struct err *e)
{
	struct store_gain *g;
	struct arena a = {0};
	size_t i, n;
	int rc = store_gains(p->core->store, &a, &g, &n, e);

	for (i = 0; rc == 0 && i < n; i++)
		vec_push(&p->gain, g[i]);
	arena_free(&a);
	return rc;
}

void promises_free(struct promises *p)
{
	vec_free(&p->gain);
}

/* Leaves the module's newest `keep`. */
static void prune(struct promises *p, uint64_t module, size_t keep)
{
	size_t i, n = 0, left = 0;

	for (i = 0; i < p->gain.n; i++)
		n += p->gain.v[i].edit.program == module;
	for (i = 0; i < p->gain.n; i++)
		if (p->gain.v[i].edit.program != module || n-- <= keep)
			p->gain.v[left++] = p->gain.v[i];
	p->gain.n = left;
}

int promises_learn(struct promises *p, uint64_t module, const struct trial *t, struct err *e)
{
	/* The bounds are about three standard errors from the estimate (trial.c). */
	const double errors = 3;
	struct trial_estimate est = trial_estimate(t);
	struct store_gain g = {.at_ms = clock_now_ms(),
	    .cpu = t->cpu,
	    .edit = {module, t->terms[TRIAL_OLD], t->terms[TRIAL_NEW], est.gain,
		(est.high - est.low) / 2 / errors}};

	if (!est.known || !(t->terms[TRIAL_OLD].insns > 0))
		return 0;
	vec_push(&p->gain, g);
	prune(p, module, GAINS_OF_MODULE);
	return store_put_gain(p->core->store, &g, GAINS_OF_MODULE, e);
}

/* A number of vendor, family and model. */
uint64_t promises_cpu(void)
{
	unsigned leaf, name[3], sign, a, b, c;

	if (!__get_cpuid(0, &leaf, &name[0], &name[1], &name[2]) ||
	    !__get_cpuid(1, &sign, &a, &b, &c))
		return 0;
	return (uint64_t)(name[0] ^ name[1] ^ name[2]) << 32 | sign >> 4; /* without the stepping */
}

struct posterior_terms promises_terms(const struct editanswer_score *s)
{
	return (struct posterior_terms){s->cost.insns, s->cost.taken, s->cost.lines};
}

double promises_model_gain(
    const struct editanswer_score *before, const struct editanswer_score *after)
{
	struct posterior_terms from = promises_terms(before), to = promises_terms(after);

	return posterior_gain(&FRONTCOSTS, &from, &to);
}

static bool counts_for(const struct promises *p, const struct store_gain *g, uint32_t uid)
{
	const struct module *mod = modules_get(&p->core->modules, g->edit.program);

	return mod && (!mod->row.uid || mod->row.uid == uid) && g->cpu == promises_cpu();
}

static struct posterior_edit as_of_now(const struct store_gain *g)
{
	double months = (double)(clock_now_ms() - g->at_ms) / MONTH_MS;
	struct posterior_edit edit = g->edit;

	edit.sd = hypot(edit.sd, DRIFT * fmax(0, months));
	return edit;
}

double promises_gain(const struct promises *p, const struct store_module *row,
    const struct editanswer_score *before, const struct editanswer_score *after)
{
	struct posterior_terms from = promises_terms(before), to = promises_terms(after);
	VEC(struct posterior_edit) seen = {0};
	struct posterior known;
	double gain;
	size_t i;

	for (i = 0; i < p->gain.n; i++)
		if (counts_for(p, &p->gain.v[i], row->uid))
			vec_push(&seen, as_of_now(&p->gain.v[i]));
	known = posterior(seen.v, seen.n, row->id);
	vec_free(&seen);
	gain = known.factor * posterior_gain(&known.costs, &from, &to);
	return gain > 1 ? 1 : gain; /* fmin() would make 1 of NAN */
}
