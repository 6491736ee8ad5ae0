#include "managerd/simulate/subject.h"
#include "common/profiletext/profiletext.h"
#include "common/publish.h"
#include "managerd/simulate/real.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- functions ---- */

static struct build_id id_of(const void *p, size_t n)
{
	struct hash128 h = hash_bytes(p, n);
	struct build_id id = {.n = sizeof h.b};

	memcpy(id.b, h.b, sizeof h.b);
	return id;
}

/* The key of function i of a model, as it was last changed. */
static struct hash128 key_of(const struct subject *s, uint32_t i, uint32_t version)
{
	uint64_t what[] = {s->program->seed, i, version};

	return hash_bytes(what, sizeof what);
}

static void add_func(struct subject *s, const struct hash128 *key, uint32_t nblock)
{
	vec_push(&s->func, (struct subject_func){*key, s->nslot});
	s->nslot += nblock;
}

static void add_functions(struct subject *s)
{
	const struct trace_program *p = s->program;
	struct hash128 key;
	uint32_t i;

	for (i = 0; i < p->func.n; i++)
		add_func(s, &p->func.v[i].key, p->func.v[i].nblock);
	for (i = 0; !p->artifact && i < p->functions; i++) {
		key = key_of(s, i, 0);
		add_func(s, &key, 2 * p->branches);
	}
}

struct layout *subject_layout(struct subject *s, const struct build_id *id)
{
	struct layout *l;
	size_t i;

	for (i = 0; i < s->layout.n; i++)
		if (build_id_equal(&s->layout.v[i]->id, id))
			return s->layout.v[i];
	l = xcalloc(1, sizeof *l);
	l->id = *id;
	vec_push(&s->layout, l);
	return l;
}

static void begin_version(struct subject *s)
{
	uint64_t what[] = {s->program - s->trace->program.v, s->version, s->trace->seed};

	s->origin = id_of(what, sizeof what);
	subject_layout(s, &s->origin);
}

struct subject *subject_new(
    const struct trace *t, const struct trace_program *p, const char *folder, const char *editor)
{
	struct subject *s = xcalloc(1, sizeof *s);

	*s = (struct subject){.trace = t,
	    .program = p,
	    .folder = folder,
	    .editor = editor,
	    .usage_serial = 1,
	    .best = NAN};
	s->path = xasprintf("/simulated/%s", p->name);
	s->model = (struct model){p->functions, p->branches, p->seed, p->frontend, p->insns};
	add_functions(s);
	s->usage = xcalloc(s->nslot, sizeof *s->usage);
	s->now = xcalloc(t->workload.n, sizeof *s->now);
	s->share = xcalloc(t->workload.n, sizeof *s->share);
	if (p->artifact)
		real_whole(s);
	begin_version(s);
	return s;
}

static void drop_layouts(struct subject *s)
{
	size_t i;

	for (i = 0; i < s->layout.n; i++) {
		free(s->layout.v[i]->falls);
		free(s->layout.v[i]->samples);
		free(s->layout.v[i]->build);
		free(s->layout.v[i]);
	}
	s->layout.n = 0;
}

void subject_free(struct subject *s)
{
	size_t i;

	drop_layouts(s);
	for (i = 0; i < s->trace->workload.n; i++)
		free(s->share[i]);
	vec_free(&s->layout);
	vec_free(&s->func);
	free(s->path);
	free(s->usage);
	free(s->now);
	free(s->share);
	free(s->whole);
	free(s);
}

void subject_rebuild(struct subject *s, double changed)
{
	uint32_t i;

	s->version++;
	for (i = 0; i < s->func.n; i++)
		/* Evenly spread over hot and cold ones: ranks are drawn. */
		if ((uint64_t)(i * changed) != (uint64_t)((i + 1) * changed))
			s->func.v[i].key = key_of(s, i, s->version);
	drop_layouts(s);
	begin_version(s);
}

static const char *name_of(const struct subject *s, uint32_t i, char name[16])
{
	if (s->program->artifact)
		return s->program->func.v[i].name;
	snprintf(name, 16, "f%u", (unsigned)i);
	return name;
}

static uint32_t blocks_of(const struct subject *s, uint32_t i)
{
	return (i + 1 < s->func.n ? s->func.v[i + 1].first : s->nslot) - s->func.v[i].first;
}

void subject_profile(const struct subject *s, struct profile *p)
{
	const struct trace_func *f;
	char name[16];
	uint32_t i;

	*p = (struct profile){0};
	for (i = 0; i < s->func.n; i++) {
		f = s->program->artifact ? &s->program->func.v[i] : NULL;
		profile_put(p, &s->func.v[i].key, name_of(s, i, name), f ? f->tu : "a.c",
		    f ? f->opaque : NULL, blocks_of(s, i));
	}
}

/* ---- usage ---- */

bool subject_runs(const struct subject *s)
{
	return s->cpu > 0 || s->program->artifact;
}

void subject_run(struct subject *s, uint32_t workload, double cpu)
{
	const struct trace_workload *w = s->trace->workload.v;
	uint32_t i, k;

	s->now[workload] = cpu;
	s->cpu = 0;
	memset(s->usage, 0, s->nslot * sizeof *s->usage);
	for (i = 0; i < s->trace->workload.n; i++) {
		if (s->now[i] <= 0)
			continue;
		if (!s->share[i])
			s->share[i] = model_usage(&s->model, w[i].name, w[i].uses, w[i].differs);
		s->cpu += s->now[i];
		for (k = 0; k < s->nslot; k++)
			s->usage[k] += s->now[i] * s->share[i][k];
	}
	s->usage_serial++;
}

/* ---- layouts of a model ---- */

/* Of "fN", which the model's functions are called. */
static double *samples_of(const struct subject *s, const struct buf *text)
{
	struct profiletext_reader r = {COUNTS_SAMPLES, text->p, text->p + text->n, 0};
	double *samples = xcalloc(s->nslot, sizeof *samples);
	struct profiletext_line l;
	unsigned long f;

	while (profiletext_read(&r, &l, NULL) > 0) {
		f = strtoul(l.func.p + 1, NULL, 10);
		if (f < s->func.n && l.block < blocks_of(s, (uint32_t)f) && !l.kind)
			samples[s->func.v[f].first + l.block] += (double)l.value / 1000;
	}
	return samples;
}

static struct layout *lay_out(struct subject *s, const double *samples)
{
	size_t n = (size_t)s->model.functions * s->model.branches;
	uint8_t *falls = xmalloc(n);
	struct build_id id;
	struct layout *l;

	model_lay_out(&s->model, samples, falls);
	id = id_of(falls, n);
	id.b[0] ^= (uint8_t)s->version;
	l = subject_layout(s, &id);
	if (l->falls)
		free(falls);
	else
		l->falls = falls;
	return l;
}

struct layout *subject_lay_out(struct subject *s, const struct buf *text, struct err *e)
{
	double *samples;
	struct layout *l;

	if (s->program->artifact)
		return real_lay_out(s, text, e);
	samples = samples_of(s, text);
	l = lay_out(s, samples);
	free(samples);
	return l;
}

static void answer(struct subject *s, const struct layout *present, const struct layout *best,
    const double *samples, bool build, struct buf *json)
{
	struct editanswer a = {.origin = s->origin,
	    .functions = (uint32_t)s->func.n,
	    .blocks = s->nslot,
	    .tus = 1,
	    .out = "build",
	    .build_id = best->id,
	    .edited = (uint32_t)s->func.n,
	    .score = {model_score(&s->model, samples, present->falls),
		model_score(&s->model, samples, best->falls)},
	    .size = {1, 1}};
	json_t *j;
	char *text;

	a.samples = a.samples_used = a.score.before.total;
	if (!build)
		a.estimate = model_estimate(&s->model, samples, present->falls, best->falls);
	j = editanswer_json(&a, EDITANSWER_LAYOUT | EDITANSWER_SCORES |
				    (build ? EDITANSWER_BUILD : EDITANSWER_ESTIMATE));
	text = json_dumps(j, 0);
	buf_str(json, text);
	free(text);
	json_decref(j);
}

int subject_ask(struct subject *s, const struct layout *present, const struct buf *text,
    struct layout **build, struct buf *json, struct err *e)
{
	struct layout *best;
	double *samples;

	if (s->program->artifact)
		return real_ask(s, present, text, build, json, e);
	samples = samples_of(s, text);
	best = lay_out(s, samples);
	answer(s, present, best, samples, build != NULL, json);
	if (build)
		*build = best;
	free(samples);
	return 0;
}

double subject_gain(struct subject *s, struct layout *l)
{
	if (l == s->layout.v[0] || !subject_runs(s))
		return 0;
	if (l->usage != s->usage_serial) {
		l->gain = s->program->artifact ? real_gain(s, l)
					       : model_gain(&s->model, s->usage, l->falls);
		l->usage = s->usage_serial;
	}
	return l->gain;
}

double subject_best(struct subject *s)
{
	if (s->program->artifact)
		return real_best(s);
	return subject_runs(s) ? subject_gain(s, lay_out(s, s->usage)) : 0;
}

void subject_carry(const struct subject *s, const struct buf *before, struct buf *out)
{
	struct profiletext_reader r = {COUNTS_SAMPLES, before->p, before->p + before->n, 0};
	struct profiletext_line l;
	unsigned long f;
	char name[16], hex[HASH_HEX];

	while (profiletext_read(&r, &l, NULL) > 0) {
		f = strtoul(l.func.p + 1, NULL, 10);
		if (f >= s->func.n)
			continue;
		l.func = profiletext_name(name_of(s, (uint32_t)f, name), &s->func.v[f].key, hex);
		profiletext_write(out, COUNTS_SAMPLES, &l);
	}
}
